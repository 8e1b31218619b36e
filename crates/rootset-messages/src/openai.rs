//! Reading lists of OpenAI's chat completions.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::anthropic::{Thinking, answer_call, cut, envelope_of, messages_of, plain_draft};
use crate::blocks::{self, Shown, text_at};
use crate::draft::{Draft, Format};
use crate::error::{ReadError, kind_of};
use crate::file_tools::Calls;
use crate::raw::{Raw, Slot, SlotPlace, cut_mark, digest};

pub(crate) fn read(list: &Value) -> Result<Vec<Draft>, ReadError> {
    let mut reader = Reader::default();
    let mut opens = true;
    for (number, message) in messages_of(list)?.iter().enumerate() {
        let envelope = envelope_of(number, message)?;
        opens &= text_at(message, "role") != Some("user");
        let whole = cut_out(number, message, envelope, opens)?;
        for part in cut(whole, Thinking::JoinsCall) {
            let draft = reader.draft_of(message, &part);
            reader.drafts.push(draft);
        }
    }
    Ok(reader.drafts)
}

/// All values of a message that can leave, and the message without them.
fn cut_out(number: usize, message: &Value, mut envelope: Map<String, Value>, opens: bool) -> Result<Raw, ReadError> {
    let mut found: Vec<(SlotPlace, &Value)> = Vec::new();
    let calls = list_at(number, message, "tool_calls")?;
    let other_contents = !calls.is_empty() || ["function_call", "refusal", "audio"].iter().any(|it| has(message, it));
    let is_result = matches!(text_at(message, "role"), Some("tool" | "function"));
    let bad_content = |found: &Value, field: String| ReadError::BadField {
        message: number,
        field,
        found: kind_of(found),
        allowed: "a text, a list of parts or null",
    };
    match message.get("content") {
        None | Some(Value::Null) => {}
        // An empty text beside tool calls says nothing: it is the shape of the message.
        Some(Value::String(text)) if text.is_empty() && other_contents => {
            envelope.insert("content".to_owned(), Value::String(String::new()));
        }
        Some(content @ Value::String(_)) => found.push((SlotPlace::Text, content)),
        // A result is one thing, however many parts its text comes in.
        Some(content @ Value::Array(parts)) if is_result && !parts.is_empty() => found.push((SlotPlace::Text, content)),
        Some(content @ Value::Array(parts)) => {
            if let Some(bad) = parts.iter().position(|part| !part.is_object()) {
                return Err(bad_content(&parts[bad], format!("content[{bad}]")));
            }
            if parts.is_empty() {
                envelope.insert("content".to_owned(), content.clone());
            }
            found.extend(parts.iter().map(|part| (SlotPlace::Block, part)));
        }
        Some(other) => return Err(bad_content(other, "content".to_owned())),
    }
    if !found.is_empty() {
        envelope.insert("content".to_owned(), cut_mark());
    }
    for (field, place) in
        [("refusal", SlotPlace::Refusal), ("audio", SlotPlace::Audio), ("function_call", SlotPlace::FunctionCall)]
    {
        if has(message, field) {
            found.push((place, &message[field]));
            envelope.insert(field.to_owned(), cut_mark());
        }
    }
    if !calls.is_empty() {
        envelope.insert("tool_calls".to_owned(), cut_mark());
        found.extend(calls.iter().map(|call| (SlotPlace::ToolCall, call)));
    }
    let slot = |(at, (place, value)): (usize, (SlotPlace, &Value))| Slot { place, at: at as u32, value: value.clone() };
    let slots = found.into_iter().enumerate().map(slot).collect();
    Ok(Raw { format: Format::OpenAi, message: number as u32, digest: digest(message), opens, envelope, slots })
}

/// Whether an optional field of an assistant's message says something.
fn has(message: &Value, field: &str) -> bool {
    match (field, message.get(field)) {
        ("refusal", Some(Value::String(text))) => !text.is_empty(),
        ("audio" | "function_call", Some(Value::Object(_))) => true,
        _ => false,
    }
}

fn list_at<'m>(number: usize, message: &'m Value, field: &str) -> Result<&'m [Value], ReadError> {
    let fault = |found: &Value, field: String, allowed| ReadError::BadField {
        message: number,
        field,
        found: kind_of(found),
        allowed,
    };
    match message.get(field) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(items)) => match items.iter().position(|item| !item.is_object()) {
            Some(bad) => Err(fault(&items[bad], format!("{field}[{bad}]"), "an object")),
            None => Ok(items),
        },
        Some(other) => Err(fault(other, field.to_owned(), "a list or null")),
    }
}

#[derive(Default)]
struct Reader {
    calls: Calls,
    /// Calls and results of the time before tools had ids, by the function's name.
    function_calls: BTreeMap<String, u32>,
    function_results: BTreeMap<String, u32>,
    drafts: Vec<Draft>,
}

impl Reader {
    fn draft_of(&mut self, message: &Value, part: &Raw) -> Draft {
        let role = text_at(message, "role").unwrap_or_default();
        let slot = part.main();
        let shown = match slot.place {
            SlotPlace::ToolCall | SlotPlace::FunctionCall => {
                let (name, input) = named_call(&slot.value);
                Shown { text: blocks::call_text(name, input), extra_tokens: 0 }
            }
            SlotPlace::Audio => {
                Shown { text: text_at(&slot.value, "transcript").unwrap_or("[audio]").to_owned(), extra_tokens: 0 }
            }
            _ => blocks::show_content(&slot.value),
        };
        let mut draft = plain_draft(if role == "developer" { "system" } else { role }, shown, part);
        draft.is_invariant = matches!(role, "system" | "developer");
        match (slot.place, role) {
            (SlotPlace::ToolCall, _) => self.make_call(&mut draft, text_at(&slot.value, "id"), &slot.value),
            (SlotPlace::FunctionCall, _) => {
                let id = numbered(&mut self.function_calls, named_call(&slot.value).0);
                self.make_call(&mut draft, Some(&id), &slot.value);
            }
            (_, "tool") => {
                if let Some(id) = text_at(message, "tool_call_id") {
                    answer_call(&mut draft, id, false, &self.calls);
                }
            }
            (_, "function") => {
                let id = numbered(&mut self.function_results, text_at(message, "name").unwrap_or_default());
                answer_call(&mut draft, &id, false, &self.calls);
            }
            _ => {}
        }
        draft
    }

    fn make_call(&mut self, draft: &mut Draft, id: Option<&str>, call: &Value) {
        let Some(id) = id else { return };
        draft.tool_call_id = Some(id.to_owned());
        let (name, input) = named_call(call);
        let Some(input) = input.and_then(parsed_input) else { return };
        if let Some(view) = self.calls.note(id, name, &input) {
            (draft.file_path, draft.lines) = (Some(view.path), view.lines);
        }
    }
}

/// Functions have no ids: the n-th call by a name in a list belongs to the n-th result by that name.
fn numbered(counts: &mut BTreeMap<String, u32>, name: &str) -> String {
    let count = counts.entry(name.to_owned()).or_default();
    *count += 1;
    format!("function:{name}:{count}")
}

/// Name and input of `{function: {name, arguments}}`, `{custom: {name, input}}` or `{name, arguments}`.
pub(crate) fn named_call(call: &Value) -> (&str, Option<&Value>) {
    let inner = call.get("function").or_else(|| call.get("custom")).unwrap_or(call);
    (text_at(inner, "name").unwrap_or_default(), inner.get("arguments").or_else(|| inner.get("input")))
}

/// Arguments are JSON in a text; models sometimes get it wrong.
pub(crate) fn parsed_input(arguments: &Value) -> Option<Value> {
    match arguments {
        Value::String(text) => serde_json::from_str(text).ok().filter(Value::is_object),
        Value::Object(_) => Some(arguments.clone()),
        _ => None,
    }
}
