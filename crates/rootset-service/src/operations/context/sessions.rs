//! `context_list_sessions` and `context_delete_session`.

use std::sync::Arc;

use rootset_model::{RunId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_with::skip_serializing_none;

use crate::caller::Caller;
use crate::error::{ErrorCode, ServiceError};
use crate::operation::{Effect, Operation};
use crate::service::Service;
use crate::shared::page;

/// List the sessions of a workspace, the one used last first.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ContextListSessions {
    /// Workspace to look into; absent: the current one.
    workspace_id: Option<String>,
    offset: Option<i64>,
    /// How many (50, at most 100).
    limit: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionList {
    pub sessions: Vec<SessionAnswer>,
    pub total: i64,
    pub offset: i64,
    pub limit: i64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionAnswer {
    pub session_id: String,
    /// In the window.
    pub segments: i64,
    pub stashed: i64,
    /// In the window.
    pub tokens: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Operation for ContextListSessions {
    const NAME: &'static str = "context_list_sessions";
    const EFFECT: Effect = Effect::Read;
    const IS_IDEMPOTENT: bool = true;
    type Response = SessionList;

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

/// Move a whole session to the trash, its stash included. `gc_undo` brings it back; pins do not hold it.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ContextDeleteSession {
    /// Workspace of the session; absent: the current one.
    workspace_id: Option<String>,
    session_id: String,
    /// Must be true.
    confirm: Option<bool>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedSession {
    pub session_id: String,
    /// Handle for `gc_undo`.
    pub run_id: RunId,
    pub undo_until: Option<Timestamp>,
}

impl Operation for ContextDeleteSession {
    const NAME: &'static str = "context_delete_session";
    const EFFECT: Effect = Effect::Destroy;
    const IS_IDEMPOTENT: bool = false;
    type Response = DeletedSession;

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
                "operation": Self::NAME, "arguments": {"session_id": self.session_id, "confirm": true},
            }})));
        }
        let (ids, grace_ms) = (service.next_erase_ids(), service.settings.grace_ms);
        let run = service.store.delete_session(&workspace, &self.session_id, ids, grace_ms, service.stamp(caller))?;
        Ok(DeletedSession { session_id: self.session_id, run_id: run.id, undo_until: run.undo_until })
    }
}
