//! The ledger of a session: what was stashed, restored, compressed or deleted, when and why. Never content.

use rootset_model::Timestamp;

use crate::error::StoreError;
use crate::statements::context as sql;
use crate::{Store, Workspace};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerAction {
    Stash,
    Restore,
    Compress,
    Delete,
}

impl LedgerAction {
    const ALL: [Self; 4] = [Self::Stash, Self::Restore, Self::Compress, Self::Delete];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stash => "stash",
            Self::Restore => "restore",
            Self::Compress => "compress",
            Self::Delete => "delete",
        }
    }

    pub fn from_stored(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == word)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    pub seq: i64,
    pub at: Timestamp,
    pub actor: String,
    pub segment: i64,
    /// `None` when the segment was purged.
    pub segment_id: Option<String>,
    pub action: LedgerAction,
    pub tokens: u32,
    pub reason: String,
}

impl Store {
    /// A page of a session's ledger, newest first, and how many lines there are.
    pub fn ledger(
        &self,
        workspace: &Workspace,
        session: i64,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<LedgerEntry>, i64), StoreError> {
        self.read(workspace, |tx| {
            let total = tx.scalar(&sql::LEDGER_COUNT, &[workspace.key.into(), session.into()])?;
            let parameters = [workspace.key.into(), session.into(), limit.into(), offset.into()];
            let lines = tx.rows(&sql::LEDGER, &parameters, |row| {
                let action = LedgerAction::from_stored(&row.get::<String>(5)?);
                Ok(LedgerEntry {
                    seq: row.get(0)?,
                    at: row.get(1)?,
                    actor: row.get(2)?,
                    segment: row.get(3)?,
                    segment_id: row.get(4)?,
                    action: action.ok_or(StoreError::UnreadableValue("an action of the ledger"))?,
                    tokens: row.get(6)?,
                    reason: row.get(7)?,
                })
            })?;
            Ok((lines, total))
        })
    }
}
