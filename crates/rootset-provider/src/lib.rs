//! Everything that turns text into extractions or vectors with a model: OpenAI-compatible endpoints, a sentence
//! transformer in this process, a local table of static vectors, and the built-in rules behind the same traits. And webhooks, which are told of events.
//!
//! This is the only crate that talks to a network. It knows no store, no job queue and no configuration file: settings
//! come in as values, results go out as values. Invariants:
//! 1. A result is whole or an error; there is no partial extraction and no partial list of vectors.
//! 2. Every call ends: attempts, bytes and time are bounded.
//! 3. An error holds status codes, kinds, sizes and positions. It never holds the key, the text sent, or the answer's
//!    text, because errors reach logs and a memory's `last_error`.
//! 4. Text goes to the configured host and nowhere else: redirects are not followed. Where nothing is sent but the name of
//!    a file ([`download`]), they are.

pub mod builtin;
pub mod chat;
#[cfg(feature = "local-model")]
pub mod download;
pub mod embeddings;
#[cfg(feature = "local-model")]
pub mod sentence_model;
#[cfg(feature = "static-tables")]
pub mod static_table;

mod endpoint;
mod error;
mod settings;
mod timer;
mod unit_length;
mod webhook;

use rootset_model::{Content, Extraction};

pub use builtin::BuiltinExtractor;
pub use chat::OpenAiExtractor;
#[cfg(feature = "local-model")]
pub use download::{DownloadError, Hub, WantedFile};
pub use embeddings::OpenAiEmbedder;
pub use error::{AnswerFault, AnswerPart, ConnectionFault, ProviderError, TableFault};
#[cfg(feature = "local-model")]
pub use sentence_model::{LocalEmbedder, MODEL_FILES, ModelFault, ModelSummary};
pub use settings::{ATTEMPTS_MAX_DEFAULT, EndpointSettings, Secret, TIMEOUT_MS_DEFAULT, TOTAL_TIMEOUT_MS_DEFAULT};
#[cfg(feature = "static-tables")]
pub use static_table::StaticEmbedder;
pub use timer::{SystemTimer, Timer};
pub use webhook::{Webhook, WebhookError};

/// Finds the entities and relations of a content.
pub trait Extractor: Send + Sync + std::fmt::Debug {
    /// `builtin`, or the protocol and the model: `openai:qwen3`.
    fn id(&self) -> &str;

    /// Version of our side of the work (rules, prompt, schema, parsing), stored with every revision it worked on.
    fn version(&self) -> i64;

    /// Quick, and fails only where the program is wrong: may run inside the request.
    fn is_local(&self) -> bool;

    fn extract(&self, content: &Content) -> Result<Extraction, ProviderError>;
}

/// Maps texts to points of one vector space.
pub trait Embedder: Send + Sync + std::fmt::Debug {
    /// Identity of the vector space: vectors made under another id cannot be compared with these and must be rebuilt.
    fn id(&self) -> &str;

    /// Quick, and needs no network: may run inside the request.
    fn is_local(&self) -> bool;

    /// One vector per text in the order of the texts, all of the same dimension, all of unit length.
    ///
    /// One exception: a text in which a local table knows no token gets the zero vector, whose product with any other
    /// vector is zero. It is like nothing, which is true, and an error would keep its memory pending for ever.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ProviderError>;
}
