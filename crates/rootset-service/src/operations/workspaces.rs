//! `create_workspace`, `list_workspaces` and `delete_workspace`.

use std::sync::Arc;

use rootset_model::limits::{DESCRIPTION_CHARS_MAX, TOPIC_CHARS_MAX};
use rootset_model::names::check_workspace_id;
use rootset_model::{RunId, Timestamp};
use rootset_store::{NewWorkspace, WorkspaceView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::caller::Caller;
use crate::error::{ErrorCode, ServiceError};
use crate::operation::{Effect, Operation};
use crate::service::{DEFAULT_WORKSPACE, Service};
use crate::shared::check_short_text;

/// Create a workspace: a tenant that sees nothing of the others.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct CreateWorkspace {
    /// Up to 64 of a-z, 0-9, `_` and `-`.
    workspace_id: String,
    /// A name for people.
    name: Option<String>,
    description: Option<String>,
    quota: Option<Quota>,
}

/// What the workspace may store, trash included.
#[skip_serializing_none]
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Quota {
    /// How many memories.
    memories: Option<i64>,
    /// How many bytes of text.
    bytes: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct CreatedWorkspace {
    pub workspace_id: String,
    pub created_at: Timestamp,
}

impl Operation for CreateWorkspace {
    const NAME: &'static str = "create_workspace";
    const EFFECT: Effect = Effect::Admin;
    const IS_IDEMPOTENT: bool = false;
    const IS_DATABASE_WIDE: bool = true;
    type Response = CreatedWorkspace;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<CreatedWorkspace, ServiceError> {
        check_workspace_id(&self.workspace_id)
            .map_err(|error| ServiceError::invalid(format!("`workspace_id`: {error}")))?;
        check_short_text("name", self.name.as_deref().unwrap_or_default(), TOPIC_CHARS_MAX)?;
        check_short_text("description", self.description.as_deref().unwrap_or_default(), DESCRIPTION_CHARS_MAX)?;
        let quota = self.quota.unwrap_or(Quota { memories: None, bytes: None });
        for (field, value) in [("quota.memories", quota.memories), ("quota.bytes", quota.bytes)] {
            if value.is_some_and(|value| value <= 0) {
                return Err(ServiceError::invalid(format!("`{field}` must be above 0")));
            }
        }
        let stamp = service.stamp(caller);
        let new = NewWorkspace {
            id: self.workspace_id,
            name: self.name,
            description: self.description,
            quota_memories: quota.memories,
            quota_bytes: quota.bytes,
        };
        let created = service.store.create_workspace(&new, stamp)?;
        Ok(CreatedWorkspace { workspace_id: created.id, created_at: stamp.now })
    }
}

/// List the workspaces with their sizes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ListWorkspaces {}

#[derive(Debug, Serialize, JsonSchema)]
pub struct WorkspaceList {
    pub workspaces: Vec<WorkspaceAnswer>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct WorkspaceAnswer {
    pub workspace_id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub quota: Option<Quota>,
    /// Stored memories, trash included.
    pub memories: i64,
    /// Bytes of text, trash and earlier revisions included.
    pub bytes: i64,
    /// Memories in the trash.
    pub trash: i64,
    pub created_at: Timestamp,
    pub last_write_at: Timestamp,
    pub last_run_at: Option<Timestamp>,
}

impl From<WorkspaceView> for WorkspaceAnswer {
    fn from(view: WorkspaceView) -> Self {
        let has_quota = view.quota_memories.is_some() || view.quota_bytes.is_some();
        Self {
            workspace_id: view.id,
            name: view.name,
            description: view.description,
            quota: has_quota.then_some(Quota { memories: view.quota_memories, bytes: view.quota_bytes }),
            memories: view.memories,
            bytes: view.bytes,
            trash: view.trashed_memories,
            created_at: view.created_at,
            last_write_at: view.last_write_at,
            last_run_at: view.last_run_at,
        }
    }
}

impl Operation for ListWorkspaces {
    const NAME: &'static str = "list_workspaces";
    const EFFECT: Effect = Effect::Read;
    const IS_IDEMPOTENT: bool = true;
    type Response = WorkspaceList;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<WorkspaceList, ServiceError> {
        let seen = service.store.list_workspaces(|id| caller.rights.allow_workspace(id))?;
        Ok(WorkspaceList { workspaces: seen.into_iter().map(Into::into).collect() })
    }
}

/// Move a whole workspace to the trash. `gc_undo` with its id brings all of it back; pins do not hold it.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct DeleteWorkspace {
    workspace_id: String,
    /// Exactly `DELETE <workspace_id>`.
    confirm_phrase: Option<String>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeletedWorkspace {
    pub workspace_id: String,
    /// Handle for `gc_undo`.
    pub run_id: RunId,
    pub undo_until: Option<Timestamp>,
}

impl Operation for DeleteWorkspace {
    const NAME: &'static str = "delete_workspace";
    const EFFECT: Effect = Effect::Admin;
    const IS_IDEMPOTENT: bool = false;
    type Response = DeletedWorkspace;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<DeletedWorkspace, ServiceError> {
        let workspace = service.workspace(caller, Some(&self.workspace_id))?;
        if workspace.id == DEFAULT_WORKSPACE {
            return Err(ServiceError::conflict("the workspace `default` always exists and cannot be deleted"));
        }
        let phrase = format!("DELETE {}", workspace.id);
        if self.confirm_phrase.as_deref() != Some(&phrase) {
            return Err(ServiceError::new(
                ErrorCode::ConfirmationRequired,
                format!("`confirm_phrase` must be exactly `{phrase}`"),
            ));
        }
        let (ids, grace_ms) = (service.next_erase_ids(), service.settings.grace_ms);
        let run = service.store.delete_workspace(&workspace, ids, grace_ms, service.stamp(caller))?;
        Ok(DeletedWorkspace { workspace_id: workspace.id, run_id: run.id, undo_until: run.undo_until })
    }
}
