//! The database's own clock ([`ObservedTime`]): where it is stored, and what is done when a doubt about the wall clock ends.
//!
//! Every transaction looks at the wall clock as it begins, and one that writes moves the stored clock on. Whether the wall
//! clock is believed is decided in `rootset-gc`.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rootset_gc::{Doubt, ObservedTime};
use rootset_model::{Timestamp, WorkspaceKey};

use crate::driver::{Tenant, Transaction, Value, Wall};
use crate::error::StoreError;
use crate::statements::time as sql;
use crate::{Store, workspaces};

impl Store {
    /// The database's own clock now; nothing is written.
    pub fn observed_time(&self) -> Result<ObservedTime, StoreError> {
        self.read(Tenant::Database, |tx| tx.observed_time())
    }

    /// Moves the database's own clock on: for whoever runs and writes nothing.
    pub fn observe(&self) -> Result<ObservedTime, StoreError> {
        self.touch(Tenant::Database, |tx| tx.observed_time())
    }

    /// A person vouches for the wall clock: it is the measure of what follows, and a doubt is over.
    pub fn believe_wall(&self, wall: Timestamp) -> Result<(), StoreError> {
        self.touch(Tenant::Database, |tx| tx.execute(&sql::BELIEVE, &[wall.into()]).map(drop))
    }

    /// After a doubt: what was written meanwhile is stamped anew, counted back from `now`. Answers how many rows that were.
    pub fn restamp(&self, now: Timestamp) -> Result<usize, StoreError> {
        let clock = self.observed_time()?;
        let Some(doubt) = clock.doubt.filter(|_| clock.is_doubt_over()) else { return Ok(0) };
        let mut waiting: Vec<WorkspaceKey> = Vec::new();
        self.read(Tenant::Database, |tx| {
            waiting.clear();
            let all = workspaces::keys(tx)?;
            tx.query_each(&all, &sql::HAS_STAMPS_IN_DOUBT, &[now.into()], &mut |workspace, _| {
                waiting.push(workspace);
                Ok(())
            })
        })?;
        let mut restamped = 0;
        for workspace in waiting {
            restamped += self.write(workspace, |tx| restamp_workspace(tx, workspace, now))?;
        }
        self.touch(Tenant::Database, |tx| tx.execute(&sql::FORGET_DOUBT, &[doubt.ends_ms.into()]).map(drop))?;
        Ok(restamped)
    }
}

/// Nothing where the clock has come into doubt again since.
pub(crate) fn restamp_workspace(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    now: Timestamp,
) -> Result<usize, StoreError> {
    let clock = tx.observed_time()?;
    if clock.is_in_doubt() {
        return Ok(0);
    }
    let parameters = [workspace.into(), now.into(), clock.observed_ms.into()];
    let memories = tx.execute(&sql::RESTAMP_MEMORIES, &parameters)?;
    let runs = tx.execute(&sql::RESTAMP_RUNS, &parameters)?;
    tx.execute(&sql::RESTAMP_USES, &[workspace.into(), now.into()])?;
    if memories + runs > 0 {
        tx.execute(&sql::RESTAMP_JOBS, &[workspace.into(), now.into()])?;
        // Plans of before are asked again.
        workspaces::touch(tx, workspace, 0, 0, now)?;
    }
    Ok(memories + runs)
}

/// What a row that is written now keeps of the database's own clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObservedStamp {
    pub observed_ms: i64,
    is_in_doubt: bool,
}

impl ObservedStamp {
    pub fn now(tx: &mut dyn Transaction) -> Result<Self, StoreError> {
        let clock = tx.observed_time()?;
        Ok(Self { observed_ms: clock.observed_ms, is_in_doubt: clock.is_in_doubt() })
    }

    /// 1, or nothing at all: hardly any row is written in doubt, and an index holds those that were.
    pub fn doubt(&self) -> Value<'static> {
        if self.is_in_doubt { Value::Integer(1) } else { Value::Null }
    }
}

/// The clock as it is stored.
pub(crate) fn stored(tx: &mut dyn Transaction) -> Result<ObservedTime, StoreError> {
    let clock =
        tx.row(&sql::OBSERVED, &[], |row| Ok(of_columns(row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    clock.ok_or(StoreError::MissingRow { statement: sql::OBSERVED.name })
}

pub(crate) fn of_columns(
    observed_ms: i64,
    last_wall_ms: Option<i64>,
    doubt_ends_ms: Option<i64>,
    doubt_jump_ms: Option<i64>,
) -> ObservedTime {
    let doubt = doubt_ends_ms.map(|ends_ms| Doubt { ends_ms, jump_ms: doubt_jump_ms.unwrap_or_default() });
    ObservedTime { observed_ms, last_wall: last_wall_ms.map(Timestamp), doubt }
}

/// For `observe`.
pub(crate) fn parameters(clock: &ObservedTime) -> [Value<'static>; 4] {
    [
        clock.observed_ms.into(),
        clock.last_wall.into(),
        clock.doubt.map(|doubt| doubt.ends_ms).into(),
        clock.doubt.map(|doubt| doubt.jump_ms).into(),
    ]
}

/// The wall clock of this machine. One before 1970 is broken: time 0 makes nothing old.
pub(crate) fn of_this_machine() -> Wall {
    Arc::new(|| {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    })
}
