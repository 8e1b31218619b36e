//! Answers for a model: each type of answer without what only programs use. What stays are names, texts, dates, who said it, tags,
//! and whatever the next call needs.
//!
//! One type beside each answer, and how the one becomes the other. Not here: who gets which ([`Detail`](crate::Detail)).

mod code;
mod collector;
mod graph;
mod memory;
mod references;
mod search;
mod status;

use rootset_model::content::topic_of;
use rootset_model::slug::is_made_from;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

pub use code::*;
pub use collector::*;
pub use graph::*;
pub use memory::*;
pub use references::*;
pub use search::*;
pub use status::*;

/// A memory that is only pointed at: its name and how it begins.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Near {
    pub name: String,
    /// How its text begins, where the name does not say it.
    pub text: Option<String>,
}

impl Near {
    pub fn new(name: impl Into<String>, text: &str) -> Self {
        let name = name.into();
        let is_in_name = is_made_from(&name, &topic_of(text));
        Self { text: (!is_in_name).then(|| first_words(text)), name }
    }
}

/// Enough to tell one memory from another.
const FIRST_WORDS_CHARS_MAX: usize = 60;

fn first_words(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = line.char_indices().nth(FIRST_WORDS_CHARS_MAX) else { return line };
    let cut = line[..end].rfind(' ').unwrap_or(end);
    format!("{}…", line[..cut].trim_end())
}

/// An empty list says nothing.
fn some<T>(items: Vec<T>) -> Option<Vec<T>> {
    (!items.is_empty()).then_some(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_made_from_a_text_says_how_it_begins() {
        assert_eq!(Near::new("deploys-happen-on-fridays", "Deploys happen on Fridays.\nMore.").text, None);
        assert_eq!(Near::new("friday", "Deploys happen.").text.as_deref(), Some("Deploys happen."));
    }

    #[test]
    fn first_words_end_with_a_word() {
        assert_eq!(first_words("  Deploys\n on  Fridays. "), "Deploys on Fridays.");
        let long = first_words(&"some longer words ".repeat(20));
        assert!(
            long.ends_with("longer words some…") || long.ends_with("longer…") || long.ends_with("words…"),
            "{long}"
        );
        assert!(long.chars().count() <= FIRST_WORDS_CHARS_MAX + 1);
        assert_eq!(first_words(&"é".repeat(90)).chars().count(), FIRST_WORDS_CHARS_MAX + 1);
    }
}
