//! Where the service runs: threads that may wait, apart from those that serve connections.
//!
//! Kinds of work have shares of their own. Writers queue for one lock, for up to a minute when another process holds
//! it; if they took every thread, nobody could read in the meantime. And each asker has half of each share at most, and no
//! more threads than keep the machine busy, so that one who asks a lot waits for itself.

use std::sync::Arc;

use rootset_service::PerCaller;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::answer::Refusal;

/// As many as the store keeps connections for: one more would open and close its own each time.
const READERS_MAX: usize = 8;
/// Only one of them writes at a time, but adding a memory also waits for models.
const WRITERS_MAX: usize = 16;
/// Large requests take memory while they are worked on.
const LARGE_MAX: usize = 2;
/// A look at one row; more at once would only take the readers' connections.
const LOOK_UPS_MAX: usize = 4;
/// Threads for all of them, and for other work in the same runtime.
pub const THREADS_MAX: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    Readers,
    Writers,
    /// Requests with large bodies, whatever they do.
    Large,
    /// Whose a token is.
    LookUps,
}

#[derive(Debug)]
pub struct Workers {
    readers: Turns,
    writers: Turns,
    large: Turns,
    look_ups: Turns,
}

#[derive(Debug)]
struct Turns {
    all: Arc<Semaphore>,
    of_asker: PerCaller<Semaphore>,
}

/// Given back when dropped.
#[derive(Debug)]
pub struct Turn {
    _own: OwnedSemaphorePermit,
    _any: OwnedSemaphorePermit,
}

impl Turns {
    fn new(max: usize, of_asker: usize) -> Self {
        let of_asker = of_asker.clamp(1, max / 2);
        Self { all: Arc::new(Semaphore::new(max)), of_asker: PerCaller::new(move || Semaphore::new(of_asker)) }
    }
}

impl Workers {
    pub fn new() -> Self {
        // Another asker's thread has to get its turn from the processor, too.
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            readers: Turns::new(READERS_MAX, processors.max(2)),
            writers: Turns::new(WRITERS_MAX, processors.max(2) * 2),
            large: Turns::new(LARGE_MAX, 1),
            look_ups: Turns::new(LOOK_UPS_MAX, 1),
        }
    }

    /// Waits for the asker's own turn first: nobody stands in the queue of all more often than it may have turns.
    pub async fn turn(&self, share: Share, asker: &str) -> Turn {
        const OPEN: &str = "the semaphores are never closed";
        let turns = match share {
            Share::Readers => &self.readers,
            Share::Writers => &self.writers,
            Share::Large => &self.large,
            Share::LookUps => &self.look_ups,
        };
        let own = turns.of_asker.of(asker).acquire_owned().await.expect(OPEN);
        let any = turns.all.clone().acquire_owned().await.expect(OPEN);
        Turn { _own: own, _any: any }
    }

    /// Runs `work` to its end even when the caller stops waiting: nothing is left half-done.
    pub async fn run<T: Send + 'static>(
        &self,
        share: Share,
        asker: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let turn = self.turn(share, asker).await;
        let running = tokio::task::spawn_blocking(move || {
            let outcome = work();
            drop(turn);
            outcome
        });
        running.await.map_err(|error| {
            tracing::error!(%error, "a request panicked");
            Refusal::internal("the operation failed unexpectedly; see the log of the server")
        })
    }
}
