//! What Anthropic's Messages API refuses.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{is_blank, is_name};
use crate::blocks::{call_id, is_thinking, result_id, text_at, type_of};
use crate::render::Rendered;

const CACHE_MARKS_MAX: usize = 4;
const TOOL_NAME_MAX: usize = 128;

pub(super) fn problems(rendered: &Rendered) -> Vec<String> {
    let mut problems = Vec::new();
    if let Some(system) = &rendered.system {
        check_system(system, &mut problems);
    }
    let last = rendered.messages.len().wrapping_sub(1);
    for (number, message) in rendered.messages.iter().enumerate() {
        check_message(number, message, number == last, &mut problems);
    }
    check_turns(&turns(&rendered.messages), &mut problems);
    let marks = rendered.system.iter().chain(&rendered.messages).map(cache_marks).sum::<usize>();
    if marks > CACHE_MARKS_MAX {
        problems.push(format!("{marks} blocks have `cache_control`; at most {CACHE_MARKS_MAX} are allowed"));
    }
    problems
}

fn check_system(system: &Value, problems: &mut Vec<String>) {
    match system {
        Value::String(_) => {}
        Value::Array(blocks) => {
            for (place, block) in blocks.iter().enumerate() {
                if type_of(block) != "text" || is_blank(block.get("text")) {
                    problems.push(format!("`system[{place}]` is not a text block with text"));
                }
            }
        }
        _ => problems.push("`system` is neither a text nor a list of text blocks".to_owned()),
    }
}

fn check_message(number: usize, message: &Value, is_last: bool, problems: &mut Vec<String>) {
    let mut say = |problem: String| problems.push(format!("`messages[{number}]` {problem}"));
    let role = text_at(message, "role").unwrap_or_default();
    if !matches!(role, "user" | "assistant") {
        say(format!("has the role `{role}`; allowed: `user`, `assistant`"));
    }
    let may_be_empty = is_last && role == "assistant";
    match message.get("content") {
        Some(Value::String(text)) if !text.trim().is_empty() || may_be_empty => {}
        Some(Value::Array(blocks)) if !blocks.is_empty() || may_be_empty => {
            for (place, block) in blocks.iter().enumerate() {
                if let Some(problem) = problem_of_block(role, block) {
                    say(format!("`content[{place}]` {problem}"));
                }
            }
            if blocks.last().is_some_and(is_thinking) {
                say("ends with thinking; something has to follow it".to_owned());
            }
        }
        Some(Value::String(_) | Value::Array(_)) => say("has an empty content".to_owned()),
        _ => say("has a content that is neither a text nor a list of blocks".to_owned()),
    }
}

fn problem_of_block(role: &str, block: &Value) -> Option<String> {
    let assistants_only = |fine: bool, shape: &str| match (role, fine) {
        ("assistant", true) => None,
        ("assistant", false) => Some(format!("is not valid {shape}")),
        _ => Some(format!("is a `{}` of the {role}; only the assistant has those", type_of(block))),
    };
    match type_of(block) {
        "" => Some("has no `type`".to_owned()),
        "text" => is_blank(block.get("text")).then(|| "is a text block without text".to_owned()),
        "tool_use" => {
            let named = text_at(block, "name").is_some_and(|name| is_name(name, TOOL_NAME_MAX));
            let has_id = text_at(block, "id").is_some_and(|id| is_name(id, usize::MAX));
            let fine = named && has_id && block.get("input").is_some_and(Value::is_object);
            assistants_only(fine, "tool use with `id`, `name` and an object as `input`")
        }
        "thinking" => {
            let fine = ["thinking", "signature"].iter().all(|field| text_at(block, field).is_some());
            assistants_only(fine, "thinking with `thinking` and `signature`")
        }
        "redacted_thinking" => assistants_only(text_at(block, "data").is_some(), "thinking with `data`"),
        "tool_result" => match (role, block.get("content")) {
            ("assistant", _) => Some("is a `tool_result` of the assistant; only the user has those".to_owned()),
            _ if text_at(block, "tool_use_id").is_none() => Some("is a tool result without `tool_use_id`".to_owned()),
            (_, content) if is_error(block) && is_empty(content) => {
                Some("is a tool result that failed and does not say how".to_owned())
            }
            (_, None | Some(Value::String(_))) => None,
            (_, Some(Value::Array(inner))) => {
                let blank = inner.iter().any(|block| type_of(block) == "text" && is_blank(block.get("text")));
                blank.then(|| "is a tool result that holds a text block without text".to_owned())
            }
            _ => Some("is a tool result whose content is neither a text nor a list of blocks".to_owned()),
        },
        "image" if role == "assistant" => Some("is an image of the assistant; only the user has those".to_owned()),
        _ => None,
    }
}

fn is_error(block: &Value) -> bool {
    block.get("is_error") == Some(&Value::Bool(true))
}

fn is_empty(content: Option<&Value>) -> bool {
    match content {
        None => true,
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Array(blocks)) => blocks.is_empty(),
        Some(_) => false,
    }
}

struct Turn<'r> {
    role: &'r str,
    /// With the number of the message they stand in.
    blocks: Vec<(usize, &'r Value)>,
}

/// The API takes messages of one role in a row as one.
fn turns(messages: &[Value]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        let role = text_at(message, "role").unwrap_or_default();
        // A text is a block as far as the order of things is concerned.
        let blocks = match message.get("content") {
            Some(Value::Array(blocks)) => blocks.iter().map(|block| (number, block)).collect(),
            Some(text @ Value::String(_)) => vec![(number, text)],
            _ => Vec::new(),
        };
        match turns.last_mut().filter(|turn| turn.role == role) {
            Some(turn) => turn.blocks.extend(blocks),
            None => turns.push(Turn { role, blocks }),
        }
    }
    turns
}

fn check_turns(turns: &[Turn<'_>], problems: &mut Vec<String>) {
    if turns.first().is_some_and(|turn| turn.role == "assistant") {
        problems.push("`messages[0]` is the assistant's; a conversation begins with the user".to_owned());
    }
    let mut used = BTreeSet::new();
    let mut asked: BTreeSet<&str> = BTreeSet::new();
    for (number, turn) in turns.iter().enumerate() {
        check_results(turn, &mut asked, problems);
        for id in std::mem::take(&mut asked) {
            problems.push(format!("the call `{id}` has no result in the next message"));
        }
        let is_last = number + 1 == turns.len();
        for (message, block) in &turn.blocks {
            let Some(id) = call_id(block) else { continue };
            if !used.insert(id) {
                problems.push(format!("`messages[{message}]` uses the id `{id}` of an earlier call"));
            }
            if type_of(block) == "tool_use" && !is_last {
                asked.insert(id);
            }
        }
        check_server_tools(turn, is_last, problems);
    }
}

/// Takes what is answered out of `asked`.
fn check_results(turn: &Turn<'_>, asked: &mut BTreeSet<&str>, problems: &mut Vec<String>) {
    let mut something_else = false;
    for (message, block) in &turn.blocks {
        if type_of(block) != "tool_result" {
            something_else = true;
            continue;
        }
        let id = result_id(block).unwrap_or_default();
        if !asked.remove(id) {
            problems
                .push(format!("`messages[{message}]` has a result for `{id}`, which the message before does not call"));
        }
        if something_else {
            problems.push(format!("`messages[{message}]` has the result for `{id}` behind something else"));
        }
    }
}

/// Tools that run on the API's servers answer in the turn that calls them.
fn check_server_tools(turn: &Turn<'_>, is_last: bool, problems: &mut Vec<String>) {
    let mut open = BTreeSet::new();
    for (message, block) in &turn.blocks {
        match (type_of(block), call_id(block), result_id(block)) {
            ("tool_use" | "tool_result", ..) => {}
            (_, Some(id), _) => {
                open.insert(id);
            }
            (_, _, Some(id)) if !open.remove(id) => {
                problems.push(format!("`messages[{message}]` has a result for `{id}` without its call before it"));
            }
            _ => {}
        }
    }
    if !is_last {
        problems.extend(open.iter().map(|id| format!("the call `{id}` has no result in its message")));
    }
}

fn cache_marks(message: &Value) -> usize {
    let content = message.get("content").unwrap_or(message);
    let marked = |block: &&Value| block.get("cache_control").is_some_and(Value::is_object);
    content.as_array().map_or(0, |blocks| blocks.iter().filter(marked).count())
}
