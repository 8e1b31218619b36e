//! `context_fit`: a whole message list in, the list to send out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

/// Fit the messages of your next request into a budget. Whole tool calls leave and can be recalled; the same list gets the same answer, and earlier messages change only if they must.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ContextFit {
    /// The workspace of the session; default: the current one.
    pub workspace_id: Option<String>,
    /// The name of the conversation; created if it does not exist.
    pub session_id: String,
    /// The messages of the next request, all of them: your own list, or the last answer with new messages at the end.
    pub messages: Vec<Value>,
    /// The format of the messages; default: recognized.
    pub format: Option<FitFormat>,
    /// The number of tokens that the request may have.
    pub budget_tokens: i64,
    /// The system prompt, if it is not among the messages; only counted.
    pub system: Option<Value>,
    /// The tools of the request; only counted.
    pub tools: Option<Vec<Value>>,
    /// The part of the budget kept free for the answer (0).
    pub reserved_tokens: Option<i64>,
    /// The tokens that the provider counted for the request made of the last answer.
    pub observed_input_tokens: Option<i64>,
    /// The places of messages that must stay, from 0.
    pub keep: Option<Vec<i64>>,
    /// The state of the provider's prompt cache: `warm`, `cold` or `unknown` (default).
    pub cache_state: Option<CacheState>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FitFormat {
    Anthropic,
    #[serde(rename = "openai")]
    OpenAi,
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    #[serde(rename = "langchain")]
    LangChain,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CacheState {
    /// Messages that were sent before change only if nothing else makes the list fit.
    Warm,
    /// What is worth least leaves, wherever it is.
    Cold,
    #[default]
    Unknown,
}

/// What became of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FitState {
    /// The list is the one before.
    Unchanged,
    /// The list is the one before, or the last answer, with new messages at its end.
    Appended,
    /// The list differs from the one before somewhere; what came after that place is stashed.
    Diverged,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ContextFitted {
    /// The messages to send.
    pub messages: Vec<Value>,
    pub format: FitFormat,
    /// The messages that left with this answer.
    pub stashed: Vec<FitStashed>,
    /// The tokens of the list, the system prompt and the tools, as counted here.
    pub tokens_before: u64,
    pub tokens_after: u64,
    /// The place of the first message that differs from the last answer; absent if the last answer is the beginning of this one.
    pub first_changed_index: Option<usize>,
    pub state: FitState,
    /// A definition of the tool `context_recall`, to hand to the model with its other tools.
    pub recall_tool: Value,
    /// What is stashed and named by the new messages.
    pub recall_hints: Vec<FitHint>,
    /// Present if what must stay does not fit: the list is then returned whole.
    pub over_limit: Option<FitOverLimit>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FitStashed {
    /// The place in the list that was given.
    pub index: usize,
    /// Ids for `context_recall`.
    pub ids: Vec<String>,
    pub tokens: u64,
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FitHint {
    /// An id for `context_recall`.
    pub id: String,
    pub because: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FitOverLimit {
    /// The tokens of what must stay, with what the provider counts above them.
    pub tokens: u64,
    /// The tokens that there is room for.
    pub available_tokens: u64,
    /// The three largest messages that must stay.
    pub largest: Vec<FitLargest>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FitLargest {
    pub index: usize,
    pub tokens: u64,
}
