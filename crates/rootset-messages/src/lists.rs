//! Message lists as harnesses send them with each request, in any of four formats: what belongs together in one, what each
//! message says, and whether two messages are the same.
//!
//! Not here: rendering. What is read here goes back to its caller as the caller's own values, so a message only has to be
//! understood, never written. OpenAI's Responses and LangChain are therefore read as the chat completions that they say.

mod hashing;
mod normal;
mod units;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::blocks::{call_id, result_id, text_at, type_of};
use crate::draft::{Draft, Format};
use crate::error::ReadError;
use crate::raw::Raw;
pub use hashing::message_hash;
pub use units::{Units, units};

/// Whose list it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListFormat {
    Anthropic,
    #[serde(rename = "openai")]
    OpenAi,
    /// The items of OpenAI's Responses.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// Messages of LangChain as JSON: `model_dump()`, or `message_to_dict()` with its `data`.
    #[serde(rename = "langchain")]
    LangChain,
}

impl ListFormat {
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::OpenAi, Self::OpenAiResponses, Self::LangChain];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::LangChain => "langchain",
        }
    }

    /// The format of a list, by the first message that only one of them has. Plain texts of users and assistants are the same
    /// in three formats; they count as Anthropic's, whose lists hold no system prompt.
    pub fn recognised(messages: &[Value]) -> Self {
        messages.iter().find_map(telling).unwrap_or(Self::Anthropic)
    }

    /// What the list is read as.
    fn base(self) -> Format {
        match self {
            Self::Anthropic => Format::Anthropic,
            Self::OpenAi | Self::OpenAiResponses | Self::LangChain => Format::OpenAi,
        }
    }
}

fn telling(message: &Value) -> Option<ListFormat> {
    let has_role = message.get("role").is_some();
    match type_of(message) {
        "" if has_role => {}
        "message" => return Some(ListFormat::OpenAiResponses),
        "human" | "ai" | "system" | "tool" | "function" | "chat" | "developer" => return Some(ListFormat::LangChain),
        kind if !has_role && !kind.is_empty() => return Some(ListFormat::OpenAiResponses),
        _ => {}
    }
    let has_calls = ["tool_calls", "function_call"].iter().any(|field| message.get(field).is_some());
    if has_calls || matches!(text_at(message, "role"), Some("system" | "developer" | "tool" | "function")) {
        return Some(ListFormat::OpenAi);
    }
    let blocks = message.get("content").and_then(Value::as_array)?;
    blocks.iter().find_map(|block| match type_of(block) {
        "input_text" | "output_text" | "input_image" | "input_file" => Some(ListFormat::OpenAiResponses),
        "image_url" | "input_audio" | "file" | "refusal" => Some(ListFormat::OpenAi),
        "image" | "document" | "thinking" | "redacted_thinking" => Some(ListFormat::Anthropic),
        _ if call_id(block).is_some() || result_id(block).is_some() => Some(ListFormat::Anthropic),
        _ => None,
    })
}

/// What each message of a list says, in parts. Results are read best together with their calls.
pub fn read_list(format: ListFormat, messages: &[&Value]) -> Result<Vec<Vec<Draft>>, ReadError> {
    let normal = |(number, message): (usize, &&Value)| match format {
        ListFormat::Anthropic | ListFormat::OpenAi => Ok((*message).clone()),
        ListFormat::OpenAiResponses => Ok(normal::of_response_item(message)),
        ListFormat::LangChain => normal::of_langchain(number, message),
    };
    let list = messages.iter().enumerate().map(normal).collect::<Result<Vec<Value>, ReadError>>()?;
    let outcome = crate::read(format.base(), &Value::Array(list))?;
    let mut parts: Vec<Vec<Draft>> = vec![Vec::new(); messages.len()];
    for draft in outcome.drafts {
        let number = Raw::parse(&draft.raw).expect("what was just read can be parsed").message as usize;
        parts[number].push(draft);
    }
    Ok(parts)
}

/// One line of a user's, in the format and manner of a list.
pub fn line_of_user(format: ListFormat, like: Option<&Value>, text: &str) -> Value {
    match format {
        ListFormat::LangChain if like.is_some_and(|message| message.get("data").is_some()) => {
            json!({"type": "human", "data": {"content": text}})
        }
        ListFormat::LangChain => json!({"type": "human", "content": text}),
        ListFormat::Anthropic | ListFormat::OpenAi | ListFormat::OpenAiResponses => {
            json!({"role": "user", "content": text})
        }
    }
}

/// The fields of a message of LangChain, in either manner.
fn langchain_fields(message: &Value) -> &Value {
    message.get("data").unwrap_or(message)
}

fn text_or_json(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed(""),
        other => Cow::Owned(other.to_string()),
    }
}

#[cfg(test)]
mod tests;
