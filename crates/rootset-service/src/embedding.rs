//! Vectors made in the background: those that adds and updates owe, and those that are missing after a change of model.
//! Nothing waits for them. A model that fails is left alone for a while, and search goes on with words.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use rootset_model::{Timestamp, WorkspaceKey};
use rootset_provider::{Embedder, ProviderError};
use rootset_store::{PreparedVectors, UnembeddedChunk};

use crate::error::ServiceError;
use crate::prepare::embedded_text;
use crate::service::Service;

/// Longer than a slow model's honest answer about one batch.
const LEASE_MS: i64 = 240_000;
/// Chunks that get a new vector in one go: one request to a model.
const VECTORS_REBUILT_MAX: usize = 64;
const BACK_OFF_FIRST_MS: i64 = 5_000;
const BACK_OFF_MAX_MS: i64 = 3_600_000;

/// Batches that a short-lived process makes of what it owes before it ends; a server or the daemon does the rest.
const BATCHES_AT_END: usize = 4;

/// What this process remembers between two batches.
#[derive(Debug, Default)]
pub(crate) struct Embedding {
    /// Whether this process has left vectors to be made.
    owes: AtomicBool,
    state: Mutex<State>,
}

impl Embedding {
    pub fn owes(&self) -> PreparedVectors {
        self.owes.store(true, Ordering::Relaxed);
        PreparedVectors::Owed
    }
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    /// No model is asked before.
    not_before: Option<Timestamp>,
    /// The last chunk that was looked at for a vector of the model in use.
    after: Option<(WorkspaceKey, i64)>,
}

impl Service {
    /// Makes one batch of vectors, those of the newest memories first; `false` when there is nothing to do, or the model
    /// failed a short while ago. A failing model is not this caller's trouble: a later call tries again.
    pub fn embed_some(&self) -> Result<bool, ServiceError> {
        let Some(embedder) = self.embedder.as_deref().filter(|_| self.may_ask_embedder()) else { return Ok(false) };
        Ok(self.embed_owed(embedder)? || self.rebuild_vectors(embedder)?)
    }

    /// The same in a process that may be one of many, as agents start them: only after it owed vectors itself. The others
    /// need not hold a model in memory.
    pub fn embed_some_once_owed(&self) -> Result<bool, ServiceError> {
        if self.embedding.owes.load(Ordering::Relaxed) { self.embed_some() } else { Ok(false) }
    }

    /// What a short-lived process owes: only one that added something pays for reading a model.
    pub(crate) fn embed_at_end(&self) -> Result<(), ServiceError> {
        let Some(embedder) = self.embedder.as_deref() else { return Ok(()) };
        if !self.embedding.owes.load(Ordering::Relaxed) {
            return Ok(());
        }
        for _ in 0..BATCHES_AT_END {
            if !self.may_ask_embedder() || !self.embed_owed(embedder)? {
                break;
            }
        }
        Ok(())
    }

    /// What adds and updates left to do.
    fn embed_owed(&self, embedder: &dyn Embedder) -> Result<bool, ServiceError> {
        let now = self.now();
        let Some(owed) = self.store.claim_vectors(embedder.id(), now, LEASE_MS)? else { return Ok(false) };
        match embed(embedder, &owed.chunks) {
            Ok(vectors) => {
                self.embedder_answered();
                self.store.settle_vectors(embedder.id(), &owed, vectors, self.now())?;
                Ok(true)
            }
            Err(error) => {
                let retry_at = self.embedder_failed(&error);
                self.store.fail_vectors(&owed, &error.to_string(), retry_at)?;
                Ok(false)
            }
        }
    }

    /// A few chunks that lack a vector after a change of model, or because a client without one added them.
    fn rebuild_vectors(&self, embedder: &dyn Embedder) -> Result<bool, ServiceError> {
        let after = self.embedding.state.lock().after;
        let mut missing = self.store.chunks_without_vectors(embedder.id(), after, VECTORS_REBUILT_MAX)?;
        if missing.is_empty() && after.is_some() {
            // From the beginning again: something may have come there meanwhile.
            self.embedding.state.lock().after = None;
            missing = self.store.chunks_without_vectors(embedder.id(), None, VECTORS_REBUILT_MAX)?;
        }
        let Some(last) = missing.last().map(|chunk| (chunk.workspace, chunk.chunk)) else { return Ok(false) };
        match embed(embedder, &missing) {
            Ok(vectors) => {
                self.embedder_answered();
                let pairs: Vec<_> = missing.iter().zip(vectors).collect();
                self.store.store_vectors(embedder.id(), &pairs, self.now())?;
                self.embedding.state.lock().after = Some(last);
                Ok(true)
            }
            Err(error) => {
                self.embedder_failed(&error);
                Ok(false)
            }
        }
    }

    fn may_ask_embedder(&self) -> bool {
        self.embedding.state.lock().not_before.is_none_or(|time| self.now() >= time)
    }

    fn embedder_answered(&self) {
        let mut state = self.embedding.state.lock();
        (state.failures, state.not_before) = (0, None);
    }

    /// When it is asked again.
    fn embedder_failed(&self, error: &ProviderError) -> Timestamp {
        let mut state = self.embedding.state.lock();
        let doubled = BACK_OFF_FIRST_MS.saturating_mul(1 << state.failures.min(20));
        let asked = error.retry_after_ms().map_or(0, |ms| i64::try_from(ms).unwrap_or(BACK_OFF_MAX_MS));
        let retry_at = self.now().saturating_add_ms(doubled.max(asked).min(BACK_OFF_MAX_MS));
        state.failures += 1;
        state.not_before = Some(retry_at);
        tracing::warn!(failures = state.failures, %error, "making vectors failed; search uses words meanwhile");
        retry_at
    }
}

fn embed(embedder: &dyn Embedder, chunks: &[UnembeddedChunk]) -> Result<Vec<Vec<f32>>, ProviderError> {
    let texts: Vec<String> = chunks.iter().map(|it| embedded_text(&it.topic, &it.text)).collect();
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    embedder.embed(&borrowed)
}
