//! What a run found and did, counted along the way.

use std::collections::{BTreeMap, BTreeSet};

use rootset_model::RunId;

use super::skipped::Skipped;

#[derive(Clone, Debug, Default)]
pub struct Report {
    pub run: Option<RunId>,
    pub files_seen: u64,
    pub files_indexed: u64,
    pub files_unchanged: u64,
    pub files_removed: u64,
    pub functions: i64,
    pub classes: i64,
    pub languages: BTreeMap<String, u64>,
    pub total_lines: i64,
    pub stale_memories: i64,
    pub redacted: usize,
    pub skipped: Skipped,
    pub warnings: Vec<String>,
    /// Names that files of the repository no longer define, and paths that are gone.
    pub vanished_names: BTreeSet<String>,
    pub vanished_paths: Vec<String>,
}

impl Report {
    /// Counts a file that is in the index now.
    pub fn count(&mut self, language: &str, lines: i64, functions: i64, classes: i64) {
        match self.languages.get_mut(language) {
            Some(files) => *files += 1,
            None => drop(self.languages.insert(language.to_owned(), 1)),
        }
        self.total_lines += lines;
        self.functions += functions;
        self.classes += classes;
    }
}
