//! From the service's answer to a tool's result: the JSON as structured content, and the same facts as one text, because
//! some clients show a model only one of the two.

use rmcp::model::{CallToolResult, ContentBlock};
use rootset_service::ServiceError;
use serde_json::Value;

use crate::stored_text;

/// Answers are bounded by the service but for whole exports; a text longer than this helps no model.
const TEXT_CHARS_MAX: usize = 100_000;

pub fn result(answer: Result<Value, ServiceError>) -> CallToolResult {
    let (value, is_error) = match answer {
        Ok(value) => (stored_text::for_model(value), false),
        Err(error) => (stored_text::for_model(error.to_json()), true),
    };
    let text = vec![ContentBlock::text(compact(&value))];
    let mut result = if is_error { CallToolResult::error(text) } else { CallToolResult::success(text) };
    result.structured_content = Some(value);
    result
}

fn compact(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        None => text,
        Some((end, _)) => {
            let all = text.chars().count();
            format!("{}… (the first {TEXT_CHARS_MAX} of {all} characters; structuredContent has all)", &text[..end])
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_that_is_too_long_is_cut_between_characters_and_says_so() {
        let text = compact(&json!({"context": "é".repeat(TEXT_CHARS_MAX)}));
        assert!(text.ends_with("structuredContent has all)"), "{}", &text[text.len() - 80..]);
        assert!(text.chars().count() < TEXT_CHARS_MAX + 100);
    }

    #[test]
    fn escapes_for_terminals_stay_escaped() {
        assert_eq!(compact(&json!({"name": "\u{1b}[31mred"})), r#"{"name":"\u001b[31mred"}"#);
    }
}
