//! Counts of things as people know them: always in one order, without what has no name for them.

use rootset_model::Counts;

/// The order in which kinds are told; others follow.
const ORDER: [&str; 8] =
    ["memories", "revisions", "entities", "relations", "untracked", "segments", "sessions", "workspaces"];

/// Words of answers and of the audit trail that count no things: parts of things, sizes, and how it went.
const NO_THINGS: [&str; 10] = [
    "chunks",
    "bytes",
    "stashed",
    "removed",
    "conflicts",
    "skipped",
    "rows",
    "bytes_before",
    "bytes_after",
    "replayed_erasures",
];

/// What to put into words.
pub fn amounts(counts: &Counts) -> Counts {
    counts.without(&NO_THINGS).naming(&ORDER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_that_nobody_here_knows_is_told_after_the_others_and_chunks_are_not() {
        let mut counts = Counts::of("parcels", 3);
        for (kind, number) in [("sessions", 1), ("chunks", 9), ("bytes", 700), ("memories", 2)] {
            counts.add(kind, number);
        }
        assert_eq!(amounts(&counts).in_words(), "2 memories, 1 session, 3 parcels");
    }
}
