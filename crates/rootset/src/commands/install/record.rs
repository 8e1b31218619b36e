//! What was there before we wrote: the earlier text of each file and the folders that were made, so that undo leaves
//! nothing behind. One private file among our data, gone with the last entry.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rootset_service::ServiceError;
use serde::{Deserialize, Serialize};

use super::file;
use crate::configuration::data_file;

const FILE: &str = "installed.json";

#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Record {
    files: BTreeMap<PathBuf, Kept>,
    /// Made by us, parents first.
    folders: Vec<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Kept {
    /// `None`: there was no file.
    pub before: Option<String>,
    /// The hash of the text that we left, which tells whether somebody has written since.
    after: String,
}

impl Kept {
    fn of(before: Option<&str>, after: &str) -> Self {
        Self { before: before.map(str::to_owned), after: hash(after) }
    }

    /// Whether the file is as we left it.
    pub fn is_as_left(&self, now: Option<&str>) -> bool {
        now.is_some_and(|now| hash(now) == self.after)
    }
}

impl Record {
    /// A record that cannot be read is none: undo then takes out the entries and nothing else.
    pub fn read() -> Result<Self, ServiceError> {
        let text = file::read(&data_file(FILE)?)?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }

    pub fn of(&self, path: &Path) -> Option<&Kept> {
        self.files.get(path)
    }

    /// Noted before the file is written, because nothing could be undone otherwise. What somebody wrote between two of our
    /// changes is theirs: `had_entry` says that `before` is not what the file was without us.
    pub fn note(
        &mut self,
        path: &Path,
        before: Option<&str>,
        had_entry: bool,
        after: &str,
    ) -> Result<(), ServiceError> {
        let kept = match self.files.get(path) {
            Some(kept) if kept.is_as_left(before) => Kept { after: hash(after), ..kept.clone() },
            Some(kept) if had_entry => kept.clone(),
            None if had_entry => return Ok(()),
            _ => Kept::of(before, after),
        };
        self.files.insert(path.to_owned(), kept);
        self.note_missing_folders(path);
        self.write()
    }

    /// After the file is as it was: the folders that nobody else uses go too.
    pub fn forget(&mut self, path: &Path) -> Result<(), ServiceError> {
        if self.files.remove(path).is_none() {
            return Ok(());
        }
        self.write()?;
        // Children first. A folder that somebody else uses is not empty, and stays.
        self.folders.retain(|folder| folder.exists());
        for folder in self.folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
        self.folders.retain(|folder| folder.exists());
        if self.files.is_empty() { Ok(()) } else { self.write() }
    }

    fn write(&mut self) -> Result<(), ServiceError> {
        let path = data_file(FILE)?;
        if self.files.is_empty() {
            return file::remove(&path);
        }
        self.note_missing_folders(&path);
        let text = serde_json::to_string_pretty(self).expect("paths and texts are always JSON");
        file::replace(&path, &text)
    }

    fn note_missing_folders(&mut self, path: &Path) {
        let missing: Vec<&Path> = path.ancestors().skip(1).take_while(|folder| !folder.exists()).collect();
        for folder in missing.into_iter().rev() {
            if !self.folders.iter().any(|noted| noted == folder) {
                self.folders.push(folder.to_owned());
            }
        }
    }
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
