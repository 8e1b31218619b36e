//! The rules of the APIs, as far as they can be checked from outside: what this finds, the API would refuse.
//!
//! It knows nothing of drafts and pieces, so that it can judge what `render` makes of them. An empty list is accepted:
//! it is a conversation that has not begun.

mod anthropic;
mod openai;

use serde_json::Value;

use crate::draft::Format;
use crate::render::Rendered;

/// All problems found, in words.
pub fn validate(format: Format, rendered: &Rendered) -> Vec<String> {
    match format {
        Format::Anthropic | Format::ClaudeCode => anthropic::problems(rendered),
        Format::OpenAi => openai::problems(rendered),
    }
}

fn is_blank(value: Option<&Value>) -> bool {
    value.and_then(Value::as_str).is_none_or(|text| text.trim().is_empty())
}

/// What a tool's name may be for both APIs.
fn is_name(text: &str, length_max: usize) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !text.is_empty() && text.len() <= length_max && text.chars().all(allowed)
}
