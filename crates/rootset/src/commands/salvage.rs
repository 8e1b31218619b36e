//! `rootset doctor --salvage`, and what can be done about a damaged database.

use std::path::Path;

use rootset_service::{Clock, ServiceError, SystemClock};
use rootset_store::{Backup, DAMAGED_TAG, Location, backup_id, list_backups, verify_backup};
use serde::Serialize;

use crate::exit::Failure;
use crate::program::Program;
use crate::render::{counted, escaped};

/// What `--json` prints: salvaging is done on files, not by an operation.
#[derive(Serialize)]
struct Salvaged {
    backup_id: String,
    path: String,
    memories: Option<i64>,
    damaged_stretches: i64,
    incomplete_memories: i64,
    /// Memories and segments that are no longer what was written; they have the tag `damaged`.
    altered: i64,
}

/// Reads what can be read of the database into a bundle, without changing anything.
pub fn run(folder: &str, program: &Program) -> Result<(), Failure> {
    let location = program.configuration()?.location()?;
    let Some(database) = location.path() else { return Err(not_a_file(&location).into()) };
    if !database.is_file() {
        let message = format!("there is no database `{}`", database.display());
        return Err(ServiceError::invalid(message).into());
    }
    let now = SystemClock.now();
    let salvaged = rootset_store::salvage(database, Path::new(folder), &backup_id(now, "salvage"), now)
        .map_err(ServiceError::from)?;
    let manifest = &salvaged.backup.manifest;
    let answer = Salvaged {
        backup_id: manifest.backup_id.clone(),
        path: salvaged.backup.path.display().to_string(),
        memories: manifest.tables.get("memories").copied(),
        damaged_stretches: salvaged.damages,
        incomplete_memories: salvaged.incomplete,
        altered: salvaged.altered,
    };
    program.output.answer(&answer, render)?;
    if !program.output.in_json() {
        program
            .output
            .talk(&format!("to use it: move the damaged file away, then run `rootset backup restore {}`", answer.path));
    }
    Ok(())
}

fn not_a_file(location: &Location) -> ServiceError {
    ServiceError::invalid(format!("`{location}` is on a server: only a file can be salvaged")).with_hint(
        "restore the server from its own backups, or a backup of Rootset into a new database with `rootset backup restore`",
    )
}

fn render(answer: &Salvaged) -> String {
    let mut shown = format!(
        "salvaged {} ({} could not be read, {} without their text)\n{}\n",
        counted(answer.memories.unwrap_or_default(), "memory", "memories"),
        counted(answer.damaged_stretches, "damaged part", "damaged parts"),
        answer.incomplete_memories,
        escaped(&answer.path)
    );
    if answer.altered > 0 {
        let altered = counted(answer.altered, "item was", "items were");
        shown.push_str(&format!("{altered} altered by the damage; look for the tag `{DAMAGED_TAG}`\n"));
    }
    shown
}

/// What a person with a damaged database does next: the newest backup that verifies, or what is left of the file.
pub fn advice(program: &Program) -> Result<Vec<String>, ServiceError> {
    let configuration = program.configuration()?;
    let location = configuration.location()?;
    let backup = match configuration.backup_folder()? {
        Some(folder) => newest_good(&folder)?,
        None => None,
    };
    let Some(database) = location.path() else { return Ok(advice_on_server(backup.as_ref())) };
    let shown = database.display();
    let mut steps = Vec::new();
    if let Some(backup) = backup {
        let manifest = &backup.manifest;
        steps.push(format!(
            "restore the backup of {}: `mv {shown} {shown}.damaged`, remove `{shown}-wal` and `{shown}-shm`, \
             then `rootset backup restore {}`",
            manifest.created_at, manifest.backup_id
        ));
    } else {
        steps.push("there is no backup that can be restored".to_owned());
    }
    steps.push("save what can still be read: `rootset doctor --salvage FOLDER`".to_owned());
    Ok(steps)
}

/// The files are the server's, and so are the tools that mend them.
fn advice_on_server(backup: Option<&Backup>) -> Vec<String> {
    let ours = backup.map(|backup| {
        let manifest = &backup.manifest;
        format!(
            "restore the backup of {} into a new database: `rootset backup restore {}`",
            manifest.created_at, manifest.backup_id
        )
    });
    ours.into_iter().chain(["restore the server from its own backups; see docs/operations.md".to_owned()]).collect()
}

fn newest_good(folder: &Path) -> Result<Option<Backup>, ServiceError> {
    for backup in list_backups(folder)? {
        if !backup.manifest.is_empty() && verify_backup(&backup)?.is_empty() {
            return Ok(Some(backup));
        }
    }
    Ok(None)
}
