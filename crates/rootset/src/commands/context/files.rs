//! Sessions as files: `rootset context import` and `export`.

#![expect(clippy::disallowed_types, reason = "a file is known by the JSON it holds")]

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use rootset_api::{ContextExport, ContextImport, ErrorCode, ImportFormat};
use rootset_service::ServiceError;
use serde_json::Value;

use crate::commands::word;
use crate::exit::Failure;
use crate::input;
use crate::program::Program;
use crate::render::{counted, escaped};

/// Import a Claude Code session, a message list, or an export
#[derive(Debug, Args)]
pub struct ImportContextArguments {
    /// The file with the messages
    file: PathBuf,
    /// The name of the session; default: the file's name
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// The format of the file; default: detected from its contents
    #[arg(long, value_name = "FORMAT")]
    format: Option<SessionFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SessionFormat {
    ClaudeCode,
    Anthropic,
    #[value(name = "openai")]
    OpenAi,
    Rootset,
}

impl From<SessionFormat> for ImportFormat {
    fn from(format: SessionFormat) -> Self {
        match format {
            SessionFormat::ClaudeCode => Self::ClaudeCode,
            SessionFormat::Anthropic => Self::Anthropic,
            SessionFormat::OpenAi => Self::OpenAi,
            SessionFormat::Rootset => Self::Rootset,
        }
    }
}

pub fn import(arguments: ImportContextArguments, program: &Program) -> Result<(), Failure> {
    let name = arguments.session.unwrap_or_else(|| session_name(&arguments.file));
    let format = arguments.format.map_or_else(|| detect(&arguments.file), Ok)?;
    let answer = program.run(import_request(name, &arguments.file, format))?;
    program
        .output
        .answer(&answer, |answer| format!("{}: {}\n", escaped(&answer.session_id), escaped(&answer.message)))?;
    if !program.output.in_json() {
        for skipped in &answer.skipped.first {
            program.output.talk(&format!("line {} skipped: {}", skipped.line, escaped(&skipped.reason)));
        }
    }
    Ok(())
}

pub fn import_request(session_id: String, file: &Path, format: SessionFormat) -> ContextImport {
    let (format, path) = (format.into(), Some(file.display().to_string()));
    ContextImport { workspace_id: None, session_id, format, messages: None, path }
}

/// The file's name without its ending.
fn session_name(file: &Path) -> String {
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
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        message.get("tool_calls").is_some() || matches!(role, "system" | "developer" | "tool" | "function")
    };
    Ok(if messages.iter().any(is_openai) { SessionFormat::OpenAi } else { SessionFormat::Anthropic })
}

/// Export a session as JSON that `import` can read
#[derive(Debug, Args)]
pub struct ExportContextArguments {
    /// The name of the session
    session: String,
    /// What to export: session, stash or both
    #[arg(long, default_value = "both", value_name = "WHAT")]
    include: String,
    /// The file to write, in one step; default: stdout
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub fn export(arguments: ExportContextArguments, program: &Program) -> Result<(), Failure> {
    let include = Some(word("--include", &arguments.include)?);
    let answer = program.run(ContextExport { workspace_id: None, session_id: arguments.session, include })?;
    let Some(path) = &arguments.output else { return program.output.json(&answer) };
    let contents = serde_json::to_string_pretty(&answer).map_err(std::io::Error::from)?;
    let aside = write_whole(path, &format!("{contents}\n"))?;
    if let Some(aside) = aside {
        program.output.talk(&format!("the existing file was not an export; it was kept as {}", aside.display()));
    }
    program.output.talk(&format!(
        "{} written to {}",
        counted(answer.segments.len(), "segment", "segments"),
        path.display()
    ));
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
