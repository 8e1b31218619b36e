//! Converts parts of one API's messages to the other's format. What is lost is listed in `render`.

use serde_json::{Value, json};

use super::Pair;
use super::assemble::{Fragment, function_id};
use super::ids::Ids;
use crate::blocks::{self, call_id, is_thinking, result_id, split_data_url, text_at, type_of};
use crate::openai::{named_call, parsed_input};
use crate::raw::{Raw, Slot, SlotPlace};

pub(super) fn to_openai(raw: &Raw, ids: &mut Ids) -> Vec<Fragment> {
    let role = plain_role(raw);
    let slots = raw.slots.iter().filter(|slot| slot.place != SlotPlace::Nothing && !is_thinking(&slot.value));
    slots.filter_map(|slot| openai_fragment(role, slot, ids)).collect()
}

fn openai_fragment(role: &str, slot: &Slot, ids: &mut Ids) -> Option<Fragment> {
    let block = &slot.value;
    let text = |role: &str, text: &str| {
        let part = || json!({"type": "text", "text": text});
        (!text.trim().is_empty()).then(|| Fragment::new(role, SlotPlace::Block, part(), Pair::None))
    };
    let told = |role: &str| text(role, &blocks::show_content(block).text);
    match (slot.place, type_of(block)) {
        (SlotPlace::SystemText | SlotPlace::SystemBlock, _) => told("system"),
        (SlotPlace::Block, "tool_use") => {
            let id = ids.of_call(call_id(block)?);
            let arguments = block.get("input").map_or_else(|| "{}".to_owned(), Value::to_string);
            let function = json!({"name": text_at(block, "name").unwrap_or_default(), "arguments": arguments});
            let call = json!({"id": id, "type": "function", "function": function});
            Some(Fragment::new("assistant", SlotPlace::ToolCall, call, Pair::Call(id)))
        }
        (SlotPlace::Block, "tool_result") => {
            let id = ids.of_result(result_id(block)?);
            let mut shown = blocks::show(block).text;
            if block.get("is_error") == Some(&Value::Bool(true)) {
                shown.insert_str(0, "error: ");
            }
            let mut fragment = Fragment::new("tool", SlotPlace::Text, shown.into(), Pair::Result(id.clone()));
            fragment.envelope.insert("tool_call_id".to_owned(), id.into());
            Some(fragment)
        }
        (SlotPlace::Block, "image") if role == "user" => match image_url(block) {
            Some(url) => {
                let part = json!({"type": "image_url", "image_url": {"url": url}});
                Some(Fragment::new(role, SlotPlace::Block, part, Pair::None))
            }
            None => told(role),
        },
        (SlotPlace::Block, "document") if role == "user" && block.pointer("/source/type") == Some(&json!("base64")) => {
            let (media_type, data) = base64_of(block)?;
            let name = text_at(block, "title").unwrap_or("document.pdf");
            let file = json!({"filename": name, "file_data": format!("data:{media_type};base64,{data}")});
            Some(Fragment::new(role, SlotPlace::Block, json!({"type": "file", "file": file}), Pair::None))
        }
        // Calls and results of the API's own tools, and blocks that nobody here knows.
        (SlotPlace::Block, _) => text(role, &blocks::show(block).text),
        _ => told(role),
    }
}

fn base64_of(block: &Value) -> Option<(&str, &str)> {
    let source = block.get("source").filter(|source| type_of(source) == "base64")?;
    Some((text_at(source, "media_type")?, text_at(source, "data")?))
}

fn image_url(block: &Value) -> Option<String> {
    let by_url = || block.pointer("/source/url").and_then(Value::as_str).map(str::to_owned);
    base64_of(block).map(|(media_type, data)| format!("data:{media_type};base64,{data}")).or_else(by_url)
}

pub(super) fn to_anthropic(raw: &Raw, ids: &mut Ids) -> Vec<Fragment> {
    let field = |name: &str| raw.envelope.get(name).and_then(Value::as_str);
    let slot = raw.main();
    let result_of = match role_of(raw) {
        "tool" => Some(field("tool_call_id").unwrap_or_default().to_owned()),
        "function" => Some(function_id(field("name").unwrap_or_default())),
        _ => None,
    };
    if let Some(id) = result_of {
        let id = ids.of_result(&id);
        let content = match &slot.value {
            Value::Array(parts) => {
                Value::Array(parts.iter().filter_map(|part| anthropic_block("user", part)).collect())
            }
            Value::String(text) => text.as_str().into(),
            _ => "".into(),
        };
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": content});
        return vec![Fragment::new("user", SlotPlace::Block, block, Pair::Result(id))];
    }
    let role = plain_role(raw);
    let fragment = match slot.place {
        SlotPlace::ToolCall | SlotPlace::FunctionCall => Some(anthropic_call(slot, ids)),
        SlotPlace::Audio => {
            text_block(text_at(&slot.value, "transcript").unwrap_or("[audio]")).map(|block| told(role, block))
        }
        SlotPlace::Block => anthropic_block(role, &slot.value).map(|block| told(role, block)),
        SlotPlace::Nothing => None,
        _ => text_block(&blocks::show_content(&slot.value).text).map(|block| told(role, block)),
    };
    fragment.into_iter().collect()
}

fn told(role: &str, block: Value) -> Fragment {
    let place = if role == "system" { SlotPlace::SystemBlock } else { SlotPlace::Block };
    Fragment::new(role, place, block, Pair::None)
}

fn anthropic_call(slot: &Slot, ids: &mut Ids) -> Fragment {
    let (name, arguments) = named_call(&slot.value);
    let id = match slot.place {
        SlotPlace::FunctionCall => ids.of_call(&function_id(name)),
        _ => ids.of_call(text_at(&slot.value, "id").unwrap_or_default()),
    };
    // What is no JSON object cannot be an input; it is kept beside a name that says what it was.
    let input = arguments.and_then(parsed_input).unwrap_or_else(|| match arguments {
        Some(Value::String(text)) if !text.trim().is_empty() => json!({"arguments": text}),
        _ => json!({}),
    });
    let block = json!({"type": "tool_use", "id": id, "name": name, "input": input});
    Fragment::new("assistant", SlotPlace::Block, block, Pair::Call(id))
}

/// `None` for what says nothing: the API refuses blank texts.
fn anthropic_block(role: &str, part: &Value) -> Option<Value> {
    let converted = match type_of(part) {
        "image_url" if role == "user" => image_of(part),
        "file" if role == "user" => document_of(part),
        _ => None,
    };
    converted.or_else(|| text_block(&blocks::show_content(part).text))
}

fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

fn image_of(part: &Value) -> Option<Value> {
    let url = part.pointer("/image_url/url").and_then(Value::as_str)?;
    let source = match split_data_url(url) {
        Some((media_type, data)) => json!({"type": "base64", "media_type": media_type, "data": data}),
        None if url.starts_with("http") => json!({"type": "url", "url": url}),
        None => return None,
    };
    Some(json!({"type": "image", "source": source}))
}

fn document_of(part: &Value) -> Option<Value> {
    let file = part.get("file")?;
    let (media_type, data) = split_data_url(text_at(file, "file_data")?)?;
    let source = json!({"type": "base64", "media_type": media_type, "data": data});
    let mut block = json!({"type": "document", "source": source});
    if let Some(name) = text_at(file, "filename") {
        block["title"] = name.into();
    }
    (media_type == "application/pdf").then_some(block)
}

/// A role that both APIs know.
fn plain_role(raw: &Raw) -> &'static str {
    match role_of(raw) {
        "system" | "developer" => "system",
        "assistant" => "assistant",
        _ => "user",
    }
}

fn role_of(raw: &Raw) -> &str {
    raw.envelope.get("role").and_then(Value::as_str).unwrap_or("user")
}
