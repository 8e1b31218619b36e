//! Fills envelopes with what is left of their contents.

use serde_json::{Map, Value, json};

use super::Message;
use crate::draft::Format;
use crate::raw::{Slot, SlotPlace, is_cut};

/// One text as it was given; several as blocks.
pub(super) fn system(slots: Vec<Slot>) -> Option<Value> {
    match slots.as_slice() {
        [] => None,
        [only] if only.place == SlotPlace::SystemText => Some(only.value.clone()),
        _ => Some(slots.into_iter().map(block_of).collect()),
    }
}

pub(super) fn message(format: Format, message: Message) -> Value {
    let mut slots: Vec<Slot> = message.parts.into_iter().flat_map(|part| part.slots).collect();
    slots.retain(|slot| slot.place != SlotPlace::Nothing);
    // Thinking travels with what it belongs to, but stands where it stood.
    slots.sort_by_key(|slot| slot.at);
    let mut envelope = message.envelope;
    let (contents, others): (Vec<Slot>, Vec<Slot>) =
        slots.into_iter().partition(|slot| matches!(slot.place, SlotPlace::Text | SlotPlace::Block));
    fill_content(format, &mut envelope, contents);
    fill_others(&mut envelope, others);
    Value::Object(envelope)
}

fn fill_content(format: Format, envelope: &mut Map<String, Value>, mut contents: Vec<Slot>) {
    if !is_cut(envelope, "content") {
        return;
    }
    let is_one_text = matches!(contents.as_slice(), [only] if only.place == SlotPlace::Text);
    let content = match (is_one_text, format) {
        (true, _) => contents.remove(0).value,
        // Only tool calls are left of it.
        (_, Format::OpenAi) if contents.is_empty() => Value::Null,
        _ => contents.into_iter().map(block_of).collect(),
    };
    envelope.insert("content".to_owned(), content);
}

fn fill_others(envelope: &mut Map<String, Value>, others: Vec<Slot>) {
    let mut calls = Vec::new();
    let mut fields: Vec<(&str, Value)> = Vec::new();
    for slot in others {
        match slot.place {
            SlotPlace::ToolCall => calls.push(slot.value),
            SlotPlace::FunctionCall => fields.push(("function_call", slot.value)),
            SlotPlace::Refusal => fields.push(("refusal", slot.value)),
            SlotPlace::Audio => fields.push(("audio", slot.value)),
            SlotPlace::SystemText
            | SlotPlace::SystemBlock
            | SlotPlace::Text
            | SlotPlace::Block
            | SlotPlace::Nothing => {}
        }
    }
    if !calls.is_empty() {
        fields.push(("tool_calls", Value::Array(calls)));
    }
    for (field, value) in fields {
        envelope.insert(field.to_owned(), value);
    }
    if is_cut(envelope, "refusal") {
        envelope.insert("refusal".to_owned(), Value::Null);
    }
    for field in ["tool_calls", "function_call", "audio"] {
        if is_cut(envelope, field) {
            envelope.shift_remove(field);
        }
    }
}

fn block_of(slot: Slot) -> Value {
    match slot.place {
        SlotPlace::SystemText | SlotPlace::Text => json!({"type": "text", "text": slot.value}),
        _ => slot.value,
    }
}
