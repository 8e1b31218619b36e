//! Notes that a process leaves for the next one without holding a lease: what hooks know of an agent's session, and what a
//! memory was found to be. They lie in the table of leases, under kinds of their own, and are never due.
//!
//! Not for text of people: a note holds ids, positions, hashes and counts, so that nothing has to be erased from it. Notes are
//! in no backup.

use std::collections::HashMap;

use rootset_model::{Timestamp, WorkspaceKey};

use crate::Store;
use crate::driver::{Row, Transaction};
use crate::error::StoreError;
use crate::statements::notes as sql;

/// That the user said a memory, beside the memory itself: gone with it.
pub const WITNESS: &str = "witness";

/// What a note is about: a kind of notes, and one thing of that kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoteKey {
    pub kind: &'static str,
    pub subject: [u8; 16],
}

impl Store {
    /// The notes about these, where there are any.
    pub fn notes_about(
        &self,
        workspace: WorkspaceKey,
        kind: &'static str,
        subjects: &[[u8; 16]],
    ) -> Result<HashMap<[u8; 16], String>, StoreError> {
        if subjects.is_empty() {
            return Ok(HashMap::new());
        }
        let parameters = [workspace.into(), kind.into(), subjects.into()];
        let rows = self.read(workspace, |tx| tx.rows(&sql::MANY, &parameters, note))?;
        Ok(rows.into_iter().filter_map(|(subject, text)| Some((subject, text?))).collect())
    }

    /// So many notes of a kind, the last written first.
    pub fn newest_notes(
        &self,
        workspace: WorkspaceKey,
        kind: &'static str,
        limit: usize,
    ) -> Result<Vec<([u8; 16], String)>, StoreError> {
        let parameters = [workspace.into(), kind.into(), (limit as i64).into()];
        let rows = self.read(workspace, |tx| tx.rows(&sql::NEWEST, &parameters, note))?;
        Ok(rows.into_iter().filter_map(|(subject, text)| Some((subject, text?))).collect())
    }

    /// Changes notes together. `change` gets them as they are, in the order of the keys; what it leaves as `None` goes.
    pub fn change_notes(
        &self,
        workspace: WorkspaceKey,
        keys: &[NoteKey],
        now: Timestamp,
        mut change: impl FnMut(&mut [Option<String>]),
    ) -> Result<(), StoreError> {
        self.touch(workspace, |tx| {
            let before = keys.iter().map(|key| held(tx, workspace, key)).collect::<Result<Vec<_>, _>>()?;
            let mut after = before.clone();
            change(&mut after);
            for ((key, before), after) in keys.iter().zip(&before).zip(&after) {
                let about = [workspace.into(), key.kind.into(), (&key.subject).into()];
                match after {
                    Some(text) if before.as_ref() != Some(text) => {
                        let parameters = [about.as_slice(), &[now.into(), text.as_bytes().into()]].concat();
                        tx.execute(&sql::KEEP, &parameters)?;
                    }
                    None if before.is_some() => drop(tx.execute(&sql::DROP, &about)?),
                    _ => {}
                }
            }
            Ok(())
        })
    }

    /// Drops notes of a kind that were last written before then.
    pub fn drop_notes_before(
        &self,
        workspace: WorkspaceKey,
        kind: &'static str,
        before: Timestamp,
    ) -> Result<usize, StoreError> {
        self.touch(workspace, |tx| tx.execute(&sql::DROP_OLDER, &[workspace.into(), kind.into(), before.into()]))
    }
}

/// A note that is no text was never written.
fn note(row: &dyn Row) -> Result<([u8; 16], Option<String>), StoreError> {
    let bytes: Option<Vec<u8>> = row.get(1)?;
    Ok((row.get(0)?, bytes.and_then(|bytes| String::from_utf8(bytes).ok())))
}

fn held(tx: &mut dyn Transaction, workspace: WorkspaceKey, key: &NoteKey) -> Result<Option<String>, StoreError> {
    let parameters = [workspace.into(), key.kind.into(), (&key.subject).into()];
    let bytes: Option<Vec<u8>> = tx.row(&sql::HELD, &parameters, |row| row.get(0))?.flatten();
    Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
}
