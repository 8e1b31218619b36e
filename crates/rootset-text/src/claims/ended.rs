//! What a clause says is over: `Neptune is too small`, `Firebase is gone`.

use crate::words::is_stop;

/// Behind a name and a verb these say that it is not what is used or meant any more.
const ENDED: &[&str] = &[
    "abroad",
    "closed",
    "dead",
    "gone",
    "history",
    "leave",
    "obsolete",
    "read-only",
    "renovated",
    "retired",
    "shut",
    "unavailable",
];

/// The places of what a clause says is over: `Neptune is too small`, `Firebase is gone`, `Hofer closed`.
pub(super) fn ended_places(words: &[String], begins_clause: impl Fn(usize) -> bool) -> Vec<usize> {
    let is_over = |place: usize| {
        ENDED.contains(&words[place].as_str())
            || words[place] == "too" && words.get(place + 1).is_some_and(|it| !is_stop(it))
    };
    let is_linking =
        |word: &str| matches!(word, "is" | "are" | "was" | "were" | "has" | "have" | "been" | "being" | "on" | "just");
    let mut places = Vec::new();
    for end in (1..words.len()).filter(|place| is_over(*place)) {
        let links = words[..end].iter().rev().take_while(|word| is_linking(word)).count();
        let subject_end = end - links;
        let is_said = links > 0 || matches!(words[end].as_str(), "closed" | "retired");
        let start = (0..subject_end).rev().find(|place| begins_clause(*place)).unwrap_or(0);
        if is_said && (1..=SUBJECT_ENDED_WORDS_MAX).contains(&(subject_end - start)) {
            places.extend(start..subject_end);
        }
    }
    places
}

/// A longer subject is more than a name.
const SUBJECT_ENDED_WORDS_MAX: usize = 3;
