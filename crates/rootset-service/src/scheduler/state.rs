//! What must outlive a process: notes beside the leases of the work they are about.

use rootset_model::{DrainId, PlanId, Timestamp};
use rootset_store::{DATABASE, Lease, Store, StoreError, Work};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Round;
use super::findings::Reported;
use super::timing::LastRound;

/// Rounds of the scheduler, over all workspaces.
pub(crate) const ROUNDS: Work = Work { workspace: DATABASE, kind: "scheduler", subject: [0; 16] };
/// Daily housekeeping, by whoever comes first.
pub(crate) const HOUSEKEEPING: Work = Work { workspace: DATABASE, kind: "housekeeping", subject: [0; 16] };
/// Rebuilding the file.
pub(crate) const DEFRAGMENTING: Work = Work { workspace: DATABASE, kind: "defrag", subject: [0; 16] };

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RoundsNote {
    pub started_at_ms: Option<i64>,
    pub finished_at_ms: Option<i64>,
    /// Of the settings of the last round that was finished: with others, every workspace is looked at.
    pub settings: Option<String>,
    /// What the last round that was finished did.
    pub outcome: Round,
    /// Whether the clock was in doubt when a round last asked.
    pub is_in_doubt: bool,
}

impl RoundsNote {
    pub fn last_round(&self) -> LastRound {
        LastRound { started_at: self.started_at_ms.map(Timestamp), finished_at: self.finished_at_ms.map(Timestamp) }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct HousekeepingNote {
    pub done_at_ms: Option<i64>,
    pub backed_up_at_ms: Option<i64>,
    /// Whether much was purged since the last defragmentation.
    pub defrag_recommended: bool,
}

/// About one workspace, kept in its own rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct WorkspaceNote {
    pub reported: Reported,
    /// Plans whose runs stopped at the time limit.
    pub unfinished_plans: Vec<PlanId>,
    /// Memories that were garbage when it was looked at, and still are there.
    pub garbage: i64,
    /// What waits for a person, or for its time.
    pub waiting: Vec<WaitingSource>,
}

/// A source whose garbage is not simply taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingSource {
    pub source: String,
    pub state: SourceState,
    pub garbage: i64,
    /// Living memories.
    pub total: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain_id: Option<DrainId>,
    /// The plan that a person may apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<PlanId>,
    /// When an announced drain begins, or the next round of one is due.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_at: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceState {
    /// A drain begins when its time has come.
    Announced,
    Draining,
    /// Over a limit, and drains are switched off: a person decides.
    Blocked,
    /// A person took the drain back: nothing goes until the policies change.
    Stopped,
}

impl SourceState {
    pub const ALL: [Self; 4] = [Self::Announced, Self::Draining, Self::Blocked, Self::Stopped];

    /// Whether a person should look at it: nothing happens without one, or something will unless they object.
    pub fn wants_a_person(self) -> bool {
        matches!(self, Self::Blocked | Self::Announced)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Announced => "announced",
            Self::Draining => "draining",
            Self::Blocked => "blocked",
            Self::Stopped => "stopped",
        }
    }
}

/// A note that cannot be read is one that was never written: at worst something is reported or looked at once more.
pub(crate) fn read<T: DeserializeOwned + Default>(store: &Store, work: Work) -> Result<T, StoreError> {
    let note = store.noted_for_lease(work)?;
    Ok(note.and_then(|text| parse(&text)).unwrap_or_default())
}

pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
}

pub(crate) fn write<T: Serialize>(store: &Store, lease: &Lease, note: &T) -> Result<(), StoreError> {
    let text = serde_json::to_string(note).expect("notes are numbers and texts");
    store.note_for_lease(lease, &text)
}
