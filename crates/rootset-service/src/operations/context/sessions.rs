//! `context_list_sessions` and `context_delete_session`.

use std::sync::Arc;

use rootset_api::{
    ContextDeleteSession, ContextListSessions, DeletedSession, ErrorCode, Request, SessionAnswer, SessionList,
};
use serde_json::json;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::page;
use crate::operation::Operation;
use crate::service::Service;

impl Operation for ContextListSessions {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<SessionList, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let (offset, limit) = page(self.offset, self.limit)?;
        let (sessions, total) = service.store.list_sessions(&workspace, offset, limit)?;
        let sessions = sessions.into_iter().map(|view| SessionAnswer {
            session_id: view.session_id,
            segments: view.segments,
            stashed: view.stashed,
            tokens: view.tokens,
            created_at: view.created_at,
            updated_at: view.updated_at,
        });
        Ok(SessionList { sessions: sessions.collect(), total, offset, limit })
    }
}

impl Operation for ContextDeleteSession {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<DeletedSession, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        // Whoever misspells the name should hear that first.
        service.read_session(&workspace, &self.session_id, |_| Ok(()))?;
        if self.confirm != Some(true) {
            return Err(ServiceError::new(
                ErrorCode::ConfirmationRequired,
                format!("deleting the session `{}` needs `confirm: true`", self.session_id),
            )
            .with_details(json!({"next": {
                "operation": Self::NAME, "arguments": {"session_id": self.session_id, "confirm": true, "backup": self.backup},
            }})));
        }
        service.back_up_before(self.backup, &workspace, caller)?;
        let (ids, grace_ms) = (service.next_erase_ids(), service.settings.grace_ms);
        let run = service.store.delete_session(&workspace, &self.session_id, ids, grace_ms, service.stamp(caller))?;
        Ok(DeletedSession { session_id: self.session_id, run_id: run.id, undo_until: run.undo_until })
    }
}
