//! Adding memories. All checks come before the first write, so that one bad item of a batch leaves nothing behind.

mod insert;
pub(crate) mod names;
mod places;
mod plain;

use rootset_model::limits::{METADATA_BYTES_MAX, TAGS_MAX};
use rootset_model::{Channel, MemoryId, PinnedBy, Timestamp, Trust, WorkspaceKey};

use crate::driver::Transaction;
use crate::erasure::Class;
use crate::error::StoreError;
use crate::memories::{self, MemoryRow, Status, stored_list};
use crate::other_names::{self, OtherName};
use crate::purge::REMOVED_AGAIN;
use crate::seals::{Seal, seal};
use crate::search::{self, SimilarMemory};
use crate::statements::memories as sql;
use crate::workspaces;
use crate::{PreparedContent, Stamp, Store, Workspace, erasure, jobs, supersede, undo};
use insert::{Named, insert_all, insert_tags};
pub(crate) use insert::{NewRevision, insert_chunks, insert_revisions};
pub use places::ThreadNumber;

/// A memory to be stored, checked and prepared by the caller.
#[derive(Clone, Debug)]
pub struct NewMemory<'a> {
    pub id: MemoryId,
    pub prepared: &'a PreparedContent,
    /// The name the caller chose.
    pub name: Option<&'a str>,
    /// What its writer finds it by.
    pub key: Option<&'a str>,
    /// What a generated name begins with, if the topic leaves anything to begin with.
    pub slug: Option<&'a str>,
    pub source: &'a str,
    pub source_version: Option<i64>,
    pub written_by: &'a str,
    /// JSON object.
    pub metadata: Option<&'a serde_json::Map<String, serde_json::Value>>,
    pub tags: &'a [String],
    pub expires_at: Option<Timestamp>,
    pub thread: ThreadNumber,
    /// The first and the last moment of what it tells of.
    pub occurred: Option<(Timestamp, Timestamp)>,
    pub is_pinned: bool,
    pub pin_reason: Option<&'a str>,
    /// Whose pin it would be.
    pub pinned_by: PinnedBy,
    pub channel: Channel,
    pub trust: Trust,
    /// Ids or names of memories that this one replaces.
    pub supersedes: &'a [String],
    /// Bring removed content back rather than refuse it.
    pub restore: bool,
}

impl NewMemory<'_> {
    pub(crate) fn stored_metadata(&self) -> Option<String> {
        let metadata = self.metadata.filter(|it| !it.is_empty())?;
        Some(serde_json::to_string(metadata).expect("JSON values always serialise"))
    }

    /// What it counts against a quota.
    pub(crate) fn bytes(&self) -> i64 {
        let (metadata, tags) = (self.stored_metadata(), memories::stored_list(self.tags));
        self.prepared.content.byte_len() as i64
            + memories::attribute_bytes(metadata.as_deref(), tags.as_deref(), self.pin_reason)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddOutcome {
    pub memory: MemoryId,
    pub name: Option<String>,
    pub created: bool,
    pub restored: bool,
    pub status: Status,
    pub version: i64,
    pub trust: Trust,
    pub pinned_by: Option<PinnedBy>,
    pub chunks_created: usize,
    pub entities_created: usize,
    pub relations_created: usize,
}

/// Removals that only the caller may take back: what somebody removed does not come back by itself.
const REMOVED_BY_SOMEBODY: [&str; 3] = ["delete_memory", "forget", REMOVED_AGAIN];

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
            while outcomes.len() < batch.len() {
                let rest = &batch[outcomes.len()..];
                let (plain, others) = plain::leading(tx, workspace.key, rest)?;
                outcomes.extend(insert_all(tx, workspace.key, &plain, stamp)?.into_iter().map(Ok));
                for new in &rest[plain.len()..plain.len() + others] {
                    match add_one(tx, workspace.key, new, stamp) {
                        // A failing engine fails the batch: nothing of it can be trusted.
                        Err(error) if !is_refusal(&error) => return Err(error),
                        outcome => outcomes.push(outcome),
                    }
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
            | StoreError::KeyTaken { .. }
            | StoreError::AmbiguousId(_)
            | StoreError::MemoryNotFound { .. }
            | StoreError::QuotaExceeded { .. }
            | StoreError::Pinned { .. }
            | StoreError::PinnedByPerson { .. }
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
    superseded.iter().try_for_each(|row| refuse_persons_pin(row, stamp))?;
    if let Some(key) = new.key
        && let Some(row) = other_names::led_to(tx, workspace, OtherName::Key, key)?
    {
        return Err(StoreError::KeyTaken { key: key.to_owned(), by: row.id });
    }
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
        supersede::link(tx, workspace, predecessor, outcome.memory, None, stamp)?;
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
        && let Some(noted) = erasure::find(tx, workspace, &new.prepared.doc_hash)?
    {
        let erased = noted.class == Class::Erased;
        return Err(StoreError::ContentRemoved { memory: noted.memory, at: noted.at, erased });
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
    let attributes = |row: &MemoryRow| {
        let pin = (row.is_pinned, row.pinned_by);
        (row.metadata.clone(), row.tags.clone(), pin, row.expires_at, row.source_version, row.trust)
    };
    let (before, bytes_before) = (attributes(&row), row.attribute_bytes());
    if let Some(given) = new.metadata.filter(|it| !it.is_empty()) {
        row.metadata = Some(merged_metadata(row.metadata.as_deref(), given)?);
    }
    for tag in new.tags {
        if !row.tags.contains(tag) {
            row.tags.push(tag.clone());
        }
    }
    if new.is_pinned && pin(&mut row, new.pinned_by, new.written_by) {
        row.pin_reason = new.pin_reason.map(str::to_owned);
    }
    // A person says the very same. An agent that repeats it does not lift a quarantine, and takes nothing from a person.
    if new.trust == Trust::Person {
        row.trust = Trust::Person;
    }
    if new.expires_at.is_some() {
        refuse_persons_pin(&row, stamp)?;
    }
    match new.expires_at {
        Some(given) => row.expires_at = Some(given),
        None if restored && row.expires_at.is_some_and(|at| at <= stamp.now) => row.expires_at = None,
        None => {}
    }
    // Its source still says so in that version: it must not look older than it is. A version of another source is none of
    // its own, and would make everything else of its source look old.
    if row.source == new.source {
        row.source_version = row.source_version.max(new.source_version);
    }
    refuse_too_large("metadata", "bytes", row.metadata.as_ref().map_or(0, String::len), METADATA_BYTES_MAX)?;
    refuse_too_large("tags", "items", row.tags.len(), TAGS_MAX)?;
    if restored {
        undo::restore_one(tx, workspace, id, "add_memory", stamp)?;
    }
    if before != attributes(&row) {
        row.version += 1;
        row.updated_at = stamp.now;
        write_attributes(tx, workspace, &row)?;
        workspaces::count_bytes(tx, workspace, row.attribute_bytes() - bytes_before, stamp.now)?;
    }
    if row.status == Status::Pending {
        jobs::enqueue_completion(tx, workspace, id, false, stamp.now)?;
    }
    if let Some(key) = new.key {
        other_names::insert_all(tx, workspace, &[(id, OtherName::Key, key)])?;
    }
    Ok(AddOutcome {
        memory: id,
        name: row.name,
        created: false,
        restored,
        status: row.status,
        version: row.version,
        trust: row.trust,
        pinned_by: row.pinned_by,
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

/// The seal of a memory as its row says.
pub(crate) fn seal_of(row: &MemoryRow) -> Seal {
    let tags = stored_list(&row.tags);
    seal(&[
        (&row.id).into(),
        row.sequence.into(),
        row.name.as_ref().into(),
        (&row.source).into(),
        row.repo.as_ref().into(),
        (&row.written_by).into(),
        row.metadata.as_ref().into(),
        tags.as_ref().into(),
        row.is_pinned.into(),
        row.pin_reason.as_ref().into(),
    ])
}

/// Pins a memory; answers whether the pin is new or another's. An agent's pin never takes the place of a person's.
pub(crate) fn pin(row: &mut MemoryRow, by: PinnedBy, actor: &str) -> bool {
    if row.is_pinned && (row.pinned_by == Some(by) || by == PinnedBy::Agent) {
        return false;
    }
    row.is_pinned = true;
    row.pinned_by = Some(by);
    row.pinned_actor = Some(actor.to_owned());
    true
}

/// What a person pinned is changed or replaced only by a person, or with one's consent.
pub(crate) fn refuse_persons_pin(row: &MemoryRow, stamp: Stamp<'_>) -> Result<(), StoreError> {
    let is_persons = row.is_pinned && row.pinned_by == Some(PinnedBy::Person);
    match stamp.origin {
        Some(origin) if is_persons && !origin.acts_for_person() => {
            Err(StoreError::PinnedByPerson { memory: row.id, name: row.name.clone() })
        }
        _ => Ok(()),
    }
}

/// Writes name, metadata, tags, source version, pin, trust, expiry, `updated_at` and version as they stand in `row`.
pub(crate) fn write_attributes(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    row: &MemoryRow,
) -> Result<(), StoreError> {
    let tags = stored_list(&row.tags);
    let seal = seal_of(row);
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
            (&seal).into(),
            row.source_version.into(),
            row.trust.into(),
            row.pinned_by.into(),
            row.pinned_actor.as_ref().into(),
        ],
    )?;
    tx.execute(&sql::DELETE_TAGS, &[workspace.into(), (&[row.id.0][..]).into()])?;
    insert_tags(tx, workspace, &[(row.id, &row.tags)])
}

/// A memory that nothing like it is known of, under a name that is free for it or refused.
fn insert(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    new: &NewMemory<'_>,
    stamp: Stamp<'_>,
) -> Result<AddOutcome, StoreError> {
    let name = match new.name {
        Some(given) => {
            refuse_taken_name(tx, workspace, given, new.id)?;
            given.to_owned()
        }
        None => names::free(tx, workspace, new.id, new.slug)?,
    };
    let mut outcomes = insert_all(tx, workspace, &[Named { new, name }], stamp)?;
    outcomes.pop().ok_or(StoreError::MissingRow { statement: sql::INSERT.name })
}

/// A name that another living memory has, or had.
pub(crate) fn refuse_taken_name(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    name: &str,
    memory: MemoryId,
) -> Result<(), StoreError> {
    let mut taken = tx.row(&sql::BY_NAME, &[workspace.into(), name.into()], MemoryRow::read)?;
    if taken.is_none() {
        taken = other_names::led_to(tx, workspace, OtherName::Alias, name)?;
    }
    match taken {
        Some(row) if row.id != memory => Err(StoreError::NameTaken { name: name.to_owned(), by: row.id }),
        _ => Ok(()),
    }
}
