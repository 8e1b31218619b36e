//! What of a memory goes and what stays, at the edges of its sentences. Ranges and numbers, never text.

use rootset_model::content::topic_of;
use rootset_model::{Content, Cut};

use super::text::{Fields, Place, Sentence};
use crate::extract::extract;
use crate::scan::Kind;
use crate::snippet::preview;

/// A sentence that begins so goes on about what the one before it spoke of.
const GOING_ON: &[&str] = &[
    "he", "her", "hers", "him", "his", "it", "its", "she", "that", "their", "theirs", "them", "these", "they", "this",
    "those",
];
/// Of what a memory says besides, so much is shown.
const REST_CHARS: usize = 160;

/// How a matching memory may be divided.
pub(super) struct Division {
    pub cut: Cut,
    /// What stays, shortened.
    pub rest: String,
    /// Whether what stays names something of its own.
    pub names_more: bool,
}

/// `None` where the memory cannot be divided: nothing stays, or what goes is also where nothing can be cut.
pub(super) fn divide(fields: &Fields<'_>, sentences: &[Sentence<'_>], goes: &[bool]) -> Option<Division> {
    let is_topic_made = topic_of(fields.context) == fields.topic;
    let cannot_be_cut = sentences.iter().zip(goes).any(|(sentence, goes)| match sentence.place {
        Place::Topic => *goes && !is_topic_made,
        Place::More => *goes,
        _ => false,
    });
    if cannot_be_cut {
        return None;
    }
    let mut cut = Cut::default();
    let mut stays: Vec<&str> = Vec::new();
    for (sentence, goes) in sentences.iter().zip(goes) {
        match (&sentence.place, goes) {
            (Place::Topic | Place::More, _) => {}
            (_, false) => stays.push(sentence.written),
            (Place::Context(range), true) => cut.context.push((range.start, range.end)),
            (Place::Decision(place), true) => cut.decisions.push(*place),
            (Place::Rationale(place), true) => cut.rationale.push(*place),
        }
    }
    // The blanks behind a sentence go with it, so that the others close up.
    let starts: Vec<usize> = sentences
        .iter()
        .filter_map(|it| if let Place::Context(range) = &it.place { Some(range.start) } else { None })
        .collect();
    for (start, end) in &mut cut.context {
        *end = starts.iter().copied().find(|next| *next > *start).unwrap_or(fields.context.len()).max(*end);
    }
    let is_something = !(cut.context.is_empty() && cut.decisions.is_empty() && cut.rationale.is_empty());
    let stays_in_context = sentences.iter().zip(goes).any(|(it, goes)| matches!(it.place, Place::Context(_)) && !goes);
    if !is_something || !stays_in_context || stays.iter().all(|text| !text.contains(char::is_alphanumeric)) {
        return None;
    }
    let rest = stays.join(" ");
    let names_more = stays.iter().any(|text| names_something(text));
    Some(Division { cut, rest: preview(&rest, REST_CHARS), names_more })
}

/// A name, an identifier, or a number with a unit or a meaning of its own.
fn names_something(text: &str) -> bool {
    let content =
        Content { topic: String::new(), context: text.to_owned(), decisions: Vec::new(), rationale: Vec::new() };
    let sentence = Sentence::of(Place::More, text);
    let has_capital = sentence.words.iter().skip(1).any(|word| {
        word.is_capital
            && word.bare.len() > 1
            && !crate::words::is_stop(&word.bare)
            && !crate::words::is_calendar(&word.bare)
    });
    let is_unspaced = sentence.pieces.iter().filter(|piece| piece.kind == Kind::Lone).count() > 3;
    has_capital || is_unspaced || !extract(&content).entities.is_empty()
}

/// Marks the sentences that go on about one that goes.
pub(super) fn follow(sentences: &[Sentence<'_>], goes: &mut [bool], is_kept: &[bool]) {
    for index in 1..sentences.len() {
        let (before, sentence) = (&sentences[index - 1], &sentences[index]);
        let is_next = matches!((&before.place, &sentence.place), (Place::Context(_), Place::Context(_)));
        let goes_on = sentence.words.first().is_some_and(|word| GOING_ON.contains(&word.bare.as_str()));
        if is_next && goes_on && goes[index - 1] && !is_kept[index] {
            goes[index] = true;
        }
    }
}
