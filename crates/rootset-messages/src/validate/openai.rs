//! What OpenAI's chat completions refuse.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{is_blank, is_name};
use crate::blocks::{text_at, type_of};
use crate::render::Rendered;

const TOOL_NAME_MAX: usize = 64;

pub(super) fn problems(rendered: &Rendered) -> Vec<String> {
    let mut problems = Vec::new();
    if rendered.system.is_some() {
        problems.push("`system` stands beside the messages; it belongs among them".to_owned());
    }
    for (number, message) in rendered.messages.iter().enumerate() {
        if let Some(problem) = problem_of(message) {
            problems.push(format!("`messages[{number}]` {problem}"));
        }
    }
    check_answers(&rendered.messages, &mut problems);
    problems
}

fn problem_of(message: &Value) -> Option<String> {
    let role = text_at(message, "role").unwrap_or_default();
    let calls = ["tool_calls", "function_call"].into_iter().find(|it| message.get(it).is_some_and(|it| !it.is_null()));
    if let Some(calls) = calls.filter(|_| role != "assistant") {
        return Some(format!("has `{calls}`, which only an assistant's has"));
    }
    match role {
        "system" | "developer" | "user" => problem_of_content(message),
        "assistant" => problem_of_assistant(message),
        "tool" if is_blank(message.get("tool_call_id")) => Some("is a tool's without `tool_call_id`".to_owned()),
        "tool" => match message.get("content") {
            Some(Value::String(_)) => None,
            Some(Value::Array(parts)) if !parts.is_empty() => {
                let other = parts.iter().any(|part| type_of(part) != "text");
                other.then(|| "is a tool's with parts that are not text".to_owned())
            }
            _ => Some("is a tool's with a content that is neither a text nor a list of parts".to_owned()),
        },
        "function" if is_blank(message.get("name")) => Some("is a function's without `name`".to_owned()),
        "function" => None,
        _ => Some(format!(
            "has the role `{role}`; allowed: `system`, `developer`, `user`, `assistant`, `tool`, `function`"
        )),
    }
}

fn problem_of_content(message: &Value) -> Option<String> {
    match message.get("content") {
        Some(Value::String(text)) if !text.is_empty() => None,
        Some(Value::Array(parts)) if !parts.is_empty() => {
            let bad = parts.iter().position(|part| type_of(part).is_empty())?;
            Some(format!("`content[{bad}]` has no `type`"))
        }
        Some(Value::String(_) | Value::Array(_)) => Some("has an empty content".to_owned()),
        _ => Some("has a content that is neither a text nor a list of parts".to_owned()),
    }
}

fn problem_of_assistant(message: &Value) -> Option<String> {
    let calls = message.get("tool_calls").filter(|calls| !calls.is_null());
    let others = ["function_call", "refusal", "audio"].iter().any(|it| message.get(it).is_some_and(|it| !it.is_null()));
    let Some(calls) = calls else {
        return if others { None } else { problem_of_content(message) };
    };
    let calls = match calls.as_array() {
        Some(calls) if !calls.is_empty() => calls,
        _ => return Some("has `tool_calls` without any call".to_owned()),
    };
    let mut ids = BTreeSet::new();
    for (place, call) in calls.iter().enumerate() {
        let (inner, input) = match type_of(call) {
            "custom" => (call.get("custom"), "input"),
            _ => (call.get("function"), "arguments"),
        };
        let named = inner.and_then(|inner| text_at(inner, "name")).is_some_and(|name| is_name(name, TOOL_NAME_MAX));
        let has_input = inner.and_then(|inner| text_at(inner, input)).is_some();
        let id = text_at(call, "id").unwrap_or_default();
        if !matches!(type_of(call), "function" | "custom") || !named || !has_input || id.is_empty() {
            return Some(format!("`tool_calls[{place}]` is not a call with `id`, `type`, a name and {input} as text"));
        }
        if !ids.insert(id) {
            return Some(format!("uses the id `{id}` for two calls"));
        }
    }
    None
}

/// Results follow the message that asks for them, all of them, before anything else.
fn check_answers(messages: &[Value], problems: &mut Vec<String>) {
    let mut asked: BTreeSet<String> = BTreeSet::new();
    for (number, message) in messages.iter().enumerate() {
        let answered = match text_at(message, "role").unwrap_or_default() {
            "tool" => Some(format!("call `{}`", text_at(message, "tool_call_id").unwrap_or_default())),
            "function" => Some(format!("function `{}`", text_at(message, "name").unwrap_or_default())),
            _ => None,
        };
        if let Some(answered) = answered {
            if !asked.remove(&answered) {
                problems.push(format!(
                    "`messages[{number}]` is a result for the {answered}, which is not asked for before it"
                ));
            }
            continue;
        }
        say_unanswered(&mut asked, problems);
        let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        asked.extend(calls.map(|call| format!("call `{}`", text_at(call, "id").unwrap_or_default())));
        if let Some(call) = message.get("function_call").filter(|call| call.is_object()) {
            asked.insert(format!("function `{}`", text_at(call, "name").unwrap_or_default()));
        }
    }
    // Nobody has answered yet; a half of the answers is no such beginning.
    let is_waiting = messages.last().is_some_and(|message| text_at(message, "role") == Some("assistant"));
    if !is_waiting {
        say_unanswered(&mut asked, problems);
    }
}

fn say_unanswered(asked: &mut BTreeSet<String>, problems: &mut Vec<String>) {
    problems.extend(std::mem::take(asked).iter().map(|call| format!("the {call} has no result behind its message")));
}
