//! The models the configuration names, each loaded when it is first needed: most commands need none.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rootset_provider::{
    BuiltinExtractor, Embedder, Extractor, OpenAiEmbedder, OpenAiExtractor, ProviderError, StaticEmbedder,
};
use rootset_service::ServiceError;

use crate::configuration::{EmbedModel, ExtractModel};

pub fn extractor(model: &ExtractModel) -> Result<Arc<dyn Extractor>, ServiceError> {
    Ok(match model {
        ExtractModel::Builtin => Arc::new(BuiltinExtractor),
        ExtractModel::OpenAi(settings) => {
            Arc::new(OpenAiExtractor::new(settings.clone()).map_err(|error| bad_setting("extract", &error))?)
        }
    })
}

pub fn embedder(model: &EmbedModel) -> Result<Option<Arc<dyn Embedder>>, ServiceError> {
    Ok(match model {
        EmbedModel::None => None,
        EmbedModel::OpenAi(settings) => {
            Some(Arc::new(OpenAiEmbedder::new(settings.clone()).map_err(|error| bad_setting("embed", &error))?))
        }
        EmbedModel::Static(path) => Some(Arc::new(LazyStaticEmbedder::new(path))),
    })
}

fn bad_setting(section: &str, error: &ProviderError) -> ServiceError {
    ServiceError::invalid(format!("`{section}` in the configuration: {error}"))
}

/// A local table that is read at its first text. Reading takes longer than most commands do altogether.
#[derive(Debug)]
struct LazyStaticEmbedder {
    path: PathBuf,
    loaded: OnceLock<StaticEmbedder>,
}

impl LazyStaticEmbedder {
    fn new(path: &Path) -> Self {
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
