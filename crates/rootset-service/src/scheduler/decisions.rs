//! What a person decides between two rounds: noted at once, so that nobody is asked for it again before the next round.

use rootset_model::{DrainId, PlanId};
use rootset_store::{Work, Workspace};

use super::LEASE_MS;
use super::state::{self, SourceState, WorkspaceNote};
use crate::error::ServiceError;
use crate::service::Service;

impl Service {
    /// A person took a drain back, and with it so many memories.
    pub(crate) fn note_stopped(
        &self,
        workspace: &Workspace,
        drain: DrainId,
        restored: i64,
    ) -> Result<(), ServiceError> {
        self.note_decision(workspace, |note| {
            if let Some(source) = note.waiting.iter_mut().find(|it| it.drain_id == Some(drain)) {
                (source.state, source.next_at) = (SourceState::Stopped, None);
                source.garbage += restored;
                source.total += restored;
                note.garbage += restored;
            }
        })
    }

    /// A person applied a plan, which took so many memories.
    pub(crate) fn note_applied(&self, workspace: &Workspace, plan: PlanId, taken: i64) -> Result<(), ServiceError> {
        self.note_decision(workspace, |note| {
            let before = note.waiting.len();
            note.waiting.retain(|it| it.plan_id != Some(plan));
            if note.waiting.len() < before {
                note.garbage = note.garbage.saturating_sub(taken).max(0);
            }
        })
    }

    fn note_decision(
        &self,
        workspace: &Workspace,
        change: impl FnOnce(&mut WorkspaceNote),
    ) -> Result<(), ServiceError> {
        let work = Work::of_workspace(workspace.key, state::ROUNDS.kind);
        let before: WorkspaceNote = state::read(&self.store, work)?;
        let mut note = before.clone();
        change(&mut note);
        if note == before {
            return Ok(());
        }
        // Whoever holds it is in the middle of a round, and writes what is the case then.
        let Some(lease) = self.store.acquire_lease(work, self.now(), LEASE_MS)? else { return Ok(()) };
        let written = state::write(&self.store, &lease, &note);
        self.store.release_lease(&lease)?;
        Ok(written?)
    }
}
