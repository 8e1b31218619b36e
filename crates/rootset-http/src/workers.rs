//! Where the service runs: threads that may wait, apart from those that serve connections.
//!
//! Readers and writers have shares of their own. Writers queue for one lock, for up to a minute when another process holds
//! it; if they took every thread, nobody could read in the meantime.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::answer::Refusal;

/// As many as the store keeps connections for: one more would open and close its own each time.
const READERS_MAX: usize = 8;
/// Only one of them writes at a time, but adding a memory also waits for models.
const WRITERS_MAX: usize = 16;
/// Threads for both, and for other work in the same runtime.
pub const THREADS_MAX: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    Readers,
    Writers,
}

#[derive(Clone, Debug)]
pub struct Workers {
    readers: Arc<Semaphore>,
    writers: Arc<Semaphore>,
}

impl Workers {
    pub fn new() -> Self {
        Self { readers: Arc::new(Semaphore::new(READERS_MAX)), writers: Arc::new(Semaphore::new(WRITERS_MAX)) }
    }

    /// Runs `work` to its end even when the caller stops waiting: nothing is left half-done.
    pub async fn run<T: Send + 'static>(
        &self,
        share: Share,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let semaphore = match share {
            Share::Readers => &self.readers,
            Share::Writers => &self.writers,
        };
        let permit = semaphore.clone().acquire_owned().await.expect("the semaphores are never closed");
        let running = tokio::task::spawn_blocking(move || {
            let outcome = work();
            drop(permit);
            outcome
        });
        running.await.map_err(|error| {
            tracing::error!(%error, "a request panicked");
            Refusal::internal("the operation failed unexpectedly; see the log of the server")
        })
    }
}
