//! One sentence to a claim.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::Claim;
use super::lexicon::{self, Change};
use super::states::ends_it;
use super::values::{Reader, Value, ValueKind, words_of};
use super::{ended, log};
use crate::matching::stem_of;
use crate::scan::{Kind, scan};
use crate::words::is_stop;

/// Longer sentences tell stories.
const WORDS_MAX: usize = 45;
const WORDS_MIN: usize = 2;
/// Words told as former behind `from` or `no longer`.
const FORMER_WORDS_MAX: usize = 5;

/// `[agent]`, `[2026]`: a longer text in brackets says something.
const TAG_BYTES_MAX: usize = 16;

/// Weights of words that two sentences share.
const COMMON: f64 = 0.35;
const ORDINARY: f64 = 1.0;
const NAME: f64 = 1.1;
/// Of a word behind `because` and the like.
const ASIDE: f64 = 0.4;

impl Claim {
    pub(super) fn read(text: &str, range: Range<usize>) -> Option<Self> {
        let range = range.start + lead_of(&text[range.clone()])..range.end;
        let sentence = &text[range.clone()];
        if is_trailer(sentence) || sentence.contains("](") {
            return None;
        }
        if sentence.ends_with('?') || sentence.starts_with(['[', '|', '>', '<']) {
            return None;
        }
        let pieces = scan(sentence);
        if pieces.len() < WORDS_MIN || pieces.len() > WORDS_MAX {
            return None;
        }
        let words = words_of(sentence, &pieces);
        let reader = Reader { sentence, pieces: &pieces, words: &words };
        let values = reader.read();
        let verb = verb_of(sentence, &reader);
        let mut former_places = former_places(&words);
        let begins_clause = |place: usize| {
            place == 0
                || sentence[pieces[place - 1].end..pieces[place].start].contains([',', ';'])
                || words[place - 1] == "and"
        };
        // Only beside what takes its place.
        let ended = ended::ended_places(&words, begins_clause);
        if ended.len() < words.len()
            && values.iter().any(|value| value.kind == ValueKind::Name && !ended.contains(&value.from))
        {
            former_places.extend(ended);
        }
        let is_former = |value: &Value| (value.from..value.to).any(|place| former_places.contains(&place));
        let holding: Vec<bool> = (0..words.len())
            .map(|place| {
                let is_long_number = words[place].len() >= 3 && words[place].bytes().all(|byte| byte.is_ascii_digit());
                let is_typed = |v: &Value| !matches!(v.kind, ValueKind::Is | ValueKind::Name | ValueKind::State(_));
                !is_long_number && values.iter().any(|v| (v.from..v.to).contains(&place) && is_typed(v))
            })
            .collect();
        let is_state: Vec<bool> = (0..words.len())
            .map(|place| {
                values.iter().any(|v| (v.from..v.to).contains(&place) && matches!(v.kind, ValueKind::State(_)))
            })
            .collect();
        let mut topic = BTreeMap::new();
        let mut modifiers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut complements: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut owned: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut former = BTreeSet::new();
        let aside = asides_of(sentence, &reader);
        let prelude = prelude_of(sentence, &reader);
        let mut before: Option<(usize, String, bool)> = None;
        for (place, word) in words.iter().enumerate() {
            let is_name = reader.is_name(place);
            let is_content = !holding[place]
                && !is_stop(word)
                && !lexicon::is_filler(word)
                && (is_name || lexicon::change_of(&words, place) == Change::None)
                && (is_name || !is_verb(word))
                && (word.chars().count() > 1 || pieces[place].kind == Kind::Lone || is_letter_name(&reader, place));
            if !is_content {
                if former_places.contains(&place) {
                    former.insert(word.clone());
                }
                continue;
            }
            let stem = lexicon::meaning_of(stem_of(word));
            if former_places.contains(&place) {
                former.insert(stem.clone());
            }
            let weight = if is_name || word.starts_with(|c: char| c.is_ascii_digit()) {
                NAME
            } else if lexicon::is_common(word) {
                COMMON
            } else {
                ORDINARY
            };
            let weight = if aside[place] || place < prelude { weight * ASIDE } else { weight };
            let held = topic.entry(stem.clone()).or_insert(weight);
            *held = held.max(weight);
            if let Some((at, modifier, was_name)) = &before
                && at + 1 == place
                && reader.touches(place)
                && !(*was_name && is_name)
                && *modifier != stem
            {
                modifiers.entry(stem.clone()).or_default().insert(modifier.clone());
            }
            // `owner of the wiki`
            if let Some((at, head, _)) = &before
                && words.get(at + 1).is_some_and(|word| word == "of")
                && (at + 2 == place || at + 3 == place && is_stop(&words[at + 2]))
            {
                complements.entry(head.clone()).or_default().insert(stem.clone());
            }
            if let Some((at, owner, _)) = &before
                && at + 1 == place
                && is_possessive(&sentence[pieces[*at].end..pieces[place].start])
            {
                owned.entry(owner.clone()).or_default().insert(stem.clone());
            }
            let is_plain = !word.starts_with(|c: char| c.is_ascii_digit());
            before = (is_plain && (!is_state[place] || place < verb)).then_some((place, stem, is_name));
        }
        if topic.is_empty() {
            return None;
        }
        former.extend(values.iter().filter(|value| is_former(value)).map(|value| value.written.clone()));
        let names = || values.iter().filter(|value| value.kind == ValueKind::Name);
        let is_owned = |value: &Value| {
            let after = &sentence[pieces[value.to - 1].end..];
            after.starts_with("'s") || after.starts_with("’s") || after.starts_with("' ") || after.starts_with("’ ")
        };
        let of_subject = |value: &&Value| value.to <= verb || is_owned(value);
        let subject_names = names()
            .filter(of_subject)
            .flat_map(|value| words[value.from..value.to].iter())
            .map(|word| stem_of(word))
            .collect();
        let full_names = names()
            .filter(|value| value.to - value.from > 1)
            .map(|value| words[value.from..value.to].to_vec())
            .collect();
        let change = (0..words.len()).map(|place| lexicon::change_of(&words, place)).max().unwrap_or_default();
        // Behind the last value and its comma somebody's wishes are reasons: `… at 18:45, he wants to lock up`.
        let last = values.iter().filter(|value| !matches!(value.kind, ValueKind::State(_))).map(|value| value.to).max();
        let told =
            last.and_then(|last| (last..words.len()).find(|place| !reader.touches(*place))).unwrap_or(words.len());
        let plainly: Vec<String> =
            words.iter().zip(&aside).filter(|(_, is_aside)| !**is_aside).map(|(word, _)| word.clone()).collect();
        let has_arrow = sentence.contains("->") || sentence.contains('→');
        let change = if has_arrow || !former.is_empty() { Change::Strong } else { change };
        let (numbered, values) = split_numbered(values, verb, change);
        Some(Self {
            start: range.start,
            end: range.end,
            topic,
            modifiers,
            complements,
            owned,
            subject_names,
            full_names,
            numbered,
            attributes: words.iter().flat_map(|word| lexicon::attributes_of(word)).collect(),
            values: values.into_iter().filter(|value| !is_former(value)).collect(),
            former,
            change,
            is_end: (0..words.len()).any(|place| ends_it(&words, place)),
            scope: (0..words.len())
                .filter_map(|place| lexicon::scope_of(&words, place, pieces[place].of(sentence)))
                .collect(),
            years: words.iter().filter(|word| lexicon::is_year(word)).cloned().collect(),
            is_doubtful: (0..words.len()).any(|place| {
                let is_said = !aside[place] && (place < told || !lexicon::is_wish(&words[place]));
                is_said && lexicon::is_doubtful(&words, place, place == 0)
            }),
            is_history: lexicon::tells_history(&plainly),
            is_log_entry: log::is_log_entry(sentence),
            is_one_of_several: lexicon::tells_one_of_several(&words),
            words,
        })
    }
}

/// How much of a sentence is a bullet or says who wrote it: `- `, `[agent] `.
fn lead_of(sentence: &str) -> usize {
    let bullet = sentence.len() - sentence.trim_start_matches(['-', '*', '•', ' ']).len();
    let rest = &sentence[bullet..];
    let tag = rest.strip_prefix('[').and_then(|inside| inside.split_once("] ")).map(|(tag, _)| tag);
    let is_tag = |tag: &&str| tag.len() <= TAG_BYTES_MAX && tag.bytes().all(|byte| byte.is_ascii_alphanumeric());
    bullet + tag.filter(is_tag).map_or(0, |tag| tag.len() + "[] ".len())
}

/// `Signed-off-by: …` and the like.
fn is_trailer(sentence: &str) -> bool {
    let key = sentence.split(": ").next().unwrap_or_default();
    key.len() < sentence.len()
        && key.contains('-')
        && key.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-')
}

/// Which words stand in a clause that gives reasons and circumstances, up to the comma that ends it.
fn asides_of(sentence: &str, reader: &Reader<'_>) -> Vec<bool> {
    let mut aside = vec![false; reader.words.len()];
    let mut is_open = false;
    for place in 0..reader.words.len() {
        let is_behind_comma = place > 0
            && sentence[reader.pieces[place - 1].end..reader.pieces[place].start].starts_with([',', ';', ':']);
        if is_behind_comma {
            is_open = false;
        }
        // `if you want to reach her`
        let is_wish = reader.words[place] == "if" && reader.words.get(place + 1).is_some_and(|next| next == "you");
        aside[place] = is_open;
        is_open |= place >= 3 && (lexicon::begins_aside(&reader.words[place]) || is_wish)
            || is_behind_comma && matches!(reader.words[place].as_str(), "which" | "who" | "whom" | "whose" | "where");
        aside[place] |= is_open && is_wish;
    }
    aside
}

/// Places before the comma of a clause that says why or when: `To avoid the clash, …`.
fn prelude_of(sentence: &str, reader: &Reader<'_>) -> usize {
    let begins = matches!(
        reader.words[0].as_str(),
        "to" | "after" | "since" | "because" | "with" | "due" | "when" | "while" | "following" | "thanks" | "given"
    );
    match sentence.find(", ").filter(|_| begins) {
        Some(comma) => reader.pieces.iter().filter(|piece| piece.end <= comma).count(),
        None => 0,
    }
}

/// A letter that tells one thing from others: `Lift B`.
fn is_letter_name(reader: &Reader<'_>, place: usize) -> bool {
    let written = reader.pieces[place].of(reader.sentence);
    written.len() == 1
        && written.bytes().all(|byte| byte.is_ascii_uppercase())
        && written != "I"
        && written != "A"
        && place > 0
}

/// What stands between `Anna` and `flight` in `Anna's flight`.
fn is_possessive(between: &str) -> bool {
    matches!(between.trim_end(), "'s" | "’s" | "'" | "’")
}

/// Verbs that carry an attribute rather than a topic.
fn is_verb(word: &str) -> bool {
    lexicon::attributes_of(word).next().is_some() && !is_noun_of_attribute(word)
}

/// Nouns among the words of attributes: what somebody is, and what a thing is called.
fn is_noun_of_attribute(word: &str) -> bool {
    matches!(
        word,
        "captain"
            | "ceo"
            | "chair"
            | "contact"
            | "coordinator"
            | "cto"
            | "friend"
            | "friends"
            | "headquarters"
            | "job"
            | "leader"
            | "maintainer"
            | "manager"
            | "mentor"
            | "office"
            | "organiser"
            | "organizer"
            | "owner"
            | "pm"
            | "president"
            | "reviewer"
            | "supervisor"
            | "treasurer"
            | "venue"
            | "employer"
            | "seat"
            | "assignee"
    )
}

/// Where the predicate begins: the first auxiliary, verb of an attribute or word of change, or the colon.
fn verb_of(sentence: &str, reader: &Reader<'_>) -> usize {
    let words = reader.words;
    let colon =
        sentence.find(": ").map_or(usize::MAX, |at| reader.pieces.iter().filter(|piece| piece.end <= at).count());
    let is_start = |place: usize| {
        let word = words[place].as_str();
        matches!(word, "is" | "are" | "was" | "were" | "has" | "have" | "had" | "will" | "can" | "may" | "should")
            || is_verb(word) && !matches!(word, "on" | "with")
            || lexicon::change_of(words, place) == Change::Strong && word != "now"
    };
    (0..words.len()).find(|place| is_start(*place)).unwrap_or(words.len()).min(colon)
}

/// Places of the words that are told as former.
fn former_places(words: &[String]) -> BTreeSet<usize> {
    let mut places = BTreeSet::new();
    let changes = (0..words.len()).any(|place| lexicon::change_of(words, place) == Change::Strong);
    for place in 0..words.len() {
        if !lexicon::tells_former(words, place) || (words[place] == "from" && !changes) || words[place] == "was" {
            continue;
        }
        let behind = words.iter().enumerate().skip(place + 1).take(FORMER_WORDS_MAX);
        places.extend(behind.take_while(|(_, word)| !lexicon::ends_former(word)).map(|(at, _)| at));
    }
    // `X got renamed to Y`, `X rebranded as Y`: X is what it was called.
    if let Some(at) = (1..words.len()).find(|at| matches!(words[*at].as_str(), "renamed" | "rebranded")) {
        let is_passive = matches!(words[at - 1].as_str(), "was" | "got" | "been" | "were") || words[at] == "rebranded";
        if is_passive && !words.iter().any(|word| word == "from") {
            let is_helper = |word: &String| matches!(word.as_str(), "was" | "were" | "got" | "been" | "has" | "have");
            let named = (0..at).rev().skip_while(|place| is_helper(&words[*place])).take(FORMER_WORDS_MAX);
            places.extend(named.take_while(|place| !is_stop(&words[*place])));
        }
    }
    // `X was replaced by Y`
    if let Some(at) =
        (1..words.len()).find(|at| matches!(words[*at].as_str(), "by" | "with") && words[at - 1] == "replaced")
    {
        places.extend((0..at - 1).filter(|place| !is_stop(&words[*place])));
    }
    places
}

/// Numbers that tell a thing from others, and the values that are left. In the subject a number behind a noun does, unless the
/// sentence says of a change and has no other value; behind the verb it does where nothing is said of a change.
fn split_numbered(values: Vec<Value>, verb: usize, change: Change) -> (BTreeMap<String, String>, Vec<Value>) {
    let is_of_subject =
        |value: &Value| value.kind == ValueKind::Number && value.to <= verb && value.key.is_some() && value.from > 0;
    let has_others = values.iter().any(|value| !is_of_subject(value) && value.from >= verb);
    let tells_apart = |value: &Value| {
        is_of_subject(value) && (has_others || value.is_label) || value.is_label && change == Change::None
    };
    let numbered = values.iter().filter(|value| tells_apart(value));
    let numbered = numbered.filter_map(|value| Some((value.key.clone()?, value.written.clone()))).collect();
    (numbered, values.into_iter().filter(|value| !(is_of_subject(value) && has_others)).collect())
}
