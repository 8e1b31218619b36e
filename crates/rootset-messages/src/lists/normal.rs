//! Items of OpenAI's Responses and messages of LangChain, as the chat completions that say the same.

use serde_json::{Map, Value, json};

use super::{langchain_fields, text_or_json};
use crate::blocks::{text_at, type_of};
use crate::error::ReadError;

/// Unknown items are the assistant's, because the API makes them.
pub(super) fn of_response_item(item: &Value) -> Value {
    let kind = type_of(item);
    match kind {
        "" | "message" => {
            let role = text_at(item, "role").unwrap_or("user");
            json!({"role": role, "content": item.get("content").map_or(Value::Null, parts)})
        }
        "reasoning" => {
            let mut said: Vec<Value> = Vec::new();
            for block in ["summary", "content"].iter().filter_map(|field| item.get(field)?.as_array()).flatten() {
                said.push(json!({"type": "text", "text": text_at(block, "text").unwrap_or_default()}));
            }
            if let Some(hidden) = text_at(item, "encrypted_content") {
                said.push(json!({"type": "redacted_thinking", "data": hidden}));
            }
            json!({"role": "assistant", "content": said})
        }
        _ if super::units::is_call(kind) => {
            let input = ["arguments", "input", "action", "code", "queries"].iter().find_map(|field| item.get(field));
            let function = json!({
                "name": text_at(item, "name").unwrap_or(kind),
                "arguments": text_or_json(input.unwrap_or(&Value::Null)),
            });
            json!({"role": "assistant", "tool_calls": [{"id": id_of_item(item), "type": "function", "function": function}]})
        }
        _ if super::units::is_output(kind) => {
            let output = item.get("output").map_or(Value::Null, |output| match output {
                Value::Array(_) => parts(output),
                other => text_or_json(other).into_owned().into(),
            });
            json!({"role": "tool", "tool_call_id": id_of_item(item), "content": output})
        }
        _ => json!({"role": "assistant", "content": item.to_string()}),
    }
}

/// By which a call and its output know each other; items of the API's own tools have only their own.
pub(super) fn id_of_item(item: &Value) -> &str {
    text_at(item, "call_id").or_else(|| text_at(item, "id")).unwrap_or_default()
}

/// Parts of a content under the names that they have in chat completions.
fn parts(content: &Value) -> Value {
    let Value::Array(parts) = content else { return text_or_json(content).into_owned().into() };
    let part = |part: &Value| match type_of(part) {
        "input_image" => {
            json!({"type": "image_url", "image_url": {"url": text_at(part, "image_url").unwrap_or("file")}})
        }
        "input_file" => json!({"type": "file", "file": part}),
        _ if part.is_object() => part.clone(),
        _ => json!({"type": "text", "text": text_or_json(part)}),
    };
    parts.iter().map(part).collect()
}

pub(super) fn of_langchain(number: usize, message: &Value) -> Result<Value, ReadError> {
    let fields = langchain_fields(message);
    let role = match type_of(message) {
        "human" => "user",
        "ai" => "assistant",
        "system" | "developer" => "system",
        "tool" => "tool",
        "function" => "function",
        "chat" => text_at(fields, "role").unwrap_or("user"),
        _ => {
            return Err(ReadError::BadField {
                message: number,
                field: "type".to_owned(),
                found: "no type of a message of LangChain",
                allowed: "`human`, `ai`, `system`, `tool`, `function` or `chat`",
            });
        }
    };
    let mut normal = Map::new();
    normal.insert("role".to_owned(), role.into());
    let calls: Vec<Value> = list(fields, "tool_calls").iter().map(call).collect();
    // Some models' messages hold a call twice, as a block and beside the blocks.
    let content = match fields.get("content") {
        Some(Value::Array(blocks)) => {
            let kept = blocks.iter().filter(|block| calls.is_empty() || type_of(block) != "tool_use");
            parts(&Value::Array(kept.cloned().collect()))
        }
        Some(content) => text_or_json(content).into_owned().into(),
        None => Value::Null,
    };
    normal.insert("content".to_owned(), content);
    if !calls.is_empty() {
        normal.insert("tool_calls".to_owned(), calls.into());
    }
    for field in ["tool_call_id", "name"] {
        if let Some(value) = fields.get(field).filter(|value| value.is_string()) {
            normal.insert(field.to_owned(), value.clone());
        }
    }
    Ok(Value::Object(normal))
}

fn list<'v>(fields: &'v Value, field: &str) -> &'v [Value] {
    fields.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn call(call: &Value) -> Value {
    let arguments = call.get("args").map(|args| text_or_json(args).into_owned()).unwrap_or_default();
    let function = json!({"name": text_at(call, "name").unwrap_or_default(), "arguments": arguments});
    json!({"id": text_at(call, "id").unwrap_or_default(), "type": "function", "function": function})
}
