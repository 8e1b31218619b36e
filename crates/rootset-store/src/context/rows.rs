//! A segment's row: everything but its words.

use rootset_gc::context::{Lines, SegmentState, SegmentType};
use rootset_model::Timestamp;

use crate::driver::{Column, Row};
use crate::error::StoreError;
use crate::memories::read_list;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentRow {
    /// Rises in the order of addition, over all sessions of the workspace.
    pub segment: i64,
    pub segment_id: String,
    pub segment_type: SegmentType,
    pub role: Option<String>,
    pub tool_call_id: Option<String>,
    pub tokens: u32,
    pub created_at: Timestamp,
    pub created_step: i64,
    /// The last explicit touch (added, restored, pinned): touches by references are derived.
    pub touched_at: Timestamp,
    pub touched_step: i64,
    pub is_pinned: bool,
    pub pin_reason: Option<String>,
    pub is_invariant: bool,
    pub file_path: Option<String>,
    pub lines: Option<Lines>,
    pub tags: Vec<String>,
    pub topic_id: Option<String>,
    pub task_id: Option<String>,
    pub references: Vec<String>,
    pub reply_to: Option<String>,
    pub derived_from: Option<String>,
    /// Hashes of the names that the text holds.
    pub names: Vec<u64>,
    pub text_hash: [u8; 16],
    pub text_chars: i64,
    /// As stored; `Deleted` while it is in the trash.
    pub state: SegmentState,
    pub stashed_at: Option<Timestamp>,
    pub stash_reason: Option<String>,
    pub entered_collection: i64,
    /// The session's version when the row last changed: what plans compare.
    pub version: i64,
    pub written_by: String,
}

/// A row of the columns `segment_columns`.
pub(super) fn read(row: &dyn Row) -> Result<SegmentRow, StoreError> {
    let is_trashed: bool = row.get(31)?;
    let state = stored_state(text(row, 25)?.unwrap_or_default())?;
    let (first, last): (Option<u32>, Option<u32>) = (row.get(14)?, row.get(15)?);
    Ok(SegmentRow {
        segment: row.get(0)?,
        segment_id: row.get(1)?,
        segment_type: stored_type(text(row, 2)?.unwrap_or_default())?,
        role: row.get(3)?,
        tool_call_id: row.get(4)?,
        tokens: row.get(5)?,
        created_at: row.get(6)?,
        created_step: row.get(7)?,
        touched_at: row.get(8)?,
        touched_step: row.get(9)?,
        is_pinned: row.get(10)?,
        pin_reason: row.get(11)?,
        is_invariant: row.get(12)?,
        file_path: row.get(13)?,
        lines: first.zip(last).map(|(first, last)| Lines { first, last }),
        tags: read_list(text(row, 16)?)?,
        topic_id: row.get(17)?,
        task_id: row.get(18)?,
        references: read_list(text(row, 19)?)?,
        reply_to: row.get(20)?,
        derived_from: row.get(21)?,
        names: unpacked(blob(row, 22)?)?,
        text_hash: row.get(23)?,
        text_chars: row.get(24)?,
        state: if is_trashed { SegmentState::Deleted } else { state },
        stashed_at: row.get(26)?,
        stash_reason: row.get(27)?,
        entered_collection: row.get(28)?,
        version: row.get(29)?,
        written_by: row.get(30)?,
    })
}

/// Borrowed: a session has many rows, and most of these texts become something else.
fn text(row: &dyn Row, index: usize) -> Result<Option<&str>, StoreError> {
    match row.column(index)? {
        Column::Text(text) => Ok(Some(text)),
        Column::Null => Ok(None),
        _ => Err(StoreError::UnexpectedColumn { index }),
    }
}

fn blob(row: &dyn Row, index: usize) -> Result<&[u8], StoreError> {
    match row.column(index)? {
        Column::Blob(bytes) => Ok(bytes),
        _ => Err(StoreError::UnexpectedColumn { index }),
    }
}

pub(crate) fn stored_type(word: &str) -> Result<SegmentType, StoreError> {
    let found = SegmentType::ALL.into_iter().find(|it| it.as_str() == word);
    found.ok_or(StoreError::UnreadableValue("the type of a segment"))
}

pub(crate) fn stored_state(word: &str) -> Result<SegmentState, StoreError> {
    match word {
        ACTIVE => Ok(SegmentState::Active),
        STASHED => Ok(SegmentState::Stashed),
        _ => Err(StoreError::UnreadableValue("the state of a segment")),
    }
}

const ACTIVE: &str = "active";
const STASHED: &str = "stashed";

/// The word under which a state is stored.
///
/// # Panics
///
/// For `Deleted`, which is no state of its own: only the protocol deletes.
pub(super) fn state_word(state: SegmentState) -> &'static str {
    match state {
        SegmentState::Active => ACTIVE,
        SegmentState::Stashed => STASHED,
        SegmentState::Deleted => panic!("segments are deleted by a plan, not by a change of their session"),
    }
}

pub(super) fn packed(names: &[u64]) -> Vec<u8> {
    names.iter().flat_map(|name| name.to_le_bytes()).collect()
}

fn unpacked(bytes: &[u8]) -> Result<Vec<u64>, StoreError> {
    let (names, rest) = bytes.as_chunks::<8>();
    match rest {
        [] => Ok(names.iter().map(|name| u64::from_le_bytes(*name)).collect()),
        _ => Err(StoreError::UnreadableValue("the names of a segment")),
    }
}

/// Whether packed names can be read, for archives.
pub(crate) fn are_names(bytes: &[u8]) -> bool {
    unpacked(bytes).is_ok()
}
