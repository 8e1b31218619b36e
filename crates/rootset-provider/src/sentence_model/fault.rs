//! What can be wrong with the files of a model.

use std::io;

use thiserror::Error;

#[derive(Debug, Error)]
pub enum ModelFault {
    #[error("there is no model here; hint: `rootset model get` fetches one, `rootset model add` takes a folder")]
    NoModel,
    #[error("cannot be read: {0}")]
    Unreadable(io::ErrorKind),
    #[error("is not a regular file")]
    NotAFile,
    #[error("has {bytes} bytes, the limit is {limit_bytes}")]
    TooLarge { bytes: u64, limit_bytes: u64 },
    #[error("is not valid: it {0}")]
    NotJson(String),
    #[error("`{field}` is missing or not a number")]
    NoNumber { field: &'static str },
    #[error("`{field}` is {value}; allowed: {min} to {max}")]
    OutOfRange { field: &'static str, value: u64, min: u64, max: u64 },
    #[error("`num_attention_heads` is {heads}, which does not divide `hidden_size` {hidden}")]
    UnevenHeads { heads: usize, hidden: usize },
    #[error("`{field}` is `{value}`; supported: {supported}")]
    NotSupported { field: &'static str, value: String, supported: &'static str },
    #[error("not a whole safetensors file: {0}")]
    NotSafetensors(String),
    #[error("has no tensor `{0}`")]
    NoTensor(String),
    #[error("tensor `{name}` has shape {found:?}, but `config.json` says {expected:?}")]
    WrongShape { name: String, found: Vec<usize>, expected: Vec<usize> },
    #[error("tensor `{name}` is of type {found}; supported: F32, F16, BF16")]
    WrongType { name: String, found: String },
    #[error("{0}")]
    Tokenizer(String),
    #[error("holds token id {id}, but `config.json` says that there are {tokens} tokens")]
    TokenOutOfRange { id: u32, tokens: usize },
    #[error("has no tokens that begin and end a text: `[CLS]` and `[SEP]`, or `<s>` and `</s>`")]
    NoSpecialTokens,
    #[error("failed to split a text into tokens")]
    Tokenization,
    #[error("the model gave a value that is not a finite number; its weights are broken")]
    NotFinite,
}
