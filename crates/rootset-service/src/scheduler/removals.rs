//! Telling people what agents removed, while it can still be undone.

use rootset_model::Timestamp;
use rootset_store::Workspace;

use super::Scheduler;
use super::findings::digest_of;
use super::state::WorkspaceNote;
use super::telemetry::{Event, RemovalsByAgents};
use crate::error::ServiceError;

/// Under which name it is noted which removals were told of; no source is called like this.
pub(super) const REMOVALS: &str = "\nremovals";
/// How long before the first undo ends.
const NOTICE_MS: i64 = 24 * 3_600_000;

impl Scheduler {
    /// Tells of removals once, a day before the first undo ends. Answers when the workspace has to be looked at for this again.
    pub(super) fn tell_of_removals(
        &self,
        workspace: &Workspace,
        note: &mut WorkspaceNote,
    ) -> Result<Option<Timestamp>, ServiceError> {
        let now = self.service.now();
        let removals = self.service.store.removals_by_agents(workspace, 1, now)?;
        let Some((undo_until, run_id)) = removals.first else {
            note.reported.forget(REMOVALS);
            return Ok(None);
        };
        let notice_at = undo_until.saturating_add_ms(-NOTICE_MS);
        if now < notice_at {
            return Ok(Some(notice_at));
        }
        let digest = digest_of(&[run_id.0]);
        if note.reported.is_new(REMOVALS, &digest) {
            let (workspace_id, count) = (workspace.id.clone(), removals.count);
            let event = Event::Removals(RemovalsByAgents { workspace_id, count, undo_until, run_id });
            self.tell(Some(workspace), &event)?;
            note.reported.note(REMOVALS.to_owned(), digest);
        }
        // Then the next ones are the first.
        Ok(Some(undo_until))
    }
}
