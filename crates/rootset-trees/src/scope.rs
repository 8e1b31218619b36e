//! What a run of the index looks at.

use serde_json::{Value, json};

/// `None`: the field is left out of the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexScope {
    pub languages: Option<Vec<&'static str>>,
    pub include_tests: Option<bool>,
    pub file_bytes_max: Option<i64>,
}

impl IndexScope {
    /// The request of a run that accepts whatever it finds missing.
    pub fn request(&self, path: &str) -> Value {
        let mut request = json!({"path": path, "accept_missing": true});
        if let Some(languages) = &self.languages {
            request["languages"] = json!(languages);
        }
        if let Some(include_tests) = self.include_tests {
            request["include_tests"] = include_tests.into();
        }
        if let Some(bytes) = self.file_bytes_max {
            request["max_file_size"] = bytes.into();
        }
        request
    }

    /// Whether a run of this scope speaks about a file that was stored like this.
    pub fn holds(&self, language: &str, is_test: bool, bytes: i64) -> bool {
        self.languages.as_ref().is_none_or(|names| names.contains(&language))
            && (!is_test || self.include_tests.unwrap_or(true))
            && self.file_bytes_max.is_none_or(|max| bytes <= max)
    }
}
