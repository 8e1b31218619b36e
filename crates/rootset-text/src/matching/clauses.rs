//! A sentence divided into statements that can stand without each other, at commas, semicolons, dashes and conjunctions.
//!
//! Places are bytes of the sentence as it is written. What begins with a verb or a pronoun leans on the statement before it;
//! what has no verb is part of it. Wherever the division is in doubt, the sentence stays whole. Not here: which of
//! the statements goes.

use std::ops::Range;

use super::verbs::is_verb;
use crate::chars::fold;

/// Between two statements. Longer ones first: the first that fits is taken.
const JOINTS: &[(&str, Tie)] = &[
    ("; and ", Tie::Equal),
    ("; but ", Tie::Equal),
    ("; ", Tie::Equal),
    (", and ", Tie::Equal),
    (", but ", Tie::Equal),
    (", while ", Tie::Equal),
    (", whereas ", Tie::Equal),
    (", yet ", Tie::Equal),
    (", so ", Tie::Equal),
    (", because ", Tie::Reason),
    (", although ", Tie::Reason),
    (" – ", Tie::Equal),
    (" — ", Tie::Equal),
    (" - ", Tie::Equal),
    (" and ", Tie::Equal),
    (" but ", Tie::Equal),
    (" while ", Tie::Equal),
    (" whereas ", Tie::Equal),
    (" because ", Tie::Reason),
    (" although ", Tie::Reason),
    (" since ", Tie::Reason),
    (" when ", Tie::Condition),
    (" if ", Tie::Condition),
    (" unless ", Tie::Condition),
    (" until ", Tie::Condition),
    (", ", Tie::Equal),
];
/// Pronouns that do something.
const DOERS: &[&str] = &["he", "i", "it", "she", "they", "we", "who", "you"];
/// Joints that stand between statements only; a plain comma or `and` stands between words as well.
pub(super) const STRONG_JOINTS: &[&str] = &[
    "; and ",
    "; but ",
    "; ",
    ", and ",
    ", but ",
    ", while ",
    ", whereas ",
    ", yet ",
    ", so ",
    ", because ",
    ", although ",
    " while ",
    " whereas ",
    " because ",
    " although ",
];
/// What begins a remark about the name before it.
pub(super) const ASIDES: &[&str] = &[", who ", ", which ", ", whose ", ", where "];
/// Pronouns that lean on somebody or something that was named.
const LEANING: &[&str] = &["he", "it", "she", "they"];
const LEANING_OWNERS: &[&str] = &["her", "his", "its", "their"];
pub(super) const OWN_BEGINNINGS: &[&str] = &[
    "a", "all", "an", "both", "each", "every", "everyone", "i", "my", "no", "nobody", "our", "someone", "that", "the",
    "there", "these", "this", "those", "we", "you", "your",
];
/// Words from the beginning of a statement to its verb.
const SUBJECT_WORDS_MAX: usize = 8;
/// Words of a name that a list of what belongs to it begins with.
pub(super) const NAME_WORDS_MAX: usize = 4;
/// A longer sentence is a text without full stops: nothing of it is told apart.
const SENTENCE_BYTES_MAX: usize = 4_096;

/// How a statement hangs on the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tie {
    Equal,
    /// Both are said, and the second tells why.
    Reason,
    /// The second only says when the first holds.
    Condition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// Has a subject of its own.
    Own,
    /// Begins with a verb.
    Verb,
    /// Begins with a pronoun, or with whose it is (`her mail is …`), up to this place of the statement.
    Pronoun(usize),
    /// A label with its value: `phone 555-0101`, or what stands in a list of such.
    Item,
}

#[derive(Clone, Debug)]
pub(super) struct Clause {
    pub range: Range<usize>,
    /// Where the words begin that join it to the one before.
    pub joined_at: usize,
    pub tie: Tie,
    pub opening: Opening,
}

/// A word of a text, folded, with its place.
pub(super) struct Token<'a> {
    pub written: &'a str,
    pub folded: String,
    pub start: usize,
}

impl Token<'_> {
    pub fn end(&self) -> usize {
        self.start + self.written.len()
    }

    pub fn is_capital(&self) -> bool {
        self.written.chars().next().is_some_and(char::is_uppercase)
    }
}

/// The words of a text, hyphens and dots inside them included.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut start = None;
    let is_inside = |c: char| c.is_alphanumeric() || c == '_';
    let mut characters = text.char_indices().peekable();
    while let Some((place, c)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        let joins = matches!(c, '-' | '.' | '@') && start.is_some() && next.is_some_and(is_inside);
        match (is_inside(c) || joins, start) {
            (true, None) => start = Some(place),
            (false, Some(from)) => {
                found.push(Token { written: &text[from..place], folded: fold(&text[from..place]), start: from });
                start = None;
            }
            _ => {}
        }
    }
    if let Some(from) = start {
        found.push(Token { written: &text[from..], folded: fold(&text[from..]), start: from });
    }
    found
}

/// The place in a list of words at which the verb of the statement stands.
pub(super) fn verb_at(words: &[Token<'_>]) -> Option<usize> {
    (0..words.len().min(SUBJECT_WORDS_MAX)).find(|index| is_verb_at(words, *index))
}

/// A verb that is known; or what a name or pronoun does, by its ending.
pub(super) fn is_verb_at(words: &[Token<'_>], index: usize) -> bool {
    let word = &words[index];
    let before = index.checked_sub(1).map(|before| &words[before]);
    if word.is_capital() || word.written.contains(|c: char| !c.is_alphabetic()) {
        return false;
    }
    let is_article = |it: &Token<'_>| OWN_BEGINNINGS.contains(&it.folded.as_str());
    let is_doer = |it: &Token<'_>| {
        (it.is_capital() && it.written.len() > 1 && !is_article(it)) || DOERS.contains(&it.folded.as_str())
    };
    let ends = |ending: &str| word.folded.len() > ending.len() + 2 && word.folded.ends_with(ending);
    // `Alice's flight lands …`
    let is_owned = index >= 3 && words[index - 2].written == "s" && words[index - 3].is_capital();
    let is_done = ends("s") && !ends("ss") && !ends("us") && (is_owned || before.is_some_and(is_doer));
    is_verb(&word.folded, before.map(|it| it.folded.as_str())) || is_done || (ends("ed") && before.is_some_and(is_doer))
}

/// The statements of a sentence, its closing mark left out; one, where it cannot be divided.
pub(super) fn clauses(written: &str, is_label: &dyn Fn(&str) -> bool) -> Vec<Clause> {
    let end = written.trim_end_matches(['.', '!', '?', '。', ' ']).len();
    let whole = Clause { range: 0..end, joined_at: 0, tie: Tie::Equal, opening: Opening::Own };
    if written.len() > SENTENCE_BYTES_MAX {
        return vec![whole];
    }
    let text = &written[..end];
    let mut found = vec![whole];
    let mut position = 0;
    let mut depth: i32 = 0;
    let mut is_quoted = false;
    while let Some(c) = text[position..].chars().next() {
        match c {
            '(' | '[' | '{' | '“' => depth += 1,
            ')' | ']' | '}' | '”' => depth -= 1,
            '"' | '`' => is_quoted = !is_quoted,
            _ => {}
        }
        // Lines in small letters: `alice: 555-0101`.
        if c == '\n'
            && let line = &text[position + 1..]
            && is_line_item(line)
        {
            if let Some(last) = found.last_mut() {
                last.range.end = position;
            }
            let start = position + 1;
            found.push(Clause { range: start..end, joined_at: position, tie: Tie::Equal, opening: Opening::Own });
            position = start;
            continue;
        }
        // What is said of a name in between belongs to the name.
        if depth == 0 && !is_quoted && ASIDES.iter().any(|aside| text[position..].starts_with(aside)) {
            let close = text[position + 1..].find(',').map_or(end, |close| position + 1 + close + 1);
            position = close;
            continue;
        }
        let joint = JOINTS.iter().find(|(joint, _)| depth == 0 && !is_quoted && text[position..].starts_with(joint));
        if let Some((joint, tie)) = joint {
            let behind = position + joint.len();
            let last = found.last().map_or(0, |it| it.range.start);
            if let Some(opening) = opening(&text[last..position], &text[behind..], joint, is_label) {
                if let Some(last) = found.last_mut() {
                    last.range.end = position;
                }
                // `while I write` says when; `while Bob writes` says something else.
                let is_when = is_led_by_doer(&text[behind..], joint);
                let tie = if is_when { Tie::Condition } else { *tie };
                found.push(Clause { range: behind..end, joined_at: position, tie, opening });
                position = behind;
                continue;
            }
        }
        position += c.len_utf8();
    }
    found
}

/// The places of the statements of a sentence, in order.
pub(crate) fn statements(sentence: &str) -> Vec<Range<usize>> {
    clauses(sentence, &|_| false).into_iter().map(|clause| clause.range).collect()
}

fn is_led_by_doer(behind: &str, joint: &str) -> bool {
    joint == " while " && tokens(behind).first().is_some_and(|word| DOERS.contains(&word.folded.as_str()))
}

/// How what stands behind a joint begins; `None` where it is no statement of its own, or there is none before it.
fn opening(before: &str, behind: &str, joint: &str, is_label: &dyn Fn(&str) -> bool) -> Option<Opening> {
    let left = tokens(before);
    let has_value = |words: &[Token<'_>]| words.len() > 1;
    let (labelled, rest) = (before.rsplit_once(": ").map_or(before, |(_, rest)| rest), item_of(behind));
    let is_list = matches!(joint, ", " | "; " | ", and " | " and " | " – " | " — ");
    // `Alice Chen, phone 555-0101, mail …`
    let is_heading = |text: &str| {
        let words = tokens(text);
        words.len() <= NAME_WORDS_MAX && words.iter().all(Token::is_capital)
    };
    let is_item = is_list
        && is_label(rest)
        && has_value(&tokens(rest))
        && (is_label(labelled) || is_heading(before))
        && !has_verb(rest);
    if is_item {
        return Some(Opening::Item);
    }
    let is_listed = is_label(labelled) && (tokens(behind).len() > 1);
    let is_statement = STRONG_JOINTS.contains(&joint) && left.len() > 1;
    if !is_listed && !is_statement {
        verb_at(&left)?;
    }
    let words = tokens(behind);
    let first = words.first()?;
    let verb = verb_at(&words);
    let folded = first.folded.as_str();
    if LEANING.contains(&folded) {
        return verb.filter(|place| *place <= 2).map(|_| Opening::Pronoun(first.end()));
    }
    if LEANING_OWNERS.contains(&folded) {
        let verb = verb?;
        return Some(if verb > 1 { Opening::Pronoun(first.end()) } else { return None });
    }
    match verb {
        // `tea and work`: the form must be one that somebody does, or that of the verb before.
        Some(0) => {
            let is_plain = |folded: &str| super::verbs::is_plain(folded);
            let left = verb_at(&left).map(|verb| left[verb].folded.as_str()).unwrap_or_default();
            let fits = !is_plain(folded) || is_plain(left) || super::verbs::is_modal(left);
            (fits && joint != " when " && joint != " if ").then_some(Opening::Verb)
        }
        Some(_) if first.is_capital() || OWN_BEGINNINGS.contains(&folded) => Some(Opening::Own),
        // `tickets are …`: only what can be nothing but a verb.
        Some(place) if place <= 2 && joint != ", " && joint != " and " => Some(Opening::Own),
        Some(place) if place <= 2 && matches!(words[place].folded.as_str(), "is" | "are" | "was" | "were") => {
            Some(Opening::Own)
        }
        _ => None,
    }
}

/// The label that all of a sentence stands under, where it has one: `Falcon: …`.
pub(super) fn only_label(text: &str) -> Option<&str> {
    let (label, rest) = text.split_once(": ")?;
    let words = tokens(label);
    let is_label = words.len() <= NAME_WORDS_MAX && verb_at(&words).is_none() && !label.contains(',');
    (is_label && !rest.contains(": ") && !text.contains('\n')).then_some(label)
}

/// Whether a line says something by itself: a bullet, or a label with its value.
fn is_line_item(text: &str) -> bool {
    let line = text.split('\n').next().unwrap_or_default().trim_start();
    let label = line.split_once([':', '=']).map(|(label, _)| label);
    line.starts_with(['-', '*', '•']) || label.is_some_and(|label| tokens(label).len() <= NAME_WORDS_MAX)
}

fn has_verb(text: &str) -> bool {
    verb_at(&tokens(text)).is_some()
}

/// Up to the next comma or conjunction.
fn item_of(text: &str) -> &str {
    let end = [", ", "; ", " and "].iter().filter_map(|mark| text.find(mark)).min().unwrap_or(text.len());
    &text[..end]
}

/// Whether a statement begins with whose it is: `her mail is …`.
pub(super) fn is_owner(text: &str) -> bool {
    tokens(text).first().is_some_and(|word| LEANING_OWNERS.contains(&word.folded.as_str()))
}
