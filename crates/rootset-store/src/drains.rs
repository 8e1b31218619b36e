//! Drains as they are stored: a source whose garbage goes in several rounds, each a run of its own.
//!
//! Which step comes next is decided in `rootset-gc`; here a step is written down, together with the event that tells of it.

use rootset_gc::drains::{DrainState, OpenDrain};
use rootset_model::{DrainId, RunId, Timestamp, WorkspaceKey};

use crate::driver::{Row, Transaction};
use crate::error::StoreError;
use crate::events::EventNote;
use crate::statements::drains as sql;
use crate::undo::Undone;
use crate::{Stamp, Store, Workspace, workspaces};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drain {
    pub id: DrainId,
    pub source: String,
    pub state: DrainState,
    /// A digest of the policies that it follows.
    pub policies: String,
    /// What was found when it was announced.
    pub found: i64,
    /// Living memories of the source when it began.
    pub total: i64,
    pub announced_at: Timestamp,
    pub begins_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// Rounds that were not taken back.
    pub rounds: i64,
}

impl Drain {
    pub fn as_open(&self) -> OpenDrain<'_> {
        OpenDrain { state: self.state, policies: &self.policies, found: self.found, begins_at: self.begins_at }
    }

    fn read(row: &dyn Row) -> Result<Self, StoreError> {
        let state = DrainState::from_stored(&row.get::<String>(2)?);
        Ok(Self {
            id: row.get(0)?,
            source: row.get(1)?,
            state: state.ok_or(StoreError::UnreadableValue("the state of a drain"))?,
            policies: row.get(3)?,
            found: row.get(4)?,
            total: row.get(5)?,
            announced_at: row.get(6)?,
            begins_at: row.get(7)?,
            ended_at: row.get(8)?,
            rounds: row.get(9)?,
        })
    }
}

#[derive(Clone, Debug)]
pub struct NewDrain {
    pub id: DrainId,
    pub source: String,
    /// `Announced` or `Draining`.
    pub state: DrainState,
    pub policies: String,
    pub found: i64,
    pub total: i64,
    pub begins_at: Timestamp,
}

impl Store {
    /// Those that are not over, by source.
    pub fn open_drains(&self, workspace: &Workspace) -> Result<Vec<Drain>, StoreError> {
        self.read(workspace, |tx| open(tx, workspace.key))
    }

    /// Announces a drain, or begins it.
    pub fn add_drain(
        &self,
        workspace: &Workspace,
        new: &NewDrain,
        event: &EventNote,
        stamp: Stamp<'_>,
    ) -> Result<(), StoreError> {
        self.write(workspace, |tx| {
            let parameters = [
                workspace.key.into(),
                (&new.id).into(),
                (&new.source).into(),
                new.state.as_str().into(),
                (&new.policies).into(),
                new.found.into(),
                new.total.into(),
                stamp.now.into(),
                new.begins_at.into(),
            ];
            tx.execute(&sql::INSERT, &parameters)?;
            self.note_event_in(tx, Some(workspace), event, stamp)
        })
    }

    /// A drain that was announced begins, or one ends. `total` is what the source has when it begins.
    pub fn set_drain_state(
        &self,
        workspace: &Workspace,
        drain: DrainId,
        state: DrainState,
        total: Option<i64>,
        event: &EventNote,
        stamp: Stamp<'_>,
    ) -> Result<(), StoreError> {
        self.write(workspace, |tx| {
            set_state(tx, workspace.key, drain, state, total, stamp.now)?;
            self.note_event_in(tx, Some(workspace), event, stamp)
        })
    }

    /// Takes all rounds of a drain back, newest first, and stops it. What stopped on the way goes on when it is called again.
    pub fn undo_drain(&self, workspace: &Workspace, drain: DrainId, stamp: Stamp<'_>) -> Result<Undone, StoreError> {
        let rounds: Vec<RunId> = self.write(workspace, |tx| {
            let found = find(tx, workspace.key, drain)?;
            // First of all nothing more may go.
            if found.state != DrainState::Stopped {
                set_state(tx, workspace.key, drain, DrainState::Stopped, None, stamp.now)?;
                let mut event = EventNote { kind: "drain_stopped", ..EventNote::default() };
                event.counts.add("rounds", found.rounds);
                event.details = Some(serde_json::json!({"drain_id": drain, "source": found.source}));
                self.note_event_in(tx, Some(workspace), &event, stamp)?;
            }
            workspaces::look_again(tx, workspace.key)?;
            tx.rows(&sql::ROUNDS, &[workspace.key.into(), (&drain).into()], |row| row.get(0))
        })?;
        let mut undone = Undone::default();
        for run in rounds {
            match self.undo_run(workspace, run, stamp) {
                Ok(of_round) => undone.add(of_round),
                // Purged long ago, or taken back at this moment.
                Err(StoreError::RunNotUndoable { .. }) => {}
                Err(error) if undone.is_nothing() => return Err(error),
                Err(error) => {
                    undone.is_unfinished = true;
                    undone.warnings.push(format!("stopped before the end, undo the drain again to continue: {error}"));
                    break;
                }
            }
        }
        Ok(undone)
    }
}

pub(crate) fn open(tx: &mut dyn Transaction, workspace: WorkspaceKey) -> Result<Vec<Drain>, StoreError> {
    tx.rows(&sql::OPEN, &[workspace.into()], Drain::read)
}

fn find(tx: &mut dyn Transaction, workspace: WorkspaceKey, id: DrainId) -> Result<Drain, StoreError> {
    let found = tx.row(&sql::BY_ID, &[workspace.into(), (&id).into()], Drain::read)?;
    found.ok_or_else(|| StoreError::DrainNotFound(id.to_string()))
}

fn set_state(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    drain: DrainId,
    state: DrainState,
    total: Option<i64>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let ended_at = (state == DrainState::Ended).then_some(now);
    let parameters = [workspace.into(), (&drain).into(), state.as_str().into(), total.into(), ended_at.into()];
    tx.execute(&sql::SET_STATE, &parameters).map(drop)
}
