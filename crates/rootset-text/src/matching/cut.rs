//! What of a memory goes and what stays, at the edges of its sentences and statements. Ranges and numbers, never text.
//!
//! What stays must say something without what goes. A sentence that leans on one that goes (`She likes tea.`) goes with it;
//! any other stays. Not here: which sentences match, and how a sentence is divided.

use std::ops::Range;

use rootset_model::content::topic_of;
use rootset_model::{Content, Cut};

use super::clauses;
use super::text::{Fields, Place, Sentence};
use super::verbs::is_third_person;
use crate::extract::extract;
use crate::scan::Kind;
use crate::snippet::preview;

/// A sentence that begins so goes on about somebody whom one before it named.
const LEANING_ON_PEOPLE: &[&str] = &["he", "her", "hers", "him", "his", "she", "their", "theirs", "them", "they"];
/// Or about something.
const LEANING_ON_THINGS: &[&str] = &["it", "its", "that", "these", "this", "those"];
/// Of what a memory says besides, so much is shown.
const REST_CHARS: usize = 160;
/// Fewer words than this, and no number, say nothing by themselves.
const SAYING_WORDS_MIN: usize = 2;
/// A longer sentence without a verb is a note.
const CALL_WORDS_MAX: usize = 4;
/// A longer line is no heading.
const HEADING_WORDS_MAX: usize = 8;

/// What happens to a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Share {
    Stays,
    /// What goes of it cannot be told apart from what stays: it is left to the reviewer.
    Tangled,
    /// These bytes of it go.
    Parts(Vec<Range<usize>>),
    Goes,
}

/// What a line of a list begins with.
const BULLETS: [char; 3] = ['-', '*', '•'];

/// What a sentence leans on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaning {
    Nothing,
    People,
    Things,
}

/// How a matching memory may be divided.
pub(super) enum Division {
    /// Nothing of it stays.
    Whole,
    /// Something stays that cannot be kept without what goes.
    Tangled,
    /// What goes, and the beginning of what stays.
    Cut(Cut, String),
}

pub(super) fn divide(fields: &Fields<'_>, sentences: &[Sentence<'_>], shares: &[Share]) -> Division {
    let is_topic_made = topic_of(fields.context) == fields.topic;
    let mut cut = Cut::default();
    let mut stays: Vec<String> = Vec::new();
    let mut stays_in_context = false;
    let mut cannot_be_cut = false;
    let starts: Vec<usize> = sentences
        .iter()
        .filter_map(|it| if let Place::Context(range) = &it.place { Some(range.start) } else { None })
        .collect();
    for (sentence, share) in sentences.iter().zip(shares) {
        match (&sentence.place, share) {
            (Place::Topic, Share::Goes | Share::Parts(_)) => cannot_be_cut |= !is_topic_made,
            (Place::More, Share::Goes | Share::Parts(_)) => cannot_be_cut = true,
            (Place::Topic | Place::More, _) => {}
            (Place::Context(range), Share::Goes) => {
                // The blanks behind a sentence go with it, so that the others close up.
                let next = starts.partition_point(|start| *start <= range.start);
                let next = starts.get(next).copied().unwrap_or(fields.context.len());
                cut.context.push((range.start, next.max(range.end)));
            }
            (Place::Context(range), Share::Parts(parts)) => {
                stays_in_context = true;
                let mut position = 0;
                let mut left = String::new();
                for part in parts {
                    left.push_str(sentence.written.get(position..part.start).unwrap_or_default());
                    position = part.end;
                    cut.context.push((range.start + part.start, range.start + part.end));
                }
                left.push_str(sentence.written.get(position..).unwrap_or_default());
                stays.push(left);
            }
            (Place::Context(_), _) => {
                stays_in_context |= says_something(sentence.written);
                stays.push(sentence.written.to_owned());
            }
            (Place::Decision(place), Share::Goes) => cut.decisions.push(*place),
            (Place::Rationale(place), Share::Goes) => cut.rationale.push(*place),
            // A list keeps or loses its entries whole.
            (Place::Decision(_) | Place::Rationale(_), _) => stays.push(sentence.written.to_owned()),
        }
    }
    let is_cut = !(cut.context.is_empty() && cut.decisions.is_empty() && cut.rationale.is_empty());
    if cannot_be_cut || !stays_in_context || !is_cut {
        // What names and states nothing of its own belongs to what it is filed under.
        let says_more = shares.contains(&Share::Tangled)
            || stays.iter().any(|text| names_something(text) || states_something(text));
        return if says_more { Division::Tangled } else { Division::Whole };
    }
    Division::Cut(cut, preview(&stays.join(" "), REST_CHARS))
}

/// Whether what is left of a text is more than a rest.
fn says_something(text: &str) -> bool {
    let words = text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
    words >= SAYING_WORDS_MIN
        || text.contains(|c: char| c.is_ascii_digit())
        || text.chars().filter(|c| crate::chars::is_lone(*c)).count() >= SAYING_WORDS_MIN
}

/// A subject and what it does.
fn states_something(text: &str) -> bool {
    let words = clauses::tokens(text);
    words.len() > SAYING_WORDS_MIN && clauses::verb_at(&words).is_some_and(|verb| verb > 0)
}

/// A name, an identifier, or a number with a unit or a meaning of its own.
pub(super) fn names_something(text: &str) -> bool {
    let content =
        Content { topic: String::new(), context: text.to_owned(), decisions: Vec::new(), rationale: Vec::new() };
    let sentence = Sentence::of(Place::More, text);
    // The first word of a sentence has its capital anyway; that of a bullet need not.
    let first = usize::from(!text.starts_with(BULLETS));
    let has_capital = sentence.words.iter().skip(first).any(|word| {
        word.is_capital
            && word.bare.len() > 1
            && !crate::words::is_stop(&word.bare)
            && !crate::words::is_calendar(&word.bare)
    });
    let is_unspaced = sentence.pieces.iter().filter(|piece| piece.kind == Kind::Lone).count() > 3;
    has_capital || is_unspaced || !extract(&content).entities.is_empty()
}

/// What a sentence leans on, by its first word; a verb without anybody who does it leans on people.
pub(super) fn leaning(sentence: &Sentence<'_>) -> Leaning {
    let bare = |place: usize| sentence.words.get(place).map(|word| word.bare.as_str()).unwrap_or_default();
    let first = bare(0);
    if LEANING_ON_PEOPLE.contains(&first) {
        return Leaning::People;
    }
    if LEANING_ON_THINGS.contains(&first) {
        return Leaning::Things;
    }
    if matches!((first, bare(1)), ("after" | "before" | "because", "that") | ("since", "then")) {
        return Leaning::Things;
    }
    // `Likes tea.`, and not `Notes are in the drive.`
    let is_elided = is_third_person(first)
        && !super::verbs::is_verb(bare(1), Some(first))
        && sentence.words[0].start == 0
        && !sentence.plain[sentence.words[0].end..].starts_with([':', '-']);
    if is_elided { Leaning::People } else { Leaning::Nothing }
}

/// The sentence that each one leans on: itself, where it leans on nothing.
pub(super) fn anchors(sentences: &[Sentence<'_>]) -> Vec<usize> {
    let mut anchors: Vec<usize> = Vec::with_capacity(sentences.len());
    for (index, sentence) in sentences.iter().enumerate() {
        let before = index.checked_sub(1).filter(|before| {
            matches!((&sentences[*before].place, &sentence.place), (Place::Context(_), Place::Context(_)))
        });
        let anchor = match before {
            Some(before) if leaning(sentence) != Leaning::Nothing => anchors[before],
            _ => index,
        };
        anchors.push(anchor);
    }
    anchors
}

/// Marks the sentences that lean on one that goes, and the lines under a heading that does.
pub(super) fn follow(fields: &Fields<'_>, sentences: &[Sentence<'_>], shares: &mut [Share], is_kept: &[bool]) {
    let anchors = anchors(sentences);
    for index in 1..sentences.len() {
        let (before, sentence) = (&sentences[index - 1], &sentences[index]);
        let may_follow = match shares[index] {
            Share::Stays => true,
            Share::Parts(_) => leaning(sentence) != Leaning::Nothing,
            Share::Tangled | Share::Goes => false,
        };
        if !may_follow || is_kept[index] {
            continue;
        }
        let (Place::Context(above), Place::Context(range)) = (&before.place, &sentence.place) else { continue };
        let leaning_now = leaning(sentence);
        let goes = match leaning_now {
            Leaning::Nothing => {
                let between = fields.context.get(above.end..range.start).unwrap_or_default();
                shares[index - 1] == Share::Goes
                    && between.contains('\n')
                    && !between.contains("\n\n")
                    && is_labelled(sentence)
                    && heads_lines(sentences, shares, index - 1)
            }
            Leaning::Things if leaning(before) == Leaning::People => shares[index - 1] == Share::Goes,
            // `Thanks, Alice! It was …`: who is spoken to is not what it was.
            Leaning::Things if is_call(&sentences[anchors[index]]) => false,
            _ => shares[anchors[index]] == Share::Goes,
        };
        if goes {
            shares[index] = Share::Goes;
        }
    }
}

/// A greeting, or an answer: a few words without a verb, a name among them.
fn is_call(sentence: &Sentence<'_>) -> bool {
    let words = clauses::tokens(sentence.written);
    words.len() <= CALL_WORDS_MAX && clauses::verb_at(&words).is_none() && sentence.written.ends_with(['.', '!', '?'])
}

/// `Phone: 555-0101`, `- likes tea`.
fn is_labelled(sentence: &Sentence<'_>) -> bool {
    let text = sentence.written;
    text.starts_with(BULLETS)
        || text
            .split_once(':')
            .is_some_and(|(label, value)| clauses::tokens(label).len() <= 3 && !value.trim().is_empty())
}

/// Whether a line is a heading that goes, or stands under one: no bullet, no value, no verb.
fn heads_lines(sentences: &[Sentence<'_>], shares: &[Share], from: usize) -> bool {
    let mut index = from;
    while is_labelled(&sentences[index]) && index > 0 && matches!(sentences[index - 1].place, Place::Context(_)) {
        index -= 1;
    }
    let words = clauses::tokens(sentences[index].written);
    let is_open = !sentences[index].written.ends_with('.') && words.len() <= HEADING_WORDS_MAX;
    shares[index] == Share::Goes && !is_labelled(&sentences[index]) && is_open && clauses::verb_at(&words).is_none()
}
