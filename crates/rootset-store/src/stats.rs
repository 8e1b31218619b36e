//! Counts and sizes.

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
    pub revisions: i64,
    pub vectors: i64,
    pub content_bytes: i64,
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
    /// Rows as stored, trash included; sizes are of the whole database.
    pub fn stats(&self, workspace: &Workspace) -> Result<Stats, StoreError> {
        let mut stats = self.read(|tx| {
            let by_source = tx.rows(&sql::MEMORIES_BY_SOURCE, &[workspace.key.into()], |row| {
                Ok(SourceCounts {
                    source: row.get(0)?,
                    memories: row.get(1)?,
                    trashed: row.get(2)?,
                    pending: row.get(3)?,
                })
            })?;
            let counts = tx.row(&sql::ROW_COUNTS, &[workspace.key.into()], |row| {
                Ok(Stats {
                    by_source: Vec::new(),
                    chunks: row.get(0)?,
                    entities: row.get(1)?,
                    relations: row.get(2)?,
                    revisions: row.get(3)?,
                    vectors: row.get(4)?,
                    content_bytes: row.get::<Option<i64>>(5)?.unwrap_or(0),
                    sizes: Sizes::default(),
                })
            })?;
            Ok(Stats { by_source, ..counts.unwrap_or_default() })
        })?;
        stats.sizes = self.engine.sizes()?;
        Ok(stats)
    }
}
