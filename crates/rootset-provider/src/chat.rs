//! Extraction by a chat model behind an OpenAI-compatible endpoint: Ollama, vLLM, llama.cpp, hosted ones.
//!
//! A content is cut into windows, each window is one request, and all of them must succeed. The model's answer is
//! trusted for nothing but its form: it is parsed against the schema and brought within the model crate's limits.

mod answer;
mod prompt;
mod windows;

use std::sync::Arc;

use rootset_model::{Content, Extraction};

use crate::endpoint::Endpoint;
use crate::settings::EndpointSettings;
use crate::timer::Timer;
use crate::{Extractor, ProviderError};

/// Raised with every change of prompt, schema, windows or parsing that may change an extraction.
pub const OPENAI_EXTRACTOR_VERSION: i64 = 1;

#[derive(Debug)]
pub struct OpenAiExtractor {
    id: String,
    model: String,
    endpoint: Endpoint,
}

impl OpenAiExtractor {
    pub fn new(settings: EndpointSettings) -> Result<Self, ProviderError> {
        let endpoint = Endpoint::new(&settings, "chat/completions")?;
        let model = settings.model.trim().to_owned();
        Ok(Self { id: format!("openai:{model}"), model, endpoint })
    }

    /// The same extractor on another clock; for tests.
    pub fn with_timer(mut self, timer: Arc<dyn Timer>) -> Self {
        self.endpoint.set_timer(timer);
        self
    }
}

impl Extractor for OpenAiExtractor {
    fn id(&self) -> &str {
        &self.id
    }

    fn version(&self) -> i64 {
        OPENAI_EXTRACTOR_VERSION
    }

    fn is_local(&self) -> bool {
        false
    }

    fn extract(&self, content: &Content) -> Result<Extraction, ProviderError> {
        let mut whole = Extraction::default();
        for window in windows::windows(content) {
            let request = prompt::request(&self.model, &window);
            append(&mut whole, self.endpoint.post(&request, answer::read)?);
        }
        Ok(whole.canonical())
    }
}

/// Puts the facts of a further window behind those of the earlier ones; merging equal ones is canonical's work.
fn append(whole: &mut Extraction, part: Extraction) {
    let offset = whole.entities.len();
    whole.entities.extend(part.entities);
    whole.relations.extend(part.relations.into_iter().map(|mut relation| {
        relation.source += offset;
        relation.target += offset;
        relation
    }));
}
