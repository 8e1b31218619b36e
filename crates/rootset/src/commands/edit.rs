//! `rootset edit`.

use rootset_service::ServiceError;
use serde_json::{Map, Value, json};

use super::{object, times};
use crate::arguments::{ClearedField, EditArguments};
use crate::exit::Failure;
use crate::render::{self, count, flag, list, text};
use crate::session::Session;
use crate::{editor, input, prompt};

pub fn run(arguments: EditArguments, session: &Session) -> Result<(), Failure> {
    let mut changes = changes(&arguments)?;
    if changes.is_empty() {
        if !prompt::is_possible() {
            let error = ServiceError::invalid("no option says what to change, and there is no terminal for an editor");
            return Err(error.with_hint("see `rootset edit --help`").into());
        }
        if !changes_in_editor(&arguments.memory, &mut changes, session)? {
            session.output.talk("the text is the same; nothing was changed");
            return Ok(());
        }
    }
    if arguments.erase_previous {
        let action = format!("erase all earlier revisions of `{}` for good", render::one_line(&arguments.memory, 128));
        prompt::confirm_word(session, &action, "erase")?;
    }
    changes.insert("memory_id".to_owned(), arguments.memory.into());
    if let Some(version) = arguments.expected_version {
        changes.insert("expected_version".to_owned(), version.into());
    }
    let answer = session.call("update_memory", Value::Object(changes))?;
    session.output.answer(&answer, render)?;
    if !session.output.in_json() {
        for error in list(&answer, "errors").iter().filter_map(Value::as_str) {
            session.output.talk(&render::warning(format!("not complete yet: {}", render::escaped(error))));
        }
    }
    Ok(())
}

/// Only what was given: in an update a `null` clears.
fn changes(arguments: &EditArguments) -> Result<Map<String, Value>, ServiceError> {
    let mut changes = Map::new();
    let mut set = |field: &str, value: Option<Value>| {
        if let Some(value) = value {
            changes.insert(field.to_owned(), value);
        }
    };
    let words = |items: &[String]| (!items.is_empty()).then(|| json!(items));
    for field in &arguments.clear {
        let field = match field {
            ClearedField::Topic => "topic",
            ClearedField::Decisions => "decisions",
            ClearedField::Rationale => "rationale",
            ClearedField::Tags => "tags",
            ClearedField::Metadata => "metadata",
            ClearedField::Expires => "expires_at",
            ClearedField::PinReason => "pin_reason",
        };
        set(field, Some(Value::Null));
    }
    let context = match arguments.text.as_deref() {
        Some("-") => Some(input::read_stdin()?.into()),
        other => other.map(Into::into),
    };
    set("context", context);
    set("topic", arguments.topic.as_deref().map(Into::into));
    set("decisions", words(&arguments.decisions));
    set("rationale", words(&arguments.rationale));
    set("tags", words(&arguments.tags));
    set("name", arguments.name.as_deref().map(Into::into));
    set("metadata", arguments.metadata.as_deref().map(|text| object("--metadata", text)).transpose()?);
    if let Some(reason) = &arguments.pin {
        set("pinned", Some(true.into()));
        set("pin_reason", (!reason.is_empty()).then(|| reason.as_str().into()));
    }
    set("pinned", arguments.unpin.then_some(false.into()));
    let expires = arguments.expires.as_deref().map(|text| times::ahead("--expires", text)).transpose()?;
    set("expires_at", expires.map(Into::into));
    set("erase_previous", arguments.erase_previous.then_some(true.into()));
    Ok(changes)
}

/// Whether the text is another one after the editor. Somebody else's change meanwhile is a conflict, not overwritten.
fn changes_in_editor(memory: &str, changes: &mut Map<String, Value>, session: &Session) -> Result<bool, ServiceError> {
    let current = session.call("get_memory", json!({"memory_id": memory}))?;
    let before = text(&current, "context");
    let after = editor::edit(&format!("{before}\n"))?;
    if after.trim() == before.trim() {
        return Ok(false);
    }
    changes.insert("context".to_owned(), after.into());
    changes.insert("expected_version".to_owned(), count(&current, "version").into());
    Ok(true)
}

fn render(answer: &Value) -> String {
    let what = if flag(answer, "reextracted") { ", entities and relations renewed" } else { "" };
    format!("changed {}, now version {}{what}\n", text(answer, "memory_id"), count(answer, "version"))
}
