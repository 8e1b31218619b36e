//! Delivering events to the places that want them: in order, at least once, and never in the way of a round.
//!
//! Rounds only write rows (`rootset-store/src/events.rs`). A [`Delivery`] takes them to one place, in a thread of its own,
//! and removes a row once its place has it, so that nothing is lost when a place is down or a process dies. Several
//! processes deliver once between them: a lease says whose turn it is. A place that fails is left alone for a while,
//! longer each time.

mod file;
mod webhook;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rootset_store::{DATABASE, Lease, Work};

pub use file::EventFile;
pub use webhook::EventWebhook;

use crate::error::ServiceError;
use crate::service::Service;

/// Longer than a batch takes; when nothing is heard for so long, another process takes over.
const LEASE_MS: i64 = 60_000;
/// Events that are delivered before they are noted as delivered: so many may come twice after a crash.
const BATCH: i64 = 100;
/// A batch ends after this time, however slow its place is.
const BATCH_TIME: Duration = Duration::from_secs(20);
const WAIT_FIRST: Duration = Duration::from_secs(1);
/// Also the wait where nothing gets better before somebody changes something.
const WAIT_MAX: Duration = Duration::from_secs(300);

/// Where events go.
pub trait EventPlace: Send {
    /// The name that rows of waiting events carry.
    fn name(&self) -> &'static str;

    /// Delivers events in their order, each a JSON object, as many as it can in this time.
    fn deliver(&mut self, events: &[&str], until: Instant) -> Delivered;
}

#[derive(Debug)]
pub struct Delivered {
    /// The first so many arrived.
    pub count: usize,
    /// Why the next one did not.
    pub failure: Option<Failure>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// For logs: without content, keys and URLs.
    pub problem: String,
    /// Whether it will fail again until somebody changes something.
    pub lasts: bool,
}

/// What came of one look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// Nothing waits any more.
    Done,
    /// Some still wait: the time was up, or somebody asked to end.
    Unfinished,
    HeldElsewhere,
    Failed(Failure),
}

/// The way to one place.
pub struct Delivery {
    service: Arc<Service>,
    place: Box<dyn EventPlace>,
    stop: Arc<AtomicBool>,
    failures: u32,
}

impl std::fmt::Debug for Delivery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Delivery").field("place", &self.place.name()).finish_non_exhaustive()
    }
}

impl Delivery {
    pub fn new(service: Arc<Service>, place: Box<dyn EventPlace>) -> Self {
        Self { service, place, stop: Arc::default(), failures: 0 }
    }

    /// Set from outside to end between two batches.
    pub fn with_stop(mut self, stop: Arc<AtomicBool>) -> Self {
        self.stop = stop;
        self
    }

    pub fn place(&self) -> &'static str {
        self.place.name()
    }

    /// Delivers what waits, until nothing does, the place fails, or the time is up.
    pub fn look(&mut self, until: Instant) -> Result<Look, ServiceError> {
        let service = self.service.clone();
        // Looking first spares the lease when there is nothing to deliver, which is nearly always.
        if service.store.waiting_events(self.place.name(), 1)?.is_empty() {
            return Ok(Look::Done);
        }
        let Some(lease) = service.store.acquire_lease(self.work(), service.now(), LEASE_MS)? else {
            return Ok(Look::HeldElsewhere);
        };
        let outcome = self.deliver(&lease, until);
        service.store.release_lease(&lease)?;
        outcome
    }

    /// How long to leave the place alone after a look that failed; longer each time.
    pub fn wait_after(&mut self, look: &Look) -> Option<Duration> {
        let Look::Failed(failure) = look else {
            self.failures = 0;
            return None;
        };
        let doublings = self.failures.min(16);
        self.failures = self.failures.saturating_add(1);
        Some(if failure.lasts { WAIT_MAX } else { (WAIT_FIRST * (1 << doublings)).min(WAIT_MAX) })
    }

    fn deliver(&mut self, lease: &Lease, until: Instant) -> Result<Look, ServiceError> {
        let service = self.service.clone();
        let store = &service.store;
        loop {
            let waiting = store.waiting_events(self.place.name(), BATCH)?;
            if waiting.is_empty() {
                return Ok(Look::Done);
            }
            if self.stop.load(Ordering::SeqCst) || Instant::now() >= until {
                return Ok(Look::Unfinished);
            }
            store.renew_lease(lease, service.now(), LEASE_MS)?;
            let bodies: Vec<&str> = waiting.iter().map(|event| event.body.as_str()).collect();
            let delivered = self.place.deliver(&bodies, until.min(Instant::now() + BATCH_TIME));
            let numbers: Vec<i64> = waiting.iter().take(delivered.count).map(|event| event.number).collect();
            if !numbers.is_empty() {
                store.delivered_events(&numbers)?;
                self.failures = 0;
            }
            if let Some(failure) = delivered.failure {
                let dropped = store.drop_oldest_events(self.place.name())?;
                if dropped > 0 {
                    tracing::error!(
                        target: "rootset::events", place = self.place.name(), dropped,
                        "too many events wait: the oldest were dropped; `rootset audit --kind events` still has them"
                    );
                }
                return Ok(Look::Failed(failure));
            }
        }
    }

    fn work(&self) -> Work {
        let mut subject = [0; 16];
        let name = self.place.name().as_bytes();
        subject[..name.len()].copy_from_slice(name);
        Work { workspace: DATABASE, kind: "events", subject }
    }
}

impl Service {
    /// From now on events are kept for these places, until a [`Delivery`] takes them there. Said once.
    pub fn send_events_to(&self, places: Vec<String>) {
        self.store.send_events_to(places);
    }
}
