//! Defragmentation: the files rebuilt without what was purged, in place and as one step of the engine.

use crate::driver::{Sizes, Tenant};
use crate::error::StoreError;
use crate::failpoints::failpoint;
use crate::leases::DATABASE;
use crate::statements::backup as sql;
use crate::{Stamp, Store, audit};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defragmented {
    pub bytes_before: i64,
    pub bytes_after: i64,
    /// What went wrong after the files were rebuilt.
    pub warnings: Vec<String>,
}

impl Store {
    /// Rebuilds, verifies and reports. Writers wait, readers go on; killed at any point, nothing is lost.
    pub fn defragment(&self, stamp: Stamp<'_>) -> Result<Defragmented, StoreError> {
        let bytes = |sizes: Sizes| sizes.database_bytes + sizes.log_bytes;
        let bytes_before = bytes(self.engine.sizes()?);
        self.engine.compact()?;
        let (mut bytes_after, mut warnings) = (bytes_before, Vec::new());
        if let Err(error) = self.note_defragmented(bytes_before, &mut bytes_after, stamp) {
            warnings.push(format!("the database was rebuilt, but the rest of the work failed: {error}"));
        }
        Ok(Defragmented { bytes_before, bytes_after, warnings })
    }

    fn note_defragmented(&self, bytes_before: i64, bytes_after: &mut i64, stamp: Stamp<'_>) -> Result<(), StoreError> {
        self.engine.shrink_log()?;
        let sizes = self.engine.sizes()?;
        *bytes_after = sizes.database_bytes + sizes.log_bytes;
        self.write(Tenant::Database, |tx| {
            tx.execute(&sql::RESET_PURGED_CHUNKS, &[])?;
            let counts = serde_json::json!({"bytes_before": bytes_before, "bytes_after": *bytes_after}).to_string();
            audit::append(tx, DATABASE, stamp, &audit::Entry { counts: Some(counts), ..audit::Entry::of("defrag") })
        })?;
        failpoint!("defrag.noted");
        self.engine.shrink_log().map(drop)
    }
}
