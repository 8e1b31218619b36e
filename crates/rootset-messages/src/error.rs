//! Why a message list cannot be read.

use thiserror::Error;

#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ReadError {
    #[error("`{0}` is not a format of messages; allowed: `anthropic`, `openai`, `claude-code`")]
    UnknownFormat(String),
    #[error("`messages` is {found}; allowed: a list of messages, or an object with `messages`")]
    NotAList { found: &'static str },
    #[error("`messages` has {found} messages; at most {max} are allowed")]
    TooManyMessages { found: usize, max: usize },
    #[error("`messages[{message}]` has {found} blocks; at most {max} are allowed")]
    TooManyBlocks { message: usize, found: usize, max: usize },
    #[error("`messages[{message}]` is {found}; allowed: an object with `role` and `content`")]
    NotAMessage { message: usize, found: &'static str },
    #[error("`messages[{message}].role` is missing or not a text")]
    NoRole { message: usize },
    #[error("`messages[{message}].{field}` is {found}; allowed: {allowed}")]
    BadField { message: usize, field: String, found: &'static str, allowed: &'static str },
    #[error("`system` is {found}; allowed: a text or a list of text blocks")]
    BadSystem { found: &'static str },
    #[error("none of {lines} lines is a line of a Claude Code session")]
    NotASession { lines: usize },
    #[error("this is a session of Codex, which cannot be imported; allowed: sessions of Claude Code")]
    OfCodex,
}

/// What a JSON value is, in a message.
pub(crate) fn kind_of(value: &serde_json::Value) -> &'static str {
    use serde_json::Value;
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
