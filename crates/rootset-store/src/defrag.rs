//! Defragmentation: the files rebuilt without what was purged, in place and as one step of the engine.

use crate::driver::{Sizes, Tenant};
use crate::error::StoreError;
use crate::failpoints::failpoint;
use crate::leases::DATABASE;
use crate::statements::backup as sql;
use crate::{Stamp, Store, audit};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defragmented {
    pub bytes_before: i64,
    pub bytes_after: i64,
}

impl Store {
    /// Rebuilds, verifies and reports. Writers wait, readers go on; killed at any point, nothing is lost.
    pub fn defragment(&self, stamp: Stamp<'_>) -> Result<Defragmented, StoreError> {
        let bytes = |sizes: Sizes| sizes.database_bytes + sizes.log_bytes;
        let bytes_before = bytes(self.engine.sizes()?);
        self.engine.compact()?;
        self.engine.truncate_log()?;
        let bytes_after = bytes(self.engine.sizes()?);
        self.write(Tenant::Database, |tx| {
            tx.execute(&sql::RESET_PURGED_CHUNKS, &[])?;
            let counts = serde_json::json!({"bytes_before": bytes_before, "bytes_after": bytes_after}).to_string();
            audit::append(tx, DATABASE, stamp, &audit::Entry { counts: Some(counts), ..audit::Entry::of("defrag") })
        })?;
        failpoint!("defrag.noted");
        self.engine.truncate_log()?;
        Ok(Defragmented { bytes_before, bytes_after })
    }
}
