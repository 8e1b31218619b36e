//! `update_memory`.

use std::sync::Arc;

use rootset_api::{MemoryField, Replace, Request, UpdateMemory, UpdatedMemory};
use rootset_model::content::topic_of;
use rootset_model::limits::REASON_CHARS_MAX;
use rootset_model::names::check_memory_name;
use rootset_model::{Content, Timestamp};
use rootset_store::{
    AttributeChanges, FullMemory, MemoryRow, PreparedContent, StoreError, UpdateOutcome, UpdateRequest, Workspace,
};
use rootset_text::claims::{NoClause, with_clause};
use serde_json::json;

use super::purge::said;
use crate::caller::Caller;
use crate::contradictions::with_both_hold;
use crate::error::ServiceError;
use crate::fields::{
    RawContent, check_metadata, check_short_text, check_source_version, checked_content, checked_tags,
};
use crate::operation::{Operation, confirmation_of};
use crate::receipts::Wanted;
use crate::service::Service;
use crate::worker::{Completion, provider_failed};

/// How often an update without `expected_version` is tried again when others change the same memory.
const ATTEMPTS_MAX: usize = 8;
/// Memories that one call may name as `both_hold`.
const BOTH_HOLD_NAMES_MAX: usize = 16;
/// Earlier revisions that a topic may have been taken from: five times as many as are kept unless somebody asks for more.
const REVISIONS_COMPARED_MAX: usize = 100;

impl Operation for UpdateMemory {
    fn unconfirmed(&self, service: &Service, caller: &Caller) -> ServiceError {
        let found = service.where_memory_is(caller, self.workspace_id.as_deref(), &self.memory_id, |workspace| {
            let row = service.store.memory(workspace, &self.memory_id)?;
            attributes(self, service.now())?;
            Ok(row)
        });
        match found {
            Ok(row) => {
                let name = row.name.unwrap_or_else(|| row.id.to_string());
                let message = format!("erasing the earlier revisions of `{name}` cannot be undone");
                confirmation_of(self, message, json!({}))
            }
            Err(error) => error,
        }
    }

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<UpdatedMemory, ServiceError> {
        if !self.changes_something() {
            return Err(ServiceError::invalid("give at least one field to change"));
        }
        let attributes = attributes(&self, service.now())?;
        let update = |workspace: &Workspace| update(&self, service, caller, workspace, &attributes);
        let again = || serde_json::to_value(&self).unwrap_or_default();
        let updated = service.where_memory_is(caller, self.workspace_id.as_deref(), &self.memory_id, update);
        updated.map_err(|error| caller.or_ask_person(error, Self::NAME, again))
    }
}

fn update(
    request: &UpdateMemory,
    service: &Arc<Service>,
    caller: &Caller,
    workspace: &Workspace,
    attributes: &AttributeChanges,
) -> Result<UpdatedMemory, ServiceError> {
    for _ in 0..ATTEMPTS_MAX {
        match attempt(request, service, caller, workspace, attributes) {
            Err(Attempt::ChangedMeanwhile) => {}
            Err(Attempt::Failed(error)) => return Err(error),
            Ok(updated) => {
                service.uses.changed(workspace, updated.memory_id, service.now());
                service.uses.written(request.context.as_deref(), service.now());
                return Ok(updated);
            }
        }
    }
    Err(ServiceError::conflict("this memory keeps changing; try again"))
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

fn attributes(request: &UpdateMemory, now: Timestamp) -> Result<AttributeChanges, ServiceError> {
    if let Some(name) = &request.name {
        check_memory_name(name).map_err(|error| ServiceError::invalid(format!("`name`: {error}")))?;
    }
    if let Some(reason) = &request.pin_reason {
        check_short_text("pin_reason", reason, REASON_CHARS_MAX)?;
    }
    check_source_version(request.source_version)?;
    let metadata = match &request.metadata {
        None => request.clears(MemoryField::Metadata).then_some(None),
        Some(given) => {
            check_metadata(given)?;
            let json = serde_json::to_string(given).expect("JSON values always serialise");
            Some((!given.is_empty()).then_some(json))
        }
    };
    let tags = match &request.tags {
        None => request.clears(MemoryField::Tags).then(Vec::new),
        Some(given) => Some(checked_tags(given)?),
    };
    Ok(AttributeChanges {
        name: request.name.clone(),
        metadata,
        tags,
        source_version: over(request.source_version, request, MemoryField::SourceVersion),
        is_pinned: request.pinned,
        pin_reason: over(request.pin_reason.clone(), request, MemoryField::PinReason),
        expires_at: over(request.expires_at.map(|it| it.at(now)), request, MemoryField::ExpiresAt),
    })
}

/// The changes with what is said of others that both hold, where something is.
fn both_hold(
    request: &UpdateMemory,
    service: &Service,
    workspace: &Workspace,
    attributes: &AttributeChanges,
    seen: &MemoryRow,
) -> Result<Option<AttributeChanges>, ServiceError> {
    let Some(names) = request.both_hold.as_ref().filter(|names| !names.is_empty()) else { return Ok(None) };
    if request.changes_content() {
        return Err(ServiceError::invalid(
            "`both_hold` says something of two texts as they are; change the text first",
        ));
    }
    if names.len() > BOTH_HOLD_NAMES_MAX {
        return Err(ServiceError::invalid(format!(
            "`both_hold` has {} items, more than {BOTH_HOLD_NAMES_MAX}",
            names.len()
        )));
    }
    let others = names.iter().map(|name| {
        let other = service.store.memory(workspace, name)?;
        if other.id == seen.id {
            return Err(ServiceError::invalid("`both_hold` names other memories than the one that is updated"));
        }
        Ok((other.id, other.ingested_at))
    });
    let others = others.collect::<Result<Vec<_>, ServiceError>>()?;
    let stored = match &attributes.metadata {
        Some(given) => given.as_deref(),
        None => seen.metadata.as_deref(),
    };
    let metadata = with_both_hold(stored, seen.ingested_at, &others)?;
    Ok(Some(AttributeChanges { metadata: Some(Some(metadata)), ..attributes.clone() }))
}

/// What is given wins over what is cleared; the inner `None` clears.
fn over<T>(given: Option<T>, request: &UpdateMemory, field: MemoryField) -> Option<Option<T>> {
    given.map(Some).or_else(|| request.clears(field).then_some(None))
}

/// The content as it would be, from the newest one accepted so far. A topic made from a text goes with it.
fn content(request: &UpdateMemory, base: Content, is_topic_made: bool) -> Result<Content, ServiceError> {
    let kept = |field| !request.clears(field);
    let list = |given: &Option<Vec<String>>, base: Vec<String>, field| match given {
        Some(given) => given.clone(),
        None if kept(field) => base,
        None => Vec::new(),
    };
    checked_content(RawContent {
        topic: match &request.topic {
            None => (!is_topic_made && kept(MemoryField::Topic)).then_some(base.topic),
            given => given.clone(),
        },
        context: match (request.replace, &request.context) {
            (Some(Replace::Clause), Some(clause)) => with_clause(&base.context, clause).map_err(no_clause)?,
            (Some(Replace::Clause), None) => return Err(ServiceError::invalid("`replace` is given without `text`")),
            (None, given) => given.clone().unwrap_or(base.context),
        },
        decisions: list(&request.decisions, base.decisions, MemoryField::Decisions),
        rationale: list(&request.rationale, base.rationale, MemoryField::Rationale),
    })
}

fn no_clause(reason: NoClause) -> ServiceError {
    match reason {
        NoClause::NothingDisagrees => {
            ServiceError::invalid("`replace`: nothing in the text of this memory disagrees with the new one")
                .with_hint("give the whole text without `replace`; long texts are not looked through")
        }
        NoClause::SaysMore => ServiceError::invalid(
            "`replace`: the sentence that disagrees also says something else, and cannot be divided",
        )
        .with_hint("give the whole text without `replace`, with what still holds"),
    }
}

fn attempt(
    request: &UpdateMemory,
    service: &Arc<Service>,
    caller: &Caller,
    workspace: &Workspace,
    attributes: &AttributeChanges,
) -> Result<UpdatedMemory, Attempt> {
    let row = service.store.memory(workspace, &request.memory_id)?;
    let newest = row.newest_revision();
    let seen: FullMemory = service.store.full_memory(workspace, &row.id.to_string(), Some(newest))?;
    if let Some(expected) = request.expected_version.filter(|expected| *expected != seen.row.version) {
        return Err(StoreError::VersionMismatch { expected, found: seen.row.version }.into());
    }
    if seen.row.version != row.version {
        return Err(Attempt::ChangedMeanwhile);
    }
    let dismissing = both_hold(request, service, workspace, attributes, &seen.row)?;
    let attributes = dismissing.as_ref().unwrap_or(attributes);
    // Files have no hash to compare with, and their content need not be what a note's has to be.
    let erases = request.erase_previous == Some(true);
    let is_note = seen.row.doc_hash.is_some();
    let is_topic_made =
        is_note && (seen.content.is_topic_of_text() || (erases && keeps_topic_of(service, workspace, &seen)?));
    let changes_content = request.changes_content() || (erases && is_topic_made);
    let given = changes_content.then(|| content(request, seen.content, is_topic_made)).transpose()?;
    let changed = given.filter(|it| Some(it.doc_hash()) != seen.row.doc_hash);
    let prepared: Option<PreparedContent> =
        changed.map(|content| service.prepare(content).map_err(|error| provider_failed(&error))).transpose()?;
    let update = UpdateRequest {
        memory: seen.row.id,
        seen_version: seen.row.version,
        attributes,
        origin: caller.origin(),
        content: prepared.as_ref(),
        erase_previous: erases,
        history: service.history(),
    };
    let outcome = match service.store.update_memory(workspace, &update, service.stamp(caller)) {
        Err(StoreError::VersionMismatch { .. }) if request.expected_version.is_none() => {
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
        redacted: 0,
        errors: Vec::new(),
        pinned_by: outcome.pinned_by,
        trust: outcome.lowered_to,
        name: outcome.name.clone(),
        receipt: None,
        warnings: None,
    };
    if outcome.is_pending {
        complete(service, caller, workspace, &mut answer);
    } else {
        add_receipt(service, caller, workspace, &mut answer, outcome);
    }
    Ok(answer)
}

/// Whether an earlier revision's text is where the topic was taken from, by a version of this program that left it as it was.
fn keeps_topic_of(service: &Service, workspace: &Workspace, seen: &FullMemory) -> Result<bool, StoreError> {
    let id = seen.row.id.to_string();
    for revision in (1..seen.row.newest_revision()).rev().take(REVISIONS_COMPARED_MAX) {
        match service.store.full_memory(workspace, &id, Some(revision)) {
            Ok(earlier) if topic_of(&earlier.content.context) == seen.content.topic => return Ok(true),
            Ok(_) | Err(StoreError::RevisionNotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

fn add_receipt(
    service: &Service,
    caller: &Caller,
    workspace: &Workspace,
    answer: &mut UpdatedMemory,
    outcome: UpdateOutcome,
) {
    if let Some(receipt) = outcome.receipt {
        let mut warnings = receipt.warnings.clone();
        let (name, wanted) = (UpdateMemory::NAME, Wanted::default());
        let receipt = service.receipt_of(caller, name, workspace, None, receipt, wanted, &mut warnings);
        answer.receipt = Some(receipt);
        answer.name = outcome.name.or(answer.name.take());
        answer.warnings = said(warnings);
    }
}

/// The change is stored, so nothing here makes it fail: what could not be completed stays pending, and is told.
fn complete(service: &Arc<Service>, caller: &Caller, workspace: &Workspace, answer: &mut UpdatedMemory) {
    match service.complete_within_wait(workspace, answer.memory_id).unwrap_or_else(Completion::failed) {
        Completion::Done(outcome) => {
            answer.revision = outcome.revision;
            answer.reextracted = true;
            answer.entities_created = outcome.entities_created;
            answer.entities_removed = outcome.entities_removed;
            answer.relations_created = outcome.relations_created;
            answer.relations_removed = outcome.relations_removed;
            add_receipt(service, caller, workspace, answer, outcome);
        }
        Completion::Failed(error) => answer.errors.push(error),
        Completion::Pending => {}
    }
}
