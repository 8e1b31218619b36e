//! Pending completions: claimed by lease, fenced by number, retried with back-off. Two processes never do the same twice.

use rootset_model::{Content, Extraction, MemoryId, Timestamp, WorkspaceKey};

use crate::driver::{Row, Tenant, Transaction, Value};
use crate::error::StoreError;
use crate::graph::Contribution;
use crate::memories::{self, Status};
use crate::notes::WITNESS;
use crate::statements::jobs as sql;
use crate::statements::memories as memory_sql;
use crate::update::{History, Ingestion, UpdateOutcome, erase_before, set_revision, switch_revision, trim_revisions};
use crate::workspaces::{self, Draw};
use crate::{PreparedContent, Stamp, Store, Workspace, graph, vectors};

const COMPLETE: &str = "complete";
/// Vectors that are owed to a memory, see `vectors/owed.rs`.
pub(crate) const EMBED: &str = "embed";
/// The cursor of a completion that has to erase earlier revisions when it is done.
const ERASE_PREVIOUS: &[u8] = b"erase_previous";

/// A job that this process holds until its lease runs out.
#[derive(Clone, Debug)]
pub struct ClaimedJob {
    pub workspace: WorkspaceKey,
    pub memory: MemoryId,
    pub fence: i64,
    pub attempts: i64,
    pub erases_previous: bool,
}

/// What a completion has to work on.
#[derive(Clone, Debug)]
pub struct PendingWork {
    pub job: ClaimedJob,
    pub revision: i64,
    pub content: Content,
    /// Done already by an earlier attempt.
    pub extraction: Option<Extraction>,
}

impl Store {
    /// Claims the oldest completion that is due.
    pub fn claim_completion(&self, now: Timestamp, lease_ms: i64) -> Result<Option<PendingWork>, StoreError> {
        let until = now.saturating_add_ms(lease_ms);
        // Looking first spares the write lock when there is nothing to do, which is nearly always.
        let due: Vec<WorkspaceKey> = self.read(Tenant::Database, |tx| {
            tx.rows(&sql::DUE_WORKSPACES, &[COMPLETE.into(), now.into()], |row| row.get(0))
        })?;
        for workspace in due {
            if let Some(work) = self.claim_in(workspace, now, until)? {
                return Ok(Some(work));
            }
        }
        Ok(None)
    }

    /// `None` when others took everything meanwhile.
    fn claim_in(
        &self,
        workspace: WorkspaceKey,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<PendingWork>, StoreError> {
        self.touch(workspace, |tx| {
            // A job with nothing left to do goes away, and the next one is asked for.
            loop {
                let parameters = [workspace.into(), COMPLETE.into(), now.into(), until.into()];
                let Some(job) = tx.row(&sql::CLAIM, &parameters, read_job)? else { return Ok(None) };
                if let Some(work) = load(tx, job)? {
                    return Ok(Some(work));
                }
            }
        })
    }

    /// Claims the completion of one memory, if nobody else holds it.
    pub fn claim_completion_of(
        &self,
        workspace: &Workspace,
        memory: MemoryId,
        now: Timestamp,
        lease_ms: i64,
    ) -> Result<Option<PendingWork>, StoreError> {
        let until = now.saturating_add_ms(lease_ms);
        self.touch(workspace, |tx| {
            let parameters = [workspace.key.into(), COMPLETE.into(), (&memory).into(), now.into(), until.into()];
            let Some(job) = tx.row(&sql::CLAIM_ONE, &parameters, read_job)? else { return Ok(None) };
            load(tx, job)
        })
    }

    /// Stores the validated extraction, so that a failure after it does not ask the model again.
    pub fn save_extraction(
        &self,
        work: &PendingWork,
        extractor_id: &str,
        extractor_version: i64,
        extraction: &Extraction,
    ) -> Result<(), StoreError> {
        let json = serde_json::to_string(extraction).expect("an extraction always serialises");
        self.write(work.job.workspace, |tx| {
            check_fence(tx, &work.job)?;
            let parameters = [
                work.job.workspace.into(),
                (&work.job.memory).into(),
                work.revision.into(),
                extractor_id.into(),
                extractor_version.into(),
                (&json).into(),
            ];
            tx.execute(&memory_sql::SET_EXTRACTION, &parameters)?;
            Ok(())
        })
    }

    /// The last step: graph, vectors and status in one transaction.
    pub fn complete(
        &self,
        work: &PendingWork,
        prepared: &PreparedContent,
        history: History,
        stamp: Stamp<'_>,
    ) -> Result<UpdateOutcome, StoreError> {
        let derived = prepared.derived.as_ref().expect("a completion brings what was derived");
        let outcome = self.write(work.job.workspace, |tx| {
            check_fence(tx, &work.job)?;
            let (workspace, memory) = (work.job.workspace, work.job.memory);
            let row = memories::living(tx, workspace, &memory.to_string())?;
            if row.newest_revision() != work.revision {
                return Err(StoreError::LeaseLost);
            }
            let mut outcome = UpdateOutcome { version: row.version, ..UpdateOutcome::default() };
            if row.pending_revision.is_some() {
                let (revision, ingestion) = (work.revision, Ingestion::Now);
                switch_revision(
                    tx,
                    workspace,
                    memory,
                    revision,
                    prepared,
                    derived,
                    ingestion,
                    stamp.now,
                    &mut outcome,
                )?;
            } else {
                let numbers = derived.extraction.entities.len();
                let drawn = workspaces::draw(tx, workspace, Draw { numbers, ..Draw::default() }, stamp.now)?;
                let chunks: Vec<i64> =
                    tx.rows(&memory_sql::CHUNKS_OF, &[workspace.into(), (&memory).into()], |row| row.get(0))?;
                if let Some(first_chunk) = chunks.first() {
                    vectors::insert(tx, workspace, memory, *first_chunk, derived, stamp.now)?;
                }
                let before = graph::contributed_by(tx, workspace, &[memory.0])?;
                let (revision, first_number) = (work.revision, drawn.first_number);
                let contribution = Contribution { memory, revision, derived, first_number };
                let created = graph::contribute(tx, workspace, contribution, &before, stamp.now)?;
                set_revision(tx, workspace, memory, work.revision, &prepared.doc_hash, None)?;
                outcome.revision = work.revision;
                outcome.entities_created = created.entities;
                outcome.relations_created = created.relations;
            }
            if work.job.erases_previous {
                erase_before(tx, workspace, memory, work.revision, history.ids, stamp, &mut outcome)?;
            } else {
                trim_revisions(tx, workspace, memory, work.revision, &history, stamp)?;
            }
            tx.execute(&sql::FINISH, &[workspace.into(), COMPLETE.into(), (&memory).into()])?;
            Ok(outcome)
        })?;
        Ok(self.with_receipt(work.job.workspace, outcome))
    }

    /// Notes the failure and when to try again. A lease that was lost meanwhile changes nothing.
    pub fn fail_completion(&self, work: &PendingWork, error: &str, retry_at: Timestamp) -> Result<(), StoreError> {
        self.write(work.job.workspace, |tx| {
            let job = &work.job;
            let parameters = [
                job.workspace.into(),
                COMPLETE.into(),
                (&job.memory).into(),
                job.fence.into(),
                retry_at.into(),
                error.into(),
            ];
            if tx.execute(&sql::FAIL, &parameters)? > 0 {
                let parameters = [job.workspace.into(), (&job.memory).into(), error.into(), job.attempts.into()];
                tx.execute(&memory_sql::SET_FAILURE, &parameters)?;
            }
            Ok(())
        })
    }
}

fn read_job(row: &dyn Row) -> Result<ClaimedJob, StoreError> {
    let cursor: Option<Vec<u8>> = row.get(4)?;
    Ok(ClaimedJob {
        workspace: row.get(0)?,
        memory: row.get(1)?,
        fence: row.get(2)?,
        attempts: row.get(3)?,
        erases_previous: cursor.as_deref() == Some(ERASE_PREVIOUS),
    })
}

/// `None`, and the job gone, when there is nothing left to complete.
fn load(tx: &mut dyn Transaction, job: ClaimedJob) -> Result<Option<PendingWork>, StoreError> {
    let row = memories::by_id(tx, job.workspace, job.memory)?;
    let Some(row) = row.filter(|row| row.trashed.is_none() && row.status == Status::Pending) else {
        tx.execute(&sql::FINISH, &[job.workspace.into(), COMPLETE.into(), (&job.memory).into()])?;
        return Ok(None);
    };
    let revision = row.newest_revision();
    let (content, _) = memories::content_of(tx, job.workspace, job.memory, revision)?;
    let parameters = [job.workspace.into(), (&job.memory).into(), revision.into()];
    let stored: Option<String> = tx.scalar(&memory_sql::EXTRACTION, &parameters)?;
    let extraction = stored
        .map(|json| serde_json::from_str(&json).map_err(|_| StoreError::UnreadableValue("an extraction")))
        .transpose()?;
    Ok(Some(PendingWork { job, revision, content, extraction }))
}

fn check_fence(tx: &mut dyn Transaction, job: &ClaimedJob) -> Result<(), StoreError> {
    let parameters = [job.workspace.into(), COMPLETE.into(), (&job.memory).into(), job.fence.into()];
    tx.row(&sql::HAS_FENCE, &parameters, |_| Ok(()))?.ok_or(StoreError::LeaseLost)
}

pub(crate) fn enqueue_completion(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memory: MemoryId,
    erases_previous: bool,
    now: Timestamp,
) -> Result<(), StoreError> {
    let cursor = erases_previous.then_some(ERASE_PREVIOUS);
    let parameters = [workspace.into(), COMPLETE.into(), (&memory).into(), now.into(), cursor.into()];
    tx.execute(&sql::ENQUEUE, &parameters)?;
    Ok(())
}

/// The same for memories that were just added.
pub(crate) fn enqueue_completions(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memories: &[MemoryId],
    now: Timestamp,
) -> Result<(), StoreError> {
    let rows: Vec<Vec<Value<'_>>> = memories
        .iter()
        .map(|memory| vec![workspace.into(), COMPLETE.into(), memory.into(), now.into(), Value::Null])
        .collect();
    tx.execute_many(&sql::ENQUEUE, &rows).map(drop)
}

/// For memories that go to the trash: an undo enqueues them again.
pub(crate) fn park_completions(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memories: &[[u8; 16]],
) -> Result<(), StoreError> {
    tx.execute(&sql::PARK_MANY, &[workspace.into(), COMPLETE.into(), memories.into()])?;
    Ok(())
}

/// Of memories that go for good: nothing is left to be done for them.
pub(crate) fn cancel(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memories: &[[u8; 16]],
) -> Result<(), StoreError> {
    let parameters = [workspace.into(), COMPLETE.into(), EMBED.into(), WITNESS.into(), memories.into()];
    tx.execute(&sql::CANCEL_MANY, &parameters)?;
    Ok(())
}
