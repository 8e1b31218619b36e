//! Values in a sentence: numbers with their units, versions, days, times, addresses, names, states.

use crate::chars::fold;
use crate::scan::{Kind, Piece};
use crate::words::{is_calendar, is_stop};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    Number,
    Version,
    Day,
    Time,
    Mail,
    /// An address of a machine or page.
    Address,
    Name,
    /// One of a group of states that exclude each other.
    State(usize),
}

impl ValueKind {
    pub(super) const ALL: [Self; 7 + STATES.len()] = {
        let mut all = [Self::Number; 7 + STATES.len()];
        all[1] = Self::Version;
        all[2] = Self::Day;
        all[3] = Self::Time;
        all[4] = Self::Mail;
        all[5] = Self::Address;
        all[6] = Self::Name;
        let mut group = 0;
        while group < STATES.len() {
            all[7 + group] = Self::State(group);
            group += 1;
        }
        all
    };
}

/// Words that exclude each other.
const STATES: [&[&str]; 14] = [
    &["enabled", "disabled", "on", "off"],
    &["open", "closed", "resolved", "reopened"],
    &["active", "inactive", "paused", "archived", "suspended", "retired", "deprecated"],
    &[
        "done",
        "finished",
        "completed",
        "pending",
        "blocked",
        "unblocked",
        "cancelled",
        "approved",
        "rejected",
        "shipped",
        "draft",
        "merged",
        "waiting",
        "ready",
    ],
    &["up", "down", "healthy", "failing", "broken", "fixed", "degraded", "stable", "flaky"],
    &["vegetarian", "vegan", "pescatarian", "omnivore"],
    &["single", "married", "engaged", "divorced", "widowed"],
    &["public", "private"],
    &[
        "red", "blue", "green", "black", "white", "yellow", "brown", "grey", "gray", "blond", "orange", "purple",
        "pink", "silver",
    ],
    &["small", "medium", "large"],
    &["free", "basic", "starter", "pro", "business", "enterprise", "premium", "gold", "bronze", "platinum"],
    &["dark", "light"],
    &["tabs", "spaces"],
    &["tea", "coffee"],
];

const UNITS: &[&str] = &[
    "%",
    "percent",
    "ms",
    "s",
    "seconds",
    "second",
    "minutes",
    "minute",
    "min",
    "hours",
    "hour",
    "h",
    "days",
    "day",
    "weeks",
    "months",
    "years",
    "kb",
    "mb",
    "gb",
    "tb",
    "kg",
    "km",
    "cm",
    "m",
    "usd",
    "eur",
    "euros",
    "dollars",
    "people",
    "requests",
    "users",
    "items",
    "replicas",
    "nodes",
    "instances",
];

#[derive(Clone, Debug)]
pub(super) struct Value {
    pub kind: ValueKind,
    pub written: String,
    /// What it is a number of, if it says so.
    pub key: Option<String>,
    /// Places of its pieces.
    pub from: usize,
    pub to: usize,
}

impl Value {
    pub(super) fn name(sentence: &str, pieces: &[Piece], from: usize, to: usize) -> Self {
        let written = pieces[from..to].iter().map(|piece| fold(piece.of(sentence))).collect::<Vec<_>>().join(" ");
        Self { kind: ValueKind::Name, written, key: None, from, to }
    }
}

pub(super) fn read_values(sentence: &str, pieces: &[Piece], words: &[String]) -> Vec<Value> {
    let mut values: Vec<Value> = Vec::new();
    let mut index = 0;
    while index < pieces.len() {
        let piece = &pieces[index];
        let word = &words[index];
        let value = |kind, key, to| Value { kind, written: words[index..to].join(" "), key, from: index, to };
        let after = &sentence[piece.end..];
        let found = match piece.kind {
            Kind::Email => Some(value(ValueKind::Mail, None, index + 1)),
            Kind::Url => Some(value(ValueKind::Address, None, index + 1)),
            Kind::Version if word.split('.').count() == 4 => Some(value(ValueKind::Address, None, index + 1)),
            Kind::Version => Some(value(ValueKind::Version, before(words, index), index + 1)),
            Kind::Word | Kind::Number if word.starts_with(|c: char| c.is_ascii_digit()) => {
                Some(number(sentence, pieces, words, index))
            }
            Kind::Word if is_month_with_day(words, index) => Some(value(ValueKind::Day, None, index + 2)),
            Kind::Word if is_day(word) => Some(value(ValueKind::Day, None, index + 1)),
            Kind::Word | Kind::Camel if index > 0 && is_name(sentence, piece, word) => {
                let mut to = index + 1;
                while to < pieces.len()
                    && sentence[pieces[to - 1].end..pieces[to].start].trim().is_empty()
                    && is_name(sentence, &pieces[to], &words[to])
                {
                    to += 1;
                }
                Some(Value::name(sentence, pieces, index, to))
            }
            _ => None,
        };
        let state = STATES.iter().position(|states| states.contains(&word.as_str()));
        let found = found.or_else(|| {
            let is_small = matches!(word.as_str(), "on" | "off" | "up" | "down");
            let is_state = index > 0 && (!is_small || ends_clause(after));
            state.filter(|_| is_state).map(|group| value(ValueKind::State(group), None, index + 1))
        });
        match found {
            Some(value) => {
                index = value.to;
                values.push(value);
            }
            None => index += 1,
        }
    }
    values
}

fn ends_clause(after: &str) -> bool {
    after.trim_start().is_empty() || after.starts_with(['.', ',', ';', '!'])
}

/// `May 3`.
fn is_month_with_day(words: &[String], index: usize) -> bool {
    let is_number = |word: &String| word.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day));
    is_calendar(&words[index]) && words.get(index + 1).is_some_and(is_number)
}

fn is_day(word: &str) -> bool {
    is_calendar(word) && word != "may" && word != "march"
        || matches!(word, "mondays" | "tuesdays" | "wednesdays" | "thursdays" | "fridays")
}

fn is_name(sentence: &str, piece: &Piece, word: &str) -> bool {
    let written = piece.of(sentence);
    written.starts_with(char::is_uppercase) && written.len() > 1 && !is_stop(word) && !is_day(word)
}

/// The noun in front of a number: `port 8080`, `Node 18`.
fn before(words: &[String], index: usize) -> Option<String> {
    let word = words.get(index.checked_sub(1)?)?;
    (!is_stop(word)
        && super::lexicon::relation_of(words, index - 1, word).is_none()
        && !super::lexicon::is_marker(word))
    .then(|| word.clone())
}

fn number(sentence: &str, pieces: &[Piece], words: &[String], index: usize) -> Value {
    let (piece, word) = (&pieces[index], &words[index]);
    let after = &sentence[piece.end..];
    let before_it = sentence[..piece.start].chars().next_back();
    let next = words.get(index + 1).map(String::as_str);
    let at = index.checked_sub(1).and_then(|place| words.get(place)).is_some_and(|it| it == "at");
    let is_clock = after.starts_with(':') && pieces.get(index + 1).is_some_and(|it| it.start == piece.end + 1);
    let is_hour = word.ends_with("am") || word.ends_with("pm") || matches!(next, Some("am" | "pm" | "o'clock" | "uhr"));
    if is_clock
        || is_hour
        || (at && word.parse::<u8>().is_ok_and(|hour| hour <= 24) && !next.is_some_and(|it| UNITS.contains(&it)))
    {
        let to = index + 1 + usize::from(is_clock);
        return Value { kind: ValueKind::Time, written: words[index..to].join(":"), key: None, from: index, to };
    }
    let sign = after.trim_start().chars().next().filter(|c| matches!(c, '%' | '€' | '$' | '£'));
    let sign = sign.or(before_it.filter(|c| matches!(c, '€' | '$' | '£')));
    let unit = next.filter(|it| UNITS.contains(it));
    let key = sign.map(|c| if c == '%' { "percent".to_owned() } else { c.to_string() });
    let key = key
        .or_else(|| unit.map(|unit| if unit == "percent" { unit.to_owned() } else { crate::matching::stem_of(unit) }));
    let is_noun = unit.is_none() && next.is_some_and(|it| !is_stop(it));
    let noun = || next.filter(|_| is_noun).map(crate::matching::stem_of);
    if let Some(month) = next.filter(|next| is_calendar(next)) {
        return Value {
            kind: ValueKind::Day,
            written: format!("{month} {word}"),
            key: None,
            from: index,
            to: index + 2,
        };
    }
    let to = index + 1 + usize::from(unit.is_some());
    Value {
        kind: ValueKind::Number,
        written: word.clone(),
        key: key.or_else(|| before(words, index)).or_else(noun),
        from: index,
        to,
    }
}
