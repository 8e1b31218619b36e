//! The scheduler: rounds over all workspaces that look for what is expired or superseded, report it, and where the
//! configuration says so move it to the trash.
//!
//! It owns no rule of its own: plans, limits and the trash are those of everybody else, and it only looks when it is told
//! to ([`Scheduler::tick`]); its caller does the waiting. Two schedulers on one database do one round between them: the
//! round is held by a lease. When a round is due, and what was reported already, is stored, so that restarts change
//! nothing. When the clock cannot be believed, nothing is deleted; backups are taken all the same.

mod clock_guard;
mod decisions;
mod draining;
mod findings;
mod overview;
mod removals;
mod reporting;
pub(crate) mod state;
mod telemetry;
mod timing;
mod waiting;
mod workspace_round;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rootset_api::ErrorCode;
use rootset_model::Timestamp;
use rootset_store::{Lease, Stamp};
use serde::{Deserialize, Serialize};

pub(crate) use clock_guard::ClockGuard;
pub use clock_guard::{DRIFT_MS_MAX, Doubt};
pub use overview::{ClassFigures, Overview, WaitingForPerson};
pub use state::{SourceState, WaitingSource};
pub use telemetry::{
    BlockedPlan, ClockEvent, DrainEvent, DrainStep, EVENT_KINDS, Event, FailedWorkspace, LogSink, RemovalsByAgents,
    TelemetrySink, Tombstone, TombstoneDetail,
};
pub use waiting::Waiting;

use crate::error::ServiceError;
use crate::housekeeping::Housekeeper;
use crate::service::Service;
use state::RoundsNote;

/// The actor of everything that the scheduler does.
pub(crate) const ACTOR: &str = "scheduler";
/// Longer than one workspace takes; when nothing is heard for so long, another scheduler takes over.
const LEASE_MS: i64 = 10 * 60_000;
/// When nobody has written for so long, writers hardly notice that they would have to wait.
const IDLE_MS: i64 = 5 * 60_000;

pub struct Scheduler {
    service: Arc<Service>,
    sink: Arc<dyn TelemetrySink>,
    stop: Arc<AtomicBool>,
}

impl std::fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scheduler").field("service", &self.service).finish_non_exhaustive()
    }
}

/// What came of one look at the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tick {
    /// `gc.enabled` is false.
    Disabled,
    NotDue {
        next_at: Timestamp,
    },
    /// Another scheduler is at it.
    HeldElsewhere,
    /// The clock jumped or nothing ran for a while: nothing is deleted for now. Backups are taken.
    Waiting(Waiting),
    Ran(Round),
}

/// One round over all workspaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Round {
    /// Those that were looked at; in the others nothing can have become garbage since.
    pub workspaces: usize,
    /// Workspaces whose run failed; the reasons are in the log.
    pub failed: usize,
    pub expired: i64,
    /// Memories moved to the trash.
    pub trashed: i64,
    /// What waits for a person or for its time, by workspace.
    #[serde(skip)]
    pub waiting: Vec<(String, WaitingSource)>,
}

impl Scheduler {
    pub fn new(service: Arc<Service>) -> Self {
        Self { service, sink: Arc::new(LogSink), stop: Arc::default() }
    }

    pub fn with_sink(mut self, sink: Arc<dyn TelemetrySink>) -> Self {
        self.sink = sink;
        self
    }

    /// Set from outside to end between two workspaces: what is left of the round is done by the next start.
    pub fn with_stop(mut self, stop: Arc<AtomicBool>) -> Self {
        self.stop = stop;
        self
    }

    /// A person vouches for the time of this machine: it becomes the measure of what follows.
    pub fn trust_clock(&self) -> Result<(), ServiceError> {
        let reading = self.service.reading();
        let now_ms = Some(reading.wall.0);
        self.service.store.believe_wall(reading.wall)?;
        self.noting(state::ROUNDS, |mut note: RoundsNote| {
            // Times of a future that was none would hold the next round back.
            note.started_at_ms = note.started_at_ms.min(now_ms);
            note.finished_at_ms = note.finished_at_ms.min(now_ms);
            note
        })?;
        self.noting(state::HOUSEKEEPING, |mut note: state::HousekeepingNote| {
            note.done_at_ms = note.done_at_ms.min(now_ms);
            note.backed_up_at_ms = note.backed_up_at_ms.min(now_ms);
            note
        })?;
        self.service.clock_guard.lock().believe(reading);
        Ok(())
    }

    /// Does what is due now, and answers what that was.
    pub fn tick(&self) -> Result<Tick, ServiceError> {
        if !self.service.settings.gc.enabled {
            return Ok(Tick::Disabled);
        }
        self.service.retry_log_and_log();
        self.service.observe_time()?;
        let waiting = self.service.waiting()?;
        self.tell_of_clock(waiting.as_ref())?;
        let tick = match waiting {
            Some(waiting) => Tick::Waiting(waiting),
            None => self.round_if_due()?,
        };
        if !self.stop.load(Ordering::SeqCst) {
            self.service.housekeep_and_log(Housekeeper::Scheduler);
            self.defragment_if_idle()?;
        }
        Ok(tick)
    }

    /// Writers wait while the file is rebuilt: only where that is wanted, pays, and nobody has written for a while.
    fn defragment_if_idle(&self) -> Result<(), ServiceError> {
        let (service, gc) = (&self.service, &self.service.settings.gc);
        let dead = || service.store.dead_rows().map(|dead| dead.fraction());
        if !gc.auto_defrag || !rootset_gc::is_defrag_recommended(dead()?, gc.defrag_threshold) {
            return Ok(());
        }
        let last_write_at = service.store.last_write_at()?;
        let now = service.now();
        if last_write_at.is_some_and(|at| now.0.saturating_sub(at.0) < IDLE_MS) {
            return Ok(());
        }
        let Some(lease) = service.store.acquire_lease(state::DEFRAGMENTING, now, LEASE_MS)? else { return Ok(()) };
        // Asked again under the lease: another scheduler may just have done it.
        let outcome = if rootset_gc::is_defrag_recommended(dead()?, gc.defrag_threshold) {
            service.store.defragment(Stamp::new(now, ACTOR)).map(Some)
        } else {
            Ok(None)
        };
        service.store.release_lease(&lease)?;
        if let Some(done) = outcome? {
            tracing::info!(target: "rootset::gc", before = done.bytes_before, after = done.bytes_after, "defragmented");
        }
        Ok(())
    }

    fn round_if_due(&self) -> Result<Tick, ServiceError> {
        let service = &self.service;
        let now = service.now();
        let note: RoundsNote = state::read(&service.store, state::ROUNDS)?;
        if let Some(next_at) = self.not_before(&note) {
            return Ok(Tick::NotDue { next_at });
        }
        let Some(lease) = service.store.acquire_lease(state::ROUNDS, now, LEASE_MS)? else {
            return Ok(Tick::HeldElsewhere);
        };
        let outcome = self.round(&lease);
        // After a failure too: nobody should have to wait for the lease to run out.
        service.store.release_lease(&lease)?;
        outcome
    }

    /// The time of the next round, unless it is now.
    fn not_before(&self, note: &RoundsNote) -> Option<Timestamp> {
        let (last, interval_ms) = (note.last_round(), self.service.settings.gc.interval_ms);
        if timing::is_due(last, interval_ms, self.service.now()) {
            None
        } else {
            timing::next_round_at(last, interval_ms)
        }
    }

    fn round(&self, lease: &Lease) -> Result<Tick, ServiceError> {
        let store = &self.service.store;
        // Read again under the lease: another scheduler may just have finished.
        let mut note: RoundsNote = state::read(store, state::ROUNDS)?;
        let now_ms = self.service.now().0;
        if let Some(next_at) = self.not_before(&note) {
            return Ok(Tick::NotDue { next_at });
        }
        note.started_at_ms = Some(now_ms);
        state::write(store, lease, &note)?;
        store.restamp(self.service.now())?;
        let mut round = Round::default();
        let housekeeping: state::HousekeepingNote = state::read(store, state::HOUSEKEEPING)?;
        let settings = Some(self.service.settings.gc.digest());
        // With other settings anything may be garbage now.
        let looks_at_all = note.settings != settings;
        for workspace in store.workspaces_to_look_at(Timestamp(now_ms), looks_at_all)? {
            if self.stop.load(Ordering::SeqCst) {
                return Ok(Tick::Ran(round));
            }
            // A clock that jumps in the middle of a round ends it.
            if let Some(waiting) = self.service.waiting()? {
                return Ok(Tick::Waiting(waiting));
            }
            store.renew_lease(lease, self.service.now(), LEASE_MS)?;
            round.workspaces += 1;
            match self.run_workspace(&workspace, housekeeping.defrag_recommended) {
                Ok(run) => {
                    round.expired += run.expired;
                    round.trashed += run.trashed;
                    round.waiting.extend(run.waiting.into_iter().map(|it| (workspace.id.clone(), it)));
                }
                Err(error) => {
                    round.failed += 1;
                    tracing::error!(target: "rootset::gc", workspace_id = workspace.id, %error, "a workspace failed");
                    let (workspace_id, code) = (workspace.id.clone(), error.code.as_str().to_owned());
                    self.tell(Some(&workspace), &Event::Failed(FailedWorkspace { workspace_id, code }))?;
                }
            }
        }
        if housekeeping.defrag_recommended {
            tracing::warn!(target: "rootset::gc", "much was purged since the last defragmentation: `rootset defrag` frees the space");
        }
        note.finished_at_ms = Some(self.service.now().0);
        // Where one failed, it is looked at again: its look was not noted.
        note.settings = settings;
        note.outcome = round.clone();
        state::write(store, lease, &note)?;
        Ok(Tick::Ran(round))
    }

    /// The clock came into doubt, or is believed again: told once.
    fn tell_of_clock(&self, waiting: Option<&Waiting>) -> Result<(), ServiceError> {
        let note: RoundsNote = state::read(&self.service.store, state::ROUNDS)?;
        if note.is_in_doubt == waiting.is_some() {
            return Ok(());
        }
        let in_words = waiting.map_or_else(|| "the clock is believed again".to_owned(), Waiting::in_words);
        self.tell(None, &Event::Clock(ClockEvent { is_in_doubt: waiting.is_some(), in_words }))?;
        let is_in_doubt = waiting.is_some();
        match self.noting(state::ROUNDS, |note: RoundsNote| RoundsNote { is_in_doubt, ..note }) {
            // Whoever holds the rounds now tells of it again: at least once.
            Err(error) if error.code == ErrorCode::Busy => Ok(()),
            noted => noted,
        }
    }

    fn noting<T>(&self, work: rootset_store::Work, change: impl FnOnce(T) -> T) -> Result<(), ServiceError>
    where
        T: serde::Serialize + serde::de::DeserializeOwned + Default,
    {
        let store = &self.service.store;
        let Some(lease) = store.acquire_lease(work, self.service.now(), LEASE_MS)? else {
            return Err(ServiceError::new(
                ErrorCode::Busy,
                format!("another process is running the {} now", work.kind),
            )
            .with_hint("stop it first, or try again when it is finished"));
        };
        let noted = state::read(store, work).and_then(|note| state::write(store, &lease, &change(note)));
        store.release_lease(&lease)?;
        Ok(noted?)
    }
}
