//! Embedders by name, for benchmarks that take one, and what programs do that know nothing but the embedder.

mod kept;

use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use rootset_provider::{Embedder, LocalEmbedder, ProviderError, StaticEmbedder};

use kept::Kept;

/// An embedder as Rootset uses it, and as plain programs do.
#[derive(Clone, Debug)]
pub struct Embedders {
    pub whole: Arc<dyn Embedder>,
    /// Reads of each text only what the model reads at once; a table reads all of it.
    pub beginnings: Arc<dyn Embedder>,
}

/// `local:FOLDER` is a sentence transformer in this process, `static:FOLDER` a table of vectors. With `file`, vectors are kept
/// there, so that what was computed once need not be again.
pub fn of(text: &str, file: Option<&Path>) -> anyhow::Result<Embedders> {
    let (whole, beginnings): (Arc<dyn Embedder>, Arc<dyn Embedder>) = match text.split_once(':') {
        Some(("local", folder)) => {
            let model = Arc::new(LocalEmbedder::load(Path::new(folder))?);
            let id = format!("{}/beginnings", model.id());
            (Arc::clone(&model) as _, Arc::new(Beginnings { id, model }))
        }
        Some(("static", folder)) => {
            let table: Arc<dyn Embedder> = Arc::new(StaticEmbedder::load(Path::new(folder))?);
            (Arc::clone(&table), table)
        }
        _ => bail!("`{text}` is not an embedder; allowed: `local:FOLDER`, `static:FOLDER`"),
    };
    let Some(file) = file else { return Ok(Embedders { whole, beginnings }) };
    let vectors = kept::open(file)?;
    Ok(Embedders {
        whole: Arc::new(Kept::new(whole, Arc::clone(&vectors))),
        beginnings: Arc::new(Kept::new(beginnings, vectors)),
    })
}

#[derive(Debug)]
struct Beginnings {
    id: String,
    model: Arc<LocalEmbedder>,
}

impl Embedder for Beginnings {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_local(&self) -> bool {
        self.model.is_local()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ProviderError> {
        self.model.embed_beginnings(texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../rootset-provider/tests/fixtures/tiny-model");

    #[test]
    fn an_embedder_is_named_by_its_kind_and_its_folder() {
        let embedder = of(&format!("local:{TINY}"), None).expect("a model").whole;
        assert!(embedder.id().starts_with("local:tiny-model:"), "{}", embedder.id());
        assert!(of("static:/nonexistent", None).is_err_and(|error| error.to_string().contains("/nonexistent")));
        assert!(of("tiny", None).is_err_and(|error| error.to_string().contains("allowed: `local:FOLDER`")));
    }

    #[test]
    fn kept_vectors_are_those_of_the_model_and_of_its_beginnings_apart() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("vectors");
        let long = "falcon owns the deploy script ".repeat(200);
        let texts = ["falcon", long.as_str(), "falcon"];
        let plain = of(&format!("local:{TINY}"), None).expect("a model");
        let expected = plain.whole.embed(&texts).expect("vectors");
        let beginnings = plain.beginnings.embed(&texts).expect("vectors");
        assert_ne!(expected[1], beginnings[1], "the text is longer than the model reads at once");
        let mut sizes = Vec::new();
        for _ in 0..2 {
            let kept = of(&format!("local:{TINY}"), Some(&file)).expect("a model");
            assert_eq!(kept.whole.embed(&texts).expect("vectors"), expected);
            assert_eq!(kept.beginnings.embed(&texts).expect("vectors"), beginnings);
            sizes.push(std::fs::metadata(&file).expect("a file").len());
        }
        assert_eq!(sizes[0], sizes[1], "the second run computes nothing");
        std::fs::write(&file, "something else").expect("a file");
        assert!(of(&format!("local:{TINY}"), Some(&file)).is_err(), "a file that is no such file is left alone");
    }
}
