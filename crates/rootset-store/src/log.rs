//! The engine's log, which still holds what was removed until it is emptied, and full-text indexes that hold rows which are
//! only marked. A reader of the old log or a full disk may prevent that: it is remembered, and a later
//! process tries again.

use std::sync::atomic::Ordering;

use crate::Store;
use crate::error::StoreError;

impl Store {
    /// Rewrites indexes that owe it, moves what was written out of the log and truncates it; `false` while a reader still
    /// holds the old one, or the disk has no room for the rewriting.
    pub fn empty_log(&self) -> Result<bool, StoreError> {
        // A failure leaves it to be tried again, too.
        self.log_waits.store(true, Ordering::Relaxed);
        let is_compact = self.compact_searches()?;
        let is_clean = self.engine.truncate_log()? && is_compact;
        self.log_waits.store(!is_clean, Ordering::Relaxed);
        Ok(is_clean)
    }

    /// The same after a change that is stored already: what goes wrong is told beside its outcome.
    pub(crate) fn empty_log_after(&self, warnings: &mut Vec<String>) -> bool {
        match self.empty_log() {
            Ok(true) => true,
            Ok(false) => {
                warnings.push(
                    "removed text is still in the log, which is in use; the log is emptied later, or by purging again"
                        .to_owned(),
                );
                false
            }
            Err(error) => {
                warnings.push(format!("the log could not be emptied, so removed text is still in it: {error}"));
                false
            }
        }
    }

    /// Tries again what a reader stood in the way of; `true` when there is nothing, or nothing any more.
    pub fn retry_log(&self) -> Result<bool, StoreError> {
        if self.log_waits.load(Ordering::Relaxed) { self.empty_log() } else { Ok(true) }
    }

    /// Moves what was written long ago out of the log, if no reader stands in the way: nothing acknowledged should be in the
    /// log alone for days. For whoever has time, now and then.
    pub fn empty_old_log(&self) -> Result<(), StoreError> {
        if self.engine.has_old_log() { self.engine.shrink_log().map(drop) } else { Ok(()) }
    }
}
