//! Completing pending memories: extraction outside any transaction, under a lease, with back-off. Vectors: `embedding.rs`.

use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rootset_api::ErrorCode;
use rootset_model::{MemoryId, Timestamp};
use rootset_provider::ProviderError;
use rootset_store::{PendingWork, Stamp, StoreError, UpdateOutcome, Workspace};

use crate::error::ServiceError;
use crate::housekeeping::Housekeeper;
use crate::service::Service;

/// Longer than a model's slowest honest answer, so that nobody else starts the same work; shorter than a person's
/// patience after a crash.
const LEASE_MS: i64 = 240_000;
const BACK_OFF_FIRST_MS: i64 = 5_000;
const BACK_OFF_MAX_MS: i64 = 3_600_000;
/// Pending memories of others that a short-lived process completes before it ends.
const COMPLETED_AT_END_MAX: usize = 8;

/// What came of a completion that the caller waited for.
#[derive(Debug)]
pub(crate) enum Completion {
    Done(UpdateOutcome),
    Failed(String),
    /// Still under way, or somebody else's.
    Pending,
}

impl Completion {
    pub fn failed(error: ServiceError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl Service {
    /// Starts completing one memory and waits for it for a short while; the work goes on when the wait is over.
    pub(crate) fn complete_within_wait(
        self: &Arc<Self>,
        workspace: &Workspace,
        memory: MemoryId,
    ) -> Result<Completion, ServiceError> {
        let claimed = self.store.claim_completion_of(workspace, memory, self.now(), LEASE_MS)?;
        let Some(work) = claimed else { return Ok(Completion::Pending) };
        let (sender, receiver) = mpsc::channel();
        let service = Arc::clone(self);
        self.background.spawn(move || {
            // Nobody may be listening any more: the outcome is in the database either way.
            let _ = sender.send(service.work_on(&work));
        });
        match receiver.recv_timeout(Duration::from_millis(self.settings.add_wait_ms)) {
            Ok(outcome) => outcome,
            Err(_) => Ok(Completion::Pending),
        }
    }

    /// Completes one due memory, if there is any; `false` when there was nothing to do.
    pub fn complete_one_pending(&self) -> Result<bool, ServiceError> {
        let Some(work) = self.store.claim_completion(self.now(), LEASE_MS)? else { return Ok(false) };
        self.work_on(&work)?;
        Ok(true)
    }

    /// What a short-lived process owes before it ends: uses written, its own completions finished, a few of others, what
    /// it removed out of the log, and if it wrote, the daily housekeeping.
    pub fn finish(&self) -> Result<(), ServiceError> {
        self.background.wait();
        self.flush_uses()?;
        self.flush_visits_and_log();
        self.write_denials_and_log();
        self.flush_token_uses_and_log();
        for _ in 0..COMPLETED_AT_END_MAX {
            if !self.complete_one_pending()? {
                break;
            }
        }
        self.embed_at_end()?;
        self.retry_log_and_log();
        if self.has_written.load(Ordering::Relaxed) {
            self.housekeep_and_log(Housekeeper::Writer);
        }
        Ok(())
    }

    fn work_on(&self, work: &PendingWork) -> Result<Completion, ServiceError> {
        match self.derive_and_store(work) {
            Ok(outcome) => Ok(Completion::Done(outcome)),
            Err(WorkError::Lost) => Ok(Completion::Pending),
            Err(WorkError::Store(error)) => Err(error),
            Err(WorkError::Provider(error)) => {
                let message = error.to_string();
                let retry_at = self.retry_at(work.job.attempts, error.retry_after_ms());
                self.store.fail_completion(work, &message, retry_at)?;
                tracing::warn!(attempts = work.job.attempts, %error, "completing a memory failed");
                Ok(Completion::Failed(message))
            }
        }
    }

    fn derive_and_store(&self, work: &PendingWork) -> Result<UpdateOutcome, WorkError> {
        let mut prepared = self.prepare_text(work.content.clone());
        let extraction = match &work.extraction {
            Some(done) => done.clone(),
            None => {
                let extraction = self.extractor.extract(&work.content).map_err(WorkError::Provider)?;
                self.store.save_extraction(work, self.extractor.id(), self.extractor.version(), &extraction)?;
                extraction
            }
        };
        prepared.derived = Some(self.derive(&prepared, extraction));
        let stamp = Stamp::new(self.now(), "worker");
        Ok(self.store.complete(work, &prepared, self.history(), stamp)?)
    }

    fn retry_at(&self, attempts: i64, retry_after_ms: Option<u64>) -> Timestamp {
        let doubled = BACK_OFF_FIRST_MS.saturating_mul(1 << attempts.clamp(1, 20).saturating_sub(1));
        let asked = retry_after_ms.map_or(0, |ms| i64::try_from(ms).unwrap_or(BACK_OFF_MAX_MS));
        self.now().saturating_add_ms(doubled.max(asked).min(BACK_OFF_MAX_MS))
    }
}

enum WorkError {
    Provider(ProviderError),
    Store(ServiceError),
    /// Deleted, changed or taken over meanwhile: not ours any more.
    Lost,
}

impl From<StoreError> for WorkError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::LeaseLost | StoreError::MemoryNotFound { .. } => Self::Lost,
            other => Self::Store(other.into()),
        }
    }
}

/// A local model that fails is our fault, not a reason to keep the memory pending for ever.
pub(crate) fn provider_failed(error: &ProviderError) -> ServiceError {
    ServiceError::new(ErrorCode::Internal, format!("extraction failed: {error}"))
}

/// Threads that outlive their request, and how to wait for them.
#[derive(Debug, Default)]
pub(crate) struct Background {
    threads: parking_lot::Mutex<Vec<std::thread::JoinHandle<()>>>,
}

impl Background {
    pub(crate) fn spawn(&self, work: impl FnOnce() + Send + 'static) {
        let mut threads = self.threads.lock();
        threads.retain(|thread| !thread.is_finished());
        threads.push(std::thread::spawn(work));
    }

    fn wait(&self) {
        let threads = std::mem::take(&mut *self.threads.lock());
        for thread in threads {
            if thread.join().is_err() {
                tracing::error!("a background completion panicked; its lease will run out");
            }
        }
    }
}
