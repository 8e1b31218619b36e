//! The engine's log, which still holds what was removed until it is emptied. A reader of the old log stands in the way:
//! that is remembered, and whoever has time tries again.

use std::sync::atomic::Ordering;

use crate::Store;
use crate::error::StoreError;

impl Store {
    /// Moves what was written out of the log and truncates it; `false` while a reader still holds the old one.
    pub fn empty_log(&self) -> Result<bool, StoreError> {
        // A failure leaves it to be tried again, too.
        self.log_waits.store(true, Ordering::Relaxed);
        let is_clean = self.engine.truncate_log()?;
        self.log_waits.store(!is_clean, Ordering::Relaxed);
        Ok(is_clean)
    }

    /// Tries again what a reader stood in the way of; `true` when there is nothing, or nothing any more.
    pub fn retry_log(&self) -> Result<bool, StoreError> {
        if self.log_waits.load(Ordering::Relaxed) { self.empty_log() } else { Ok(true) }
    }
}
