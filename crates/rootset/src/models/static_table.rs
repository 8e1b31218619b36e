//! A table of static vectors on disk, behind the trait that every embedder has.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rootset_provider::{Embedder, ProviderError, StaticEmbedder};

/// A local table that is read at its first text. Reading takes longer than most commands do altogether.
#[derive(Debug)]
pub struct LazyStaticEmbedder {
    path: PathBuf,
    loaded: OnceLock<StaticEmbedder>,
}

impl LazyStaticEmbedder {
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), loaded: OnceLock::new() }
    }

    /// A failure is not remembered: the next text tries again.
    fn loaded(&self) -> Result<&StaticEmbedder, ProviderError> {
        if let Some(embedder) = self.loaded.get() {
            return Ok(embedder);
        }
        let embedder = StaticEmbedder::load(&self.path)?;
        Ok(self.loaded.get_or_init(|| embedder))
    }
}

impl Embedder for LazyStaticEmbedder {
    /// No vector is ever stored under the id of a table that cannot be read, because embedding fails then.
    fn id(&self) -> &str {
        self.loaded().map_or("static: cannot be read", |embedder| embedder.id())
    }

    fn is_local(&self) -> bool {
        true
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ProviderError> {
        self.loaded()?.embed(texts)
    }
}
