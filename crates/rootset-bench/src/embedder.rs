//! Embedders by name, for benchmarks that take one.

use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use rootset_provider::{Embedder, LocalEmbedder, StaticEmbedder};

/// `local:FOLDER` is a sentence transformer in this process, `static:FOLDER` a table of vectors.
pub fn of(text: &str) -> anyhow::Result<Arc<dyn Embedder>> {
    match text.split_once(':') {
        Some(("local", folder)) => Ok(Arc::new(LocalEmbedder::load(Path::new(folder))?)),
        Some(("static", folder)) => Ok(Arc::new(StaticEmbedder::load(Path::new(folder))?)),
        _ => bail!("`{text}` is not an embedder; allowed: `local:FOLDER`, `static:FOLDER`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_embedder_is_named_by_its_kind_and_its_folder() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../rootset-provider/tests/fixtures/tiny-model");
        let embedder = of(&format!("local:{folder}")).expect("a model");
        assert!(embedder.id().starts_with("local:tiny-model:"), "{}", embedder.id());
        assert!(of("static:/nonexistent").is_err_and(|error| error.to_string().contains("/nonexistent")));
        assert!(of("tiny").is_err_and(|error| error.to_string().contains("allowed: `local:FOLDER`")));
    }
}
