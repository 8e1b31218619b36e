//! What a person should hear once a day without asking: what agents removed while it can still be brought back.

use rootset_model::Timestamp;
use rootset_store::{Removals, Work};
use serde::{Deserialize, Serialize};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::scheduler::state;
use crate::service::Service;

/// The kind of note that keeps when a workspace's digest was last shown.
const DIGEST: &str = "removals_digest";
const DAY_MS: i64 = 24 * 3_600_000;
/// Noting takes one statement.
const LEASE_MS: i64 = 10_000;

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct DigestNote {
    shown_at_ms: Option<i64>,
}

/// A line's worth of news.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    pub workspace_id: String,
    /// Memories that agents removed and a person can still restore.
    pub removed: i64,
    pub undo_until: Timestamp,
    pub now: Timestamp,
}

impl Service {
    /// News of the caller's current workspace, unless there are none or they were given within a day.
    pub fn daily_digest(&self, caller: &Caller) -> Result<Option<Digest>, ServiceError> {
        let workspace = self.workspace(caller, None)?;
        let now = self.now();
        let Removals { count, first: Some((undo_until, _)), .. } = self.store.removals_by_agents(&workspace, 1, now)?
        else {
            return Ok(None);
        };
        let work = Work::of_workspace(workspace.key, DIGEST);
        let shown =
            |note: DigestNote| note.shown_at_ms.is_some_and(|at| (at..at.saturating_add(DAY_MS)).contains(&now.0));
        if shown(state::read(&self.store, work)?) {
            return Ok(None);
        }
        // Whoever holds it shows the same.
        let Some(lease) = self.store.acquire_lease(work, now, LEASE_MS)? else { return Ok(None) };
        let noted = state::write(&self.store, &lease, &DigestNote { shown_at_ms: Some(now.0) });
        self.store.release_lease(&lease)?;
        noted?;
        Ok(Some(Digest { workspace_id: workspace.id, removed: count, undo_until, now }))
    }
}
