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
        begins && words.len() >= STATEMENT_WORDS_MIN
    };
    STRONG_JOINTS.iter().any(|joint| {
        text.match_indices(joint).any(|(place, joint)| {
            let (left, right) = (&text[..place], &text[place + joint.len()..]);
            let other = if named.end <= place { right } else { left };
            (named.end <= place || named.start >= place + joint.len()) && is_statement(other)
        })
    })
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
        if !right.first().is_some_and(|it| it.is_capital() && it.start == 0) {
            return false;
        }
        // A name, and then a small word that the first part has, too.
        let own = right.iter().take_while(|it| it.is_capital()).count();
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
    if let Some(range) = apposition(text, named) {
        return Some(range);
    }
    let start = ASIDES.iter().filter_map(|it| text[..named.start].rfind(it)).max()?;
    let is_open = !text[start + 2..named.start].contains(',');
    let end = text[named.end..].find(',').map_or(text.len(), |place| named.end + place);
    // Up to the comma that closes it, which goes with the one that opens it.
    let end = if end < text.len() { end + 1 } else { end };
    (is_open && verb_at(&tokens(&text[..start])).is_some() || end < text.len()).then_some(start..end)
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
