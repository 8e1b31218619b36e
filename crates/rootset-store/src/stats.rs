//! Counts and sizes.

use std::collections::BTreeMap;

use crate::driver::Sizes;
use crate::error::StoreError;
use crate::statements::stats as sql;
use crate::{Store, Workspace};

#[derive(Clone, Debug, Default)]
pub struct Stats {
    pub by_source: Vec<SourceCounts>,
    pub chunks: i64,
    pub entities: i64,
    pub relations: i64,
    pub vectors: i64,
    pub content_bytes: i64,
    pub sessions: i64,
    pub segments: i64,
    /// Living ones that are out of their window.
    pub stashed: i64,
    pub sizes: Sizes,
}

#[derive(Clone, Debug)]
pub struct SourceCounts {
    pub source: String,
    pub memories: i64,
    pub trashed: i64,
    pub pending: i64,
}

impl Store {
    /// How many living memories have each tag, the most frequent first.
    pub fn tag_counts(&self, workspace: &Workspace, limit: i64) -> Result<Vec<(String, i64)>, StoreError> {
        self.read(workspace, |tx| {
            let parameters = [workspace.key.into(), limit.into()];
            tx.rows(&sql::TAG_COUNTS, &parameters, |row| Ok((row.get(0)?, row.get(1)?)))
        })
    }

    /// Rows as stored, trash included; sizes are of the whole database.
    pub fn stats(&self, workspace: &Workspace) -> Result<Stats, StoreError> {
        let mut stats = self.read(workspace, |tx| {
            let mut counted = |statement| -> Result<BTreeMap<String, i64>, StoreError> {
                let rows = tx.rows(statement, &[workspace.key.into()], |row| Ok((row.get(0)?, row.get(1)?)))?;
                Ok(rows.into_iter().collect())
            };
            let all = counted(&sql::MEMORIES_BY_SOURCE)?;
            let trashed = counted(&sql::TRASHED_BY_SOURCE)?;
            let pending = counted(&sql::PENDING_BY_SOURCE)?;
            let of = |counts: &BTreeMap<String, i64>, source: &str| counts.get(source).copied().unwrap_or(0);
            let by_source = all
                .into_iter()
                .map(|(source, memories)| SourceCounts {
                    memories,
                    trashed: of(&trashed, &source),
                    pending: of(&pending, &source),
                    source,
                })
                .collect();
            let counts = tx.row(&sql::ROW_COUNTS, &[workspace.key.into()], |row| {
                Ok(Stats {
                    by_source: Vec::new(),
                    chunks: row.get(0)?,
                    entities: row.get(1)?,
                    relations: row.get(2)?,
                    vectors: row.get(3)?,
                    content_bytes: row.get::<Option<i64>>(4)?.unwrap_or(0),
                    sessions: row.get(5)?,
                    segments: row.get(6)?,
                    stashed: row.get(7)?,
                    sizes: Sizes::default(),
                })
            })?;
            Ok(Stats { by_source, ..counts.unwrap_or_default() })
        })?;
        stats.sizes = self.engine.sizes()?;
        Ok(stats)
    }
}
