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

    fn put_back(&self, taken: &[RecordedUse]) {
        let mut uses = self.uses.lock();
        for it in taken {
            let (count, last) = uses.entry((it.workspace, it.memory)).or_insert((0, it.last_used_at));
            *count += it.count;
            *last = it.last_used_at.max(*last);
        }
    }
}

impl Service {
    /// Writes the uses that were served since the last flush. After a failure they wait for the next one: a use must save
    /// its memory from a plan that is applied later.
    pub fn flush_uses(&self) -> Result<(), ServiceError> {
        let mut uses = self.uses.take();
        // The clock may have been ahead when they were served.
        let now = self.now();
        uses.iter_mut().for_each(|it| it.last_used_at = it.last_used_at.min(now));
        self.store.record_uses(&uses).inspect_err(|_| self.uses.put_back(&uses))?;
        Ok(())
    }
}
