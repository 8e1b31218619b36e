//! Pieces of requests and answers that several operations have in common: checks of fields, pages, views of plans.

use rootset_gc::Blocked;
use rootset_model::limits::{
    CONTEXT_BYTES_MAX, LIST_ITEMS_MAX, LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, METADATA_BYTES_MAX, QUERY_BYTES_MAX,
    SOURCE_CHARS_MAX, TAG_CHARS_MAX, TAGS_MAX, TOPIC_CHARS_MAX,
};
use rootset_model::names::CODE_SOURCE;
use rootset_model::plan::ItemKind;
use rootset_model::{Content, PlanId, RunId, Timestamp};
use rootset_store::{EntityView, ItemView, PlanTotals, PlanView, Receipt, Reclaimed, RelationView, RunCounts};
use rootset_text::secrets;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use serde_with::skip_serializing_none;

use crate::backups::HoldingBackup;
use crate::error::ServiceError;

/// `limit` 0 or absent is the default, more than the maximum is the maximum; negative numbers are errors.
pub fn page(offset: Option<i64>, limit: Option<i64>) -> Result<(i64, i64), ServiceError> {
    Ok((not_negative("offset", offset)?, clamped("limit", limit, LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX)?))
}

pub fn not_negative(field: &str, value: Option<i64>) -> Result<i64, ServiceError> {
    match value.unwrap_or(0) {
        negative if negative < 0 => Err(ServiceError::invalid(format!("`{field}` is {negative}, below 0"))),
        value => Ok(value),
    }
}

pub fn clamped(field: &str, value: Option<i64>, default: i64, max: i64) -> Result<i64, ServiceError> {
    match not_negative(field, value)? {
        0 => Ok(default),
        value => Ok(value.min(max)),
    }
}

pub fn check_query(query: &str) -> Result<(), ServiceError> {
    if query.len() > QUERY_BYTES_MAX {
        return Err(ServiceError::invalid(format!("`query` has {} bytes, more than {QUERY_BYTES_MAX}", query.len())));
    }
    Ok(())
}

pub fn check_source(source: &str) -> Result<(), ServiceError> {
    let is_word = |c: char| !c.is_whitespace() && !c.is_control();
    let length = source.chars().count();
    if !(1..=SOURCE_CHARS_MAX).contains(&length) || !source.chars().all(is_word) {
        return Err(ServiceError::invalid(format!("`source` must be one word of 1 to {SOURCE_CHARS_MAX} characters")));
    }
    if source == CODE_SOURCE {
        return Err(ServiceError::invalid(format!("`source`: `{CODE_SOURCE}` is reserved for indexed files")));
    }
    Ok(())
}

/// Tags trimmed, each once, in the order given.
pub fn checked_tags(tags: &[String]) -> Result<Vec<String>, ServiceError> {
    if tags.len() > TAGS_MAX {
        return Err(ServiceError::invalid(format!("`tags` has {} items, more than {TAGS_MAX}", tags.len())));
    }
    let mut checked: Vec<String> = Vec::with_capacity(tags.len());
    for tag in tags {
        let tag = tag.trim();
        if tag.is_empty() || tag.chars().count() > TAG_CHARS_MAX || tag.contains('\0') {
            return Err(ServiceError::invalid(format!("a tag must have 1 to {TAG_CHARS_MAX} characters")));
        }
        if !checked.iter().any(|it| it == tag) {
            checked.push(tag.to_owned());
        }
    }
    Ok(checked)
}

pub fn check_short_text(field: &str, text: &str, chars_max: usize) -> Result<(), ServiceError> {
    let length = text.chars().count();
    if length > chars_max {
        return Err(ServiceError::invalid(format!("`{field}` has {length} characters, more than {chars_max}")));
    }
    if text.contains('\0') {
        return Err(ServiceError::invalid(format!("`{field}` contains a NUL character")));
    }
    Ok(())
}

/// Strings inside metadata are redacted like any other text; the size counts as stored.
pub fn checked_metadata(metadata: Map<String, Value>) -> Result<(Map<String, Value>, usize), ServiceError> {
    let mut value = Value::Object(metadata);
    let mut redacted = 0;
    // Values nest as deep as the parser allows; a stack of our own keeps ours flat.
    let mut open = vec![&mut value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => {
                let clean = secrets::redact(text);
                redacted += clean.count;
                if clean.count > 0 {
                    *text = clean.text.into_owned();
                }
            }
            Value::Array(items) => open.extend(items.iter_mut()),
            Value::Object(fields) => open.extend(fields.values_mut()),
            _ => {}
        }
    }
    let bytes = serde_json::to_string(&value).map_or(usize::MAX, |json| json.len());
    if bytes > METADATA_BYTES_MAX {
        return Err(ServiceError::invalid(format!("`metadata` has {bytes} bytes, more than {METADATA_BYTES_MAX}")));
    }
    match value {
        Value::Object(fields) => Ok((fields, redacted)),
        _ => unreachable!("an object stays an object"),
    }
}

/// A content as given by a caller, not yet checked.
#[derive(Debug)]
pub struct RawContent {
    pub topic: Option<String>,
    pub context: String,
    pub decisions: Vec<String>,
    pub rationale: Vec<String>,
}

/// Trimmed, within the limits, and without secrets; with the number of values that were redacted.
pub fn checked_content(raw: RawContent) -> Result<(Content, usize), ServiceError> {
    let mut redacted = 0;
    let mut clean = |field: &str, text: &str| -> Result<String, ServiceError> {
        if text.contains('\0') {
            return Err(ServiceError::invalid(format!("`{field}` contains a NUL character")));
        }
        let clean = secrets::redact(text);
        redacted += clean.count;
        Ok(clean.text.into_owned())
    };
    let context = raw.context.trim();
    if context.is_empty() {
        return Err(ServiceError::invalid("`context` is blank"));
    }
    let list_bytes = |items: &[String]| items.iter().map(String::len).sum::<usize>();
    let bytes = context.len() + list_bytes(&raw.decisions) + list_bytes(&raw.rationale);
    if bytes > CONTEXT_BYTES_MAX {
        return Err(ServiceError::invalid(format!(
            "`context` with decisions and rationale has {bytes} bytes, more than {CONTEXT_BYTES_MAX}"
        )));
    }
    let context = clean("context", context)?;
    let topic = match raw.topic.as_deref().map(str::trim) {
        Some("") => return Err(ServiceError::invalid("`topic` is blank; leave it out to use the first line")),
        Some(topic) => {
            check_short_text("topic", topic, TOPIC_CHARS_MAX)?;
            clean("topic", topic)?
        }
        None => {
            let line = context.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or(&context);
            line.chars().take(TOPIC_CHARS_MAX).collect::<String>().trim().to_owned()
        }
    };
    let mut list = |field: &str, items: Vec<String>| -> Result<Vec<String>, ServiceError> {
        if items.len() > LIST_ITEMS_MAX {
            return Err(ServiceError::invalid(format!(
                "`{field}` has {} items, more than {LIST_ITEMS_MAX}",
                items.len()
            )));
        }
        items.iter().map(|item| clean(field, item)).collect()
    };
    let decisions = list("decisions", raw.decisions)?;
    let rationale = list("rationale", raw.rationale)?;
    Ok((Content { topic, context, decisions, rationale }, redacted))
}

pub fn parse_plan_id(text: &str) -> Result<PlanId, ServiceError> {
    text.parse().map_err(|_| ServiceError::invalid(format!("`plan_id`: `{}` is not an id", shown(text))))
}

pub fn parse_run_id(text: &str) -> Result<RunId, ServiceError> {
    text.parse().map_err(|_| ServiceError::invalid(format!("`run_id`: `{}` is not an id", shown(text))))
}

fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}

/// What a run took, by kind.
#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct Trashed {
    pub memories: i64,
    pub chunks: i64,
    /// Entities that lost their last contributor.
    pub entities: i64,
    /// Relations that lost their last contributor.
    pub relations: i64,
    /// Earlier revisions, where the run took any.
    pub revisions: Option<i64>,
    /// Context segments, where the run took any.
    pub segments: Option<i64>,
    /// Whole context sessions, where the run took any.
    pub sessions: Option<i64>,
}

impl From<RunCounts> for Trashed {
    fn from(counts: RunCounts) -> Self {
        Self {
            memories: counts.memories,
            chunks: counts.chunks,
            entities: counts.entities,
            relations: counts.relations,
            revisions: (counts.revisions > 0).then_some(counts.revisions),
            segments: (counts.segments > 0).then_some(counts.segments),
            sessions: (counts.sessions > 0).then_some(counts.sessions),
        }
    }
}

/// Derived rows that nothing vouched for, by kind.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReclaimedAnswer {
    pub chunks: i64,
    pub entities: i64,
    pub relations: i64,
}

impl ReclaimedAnswer {
    /// `None` where there was nothing to reclaim.
    pub fn of(reclaimed: Reclaimed) -> Option<Self> {
        let Reclaimed { chunks, entities, relations } = reclaimed;
        (!reclaimed.is_nothing()).then_some(Self { chunks, entities, relations })
    }
}

/// A plan to review.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanAnswer {
    pub plan_id: PlanId,
    /// Fingerprint of the items.
    pub digest: String,
    /// Until when the plan can be applied.
    pub expires_at: Timestamp,
    pub totals: Totals,
    /// Memories in the plan as a share of the workspace's.
    pub fraction: f64,
    /// Items newest first.
    pub items: Vec<PlanItemAnswer>,
    /// How many items there are; `get_plan` pages through them.
    pub items_total: i64,
    /// Applying removes for good.
    pub purge: bool,
    /// Limits that would refuse the apply.
    pub blocked: Vec<Blocked>,
}

/// What would go.
#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct Totals {
    pub memories: i64,
    pub chunks: i64,
    pub entities: i64,
    pub relations: i64,
    pub bytes: i64,
    pub revisions: Option<i64>,
    pub segments: Option<i64>,
    pub sessions: Option<i64>,
    /// Rows that nothing vouches for, removed physically.
    pub reclaim: Option<ReclaimedAnswer>,
}

impl From<PlanTotals> for Totals {
    fn from(totals: PlanTotals) -> Self {
        Self {
            memories: totals.memories,
            chunks: totals.chunks,
            entities: totals.entities,
            relations: totals.relations,
            bytes: totals.bytes,
            revisions: (totals.revisions > 0).then_some(totals.revisions),
            segments: (totals.segments > 0).then_some(totals.segments),
            sessions: (totals.sessions > 0).then_some(totals.sessions),
            reclaim: ReclaimedAnswer::of(totals.reclaim),
        }
    }
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanItemAnswer {
    pub kind: ItemKind,
    /// A revision's id is its memory's, `@` and its number.
    pub id: String,
    /// Of a segment its segment_id, of a session its session_id.
    pub name: Option<String>,
    /// The topic of a memory, the type of an entity, the session_id of a segment.
    pub topic: Option<String>,
    pub file_path: Option<String>,
    pub created_at: Option<Timestamp>,
    /// Of an indexed file.
    pub lines: Option<i64>,
    pub chunk_count: Option<i64>,
    /// `trash`, `erase`, `reclaim` or `stash`.
    pub action: String,
    /// Why, in words.
    pub reason: String,
}

impl From<ItemView> for PlanItemAnswer {
    fn from(view: ItemView) -> Self {
        Self {
            kind: view.item.kind,
            id: view.id,
            name: view.name,
            topic: view.topic,
            file_path: view.file_path,
            created_at: view.created_at,
            lines: view.lines,
            chunk_count: view.chunk_count,
            action: view.item.action.as_str().to_owned(),
            reason: view.item.reason.in_words().to_owned(),
        }
    }
}

impl From<PlanView> for PlanAnswer {
    fn from(view: PlanView) -> Self {
        Self {
            plan_id: view.id,
            digest: hex(&view.digest),
            expires_at: view.expires_at,
            totals: view.totals.into(),
            fraction: view.fraction,
            items: view.items.into_iter().map(Into::into).collect(),
            items_total: view.items_total,
            purge: view.erases,
            blocked: view.blocked,
        }
    }
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Proof of an erasure.
#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReceiptAnswer {
    pub erasure_id: String,
    /// Rows removed, by kind.
    pub rows: std::collections::BTreeMap<String, i64>,
    /// `clean`, `found` when a piece of the text is still in the files (another memory may hold the same words), or
    /// `not_run`.
    pub byte_scan: String,
    /// Backups from before, which may still hold it, and when they may go.
    pub backups: Vec<HoldingBackup>,
    /// On a server: what may still hold it beyond our reach, and until when.
    pub left_to_operator: Option<Vec<String>>,
}

/// Where PostgreSQL keeps what was removed.
const LEFT_TO_OPERATOR: [&str; 3] = [
    "dead tuples of the tables, until VACUUM has passed and their pages are used again",
    "the write-ahead log with its archives and replicas, until they are recycled or expire",
    "dumps and copies of the server that were made before",
];

impl ReceiptAnswer {
    pub fn new(receipt: &Receipt, backups: Vec<HoldingBackup>, has_file: bool) -> Self {
        Self {
            erasure_id: receipt.erasure.to_string(),
            rows: purged_rows(receipt),
            byte_scan: match receipt.text_remains {
                Some(false) => "clean",
                Some(true) => "found",
                None => "not_run",
            }
            .to_owned(),
            backups,
            left_to_operator: (!has_file).then(|| LEFT_TO_OPERATOR.map(str::to_owned).to_vec()),
        }
    }
}

/// Rows by kind, zeroes left out.
pub fn purged_rows(receipt: &Receipt) -> std::collections::BTreeMap<String, i64> {
    let rows = receipt.rows;
    [
        ("memories", rows.memories),
        ("revisions", rows.revisions),
        ("chunks", rows.chunks),
        ("entities", rows.entities),
        ("relations", rows.relations),
        ("untracked", rows.untracked),
        ("segments", rows.segments),
        ("sessions", rows.sessions),
        ("workspaces", rows.workspaces),
    ]
    .into_iter()
    .filter(|(kind, count)| *count > 0 || *kind == "memories")
    .map(|(kind, count)| (kind.to_owned(), count))
    .collect()
}

/// An entity as answered.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EntityAnswer {
    pub entity_id: String,
    pub name: String,
    #[serde(rename = "type")]
    pub entity_type: String,
    /// Built from the contributions of current memories.
    pub description: String,
    /// `derived` or `untracked`.
    pub origin: String,
    /// Living memories that contribute.
    pub refcount: i64,
    /// Newest update first; empty for untracked ones that no memory mentions.
    pub memory_ids: Vec<rootset_model::MemoryId>,
}

impl From<EntityView> for EntityAnswer {
    fn from(view: EntityView) -> Self {
        Self {
            entity_id: view.id.to_string(),
            name: view.name,
            entity_type: view.entity_type,
            description: view.description,
            origin: origin(view.is_untracked).to_owned(),
            refcount: view.refcount,
            memory_ids: view.memories.into_iter().map(|it| it.memory).collect(),
        }
    }
}

pub fn origin(is_untracked: bool) -> &'static str {
    if is_untracked { "untracked" } else { "derived" }
}

/// A relation as answered, with the names of its ends.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RelationAnswer {
    pub relation_id: String,
    pub source: String,
    pub source_id: String,
    pub relation: String,
    pub target: String,
    pub target_id: String,
    /// `derived` or `untracked`.
    pub origin: String,
}

impl RelationAnswer {
    /// `name_of` answers the name of an end; its id stands in where the name is not at hand.
    pub fn of(view: &RelationView, name_of: impl Fn(rootset_model::EntityId) -> Option<String>) -> Self {
        let name = |id: rootset_model::EntityId| name_of(id).unwrap_or_else(|| id.to_string());
        Self {
            relation_id: view.id.to_string(),
            source: name(view.source),
            source_id: view.source.to_string(),
            relation: view.relation.clone(),
            target: name(view.target),
            target_id: view.target.to_string(),
            origin: origin(view.is_untracked).to_owned(),
        }
    }
}
