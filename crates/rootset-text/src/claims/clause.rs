//! One sentence of a text, or one clause of it, in the place of another. The other facts stay word for word.

use super::{claims, update};

/// What joins clauses that each say something, longest first.
const JOINTS: [&str; 5] = ["; ", ", and ", ", but ", " and ", ", "];
/// Marks that end a sentence.
const ENDS: [char; 3] = ['.', '!', ';'];

/// The older text with the clause that the newer one disagrees with replaced by the newer sentence; `None` where nothing of it
/// disagrees.
pub fn with_clause(old: &str, new: &str) -> Option<String> {
    let found = update(&claims(old), &claims(new))?;
    let sentence = &old[found.old.0..found.old.1];
    let said = new[found.new.0..found.new.1].trim_end_matches(ENDS);
    let end = sentence.len() - sentence.trim_end_matches(ENDS).len();
    let (bare, mark) = sentence.split_at(sentence.len() - end);
    let clause = clause_of(bare, new).unwrap_or((0, bare.len()));
    Some(format!(
        "{}{}{said}{}{mark}{}",
        &old[..found.old.0],
        &bare[..clause.0],
        &bare[clause.1..],
        &old[found.old.1..]
    ))
}

/// The one clause of a sentence that the newer text disagrees with, if the others say something else.
fn clause_of(sentence: &str, new: &str) -> Option<(usize, usize)> {
    let newer = claims(new);
    let subject = sentence.split(' ').next().unwrap_or_default();
    JOINTS.iter().find_map(|joint| {
        let mut clauses = Vec::new();
        let mut start = 0;
        for (at, _) in sentence.match_indices(joint) {
            clauses.push((start, at));
            start = at + joint.len();
        }
        clauses.push((start, sentence.len()));
        if clauses.len() < 2 {
            return None;
        }
        // A later clause may leave out whom it is about.
        let disagrees = |&(from, to): &(usize, usize)| {
            let clause = &sentence[from..to];
            let whole = format!("{subject} {clause}");
            update(&claims(clause), &newer).is_some() || (from > 0 && update(&claims(&whole), &newer).is_some())
        };
        let (with, without): (Vec<_>, Vec<_>) = clauses.into_iter().partition(disagrees);
        match with[..] {
            [one] if !without.is_empty() => Some(one),
            _ => None,
        }
    })
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
            ("Rent is 900 euros", "Rent is now 950 euros.", "Rent is now 950 euros"),
        ] {
            assert_eq!(with_clause(old, new).as_deref(), Some(text), "{old}");
        }
        assert_eq!(with_clause("Marta lives in Oslo.", "Hugo plays chess."), None);
    }
}
