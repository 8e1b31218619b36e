//! Items of an enumeration, and whether one can go so that the others stand as before.
//!
//! Not here: statements beside each other ([`super::clauses`]).

use std::ops::Range;

use super::clauses::{Token, tokens, verb_at};
use super::verbs::fits_one_and_many;

/// Between the items of an enumeration.
const LIST_MARKS: &[&str] = &[", and ", ", or ", " and ", " & ", " or ", ", ", "; ", " as well as "];
/// Words of a value behind an item of a list.
pub(super) const VALUE_WORDS_MAX: usize = 6;

/// An item of an enumeration: `Alice` in `Bob, Alice and Carol`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Listed {
    /// Goes with these bytes, and the others stand as before.
    Cut(Range<usize>),
    /// What is said of both cannot be said of the other alone without other words.
    Tangled,
}

/// Between items of which only one does something: what one of two does, the other cannot be said to do alone.
fn is_choice(text: &str, left: usize, right: usize) -> bool {
    let is_or = text[left..right].trim_matches([',', ' ']) == "or";
    is_or && verb_at(&tokens(&text[..left])).is_none() && verb_at(&tokens(&text[right..])).is_some()
}

/// The enumeration in which these bytes of a statement are one item among others like it.
pub(super) fn listed(text: &str, named: &Range<usize>) -> Option<Listed> {
    let rest = &text[named.end..];
    if rest.starts_with("'s and ") || rest.starts_with("’s and ") || rest.starts_with(" nor ") {
        return Some(Listed::Tangled);
    }
    let item = with_value(text, named);
    let before = LIST_MARKS.iter().filter(|mark| text[..item.start].ends_with(**mark)).map(|mark| mark.len()).max();
    let after = LIST_MARKS.iter().filter(|mark| text[item.end..].starts_with(**mark)).map(|mark| mark.len()).max();
    let alike = |word: Option<&Token<'_>>| word.is_some_and(|word| is_alike(word.written, &text[named.clone()]));
    let after = after.filter(|length| alike(tokens(&text[item.end + length..]).first()));
    let before = before.filter(|length| {
        let head = &text[..item.start - length];
        let words = tokens(head);
        // The item before may have a value, too.
        let last = head.rfind([',', ':', ';']).map_or(0, |place| place + 1);
        alike(words.last()) && head.ends_with(char::is_alphanumeric) || alike(tokens(&head[last..]).first())
    });
    if after.is_some_and(|right| is_choice(text, item.end, item.end + right))
        || before.is_some_and(|left| is_choice(text, item.start - left, item.start))
    {
        return Some(Listed::Tangled);
    }
    match (before, after) {
        // In the middle: `Bob, Alice and Carol`.
        (Some(left), Some(_)) => Some(Listed::Cut(item.start - left..item.end)),
        (None, Some(right)) => first_of(text, &item, right, item != *named),
        (Some(left), None) => last_of(text, &item, left),
        (None, None) => None,
    }
}

fn first_of(text: &str, item: &Range<usize>, right: usize, has_value: bool) -> Option<Listed> {
    let (head, others) = (&text[..item.start], &text[item.end + right..]);
    let is_comma = text[item.end..].starts_with(", ");
    let is_led = has_value || head.trim_end().ends_with([':', '(', '-', '–']) || has_list(head);
    // `Alice, Mayor of Bonn, …`
    if is_comma && !is_led && !has_conjunction(others) {
        return None;
    }
    let words = tokens(others);
    let verb = verb_at(&words);
    let is_object = tokens(head).last().is_some_and(|word| is_preposition(&word.folded));
    let is_subject = verb.is_some() && verb_at(&tokens(head)).is_none() && !is_led && !is_object;
    let fits = verb.is_none_or(|place| fits_one_and_many(&words[place].folded));
    let fits = fits || is_comma || enumerates_more(others);
    Some(if !is_subject || fits { Listed::Cut(item.start..item.end + right) } else { Listed::Tangled })
}

fn last_of(text: &str, item: &Range<usize>, left: usize) -> Option<Listed> {
    let head = &text[..item.start - left];
    let is_comma = text[..item.start].ends_with(", ") && left == ", ".len();
    if is_comma && !has_list(head) {
        return None;
    }
    let behind = tokens(&text[item.end..]);
    let verb = verb_at(&behind).filter(|place| *place <= 2);
    let is_object = tokens(head).iter().any(|word| is_preposition(&word.folded));
    let is_subject = verb.is_some() && verb_at(&tokens(head)).is_none() && !is_object;
    let fits = verb.is_none_or(|place| fits_one_and_many(&behind[place].folded));
    let fits = fits || head.contains(", ");
    Some(if !is_subject || fits { Listed::Cut(item.start - left..item.end) } else { Listed::Tangled })
}

/// An item with the value that stands behind it: `Alice (555-0101)`, `Alice 555-0101`; in a list without a verb, with
/// all that is behind it.
fn with_value(text: &str, named: &Range<usize>) -> Range<usize> {
    let rest = &text[named.end..];
    if rest.is_empty() || LIST_MARKS.iter().any(|mark| rest.starts_with(mark)) || rest.starts_with(['\'', '’']) {
        return named.clone();
    }
    let mut depth = 0_i32;
    let end = rest.char_indices().find_map(|(place, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        (depth == 0 && LIST_MARKS.iter().any(|mark| rest[place..].starts_with(mark))).then_some(place)
    });
    let value = &rest[..end.unwrap_or(rest.len())];
    if value.starts_with(" (") && value.ends_with(')') {
        return named.start..named.end + value.len();
    }
    let words = tokens(value);
    let has_value = value.contains(|c: char| c.is_ascii_digit() || matches!(c, '(' | '@' | '=' | ':'));
    let is_list = verb_at(&tokens(text)).is_none();
    let is_item = words.len() <= VALUE_WORDS_MAX && verb_at(&words).is_none() && (has_value || is_list);
    if is_item { named.start..named.end + value.len() } else { named.clone() }
}

/// Whether two items of a list are of one kind: names, addresses, or numbers of about the same length.
fn is_alike(word: &str, named: &str) -> bool {
    let has_digit = |text: &str| text.bytes().any(|byte| byte.is_ascii_digit());
    let begins_large =
        |text: &str| text.chars().next().is_some_and(|c| c.is_uppercase() || (c.is_alphabetic() && !c.is_lowercase()));
    match (word.contains('@'), named.contains('@')) {
        (true, true) => true,
        (false, false) if has_digit(named) => has_digit(word) && word.len().abs_diff(named.len()) <= 2,
        (false, false) => begins_large(word) && begins_large(named) && word.len() > 1,
        _ => false,
    }
}

fn is_preposition(folded: &str) -> bool {
    matches!(folded, "about" | "by" | "for" | "from" | "of" | "to" | "with" | "at")
}

fn enumerates_more(others: &str) -> bool {
    let up_to_verb = tokens(others).iter().take(3).any(|word| word.folded == "and" || word.folded == "or");
    up_to_verb
        || others.split_once(", ").is_some_and(|(first, rest)| first.len() < 40 && rest.starts_with(char::is_uppercase))
}

fn has_conjunction(text: &str) -> bool {
    tokens(text).iter().take(6).any(|word| matches!(word.folded.as_str(), "and" | "or"))
}

fn has_list(head: &str) -> bool {
    head.contains(", ") || head.contains(": ")
}
