//! Changing a memory: attributes at once, content by a new revision whose graph replaces the old one in one transaction.

use rootset_model::content::DocHash;
use rootset_model::{ErasureId, MemoryId, Origin, PinnedBy, PlanId, RunId, Timestamp, Trust, WorkspaceKey};

use crate::add::{
    NewRevision, insert_chunks, insert_revisions, pin, refuse_persons_pin, refuse_taken_name, write_attributes,
};
use crate::driver::{SearchIndex, SearchRemoval, Transaction};
use crate::error::StoreError;
use crate::graph::Contribution;
use crate::memories::{self, MemoryRow, Writer};
use crate::other_names::{self, OtherName};
use crate::purge::{Erased, Receipt};
use crate::statements::memories as sql;
use crate::workspaces::{self, Draw};
use crate::{PreparedContent, PreparedDerived, Stamp, Store, Workspace, graph, jobs, kinds, sweep, vectors};

/// Only what is given changes. The inner `None` clears.
#[derive(Clone, Debug, Default)]
pub struct AttributeChanges {
    pub name: Option<String>,
    /// JSON object.
    pub metadata: Option<Option<String>>,
    pub tags: Option<Vec<String>>,
    pub source_version: Option<Option<i64>>,
    pub is_pinned: Option<bool>,
    pub pin_reason: Option<Option<String>>,
    pub expires_at: Option<Option<Timestamp>>,
}

impl AttributeChanges {
    /// Whether they change what a pin holds in its place. Tags, metadata and versions of the source it does not.
    fn change_what_is_pinned(&self) -> bool {
        let unpins = self.is_pinned == Some(false);
        unpins || self.name.is_some() || self.pin_reason.is_some() || self.expires_at.is_some()
    }
}

/// Ids for the plan, run and ledger entry of an erasure that goes with an update.
#[derive(Clone, Copy, Debug)]
pub struct EraseIds {
    pub plan: PlanId,
    pub run: RunId,
    pub erasure: ErasureId,
}

#[derive(Clone, Debug)]
pub struct UpdateRequest<'a> {
    pub memory: MemoryId,
    /// The version that the caller's content was made from.
    pub seen_version: i64,
    pub attributes: &'a AttributeChanges,
    /// Who writes. A text or a name by somebody who is believed less makes the memory as little believed.
    pub origin: Origin,
    /// Given only when the content's hash changed.
    pub content: Option<&'a PreparedContent>,
    pub erase_previous: bool,
    pub history: History,
}

/// How many earlier revisions a memory keeps, and what the run is called and how long it can be undone that takes the
/// others.
#[derive(Clone, Copy, Debug)]
pub struct History {
    pub keep: i64,
    pub ids: EraseIds,
    pub grace_ms: i64,
}

#[derive(Clone, Debug, Default)]
pub struct UpdateOutcome {
    pub version: i64,
    pub revision: i64,
    pub is_pending: bool,
    pub pinned_by: Option<PinnedBy>,
    /// Set when the writer is believed less than the memory was.
    pub lowered_to: Option<Trust>,
    pub entities_created: usize,
    pub entities_removed: usize,
    pub relations_created: usize,
    pub relations_removed: usize,
    /// What the memory is called now; files have no name.
    pub name: Option<String>,
    /// Set when earlier revisions were erased.
    pub receipt: Option<Receipt>,
    /// What is to be looked for before there is a receipt.
    pub(crate) erased: Option<(ErasureId, Erased)>,
}

impl Store {
    pub fn update_memory(
        &self,
        workspace: &Workspace,
        request: &UpdateRequest<'_>,
        stamp: Stamp<'_>,
    ) -> Result<UpdateOutcome, StoreError> {
        let outcome = self.write(workspace, |tx| update(tx, workspace.key, request, stamp))?;
        Ok(self.with_receipt(workspace.key, outcome))
    }

    /// The outcome of an update whose transaction is over, with the receipt of what it erased.
    pub(crate) fn with_receipt(&self, workspace: WorkspaceKey, mut outcome: UpdateOutcome) -> UpdateOutcome {
        if let Some((erasure, erased)) = outcome.erased.take() {
            outcome.receipt = Some(self.receipt(workspace, None, erasure, erased));
        }
        outcome
    }
}

fn update(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    request: &UpdateRequest<'_>,
    stamp: Stamp<'_>,
) -> Result<UpdateOutcome, StoreError> {
    let mut row = memories::living(tx, workspace, &request.memory.to_string())?;
    if row.version != request.seen_version {
        return Err(StoreError::VersionMismatch { expected: request.seen_version, found: row.version });
    }
    // A file has no name; its path, content and version are what the last scan saw.
    let is_file = row.repo.is_some() && row.name.is_none();
    let attributes = request.attributes;
    let is_of_scan = request.content.is_some() || attributes.name.is_some() || attributes.source_version.is_some();
    if is_file && is_of_scan {
        return Err(StoreError::IndexedFile { memory: row.id });
    }
    if request.content.is_some() || attributes.change_what_is_pinned() {
        refuse_persons_pin(&row, stamp)?;
    }
    if let Some(prepared) = request.content {
        refuse_taken_content(tx, workspace, row.id, prepared)?;
    }
    let (trust_before, bytes_before) = (row.trust, row.attribute_bytes());
    if request.content.is_some() || attributes.name.as_ref().is_some_and(|name| row.name.as_ref() != Some(name)) {
        row.trust = row.trust.min(request.origin.trust);
    }
    apply_attributes(tx, workspace, &mut row, request, stamp)?;
    if let Some(prepared) = request.content.filter(|_| request.attributes.name.is_none()) {
        let (earlier, _) = memories::content_of(tx, workspace, row.id, row.newest_revision())?;
        other_names::follow_topic(tx, workspace, &mut row, &earlier.topic, &prepared.content.topic)?;
    }
    row.version += 1;
    row.updated_at = stamp.now;
    let grown_by = row.attribute_bytes() - bytes_before;
    write_attributes(tx, workspace, &row)?;
    let mut outcome = UpdateOutcome {
        version: row.version,
        revision: row.revision,
        pinned_by: row.pinned_by,
        name: row.name.clone(),
        lowered_to: (row.trust < trust_before).then_some(row.trust),
        ..UpdateOutcome::default()
    };
    match request.content {
        Some(prepared) => {
            let bytes = prepared.content.byte_len() as i64 + grown_by;
            workspaces::draw(tx, workspace, Draw { bytes, ..Draw::default() }, stamp.now)?;
            change_content(tx, workspace, &row, prepared, request, stamp, &mut outcome)?;
        }
        None => {
            workspaces::count_bytes(tx, workspace, grown_by, stamp.now)?;
            if request.erase_previous {
                erase_before(tx, workspace, row.id, row.revision, request.history.ids, stamp, &mut outcome)?;
            }
        }
    }
    Ok(outcome)
}

fn refuse_taken_content(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    prepared: &PreparedContent,
) -> Result<(), StoreError> {
    let key = [workspace.into(), (&prepared.doc_hash).into()];
    let other = tx.row(&sql::LIVE_WITH_CONTENT, &key, |row| Ok((row.get::<MemoryId>(0)?, row.get(1)?)))?;
    match other {
        Some((by, name)) if by != memory => Err(StoreError::ContentTaken { by, name }),
        _ => Ok(()),
    }
}

fn apply_attributes(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    row: &mut MemoryRow,
    request: &UpdateRequest<'_>,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let changes = request.attributes;
    if let Some(name) = &changes.name
        && row.name.as_ref() != Some(name)
    {
        refuse_taken_name(tx, workspace, name, row.id)?;
        other_names::take_back(tx, workspace, row.id, name)?;
        other_names::insert_all(tx, workspace, &[(row.id, OtherName::Given, name)])?;
        row.name = Some(name.clone());
    }
    if let Some(metadata) = &changes.metadata {
        row.metadata.clone_from(metadata);
    }
    if let Some(tags) = &changes.tags {
        row.tags.clone_from(tags);
    }
    if let Some(source_version) = changes.source_version {
        row.source_version = source_version;
    }
    if changes.is_pinned == Some(true) && pin(row, request.origin.pinned_by(), stamp.actor) {
        // Whatever reason there is was that of another's pin.
        row.pin_reason = None;
    }
    if changes.is_pinned == Some(false) {
        row.is_pinned = false;
        (row.pin_reason, row.pinned_by, row.pinned_actor) = (None, None, None);
    }
    if let Some(reason) = &changes.pin_reason {
        row.pin_reason.clone_from(reason);
    }
    if let Some(expires_at) = changes.expires_at {
        row.expires_at = expires_at;
    }
    Ok(())
}

fn change_content(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    row: &MemoryRow,
    prepared: &PreparedContent,
    request: &UpdateRequest<'_>,
    stamp: Stamp<'_>,
    outcome: &mut UpdateOutcome,
) -> Result<(), StoreError> {
    let newest: i64 = tx.scalar(&sql::NEWEST_REVISION, &[workspace.into(), (&row.id).into()])?;
    let revision = newest + 1;
    let Origin { channel, trust, .. } = request.origin;
    let writer = Writer { actor: stamp.actor.to_owned(), channel, trust };
    insert_revisions(tx, workspace, &[NewRevision { memory: row.id, revision, prepared, writer }], stamp.now)?;
    match &prepared.derived {
        Some(derived) => {
            let ingestion = Ingestion::Now;
            switch_revision(tx, workspace, row.id, revision, prepared, derived, ingestion, stamp.now, outcome)?;
            if request.erase_previous {
                erase_before(tx, workspace, row.id, revision, request.history.ids, stamp, outcome)?;
            } else {
                trim_revisions(tx, workspace, row.id, revision, &request.history, stamp)?;
            }
        }
        None => {
            outcome.is_pending = true;
            outcome.revision = row.revision;
            let parameters = [workspace.into(), (&row.id).into(), revision.into(), (&prepared.doc_hash).into()];
            tx.execute(&sql::SET_PENDING_REVISION, &parameters)?;
            jobs::enqueue_completion(tx, workspace, row.id, request.erase_previous, stamp.now)?;
        }
    }
    Ok(())
}

/// Whether a memory is as old as before when another revision becomes its current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ingestion {
    Now,
    Before,
}

/// Makes a stored revision the current one: its chunks, search rows, vectors and contributions replace the old ones.
#[expect(clippy::too_many_arguments, reason = "one call per caller, each argument a different thing")]
pub(crate) fn switch_revision(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    revision: i64,
    prepared: &PreparedContent,
    derived: &PreparedDerived,
    ingestion: Ingestion,
    now: Timestamp,
    outcome: &mut UpdateOutcome,
) -> Result<(), StoreError> {
    let ids = [memory.0];
    let before = graph::contributed_by(tx, workspace, &ids)?;
    let old_chunks: Vec<i64> = tx.rows(&sql::CHUNKS_OF, &[workspace.into(), (&memory).into()], |row| row.get(0))?;
    vectors::delete(tx, workspace, &old_chunks)?;
    tx.search_delete(workspace, SearchIndex::Memories, &old_chunks, SearchRemoval::AtOnce)?;
    tx.execute(&sql::DELETE_CHUNKS, &[workspace.into(), ids.as_slice().into()])?;
    tx.execute(&crate::statements::graph::DELETE_CONTRIBUTIONS, &[workspace.into(), ids.as_slice().into()])?;

    let numbers = derived.extraction.entities.len();
    let draw = Draw { numbers, chunks: prepared.chunks.len(), ..Draw::default() };
    let drawn = workspaces::draw(tx, workspace, draw, now)?;
    insert_chunks(tx, workspace, memory, prepared, drawn.first_chunk)?;
    vectors::insert(tx, workspace, memory, drawn.first_chunk, derived, now)?;
    let contribution = Contribution { memory, revision, derived, first_number: drawn.first_number };
    let created = graph::contribute(tx, workspace, contribution, &before, now)?;
    set_revision(tx, workspace, memory, revision, &prepared.doc_hash, (ingestion == Ingestion::Now).then_some(now))?;

    let objects: Vec<[u8; 16]> = before.keys().copied().collect();
    let visible = graph::visible_among(tx, workspace, &objects)?;
    let lost = |kind| before.iter().filter(|(object, of)| **of == kind && !visible.contains(*object)).count();
    outcome.revision = revision;
    outcome.entities_created = created.entities;
    outcome.relations_created = created.relations;
    outcome.entities_removed = lost(graph::KIND_ENTITY);
    outcome.relations_removed = lost(graph::KIND_RELATION);
    // What only the old text named has no contributor left, not even in the trash.
    kinds::delete_orphans(tx, workspace, &before, SearchRemoval::AtOnce)?;
    Ok(())
}

/// The current revision of a memory, and when it came where it is new.
pub(crate) fn set_revision(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    revision: i64,
    doc_hash: &DocHash,
    ingested_at: Option<Timestamp>,
) -> Result<(), StoreError> {
    let clock = tx.observed_time()?;
    let parameters = [
        workspace.into(),
        (&memory).into(),
        revision.into(),
        doc_hash.into(),
        ingested_at.into(),
        ingested_at.map(|_| clock.observed_ms).into(),
        ingested_at.map(|_| i64::from(clock.is_in_doubt())).into(),
    ];
    tx.execute(&sql::SET_REVISION, &parameters).map(drop)
}

/// Keeps the newest earlier revisions. Those that fall off go to the trash, through the protocol: an update must not be a
/// way to remove a text for good.
pub(crate) fn trim_revisions(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    current: i64,
    history: &History,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let parameters = [workspace.into(), (&memory).into(), current.into()];
    let kept: Vec<i64> = tx.rows(&sql::KEPT_REVISIONS, &parameters, |row| row.get(0))?;
    match kept.get(history.keep.max(0) as usize..) {
        None | Some([]) => Ok(()),
        Some(fallen) => sweep::trash_revisions(tx, workspace, memory, fallen, history, stamp),
    }
}

/// Erases every revision before `current`, through the protocol: a plan of the named items, confirmed here and now.
pub(crate) fn erase_before(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    current: i64,
    ids: EraseIds,
    stamp: Stamp<'_>,
    outcome: &mut UpdateOutcome,
) -> Result<(), StoreError> {
    let parameters = [workspace.into(), (&memory).into(), current.into()];
    let earlier: Vec<i64> = tx.rows(&sql::PREVIOUS_REVISIONS, &parameters, |row| row.get(0))?;
    let erased = if earlier.is_empty() {
        Erased::default()
    } else {
        // The plan below takes them for good; what is in the trash it would skip.
        tx.execute(&sql::UNTRASH_PREVIOUS_REVISIONS, &parameters)?;
        sweep::erase_revisions(tx, workspace, memory, &earlier, ids, stamp)?
    };
    outcome.erased = Some((ids.erasure, erased));
    // A name made from the erased text went with it.
    outcome.name = memories::by_id(tx, workspace, memory)?.and_then(|row| row.name);
    Ok(())
}
