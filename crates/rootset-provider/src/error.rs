//! What can go wrong between a text and its extraction or vector.
//!
//! Nothing here holds words of a memory, of an answer, or of a key: the messages of JSON and HTTP libraries quote what
//! they were given, so they are reduced to kinds and positions before they become one of these.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

#[derive(Debug, Error)]
pub enum ProviderError {
    #[error("setting `{setting}` {problem}")]
    Setting { setting: &'static str, problem: &'static str },
    #[error("`{host}` answered with status {status}{}", status_hint(*status))]
    Status {
        host: String,
        status: u16,
        /// What the endpoint asked for, where it did.
        retry_after_ms: Option<u64>,
    },
    #[error("`{host}` did not answer within {limit_ms} ms")]
    TimedOut { host: String, limit_ms: u64 },
    #[error("no usable connection to `{host}`: {fault}")]
    Connection { host: String, fault: ConnectionFault },
    #[error("the answer of `{host}` is larger than {limit_bytes} bytes")]
    AnswerTooLarge { host: String, limit_bytes: u64 },
    #[error("the answer of `{host}` is not usable: {fault}")]
    Answer { host: String, fault: AnswerFault },
    #[error("gave up after {attempts} attempts: {last}")]
    GaveUp { attempts: u32, last: Box<ProviderError> },
    #[error("text {position} is blank and has no vector")]
    BlankText { position: usize },
    #[error("text {position} has {bytes} bytes, the limit is {limit_bytes}")]
    TextTooLarge { position: usize, bytes: usize, limit_bytes: usize },
    #[error("`{}`: {fault}", path.display())]
    Table { path: PathBuf, fault: TableFault },
    #[cfg(feature = "local-model")]
    #[error("`{}`: {fault}", path.display())]
    Model { path: PathBuf, fault: crate::sentence_model::ModelFault },
}

/// Why there was no HTTP exchange.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ConnectionFault {
    #[error("host not found")]
    HostNotFound,
    #[error("{0}")]
    Io(io::ErrorKind),
    #[error("TLS failed, hint: check the certificate, or whether the endpoint speaks TLS at all")]
    Tls,
    #[error("the proxy failed, hint: check HTTP_PROXY, HTTPS_PROXY and NO_PROXY")]
    Proxy,
    #[error("the server there does not speak HTTP")]
    Protocol,
}

/// Which JSON a position is in.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum AnswerPart {
    #[error("the response body")]
    Body,
    #[error("the model's message")]
    Message,
}

/// What is wrong with an answer that arrived with status 200.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum AnswerFault {
    #[error("{part} is not JSON, at line {line}, column {column}")]
    NotJson { part: AnswerPart, line: usize, column: usize },
    #[error("{part} ends in the middle of its JSON, at line {line}, column {column}")]
    CutJson { part: AnswerPart, line: usize, column: usize },
    #[error("{part} does not follow the schema, at line {line}, column {column}")]
    WrongShape { part: AnswerPart, line: usize, column: usize },
    #[error("it has no choices")]
    NoChoice,
    #[error("its message has no content")]
    NoContent,
    #[error("the model ran out of tokens, hint: raise the endpoint's limits for context and output")]
    OutOfTokens,
    #[error("the model refused")]
    Refused,
    #[error("{found} vectors for {expected} texts")]
    WrongCount { expected: usize, found: usize },
    #[error("index {index} is out of range or given twice, for {count} texts")]
    WrongIndex { index: u64, count: usize },
    #[error("vector {position} has {found} dimensions, others have {expected}")]
    WrongDimension { position: usize, expected: usize, found: usize },
    #[error("vector {position} holds a value that is not a finite number, at component {component}")]
    NotFinite { position: usize, component: usize },
    #[error("vector {position} is zero and has no direction")]
    ZeroVector { position: usize },
}

/// What is wrong with a table of static vectors.
#[derive(Debug, Error)]
pub enum TableFault {
    #[error("cannot be read: {0}")]
    Unreadable(io::ErrorKind),
    #[error("not a whole safetensors file: {0}")]
    NotSafetensors(String),
    #[error("has no tensor `{0}`")]
    NoTensor(&'static str),
    #[error("has a tensor `{0}`, which is not supported: only tables with one plain row per token are")]
    UnsupportedTensor(&'static str),
    #[error("tensor `embeddings` has shape {0:?}; allowed: two sizes, rows and dimensions, neither of them 0")]
    WrongShape(Vec<usize>),
    #[error("tensor `embeddings` is of type {0}; allowed: F32, F16")]
    WrongType(String),
    #[error("not a tokenizer: {0}")]
    NotTokenizer(String),
    #[error("holds token id {id}, but the table beside it has only {rows} rows")]
    TokenOutOfRange { id: u32, rows: usize },
    #[error("row {row} holds a value that is not a finite number")]
    NotFinite { row: usize },
    #[error("failed to split text {position} into tokens")]
    Tokenization { position: usize },
}

impl ProviderError {
    /// Whether the same call may succeed later although nobody changed anything.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Status { status, .. } => matches!(status, 408 | 425 | 429 | 500..=599),
            Self::TimedOut { .. } => true,
            Self::Connection { fault, .. } => *fault != ConnectionFault::Tls,
            Self::Answer { fault, .. } => fault.may_differ_next_time(),
            Self::GaveUp { last, .. } => last.is_retryable(),
            Self::Setting { .. }
            | Self::AnswerTooLarge { .. }
            | Self::BlankText { .. }
            | Self::TextTooLarge { .. }
            | Self::Table { .. } => false,
            #[cfg(feature = "local-model")]
            Self::Model { .. } => false,
        }
    }

    /// How long the endpoint asked to be left alone.
    pub fn retry_after_ms(&self) -> Option<u64> {
        match self {
            Self::Status { retry_after_ms, .. } => *retry_after_ms,
            Self::GaveUp { last, .. } => last.retry_after_ms(),
            _ => None,
        }
    }
}

impl AnswerFault {
    /// Models do not answer the same way twice, not even at temperature 0, so a malformed answer is worth another try.
    /// Running out of tokens, refusing, or counting wrongly are not accidents of one answer.
    fn may_differ_next_time(self) -> bool {
        match self {
            Self::NotJson { .. }
            | Self::CutJson { .. }
            | Self::WrongShape { .. }
            | Self::NoChoice
            | Self::NoContent => true,
            Self::OutOfTokens
            | Self::Refused
            | Self::WrongCount { .. }
            | Self::WrongIndex { .. }
            | Self::WrongDimension { .. }
            | Self::NotFinite { .. }
            | Self::ZeroVector { .. } => false,
        }
    }

    /// The library's message quotes the text, so only its kind and position are kept.
    pub(crate) fn from_json(part: AnswerPart, error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        match error.classify() {
            serde_json::error::Category::Eof => Self::CutJson { part, line, column },
            serde_json::error::Category::Data => Self::WrongShape { part, line, column },
            serde_json::error::Category::Syntax | serde_json::error::Category::Io => {
                Self::NotJson { part, line, column }
            }
        }
    }
}

/// The body would say more, but it may quote what was sent.
fn status_hint(status: u16) -> &'static str {
    match status {
        300..=399 => ", hint: redirects are not followed; set `base_url` to their target",
        400 | 422 => ", hint: check that the model exists and that the endpoint supports JSON schemas",
        401 | 403 => ", hint: check the API key",
        404 | 405 => ", hint: check `base_url` (it usually ends in `/v1`) and `model`",
        413 => ", hint: the endpoint accepts only shorter texts",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(status: u16) -> ProviderError {
        ProviderError::Status { host: "localhost".into(), status, retry_after_ms: Some(7) }
    }

    #[test]
    fn only_what_may_pass_by_itself_is_retryable() {
        for passing in [408, 429, 500, 503] {
            assert!(status(passing).is_retryable(), "{passing}");
        }
        for lasting in [301, 400, 401, 404, 413, 422] {
            assert!(!status(lasting).is_retryable(), "{lasting}");
        }
        let answer = |fault| ProviderError::Answer { host: "localhost".into(), fault };
        assert!(answer(AnswerFault::NoContent).is_retryable());
        assert!(!answer(AnswerFault::OutOfTokens).is_retryable());
    }

    #[test]
    fn giving_up_keeps_what_the_last_error_said() {
        let error = ProviderError::GaveUp { attempts: 3, last: Box::new(status(429)) };
        assert!(error.is_retryable());
        assert_eq!(error.retry_after_ms(), Some(7));
        assert_eq!(error.to_string(), "gave up after 3 attempts: `localhost` answered with status 429");
    }

    #[test]
    fn json_errors_lose_the_words_they_quote() {
        let error = serde_json::from_str::<u32>("\"the secret\"").unwrap_err();
        assert!(error.to_string().contains("the secret"));
        let fault = AnswerFault::from_json(AnswerPart::Message, &error);
        assert_eq!(fault, AnswerFault::WrongShape { part: AnswerPart::Message, line: 1, column: 12 });
    }
}
