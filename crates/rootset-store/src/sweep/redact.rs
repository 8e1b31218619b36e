//! Cutting a memory: what stays becomes a new revision, and the text that held more goes to the trash as a root of its
//! own. Undo makes that text current again while the new revision is still the memory's text.
//!
//! What stays is made outside (by whoever knows texts) from the places in the plan, for one revision of one version. Not
//! here: which places those are.

use std::collections::HashMap;
use std::sync::Arc;

use rootset_gc::Skip;
use rootset_model::content::DocHash;
use rootset_model::plan::{PlanItem, Reason};
use rootset_model::slug::{is_made_from, slug};
use rootset_model::{Channel, Content, MemoryId, PlanId, RunId, WorkspaceKey};

use crate::add::{NewRevision, insert_revisions, names, write_attributes};
use crate::driver::Transaction;
use crate::error::StoreError;
use crate::kinds::{Id, Sweep, Undoing};
use crate::memories::{self, MemoryRow, Writer, read_content};
use crate::plans::{self, OfferedCut};
use crate::statements::memories as sql;
use crate::statements::plans as plan_sql;
use crate::statements::purge as purge_sql;
use crate::undo::{Conflict, Undone};
use crate::update::{Ingestion, UpdateOutcome, switch_revision};
use crate::{PreparedContent, Stamp, Store, Workspace, runs, workspaces};
/// Texts that are ready to become current, by the memory and the revision that they replace.
pub type Remains = Arc<HashMap<(MemoryId, i64), Remnant>>;

/// A text with all that is derived from it.
#[derive(Debug)]
pub struct Remnant {
    pub prepared: PreparedContent,
}

/// Why a memory cannot be cut now, although nothing else speaks against it.
pub(super) fn obstacle(
    tx: &mut dyn Transaction,
    sweep: &Sweep<'_>,
    item: &PlanItem,
) -> Result<Option<Skip>, StoreError> {
    let memory = MemoryId(item.object);
    let Some(remnant) = sweep.remains.get(&(memory, item.revision)) else { return Ok(Some(Skip::Changed)) };
    let Some(row) = memories::by_id(tx, sweep.workspace, memory)? else { return Ok(Some(Skip::Gone)) };
    if row.pending_revision.is_some() {
        return Ok(Some(Skip::InFlight));
    }
    let newest: i64 = tx.scalar(&sql::NEWEST_REVISION, &[sweep.workspace.into(), (&memory).into()])?;
    let is_current = row.revision == item.revision && newest == item.revision;
    let is_taken = is_content_of_another(tx, sweep.workspace, memory, &remnant.prepared.doc_hash)?;
    Ok((!is_current || is_taken || remnant.prepared.derived.is_none()).then_some(Skip::Changed))
}

fn is_content_of_another(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    doc_hash: &DocHash,
) -> Result<bool, StoreError> {
    let key = [workspace.into(), doc_hash.into()];
    let other: Option<MemoryId> = tx.row(&sql::LIVE_WITH_CONTENT, &key, |row| row.get(0))?;
    Ok(other.is_some_and(|other| other != memory))
}

pub(crate) struct Redacting;

impl Redacting {
    /// Makes what stays the text of each memory that is cut. The old texts are trashed by the caller.
    pub(crate) fn cut(tx: &mut dyn Transaction, sweep: &Sweep<'_>, items: &[PlanItem]) -> Result<(), StoreError> {
        for item in items.iter().filter(|item| item.reason == Reason::REDACTED) {
            let memory = MemoryId(item.object);
            let remnant = sweep.remains.get(&(memory, item.revision)).expect("it was asked for in this transaction");
            let row = living(tx, sweep.workspace, memory)?;
            let (topic, writer) = written(tx, sweep.workspace, memory, item.revision)?;
            let revision = item.revision + 1;
            let new = NewRevision { memory, revision, prepared: &remnant.prepared, writer };
            insert_revisions(tx, sweep.workspace, &[new], sweep.stamp.now)?;
            let bytes = remnant.prepared.content.byte_len() as i64;
            workspaces::count_bytes(tx, sweep.workspace, bytes, sweep.stamp.now)?;
            switch(tx, sweep.workspace, row, revision, &remnant.prepared, &topic, sweep.stamp)?;
        }
        Ok(())
    }

    /// Memories whose texts the run cut, with the revisions that it trashed. Known as long as the run's plan is.
    pub(crate) fn of_run(
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        run: RunId,
        plan: Option<PlanId>,
    ) -> Result<Vec<(MemoryId, i64)>, StoreError> {
        let Some(plan) = plan else { return Ok(Vec::new()) };
        let key = [workspace.into(), (&run).into(), (&plan).into()];
        tx.rows(&plan_sql::CUT_BY_RUN, &key, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Makes the whole texts current again where what stayed of them is still the text. The others are conflicts, and
    /// their whole texts stay in the trash; answered are those that do.
    pub(crate) fn restore(
        tx: &mut dyn Transaction,
        undoing: &Undoing<'_>,
        undone: &mut Undone,
    ) -> Result<Vec<(Id, i64)>, StoreError> {
        let workspace = undoing.workspace;
        let mut left = Vec::new();
        for (memory, revision) in Self::of_run(tx, workspace, undoing.run.id, undoing.run.plan)? {
            let row = living(tx, workspace, memory)?;
            let whole = undoing.wholes.get(&(memory, revision)).map(|it| &it.prepared);
            let newest: i64 = tx.scalar(&sql::NEWEST_REVISION, &[workspace.into(), (&memory).into()])?;
            let is_unchanged = row.pending_revision.is_none() && row.revision == revision + 1 && newest == revision + 1;
            let problem = match whole {
                Some(whole) if is_unchanged && whole.derived.is_some() => {
                    is_content_of_another(tx, workspace, memory, &whole.doc_hash)?.then_some("content_taken")
                }
                _ => Some("changed"),
            };
            if let Some(reason) = problem {
                undone.conflicts.push(Conflict { id: memory.to_string(), reason, by: None });
                left.push((memory.0, revision));
                continue;
            }
            let whole = whole.expect("it was looked at above");
            let (topic, bytes) = topic_and_bytes(tx, workspace, memory, revision + 1)?;
            switch(tx, workspace, row, revision, whole, &topic, undoing.stamp)?;
            tx.execute(&sql::DELETE_REVISION, &[workspace.into(), (&memory).into(), (revision + 1).into()])?;
            workspaces::count_bytes(tx, workspace, -bytes, undoing.stamp.now)?;
        }
        Ok(left)
    }
}

/// Makes a revision current that is stored. A name that was made from the topic follows the new one.
fn switch(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    row: MemoryRow,
    revision: i64,
    prepared: &PreparedContent,
    topic_before: &str,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let derived = prepared.derived.as_ref().expect("without it nothing is cut");
    let (mut outcome, before) = (UpdateOutcome::default(), Ingestion::Before);
    switch_revision(tx, workspace, row.id, revision, prepared, derived, before, stamp.now, &mut outcome)?;
    let topic = &prepared.content.topic;
    let follows = row.name.as_deref().is_some_and(|it| is_made_from(it, topic_before) && !is_made_from(it, topic));
    let name = match follows {
        true => Some(names::free(tx, workspace, row.id, slug(topic).as_deref())?),
        false => row.name.clone(),
    };
    // The version tells whoever wants to write over what they read.
    let row = MemoryRow { name, version: row.version + 1, ..row };
    write_attributes(tx, workspace, &row)
}

fn living(tx: &mut dyn Transaction, workspace: WorkspaceKey, memory: MemoryId) -> Result<MemoryRow, StoreError> {
    memories::by_id(tx, workspace, memory)?.ok_or(StoreError::MissingRow { statement: "memories.by_id" })
}

/// The topic of a revision and who wrote it: who cuts a text does not become its writer.
fn written(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    revision: i64,
) -> Result<(String, Writer), StoreError> {
    let key = [workspace.into(), (&memory).into(), revision.into()];
    let found = tx.row(&sql::REVISION_WRITER, &key, |row| {
        let (channel, trust, actor) =
            (row.get::<Option<Channel>>(1)?, row.get::<Option<_>>(2)?, row.get::<Option<_>>(3)?);
        Ok((row.get::<String>(0)?, channel, trust, actor))
    })?;
    let (topic, channel, trust, actor) = found.ok_or(StoreError::MissingRow { statement: "revision_writer" })?;
    let row = living(tx, workspace, memory)?;
    let writer = Writer {
        actor: actor.unwrap_or(row.written_by),
        channel: channel.unwrap_or(row.channel),
        trust: trust.unwrap_or(row.trust),
    };
    Ok((topic, writer))
}

fn topic_and_bytes(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    revision: i64,
) -> Result<(String, i64), StoreError> {
    let ids = [memory.0];
    let key = [workspace.into(), ids.as_slice().into()];
    let mut found = None;
    tx.query(&purge_sql::CONTENTS, &key, &mut |row| {
        if row.get::<i64>(1)? == revision {
            found = Some((read_content(row, 2)?.topic, row.get(6)?));
        }
        Ok(())
    })?;
    found.ok_or(StoreError::MissingRow { statement: "purge.contents" })
}

impl Store {
    /// The places that a plan may cut, with the contents they are in, where those are still what they were.
    pub fn cuts_of(&self, workspace: &Workspace, plan: PlanId) -> Result<Vec<(OfferedCut, Content)>, StoreError> {
        self.read(workspace, |tx| {
            let stored = plans::find(tx, workspace.key, plan)?;
            let mut cuts = stored.policy().offers.cuts;
            if let Some(run) = stored.run
                && runs::find(tx, workspace.key, run)?.finished_at.is_some()
            {
                cuts.clear();
            }
            let contents = contents(tx, workspace.key, cuts.iter().map(|it| (it.memory, it.revision)))?;
            Ok(cuts
                .into_iter()
                .filter_map(|cut| {
                    let content = contents.get(&(cut.memory, cut.revision))?.clone();
                    Some((cut, content))
                })
                .collect())
        })
    }

    /// The whole texts of what a run cut, for its undo.
    pub fn wholes_of(&self, workspace: &Workspace, run: RunId) -> Result<Vec<(MemoryId, i64, Content)>, StoreError> {
        self.read(workspace, |tx| {
            let view = match runs::find(tx, workspace.key, run) {
                Err(StoreError::RunNotFound(_)) => return Ok(Vec::new()),
                view => view?,
            };
            let cut = Redacting::of_run(tx, workspace.key, run, view.plan)?;
            let contents = contents(tx, workspace.key, cut.into_iter())?;
            Ok(contents.into_iter().map(|((memory, revision), content)| (memory, revision, content)).collect())
        })
    }
}

/// Contents of revisions, in the trash or not.
fn contents(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    wanted: impl Iterator<Item = (MemoryId, i64)>,
) -> Result<HashMap<(MemoryId, i64), Content>, StoreError> {
    let wanted: std::collections::HashSet<(MemoryId, i64)> = wanted.collect();
    let memories: Vec<Id> = wanted.iter().map(|(memory, _)| memory.0).collect();
    let mut found = HashMap::new();
    if memories.is_empty() {
        return Ok(found);
    }
    tx.query(&purge_sql::CONTENTS, &[workspace.into(), memories.as_slice().into()], &mut |row| {
        let key = (row.get(0)?, row.get(1)?);
        if wanted.contains(&key) {
            found.insert(key, read_content(row, 2)?);
        }
        Ok(())
    })?;
    Ok(found)
}
