//! What was found and already reported: sets of ids, compared by a digest. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Digests of reported findings, by what they were about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Reported(BTreeMap<String, String>);

impl Reported {
    /// What was reported under this name is reported again when it comes back.
    pub fn forget(&mut self, about: &str) {
        self.0.remove(about);
    }

    /// Takes over what another has noted under this name.
    pub fn keep(&mut self, about: &str, from: &Self) {
        if let Some(digest) = from.0.get(about) {
            self.0.insert(about.to_owned(), digest.clone());
        }
    }

    /// Whether the set differs from the last one reported under this name.
    pub fn is_new(&self, about: &str, digest: &str) -> bool {
        self.0.get(about).map(String::as_str) != Some(digest)
    }

    pub fn note(&mut self, about: String, digest: String) {
        self.0.insert(about, digest);
    }
}

/// The name of a source and repository; no source contains a line feed.
pub fn about_bucket(source: &str, repo: Option<&str>) -> String {
    match repo {
        Some(repo) => format!("{source}\n{repo}"),
        None => source.to_owned(),
    }
}

/// Equal for equal sets, in whatever order they come.
pub fn digest_of(ids: &[[u8; 16]]) -> String {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    for id in &sorted {
        hasher.update(id);
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_set_is_not_new_and_any_other_is() {
        let mut reported = Reported::default();
        let digest = digest_of(&[[1; 16], [2; 16]]);
        assert!(reported.is_new("user", &digest));
        reported.note("user".into(), digest);
        assert!(!reported.is_new("user", &digest_of(&[[2; 16], [1; 16]])));
        assert!(reported.is_new("user", &digest_of(&[[1; 16]])));
        assert!(reported.is_new("user", &digest_of(&[[1; 16], [2; 16], [3; 16]])));
        assert!(reported.is_new("agent", &digest_of(&[[1; 16], [2; 16]])));
    }
}
