//! A segment as far as decisions care: no text, no ids of the caller's.

use rootset_model::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A segment by its place in the order of addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentIndex(pub u32);

impl SegmentIndex {
    pub(super) fn place(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SegmentType {
    Message,
    Code,
    Log,
    Note,
    Decision,
    Summary,
}

impl SegmentType {
    pub const ALL: [Self; 6] = [Self::Message, Self::Code, Self::Log, Self::Note, Self::Decision, Self::Summary];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Code => "code",
            Self::Log => "log",
            Self::Note => "note",
            Self::Decision => "decision",
            Self::Summary => "summary",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SegmentState {
    /// In the window.
    Active,
    /// Out of the window; can be restored.
    Stashed,
    Deleted,
}

/// What survived collections is promoted to `old`, and safer there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Generation {
    Young,
    Old,
}

/// Who said it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// Always a root.
    System,
    /// Begins a new episode of the session.
    User,
    /// What it names is in use.
    Assistant,
    Tool,
    Other,
}

/// Lines of a file, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    pub first: u32,
    pub last: u32,
}

impl Lines {
    /// No lines at all where the ends are the wrong way round.
    pub fn is_empty(self) -> bool {
        self.first > self.last
    }

    pub fn overlaps(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// The present: recency is counted in steps (one per added segment) and in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    pub step: u64,
    pub at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    pub segment_type: SegmentType,
    pub author: Author,
    /// As the caller counts them.
    pub tokens: u32,
    /// Also the place in the window: a summary takes the step of what it stands for.
    pub created_step: u64,
    pub created_at: Timestamp,
    pub last_touched_step: u64,
    pub last_touched_at: Timestamp,
    pub is_invariant: bool,
    pub is_pinned: bool,
    /// How many collections the session had seen when the segment was added or last restored.
    pub entered_collection: u32,
    /// Hash of the task it belongs to.
    pub task: Option<u64>,
    /// Hash of the file it shows.
    pub file: Option<u64>,
    /// `None` with a file: all of it.
    pub lines: Option<Lines>,
    /// Since when it is stashed.
    pub stashed_at: Option<Timestamp>,
}

impl Facts {
    /// Just added and nothing special; callers change what is.
    pub fn new(segment_type: SegmentType, tokens: u32, now: Now) -> Self {
        Self {
            segment_type,
            author: Author::Other,
            tokens,
            created_step: now.step,
            created_at: now.at,
            last_touched_step: now.step,
            last_touched_at: now.at,
            is_invariant: false,
            is_pinned: false,
            entered_collection: 0,
            task: None,
            file: None,
            lines: None,
            stashed_at: None,
        }
    }

    /// Whether it shows a file. What is said about one (a note, a decision, a summary) carries its name without showing it.
    pub fn is_view(&self) -> bool {
        let shows = matches!(self.segment_type, SegmentType::Code | SegmentType::Log | SegmentType::Message);
        shows && self.file.is_some()
    }

    /// Its place in the window: the step, and for those of one step the order of addition.
    pub(super) fn place_of(&self, segment: SegmentIndex) -> (u64, SegmentIndex) {
        (self.created_step, segment)
    }

    pub(super) fn raise_recency(&mut self, now: Now) {
        self.last_touched_step = self.last_touched_step.max(now.step);
        self.last_touched_at = self.last_touched_at.max(now.at);
    }

    pub(super) fn created(&self) -> Now {
        Now { step: self.created_step, at: self.created_at }
    }
}
