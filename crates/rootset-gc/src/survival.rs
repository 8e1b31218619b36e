//! What has to survive the compaction of a window: which of its facts are told to the summariser, whether a summary kept them,
//! and which are put back.
//!
//! Decisions on values. Facts come in the order of their worth, class by class; how they are found in a session is somebody else's
//! business. A summary is compared by exact names, paths and numbers, and a sentence by its words: whoever says it in other words
//! has kept it only if most of them are there.

use std::collections::{BTreeMap, BTreeSet};

use crate::brief::BYTES_PER_TOKEN;

/// What the summariser is told.
pub const TOLD_TOKENS_MAX: usize = 800;
/// What is put back into the window.
pub const PUT_BACK_TOKENS_MAX: usize = 500;
/// Of a sentence's words that a summary has to hold.
const KEPT_SHARE: f64 = 0.7;
/// Shorter words are in every summary.
const WORD_CHARS_MIN: usize = 4;

/// Kinds of facts, the most valuable first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Instruction,
    File,
    Failure,
    Plan,
    Name,
}

impl Class {
    pub const ALL: [Self; 5] = [Self::Instruction, Self::File, Self::Failure, Self::Plan, Self::Name];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Instruction => "instructions",
            Self::File => "files",
            Self::Failure => "failure",
            Self::Plan => "plan",
            Self::Name => "names",
        }
    }

    /// What a class may take before the others had their turn, in percent of the room.
    fn share(self) -> usize {
        match self {
            Self::Instruction => 45,
            Self::File => 65,
            Self::Failure => 75,
            Self::Plan => 88,
            Self::Name => 100,
        }
    }
}

/// One fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    pub class: Class,
    pub text: String,
    /// Names, paths and numbers without which it is lost. Where there are none, its words count.
    pub keys: Vec<String>,
}

impl Fact {
    /// With the mark and the end of a line.
    fn bytes(&self) -> usize {
        self.text.len() + 4
    }
}

/// The places of the facts that fit, in their order: each class first within its share, then whatever still fits.
pub fn chosen(facts: &[Fact], tokens_max: usize) -> Vec<usize> {
    let room = tokens_max * BYTES_PER_TOKEN;
    let mut chosen = BTreeSet::new();
    let mut used = 0;
    for is_shared in [true, false] {
        for class in Class::ALL {
            let limit = if is_shared { room * class.share() / 100 } else { room };
            for (place, fact) in facts.iter().enumerate().filter(|(_, fact)| fact.class == class) {
                if !chosen.contains(&place) && used + fact.bytes() <= limit {
                    used += fact.bytes();
                    chosen.insert(place);
                }
            }
        }
    }
    chosen.into_iter().collect()
}

/// Whether a summary still tells a fact.
pub fn is_kept(fact: &Fact, summary: &str) -> bool {
    if !fact.keys.is_empty() {
        return fact.keys.iter().all(|key| holds(summary, key));
    }
    let words = words(&fact.text);
    let summary = self::words(summary);
    let kept = words.iter().filter(|word| summary.contains(*word)).count();
    kept as f64 >= KEPT_SHARE * words.len() as f64
}

/// As a whole, so that `80` is not found in `8080`.
fn holds(text: &str, key: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(key).any(|(at, _)| {
        let before = text[..at].chars().next_back().is_some_and(is_word) && key.starts_with(is_word);
        let after = text[at + key.len()..].chars().next().is_some_and(is_word) && key.ends_with(is_word);
        !before && !after
    })
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= WORD_CHARS_MIN);
    words.map(str::to_lowercase).collect()
}

/// Kept and lost, by class, of the facts at these places.
pub fn counts(facts: &[Fact], told: &[usize], missing: &[usize]) -> Vec<(String, usize, usize)> {
    let mut counts: BTreeMap<Class, (usize, usize)> = BTreeMap::new();
    for place in told {
        let Some(fact) = facts.get(*place) else { continue };
        let (kept, lost) = counts.entry(fact.class).or_default();
        if missing.contains(place) { *lost += 1 } else { *kept += 1 }
    }
    counts.into_iter().map(|(class, (kept, lost))| (class.as_str().to_owned(), kept, lost)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(class: Class, text: &str, keys: &[&str]) -> Fact {
        Fact { class, text: text.to_owned(), keys: keys.iter().map(|key| (*key).to_owned()).collect() }
    }

    #[test]
    fn instructions_come_first_and_leave_room_for_the_others() {
        let long = "x".repeat(96);
        let instructions = (0..40).map(|_| fact(Class::Instruction, &long, &[]));
        let names = (0..40).map(|_| fact(Class::Name, "src/main.rs", &["src/main.rs"]));
        let facts: Vec<Fact> = instructions.chain(names).collect();
        let chosen = chosen(&facts, 250);
        let instructions = chosen.iter().filter(|place| facts[**place].class == Class::Instruction).count();
        assert!((4..10).contains(&instructions), "{instructions}");
        assert!(chosen.len() - instructions >= 30, "{}", chosen.len());
        let bytes: usize = chosen.iter().map(|place| facts[*place].bytes()).sum();
        assert!(bytes <= 1_000, "{bytes}");
        assert!(super::chosen(&facts, 0).is_empty());
        assert_eq!(super::chosen(&facts[..3], 800), [0, 1, 2]);
    }

    #[test]
    fn a_summary_keeps_names_exactly_and_sentences_by_their_words() {
        let port = fact(Class::Name, "8081", &["8081"]);
        assert!(is_kept(&port, "it listens at 8081.") && !is_kept(&port, "at 18081") && !is_kept(&port, ""));
        let file = fact(Class::File, "src/pay.py: why", &["src/pay.py"]);
        assert!(is_kept(&file, "changed `src/pay.py`") && !is_kept(&file, "changed pay.py"));
        let said = fact(Class::Instruction, "Never touch the vendor folder", &[]);
        assert!(is_kept(&said, "The user said to never touch the vendor folder."));
        assert!(!is_kept(&said, "The user gave instructions about folders."));
        let both = fact(Class::Failure, "", &["cargo", "E0308"]);
        assert!(!is_kept(&both, "cargo failed"));
        assert_eq!(counts(&[port, file], &[0, 1], &[1]), [("files".to_owned(), 0, 1), ("names".to_owned(), 1, 0)]);
    }
}
