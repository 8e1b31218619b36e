//! The text of one line of a session, for whoever looks for what left the window: what was said, what a tool was asked, and what it
//! answered. Thinking, images and what the client keeps for itself are left out.

use serde_json::Value;

use crate::blocks::text_at;

/// The text of a line of Claude Code or Codex; `None` where there is none.
pub fn text_of_line(line: &str) -> Option<String> {
    let value: Value = serde_json::from_str(line).ok()?;
    let mut texts = Vec::new();
    match text_at(&value, "type")? {
        "user" | "assistant" => content(value.pointer("/message/content")?, &mut texts),
        "response_item" => {
            let item = value.get("payload")?;
            content(&item["content"], &mut texts);
            texts.extend(
                ["arguments", "output"].into_iter().filter_map(|field| text_at(item, field)).map(str::to_owned),
            );
        }
        _ => return None,
    }
    let text = texts.join("\n");
    (!text.trim().is_empty()).then_some(text)
}

fn content(content: &Value, texts: &mut Vec<String>) {
    match content {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(blocks) => blocks.iter().for_each(|block| of_block(block, texts)),
        _ => {}
    }
}

/// A result holds blocks of its own, one level deep.
fn of_block(block: &Value, texts: &mut Vec<String>) {
    if let Some(text) = text_at(block, "text") {
        texts.push(text.to_owned());
    }
    if text_at(block, "type") == Some("tool_use") {
        texts.push(format!("{} {}", text_at(block, "name").unwrap_or_default(), block["input"]));
    }
    if text_at(block, "type") == Some("tool_result") {
        match &block["content"] {
            Value::String(text) => texts.push(text.clone()),
            Value::Array(parts) => {
                texts.extend(parts.iter().filter_map(|part| text_at(part, "text")).map(str::to_owned))
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_its_words_and_nothing_of_the_clients_own() {
        let of = |line: &str| text_of_line(line);
        let result = r#"{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"a"}]},{"type":"text","text":"b"}]}}"#;
        assert_eq!(of(result).as_deref(), Some("a\nb"));
        let call = r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"t"},{"type":"tool_use","name":"Read","input":{"p":1}}]}}"#;
        assert_eq!(of(call).as_deref(), Some("Read {\"p\":1}"));
        let codex = r#"{"type":"response_item","payload":{"type":"function_call_output","output":"o"}}"#;
        assert_eq!(of(codex).as_deref(), Some("o"));
        for none in
            ["", "{", r#"{"type":"file-history-snapshot","text":"x"}"#, r#"{"type":"user","message":{"content":" "}}"#]
        {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
