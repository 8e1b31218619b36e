//! Verbs that relate what stands before them to what stands behind: one line each.

/// A relation and the phrases that tell it, without articles and auxiliaries, with `|` between them.
#[derive(Debug)]
struct Verb {
    relation: &'static str,
    /// The relation goes from what stands before the phrase to what stands behind it;
    forward: &'static str,
    /// or the other way round.
    backward: &'static str,
}

const VERBS: &[Verb] = &[
    verb("uses", "uses|use|used|using|adopted|adopts", "used by|adopted by"),
    verb(
        "depends_on",
        "depends on|depend on|depended on|relies on|rely on|requires|require|needs",
        "required by|needed by",
    ),
    verb("part_of", "part of|belongs to|belong to|component of", "contains|includes|consists of"),
    verb("replaced", "replaced|replaces|replace|replacing|supersedes|superseded", "replaced by|superseded by"),
    verb("calls", "calls|call|calling|invokes", "called by|invoked by"),
    verb("owns", "owns|own|owned", "owned by"),
    verb("maintains", "maintains|maintain|maintained", "maintained by"),
    verb("leads", "leads|lead|led", "led by"),
    verb("manages", "manages|managed", "managed by"),
    verb("works_at", "works at|worked at|work at|works for|worked for", "employs"),
    verb("works_on", "works on|worked on|work on|working on", ""),
    verb("works_with", "works with|worked with|working with", ""),
    verb("reports_to", "reports to|reported to", ""),
    verb("lives_in", "lives in|lived in|living in|moved to", ""),
    verb("located_in", "located in|based in|hosted in", ""),
    verb(
        "created",
        "created|creates|wrote|writes|built|builds|developed|designed|authored|founded|invented",
        "created by|written by|built by|developed by|designed by|authored by|founded by|invented by",
    ),
    verb("implements", "implements|implemented|implement", "implemented by"),
    verb("extends", "extends|extended|extend", "extended by"),
    verb("runs_on", "runs on|run on|running on|deployed on|deployed to|hosted on", "hosts"),
    verb("connects_to", "connects to|connected to|connect to|talks to|integrates with", ""),
    verb("reads_from", "reads from|read from|reads", "read by"),
    verb("writes_to", "writes to|wrote to|write to", ""),
    verb("met", "met|met with|meets", ""),
    verb("married_to", "married|married to", ""),
];

const fn verb(relation: &'static str, forward: &'static str, backward: &'static str) -> Verb {
    Verb { relation, forward, backward }
}

/// Words that may stand around and between those of a phrase.
#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "a", "also", "already", "an", "are", "be", "been", "can", "currently", "had", "has", "have", "heavily", "her",
    "his", "is", "its", "mainly", "mostly", "must", "my", "new", "now", "old", "our", "should", "still", "the",
    "their", "then", "was", "were", "which", "who", "will", "would", "your",
];

/// What replaced what, told around the first of the two: the words before it, the word between, for `B replaced A`.
const REPLACEMENTS: &[(&[&str], &str)] = &[
    (&["replace", "replaced", "replaces", "replacing", "swap", "swapped"], "with"),
    (&["migrate from", "migrated from", "migrating from", "move from", "moved from", "moving from"], "to"),
    (&["switch from", "switched from", "switching from", "upgraded from", "upgrade from"], "to"),
];

pub(super) const REPLACED: &str = "replaced";

pub(super) fn is_filler(word: &str) -> bool {
    FILLERS.contains(&word)
}

/// Which way a relation goes between what stands before a phrase and what stands behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Forward,
    Backward,
}

/// The relation that a phrase tells.
pub(super) fn relation_of(phrase: &str) -> Option<(&'static str, Direction)> {
    let is_in = |phrases: &str| phrases.split('|').any(|it| it == phrase);
    VERBS.iter().find_map(|verb| {
        let direction = if is_in(verb.forward) { Direction::Forward } else { Direction::Backward };
        (direction == Direction::Forward || is_in(verb.backward)).then_some((verb.relation, direction))
    })
}

/// Whether a phrase that goes forward begins with the word.
pub(super) fn is_verb(word: &str) -> bool {
    let begins = |phrase: &str| phrase.split(' ').next() == Some(word);
    VERBS.iter().any(|verb| verb.forward.split('|').any(begins))
}

/// Whether the words before the first and between the two say that the second took the place of the first.
pub(super) fn is_replacement(before: &str, between: &str) -> bool {
    let ends_with = |phrase: &str| before == phrase || before.ends_with(&format!(" {phrase}"));
    REPLACEMENTS.iter().any(|(phrases, joint)| between == *joint && phrases.iter().any(|phrase| ends_with(phrase)))
}
