//! What is stored as text, page by page: memories with all their revisions, imported entities, segments. For whoever looks for
//! something that no index knows, such as secrets. Memory is bounded by one page.

use rootset_model::{EntityId, MemoryId, RunId};

use crate::error::StoreError;
use crate::statements::secrets as sql;
use crate::{Store, Workspace};

/// Rows read at once. A text has at most a megabyte.
const PAGE_ROWS: i64 = 32;

/// Where a page begins: behind the row with this key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextsAfter {
    Revision(MemoryId, i64),
    Untracked(EntityId, RunId),
    Segment(i64),
}

impl TextsAfter {
    /// Before everything.
    pub const START: Self = Self::Revision(MemoryId([0; 16]), -1);
}

/// What holds texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextOwner {
    Memory { id: MemoryId, name: Option<String>, revision: i64, is_file: bool },
    Entity { id: EntityId },
    Segment { session_id: String, segment_id: String },
}

/// One row with its texts by the names of their fields. Lists and objects are texts in JSON.
#[derive(Clone, Debug)]
pub struct StoredTexts {
    pub owner: TextOwner,
    pub is_in_trash: bool,
    pub texts: Vec<(&'static str, String)>,
}

impl Store {
    /// The next page, and where the one after it begins; none at the end.
    pub fn stored_texts(
        &self,
        workspace: &Workspace,
        after: TextsAfter,
    ) -> Result<(Vec<StoredTexts>, Option<TextsAfter>), StoreError> {
        let (rows, next) = match after {
            TextsAfter::Revision(memory, revision) => {
                let rows = self.revisions_after(workspace, memory, revision)?;
                (rows, Some(TextsAfter::Untracked(EntityId([0; 16]), RunId([0; 16]))))
            }
            TextsAfter::Untracked(object, run) => {
                (self.untracked_after(workspace, object, run)?, Some(TextsAfter::Segment(i64::MIN)))
            }
            TextsAfter::Segment(segment) => (self.segments_after(workspace, segment)?, None),
        };
        let is_full = rows.len() as i64 == PAGE_ROWS;
        let last = rows.last().filter(|_| is_full).map(|(key, _)| *key);
        Ok((rows.into_iter().map(|(_, texts)| texts).collect(), last.or(next)))
    }

    fn revisions_after(
        &self,
        workspace: &Workspace,
        memory: MemoryId,
        revision: i64,
    ) -> Result<Vec<(TextsAfter, StoredTexts)>, StoreError> {
        self.read(workspace, |tx| {
            let parameters = [workspace.key.into(), (&memory).into(), revision.into(), PAGE_ROWS.into()];
            tx.rows(&sql::REVISIONS_AFTER, &parameters, |row| {
                let (id, revision): (MemoryId, i64) = (row.get(0)?, row.get(1)?);
                let name: Option<String> = row.get(2)?;
                let owner = TextOwner::Memory { id, name: name.clone(), revision, is_file: row.get(3)? };
                let columns =
                    ["file_path", "source", "metadata", "tags", "pin_reason", "supersede_reason", "topic", "context"];
                let mut texts = vec![("name", name)];
                for (index, field) in columns.into_iter().chain(["decisions", "rationale"]).enumerate() {
                    texts.push((field, row.get(5 + index)?));
                }
                Ok((TextsAfter::Revision(id, revision), stored(owner, row.get(4)?, texts)))
            })
        })
    }

    fn untracked_after(
        &self,
        workspace: &Workspace,
        object: EntityId,
        run: RunId,
    ) -> Result<Vec<(TextsAfter, StoredTexts)>, StoreError> {
        self.read(workspace, |tx| {
            let parameters = [workspace.key.into(), (&object).into(), (&run).into(), PAGE_ROWS.into()];
            tx.rows(&sql::UNTRACKED_AFTER, &parameters, |row| {
                let (id, run): (EntityId, RunId) = (row.get(0)?, row.get(1)?);
                let texts = vec![("name", row.get(2)?), ("type", row.get(3)?), ("description", row.get(4)?)];
                Ok((TextsAfter::Untracked(id, run), stored(TextOwner::Entity { id }, row.get(5)?, texts)))
            })
        })
    }

    fn segments_after(
        &self,
        workspace: &Workspace,
        segment: i64,
    ) -> Result<Vec<(TextsAfter, StoredTexts)>, StoreError> {
        self.read(workspace, |tx| {
            let parameters = [workspace.key.into(), segment.into(), PAGE_ROWS.into()];
            tx.rows(&sql::SEGMENTS_AFTER, &parameters, |row| {
                let owner = TextOwner::Segment { session_id: row.get(1)?, segment_id: row.get(2)? };
                let mut texts = Vec::new();
                let columns = ["text", "raw", "tags", "topic_id", "task_id", "pin_reason", "file_path"];
                for (index, field) in columns.into_iter().enumerate() {
                    texts.push((field, row.get(3 + index)?));
                }
                Ok((TextsAfter::Segment(row.get(0)?), stored(owner, row.get(10)?, texts)))
            })
        })
    }
}

fn stored(owner: TextOwner, is_in_trash: bool, texts: Vec<(&'static str, Option<String>)>) -> StoredTexts {
    let texts = texts.into_iter().filter_map(|(field, text)| Some((field, text?))).collect();
    StoredTexts { owner, is_in_trash, texts }
}
