//! `Draft::raw`: a part of a message, with all it takes to put the message together again from whichever parts are left.
//!
//! Every part carries the message it was cut from without its contents (the envelope): parts leave one by one, so none can
//! be the one that keeps it. What was cut out is marked in the envelope, so that fields keep their places.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::blocks::is_thinking;
use crate::draft::Format;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Raw {
    /// Never Claude Code: its messages are Anthropic's.
    pub format: Format,
    /// The message's number in its list: neighbours in the list have neighbouring numbers.
    pub message: u32,
    /// Tells messages of the same number in different lists apart.
    pub digest: String,
    /// No user's message came before it in its list.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub opens: bool,
    pub envelope: Map<String, Value>,
    /// In order; the last is what the draft is about, the others are thinking that belongs to it.
    pub slots: Vec<Slot>,
}

/// A value and where it was cut out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Slot {
    pub place: SlotPlace,
    /// Its number among all values cut out of the message.
    pub at: u32,
    pub value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SlotPlace {
    /// `system` as a text.
    SystemText,
    /// One of the blocks of `system`.
    SystemBlock,
    /// `content` as a whole: a text, or all parts of a tool's message.
    Text,
    /// One of the blocks of `content`.
    Block,
    /// One of `tool_calls`.
    ToolCall,
    FunctionCall,
    Refusal,
    Audio,
    /// The message has nothing that could be cut out: the envelope is all of it.
    Nothing,
}

impl Raw {
    /// `None` when somebody else made it: callers bring values of their own.
    pub fn parse(value: &Value) -> Option<Self> {
        let raw = Self::deserialize(value).ok()?;
        let (_, before) = raw.slots.split_last()?;
        let is_thought = |slot: &Slot| slot.place == SlotPlace::Block && is_thinking(&slot.value);
        (before.iter().all(is_thought) && raw.slots.iter().all(|slot| raw.fits(slot))).then_some(raw)
    }

    /// Whether something like this could have been cut out of such a message.
    fn fits(&self, slot: &Slot) -> bool {
        let has_role = self.envelope.get("role").is_some_and(Value::is_string);
        let is_cut_out = |field: &str| has_role && is_cut(&self.envelope, field);
        match (slot.place, self.format) {
            (_, Format::ClaudeCode) => false,
            (SlotPlace::SystemText, Format::Anthropic) => slot.value.is_string(),
            (SlotPlace::SystemBlock, Format::Anthropic) => slot.value.is_object(),
            (SlotPlace::Text, Format::Anthropic) => is_cut_out("content") && slot.value.is_string(),
            (SlotPlace::Text, Format::OpenAi) => {
                is_cut_out("content") && (slot.value.is_string() || slot.value.is_array())
            }
            (SlotPlace::Block, _) => is_cut_out("content") && slot.value.is_object(),
            (SlotPlace::ToolCall, Format::OpenAi) => is_cut_out("tool_calls") && slot.value.is_object(),
            (SlotPlace::FunctionCall, Format::OpenAi) => is_cut_out("function_call") && slot.value.is_object(),
            (SlotPlace::Audio, Format::OpenAi) => is_cut_out("audio") && slot.value.is_object(),
            (SlotPlace::Refusal, Format::OpenAi) => is_cut_out("refusal") && slot.value.is_string(),
            (SlotPlace::Nothing, _) => has_role,
            (SlotPlace::SystemText | SlotPlace::SystemBlock, Format::OpenAi) => false,
            (
                SlotPlace::ToolCall | SlotPlace::FunctionCall | SlotPlace::Audio | SlotPlace::Refusal,
                Format::Anthropic,
            ) => false,
        }
    }

    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).expect("texts as keys and JSON as values are JSON")
    }

    /// What the draft is about.
    pub fn main(&self) -> &Slot {
        self.slots.last().expect("`parse` refuses a part without slots, and readers make none")
    }

    /// Whether `next` was cut out of the same message, behind this part.
    pub fn is_continued_by(&self, next: &Self) -> bool {
        self.format == next.format
            && self.message == next.message
            && self.digest == next.digest
            && self.main().at < next.main().at
    }
}

/// Stands in an envelope where something was cut out.
pub(crate) fn cut_mark() -> Value {
    json!({"parts": true})
}

pub(crate) fn is_cut(envelope: &Map<String, Value>, field: &str) -> bool {
    envelope.get(field).is_some_and(|value| *value == cut_mark())
}

/// The same for equal messages only.
pub(crate) fn digest(message: &Value) -> String {
    let bytes = serde_json::to_vec(message).expect("a JSON value is JSON");
    blake3::hash(&bytes).to_hex()[..16].to_owned()
}
