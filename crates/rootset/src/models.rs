//! The models the configuration names, each loaded when it is first needed: most commands need none.

#[cfg(feature = "static-tables")]
mod static_table;

use std::sync::Arc;

use rootset_provider::{BuiltinExtractor, Embedder, Extractor, OpenAiEmbedder, OpenAiExtractor, ProviderError};
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
        #[cfg(feature = "static-tables")]
        EmbedModel::Static(path) => Some(Arc::new(static_table::LazyStaticEmbedder::new(path))),
        #[cfg(not(feature = "static-tables"))]
        EmbedModel::Static(path) => {
            let message = format!("`{}`: this program was built without static tables", path.display());
            return Err(ServiceError::invalid(message).with_hint("build it with the cargo feature `static-tables`"));
        }
    })
}

fn bad_setting(section: &str, error: &ProviderError) -> ServiceError {
    ServiceError::invalid(format!("`{section}` in the configuration: {error}"))
}
