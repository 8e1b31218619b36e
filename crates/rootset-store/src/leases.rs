//! Leases: the right of one process to do one piece of work, for a while.
//!
//! A lease runs out by itself when its holder dies. Its fence is checked in every transaction of the work, so that a
//! holder who was only slow, and whose lease somebody else has taken since, changes nothing any more.

use std::collections::HashMap;

use rootset_model::{Timestamp, WorkspaceKey};

use crate::Store;
use crate::driver::{Tenant, Transaction};
use crate::error::StoreError;
use crate::statements::leases as sql;

/// What a lease is about: in one workspace, or with [`DATABASE`] in the database as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    pub workspace: WorkspaceKey,
    pub kind: &'static str,
    pub subject: [u8; 16],
}

/// No workspace has this number: work and audit entries of the database itself carry it.
pub const DATABASE: WorkspaceKey = WorkspaceKey(0);

impl Work {
    pub fn of_workspace(workspace: WorkspaceKey, kind: &'static str) -> Self {
        Self { workspace, kind, subject: [0; 16] }
    }
}

/// Held until its time is over, or released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    work: Work,
    fence: i64,
}

impl Store {
    /// `None` while somebody else holds it.
    pub fn acquire_lease(&self, work: Work, now: Timestamp, lease_ms: i64) -> Result<Option<Lease>, StoreError> {
        // Looking first spares the write lock when there is nothing to win.
        let longest = longest(now, lease_ms);
        if self.read(work.workspace, |tx| held_until(tx, work))?.is_some_and(|until| until > now && until <= longest) {
            return Ok(None);
        }
        self.touch(work.workspace, |tx| acquire(tx, work, now, lease_ms))
    }

    pub fn renew_lease(&self, lease: &Lease, now: Timestamp, lease_ms: i64) -> Result<(), StoreError> {
        self.touch(lease.work.workspace, |tx| renew(tx, lease, now, lease_ms))
    }

    /// Releasing a lease that was lost meanwhile changes nothing.
    pub fn release_lease(&self, lease: &Lease) -> Result<(), StoreError> {
        self.touch(lease.work.workspace, |tx| {
            tx.execute(&sql::RELEASE, &[key(&lease.work), vec![lease.fence.into()]].concat()).map(drop)
        })
    }

    /// Leaves a note for the next holder: state that must outlive this process.
    pub fn note_for_lease(&self, lease: &Lease, note: &str) -> Result<(), StoreError> {
        let parameters = [key(&lease.work), vec![lease.fence.into(), note.as_bytes().into()]].concat();
        self.touch(lease.work.workspace, |tx| match tx.execute(&sql::NOTE, &parameters)? {
            0 => Err(StoreError::LeaseLost),
            _ => Ok(()),
        })
    }

    /// The notes of one kind of work in every workspace that has one.
    pub fn notes_of_all(&self, kind: &str) -> Result<HashMap<WorkspaceKey, String>, StoreError> {
        let rows: Vec<(WorkspaceKey, Option<Vec<u8>>)> = self
            .read(Tenant::Database, |tx| tx.rows(&sql::NOTES, &[kind.into()], |row| Ok((row.get(0)?, row.get(1)?))))?;
        let text = |(key, note): (WorkspaceKey, Option<Vec<u8>>)| Some((key, String::from_utf8(note?).ok()?));
        Ok(rows.into_iter().filter_map(text).collect())
    }

    /// What the last holder noted.
    pub fn noted_for_lease(&self, work: Work) -> Result<Option<String>, StoreError> {
        let note: Option<Vec<u8>> =
            self.read(work.workspace, |tx| Ok(tx.row(&sql::NOTED, &key(&work), |row| row.get(0))?.flatten()))?;
        let unreadable = |_| StoreError::UnreadableValue("the note of a lease");
        note.map(|bytes| String::from_utf8(bytes).map_err(unreadable)).transpose()
    }
}

fn key(work: &Work) -> Vec<crate::driver::Value<'_>> {
    vec![work.workspace.into(), work.kind.into(), (&work.subject).into()]
}

pub(crate) fn acquire(
    tx: &mut dyn Transaction,
    work: Work,
    now: Timestamp,
    lease_ms: i64,
) -> Result<Option<Lease>, StoreError> {
    let until = now.saturating_add_ms(lease_ms);
    let parameters = [key(&work), vec![now.into(), until.into(), longest(now, lease_ms).into()]].concat();
    let fence = tx.row(&sql::ACQUIRE, &parameters, |row| row.get(0))?;
    Ok(fence.map(|fence| Lease { work, fence }))
}

/// The latest end that a lease of this length can have, whichever of our machines took it.
fn longest(now: Timestamp, lease_ms: i64) -> Timestamp {
    now.saturating_add_ms(lease_ms).saturating_add_ms(rootset_gc::BEHIND_MS_MAX)
}

pub(crate) fn held_until(tx: &mut dyn Transaction, work: Work) -> Result<Option<Timestamp>, StoreError> {
    tx.row(&sql::HELD_UNTIL, &key(&work), |row| row.get(0))
}

/// The check of the fence, and more time; [`StoreError::LeaseLost`] when somebody else has taken over.
pub(crate) fn renew(tx: &mut dyn Transaction, lease: &Lease, now: Timestamp, lease_ms: i64) -> Result<(), StoreError> {
    let until = now.saturating_add_ms(lease_ms);
    match tx.execute(&sql::RENEW, &[key(&lease.work), vec![lease.fence.into(), until.into()]].concat())? {
        0 => Err(StoreError::LeaseLost),
        _ => Ok(()),
    }
}

/// The end of work whose holder must still be the holder: [`StoreError::LeaseLost`] when somebody else has taken over.
pub(crate) fn release(tx: &mut dyn Transaction, lease: &Lease) -> Result<(), StoreError> {
    match tx.execute(&sql::RELEASE, &[key(&lease.work), vec![lease.fence.into()]].concat())? {
        0 => Err(StoreError::LeaseLost),
        _ => Ok(()),
    }
}

/// For work that is done for good, whoever holds it: a late holder finds nothing to renew.
pub(crate) fn remove(tx: &mut dyn Transaction, work: Work) -> Result<(), StoreError> {
    tx.execute(&sql::REMOVE, &key(&work)).map(drop)
}
