//! What a person should hear once a day without asking, and no model at all: what agents removed while it can still be brought
//! back, what waits for them, what is garbage, and an index of code or a backup that is old.

use rootset_model::Timestamp;
use rootset_store::{Removals, Work, Workspace};
use serde::{Deserialize, Serialize};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::scheduler::state::{self, HousekeepingNote, WorkspaceNote};
use crate::service::Service;

/// The kind of note that keeps when a workspace's digest was last shown.
const DIGEST: &str = "removals_digest";
const DAY_MS: i64 = 24 * 3_600_000;
/// Noting takes one statement.
const LEASE_MS: i64 = 10_000;
/// A code index of this age is news, where there is one.
const INDEX_OLD_MS: i64 = 7 * DAY_MS;
/// A backup of this age is news, where backups are taken at all.
const BACKUP_OLD_MS: i64 = 7 * DAY_MS;

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct DigestNote {
    shown_at_ms: Option<i64>,
}

/// A line's worth of news.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    pub workspace_id: String,
    /// Memories that agents removed and a person can still restore, and until when the first of them.
    pub removed: i64,
    pub undo_until: Option<Timestamp>,
    /// Personal memories that wait for their person.
    pub waiting: i64,
    /// Memories that were garbage when a scheduler last looked.
    pub garbage: i64,
    /// When the code index was last brought up to date, where that is long ago; of several repositories, the oldest.
    pub indexed_at: Option<Timestamp>,
    /// Indexed files that are gone from their folders.
    pub stale_files: i64,
    /// When the last backup was taken, where that is long ago.
    pub last_backup_at: Option<Timestamp>,
    pub now: Timestamp,
}

impl Digest {
    fn is_empty(&self) -> bool {
        self.removed == 0
            && self.waiting == 0
            && self.garbage == 0
            && self.indexed_at.is_none()
            && self.stale_files == 0
            && self.last_backup_at.is_none()
    }
}

impl Service {
    /// News of the caller's current workspace, unless there are none or they were given within a day.
    pub fn daily_digest(&self, caller: &Caller) -> Result<Option<Digest>, ServiceError> {
        let workspace = self.workspace(caller, None)?;
        let now = self.now();
        let work = Work::of_workspace(workspace.key, DIGEST);
        let shown =
            |note: DigestNote| note.shown_at_ms.is_some_and(|at| (at..at.saturating_add(DAY_MS)).contains(&now.0));
        if shown(state::read(&self.store, work)?) {
            return Ok(None);
        }
        let digest = self.digest(caller, &workspace, now)?;
        if digest.is_empty() {
            return Ok(None);
        }
        // Whoever holds it shows the same.
        let Some(lease) = self.store.acquire_lease(work, now, LEASE_MS)? else { return Ok(None) };
        let noted = state::write(&self.store, &lease, &DigestNote { shown_at_ms: Some(now.0) });
        self.store.release_lease(&lease)?;
        noted?;
        Ok(Some(digest))
    }

    fn digest(&self, caller: &Caller, workspace: &Workspace, now: Timestamp) -> Result<Digest, ServiceError> {
        let Removals { count, first, .. } = self.store.removals_by_agents(workspace, 1, now)?;
        let undo_until = first.map(|(undo_until, _)| undo_until);
        let rounds: WorkspaceNote = state::read(&self.store, Work::of_workspace(workspace.key, state::ROUNDS.kind))?;
        let waiting = match self.personal(caller)? {
            Some(personal) => self.store.count_waiting(&personal, now)?,
            None => 0,
        };
        let repos = self.store.repos(workspace)?;
        let is_old = |at: &Timestamp| now.0.saturating_sub(at.0) > INDEX_OLD_MS;
        Ok(Digest {
            workspace_id: workspace.id.clone(),
            indexed_at: repos.iter().filter_map(|repo| repo.row.run_at).min().filter(is_old),
            stale_files: repos.iter().map(|repo| repo.stale).sum(),
            removed: if undo_until.is_some() { count } else { 0 },
            undo_until,
            waiting,
            garbage: rounds.garbage,
            last_backup_at: self.old_backup(now)?,
            now,
        })
    }

    fn old_backup(&self, now: Timestamp) -> Result<Option<Timestamp>, ServiceError> {
        if self.backup_interval_ms().is_none() {
            return Ok(None);
        }
        let note: HousekeepingNote = state::read(&self.store, state::HOUSEKEEPING)?;
        let is_old = |at: &i64| now.0.saturating_sub(*at) > BACKUP_OLD_MS;
        Ok(note.backed_up_at_ms.filter(is_old).map(Timestamp))
    }
}
