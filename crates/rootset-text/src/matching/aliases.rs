//! Other names that a text gives a thing: `also known as`, an address or handle of its own.
//!
//! Only what a sentence says so itself. An address that several use (`support@…`) is nobody's. Not here: what follows.

use super::canonical;
use super::names::Name;
use super::text::{Sentence, bare_and_expanded};
use super::things::Thing;
use crate::chars::fold;
use crate::scan::Kind;
use crate::words::{is_calendar, is_starter, is_stop};

/// What comes before another name of the same thing.
const MARKS: &[&str] = &[
    "aka",
    "alias",
    "also called",
    "also known as",
    "codename is",
    "codenamed",
    "code-named",
    "formerly",
    "goes by",
    "internal name is",
    "is called",
    "is known as",
    "known as",
    "known internally as",
    "nickname is",
    "nicknamed",
    "real name is",
    "renamed to",
    "short for",
    "used to be called",
    "was called",
];
/// What comes before an address or a handle.
const CONTACTS: &[&str] = &[
    "account",
    "email",
    "e-mail",
    "github",
    "handle",
    "login",
    "mail",
    "nick",
    "reached at",
    "slack",
    "telegram",
    "user name",
    "username",
];
/// Mailboxes of many.
const SHARED: &[&str] = &[
    "admin", "billing", "contact", "hello", "help", "hr", "info", "legal", "mail", "no-reply", "noreply", "office",
    "press", "sales", "security", "support", "team",
];

/// The other names in a sentence that has a head, each with a key that tells it apart.
pub(super) fn of(sentence: &Sentence<'_>, heads: &[Thing]) -> Vec<(Thing, String)> {
    let folded = fold(&sentence.plain);
    if folded.len() != sentence.plain.len() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for mark in MARKS {
        if let Some(place) = find_word(&folded, mark) {
            found.extend(named_behind(sentence, place + mark.len(), heads));
        }
    }
    if let Some(place) = CONTACTS.iter().filter_map(|mark| find_word(&folded, mark)).min() {
        found.extend(addressed_behind(sentence, place));
    }
    found
}

fn find_word(folded: &str, mark: &str) -> Option<usize> {
    let is_border = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    folded.match_indices(mark).map(|(place, _)| place).find(|place| {
        is_border(folded[..*place].chars().next_back()) && is_border(folded[place + mark.len()..].chars().next())
    })
}

/// The name directly behind a mark: in capitals, in quotes, or an identifier.
fn named_behind(sentence: &Sentence<'_>, from: usize, heads: &[Thing]) -> Option<(Thing, String)> {
    let plain = &*sentence.plain;
    let gap = &plain[from..];
    let skipped = gap.len() - gap.trim_start_matches([' ', '"', '“', '\'', '@', ':', '`']).len();
    let start = from + skipped;
    let piece = sentence.pieces.iter().find(|piece| piece.start == start)?;
    if plain[..start].ends_with('@') {
        return Some((Thing::handle(piece.of(plain)), fold(piece.of(plain))));
    }
    if piece.kind != Kind::Word {
        let thing = super::things::identifier(plain, piece)?;
        return Some((thing, fold(piece.of(plain))));
    }
    let first = sentence.words.iter().position(|word| word.start == start)?;
    let mut words = Vec::new();
    for index in first..sentence.words.len() {
        let word = &sentence.words[index];
        let is_name = word.is_capital
            && !is_stop(&word.bare)
            && !is_calendar(&word.bare)
            && (index != first || !is_starter(&word.bare));
        if !is_name || (index > first && !sentence.is_adjacent(index - 1, index)) {
            break;
        }
        words.push(word.clone());
    }
    let is_own = heads.iter().any(|head| match head {
        Thing::Name(name) => words.iter().all(|word| name.words.iter().any(|own| own.is(word))),
        _ => false,
    });
    if words.is_empty() || is_own {
        return None;
    }
    let key = words.iter().map(|word| word.bare.as_str()).collect::<Vec<_>>().join(" ");
    Some((Thing::Name(Name { words, is_of_thing: true }), key))
}

/// The address, handle or telephone number behind a mark.
fn addressed_behind(sentence: &Sentence<'_>, from: usize) -> Option<(Thing, String)> {
    let plain = &*sentence.plain;
    let piece = sentence
        .pieces
        .iter()
        .find(|piece| piece.start >= from && (piece.kind == Kind::Email || plain[..piece.start].ends_with('@')));
    let piece = piece?;
    let written = piece.of(plain);
    if piece.kind != Kind::Email {
        return Some((Thing::handle(written), bare_and_expanded(written).0));
    }
    let local = fold(written.split('@').next().unwrap_or_default());
    let is_shared = SHARED.contains(&local.as_str()) || canonical::hexadecimal(&local).is_some();
    (!is_shared).then(|| super::things::identifier(plain, piece)).flatten().map(|thing| (thing, fold(written)))
}
