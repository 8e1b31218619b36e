//! Sessions as files: `rootset context import` and `export`.

use std::io::Write;
use std::path::{Path, PathBuf};

use rootset_api::ErrorCode;
use rootset_service::ServiceError;
use serde_json::{Value, json};

use crate::arguments::{ExportContextArguments, ImportContextArguments, SessionFormat};
use crate::exit::Failure;
use crate::input;
use crate::render::{escaped, list, text};
use crate::session::Session;

pub fn import(arguments: ImportContextArguments, session: &Session) -> Result<(), Failure> {
    let name = arguments.session.unwrap_or_else(|| session_name(&arguments.file));
    let format = arguments.format.map_or_else(|| detect(&arguments.file), Ok)?;
    let request = import_request(&name, &arguments.file, format);
    let answer = session.call("context_import", request)?;
    session.output.answer(&answer, |answer| {
        format!("{}: {}\n", escaped(text(answer, "session_id")), escaped(text(answer, "message")))
    })?;
    if !session.output.in_json() {
        for skipped in list(&answer["skipped"], "first") {
            let line = skipped.get("line").and_then(Value::as_u64).unwrap_or_default();
            session.output.talk(&format!("line {line} left out: {}", escaped(text(skipped, "reason"))));
        }
    }
    Ok(())
}

pub fn import_request(name: &str, file: &Path, format: SessionFormat) -> Value {
    json!({"session_id": name, "format": format.as_str(), "path": file.display().to_string()})
}

/// The file's name without its ending.
pub fn session_name(file: &Path) -> String {
    file.file_stem().map_or_else(|| "session".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// What a file is, by its contents.
pub fn detect(file: &Path) -> Result<SessionFormat, ServiceError> {
    let contents = input::read_file(file)?;
    let Ok(value) = serde_json::from_str::<Value>(&contents) else {
        // Not one JSON value: lines of them, or nothing we know; then the import says where it stumbles.
        return Ok(SessionFormat::ClaudeCode);
    };
    if value.get("segments").is_some() {
        return Ok(SessionFormat::Rootset);
    }
    if value.get("uuid").is_some() || value.get("sessionId").is_some() {
        return Ok(SessionFormat::ClaudeCode);
    }
    let messages = value.get("messages").unwrap_or(&value).as_array().map(Vec::as_slice).unwrap_or_default();
    let is_openai = |message: &Value| {
        let role = text(message, "role");
        message.get("tool_calls").is_some() || matches!(role, "system" | "developer" | "tool" | "function")
    };
    Ok(if messages.iter().any(is_openai) { SessionFormat::OpenAi } else { SessionFormat::Anthropic })
}

pub fn export(arguments: &ExportContextArguments, session: &Session) -> Result<(), Failure> {
    let request = json!({"session_id": arguments.session, "include": arguments.include});
    let answer = session.call("context_export", request)?;
    let Some(path) = &arguments.output else { return session.output.json(&answer) };
    let aside = write_whole(path, &format!("{answer:#}\n"))?;
    if let Some(aside) = aside {
        session.output.talk(&format!("what was there is no export; it was set aside as {}", aside.display()));
    }
    let segments = list(&answer, "segments").len();
    session.output.talk(&format!("{segments} segments written to {}", path.display()));
    Ok(())
}

/// Replaces the file in one step. What is there and cannot be an export of ours is set aside, never overwritten.
fn write_whole(path: &Path, contents: &str) -> Result<Option<PathBuf>, ServiceError> {
    let failed = |error: std::io::Error| {
        ServiceError::new(ErrorCode::InvalidArgument, format!("cannot write `{}`: {error}", path.display()))
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(contents.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    let mut aside = None;
    if path.exists() && !is_export(path) {
        let name = free_name(path);
        std::fs::rename(path, &name).map_err(failed)?;
        aside = Some(name);
    }
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(aside)
}

fn is_export(path: &Path) -> bool {
    let contents = std::fs::read_to_string(path).unwrap_or_default();
    serde_json::from_str::<Value>(&contents).is_ok_and(|value| value.get("segments").is_some_and(Value::is_array))
}

/// `FILE.corrupt`, `FILE.corrupt2` and so on.
fn free_name(path: &Path) -> PathBuf {
    let named = |ending: String| PathBuf::from(format!("{}.{ending}", path.display()));
    let numbered = (2..).map(|number| named(format!("corrupt{number}")));
    let mut names = std::iter::once(named("corrupt".to_owned())).chain(numbered);
    names.find(|name| !name.exists()).expect("some number is free")
}
