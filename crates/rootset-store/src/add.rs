//! Adding memories. All checks come before the first write, so that one bad item of a batch leaves nothing behind.

use rootset_model::limits::{METADATA_BYTES_MAX, TAGS_MAX};
use rootset_model::{MemoryId, Timestamp, WorkspaceKey};

use crate::driver::{SearchIndex, SearchRow, Transaction};
use crate::error::StoreError;
use crate::memories::{self, MemoryRow, Status, stored_list};
use crate::search::{self, SimilarMemory};
use crate::statements::memories as sql;
use crate::workspaces::{self, Draw};
use crate::{PreparedContent, Stamp, Store, Workspace, erasure, graph, jobs, supersede, undo, vectors};

/// A memory to be stored, checked and prepared by the caller.
#[derive(Clone, Debug)]
pub struct NewMemory<'a> {
    pub id: MemoryId,
    pub prepared: &'a PreparedContent,
    /// The name the caller chose.
    pub name: Option<&'a str>,
    /// What a generated name begins with, if the topic leaves anything to begin with.
    pub slug: Option<&'a str>,
    pub source: &'a str,
    pub written_by: &'a str,
    /// JSON object.
    pub metadata: Option<&'a serde_json::Map<String, serde_json::Value>>,
    pub tags: &'a [String],
    pub expires_at: Option<Timestamp>,
    pub is_pinned: bool,
    pub pin_reason: Option<&'a str>,
    /// Ids or names of memories that this one replaces.
    pub supersedes: &'a [String],
    /// Bring removed content back rather than refuse it.
    pub restore: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddOutcome {
    pub memory: MemoryId,
    pub name: Option<String>,
    pub created: bool,
    pub restored: bool,
    pub status: Status,
    pub version: i64,
    pub chunks_created: usize,
    pub entities_created: usize,
    pub relations_created: usize,
}

/// Removals that only the caller may take back: what somebody removed does not come back by itself.
const REMOVED_BY_SOMEBODY: [&str; 2] = ["delete_memory", "forget"];

impl Store {
    /// Adds one memory and answers what was there before that says nearly the same as `terms`, at most `similar_max`.
    ///
    /// Both in one transaction: a reader's page cache is cold after every commit of a writer, the writer's own is warm.
    pub fn add_memory(
        &self,
        workspace: &Workspace,
        new: &NewMemory<'_>,
        terms: &[String],
        similar_max: usize,
        stamp: Stamp<'_>,
    ) -> Result<(AddOutcome, Vec<SimilarMemory>), StoreError> {
        self.write(workspace, |tx| {
            let similar = search::similar(tx, workspace.key, terms, similar_max, stamp.now)?;
            let outcome = add_one(tx, workspace.key, new, stamp)?;
            let is_new = outcome.created;
            Ok((outcome, if is_new { similar } else { Vec::new() }))
        })
    }

    /// One transaction for all; an item that is refused does not fail the rest.
    pub fn add_memories(
        &self,
        workspace: &Workspace,
        batch: &[NewMemory<'_>],
        stamp: Stamp<'_>,
    ) -> Result<Vec<Result<AddOutcome, StoreError>>, StoreError> {
        self.write(workspace, |tx| {
            let mut outcomes = Vec::with_capacity(batch.len());
            for new in batch {
                match add_one(tx, workspace.key, new, stamp) {
                    // A failing engine fails the batch: nothing of it can be trusted.
                    Err(error) if !is_refusal(&error) => return Err(error),
                    outcome => outcomes.push(outcome),
                }
            }
            Ok(outcomes)
        })
    }
}

/// Errors that were found by looking, before anything was written.
fn is_refusal(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::ContentRemoved { .. }
            | StoreError::NameTaken { .. }
            | StoreError::MemoryNotFound { .. }
            | StoreError::QuotaExceeded { .. }
            | StoreError::Pinned { .. }
            | StoreError::SupersedeCycle
            | StoreError::MergedTooLarge { .. }
    )
}

fn add_one(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    new: &NewMemory<'_>,
    stamp: Stamp<'_>,
) -> Result<AddOutcome, StoreError> {
    let superseded = supersede::find_all(tx, workspace, new.supersedes)?;
    let key = [workspace.into(), (&new.prepared.doc_hash).into()];
    let existing = tx.row(&sql::LIVE_WITH_CONTENT, &key, |row| row.get::<MemoryId>(0))?;
    let removed = if existing.is_none() { find_removed(tx, workspace, new)? } else { None };
    let outcome = match existing.or(removed) {
        Some(id) => {
            for predecessor in superseded.iter().filter(|it| it.id != id) {
                supersede::refuse_cycle(tx, workspace, predecessor.id, id)?;
            }
            add_again(tx, workspace, id, new, removed.is_some(), stamp)?
        }
        None => insert(tx, workspace, new, stamp)?,
    };
    for predecessor in superseded.iter().filter(|it| it.id != outcome.memory) {
        supersede::link(tx, workspace, predecessor, outcome.memory, None, stamp.now)?;
    }
    Ok(outcome)
}

/// The trashed memory that this content brings back; `ContentRemoved` when it must not.
fn find_removed(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    new: &NewMemory<'_>,
) -> Result<Option<MemoryId>, StoreError> {
    let key = [workspace.into(), (&new.prepared.doc_hash).into()];
    let trashed = tx.row(&sql::TRASHED_WITH_CONTENT, &key, |row| {
        Ok((row.get::<MemoryId>(0)?, row.get::<Timestamp>(2)?, row.get::<Option<String>>(3)?))
    })?;
    if let Some((memory, at, operation)) = trashed {
        let by_somebody = operation.is_none_or(|it| REMOVED_BY_SOMEBODY.contains(&it.as_str()));
        return if by_somebody && !new.restore {
            Err(StoreError::ContentRemoved { memory, at, erased: false })
        } else {
            Ok(Some(memory))
        };
    }
    if !new.restore
        && let Some((memory, at)) = erasure::find(tx, workspace, &new.prepared.doc_hash)?
    {
        return Err(StoreError::ContentRemoved { memory, at, erased: true });
    }
    Ok(None)
}

/// The same content once more: what came with it is merged in, never dropped.
fn add_again(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    id: MemoryId,
    new: &NewMemory<'_>,
    restored: bool,
    stamp: Stamp<'_>,
) -> Result<AddOutcome, StoreError> {
    let mut row = memories::by_id(tx, workspace, id)?.ok_or(StoreError::MissingRow { statement: sql::BY_ID.name })?;
    let before = (row.metadata.clone(), row.tags.clone(), row.is_pinned, row.expires_at);
    if let Some(given) = new.metadata.filter(|it| !it.is_empty()) {
        row.metadata = Some(merged_metadata(row.metadata.as_deref(), given)?);
    }
    for tag in new.tags {
        if !row.tags.contains(tag) {
            row.tags.push(tag.clone());
        }
    }
    if new.is_pinned && !row.is_pinned {
        row.is_pinned = true;
        row.pin_reason = new.pin_reason.map(str::to_owned);
    }
    match new.expires_at {
        Some(given) => row.expires_at = Some(given),
        None if restored && row.expires_at.is_some_and(|at| at <= stamp.now) => row.expires_at = None,
        None => {}
    }
    refuse_too_large("metadata", "bytes", row.metadata.as_ref().map_or(0, String::len), METADATA_BYTES_MAX)?;
    refuse_too_large("tags", "items", row.tags.len(), TAGS_MAX)?;
    if restored {
        undo::restore_one(tx, workspace, id, "add_memory", stamp)?;
    }
    if before != (row.metadata.clone(), row.tags.clone(), row.is_pinned, row.expires_at) {
        row.version += 1;
        row.updated_at = stamp.now;
        write_attributes(tx, workspace, &row)?;
        workspaces::touch(tx, workspace, 0, 0, stamp.now)?;
    }
    if row.status == Status::Pending {
        jobs::enqueue_completion(tx, workspace, id, false, stamp.now)?;
    }
    Ok(AddOutcome {
        memory: id,
        name: row.name,
        created: false,
        restored,
        status: row.status,
        version: row.version,
        chunks_created: 0,
        entities_created: 0,
        relations_created: 0,
    })
}

fn merged_metadata(
    stored: Option<&str>,
    given: &serde_json::Map<String, serde_json::Value>,
) -> Result<String, StoreError> {
    let mut merged: serde_json::Map<String, serde_json::Value> = match stored {
        Some(json) => serde_json::from_str(json).map_err(|_| StoreError::UnreadableValue("metadata"))?,
        None => serde_json::Map::new(),
    };
    merged.extend(given.iter().map(|(key, value)| (key.clone(), value.clone())));
    Ok(serde_json::to_string(&merged).expect("JSON values always serialise"))
}

fn refuse_too_large(field: &'static str, unit: &'static str, found: usize, limit: usize) -> Result<(), StoreError> {
    if found > limit { Err(StoreError::MergedTooLarge { field, unit, found, limit }) } else { Ok(()) }
}

/// Writes name, metadata, tags, pin, expiry, `updated_at` and version as they stand in `row`.
pub(crate) fn write_attributes(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    row: &MemoryRow,
) -> Result<(), StoreError> {
    let tags = stored_list(&row.tags);
    tx.execute(
        &sql::SET_ATTRIBUTES,
        &[
            workspace.into(),
            (&row.id).into(),
            row.name.as_ref().into(),
            row.metadata.as_ref().into(),
            tags.as_ref().into(),
            row.is_pinned.into(),
            row.pin_reason.as_ref().into(),
            row.expires_at.into(),
            row.updated_at.into(),
            row.version.into(),
        ],
    )?;
    tx.execute(&sql::DELETE_TAGS, &[workspace.into(), (&[row.id.0][..]).into()])?;
    insert_tags(tx, workspace, row.id, &row.tags)
}

fn insert_tags(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    tags: &[String],
) -> Result<(), StoreError> {
    let rows: Vec<_> = tags.iter().map(|tag| vec![workspace.into(), tag.into(), (&memory).into()]).collect();
    if !rows.is_empty() {
        tx.execute_many(&sql::INSERT_TAG, &rows)?;
    }
    Ok(())
}

fn insert(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    new: &NewMemory<'_>,
    stamp: Stamp<'_>,
) -> Result<AddOutcome, StoreError> {
    let prepared = new.prepared;
    let name = match new.name {
        Some(given) => {
            refuse_taken_name(tx, workspace, given)?;
            given.to_owned()
        }
        None => free_name(tx, workspace, new)?,
    };
    let entities = prepared.derived.as_ref().map_or(0, |it| it.extraction.entities.len());
    let bytes = prepared.content.byte_len() as i64;
    let draw = Draw { numbers: 1 + entities, chunks: prepared.chunks.len(), memories: 1, bytes };
    let drawn = workspaces::draw(tx, workspace, draw, stamp.now)?;
    let status = if prepared.derived.is_some() { Status::Complete } else { Status::Pending };
    let metadata = new.metadata.filter(|it| !it.is_empty());
    let metadata = metadata.map(|it| serde_json::to_string(it).expect("JSON values always serialise"));
    let tags = stored_list(new.tags);
    tx.execute(
        &sql::INSERT,
        &[
            workspace.into(),
            (&new.id).into(),
            drawn.first_number.into(),
            (&name).into(),
            new.source.into(),
            new.written_by.into(),
            status.as_str().into(),
            (&prepared.doc_hash).into(),
            metadata.as_ref().into(),
            tags.as_ref().into(),
            stamp.now.into(),
            new.expires_at.into(),
            new.is_pinned.into(),
            new.pin_reason.into(),
        ],
    )?;
    tx.execute(&sql::COUNT_SOURCE, &[workspace.into(), new.source.into(), 1.into()])?;
    insert_tags(tx, workspace, new.id, new.tags)?;
    insert_revision(tx, workspace, new.id, 1, prepared, stamp.now)?;
    insert_chunks(tx, workspace, new.id, prepared, drawn.first_chunk)?;
    let created = match &prepared.derived {
        Some(derived) => {
            vectors::insert(tx, workspace, drawn.first_chunk, derived, stamp.now)?;
            let before = std::collections::HashMap::new();
            graph::contribute(tx, workspace, new.id, 1, derived, drawn.first_number + 1, &before, stamp.now)?
        }
        None => {
            jobs::enqueue_completion(tx, workspace, new.id, false, stamp.now)?;
            graph::Created::default()
        }
    };
    Ok(AddOutcome {
        memory: new.id,
        name: Some(name),
        created: true,
        restored: false,
        status,
        version: 1,
        chunks_created: prepared.chunks.len(),
        entities_created: created.entities,
        relations_created: created.relations,
    })
}

pub(crate) fn insert_revision(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    revision: i64,
    prepared: &PreparedContent,
    now: Timestamp,
) -> Result<(), StoreError> {
    let content = &prepared.content;
    let json = |items: &[String]| serde_json::to_string(items).expect("strings always serialise");
    let (decisions, rationale) = (json(&content.decisions), json(&content.rationale));
    tx.execute(
        &sql::INSERT_REVISION,
        &[
            workspace.into(),
            (&memory).into(),
            revision.into(),
            (&content.topic).into(),
            (&content.context).into(),
            (&decisions).into(),
            (&rationale).into(),
            (content.byte_len() as i64).into(),
            now.into(),
            (&prepared.extractor_id).into(),
            prepared.extractor_version.into(),
        ],
    )?;
    Ok(())
}

/// Chunks and their search rows: from here on the text is found.
pub(crate) fn insert_chunks(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    prepared: &PreparedContent,
    first_chunk: i64,
) -> Result<(), StoreError> {
    let numbered = || (first_chunk..).zip(&prepared.chunks);
    let rows: Vec<_> = numbered()
        .enumerate()
        .map(|(ordinal, (key, chunk))| {
            vec![
                workspace.into(),
                key.into(),
                (&memory).into(),
                (ordinal as i64).into(),
                chunk.part.stored().into(),
                (chunk.start as i64).into(),
                (chunk.length as i64).into(),
                chunk.is_question.into(),
            ]
        })
        .collect();
    tx.execute_many(&sql::INSERT_CHUNK, &rows)?;
    let search_rows: Vec<SearchRow> = numbered()
        .map(|(key, chunk)| SearchRow { key, head: chunk.head_terms.clone(), body: chunk.body_terms.clone() })
        .collect();
    tx.search_insert(workspace, SearchIndex::Memories, search_rows)
}

pub(crate) fn refuse_taken_name(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    name: &str,
) -> Result<(), StoreError> {
    let taken = tx.row(&sql::BY_NAME, &[workspace.into(), name.into()], MemoryRow::read)?;
    match taken {
        Some(row) => Err(StoreError::NameTaken { name: name.to_owned(), by: row.id }),
        None => Ok(()),
    }
}

/// The slug, or the slug with a number that neither a living nor a trashed memory has.
///
/// Numbers are found by doubling and halving, not by counting up: a thousand notes under one topic must not make the
/// next one cost a thousand look-ups.
fn free_name(tx: &mut dyn Transaction, workspace: WorkspaceKey, new: &NewMemory<'_>) -> Result<String, StoreError> {
    let Some(slug) = new.slug else {
        return Ok(format!("memory-{}", new.id.0[8..].iter().map(|byte| format!("{byte:02x}")).collect::<String>()));
    };
    let mut is_taken = |name: &str| tx.scalar::<bool>(&sql::NAME_IS_TAKEN, &[workspace.into(), name.into()]);
    if !is_taken(slug)? {
        return Ok(slug.to_owned());
    }
    let numbered = |number: u64| format!("{slug}-{number}");
    let (mut taken, mut free) = (1, 2);
    while is_taken(&numbered(free))? {
        taken = free;
        free *= 2;
    }
    while free - taken > 1 {
        let middle = taken + (free - taken) / 2;
        if is_taken(&numbered(middle))? { taken = middle } else { free = middle }
    }
    Ok(numbered(free))
}
