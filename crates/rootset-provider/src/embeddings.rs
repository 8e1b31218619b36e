//! Vectors from an OpenAI-compatible `/embeddings` endpoint, in batches.
//!
//! The vector space is known by the model's name; its dimension shows with the first answer, and from then on every
//! answer must have it.

mod answer;
mod batches;

use std::sync::{Arc, OnceLock};

use serde_json::json;

use crate::endpoint::Endpoint;
use crate::error::AnswerFault;
use crate::settings::EndpointSettings;
use crate::timer::Timer;
use crate::{Embedder, ProviderError};

#[derive(Debug)]
pub struct OpenAiEmbedder {
    id: String,
    model: String,
    endpoint: Endpoint,
    dimension: OnceLock<usize>,
}

impl OpenAiEmbedder {
    pub fn new(settings: EndpointSettings) -> Result<Self, ProviderError> {
        let endpoint = Endpoint::new(&settings, "embeddings")?;
        let model = settings.model.trim().to_owned();
        Ok(Self { id: format!("openai:{model}"), model, endpoint, dimension: OnceLock::new() })
    }

    /// The same embedder on another clock; for tests.
    pub fn with_timer(mut self, timer: Arc<dyn Timer>) -> Self {
        self.endpoint.set_timer(timer);
        self
    }

    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ProviderError> {
        let request = json!({"model": self.model, "input": texts, "encoding_format": "float"});
        let vectors = self.endpoint.post(&request, |body| answer::read(body, texts.len()))?;
        let found = vectors.first().map_or(0, Vec::len);
        let expected = *self.dimension.get_or_init(|| found);
        if found != expected {
            let fault = AnswerFault::WrongDimension { position: 0, expected, found };
            return Err(self.endpoint.answer_error(fault));
        }
        Ok(vectors)
    }
}

impl Embedder for OpenAiEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_local(&self) -> bool {
        false
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ProviderError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in batches::batches(texts)? {
            vectors.extend(self.embed_batch(batch)?);
        }
        Ok(vectors)
    }
}
