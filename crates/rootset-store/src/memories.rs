//! Reading memories: by id, by name, and in lists. Writing them is in `add` and `update`.

mod recent;

use std::str::FromStr;

use rootset_model::content::DocHash;
use rootset_model::{
    Channel, ChunkKey, Content, EntityId, MemoryId, PinnedBy, RelationId, RunId, Timestamp, Trust, WorkspaceKey,
    prefix_range,
};

use crate::driver::{Row, Transaction, Value};
use crate::error::StoreError;
use crate::other_names::{self, OtherName};
use crate::statements::memories as sql;
use crate::{Store, Workspace};
pub use recent::{Recent, witness_of};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Pending,
    Complete,
}

impl Status {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Complete => "complete",
        }
    }
}

/// A memory without its content.
#[derive(Clone, Debug)]
pub struct MemoryRow {
    pub id: MemoryId,
    pub sequence: i64,
    pub name: Option<String>,
    pub source: String,
    pub repo: Option<String>,
    pub file_path: Option<String>,
    pub written_by: String,
    pub status: Status,
    pub last_error: Option<String>,
    pub attempts: i64,
    pub version: i64,
    pub revision: i64,
    pub pending_revision: Option<i64>,
    pub source_version: Option<i64>,
    pub doc_hash: Option<DocHash>,
    /// JSON object.
    pub metadata: Option<String>,
    pub tags: Vec<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub ingested_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub is_pinned: bool,
    pub pin_reason: Option<String>,
    pub superseded_by: Option<MemoryId>,
    pub superseded_at: Option<Timestamp>,
    pub supersede_reason: Option<String>,
    pub trashed: Option<(RunId, Timestamp)>,
    /// Its successor exists and is not in the trash.
    pub is_superseded: bool,
    pub channel: Channel,
    pub trust: Trust,
    /// For whom it is pinned, and who did that; `None` where it is not pinned.
    pub pinned_by: Option<PinnedBy>,
    pub pinned_actor: Option<String>,
}

impl MemoryRow {
    pub(crate) fn read(row: &dyn Row) -> Result<Self, StoreError> {
        let status: String = row.get(7)?;
        let tags: Option<String> = row.get(16)?;
        let trashed_run: Option<RunId> = row.get(26)?;
        let trashed_at: Option<Timestamp> = row.get(27)?;
        Ok(Self {
            id: row.get(0)?,
            sequence: row.get(1)?,
            name: row.get(2)?,
            source: row.get(3)?,
            repo: row.get(4)?,
            file_path: row.get(5)?,
            written_by: row.get(6)?,
            status: if status == "pending" { Status::Pending } else { Status::Complete },
            last_error: row.get(8)?,
            attempts: row.get(9)?,
            version: row.get(10)?,
            revision: row.get(11)?,
            pending_revision: row.get(12)?,
            source_version: row.get(13)?,
            doc_hash: row.get(14)?,
            metadata: row.get(15)?,
            tags: read_list(tags.as_deref())?,
            created_at: row.get(17)?,
            updated_at: row.get(18)?,
            ingested_at: row.get(19)?,
            expires_at: row.get(20)?,
            is_pinned: row.get(21)?,
            pin_reason: row.get(22)?,
            superseded_by: row.get(23)?,
            superseded_at: row.get(24)?,
            supersede_reason: row.get(25)?,
            trashed: trashed_run.zip(trashed_at),
            is_superseded: row.get(28)?,
            channel: row.get(29)?,
            trust: row.get(30)?,
            pinned_by: row.get(31)?,
            pinned_actor: row.get(32)?,
        })
    }

    /// The revision that the newest accepted content is in.
    pub fn newest_revision(&self) -> i64 {
        self.pending_revision.unwrap_or(self.revision)
    }
}

pub(crate) fn read_list(json: Option<&str>) -> Result<Vec<String>, StoreError> {
    match json {
        None => Ok(Vec::new()),
        Some(json) => serde_json::from_str(json).map_err(|_| StoreError::UnreadableValue("a list of strings")),
    }
}

/// Lists are stored as JSON; an empty one as nothing.
pub(crate) fn stored_list(items: &[String]) -> Option<String> {
    (!items.is_empty()).then(|| serde_json::to_string(items).expect("strings always serialise"))
}

/// What a memory counts against a quota beside its text. `m_bytes` of conditions.sql counts the same.
pub(crate) fn attribute_bytes(metadata: Option<&str>, tags: Option<&str>, pin_reason: Option<&str>) -> i64 {
    [metadata, tags, pin_reason].into_iter().flatten().map(str::len).sum::<usize>() as i64
}

impl MemoryRow {
    pub(crate) fn attribute_bytes(&self) -> i64 {
        let tags = stored_list(&self.tags);
        attribute_bytes(self.metadata.as_deref(), tags.as_deref(), self.pin_reason.as_deref())
    }
}

/// Everything about one memory, from one snapshot.
#[derive(Clone, Debug)]
pub struct FullMemory {
    pub row: MemoryRow,
    pub content: Content,
    pub revision_created_at: Timestamp,
    /// Who wrote this revision; `None` where that was not noted yet.
    pub writer: Option<Writer>,
    pub chunks: Vec<ChunkKey>,
    pub entities: Vec<EntityId>,
    pub relations: Vec<RelationId>,
    pub use_count: i64,
    pub last_used_at: Option<Timestamp>,
    /// How often it was put before a model that did not ask for it.
    pub shown_count: i64,
    /// Name of the successor while it is live.
    pub successor: Option<(MemoryId, Option<String>)>,
    pub predecessors: Vec<(MemoryId, Option<String>)>,
}

/// Who wrote a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writer {
    pub actor: String,
    pub channel: Channel,
    pub trust: Trust,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOrder {
    UpdatedAt,
    CreatedAt,
    UseCount,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    Live,
    Trashed,
    Superseded,
    All,
}

impl Lifecycle {
    fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Trashed => "trashed",
            Self::Superseded => "superseded",
            Self::All => "all",
        }
    }
}

#[derive(Clone, Debug)]
pub struct ListFilters {
    pub source: Option<String>,
    pub written_by: Option<String>,
    pub status: Option<Status>,
    pub trust: Option<Trust>,
    pub channel: Option<Channel>,
    /// Only what a person has to look at before it is pushed from a workspace that projects share.
    pub only_waiting: bool,
    pub lifecycle: Lifecycle,
    pub tags: Vec<String>,
    /// Terms that all have to occur.
    pub terms: Vec<String>,
    /// Only these, where they are given.
    pub among: Option<Vec<MemoryId>>,
    pub order: ListOrder,
    pub is_descending: bool,
    pub offset: i64,
    pub limit: i64,
}

#[derive(Clone, Debug)]
pub struct ListedMemory {
    pub id: MemoryId,
    pub name: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub source: String,
    pub is_pinned: bool,
    pub status: String,
    pub topic: String,
    pub context: String,
    pub decisions: Vec<String>,
    pub channel: Channel,
    pub trust: Trust,
    pub pinned_by: Option<PinnedBy>,
    pub tags: Vec<String>,
}

/// A list with words reads at most this many matches; more would be a search, not a list.
const LISTED_MATCHES_MAX: usize = 10_000;

impl Store {
    /// A living memory by id or name.
    pub fn memory(&self, workspace: &Workspace, reference: &str) -> Result<MemoryRow, StoreError> {
        self.read(workspace, |tx| living(tx, workspace.key, reference))
    }

    /// Any memory by its id, in the trash or not.
    pub fn memory_by_id(&self, workspace: &Workspace, id: MemoryId) -> Result<Option<MemoryRow>, StoreError> {
        self.read(workspace, |tx| by_id(tx, workspace.key, id))
    }

    /// A living memory with its content (of `revision`, or the current one) and everything counted in an answer.
    pub fn full_memory(
        &self,
        workspace: &Workspace,
        reference: &str,
        revision: Option<i64>,
    ) -> Result<FullMemory, StoreError> {
        self.read(workspace, |tx| {
            let row = living(tx, workspace.key, reference)?;
            read_full(tx, workspace.key, row, revision)
        })
    }

    pub fn list_memories(
        &self,
        workspace: &Workspace,
        filters: &ListFilters,
    ) -> Result<(Vec<ListedMemory>, i64), StoreError> {
        self.read(workspace, |tx| list(tx, workspace.key, filters))
    }
}

pub(crate) fn living(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    reference: &str,
) -> Result<MemoryRow, StoreError> {
    let not_found = |trashed, names| StoreError::MemoryNotFound { reference: reference.to_owned(), trashed, names };
    if let Ok(id) = MemoryId::from_str(reference) {
        let row = by_id(tx, workspace, id)?.ok_or_else(|| not_found(None, Vec::new()))?;
        return if row.trashed.is_some() { Err(not_found(row.trashed, Vec::new())) } else { Ok(row) };
    }
    if let Some(row) = tx.row(&sql::BY_NAME, &[workspace.into(), reference.into()], MemoryRow::read)? {
        return Ok(row);
    }
    if let Some(row) = other_names::led_to(tx, workspace, OtherName::Alias, reference)? {
        return Ok(row);
    }
    let trashed = tx.row(&sql::TRASHED_BY_NAME, &[workspace.into(), reference.into()], MemoryRow::read)?;
    if trashed.is_none()
        && let Some(id) = id_beginning(tx, workspace, reference, Among::Living)?
    {
        return by_id(tx, workspace, id)?.ok_or_else(|| not_found(None, Vec::new()));
    }
    let names = match &trashed {
        Some(_) => Vec::new(),
        None => {
            tx.rows(&sql::NAMES_THAT_CHANGED_LAST, &[workspace.into(), NAMES_LOOKED_AT.into()], |row| row.get(0))?
        }
    };
    Err(not_found(trashed.and_then(|row| row.trashed), names))
}

/// Names among which one like a mistyped name is looked for: a mistake must not read a large workspace.
const NAMES_LOOKED_AT: i64 = 500;

/// Where the beginning of an id is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Among {
    Living,
    Trashed,
}

/// Ids that are looked at: of more, some are surely alike.
const IDS_LOOKED_AT: i64 = 200;

/// The memory whose id begins so; `None` if it reads like none. Several are an error.
pub(crate) fn id_beginning(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    text: &str,
    among: Among,
) -> Result<Option<MemoryId>, StoreError> {
    let Some((first, last)) = prefix_range(text) else { return Ok(None) };
    let parameters = [workspace.into(), first.as_slice().into(), last.as_slice().into(), IDS_LOOKED_AT.into()];
    let found: Vec<(MemoryId, bool)> = tx.rows(&sql::IDS_BETWEEN, &parameters, |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut wanted = found.into_iter().filter(|(_, is_trashed)| *is_trashed == (among == Among::Trashed));
    match (wanted.next(), wanted.next()) {
        (Some(_), Some(_)) => Err(StoreError::AmbiguousId(text.to_owned())),
        (found, _) => Ok(found.map(|(id, _)| id)),
    }
}

pub(crate) fn by_id(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    id: MemoryId,
) -> Result<Option<MemoryRow>, StoreError> {
    tx.row(&sql::BY_ID, &[workspace.into(), (&id).into()], MemoryRow::read)
}

pub(crate) fn by_ids(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    ids: &[[u8; 16]],
) -> Result<Vec<MemoryRow>, StoreError> {
    tx.rows(&sql::BY_IDS, &[workspace.into(), ids.into()], MemoryRow::read)
}

pub(crate) fn read_content(row: &dyn Row, first_column: usize) -> Result<Content, StoreError> {
    let decisions: String = row.get(first_column + 2)?;
    let rationale: String = row.get(first_column + 3)?;
    Ok(Content {
        topic: row.get(first_column)?,
        context: row.get(first_column + 1)?,
        decisions: read_list(Some(&decisions))?,
        rationale: read_list(Some(&rationale))?,
    })
}

pub(crate) fn content_of(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    revision: i64,
) -> Result<(Content, Timestamp), StoreError> {
    written_content(tx, workspace, memory, revision).map(|(content, at, _)| (content, at))
}

fn written_content(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    revision: i64,
) -> Result<(Content, Timestamp, Option<Writer>), StoreError> {
    let key = [workspace.into(), (&memory).into(), revision.into()];
    let found = tx.row(&sql::REVISION, &key, |row| {
        let (channel, trust, actor) = (row.get::<Option<_>>(5)?, row.get::<Option<_>>(6)?, row.get::<Option<_>>(7)?);
        let writer = channel.zip(trust).zip(actor);
        let writer = writer.map(|((channel, trust), actor)| Writer { actor, channel, trust });
        Ok((read_content(row, 0)?, row.get(4)?, writer))
    })?;
    match found {
        Some(found) => Ok(found),
        None => {
            let trashed = tx.row(&sql::TRASH_OF_REVISION, &key, |row| Ok((row.get(0)?, row.get(1)?)))?;
            Err(StoreError::RevisionNotFound { memory, revision, trashed })
        }
    }
}

fn read_full(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    row: MemoryRow,
    revision: Option<i64>,
) -> Result<FullMemory, StoreError> {
    let revision = revision.unwrap_or(row.revision);
    let (content, revision_created_at, writer) = written_content(tx, workspace, row.id, revision)?;
    let key = [workspace.into(), (&row.id).into()];
    let chunks = tx.rows(&sql::CHUNKS_OF, &key, |row| row.get(0))?;
    let (mut entities, mut relations) = (Vec::new(), Vec::new());
    tx.query(&sql::DERIVED_IDS, &key, &mut |row| {
        match row.get::<i64>(1)? {
            0 => entities.push(row.get(0)?),
            _ => relations.push(row.get(0)?),
        }
        Ok(())
    })?;
    let uses = tx.row(&sql::USE_OF, &key, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let predecessors = tx.rows(&sql::PREDECESSORS, &key, |row| Ok((row.get(0)?, row.get(1)?)))?;
    let successor = match row.superseded_by.filter(|_| row.is_superseded) {
        Some(id) => by_id(tx, workspace, id)?.map(|successor| (successor.id, successor.name)),
        None => None,
    };
    let (use_count, last_used_at, shown_count) = uses.unwrap_or_default();
    Ok(FullMemory {
        row,
        content,
        revision_created_at,
        writer,
        chunks,
        entities,
        relations,
        use_count,
        last_used_at,
        shown_count,
        successor,
        predecessors,
    })
}

fn list(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    filters: &ListFilters,
) -> Result<(Vec<ListedMemory>, i64), StoreError> {
    let mut matching = if filters.terms.is_empty() {
        None
    } else {
        Some(crate::search::memories_with_all_terms(tx, workspace, &filters.terms, LISTED_MATCHES_MAX)?)
    };
    if let Some(among) = &filters.among {
        let among = among.iter().map(|id| id.0);
        matching = Some(match matching {
            Some(matching) => among.filter(|id| matching.contains(id)).collect(),
            None => among.collect(),
        });
    }
    let mut parameters: Vec<Value<'_>> = vec![
        workspace.into(),
        filters.source.as_ref().into(),
        filters.written_by.as_ref().into(),
        filters.status.map(Status::as_str).into(),
        filters.lifecycle.as_str().into(),
        (filters.tags.len() as i64).into(),
        filters.tags.as_slice().into(),
        matching.is_some().into(),
        matching.as_deref().unwrap_or_default().into(),
        filters.trust.into(),
        filters.channel.into(),
        filters.only_waiting.into(),
    ];
    let total = tx.scalar(&sql::LIST_COUNT, &parameters)?;
    let statement = match (filters.order, filters.is_descending) {
        (ListOrder::UpdatedAt, true) => &sql::LIST_BY_UPDATED_DESCENDING,
        (ListOrder::UpdatedAt, false) => &sql::LIST_BY_UPDATED_ASCENDING,
        (ListOrder::CreatedAt, true) => &sql::LIST_BY_CREATED_DESCENDING,
        (ListOrder::CreatedAt, false) => &sql::LIST_BY_CREATED_ASCENDING,
        (ListOrder::UseCount, true) => &sql::LIST_BY_USES_DESCENDING,
        (ListOrder::UseCount, false) => &sql::LIST_BY_USES_ASCENDING,
    };
    parameters.push(filters.limit.into());
    parameters.push(filters.offset.into());
    let rows = tx.rows(statement, &parameters, |row| {
        let decisions: String = row.get(9)?;
        Ok(ListedMemory {
            id: row.get(0)?,
            name: row.get(1)?,
            created_at: row.get(2)?,
            updated_at: row.get(3)?,
            source: row.get(4)?,
            is_pinned: row.get(5)?,
            status: row.get(6)?,
            topic: row.get(7)?,
            context: row.get(8)?,
            decisions: read_list(Some(&decisions))?,
            channel: row.get(10)?,
            trust: row.get(11)?,
            pinned_by: row.get(12)?,
            tags: read_list(row.get::<Option<String>>(13)?.as_deref())?,
        })
    })?;
    Ok((rows, total))
}
