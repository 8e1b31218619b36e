//! A model on disk behind the trait that every embedder has: it is read at its first text, because reading takes longer than
//! most commands do altogether.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use rootset_provider::{Embedder, ProviderError};

pub struct LazyEmbedder<E> {
    path: PathBuf,
    load: fn(&Path) -> Result<E, ProviderError>,
    is_local: bool,
    loaded: OnceLock<E>,
    loading: Mutex<()>,
}

impl<E: Embedder> LazyEmbedder<E> {
    /// Whether a request may wait for it is known before it is read.
    pub fn new(path: &Path, load: fn(&Path) -> Result<E, ProviderError>, is_local: bool) -> Self {
        Self { path: path.to_owned(), load, is_local, loaded: OnceLock::new(), loading: Mutex::new(()) }
    }

    /// A failure is not remembered: the next text tries again.
    fn loaded(&self) -> Result<&E, ProviderError> {
        if let Some(embedder) = self.loaded.get() {
            return Ok(embedder);
        }
        // Two at a time would need twice the memory. Whoever waited here finds it read.
        let _only = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(embedder) = self.loaded.get() {
            return Ok(embedder);
        }
        let embedder = (self.load)(&self.path)?;
        Ok(self.loaded.get_or_init(|| embedder))
    }
}

impl<E: Embedder> Embedder for LazyEmbedder<E> {
    /// No vector is ever stored under the id of a model that cannot be read, because embedding fails then.
    fn id(&self) -> &str {
        self.loaded().map_or("unreadable model", Embedder::id)
    }

    fn is_local(&self) -> bool {
        self.is_local
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ProviderError> {
        self.loaded()?.embed(texts)
    }
}

impl<E: fmt::Debug> fmt::Debug for LazyEmbedder<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazyEmbedder").field("path", &self.path).field("loaded", &self.loaded).finish_non_exhaustive()
    }
}
