//! What a run looks at. A file outside the scope of a run is unknown to it, and unknown is not gone.

use std::collections::BTreeSet;

use rootset_code::is_manifest;
use serde::{Deserialize, Serialize};

/// Stored with the run, so that it can be told later what the run has seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexScope {
    /// `None`: all of them.
    pub languages: Option<BTreeSet<String>>,
    pub include_tests: bool,
    /// Bytes.
    pub max_file_size: u64,
}

impl IndexScope {
    /// Manifests are in every scope: they say what the names in all other files mean.
    pub fn contains(&self, path: &str, language: &str, is_test: bool, size: u64) -> bool {
        let is_wanted = self.languages.as_ref().is_none_or(|languages| languages.contains(language))
            && (self.include_tests || !is_test);
        (is_wanted || is_manifest(path)) && size <= self.max_file_size
    }

    /// What the last run looked for; before the first, everything.
    pub fn of_run(stored: Option<&str>, max_file_size: u64) -> Self {
        let everything = Self { languages: None, include_tests: true, max_file_size };
        stored.and_then(|json| serde_json::from_str(json).ok()).unwrap_or(everything)
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("strings, flags and numbers always serialise")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_in_scope_when_language_kind_and_size_are() {
        let scope = IndexScope {
            languages: Some(BTreeSet::from(["python".to_owned()])),
            include_tests: false,
            max_file_size: 100,
        };
        assert!(scope.contains("a.py", "python", false, 100));
        assert!(!scope.contains("a.rs", "rust", false, 100));
        assert!(!scope.contains("a.py", "python", true, 100));
        assert!(!scope.contains("a.py", "python", false, 101));
        assert!(scope.contains("a/go.mod", "text", false, 100));
        assert!(!scope.contains("a/go.mod", "text", false, 101));
        assert!(IndexScope { languages: None, include_tests: true, ..scope }.contains("a.rs", "rust", true, 1));
    }
}
