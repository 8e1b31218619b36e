//! No result without its call, no call without its result, and each result where the API looks for it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::assemble::Fragment;
use super::{Message, Pair, Part};
use crate::blocks::{self, type_of};
use crate::draft::Format;
use crate::raw::{Slot, SlotPlace};

/// Stands before what a tool answered when nobody can see any more what it was asked.
const ORPHAN_NOTE: &str = "[result of a tool call that is no longer in this conversation]";

/// A part by its message and its place there.
type Location = (usize, usize);

pub(super) fn repair(format: Format, messages: Vec<Message>) -> Vec<Message> {
    let whole = settle_halves(format, messages);
    bring_results_back(format, whole)
}

/// Results without calls become text, calls without results are dropped.
fn settle_halves(format: Format, mut messages: Vec<Message>) -> Vec<Message> {
    let found = match_pairs(&messages, &turns(format, &messages));
    for (message, part) in &found.orphans {
        tell(format, &mut messages[*message], *part);
    }
    rebuild(messages, &found.unanswered, &BTreeMap::new())
}

/// Results that stand too far behind their calls follow them. What was told may stand between them now: this comes second.
fn bring_results_back(format: Format, messages: Vec<Message>) -> Vec<Message> {
    let turns = turns(format, &messages);
    let found = match_pairs(&messages, &turns);
    let mut moved: BTreeMap<usize, Vec<Location>> = BTreeMap::new();
    for (call, result) in &found.late {
        // Turns only grow.
        let last_of_turn = turns.partition_point(|turn| *turn <= turns[call.0]) - 1;
        moved.entry(last_of_turn).or_default().push(*result);
    }
    rebuild(messages, &found.unanswered, &moved)
}

#[derive(Default)]
struct Pairs {
    /// Calls that go.
    unanswered: BTreeSet<Location>,
    /// Results that become text.
    orphans: BTreeSet<Location>,
    /// Calls whose results stand too far behind them.
    late: Vec<(Location, Location)>,
}

/// Which turn each message belongs to: Anthropic takes messages of one role in a row as one; for OpenAI, results in a row
/// answer one message.
fn turns(format: Format, messages: &[Message]) -> Vec<usize> {
    let mut turn = 0;
    let mut before: Option<&Message> = None;
    let number = |message| {
        let joins = before.replace(message).is_some_and(|before| match format {
            Format::OpenAi => is_result_message(before) && is_result_message(message),
            Format::Anthropic | Format::ClaudeCode => before.role == message.role,
        });
        turn += usize::from(!joins);
        turn
    };
    messages.iter().map(number).collect()
}

fn is_result_message(message: &Message) -> bool {
    matches!(message.role.as_str(), "tool" | "function")
}

fn match_pairs(messages: &[Message], turns: &[usize]) -> Pairs {
    let mut found = Pairs::default();
    // An id may be used again once it was answered; the latest call is meant.
    let mut open: BTreeMap<&str, Location> = BTreeMap::new();
    let mut open_on_server: BTreeMap<&str, Location> = BTreeMap::new();
    for (message, part, pair) in all_pairs(messages) {
        let here = (message, part);
        let is_assistants = messages[message].role == "assistant";
        match pair {
            Pair::None => {}
            // Without an id nothing belongs to anything.
            Pair::Call(id) | Pair::ServerCall(id) if id.is_empty() => found.unanswered.extend([here]),
            Pair::Result(id) | Pair::ServerResult(id) if id.is_empty() => found.orphans.extend([here]),
            // Nobody can answer what the user calls, or has called what the assistant answers.
            Pair::Call(_) | Pair::ServerCall(_) if !is_assistants => found.unanswered.extend([here]),
            Pair::Result(_) if is_assistants => found.orphans.extend([here]),
            Pair::Call(id) => found.unanswered.extend(open.insert(id, here)),
            Pair::ServerCall(id) => found.unanswered.extend(open_on_server.insert(id, here)),
            Pair::Result(id) => match open.remove(id.as_str()) {
                Some(call) if turns[message] == turns[call.0] + 1 => {}
                Some(call) => found.late.push((call, here)),
                None => found.orphans.extend([here]),
            },
            Pair::ServerResult(id) => match open_on_server.remove(id.as_str()) {
                Some(call) if turns[message] == turns[call.0] => {}
                call => {
                    found.unanswered.extend(call);
                    found.orphans.insert(here);
                }
            },
        }
    }
    let last = turns.last().copied();
    let waiting = open.into_values().chain(open_on_server.into_values());
    found.unanswered.extend(waiting.filter(|call| Some(turns[call.0]) != last));
    found
}

fn all_pairs(messages: &[Message]) -> impl Iterator<Item = (usize, usize, &Pair)> {
    let parts = |(number, message)| {
        let message: &Message = message;
        message.parts.iter().enumerate().map(move |(place, part)| (number, place, &part.pair))
    };
    messages.iter().enumerate().flat_map(parts)
}

/// A result without its call becomes text, with its images where the role may have some.
fn tell(format: Format, message: &mut Message, part: usize) {
    let part = &mut message.parts[part];
    part.pair = Pair::None;
    let slot = part.slots.pop().expect("a part has at least one slot");
    if format == Format::OpenAi {
        let text = format!("{ORPHAN_NOTE}\n{}", blocks::show_content(&slot.value).text);
        part.slots = vec![Slot { place: SlotPlace::Text, at: slot.at, value: text.into() }];
        let told = Fragment::new("user", SlotPlace::Text, Value::Null, Pair::None);
        (message.role, message.envelope, message.number) = (told.role, told.envelope, None);
        return;
    }
    let is_client = type_of(&slot.value) == "tool_result";
    let mut told = vec![json!({"type": "text", "text": ORPHAN_NOTE})];
    match slot.value.get("content") {
        Some(Value::Array(inner)) if is_client => told.extend(inner.iter().filter_map(tellable)),
        _ => {
            let text = blocks::show(&slot.value).text;
            told.extend((!text.trim().is_empty()).then(|| json!({"type": "text", "text": text})));
        }
    }
    let slots = told.into_iter().map(|value| Slot { place: SlotPlace::Block, at: slot.at, value });
    part.slots.extend(slots);
    message.number = None;
}

fn tellable(block: &Value) -> Option<Value> {
    if matches!(type_of(block), "image" | "document") {
        return Some(block.clone());
    }
    let text = blocks::show(block).text;
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

/// The messages without the calls that go, and with late results behind the turns that asked for them.
fn rebuild(
    messages: Vec<Message>,
    dropped: &BTreeSet<Location>,
    moved: &BTreeMap<usize, Vec<Location>>,
) -> Vec<Message> {
    let leaving: BTreeSet<Location> = moved.values().flatten().copied().collect();
    let mut carried: BTreeMap<Location, (String, Map<String, Value>, Part)> = BTreeMap::new();
    let mut kept: Vec<Message> = Vec::with_capacity(messages.len());
    for (number, mut message) in messages.into_iter().enumerate() {
        let mut parts = Vec::with_capacity(message.parts.len());
        for (place, part) in message.parts.into_iter().enumerate() {
            let here = (number, place);
            if leaving.contains(&here) {
                carried.insert(here, (message.role.clone(), message.envelope.clone(), part));
            } else if !dropped.contains(&here) {
                parts.push(part);
            }
        }
        message.parts = parts;
        kept.push(message);
    }
    let mut out = Vec::with_capacity(kept.len());
    for (number, message) in kept.into_iter().enumerate() {
        if !message.parts.is_empty() {
            out.push(message);
        }
        let late = moved.get(&number).into_iter().flatten().filter_map(|from| carried.remove(from));
        out.extend(late.map(|(role, envelope, part)| Message {
            role,
            envelope,
            parts: vec![part],
            number: None,
            opens: false,
        }));
    }
    out
}
