//! Looking at what a cut or a fault left: the rows as they are, the doctor's word, the backups, and every byte.

use std::path::{Path, PathBuf};

use rootset_trees::dump::{Dump, raw_dump};
use serde_json::json;

use crate::error::StressError;
use crate::prepared_databases::State;
use crate::verify::Verifier;

/// The rows as they are, without what only says when somebody looked. Opening it recovers it, as any opening does.
pub fn rows(state: &State) -> Result<Dump, StressError> {
    let bytes = std::fs::metadata(state.file()).map_or(0, |it| it.len());
    // A file that was created and never written is a database that is not there yet.
    if bytes == 0 && !has_log(state) { Ok(Dump::new()) } else { Ok(raw_dump(&state.database())?) }
}

fn has_log(state: &State) -> bool {
    let log = state.file().with_extension("db-wal");
    std::fs::metadata(log).is_ok_and(|it| it.len() > 0)
}

/// What a process finds that opens the database.
#[derive(Clone, Debug, Default)]
pub struct Opened {
    /// Everything that is wrong with the database and its backups, in words.
    pub complaints: Vec<String>,
    /// Ids of the backups that are listed.
    pub backups: Vec<String>,
}

pub fn open(state: &State) -> Result<Opened, StressError> {
    let verifier = Verifier::open(&state.database())?;
    let found = verifier.doctor()?;
    let mut complaints: Vec<String> =
        found.iter().filter(|it| !it.is_debt_of_a_purge()).map(ToString::to_string).collect();
    let list = verifier.call("backup_list", json!({}))?;
    let ids = list["backups"].as_array().into_iter().flatten();
    let backups: Vec<String> = ids.filter_map(|backup| backup["backup_id"].as_str().map(str::to_owned)).collect();
    for backup in &backups {
        let verified = verifier.call("backup_verify", json!({"backup_id": backup}))?;
        if verified["ok"] != true {
            complaints.push(format!("backup {backup}: {}", verified["problems"]));
        }
    }
    Ok(Opened { complaints, backups })
}

/// Files below a folder that hold one of the texts.
pub fn holding(folder: &Path, texts: &[String]) -> Result<Vec<String>, StressError> {
    let mut found = Vec::new();
    if texts.is_empty() {
        return Ok(found);
    }
    for path in files(folder)? {
        let bytes = std::fs::read(&path)?;
        let held = String::from_utf8_lossy(&bytes);
        if let Some(text) = texts.iter().find(|text| held.contains(text.as_str())) {
            let name = path.strip_prefix(folder).unwrap_or(&path);
            found.push(format!("`{}` still holds \"{text}\"", name.display()));
        }
    }
    Ok(found)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, StressError> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() { folders.push(entry.path()) } else { files.push(entry.path()) }
        }
    }
    Ok(files)
}
