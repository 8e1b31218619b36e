//! `create_workspace`, `update_workspace`, `list_workspaces` and `delete_workspace`.

use std::sync::Arc;

use rootset_api::{
    CreateWorkspace, CreatedWorkspace, DeleteWorkspace, DeletedWorkspace, ErrorCode, ListWorkspaces, Quota,
    UpdateWorkspace, WorkspaceAnswer, WorkspaceList,
};
use rootset_model::limits::{COUNT_MAX, DESCRIPTION_CHARS_MAX, TOPIC_CHARS_MAX};
use rootset_model::names::{HOME_WORKSPACE, check_workspace_id};
use rootset_store::{NewWorkspace, STANDARD_CLASS, Workspace, WorkspaceView};
use serde_json::json;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::check_short_text;
use crate::operation::{Operation, confirmation_of};
use crate::personal::PERSONAL;
use crate::service::Service;

impl Operation for CreateWorkspace {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<CreatedWorkspace, ServiceError> {
        check_workspace_id(&self.workspace_id)
            .map_err(|error| ServiceError::invalid(format!("`workspace_id`: {error}")))?;
        if self.workspace_id == PERSONAL {
            return Err(ServiceError::invalid("`personal` is the name of a person's own workspace")
                .with_hint("it is made when something is added with `memory_of: \"personal\"`"));
        }
        check_short_text("name", self.name.as_deref().unwrap_or_default(), TOPIC_CHARS_MAX)?;
        check_short_text("description", self.description.as_deref().unwrap_or_default(), DESCRIPTION_CHARS_MAX)?;
        let class = self.class.unwrap_or_else(|| STANDARD_CLASS.to_owned());
        check_class(&class)?;
        let of_class = service.settings.gc.classes.get(&class).copied().unwrap_or_default();
        let quota = self.quota.unwrap_or(Quota { memories: of_class.quota_memories, bytes: of_class.quota_bytes });
        check_quota(quota)?;
        let stamp = service.stamp(caller);
        let new = NewWorkspace {
            id: self.workspace_id,
            name: self.name,
            description: self.description,
            quota_memories: quota.memories,
            quota_bytes: quota.bytes,
            class: Some(class),
            person: None,
        };
        let created = service.store.create_workspace(&new, stamp)?;
        Ok(CreatedWorkspace { workspace_id: created.id, created_at: stamp.now })
    }
}

impl Operation for UpdateWorkspace {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<WorkspaceAnswer, ServiceError> {
        let workspace = service.workspace(caller, Some(&self.workspace_id))?;
        if let Some(class) = &self.class {
            check_class(class)?;
        }
        if let Some(quota) = self.quota {
            check_quota(quota)?;
        }
        let quota = self.quota.map(|quota| (quota.memories, quota.bytes));
        service.store.update_workspace(&workspace, self.class.as_deref(), quota, service.stamp(caller))?;
        let seen = service.store.list_workspaces(|key, _, _| key == workspace.key)?;
        let found = seen.into_iter().next().map(workspace_answer);
        found.ok_or_else(|| ServiceError::new(ErrorCode::NotFound, format!("no workspace `{}`", workspace.id)))
    }
}

/// A class is a label of metrics and a name in the configuration: written like a workspace's id.
fn check_class(class: &str) -> Result<(), ServiceError> {
    check_workspace_id(class).map_err(|error| ServiceError::invalid(format!("`class`: {error}")))
}

fn check_quota(quota: Quota) -> Result<(), ServiceError> {
    for (field, value) in [("quota.memories", quota.memories), ("quota.bytes", quota.bytes)] {
        if value.is_some_and(|value| !(1..=COUNT_MAX).contains(&value)) {
            let hint = "leave it out for a workspace without a quota";
            return Err(ServiceError::invalid(format!("`{field}` must be from 1 to {COUNT_MAX}")).with_hint(hint));
        }
    }
    Ok(())
}

fn workspace_answer(view: WorkspaceView) -> WorkspaceAnswer {
    let has_quota = view.quota_memories.is_some() || view.quota_bytes.is_some();
    WorkspaceAnswer {
        workspace_id: view.id,
        name: view.name,
        description: view.description,
        quota: has_quota.then_some(Quota { memories: view.quota_memories, bytes: view.quota_bytes }),
        class: view.class,
        memories: view.memories,
        bytes: view.bytes,
        trash: view.trashed_memories,
        created_at: view.created_at,
        last_write_at: view.last_write_at,
        last_run_at: view.last_run_at,
        person: view.person,
    }
}

impl Operation for ListWorkspaces {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<WorkspaceList, ServiceError> {
        // Personal ones are asked for by their person, whatever their name is.
        let may_see = |key, id: &str, person: Option<&str>| caller.may_see_named(key, id, person);
        let seen = service.store.list_workspaces(may_see)?;
        Ok(WorkspaceList { workspaces: seen.into_iter().map(workspace_answer).collect() })
    }
}

impl Operation for DeleteWorkspace {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<DeletedWorkspace, ServiceError> {
        let workspace = deletable(&self, service, caller)?;
        let phrase = format!("DELETE {}", workspace.id);
        if self.confirm_phrase.as_deref() != Some(&phrase) {
            return Err(ServiceError::new(
                ErrorCode::ConfirmationRequired,
                format!("`confirm_phrase` must be exactly `{phrase}`"),
            ));
        }
        service.back_up_before(self.backup, &workspace, caller)?;
        let (ids, grace_ms) = (service.next_erase_ids(), service.settings.grace_ms);
        let run = service.store.delete_workspace(&workspace, ids, grace_ms, service.stamp(caller))?;
        Ok(DeletedWorkspace { workspace_id: workspace.id, run_id: run.id, undo_until: run.undo_until })
    }

    fn unconfirmed(&self, service: &Service, caller: &Caller) -> ServiceError {
        match deletable(self, service, caller) {
            Ok(Workspace { id, .. }) => {
                let message = format!("the whole workspace `{id}` goes to the trash, pinned memories included");
                confirmation_of(self, message, json!({"confirm_phrase": format!("DELETE {id}")}))
            }
            Err(error) => error,
        }
    }
}

/// The workspace that is to go.
fn deletable(request: &DeleteWorkspace, service: &Service, caller: &Caller) -> Result<Workspace, ServiceError> {
    let workspace = service.workspace(caller, Some(&request.workspace_id))?;
    if workspace.person.as_deref().is_some_and(|person| caller.acts_for(person)) {
        return Err(ServiceError::conflict("your personal workspace cannot be deleted as a whole")
            .with_hint("`forget` with `memory_of: \"personal\"` removes what is in it"));
    }
    if workspace.id == HOME_WORKSPACE {
        return Err(ServiceError::conflict("the workspace `home` always exists and cannot be deleted"));
    }
    Ok(workspace)
}
