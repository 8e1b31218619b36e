//! What a statement says of somebody or something else as well, in the same words: `my girlfriend, Alice and I`, `Alice says
//! that Bob moved`, `Alice's brother Bob`. Such a statement cannot go as a whole, and nothing can be cut out of it.
//!
//! Not here: others of the same kind beside it, which a cut may leave standing ([`super::lists`]), and statements beside
//! each other ([`super::clauses`]).

use std::ops::Range;

use super::canonical;
use super::clauses::{OWN_BEGINNINGS, Token, is_verb_at, tokens, verb_at};
use super::conjunction::quotations;
use super::verbs::{is_third_person, is_verb};
use crate::words::{is_calendar, is_starter};

/// What joins things that one thing is said of. Longer ones first.
const JOINING: &[&str] = &[
    ", as well as ",
    " as well as ",
    " together with ",
    " along with ",
    ", and ",
    ", or ",
    " and ",
    " or ",
    " nor ",
    " plus ",
    " & ",
    " + ",
    " but ",
    " und ",
    " oder ",
    " et ",
    " ou ",
    " och ",
    " og ",
];
/// Joints of lists with two items or more.
const LISTING: &[&str] = &[" and ", " or ", " & ", " und ", " oder ", " et ", " ou ", " och ", " og "];
/// Who or what is meant without a name.
const PRONOUNS: &[&str] = &[
    "everybody",
    "everyone",
    "he",
    "her",
    "him",
    "his",
    "i",
    "me",
    "mine",
    "myself",
    "others",
    "she",
    "someone",
    "them",
    "their",
    "they",
    "us",
    "we",
    "you",
];
/// What leans on somebody that was named, or begins an aside.
const LEANING: &[&str] = &["he", "it", "she", "that", "they", "where", "which", "who", "whose"];
/// In front of a name, and part of it.
const LEADING: &[&str] = &["a", "an", "her", "his", "my", "our", "project", "the", "their"];
/// Words of what belongs to a name: `Alice's old work phone`.
const OWNED_WORDS_MAX: usize = 4;
/// Who does this tells what somebody else is or does.
#[rustfmt::skip]
const TELLING: &[&str] = &[
    "announced", "asked", "asks", "believes", "believed", "claimed", "claims", "confirmed", "confirms", "explained", "heard", "hears", "hopes",
    "knows", "mentioned", "mentions", "noticed", "reckons", "remembers", "reported", "reports", "says", "said", "suspects",
    "thinks", "thought", "tells", "told", "warned", "writes", "wrote",
];
/// Shorter numbers are counts, prices and years.
const DIGITS_OF_NUMBER_MIN: usize = 7;
/// Numbers to call differ in length; a date is no card.
const DIGITS_APART_MAX: usize = 2;
/// Signs between words of a diagram, a sum or a line of code.
const SIGNS: &[&str] = &["->", "→", "=>", "<-", "==", "+", "|"];

/// Whether these bytes of a statement share it with something else.
pub(super) fn is_shared(text: &str, named: &Range<usize>) -> bool {
    let ways = [is_joined, goes_on_about_another, tells_of_another, is_quoted_beside, owns_another, is_tied_by_signs];
    ways.iter().any(|is_so| is_so(text, named))
}

/// `Alice and my sister`, `the plumber and Alice`, `Alice's mother and my aunt`.
fn is_joined(text: &str, named: &Range<usize>) -> bool {
    let behind = with_owned(text, named.end);
    // `Sunbird and the portal are the same`: two names of one thing.
    if [" are the same", " is the same", " for short"].iter().any(|it| text[named.end..].contains(it)) {
        return false;
    }
    let joined = JOINING.iter().find_map(|joint| text[behind..].strip_prefix(joint));
    if joined.is_some_and(begins_thing) {
        return true;
    }
    // `Alice, the kids and grandma`
    if let Some(rest) = text[behind..].strip_prefix(", ")
        && begins_thing(rest)
    {
        let words = tokens(rest);
        let verb = verb_at(&words).map_or(rest.len(), |verb| words[verb].start);
        if LISTING.iter().any(|joint| rest[..verb].contains(joint)) {
            return true;
        }
    }
    let mut from = named.start;
    while let Some(leader) = tokens(&text[..from]).last()
        && LEADING.contains(&leader.folded.as_str())
        && text[leader.end()..from].trim().is_empty()
    {
        from = leader.start;
    }
    JOINING.iter().any(|joint| text[..from].ends_with(joint)) || is_behind_another(text, from)
}

/// `Send the draft to Bob and copy Alice`, `It was Bob who paid, Alice only watched`: what stands before the joint is somebody
/// else's, and the two were not divided.
fn is_behind_another(text: &str, from: usize) -> bool {
    let names = |words: &[Token<'_>]| words.iter().skip(1).any(is_name);
    let is_open = |between: &[Token<'_>]| !between.is_empty() && verb_at(between).is_none();
    text[..from]
        .match_indices(" and ")
        .any(|(place, joint)| is_open(&tokens(&text[place + joint.len()..from])) && names(&tokens(&text[..place])))
        || text[..from].strip_suffix(", ").is_some_and(|before| {
            let words = tokens(before);
            names(&words) && verb_at(&words).is_some()
        })
}

/// `The boat was painted by Alice and varnished by Bob`, `alice runs Debian, bob runs Alpine`.
fn goes_on_about_another(text: &str, named: &Range<usize>) -> bool {
    let behind = &text[named.end..];
    let does = |word: &Token<'_>| is_verb(&word.folded, None) || word.folded.ends_with("ed");
    behind.match_indices(" and ").any(|(place, joint)| {
        let words = tokens(&behind[place + joint.len()..]);
        words.first().is_some_and(does) && words.iter().any(|word| is_name(word))
    }) || behind.match_indices(", ").any(|(place, joint)| {
        let words = tokens(&behind[place + joint.len()..]);
        let is_subject = words.first().is_some_and(|word| !does(word) && !LEANING.contains(&word.folded.as_str()));
        let rest = &behind[place + joint.len()..];
        let is_beside = |word: &Token<'_>| rest[words[0].end()..word.start].trim().is_empty();
        is_subject && words.get(1).is_some_and(|word| is_third_person(&word.folded) && is_beside(word))
    })
}

/// `"Bob owes me 200" (Alice)`: what somebody said in quotes is about another.
fn is_quoted_beside(text: &str, named: &Range<usize>) -> bool {
    quotations(text).into_iter().any(|quoted| {
        let words = tokens(&text[quoted.clone()]);
        let is_beside = quoted.end <= named.start || quoted.start >= named.end;
        is_beside && words.iter().any(is_name) && verb_at(&words).is_some()
    })
}

/// Whether a text begins with somebody or something, and not with what somebody does.
fn begins_thing(text: &str) -> bool {
    let words = tokens(text);
    let Some(first) = words.first() else { return false };
    let folded = first.folded.as_str();
    if first.start > 0 || folded == "its" {
        return false;
    }
    OWN_BEGINNINGS.contains(&folded)
        || PRONOUNS.contains(&folded)
        || first.is_capital()
        || !(is_verb(folded, None) || folded.ends_with("ed") || is_adverbial(folded))
}

fn is_adverbial(folded: &str) -> bool {
    folded.ends_with("ly")
        || matches!(
            folded,
            "about"
                | "after"
                | "also"
                | "always"
                | "at"
                | "back"
                | "before"
                | "by"
                | "can"
                | "for"
                | "from"
                | "has"
                | "in"
                | "is"
                | "never"
                | "not"
                | "now"
                | "of"
                | "often"
                | "on"
                | "so"
                | "still"
                | "that"
                | "then"
                | "to"
                | "was"
                | "will"
                | "with"
                | "without"
        )
}

/// Behind a name and what belongs to it.
fn with_owned(text: &str, end: usize) -> usize {
    let rest = &text[end..];
    let Some(owned) = ["'s ", "’s "].iter().find_map(|mark| rest.strip_prefix(mark)) else { return end };
    let start = text.len() - owned.len();
    let words = tokens(owned);
    let mut last = start;
    for (index, word) in words.iter().enumerate().take(OWNED_WORDS_MAX) {
        let is_next = index == 0 || owned[words[index - 1].end()..word.start].trim().is_empty();
        if !is_next || matches!(word.folded.as_str(), "and" | "or" | "nor") || is_verb_at(&words, index) {
            break;
        }
        last = start + word.end();
    }
    last
}

/// `Alice says Bob moved to Kiel`, `Bob told Alice that Carol is ill`.
fn tells_of_another(text: &str, named: &Range<usize>) -> bool {
    let words = tokens(text);
    let Some(telling) = words.iter().position(|word| TELLING.contains(&word.folded.as_str())) else { return false };
    // Whom it is told stands between the verb and what is told.
    let that = words[telling..].iter().position(|word| word.folded == "that").map(|place| telling + place);
    let is_recipient = that.is_some_and(|that| words[telling].end() <= named.start && named.end <= words[that].start);
    let is_teller = named.end <= words[telling].start;
    let told = &words[that.unwrap_or(telling) + 1..];
    let from = told.first().map_or(text.len(), |word| word.start);
    let subject = verb_at(told).map_or(&told[..0], |verb| &told[..verb]);
    // `Alice told Bob she is ill`
    let is_own = subject.last().is_none_or(|word| PRONOUNS.contains(&word.folded.as_str()));
    (is_teller || is_recipient)
        && !is_own
        && (is_recipient || subject.iter().any(|word| is_name(word) && word.start >= from && word.start >= named.end))
}

/// `Alice's brother Bob lives in Kiel`: what belongs to the name has one of its own, and is what it is about.
fn owns_another(text: &str, named: &Range<usize>) -> bool {
    let is_owner = text[named.end..].starts_with("'s ") || text[named.end..].starts_with("’s ");
    let words = tokens(text);
    let owned: Vec<&Token<'_>> = words.iter().filter(|word| word.start >= named.end && word.folded != "s").collect();
    let verb = verb_at(&words).map_or(text.len(), |verb| words[verb].start);
    is_owner
        && owned.iter().take(OWNED_WORDS_MAX).take_while(|word| word.start < verb).skip(1).any(|word| is_name(word))
        && verb < text.len()
}

fn is_name(word: &Token<'_>) -> bool {
    word.is_capital() && word.written.len() > 1 && !is_starter(&word.folded) && !is_calendar(&word.folded)
}

/// `alice -> bob`, `Alice+Bob`, `if user == "alice" { grant("bob") }`.
fn is_tied_by_signs(text: &str, named: &Range<usize>) -> bool {
    // Signs tie names. Of numbers and the like only those of one form are tied: `10.0.0.5 -> 10.0.0.6`, but a card in a log line
    // is all that the line is about.
    let written = &text[named.clone()];
    if written.bytes().filter(u8::is_ascii_digit).count() >= DIGITS_OF_NUMBER_MIN && !has_form_again(text, named) {
        return false;
    }
    let is_border = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(');
    let (before, behind) =
        (text[..named.start].trim_end_matches(is_border), text[named.end..].trim_start_matches(is_border));
    let has_words = |text: &str| text.contains(char::is_alphanumeric);
    let is_code = text.contains('{') && text.contains('}');
    let is_pairs = text.matches('=').count() > 1 && (before.ends_with('=') || behind.starts_with('='));
    let is_mentioned =
        text[..named.start].ends_with('@') && text.matches(" @").count() + usize::from(text.starts_with('@')) > 1;
    let is_bracketed = |open: char, close: char| {
        let from = text[..named.start].rfind(open);
        let to = behind.find(close);
        from.zip(to).is_some_and(|(from, to)| text[from..named.start].contains(", ") || behind[..to].contains(", "))
    };
    if is_pairs || is_mentioned || is_bracketed('[', ']') {
        return true;
    }
    // `Alice/Bob`, and not a path
    let begins_name = |text: &str| tokens(text).first().is_some_and(|word| word.start == 0 && is_name(word));
    let is_pair = text.matches('/').count() == 1
        && (behind.strip_prefix('/').is_some_and(begins_name)
            || before.strip_suffix('/').is_some_and(|it| tokens(it).last().is_some_and(|it| is_name(it))));
    is_pair
        || is_code && (has_words(before) && has_words(behind))
        || SIGNS.iter().any(|sign| {
            before.strip_suffix(sign).is_some_and(has_words) || behind.strip_prefix(sign).is_some_and(has_words)
        })
}

/// Whether another number, address or the like of the same form stands in another part of the statement.
pub(super) fn has_another_of_its_form(text: &str, named: &Range<usize>) -> bool {
    let written = &text[named.clone()];
    if !written.contains(|c: char| c.is_ascii_digit() || c == '@') {
        return false;
    }
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    if digits(written) >= DIGITS_OF_NUMBER_MIN && !written.contains(|c: char| c == '@' || c.is_alphabetic()) {
        let is_other = |range: &Range<usize>| range.end <= named.start || range.start >= named.end;
        let is_alike =
            |range: &Range<usize>| digits(&text[range.clone()]).abs_diff(digits(written)) <= DIGITS_APART_MAX;
        if canonical::numbers(text).iter().any(|(_, range)| is_other(range) && is_alike(range)) {
            return true;
        }
    }
    let form = form_of(written);
    // A year stands beside everything.
    let is_year = |word: &str| word.len() == 4 && (word.starts_with("19") || word.starts_with("20"));
    let is_other = |word: &Token<'_>| {
        let is_apart = word.end() <= named.start || word.start >= named.end;
        let between = if word.start >= named.end { named.end..word.start } else { word.end()..named.start };
        let has_joint =
            || [",", ";", " and ", " or ", " & ", "\n", "|"].iter().any(|it| text[between.clone()].contains(it));
        is_apart && word.written != written && form_of(word.written) == form && !is_year(word.written) && has_joint()
    };
    tokens(text).iter().any(is_other)
}

/// Whether another word of this form stands anywhere in the statement.
fn has_form_again(text: &str, named: &Range<usize>) -> bool {
    let form = form_of(&text[named.clone()]);
    let is_apart = |word: &Token<'_>| word.end() <= named.start || word.start >= named.end;
    tokens(text).iter().any(|word| is_apart(word) && form_of(word.written) == form)
}

/// Digits and letters by their kind, and what joins them: alike for `10.0.0.5` and `10.0.0.16`.
fn form_of(written: &str) -> String {
    let is_address = written.contains('@');
    let mut form = String::new();
    for c in written.chars() {
        let kind = match c {
            '@' => '@',
            _ if is_address => continue,
            _ if c.is_ascii_digit() => '0',
            _ if c.is_alphabetic() => 'a',
            other => other,
        };
        if !form.ends_with(kind) {
            form.push(kind);
        }
    }
    let is_number = form == "0";
    if is_number { format!("{}", written.len()) } else { form }
}
