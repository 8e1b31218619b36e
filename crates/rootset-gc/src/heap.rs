//! The heap as strategies see it: values read from one snapshot of one workspace, and nothing that could change them.

use rootset_model::plan::Reason;
use rootset_model::{RetentionPolicy, Timestamp};

/// A memory, as far as strategies care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    pub id: [u8; 16],
    pub version: i64,
    /// Place in [`Heap::buckets`].
    pub bucket: u32,
    /// `None` when the stored value is no time at all.
    pub ingested_at: Option<Timestamp>,
    /// For how long it has been here as far as the database has seen, whatever the wall clock says; `i64::MAX` for a time
    /// that an import brought.
    pub observed_age_ms: i64,
    pub last_used_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    /// Since when a living memory supersedes it; `None` while it is current.
    pub superseded_at: Option<Timestamp>,
    /// Since when completed scans of its repository no longer contain it.
    pub stale_at: Option<Timestamp>,
    pub source_version: Option<i64>,
    pub is_pinned: bool,
    /// The memory of an indexed file, as opposed to one that somebody wrote.
    pub is_indexed_file: bool,
    /// Its graph is being worked on right now: nobody may sweep it meanwhile.
    pub is_in_flight: bool,
}

/// Memories of one source and repository: they compete with each other for the places of a policy, and with nobody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    pub source: String,
    pub repo: Option<String>,
    /// The policy in force for them.
    pub policy: RetentionPolicy,
}

/// A derived row and who vouches for it. Only rows that might be orphans are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Derived {
    pub kind: DerivedKind,
    pub id: [u8; 16],
    /// Memories that vouch for it, in the trash or not: what can come back still vouches.
    pub contributors: u32,
    pub is_untracked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DerivedKind {
    Chunk,
    Entity,
    Relation,
}

#[derive(Clone, Copy, Debug)]
pub struct Heap<'a> {
    /// Living memories, in any order.
    pub roots: &'a [Root],
    pub buckets: &'a [Bucket],
    pub derived: &'a [Derived],
}

/// A stamp that says when: not missing, not negative, not in the future (I5).
pub(crate) fn past(stamp: Option<Timestamp>, now: Timestamp) -> Option<Timestamp> {
    stamp.filter(|stamp| stamp.0 >= 0 && *stamp <= now)
}

impl Root {
    /// Written by somebody, current, in the first bucket: examples and tests change what they are about.
    pub const fn written(id: u8, at: Timestamp) -> Self {
        Self {
            id: [id; 16],
            version: 1,
            bucket: 0,
            ingested_at: Some(at),
            observed_age_ms: i64::MAX,
            last_used_at: None,
            expires_at: None,
            superseded_at: None,
            stale_at: None,
            source_version: None,
            is_pinned: false,
            is_indexed_file: false,
            is_in_flight: false,
        }
    }

    /// What no strategy may take (I1).
    pub fn is_held(&self) -> bool {
        self.is_pinned || self.is_in_flight
    }

    /// The memory of a file that the last completed scan of its repository contains.
    pub fn is_in_last_scan(&self) -> bool {
        self.is_indexed_file && self.stale_at.is_none()
    }
}

impl Derived {
    /// A row that nothing vouches for.
    pub const fn orphan(kind: DerivedKind, id: [u8; 16]) -> Self {
        Self { kind, id, contributors: 0, is_untracked: false }
    }
}

impl Heap<'_> {
    /// Places of the roots that may go and for which the condition holds.
    pub(crate) fn places_where(&self, is_garbage: impl Fn(&Root) -> bool, reason: Reason) -> Vec<(u32, Reason)> {
        let places = self.roots.iter().enumerate();
        places
            .filter(|(_, root)| !root.is_held() && is_garbage(root))
            .map(|(place, _)| (place as u32, reason))
            .collect()
    }
}
