//! The models the configuration names, each loaded when it is first needed: most commands need none.

#[cfg(any(feature = "local-model", feature = "static-tables"))]
mod lazy;

use std::path::Path;
use std::sync::Arc;

use rootset_provider::{BuiltinExtractor, Embedder, Extractor, OpenAiEmbedder, OpenAiExtractor, ProviderError};
use rootset_service::ServiceError;

use crate::configuration::{self, EmbedModel, ExtractModel};

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
        EmbedModel::Static(path) => {
            Some(Arc::new(lazy::LazyEmbedder::new(path, rootset_provider::StaticEmbedder::load, true)))
        }
        #[cfg(not(feature = "static-tables"))]
        EmbedModel::Static(path) => return Err(not_built_in(path, "static tables", "static-tables")),
        #[cfg(feature = "local-model")]
        EmbedModel::Local(path) => {
            Some(Arc::new(lazy::LazyEmbedder::new(path, rootset_provider::LocalEmbedder::load, false)))
        }
        #[cfg(not(feature = "local-model"))]
        EmbedModel::Local(path) => return Err(not_built_in(path, "local models", "local-model")),
    })
}

/// What is said at the start where the model is not there: search works without it.
pub fn missing(folder: &Path) -> String {
    let name = folder.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let get = match configuration::model(&name) {
        Ok(ours) if ours == folder => format!("`rootset model get {name}`"),
        _ => "`rootset model add FOLDER`, or correct `embed.path`".to_owned(),
    };
    format!(
        "`embed.provider` is `local`, and there is no model in `{}`: search uses words only; hint: {get}",
        folder.display()
    )
}

fn bad_setting(section: &str, error: &ProviderError) -> ServiceError {
    ServiceError::invalid(format!("`{section}` in the configuration: {error}"))
}

#[cfg(not(all(feature = "local-model", feature = "static-tables")))]
fn not_built_in(path: &Path, what: &str, feature: &str) -> ServiceError {
    ServiceError::invalid(format!("`{}`: this program was built without {what}", path.display()))
        .with_hint(format!("build it with the cargo feature `{feature}`"))
}
