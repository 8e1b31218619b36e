//! Which messages of a list stay or leave together: those of tool calls and their results, because providers refuse one half,
//! and what a model thought before it called, because some refuse a call without it.

use std::collections::HashMap;

use serde_json::Value;

use super::normal::id_of_item;
use super::{ListFormat, langchain_fields};
use crate::blocks::{call_id, result_id, text_at, type_of};

/// Of each message of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Units {
    /// The first message of those that it stays or leaves with; absent where it stands alone.
    pub first: Vec<Option<usize>>,
    /// Whether nothing may come between it and the message before: it answers a call, or follows from a thought.
    pub continues: Vec<bool>,
}

pub(super) fn is_call(kind: &str) -> bool {
    kind.ends_with("_call") || kind == "mcp_approval_request"
}

pub(super) fn is_output(kind: &str) -> bool {
    kind.ends_with("_call_output") || kind.ends_with("_output") || kind == "mcp_approval_response"
}

pub fn units(format: ListFormat, messages: &[Value]) -> Units {
    // Each points to an earlier one of its unit, or to itself.
    let mut before: Vec<usize> = (0..messages.len()).collect();
    let mut belongs = vec![false; messages.len()];
    let mut continues = vec![false; messages.len()];
    // An id may be used again once it was answered; the latest call is meant.
    let mut callers: HashMap<String, usize> = HashMap::new();
    for (place, message) in messages.iter().enumerate() {
        let ids = ids(format, message);
        for id in &ids.results {
            if let Some(caller) = callers.get(id) {
                continues[place] |= *caller != place;
                belongs[place] = true;
                join(&mut before, *caller, place);
            }
        }
        if format == ListFormat::OpenAiResponses && place > 0 && follows(&messages[place - 1], message) {
            (belongs[place], belongs[place - 1], continues[place]) = (true, true, true);
            join(&mut before, place - 1, place);
        }
        belongs[place] |= !ids.calls.is_empty();
        callers.extend(ids.calls.into_iter().map(|id| (id, place)));
    }
    let first = (0..messages.len()).map(|place| belongs[place].then(|| head(&mut before, place))).collect();
    Units { first, continues }
}

/// Thoughts lead to what follows them, and calls in a row come from one thought.
fn follows(earlier: &Value, later: &Value) -> bool {
    let is_assistants = |item: &Value| text_at(item, "role").is_none_or(|role| role == "assistant");
    match (type_of(earlier), type_of(later)) {
        ("reasoning", later_kind) => is_assistants(later) && !is_output(later_kind),
        (earlier, later) => is_call(earlier) && is_call(later),
    }
}

fn head(before: &mut [usize], mut place: usize) -> usize {
    while before[place] != place {
        before[place] = before[before[place]];
        place = before[place];
    }
    place
}

fn join(before: &mut [usize], one: usize, other: usize) {
    let (one, other) = (head(before, one), head(before, other));
    before[one.max(other)] = one.min(other);
}

#[derive(Default)]
struct Ids {
    calls: Vec<String>,
    results: Vec<String>,
}

fn ids(format: ListFormat, message: &Value) -> Ids {
    let mut ids = Ids::default();
    let mut add_blocks = |content: Option<&Value>| {
        for block in content.and_then(Value::as_array).into_iter().flatten() {
            ids.calls.extend(call_id(block).map(str::to_owned));
            ids.results.extend(result_id(block).map(str::to_owned));
        }
    };
    match format {
        ListFormat::Anthropic => add_blocks(message.get("content")),
        ListFormat::OpenAiResponses => {
            let id = || id_of_item(message).to_owned();
            ids.calls.extend(is_call(type_of(message)).then(id));
            ids.results.extend(is_output(type_of(message)).then(id));
        }
        ListFormat::OpenAi | ListFormat::LangChain => {
            let fields = langchain_fields(message);
            if format == ListFormat::LangChain {
                add_blocks(fields.get("content"));
            }
            let listed = fields.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
            ids.calls.extend(listed.filter_map(|call| text_at(call, "id")).map(str::to_owned));
            let of_function = |name: &str| format!("function:{name}");
            ids.calls.extend(fields.get("function_call").and_then(|call| text_at(call, "name")).map(of_function));
            ids.results.extend(text_at(fields, "tool_call_id").map(str::to_owned));
            let is_function = [text_at(message, "role"), text_at(message, "type")].contains(&Some("function"));
            ids.results.extend(text_at(fields, "name").filter(|_| is_function).map(of_function));
        }
    }
    // Without an id nothing belongs to anything.
    ids.calls.retain(|id| !id.is_empty());
    ids.results.retain(|id| !id.is_empty());
    ids
}
