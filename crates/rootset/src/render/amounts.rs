//! How much of each kind, in words. Chunks are nobody's concern and left out.

use std::collections::BTreeMap;
use std::fmt;

use rootset_api::{LiveCounts, ReclaimedAnswer, Restored, Totals, TrashCounts, Trashed};

use super::counted;

/// Shown as `2 memories, 3 entities`, or `nothing`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Amounts {
    memories: i64,
    revisions: i64,
    entities: i64,
    relations: i64,
    untracked: i64,
    segments: i64,
    sessions: i64,
    workspaces: i64,
}

impl Amounts {
    fn kinds(&self) -> [(i64, &'static str, &'static str); 8] {
        [
            (self.memories, "memory", "memories"),
            (self.revisions, "revision", "revisions"),
            (self.entities, "entity", "entities"),
            (self.relations, "relation", "relations"),
            (self.untracked, "imported row", "imported rows"),
            (self.segments, "segment", "segments"),
            (self.sessions, "session", "sessions"),
            (self.workspaces, "workspace", "workspaces"),
        ]
    }

    pub fn is_empty(&self) -> bool {
        self.kinds().iter().all(|(count, ..)| *count <= 0)
    }
}

impl fmt::Display for Amounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("nothing");
        }
        let present = self.kinds().into_iter().filter(|(count, ..)| *count > 0);
        let parts: Vec<String> = present.map(|(count, one, many)| counted(count, one, many)).collect();
        f.write_str(&parts.join(", "))
    }
}

impl From<&Trashed> for Amounts {
    fn from(trashed: &Trashed) -> Self {
        Self {
            memories: trashed.memories,
            revisions: trashed.revisions.unwrap_or_default(),
            entities: trashed.entities,
            relations: trashed.relations,
            segments: trashed.segments.unwrap_or_default(),
            sessions: trashed.sessions.unwrap_or_default(),
            ..Self::default()
        }
    }
}

impl From<&Restored> for Amounts {
    fn from(restored: &Restored) -> Self {
        Self {
            memories: restored.memories,
            revisions: restored.revisions.unwrap_or_default(),
            untracked: restored.untracked.unwrap_or_default(),
            segments: restored.segments.unwrap_or_default(),
            sessions: restored.sessions.unwrap_or_default(),
            workspaces: restored.workspaces.unwrap_or_default(),
            ..Self::default()
        }
    }
}

impl From<&Totals> for Amounts {
    fn from(totals: &Totals) -> Self {
        Self {
            memories: totals.memories,
            revisions: totals.revisions.unwrap_or_default(),
            entities: totals.entities,
            relations: totals.relations,
            segments: totals.segments.unwrap_or_default(),
            sessions: totals.sessions.unwrap_or_default(),
            ..Self::default()
        }
    }
}

impl From<&ReclaimedAnswer> for Amounts {
    fn from(reclaimed: &ReclaimedAnswer) -> Self {
        Self { entities: reclaimed.entities, relations: reclaimed.relations, ..Self::default() }
    }
}

impl From<&LiveCounts> for Amounts {
    fn from(live: &LiveCounts) -> Self {
        Self { memories: live.memories, segments: live.segments, sessions: live.sessions, ..Self::default() }
    }
}

impl From<&TrashCounts> for Amounts {
    fn from(trash: &TrashCounts) -> Self {
        Self { memories: trash.memories, segments: trash.segments, sessions: trash.sessions, ..Self::default() }
    }
}

/// Rows by kind, as purges and the audit trail count them.
impl From<&BTreeMap<String, i64>> for Amounts {
    fn from(rows: &BTreeMap<String, i64>) -> Self {
        let rows = |kind: &str| rows.get(kind).copied().unwrap_or_default();
        Self {
            memories: rows("memories"),
            revisions: rows("revisions"),
            entities: rows("entities"),
            relations: rows("relations"),
            untracked: rows("untracked"),
            segments: rows("segments"),
            sessions: rows("sessions"),
            workspaces: rows("workspaces"),
        }
    }
}
