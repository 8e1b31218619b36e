//! `update_memory`.

use std::sync::Arc;

use rootset_model::limits::REASON_CHARS_MAX;
use rootset_model::names::check_memory_name;
use rootset_model::{Content, MemoryId, Timestamp};
use rootset_store::{AttributeChanges, FullMemory, PreparedContent, StoreError, UpdateRequest, Workspace};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with::rust::double_option;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::{Effect, Operation};
use crate::service::Service;
use crate::shared::{RawContent, check_short_text, checked_content, checked_metadata, checked_tags};
use crate::worker::{Completion, provider_failed};

/// How often an update without `expected_version` is tried again when others change the same memory.
const ATTEMPTS_MAX: usize = 8;

/// Change a memory: only the given fields change, `null` clears, tags and metadata are replaced.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub struct UpdateMemory {
    /// Workspace it is in; absent: the current one.
    workspace_id: Option<String>,
    /// Id or name.
    memory_id: String,
    /// A new unique name.
    name: Option<String>,
    /// `null`: the first line of the text.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    topic: Option<Option<String>>,
    /// The new text; earlier revisions stay readable.
    #[serde(alias = "text", alias = "content")]
    context: Option<String>,
    #[serde(default, deserialize_with = "double_option::deserialize")]
    decisions: Option<Option<Vec<String>>>,
    #[serde(default, deserialize_with = "double_option::deserialize")]
    rationale: Option<Option<Vec<String>>>,
    #[serde(default, deserialize_with = "double_option::deserialize")]
    metadata: Option<Option<Map<String, Value>>>,
    #[serde(default, deserialize_with = "double_option::deserialize")]
    tags: Option<Option<Vec<String>>>,
    /// Never to be removed by a policy or a query.
    pinned: Option<bool>,
    #[serde(default, deserialize_with = "double_option::deserialize")]
    pin_reason: Option<Option<String>>,
    #[serde(default, deserialize_with = "double_option::deserialize")]
    expires_at: Option<Option<Timestamp>>,
    /// Refuse with `conflict` when the memory has another version by now.
    expected_version: Option<i64>,
    /// Erase all earlier revisions for good, for a pasted key.
    erase_previous: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct UpdatedMemory {
    pub memory_id: MemoryId,
    pub version: i64,
    /// The current revision; the old one while extraction is pending.
    pub revision: i64,
    /// Whether the text changed and its graph was replaced.
    pub reextracted: bool,
    pub entities_created: usize,
    pub entities_removed: usize,
    pub relations_created: usize,
    pub relations_removed: usize,
    /// Values that looked like secrets and were not stored.
    pub redacted: usize,
    /// Why the extraction is still pending.
    pub errors: Vec<String>,
}

impl Operation for UpdateMemory {
    const NAME: &'static str = "update_memory";
    const EFFECT: Effect = Effect::Write;
    const IS_IDEMPOTENT: bool = false;
    const IS_OPEN_WORLD: bool = true;
    const NULL_CLEARS: bool = true;
    type Response = UpdatedMemory;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<UpdatedMemory, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        self.refuse_empty()?;
        if self.erase_previous == Some(true) {
            caller.need_scope(Effect::Purge, || "`erase_previous: true`")?;
        }
        let (attributes, redacted) = self.attributes()?;
        for _ in 0..ATTEMPTS_MAX {
            match self.attempt(service, caller, &workspace, &attributes, redacted) {
                Err(Attempt::ChangedMeanwhile) => {}
                Err(Attempt::Failed(error)) => return Err(error),
                Ok(updated) => return Ok(updated),
            }
        }
        Err(ServiceError::conflict("others keep changing this memory; try again"))
    }
}

enum Attempt {
    ChangedMeanwhile,
    Failed(ServiceError),
}

impl<E: Into<ServiceError>> From<E> for Attempt {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl UpdateMemory {
    fn gives_content(&self) -> bool {
        self.topic.is_some() || self.context.is_some() || self.decisions.is_some() || self.rationale.is_some()
    }

    fn refuse_empty(&self) -> Result<(), ServiceError> {
        let gives_attributes = self.name.is_some()
            || self.metadata.is_some()
            || self.tags.is_some()
            || self.pinned.is_some()
            || self.pin_reason.is_some()
            || self.expires_at.is_some();
        if self.gives_content() || gives_attributes || self.erase_previous == Some(true) {
            return Ok(());
        }
        Err(ServiceError::invalid("no field to change is given"))
    }

    fn attributes(&self) -> Result<(AttributeChanges, usize), ServiceError> {
        if let Some(name) = &self.name {
            check_memory_name(name).map_err(|error| ServiceError::invalid(format!("`name`: {error}")))?;
        }
        if let Some(Some(reason)) = &self.pin_reason {
            check_short_text("pin_reason", reason, REASON_CHARS_MAX)?;
        }
        let mut redacted = 0;
        let metadata = match &self.metadata {
            None => None,
            Some(None) => Some(None),
            Some(Some(given)) => {
                let (clean, count) = checked_metadata(given.clone())?;
                redacted = count;
                let json = serde_json::to_string(&clean).expect("JSON values always serialise");
                Some((!clean.is_empty()).then_some(json))
            }
        };
        let tags = match &self.tags {
            None => None,
            Some(given) => Some(checked_tags(given.as_deref().unwrap_or_default())?),
        };
        let changes = AttributeChanges {
            name: self.name.clone(),
            metadata,
            tags,
            is_pinned: self.pinned,
            pin_reason: self.pin_reason.clone(),
            expires_at: self.expires_at,
        };
        Ok((changes, redacted))
    }

    /// The content as it would be, from the newest one accepted so far.
    fn content(&self, base: Content) -> Result<(Content, usize), ServiceError> {
        let list = |given: &Option<Option<Vec<String>>>, base: Vec<String>| match given {
            None => base,
            Some(given) => given.clone().unwrap_or_default(),
        };
        checked_content(RawContent {
            topic: match &self.topic {
                None => Some(base.topic),
                Some(given) => given.clone(),
            },
            context: self.context.clone().unwrap_or(base.context),
            decisions: list(&self.decisions, base.decisions),
            rationale: list(&self.rationale, base.rationale),
        })
    }

    fn attempt(
        &self,
        service: &Arc<Service>,
        caller: &Caller,
        workspace: &Workspace,
        attributes: &AttributeChanges,
        redacted_metadata: usize,
    ) -> Result<UpdatedMemory, Attempt> {
        let row = service.store.memory(workspace, &self.memory_id)?;
        let newest = row.newest_revision();
        let seen: FullMemory = service.store.full_memory(workspace, &row.id.to_string(), Some(newest))?;
        if let Some(expected) = self.expected_version.filter(|expected| *expected != seen.row.version) {
            return Err(StoreError::VersionMismatch { expected, found: seen.row.version }.into());
        }
        if seen.row.version != row.version {
            return Err(Attempt::ChangedMeanwhile);
        }
        // Files have no hash to compare with, and their content need not be what a note's has to be.
        let given = self.gives_content().then(|| self.content(seen.content)).transpose()?;
        let redacted = given.as_ref().map_or(0, |(_, redacted)| *redacted);
        let changed = given.map(|(content, _)| content).filter(|it| Some(it.doc_hash()) != seen.row.doc_hash);
        let prepared: Option<PreparedContent> =
            changed.map(|content| service.prepare(content).map_err(|error| provider_failed(&error))).transpose()?;
        let request = UpdateRequest {
            memory: seen.row.id,
            seen_version: seen.row.version,
            attributes,
            content: prepared.as_ref(),
            erase_previous: (self.erase_previous == Some(true)).then(|| service.next_erase_ids()),
            keep_revisions: service.settings.keep_revisions,
        };
        let outcome = match service.store.update_memory(workspace, &request, service.stamp(caller)) {
            Err(StoreError::VersionMismatch { .. }) if self.expected_version.is_none() => {
                return Err(Attempt::ChangedMeanwhile);
            }
            outcome => outcome?,
        };
        let mut answer = UpdatedMemory {
            memory_id: seen.row.id,
            version: outcome.version,
            revision: outcome.revision,
            reextracted: prepared.is_some() && !outcome.is_pending,
            entities_created: outcome.entities_created,
            entities_removed: outcome.entities_removed,
            relations_created: outcome.relations_created,
            relations_removed: outcome.relations_removed,
            redacted: redacted + redacted_metadata,
            errors: Vec::new(),
        };
        if outcome.is_pending {
            complete(service, workspace, &mut answer)?;
        }
        Ok(answer)
    }
}

fn complete(service: &Arc<Service>, workspace: &Workspace, answer: &mut UpdatedMemory) -> Result<(), ServiceError> {
    match service.complete_within_wait(workspace, answer.memory_id)? {
        Completion::Done(outcome) => {
            answer.revision = outcome.revision;
            answer.reextracted = true;
            answer.entities_created = outcome.entities_created;
            answer.entities_removed = outcome.entities_removed;
            answer.relations_created = outcome.relations_created;
            answer.relations_removed = outcome.relations_removed;
        }
        Completion::Failed(error) => answer.errors.push(error),
        Completion::Pending => {}
    }
    Ok(())
}
