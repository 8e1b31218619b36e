//! `add_memory` and `add_memories`.

use std::sync::Arc;

use rootset_model::limits::{BATCH_MEMORIES_MAX, REASON_CHARS_MAX, SIMILAR_MAX};
use rootset_model::names::check_memory_name;
use rootset_model::{MemoryId, Timestamp};
use rootset_store::{AddOutcome, NewMemory, PreparedContent, SimilarMemory, Status, Workspace};
use rootset_text::{slug, tokens};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Map, Value};
use serde_with::skip_serializing_none;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::{Effect, Operation};
use crate::request;
use crate::service::Service;
use crate::shared::{RawContent, check_short_text, check_source, checked_content, checked_metadata, checked_tags};
use crate::worker::{Completion, provider_failed};

/// Remember something worth knowing later: a fact, a decision, a preference. The same content again returns the same
/// memory; look at `similar` and give `supersedes` rather than pile up.
#[derive(Debug, JsonSchema)]
pub struct AddMemory {
    /// Workspace to add to; absent: the current one.
    workspace_id: Option<String>,
    #[schemars(flatten)]
    memory: MemoryInput,
}

/// By hand, because serde's `flatten` forgets which field was wrong.
impl<'de> Deserialize<'de> for AddMemory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Place {
            workspace_id: Option<String>,
        }
        let mut fields: Map<String, Value> = Map::deserialize(deserializer)?;
        let place: Map<String, Value> = fields.remove_entry("workspace_id").into_iter().collect();
        let place: Place = request::deserialize(Value::Object(place)).map_err(de::Error::custom)?;
        let memory = request::deserialize(Value::Object(fields)).map_err(de::Error::custom)?;
        Ok(Self { workspace_id: place.workspace_id, memory })
    }
}

/// A memory as its writer gives it.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MemoryInput {
    /// The text to remember (also accepted as `text` or `content`).
    #[serde(alias = "text", alias = "content")]
    context: String,
    /// What it is about; absent: the first line of the text.
    topic: Option<String>,
    /// Decisions that were taken.
    decisions: Option<Vec<String>>,
    /// Reasons for them.
    rationale: Option<Vec<String>>,
    /// Anything else, as a JSON object.
    metadata: Option<Map<String, Value>>,
    /// Labels to filter by.
    tags: Option<Vec<String>>,
    /// Kind of origin: `user`, `agent`, or a word of your own.
    source: Option<String>,
    /// Unique name to remember it by; absent: made from the topic.
    name: Option<String>,
    /// Never to be removed by a policy or a query.
    pinned: Option<bool>,
    /// Why it is pinned.
    pin_reason: Option<String>,
    /// When it stops being true.
    expires_at: Option<Timestamp>,
    /// Memories (ids or names) that this one replaces.
    supersedes: Option<Vec<String>>,
    /// Bring removed content back instead of refusing it.
    restore: Option<bool>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct AddedMemory {
    pub memory_id: MemoryId,
    pub name: Option<String>,
    /// False when the content was there already.
    pub created: bool,
    /// Brought back from the trash.
    pub restored: bool,
    /// `pending` until entities and vectors are there; the text is found by search at once.
    pub status: String,
    pub version: i64,
    pub chunks_created: usize,
    pub entities_created: usize,
    pub relations_created: usize,
    /// Values that looked like secrets and were not stored.
    pub redacted: usize,
    /// Why it is still pending.
    pub errors: Vec<String>,
    /// Memories that say nearly the same.
    pub similar: Vec<Similar>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Similar {
    pub name: String,
    pub topic: String,
    pub updated_at: Timestamp,
}

impl Operation for AddMemory {
    const NAME: &'static str = "add_memory";
    const EFFECT: Effect = Effect::Write;
    const IS_IDEMPOTENT: bool = true;
    const IS_OPEN_WORLD: bool = true;
    type Response = AddedMemory;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<AddedMemory, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let checked = CheckedMemory::check(self.memory, service, caller)?;
        let terms: Vec<String> =
            tokens::query_terms(&checked.prepared.content.context).into_iter().map(|term| term.term).collect();
        let (outcome, similar) = service.store.add_memory(
            &workspace,
            &checked.new_memory(service.next_memory_id(), caller),
            &terms,
            SIMILAR_MAX,
            service.stamp(caller),
        )?;
        let mut answer = answer(&outcome, checked.redacted);
        if outcome.status == Status::Pending {
            complete(service, &workspace, &mut answer)?;
        }
        answer.similar = similar.into_iter().map(Into::into).collect();
        Ok(answer)
    }
}

fn answer(outcome: &AddOutcome, redacted: usize) -> AddedMemory {
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
        redacted,
        errors: Vec::new(),
        similar: Vec::new(),
    }
}

fn complete(service: &Arc<Service>, workspace: &Workspace, answer: &mut AddedMemory) -> Result<(), ServiceError> {
    match service.complete_within_wait(workspace, answer.memory_id)? {
        Completion::Done(outcome) => {
            answer.status = Status::Complete.as_str().to_owned();
            answer.entities_created = outcome.entities_created;
            answer.relations_created = outcome.relations_created;
        }
        Completion::Failed(error) => answer.errors.push(error),
        Completion::Pending => {}
    }
    Ok(())
}

impl From<SimilarMemory> for Similar {
    fn from(memory: SimilarMemory) -> Self {
        Self {
            name: memory.name.unwrap_or_else(|| memory.id.to_string()),
            topic: memory.topic,
            updated_at: memory.updated_at,
        }
    }
}

/// Remember many things in one go; a bad item does not fail the rest.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct AddMemories {
    /// Workspace to add to; absent: the current one.
    workspace_id: Option<String>,
    /// Up to 1,000 memories, each as for `add_memory`.
    memories: Vec<MemoryInput>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct AddedMemories {
    /// One per item, in their order.
    pub results: Vec<BatchResult>,
    pub created: usize,
    pub failed: usize,
}

/// What became of one item.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum BatchResult {
    Added(Box<AddedMemory>),
    Failed {
        /// As for a single request.
        error: Value,
    },
}

impl Operation for AddMemories {
    const NAME: &'static str = "add_memories";
    const EFFECT: Effect = Effect::Write;
    const IS_IDEMPOTENT: bool = true;
    const IS_OPEN_WORLD: bool = true;
    type Response = AddedMemories;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<AddedMemories, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
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
                Ok(checked) => match outcomes.next().expect("one outcome per good item") {
                    Ok(outcome) => BatchResult::Added(Box::new(answer(&outcome, checked.redacted))),
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
    metadata: Option<Map<String, Value>>,
    tags: Vec<String>,
    redacted: usize,
    name: Option<String>,
    pinned: bool,
    pin_reason: Option<String>,
    expires_at: Option<Timestamp>,
    supersedes: Vec<String>,
    restore: bool,
}

impl CheckedMemory {
    fn check(input: MemoryInput, service: &Service, caller: &Caller) -> Result<Self, ServiceError> {
        let raw = RawContent {
            topic: input.topic,
            context: input.context,
            decisions: input.decisions.unwrap_or_default(),
            rationale: input.rationale.unwrap_or_default(),
        };
        let (content, mut redacted) = checked_content(raw)?;
        let metadata = match input.metadata {
            Some(metadata) => {
                let (clean, count) = checked_metadata(metadata)?;
                redacted += count;
                Some(clean)
            }
            None => None,
        };
        let source = input.source.unwrap_or_else(|| caller.front_end.default_source().to_owned());
        check_source(&source)?;
        if let Some(name) = &input.name {
            check_memory_name(name).map_err(|error| ServiceError::invalid(format!("`name`: {error}")))?;
        }
        let pinned = input.pinned.unwrap_or(false);
        check_pin_reason(input.pin_reason.as_deref(), pinned)?;
        let slug = slug::slug(&content.topic);
        let prepared = service.prepare(content).map_err(|error| provider_failed(&error))?;
        Ok(Self {
            prepared,
            slug,
            source,
            metadata,
            tags: checked_tags(&input.tags.unwrap_or_default())?,
            redacted,
            name: input.name,
            pinned,
            pin_reason: input.pin_reason,
            expires_at: input.expires_at,
            supersedes: input.supersedes.unwrap_or_default(),
            restore: input.restore.unwrap_or(false),
        })
    }

    fn new_memory<'a>(&'a self, id: MemoryId, caller: &'a Caller) -> NewMemory<'a> {
        NewMemory {
            id,
            prepared: &self.prepared,
            name: self.name.as_deref(),
            slug: self.slug.as_deref(),
            source: &self.source,
            written_by: &caller.actor,
            metadata: self.metadata.as_ref(),
            tags: &self.tags,
            expires_at: self.expires_at,
            is_pinned: self.pinned,
            pin_reason: self.pin_reason.as_deref(),
            supersedes: &self.supersedes,
            restore: self.restore,
        }
    }
}

fn check_pin_reason(reason: Option<&str>, pinned: bool) -> Result<(), ServiceError> {
    match reason {
        Some(_) if !pinned => Err(ServiceError::invalid("`pin_reason` is given without `pinned: true`")),
        Some(reason) => check_short_text("pin_reason", reason, REASON_CHARS_MAX),
        None => Ok(()),
    }
}
