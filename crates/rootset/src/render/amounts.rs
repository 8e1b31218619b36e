//! What answers count, by kind and always in one order, to be put into words. Chunks are left out: people do not care
//! about them.

use rootset_api::{LiveCounts, ReclaimedAnswer, Restored, Totals, TrashCounts, Trashed};
use rootset_model::Counts;

pub trait Amounts {
    fn amounts(&self) -> Counts;
}

fn counts<const KINDS: usize>(kinds: [(&'static str, i64); KINDS]) -> Counts {
    let mut counts = Counts::default();
    kinds.into_iter().for_each(|(kind, number)| counts.add(kind, number));
    counts
}

impl Amounts for Trashed {
    fn amounts(&self) -> Counts {
        counts([
            ("memories", self.memories),
            ("revisions", self.revisions.unwrap_or_default()),
            ("entities", self.entities),
            ("relations", self.relations),
            ("segments", self.segments.unwrap_or_default()),
            ("sessions", self.sessions.unwrap_or_default()),
        ])
    }
}

impl Amounts for Restored {
    fn amounts(&self) -> Counts {
        counts([
            ("memories", self.memories),
            ("revisions", self.revisions.unwrap_or_default()),
            ("untracked", self.untracked.unwrap_or_default()),
            ("segments", self.segments.unwrap_or_default()),
            ("sessions", self.sessions.unwrap_or_default()),
            ("workspaces", self.workspaces.unwrap_or_default()),
        ])
    }
}

impl Amounts for Totals {
    fn amounts(&self) -> Counts {
        counts([
            ("memories", self.memories),
            ("revisions", self.revisions.unwrap_or_default()),
            ("entities", self.entities),
            ("relations", self.relations),
            ("segments", self.segments.unwrap_or_default()),
            ("sessions", self.sessions.unwrap_or_default()),
        ])
    }
}

impl Amounts for ReclaimedAnswer {
    fn amounts(&self) -> Counts {
        counts([("entities", self.entities), ("relations", self.relations)])
    }
}

impl Amounts for LiveCounts {
    fn amounts(&self) -> Counts {
        counts([("memories", self.memories), ("segments", self.segments), ("sessions", self.sessions)])
    }
}

impl Amounts for TrashCounts {
    fn amounts(&self) -> Counts {
        counts([("memories", self.memories), ("segments", self.segments), ("sessions", self.sessions)])
    }
}

/// Purges and the audit trail also count rows that have no name for people.
impl Amounts for Counts {
    fn amounts(&self) -> Counts {
        const KINDS: [&str; 8] =
            ["memories", "revisions", "entities", "relations", "untracked", "segments", "sessions", "workspaces"];
        counts(KINDS.map(|kind| (kind, self.get(kind))))
    }
}
