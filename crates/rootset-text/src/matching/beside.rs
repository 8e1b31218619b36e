//! What a statement says beside a name although it could not be divided: of somebody else, in a remark, or by a verb that
//! both parts share.
//!
//! Not here: statements that can be told apart ([`super::clauses`]), and enumerations ([`super::lists`]).

use std::ops::Range;

use super::clauses::{
    ASIDES, NAME_WORDS_MAX, OWN_BEGINNINGS, STRONG_JOINTS, Token, is_owner, is_verb_at, tokens, verb_at,
};
use super::lists::VALUE_WORDS_MAX;

/// The fewest words that say something of something.
const STATEMENT_WORDS_MIN: usize = 2;
/// Words of a label in front of a value.
const LABEL_WORDS_MAX: usize = 3;
/// Whether a statement that could not be divided says something of another name beside a comma or conjunction.
pub(super) fn says_more_beside(text: &str, named: &Range<usize>) -> bool {
    let joints = [", ", "; ", " and ", " but ", " while ", " whereas "];
    let says = |part: &str| {
        let words = tokens(part);
        let begins_aside =
            words.first().is_some_and(|it| matches!(it.folded.as_str(), "who" | "which" | "whose" | "where"));
        let verb = (0..words.len()).find(|index| is_verb_at(&words, *index));
        // A comma between the two parts the name from the verb: `…, Cork, gets delivery`.
        !begins_aside
            && verb.is_some_and(|verb| {
                let from = part[..words[verb].start].rfind(',').map_or(0, |comma| comma + 1);
                let subject = words[..verb].iter().position(|word| word.start >= from).unwrap_or(verb);
                names_another(&words[subject..verb])
            })
    };
    joints.iter().any(|joint| {
        text.match_indices(joint).any(|(place, joint)| {
            let (left, right) = (&text[..place], &text[place + joint.len()..]);
            if named.end <= place { says(right) } else { named.start >= place + joint.len() && says(left) }
        })
    })
}

/// Whether a joint of statements stands between these bytes and something else that has a subject, whose verb may not be
/// known.
pub(super) fn has_more_beside(text: &str, named: &Range<usize>) -> bool {
    let is_statement = |part: &str| {
        let words = tokens(part);
        let begins = words.first().is_some_and(|word| {
            OWN_BEGINNINGS.contains(&word.folded.as_str()) || (word.is_capital() && word.written.len() > 1)
        });
        (begins || is_labelled(part)) && words.len() >= STATEMENT_WORDS_MIN
    };
    STRONG_JOINTS.iter().any(|joint| {
        text.match_indices(joint).any(|(place, joint)| {
            let (left, right) = (&text[..place], &text[place + joint.len()..]);
            let other = if named.end <= place { right } else { left };
            (named.end <= place || named.start >= place + joint.len()) && is_statement(other)
        })
    })
}

/// `car: due for service`, `alarm code: 9052`.
fn is_labelled(part: &str) -> bool {
    let label = part.split_once(": ").map_or("", |(label, _)| label.trim());
    let words = tokens(label);
    !label.contains([',', ';']) && (1..=LABEL_WORDS_MAX).contains(&words.len()) && verb_at(&words).is_none()
}

/// Whether a statement that begins with a pronoun is about somebody with a name: `her brother Bob works …`.
pub(super) fn is_of_another(text: &str) -> bool {
    let words = tokens(text);
    let verb = verb_at(&words).unwrap_or(0);
    is_owner(text) && names_another(&words[..verb])
}

fn names_another(words: &[Token<'_>]) -> bool {
    words.iter().any(|word| {
        word.is_capital()
            && word.written.len() > 1
            && !crate::words::is_starter(&word.folded)
            && !crate::words::is_calendar(&word.folded)
    })
}

/// Where the second part begins of `Alice lives in Berlin and Bob in Paris`: the verb of the first is its verb as well.
pub(super) fn gapped(text: &str) -> Option<usize> {
    let joints = [", and ", " and ", ", ", "; ", " but "];
    let is_parallel = |place: usize, joint: &str| {
        let (left, right) = (&text[..place], tokens(&text[place + joint.len()..]));
        let is_article = |it: &Token<'_>| matches!(it.folded.as_str(), "my" | "our" | "the");
        if !right.first().is_some_and(|it| (it.is_capital() || is_article(it)) && it.start == 0) {
            return false;
        }
        // A name or thing, and then a small word that the first part has, too.
        let own = right.iter().take_while(|it| it.is_capital()).count();
        let own = if own == 0 { 1 + usize::from(right.len() > 1) } else { own };
        let link = right.get(own).map(|it| it.folded.as_str()).unwrap_or_default();
        let is_link = matches!(
            link,
            "a" | "an" | "as" | "at" | "by" | "for" | "from" | "in" | "of" | "on" | "the" | "to" | "with"
        );
        is_link && verb_at(&right).is_none() && tokens(left).iter().any(|it| it.folded == link)
    };
    let mut places: Vec<usize> = Vec::new();
    for joint in joints {
        places.extend(text.match_indices(joint).map(|(place, _)| place).filter(|place| is_parallel(*place, joint)));
    }
    places.into_iter().min()
}

/// A remark inside a statement that holds these bytes: `, who reports to Alice,`.
pub(super) fn aside(text: &str, named: &Range<usize>) -> Option<Range<usize>> {
    if let Some(range) = apposition(text, named).or_else(|| relation(text, named)) {
        return Some(range);
    }
    // `, not Alice`
    if let Some(before) = text[..named.start].strip_suffix(", not ")
        && named.end == text.len()
        && names_another(&tokens(before))
    {
        return Some(before.len()..named.end);
    }
    let start = ASIDES.iter().filter_map(|it| text[..named.start].rfind(it)).max()?;
    let is_open = !text[start + 2..named.start].contains(',');
    let end = text[named.end..].find(',').map_or(text.len(), |place| named.end + place);
    // Up to the comma that closes it, which goes with the one that opens it.
    let end = if end < text.len() { end + 1 } else { end };
    (is_open && verb_at(&tokens(&text[..start])).is_some() || end < text.len()).then_some(start..end)
}

/// `(Alice's brother)`, `, Alice's brother`, behind the name of somebody else.
fn relation(text: &str, named: &Range<usize>) -> Option<Range<usize>> {
    let (before, rest) = (&text[..named.start], &text[named.end..]);
    let owned = rest.strip_prefix("'s ").or_else(|| rest.strip_prefix("’s "))?;
    let (start, length) = match before.strip_suffix(" (") {
        Some(before) => (before.len(), owned.find(')')? + 1),
        None => (before.strip_suffix(", ")?.len(), owned.find([',', ')', ';']).unwrap_or(owned.len())),
    };
    let inside = tokens(&owned[..length]);
    let is_relation =
        inside.len() <= NAME_WORDS_MAX && !inside.iter().any(Token::is_capital) && verb_at(&inside).is_none();
    let is_of_another = tokens(&text[..start]).last().is_some_and(|word| names_another(std::slice::from_ref(word)));
    let end = text.len() - owned.len() + length;
    // The comma that closes it goes with the one that opens it.
    let is_closed = text[start..].starts_with(',') && text[end..].starts_with(',');
    let end = end + usize::from(is_closed);
    (is_relation && is_of_another).then_some(start..end)
}

/// `with Alice` at the end of what is said of somebody else and somewhere else: `Bob works at Acme with Alice`.
pub(super) fn company(text: &str, named: &Range<usize>) -> Option<Range<usize>> {
    let start = text[..named.start].strip_suffix(" with ")?.len();
    let words = tokens(&text[..start]);
    let verb = verb_at(&words)?;
    let (subject, said) = words.split_at(verb);
    let says_more = said.iter().skip(1).any(|word| names_another(std::slice::from_ref(word)) || is_number(word));
    (named.end == text.len() && names_another(subject) && says_more).then_some(start..named.end)
}

/// Whether somebody else than the one who is named owns something here.
pub(super) fn owns_something(text: &str, named: Option<&str>) -> bool {
    let is_owner = |word: &Token<'_>| {
        ["'s ", "’s "].iter().any(|mark| text[word.end()..].starts_with(mark))
            && !named.is_some_and(|named| named.contains(word.written))
    };
    tokens(text).iter().any(|word| names_another(std::slice::from_ref(word)) && is_owner(word))
}

/// Whether behind an `and` something is said of another thing, by a verb that is not known: `… and my dog limps`.
pub(super) fn goes_on_with_thing(text: &str, from: usize) -> bool {
    /// An article, a noun and what it does.
    const WORDS_MIN: usize = 3;
    text[from..].match_indices(" and ").any(|(place, joint)| {
        let words = tokens(&text[from + place + joint.len()..]);
        words.len() >= WORDS_MIN && OWN_BEGINNINGS.contains(&words[0].folded.as_str())
    })
}

fn is_number(word: &Token<'_>) -> bool {
    word.written.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text begins with what somebody else has or does, and not with what has to do with its label: `Bob's number is …`.
pub(super) fn begins_with_another(text: &str) -> bool {
    let words = tokens(text);
    let Some(first) = words.first().filter(|word| names_another(std::slice::from_ref(*word))) else { return false };
    let has = ["'s ", "’s "].iter().any(|mark| text[first.end()..].starts_with(mark));
    let does = words.len() > 1 && is_verb_at(&words, 1);
    (has || does) && !words.iter().any(|word| matches!(word.folded.as_str(), "it" | "its" | "them" | "this"))
}

/// `, Bob's manager,` between a name and what it does.
fn apposition(text: &str, named: &Range<usize>) -> Option<Range<usize>> {
    let start = text[..named.start].rfind(", ")?;
    let end = named.end + text[named.end..].find(", ")?;
    let inside = tokens(&text[start..end]);
    let (before, after) = (tokens(&text[..start]), tokens(&text[end + 1..]));
    let is_remark = inside.len() > 1 && inside.len() <= VALUE_WORDS_MAX && verb_at(&inside).is_none();
    let is_between = !text[..start].contains(", ") && before.len() <= NAME_WORDS_MAX && verb_at(&before).is_none();
    (is_remark && is_between && verb_at(&after) == Some(0)).then_some(start..end + 1)
}
