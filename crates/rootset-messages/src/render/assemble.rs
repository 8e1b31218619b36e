//! Joins the parts of a message, and makes a message of each part that has none.

use serde_json::{Map, Value, json};

use super::ids::Ids;
use super::{Message, Pair, Part, Piece, convert};
use crate::blocks::{call_id, is_thinking, result_id, text_at, type_of};
use crate::draft::Format;
use crate::raw::{Raw, Slot, SlotPlace, cut_mark};

#[derive(Debug, Default)]
pub(super) struct Assembled {
    pub system: Vec<Slot>,
    pub messages: Vec<Message>,
}

/// A part on its way into a message of this role.
#[derive(Debug)]
pub(super) struct Fragment {
    pub role: String,
    pub envelope: Map<String, Value>,
    pub part: Part,
}

impl Fragment {
    /// A value of a message that has nothing but a role and contents.
    pub fn new(role: &str, place: SlotPlace, value: Value, pair: Pair) -> Self {
        let mut envelope = Map::new();
        envelope.insert("role".to_owned(), role.into());
        envelope.insert("content".to_owned(), cut_mark());
        let slots = vec![Slot { place, at: 0, value }];
        Self { role: role.to_owned(), envelope, part: Part { slots, pair } }
    }
}

pub(super) fn assemble(target: Format, pieces: &[Piece<'_>]) -> Assembled {
    let mut assembler =
        Assembler { target, out: Assembled::default(), last: None, ids: Ids::default(), placeholders: Vec::new() };
    let parsed: Vec<Option<Raw>> = pieces.iter().map(parse).collect();
    for raw in parsed.iter().flatten().filter(|raw| raw.format == target) {
        if let Pair::Call(id) | Pair::ServerCall(id) = native_pair(raw) {
            assembler.ids.reserve(id);
        }
    }
    for (piece, raw) in pieces.iter().zip(parsed) {
        match (piece, raw) {
            (_, Some(raw)) => assembler.add_raw(raw),
            (Piece::Raw(value), None) => assembler.adopt(value),
            (Piece::Text { role, text }, None) => assembler.add_text(role, text),
            (Piece::Placeholder { text }, None) if text.trim().is_empty() => {}
            (Piece::Placeholder { text }, None) => assembler.placeholders.push((*text).to_owned()),
        }
    }
    assembler.place_placeholders();
    assembler.out
}

fn parse(piece: &Piece<'_>) -> Option<Raw> {
    match piece {
        Piece::Raw(value) => Raw::parse(value),
        Piece::Text { .. } | Piece::Placeholder { .. } => None,
    }
}

struct Assembler {
    target: Format,
    out: Assembled,
    /// The part before, for the question whether the next one continues its message.
    last: Option<Raw>,
    ids: Ids,
    /// Waiting for the end of the message they fell into.
    placeholders: Vec<String>,
}

impl Assembler {
    fn add_raw(&mut self, raw: Raw) {
        let continues = self.last.as_ref().is_some_and(|last| last.is_continued_by(&raw));
        if !continues {
            self.place_placeholders();
        }
        if matches!(raw.main().place, SlotPlace::SystemText | SlotPlace::SystemBlock)
            && self.target == Format::Anthropic
        {
            self.out.system.extend(raw.slots);
            return;
        }
        if raw.format == self.target {
            self.add_native(&raw, continues);
        } else {
            self.add_foreign(&raw, continues);
        }
        self.last = Some(raw);
    }

    fn add_native(&mut self, raw: &Raw, continues: bool) {
        let pair = native_pair(raw);
        match &pair {
            Pair::Call(id) | Pair::ServerCall(id) => self.ids.note(id),
            _ => {}
        }
        let part = Part { slots: raw.slots.clone(), pair };
        match self.out.messages.last_mut().filter(|_| continues) {
            Some(message) => message.parts.push(part),
            None => self.out.messages.push(Message {
                role: raw.envelope.get("role").and_then(Value::as_str).unwrap_or("user").to_owned(),
                envelope: raw.envelope.clone(),
                parts: vec![part],
                number: Some(raw.message),
                opens: raw.opens,
            }),
        }
    }

    fn add_foreign(&mut self, raw: &Raw, continues: bool) {
        let fragments = match self.target {
            Format::OpenAi => convert::to_openai(raw, &mut self.ids),
            Format::Anthropic | Format::ClaudeCode => convert::to_anthropic(raw, &mut self.ids),
        };
        for fragment in fragments {
            if fragment.role == "system" && self.target == Format::Anthropic {
                self.out.system.extend(fragment.part.slots);
                continue;
            }
            self.add_fragment(fragment, continues);
        }
    }

    /// Puts a fragment into the message before it where both come from one message, into a new one otherwise.
    fn add_fragment(&mut self, mut fragment: Fragment, continues: bool) {
        let same = |message: &&mut Message| {
            continues && message.role == fragment.role && message.number.is_none() && fragment.role != "tool"
        };
        if let Some(message) = self.out.messages.last_mut().filter(same) {
            let next = message.next_place();
            fragment.part.slots.iter_mut().for_each(|slot| slot.at = slot.at.saturating_add(next));
            message.parts.push(fragment.part);
            return;
        }
        self.out.messages.push(Message {
            role: fragment.role,
            envelope: fragment.envelope,
            parts: vec![fragment.part],
            number: None,
            opens: false,
        });
    }

    fn add_text(&mut self, role: &str, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.place_placeholders();
        self.last = None;
        let role = match role {
            "system" | "developer" => "system",
            "assistant" => "assistant",
            _ => "user",
        };
        if role == "system" && self.target == Format::Anthropic {
            self.out.system.push(Slot { place: SlotPlace::SystemText, at: 0, value: text.into() });
            return;
        }
        self.add_fragment(Fragment::new(role, SlotPlace::Text, text.into(), Pair::None), false);
    }

    fn place_placeholders(&mut self) {
        if self.placeholders.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.placeholders).join("\n");
        self.add_fragment(Fragment::new("user", SlotPlace::Text, text.into(), Pair::None), false);
        self.last = None;
    }

    /// A caller's own value: a whole message, a block, or something to be told.
    fn adopt(&mut self, value: &Value) {
        let whole = if text_at(value, "role").is_some() {
            Some(json!([value]))
        } else {
            role_of_block(value).map(|role| json!([{"role": role, "content": [value]}]))
        };
        let read = whole.and_then(|list| crate::read(self.target, &list).ok());
        let Some(read) = read else {
            let shown = crate::blocks::show_content(value);
            return self.add_text("user", &shown.text);
        };
        self.place_placeholders();
        self.last = None;
        let first = self.out.messages.len();
        for draft in &read.drafts {
            self.add_raw(Raw::parse(&draft.raw).expect("what was just read can be parsed"));
        }
        // Its number is that of a list of one.
        for message in &mut self.out.messages[first..] {
            message.number = None;
        }
        self.last = None;
    }
}

fn role_of_block(block: &Value) -> Option<&'static str> {
    match type_of(block) {
        "" => None,
        "tool_result" => Some("user"),
        _ if call_id(block).is_some() || result_id(block).is_some() || is_thinking(block) => Some("assistant"),
        _ => Some("user"),
    }
}

fn native_pair(raw: &Raw) -> Pair {
    let (slot, envelope) = (raw.main(), &raw.envelope);
    let field = |name: &str| envelope.get(name).and_then(Value::as_str).unwrap_or_default();
    match raw.format {
        Format::OpenAi => match (slot.place, field("role")) {
            (SlotPlace::ToolCall, _) => Pair::Call(text_at(&slot.value, "id").unwrap_or_default().to_owned()),
            (SlotPlace::FunctionCall, _) => Pair::Call(function_id(text_at(&slot.value, "name").unwrap_or_default())),
            (_, "tool") => Pair::Result(field("tool_call_id").to_owned()),
            (_, "function") => Pair::Result(function_id(field("name"))),
            _ => Pair::None,
        },
        Format::Anthropic | Format::ClaudeCode => {
            if slot.place != SlotPlace::Block {
                return Pair::None;
            }
            let is_client = matches!(type_of(&slot.value), "tool_use" | "tool_result");
            match (call_id(&slot.value), result_id(&slot.value), is_client) {
                (Some(id), _, true) => Pair::Call(id.to_owned()),
                (Some(id), _, false) => Pair::ServerCall(id.to_owned()),
                (_, Some(id), true) => Pair::Result(id.to_owned()),
                (_, Some(id), false) => Pair::ServerResult(id.to_owned()),
                _ => Pair::None,
            }
        }
    }
}

/// Functions had no ids; no tool's id begins like this.
pub(super) fn function_id(name: &str) -> String {
    format!("function:{name}")
}
