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
    verb(
        "uses",
        "uses|use|used|makes use of|adopted|adopts|switched to|upgraded to|migrated to|moved to use",
        "used by|adopted by|used in",
    ),
    verb(
        "depends_on",
        "depends on|depend on|depended on|relies on|rely on|requires|require|needs|need",
        "required by|needed by",
    ),
    verb("part_of", "part of|belongs to|belong to|component of|ships with|comes with", "contains|includes|consists of"),
    verb(
        "configured_by",
        "configured by|configured with|configured in|configured via|configured through|controlled by",
        "configures|configure",
    ),
    verb("written_in", "written in|implemented in|coded in", ""),
    verb(
        "stored_in",
        "stored in|persisted in|kept in|saved to|saved in|stores ~ in|store ~ in|stored ~ in|keeps ~ in|keep ~ in|\
         saves ~ to",
        "stores",
    ),
    verb("listens_on", "listens on|listen on|listening on|exposed on", ""),
    verb("supports", "supports|support", "supported by"),
    verb("based_on", "based on|built on|built with|built on top of|powered by|backed by|derived from", "powers"),
    verb("triggered_by", "triggered by|started by|invoked from", "triggers|starts"),
    verb("monitored_by", "monitored by", "monitors|monitor"),
    verb("replaced", "replaced|replaces|replace|replacing|supersedes|superseded", "replaced by|superseded by"),
    verb("calls", "calls|call|calling|invokes", "called by|invoked by"),
    verb("owns", "owns|own|owned", "owned by"),
    verb("maintains", "maintains|maintain|maintained", "maintained by"),
    verb("leads", "leads|lead|led", "led by"),
    verb("manages", "manages|managed", "managed by"),
    verb("works_at", "works at|worked at|work at|works for|worked for|works as ~ at|joined", "employs"),
    verb("works_on", "works on|worked on|work on|working on", ""),
    verb("works_with", "works with|worked with|working with", ""),
    verb("reports_to", "reports to|reported to", ""),
    verb("lives_in", "lives in|lived in|living in|live in|moved to", ""),
    verb("located_in", "located in|based in|hosted in", ""),
    verb(
        "created",
        "created|creates|wrote|writes|built|builds|developed|designed|authored|founded|invented",
        "created by|made by|written by|built by|developed by|designed by|authored by|founded by|invented by",
    ),
    verb("implements", "implements|implemented|implement", "implemented by"),
    verb("extends", "extends|extended|extend", "extended by"),
    verb("runs_on", "runs on|run on|running on|runs in|deployed on|deployed to|deployed in|hosted on", "hosts"),
    verb("connects_to", "connects to|connected to|connect to|talks to|talk to|integrates with|integrated with", ""),
    verb(
        "reads_from",
        "reads from|read from|reads|reads ~ from|fetches ~ from|scrapes|consumes|pulls ~ from|polls",
        "read by",
    ),
    verb(
        "writes_to",
        "writes to|wrote to|write to|writes ~ to|sends ~ to|publishes to|publishes ~ to|pushes to|pushes ~ to|\
         forwards to|forwards ~ to|reports ~ to|exports to|exports ~ to",
        "",
    ),
    verb("met", "met|met with|meets", ""),
    verb("married_to", "married|married to", ""),
];

/// In a phrase: words that describe something, at most so many.
const ANYTHING: &str = "~";
const SKIPPED_WORDS_MAX: usize = 4;

/// What something with a name is, behind the name: `the Falcon service`.
#[rustfmt::skip]
const HEADS: &[&str] = &[
    "agent", "api", "app", "application", "backend", "box", "build", "client", "cluster", "code", "command",
    "component", "container", "crate", "daemon", "database", "deployment", "docs", "engine", "extension", "file",
    "framework", "frontend", "function", "group", "host", "image", "instance", "instances", "integration", "job",
    "jobs", "library", "machine", "machines", "method", "model", "module", "node", "nodes", "package", "pipeline",
    "plugin", "pod", "pods", "process", "processes", "program", "project", "proxy", "queue", "repo", "repository",
    "script", "scripts", "server", "servers", "service", "services", "site", "stack", "system", "table", "task",
    "team", "test", "tests", "tool", "type", "utility", "website", "worker", "workers",
];

/// Words behind a verb with which something else begins than a description of what the verb reaches.
#[rustfmt::skip]
const JOINTS: &[&str] = &[
    "about", "after", "against", "among", "and", "any", "are", "as", "at", "be", "because", "before", "between",
    "both", "but", "by", "each", "either", "every", "except", "for", "from", "how", "if", "in", "instead", "into",
    "is", "it", "like", "many", "more", "neither", "no", "none", "nor", "not", "of", "off", "on", "or", "other",
    "over", "per", "rather", "same", "several", "since", "so", "some", "such", "than", "that", "this", "through", "to",
    "under", "unless", "until", "up", "upon", "was", "were", "what", "when", "where", "whether", "which", "while",
    "who", "whose", "with", "within", "without",
];

pub(super) fn is_head(word: &str) -> bool {
    HEADS.binary_search(&word).is_ok()
}

pub(super) fn is_joint(word: &str) -> bool {
    JOINTS.binary_search(&word).is_ok()
}

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

/// The longest phrase that the words begin with: how many words it takes, and what it tells.
pub(super) fn relation_at(words: &[String]) -> Option<(usize, &'static str, Direction)> {
    let longest = |phrases: &str| phrases.split('|').filter_map(|phrase| length_at(phrase, words)).max();
    VERBS
        .iter()
        .flat_map(|verb| {
            let forward = longest(verb.forward).map(|length| (length, verb.relation, Direction::Forward));
            let backward = longest(verb.backward).map(|length| (length, verb.relation, Direction::Backward));
            forward.into_iter().chain(backward)
        })
        .max_by_key(|(length, ..)| *length)
}

/// How many of the words a phrase takes. Its `~` stands for a few words that describe something: `stores its events in`.
fn length_at(phrase: &str, words: &[String]) -> Option<usize> {
    let mut parts = phrase.split(' ').peekable();
    let mut taken = 0;
    while let Some(part) = parts.next() {
        if part != ANYTHING {
            (words.get(taken)? == part).then(|| taken += 1)?;
            continue;
        }
        let next = *parts.peek()?;
        let skipped = words[taken..].iter().take(SKIPPED_WORDS_MAX + 1).position(|word| word == next)?;
        if skipped == 0 || words[taken..taken + skipped].iter().any(|word| is_joint(word)) {
            return None;
        }
        taken += skipped;
    }
    Some(taken)
}

/// Whether a phrase that goes forward begins with the word.
pub(super) fn is_verb(word: &str) -> bool {
    let begins = |phrase: &str| phrase.split(' ').next() == Some(word);
    VERBS.iter().any(|verb| verb.forward.split('|').any(begins))
}

/// What somebody does whom a text names, and hardly ever a thing.
#[rustfmt::skip]
const OF_SOMEBODY: &[&str] = &[
    "agreed", "asked", "asks", "believes", "called", "came", "decided", "enjoys", "feels", "fixed", "found", "got",
    "hates", "joined", "knows", "left", "likes", "lives", "loved", "loves", "moved", "plans", "prefers", "promised",
    "reported", "said", "says", "suggested", "thinks", "told", "took", "visited", "wants", "went", "works",
];

pub(super) fn is_of_somebody(word: &str) -> bool {
    OF_SOMEBODY.binary_search(&word).is_ok()
}

/// Whether the words before the first and between the two say that the second took the place of the first.
pub(super) fn is_replacement(before: &str, between: &str) -> bool {
    let ends_with = |phrase: &str| before == phrase || before.ends_with(&format!(" {phrase}"));
    REPLACEMENTS.iter().any(|(phrases, joint)| between == *joint && phrases.iter().any(|phrase| ends_with(phrase)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(OF_SOMEBODY.is_sorted() && HEADS.is_sorted() && JOINTS.is_sorted());
    }
}
