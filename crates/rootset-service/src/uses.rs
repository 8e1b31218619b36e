//! Uses that were served but not yet written: collected here, flushed after the answer, so that reading stays reading.

use std::collections::HashMap;

use parking_lot::Mutex;
use rootset_model::{MemoryId, Timestamp, WorkspaceKey};
use rootset_store::{RecordedUse, Workspace};

use crate::error::ServiceError;
use crate::service::Service;

#[derive(Debug, Default)]
pub struct UseBuffer {
    uses: Mutex<HashMap<(WorkspaceKey, MemoryId), (i64, Timestamp)>>,
}

impl UseBuffer {
    pub fn record(&self, workspace: &Workspace, memories: impl IntoIterator<Item = MemoryId>, now: Timestamp) {
        let mut uses = self.uses.lock();
        for memory in memories {
            let (count, last) = uses.entry((workspace.key, memory)).or_insert((0, now));
            *count += 1;
            *last = now.max(*last);
        }
    }

    fn take(&self) -> Vec<RecordedUse> {
        let uses = std::mem::take(&mut *self.uses.lock());
        uses.into_iter()
            .map(|((workspace, memory), (count, last_used_at))| RecordedUse { workspace, memory, count, last_used_at })
            .collect()
    }
}

impl Service {
    /// Writes the uses that were served since the last flush. A failure loses counts, never an answer.
    pub fn flush_uses(&self) -> Result<(), ServiceError> {
        Ok(self.store.record_uses(&self.uses.take())?)
    }
}
