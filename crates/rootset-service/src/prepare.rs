//! Everything that is computed about a content before a transaction begins: chunks, terms, extraction, vectors.

use rootset_model::{Content, Extraction};
use rootset_provider::{BuiltinExtractor, Extractor, ProviderError};
use rootset_store::{ContentPart, PreparedChunk, PreparedContent, PreparedDerived, PreparedVectors};
use rootset_text::{chunks, terms};

use crate::error::ServiceError;
use crate::service::Service;
use crate::worker::provider_failed;

impl Service {
    /// Prepares a content; with a remote extractor without what it derives, which makes the memory pending. Vectors never
    /// do: where they take long, they are made in the background.
    pub(crate) fn prepare(&self, content: Content) -> Result<PreparedContent, ProviderError> {
        let mut prepared = self.prepare_text(content);
        if self.extractor.is_local() {
            let extraction = self.extractor.extract(&prepared.content)?;
            prepared.derived = Some(self.derive(&prepared, extraction));
        }
        Ok(prepared)
    }

    /// Prepares a content with what is derived from it, also where a remote model derives it. While that fails, the
    /// built-in rules do: forgetting waits for no model.
    pub(crate) fn prepare_with_graph(&self, content: Content) -> Result<PreparedContent, ServiceError> {
        let mut prepared = self.prepare_text(content);
        let extraction = self.extractor.extract(&prepared.content);
        let extraction = extraction.or_else(|_| BuiltinExtractor.extract(&prepared.content));
        let extraction = extraction.map_err(|error| provider_failed(&error))?;
        prepared.derived = Some(self.derive(&prepared, extraction));
        Ok(prepared)
    }

    /// Hash, chunks and terms: what needs no model.
    pub(crate) fn prepare_text(&self, content: Content) -> PreparedContent {
        let head_terms = terms::index_terms(&content.topic);
        let mut prepared_chunks = Vec::new();
        for part in [ContentPart::Context, ContentPart::Decisions, ContentPart::Rationale] {
            let text = part.text_of(&content);
            for range in chunks::split(&text) {
                let piece = &text[range.clone()];
                prepared_chunks.push(PreparedChunk {
                    part,
                    start: range.start,
                    length: range.len(),
                    is_question: terms::is_question(piece),
                    head_terms: head_terms.clone(),
                    body_terms: terms::index_terms(piece),
                });
            }
        }
        PreparedContent {
            doc_hash: content.doc_hash(),
            content,
            chunks: prepared_chunks,
            extractor_id: self.extractor.id().to_owned(),
            extractor_version: self.extractor.version(),
            derived: None,
        }
    }

    /// Terms of the entities' names, and vectors of the chunks where an embedder is configured that is quick. A quick one
    /// that fails is asked again later, as a slow one is: no memory is lost to a broken table.
    pub(crate) fn derive(&self, prepared: &PreparedContent, extraction: Extraction) -> PreparedDerived {
        let entity_terms = extraction.entities.iter().map(|entity| terms::index_terms(&entity.name)).collect();
        let vectors = match &self.embedder {
            Some(embedder) if embedder.is_local() => {
                let texts: Vec<String> = prepared.chunks.iter().map(|chunk| chunk_text(prepared, chunk)).collect();
                let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
                match embedder.embed(&borrowed) {
                    Ok(vectors) => PreparedVectors::Made { space: embedder.id().to_owned(), vectors },
                    Err(error) => {
                        tracing::warn!(%error, "making vectors failed; they follow later");
                        self.embedding.owes()
                    }
                }
            }
            Some(_) => self.embedding.owes(),
            None => PreparedVectors::None,
        };
        PreparedDerived { extraction, entity_terms, vectors }
    }
}

fn chunk_text(prepared: &PreparedContent, chunk: &PreparedChunk) -> String {
    let text = chunk.part.text_of(&prepared.content);
    embedded_text(&prepared.content.topic, &text[chunk.start..chunk.start + chunk.length])
}

/// What an embedder reads of a chunk: its topic gives a short text its subject.
pub(crate) fn embedded_text(topic: &str, text: &str) -> String {
    format!("{topic}\n{text}")
}
