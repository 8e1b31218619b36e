//! `add_memory` and `add_memories`.

use std::sync::Arc;

use rootset_api::{AddMemories, AddMemory, AddedMemories, AddedMemory, BatchResult, MemoryInput, Request, Similar};
use rootset_model::limits::{BATCH_MEMORIES_MAX, REASON_CHARS_MAX, SIMILAR_MAX, TOPIC_CHARS_MAX};
use rootset_model::names::check_memory_name;
use rootset_model::slug::slug;
use rootset_model::{MemoryId, Timestamp, Trust};
use rootset_store::{AddOutcome, NewMemory, PreparedContent, SimilarMemory, Status, ThreadNumber, Workspace};
use rootset_text::terms;
use serde_json::{Map, Value};

use super::keyed;
use crate::caller::{Caller, USER_SOURCE};
use crate::error::ServiceError;
use crate::fields::{
    RawContent, check_metadata, check_short_text, check_source, check_source_version, checked_content, checked_tags,
};
use crate::occurred::occurred;
use crate::operation::Operation;
use crate::personal::{memory_of, waits};
use crate::service::Service;
use crate::worker::{Completion, provider_failed};

impl Operation for AddMemory {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<AddedMemory, ServiceError> {
        let workspace = service.workspace_for(caller, self.workspace_id.as_deref(), self.memory_of)?;
        match self.memory.key.clone() {
            Some(key) => keyed::add_or_update(self, &key, service, &workspace, caller),
            None => add(self, service, &workspace, caller),
        }
    }
}

pub(super) fn add(
    request: AddMemory,
    service: &Arc<Service>,
    workspace: &Workspace,
    caller: &Caller,
) -> Result<AddedMemory, ServiceError> {
    // Only these reach what a person may have pinned.
    let reaches_others = request.memory.supersedes.is_some() || request.memory.expires_at.is_some();
    let again = reaches_others.then(|| serde_json::to_value(&request).unwrap_or_default());
    let checked = CheckedMemory::check(request.memory, service, caller)?;
    let terms: Vec<String> =
        terms::query_terms(&checked.prepared.content.context).into_iter().map(|term| term.term).collect();
    let added = service.store.add_memory(
        workspace,
        &checked.new_memory(service.next_memory_id(), caller),
        &terms,
        SIMILAR_MAX,
        service.stamp(caller),
    );
    let (outcome, similar) =
        added.map_err(|error| caller.or_ask_person(error.into(), AddMemory::NAME, || again.unwrap_or_default()))?;
    let content = &checked.prepared.content;
    let written = content.decisions.iter().chain(&content.rationale).map(String::as_str);
    service.uses.written(written.chain([content.context.as_str()]), service.now());
    let mut answer = answer(&outcome, workspace);
    if outcome.status == Status::Pending {
        complete(service, workspace, &mut answer);
    }
    answer.similar = similar.into_iter().map(similar_answer).collect();
    if outcome.created {
        // The memory is stored: that it could not be compared is no reason to say otherwise.
        match service.update_candidates(workspace, outcome.memory, content, caller) {
            Ok(updates) => answer.updates = (!updates.is_empty()).then_some(updates),
            Err(error) => tracing::warn!(%error, "a new memory was not compared with older ones"),
        }
    }
    Ok(answer)
}

fn answer(outcome: &AddOutcome, workspace: &Workspace) -> AddedMemory {
    AddedMemory {
        memory_id: outcome.memory,
        name: outcome.name.clone(),
        created: outcome.created,
        restored: outcome.restored,
        status: outcome.status.as_str().to_owned(),
        version: outcome.version,
        chunks_created: outcome.chunks_created,
        entities_created: outcome.entities_created,
        relations_created: outcome.relations_created,
        redacted: 0,
        errors: Vec::new(),
        similar: Vec::new(),
        updates: None,
        pinned_by: outcome.pinned_by,
        quarantined: outcome.trust.is_quarantined().then_some(true),
        memory_of: memory_of(workspace),
        waiting: waits(workspace, outcome.trust, outcome.pinned_by),
    }
}

/// The memory is stored, so nothing here makes the call fail: what could not be completed stays pending, and is told.
fn complete(service: &Arc<Service>, workspace: &Workspace, answer: &mut AddedMemory) {
    match service.complete_within_wait(workspace, answer.memory_id).unwrap_or_else(Completion::failed) {
        Completion::Done(outcome) => {
            answer.status = Status::Complete.as_str().to_owned();
            answer.entities_created = outcome.entities_created;
            answer.relations_created = outcome.relations_created;
        }
        Completion::Failed(error) => answer.errors.push(error),
        Completion::Pending => {}
    }
}

fn similar_answer(memory: SimilarMemory) -> Similar {
    Similar {
        name: memory.name.unwrap_or_else(|| memory.id.to_string()),
        topic: memory.topic,
        updated_at: memory.updated_at,
    }
}

impl Operation for AddMemories {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<AddedMemories, ServiceError> {
        let workspace = service.workspace_for(caller, self.workspace_id.as_deref(), self.memory_of)?;
        if self.memories.len() > BATCH_MEMORIES_MAX {
            let count = self.memories.len();
            return Err(ServiceError::invalid(format!("`memories` has {count} items, more than {BATCH_MEMORIES_MAX}")));
        }
        let checked = check_all(self.memories, service, caller);
        let good: Vec<NewMemory<'_>> =
            checked.iter().flatten().map(|it| it.new_memory(service.next_memory_id(), caller)).collect();
        let mut outcomes = service.store.add_memories(&workspace, &good, service.stamp(caller))?.into_iter();
        let results: Vec<BatchResult> = checked
            .iter()
            .map(|checked| match checked {
                Ok(_) => match outcomes.next().expect("one outcome per good item") {
                    Ok(outcome) => BatchResult::Added(Box::new(answer(&outcome, &workspace))),
                    Err(error) => failed(&error.into()),
                },
                Err(error) => failed(error),
            })
            .collect();
        let count = |wanted: fn(&BatchResult) -> bool| results.iter().filter(|it| wanted(it)).count();
        Ok(AddedMemories {
            created: count(|it| matches!(it, BatchResult::Added(added) if added.created)),
            failed: count(|it| matches!(it, BatchResult::Failed { .. })),
            results,
        })
    }
}

/// Text processing takes a good part of an add and needs nobody else: it is spread over the cores, in order.
fn check_all(
    memories: Vec<MemoryInput>,
    service: &Service,
    caller: &Caller,
) -> Vec<Result<CheckedMemory, ServiceError>> {
    const SHARE_MIN: usize = 64;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let share = memories.len().div_ceil(cores).max(SHARE_MIN);
    let mut memories = memories.into_iter();
    std::thread::scope(|scope| {
        let mut shares = Vec::new();
        loop {
            let part: Vec<MemoryInput> = memories.by_ref().take(share).collect();
            if part.is_empty() {
                break;
            }
            shares.push(scope.spawn(move || {
                part.into_iter().map(|input| CheckedMemory::check(input, service, caller)).collect::<Vec<_>>()
            }));
        }
        shares.into_iter().flat_map(|share| share.join().expect("checking a memory does not panic")).collect()
    })
}

fn failed(error: &ServiceError) -> BatchResult {
    BatchResult::Failed { error: error.to_json()["error"].take() }
}

/// A memory that may be stored.
struct CheckedMemory {
    prepared: PreparedContent,
    slug: Option<String>,
    source: String,
    source_version: Option<i64>,
    metadata: Option<Map<String, Value>>,
    tags: Vec<String>,
    name: Option<String>,
    key: Option<String>,
    pinned: bool,
    pin_reason: Option<String>,
    expires_at: Option<Timestamp>,
    thread: ThreadNumber,
    occurred: Option<(Timestamp, Timestamp)>,
    supersedes: Vec<String>,
    restore: bool,
    trust: Trust,
}

impl CheckedMemory {
    fn check(input: MemoryInput, service: &Service, caller: &Caller) -> Result<Self, ServiceError> {
        let raw = RawContent {
            topic: input.topic,
            context: input.context,
            decisions: input.decisions.unwrap_or_default(),
            rationale: input.rationale.unwrap_or_default(),
        };
        let content = checked_content(raw)?;
        if let Some(metadata) = &input.metadata {
            check_metadata(metadata)?;
        }
        let source = input.source.unwrap_or_else(|| caller.default_source().to_owned());
        check_source(&source)?;
        check_claim(&source, caller)?;
        let is_untrusted = input.untrusted == Some(true) || service.settings.untrusted_sources.contains(&source);
        check_source_version(input.source_version)?;
        if let Some(name) = &input.name {
            check_memory_name(name).map_err(|error| ServiceError::invalid(format!("`name`: {error}")))?;
        }
        if let Some(key) = &input.key {
            check_memory_name(key).map_err(|error| ServiceError::invalid(format!("`key`: {error}")))?;
        }
        let pinned = input.pinned.unwrap_or(false);
        check_pin_reason(input.pin_reason.as_deref(), pinned)?;
        if let Some(thread) = &input.thread {
            check_short_text("thread", thread, TOPIC_CHARS_MAX)?;
        }
        let thread = match &input.thread {
            Some(name) => ThreadNumber::named(name),
            None => ThreadNumber::of_writer(&source, &caller.actor),
        };
        let occurred = occurred(input.occurred_at.as_deref(), &content.context, service.now())?;
        let slug = slug(&content.topic);
        let prepared = service.prepare(content).map_err(|error| provider_failed(&error))?;
        Ok(Self {
            prepared,
            slug,
            source,
            source_version: input.source_version,
            metadata: input.metadata,
            tags: checked_tags(&input.tags.unwrap_or_default())?,
            name: input.name,
            key: input.key,
            pinned,
            pin_reason: input.pin_reason,
            expires_at: input.expires_at.map(|it| it.at(service.now())),
            thread,
            occurred,
            supersedes: input.supersedes.unwrap_or_default(),
            restore: input.restore.unwrap_or(false),
            trust: if is_untrusted { Trust::Untrusted } else { caller.trust },
        })
    }

    fn new_memory<'a>(&'a self, id: MemoryId, caller: &'a Caller) -> NewMemory<'a> {
        NewMemory {
            id,
            prepared: &self.prepared,
            name: self.name.as_deref(),
            key: self.key.as_deref(),
            slug: self.slug.as_deref(),
            source: &self.source,
            source_version: self.source_version,
            written_by: &caller.actor,
            metadata: self.metadata.as_ref(),
            tags: &self.tags,
            expires_at: self.expires_at,
            thread: self.thread,
            occurred: self.occurred,
            is_pinned: self.pinned,
            pin_reason: self.pin_reason.as_deref(),
            pinned_by: caller.origin().pinned_by(),
            channel: caller.channel,
            trust: self.trust,
            supersedes: &self.supersedes,
            restore: self.restore,
        }
    }
}

/// What an agent was told is still the agent's word.
fn check_claim(source: &str, caller: &Caller) -> Result<(), ServiceError> {
    if source.eq_ignore_ascii_case(USER_SOURCE) && !caller.may_claim_user() {
        let trust = caller.trust.as_str();
        return Err(ServiceError::invalid(format!(
            "`source`: only people write as `{source}`, and you write as `{trust}`"
        ))
        .with_hint("leave `source` out, or use a word of your own; a person can approve the memory: `rootset trust`"));
    }
    Ok(())
}

fn check_pin_reason(reason: Option<&str>, pinned: bool) -> Result<(), ServiceError> {
    match reason {
        Some(_) if !pinned => Err(ServiceError::invalid("`pin_reason` is given without `pinned: true`")),
        Some(reason) => check_short_text("pin_reason", reason, REASON_CHARS_MAX),
        None => Ok(()),
    }
}
