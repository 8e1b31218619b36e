//! One sentence of a text, or one statement of it, in the place of another. The other facts stay word for word.
//!
//! Where a sentence says more than what disagrees, and the two cannot be told apart, nothing is replaced. Not here: how a
//! sentence divides into statements ([`crate::matching::statements`]).

use std::ops::Range;

use super::{Claim, claims, update};
use crate::chars::fold;
use crate::matching::{statements, stem_of};
use crate::words::is_stop;

/// What joins parts of a sentence whose verbs are not known, longest first.
const JOINTS: [&str; 3] = ["; ", ", and ", ", but "];
/// What joins words that one thing is said of, longest first.
const LISTED: [&str; 6] = [", and ", ", or ", " and ", " or ", " & ", ", "];
/// Marks that end a sentence.
const ENDS: [char; 3] = ['.', '!', ';'];

/// Why no clause was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoClause {
    /// Nothing in the older text disagrees with the newer one.
    NothingDisagrees,
    /// The sentence that disagrees also says something else, and the two cannot be told apart.
    SaysMore,
}

/// The older text with the clause that the newer one disagrees with replaced by the newer sentence.
pub fn with_clause(old: &str, new: &str) -> Result<String, NoClause> {
    let found = update(&claims(old), &claims(new)).ok_or(NoClause::NothingDisagrees)?;
    let sentence = &old[found.old.0..found.old.1];
    let said = new[found.new.0..found.new.1].trim_end_matches(ENDS);
    let bare = sentence.trim_end_matches(ENDS);
    let clause = clause_of(bare, said).ok_or(NoClause::SaysMore)?;
    let (before, behind) = (&old[..found.old.0 + clause.start], &old[found.old.0 + clause.end..]);
    Ok(format!("{before}{said}{behind}"))
}

/// The only clause of a sentence that the newer sentence disagrees with: all of the sentence, where it says nothing else.
fn clause_of(sentence: &str, new: &str) -> Option<Range<usize>> {
    let newer = claims(new);
    let divided = statements(sentence);
    let clause = if divided.len() > 1 {
        only_one(sentence, &divided, &newer)?
    } else if is_said_of_others(sentence, new) {
        return None;
    } else {
        let parts = JOINTS.iter().map(|joint| parts(sentence, joint)).filter(|parts| parts.len() > 1);
        let mut found = parts.filter_map(|parts| only_one(sentence, &parts, &newer));
        found.next().unwrap_or(0..sentence.len())
    };
    (!is_said_of_others(&sentence[clause.clone()], new)).then_some(clause)
}

/// The only part that disagrees, if the others say something else.
fn only_one(sentence: &str, parts: &[Range<usize>], newer: &[Claim]) -> Option<Range<usize>> {
    let subject = sentence.split(' ').next().unwrap_or_default();
    // A later part may leave out whom it is about.
    let disagrees = |part: &&Range<usize>| {
        let text = &sentence[(*part).clone()];
        let leans = part.start > 0 && !text.starts_with(char::is_uppercase);
        let whole = if leans { format!("{subject} {text}") } else { text.to_owned() };
        update(&claims(text), newer).is_some() || update(&claims(&whole), newer).is_some()
    };
    let (with, without): (Vec<_>, Vec<_>) = parts.iter().partition(disagrees);
    match with[..] {
        [one] if !without.is_empty() => Some(one.clone()),
        _ => None,
    }
}

fn parts(sentence: &str, joint: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in sentence.match_indices(joint) {
        parts.push(start..at);
        start = at + joint.len();
    }
    parts.push(start..sentence.len());
    parts
}

/// Whether a clause says the same of several (`Alice and Bob live in Rome`), and the newer sentence speaks of one of them.
fn is_said_of_others(clause: &str, new: &str) -> bool {
    let newer: Vec<String> = words(new).map(stem_of).collect();
    let says = |word: &str| newer.contains(&stem_of(word));
    LISTED.iter().any(|joint| {
        clause.match_indices(joint).any(|(at, joint)| {
            let pair = (words(&clause[..at]).last(), words(&clause[at + joint.len()..]).next());
            let (Some(before), Some(behind)) = pair else { return false };
            let shared = match (says(before), says(behind)) {
                (true, false) => before,
                (false, true) => behind,
                _ => return false,
            };
            // A list in the place of a list is all of it.
            !is_listed(new, shared)
        })
    })
}

fn is_listed(text: &str, word: &str) -> bool {
    let is_it = |other: Option<&str>| other.is_some_and(|other| stem_of(other) == stem_of(word));
    LISTED.iter().any(|joint| {
        text.match_indices(joint)
            .any(|(at, joint)| is_it(words(&text[..at]).last()) || is_it(words(&text[at + joint.len()..]).next()))
    })
}

/// The words that say something.
fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty() && !is_stop(&fold(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_clause_that_disagrees_changes() {
        for (old, new, text) in [
            (
                "Priya leads billing. The API uses Node 18. Lunch is at noon.",
                "The API was upgraded to Node 22.",
                "Priya leads billing. The API was upgraded to Node 22. Lunch is at noon.",
            ),
            (
                "Marta lives in Oslo; her dog is called Rex.",
                "Marta moved to Bergen.",
                "Marta moved to Bergen; her dog is called Rex.",
            ),
            ("Marta lives in Oslo and plays chess.", "Marta moved to Bergen", "Marta moved to Bergen and plays chess."),
            (
                "Marta lives in Oslo and plays chess, and Hugo lives in Rome.",
                "Marta moved to Bergen.",
                "Marta moved to Bergen and plays chess, and Hugo lives in Rome.",
            ),
            (
                "Alice lives in Berlin, and Bob lives in Paris.",
                "Alice moved to Hamburg.",
                "Alice moved to Hamburg, and Bob lives in Paris.",
            ),
            ("Rent is 900 euros", "Rent is now 950 euros.", "Rent is now 950 euros"),
            (
                "The standup is on Monday, at 10 in room B.",
                "The standup moved to Tuesday at 14.",
                "The standup moved to Tuesday at 14.",
            ),
            (
                "The owners of the wiki are Priya and Omar.",
                "The owners of the wiki are now Priya and Lena.",
                "The owners of the wiki are now Priya and Lena.",
            ),
        ] {
            assert_eq!(with_clause(old, new).as_deref(), Ok(text), "{old}");
        }
        assert_eq!(with_clause("Marta lives in Oslo.", "Hugo plays chess."), Err(NoClause::NothingDisagrees));
    }

    #[test]
    fn a_sentence_that_cannot_be_divided_is_never_replaced_as_a_whole() {
        for (old, new) in [
            ("Alice and Bob live in Rome.", "Alice moved to Hamburg."),
            ("Bob, Alice and Carol live in Rome.", "Alice moved to Hamburg."),
            ("The wiki and the blog are maintained by Omar.", "The wiki is now maintained by Priya."),
            ("Priya owns billing and search.", "Omar now owns billing."),
        ] {
            assert_eq!(with_clause(old, new), Err(NoClause::SaysMore), "{old}");
        }
    }
}
