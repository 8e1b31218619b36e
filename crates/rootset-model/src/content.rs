//! What a memory says: the four fields that are hashed, extracted and searched; and the hash itself.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::limits::TOPIC_CHARS_MAX;

/// The content of one revision. Topic and context are trimmed when it is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    pub topic: String,
    pub context: String,
    pub decisions: Vec<String>,
    pub rationale: Vec<String>,
}

/// SHA-256 of the canonical JSON of a content.
pub type DocHash = [u8; 32];

/// The canonical form: serde writes struct fields in this order, which is the alphabetical one.
#[derive(Serialize)]
struct Canonical<'a> {
    context: &'a str,
    decisions: &'a [String],
    rationale: &'a [String],
    topic: &'a str,
}

impl Content {
    /// SHA-256 over compact UTF-8 JSON with sorted keys. Metadata, tags and source take no part.
    pub fn doc_hash(&self) -> DocHash {
        let canonical = Canonical {
            context: self.context.trim(),
            decisions: &self.decisions,
            rationale: &self.rationale,
            topic: self.topic.trim(),
        };
        let json = serde_json::to_vec(&canonical).expect("strings and lists of strings always serialise");
        Sha256::digest(json).into()
    }

    /// Whether the topic is the one that a text without a topic gets. Such a topic belongs to the text and changes with it.
    pub fn is_topic_of_text(&self) -> bool {
        self.topic == topic_of(&self.context)
    }

    /// Bytes of text that the content holds, as counted in previews and quotas.
    pub fn byte_len(&self) -> usize {
        let list = |items: &[String]| items.iter().map(String::len).sum::<usize>();
        self.topic.len() + self.context.len() + list(&self.decisions) + list(&self.rationale)
    }
}

/// The topic of a text that comes without one: its first line that is not blank, cut to the limit.
pub fn topic_of(context: &str) -> String {
    let line = context.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or(context);
    line.chars().take(TOPIC_CHARS_MAX).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_made_from_the_text_is_its_first_line() {
        assert_eq!(topic_of("\n  Falcon plan  \nmore"), "Falcon plan");
        assert_eq!(topic_of(&"x".repeat(600)).len(), TOPIC_CHARS_MAX);
        let content = |topic: &str| Content {
            topic: topic.into(),
            context: "Falcon plan\nmore".into(),
            decisions: Vec::new(),
            rationale: Vec::new(),
        };
        assert!(content("Falcon plan").is_topic_of_text());
        assert!(!content("Falcon").is_topic_of_text());
    }

    fn hex(topic: &str, context: &str, decisions: &[&str], rationale: &[&str]) -> String {
        let owned = |items: &[&str]| items.iter().map(|it| (*it).to_owned()).collect();
        let content = Content {
            topic: topic.into(),
            context: context.into(),
            decisions: owned(decisions),
            rationale: owned(rationale),
        };
        content.doc_hash().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn doc_hash_matches_the_published_vectors() {
        assert_eq!(
            hex("Topic", "Context", &["D1"], &["R1"]),
            "57b3e5eb8be710e0256141a60e5a0d24c9443e36fcb7e5baa89735fecb88ee2f"
        );
        assert_eq!(
            hex("Same Topic", "Same Context", &[], &[]),
            "15c691c4d96c20b71b301fbd34a9f2d8edb8c9a76cc3be0321ec3aa7d4a82563"
        );
    }

    #[test]
    fn padding_does_not_change_the_hash_but_text_does() {
        assert_eq!(hex("t", "  padding  ", &[], &[]), hex(" t ", "padding", &[], &[]));
        assert_ne!(hex("t", "a", &[], &[]), hex("t", "b", &[], &[]));
        assert_ne!(hex("t", "a", &["x"], &[]), hex("t", "a", &[], &["x"]));
    }
}
