//! The notes that a brief is chosen from, and how many wait before they may be in one.

use std::collections::HashMap;

use rootset_model::{Content, MemoryId, PinnedBy, Timestamp, Trust};

use super::{read_content, read_list};
use crate::driver::Row;
use crate::error::StoreError;
use crate::statements::memories as sql;
use crate::{Store, Workspace};

/// A current note.
#[derive(Clone, Debug)]
pub struct Recent {
    pub id: MemoryId,
    pub name: Option<String>,
    pub written_by: String,
    pub tags: Vec<String>,
    pub trust: Trust,
    pub pinned_by: Option<PinnedBy>,
    /// When its text was written, and when anything of it changed.
    pub said_at: Timestamp,
    pub changed_at: Timestamp,
    /// The user said its text in a prompt of the session that stored it.
    pub is_witnessed: bool,
    /// Its text is cut.
    pub content: Content,
}

impl Store {
    /// What is pinned and what is newest beside it, so many of either.
    pub fn recent_notes(&self, workspace: &Workspace, limit: usize, now: Timestamp) -> Result<Vec<Recent>, StoreError> {
        let (source, after, before): (Option<&str>, Option<Timestamp>, Option<Timestamp>) = (None, None, None);
        let tags: &[String] = &[];
        let parameters = [
            workspace.key.into(),
            now.into(),
            source.into(),
            0_i64.into(),
            tags.into(),
            after.into(),
            before.into(),
            (limit as i64).into(),
        ];
        self.read(workspace, |tx| {
            let mut ids: Vec<[u8; 16]> = tx.rows(&sql::RECENT_PINNED, &parameters, |row| row.get(0))?;
            ids.extend(tx.rows(&sql::RECENT_UNPINNED, &parameters, |row| row.get::<[u8; 16]>(0))?);
            let rows = tx.rows(&sql::NOTES, &[workspace.key.into(), ids.as_slice().into()], Recent::read)?;
            let mut notes: HashMap<[u8; 16], Recent> = rows.into_iter().map(|note| (note.id.0, note)).collect();
            Ok(ids.iter().filter_map(|id| notes.remove(id)).collect())
        })
    }

    /// These notes, in their order, as far as they are there.
    pub fn notes_by_ids(&self, workspace: &Workspace, ids: &[MemoryId]) -> Result<Vec<Recent>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let wanted: Vec<[u8; 16]> = ids.iter().map(|id| id.0).collect();
        let parameters = [workspace.key.into(), wanted.as_slice().into()];
        let rows = self.read(workspace, |tx| tx.rows(&sql::NOTES, &parameters, Recent::read))?;
        let mut notes: HashMap<[u8; 16], Recent> = rows.into_iter().map(|note| (note.id.0, note)).collect();
        Ok(wanted.iter().filter_map(|id| notes.remove(id)).collect())
    }

    /// Those that agents wrote over MCP since then, the newest first.
    pub fn notes_of_agents_since(
        &self,
        workspace: &Workspace,
        since: Timestamp,
        limit: usize,
    ) -> Result<Vec<Recent>, StoreError> {
        let parameters = [workspace.key.into(), since.into(), (limit as i64).into()];
        self.read(workspace, |tx| {
            let ids: Vec<[u8; 16]> = tx.rows(&sql::OF_AGENTS_SINCE, &parameters, |row| row.get(0))?;
            tx.rows(&sql::NOTES, &[workspace.key.into(), ids.as_slice().into()], Recent::read)
        })
    }

    /// How many current memories wait for a person before they are pushed.
    pub fn count_waiting(&self, workspace: &Workspace, now: Timestamp) -> Result<i64, StoreError> {
        self.read(workspace, |tx| tx.scalar(&sql::COUNT_WAITING, &[workspace.key.into(), now.into()]))
    }
}

/// What is noted of a memory whose text the user said: the text of that time, and no later one.
pub fn witness_of(said_at: Timestamp) -> String {
    said_at.0.to_string()
}

impl Recent {
    fn read(row: &dyn Row) -> Result<Self, StoreError> {
        let tags: Option<String> = row.get(3)?;
        let said_at: Timestamp = row.get(7)?;
        let witness: Option<Vec<u8>> = row.get(12)?;
        Ok(Self {
            is_witnessed: witness.is_some_and(|witness| witness == witness_of(said_at).as_bytes()),
            id: row.get(0)?,
            name: row.get(1)?,
            written_by: row.get(2)?,
            tags: read_list(tags.as_deref())?,
            changed_at: row.get(4)?,
            trust: row.get(5)?,
            pinned_by: row.get(6)?,
            said_at,
            content: read_content(row, 8)?,
        })
    }
}
