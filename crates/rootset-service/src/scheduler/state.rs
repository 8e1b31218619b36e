//! What must outlive a process: notes beside the leases of the work they are about.

use rootset_model::{PlanId, Timestamp};
use rootset_store::{DATABASE, Lease, Store, StoreError, Work};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::findings::Reported;
use super::timing::LastRound;

/// Rounds of the scheduler, over all workspaces.
pub(crate) const ROUNDS: Work = Work { workspace: DATABASE, kind: "scheduler", subject: [0; 16] };
/// Daily housekeeping, by whoever comes first.
pub(crate) const HOUSEKEEPING: Work = Work { workspace: DATABASE, kind: "housekeeping", subject: [0; 16] };
/// Rebuilding the file.
pub(crate) const DEFRAGMENTING: Work = Work { workspace: DATABASE, kind: "defrag", subject: [0; 16] };

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RoundsNote {
    pub started_at_ms: Option<i64>,
    pub finished_at_ms: Option<i64>,
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
}

/// About one workspace, kept in its own rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct WorkspaceNote {
    pub reported: Reported,
    /// A plan whose run stopped at the time limit.
    pub unfinished: Option<PlanId>,
}

/// A note that cannot be read is one that was never written: at worst something is reported or looked at once more.
pub(crate) fn read<T: DeserializeOwned + Default>(store: &Store, work: Work) -> Result<T, StoreError> {
    let note = store.noted_for_lease(work)?;
    Ok(note.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

pub(crate) fn write<T: Serialize>(store: &Store, lease: &Lease, note: &T) -> Result<(), StoreError> {
    let text = serde_json::to_string(note).expect("notes are numbers and texts");
    store.note_for_lease(lease, &text)
}
