//! Entries of a log, such as first lines of changes of a program: `deps: bump serde to 1.0.2`.

/// What the first line of a change of a program begins with, before its colon.
const LOG_PREFIXES: &[&str] = &[
    "build", "chore", "ci", "deps", "doc", "docs", "feat", "fix", "perf", "refactor", "release", "revert", "style",
    "test", "tests",
];
/// What such a line tells to do.
#[rustfmt::skip]
const LOGGED: &[&str] = &[
    "add", "adjust", "allow", "avoid", "bump", "change", "clean", "disable", "do", "drop", "enable", "ensure", "fix", "handle",
    "improve", "make", "merge", "move", "pin", "prepare", "refactor", "release", "remove", "rename", "replace", "restore", "revert", "set",
    "simplify", "support", "switch", "update", "upgrade", "use",
];

/// Whether a sentence is an entry of a log: `deps: bump serde to 1.0.2`. Each tells what was done then, and stays true.
pub(super) fn is_log_entry(sentence: &str) -> bool {
    let first = |text: &str| {
        let word: String = text.trim_start().chars().take_while(|c| c.is_alphanumeric()).collect();
        word.to_lowercase()
    };
    // `fix(parser)!: `
    let (prefix, rest) = sentence.split_once(": ").unwrap_or(("", sentence));
    let is_short = prefix.len() <= LOG_PREFIX_BYTES_MAX && !prefix.contains(' ');
    let is_prefixed = !prefix.is_empty() && is_short && LOG_PREFIXES.contains(&first(prefix).as_str());
    // `Support hours are …`
    let states = |word: &str| matches!(word, "is" | "are" | "was" | "were" | "has" | "have" | "will");
    if sentence.split(' ').any(states) {
        return false;
    }
    is_prefixed || is_short && LOGGED.contains(&first(rest).as_str())
}

/// `crates/rootset-text: …`
const LOG_PREFIX_BYTES_MAX: usize = 48;
