//! `rootset add`.

use std::fmt::Write;

use clap::Args;
use rootset_api::{AddMemory, AddedMemory, MemoryInput, MemoryOf, Request as _, UpdateCandidate, UpdateMemory};
use rootset_service::ServiceError;

use super::{given, joined, object, times};
use crate::arguments::described_by;
use crate::exit::Failure;
use crate::program::Program;
use crate::render::{self, escaped, one_line};
use crate::{editor, input, prompt};

/// Remember something
#[derive(Debug, Args)]
#[command(defer(described_by::<AddMemory>))]
pub struct AddArguments {
    /// The text, or `-` to read it from stdin; without it, your editor opens
    #[arg(id = "words", value_name = "TEXT")]
    text: Vec<String>,
    #[arg(long)]
    topic: Option<String>,
    #[arg(long = "decision", value_name = "TEXT")]
    decisions: Vec<String>,
    #[arg(long, value_name = "TEXT")]
    rationale: Vec<String>,
    /// A tag (may be repeated)
    #[arg(long = "tag", short, value_name = "TAG")]
    tags: Vec<String>,
    #[arg(long)]
    name: Option<String>,
    #[arg(long)]
    key: Option<String>,
    #[arg(long)]
    source: Option<String>,
    #[arg(long, value_name = "NUMBER")]
    source_version: Option<i64>,
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
    /// Protect it from removal by policies and queries
    #[arg(long, value_name = "REASON", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pin: Option<String>,
    /// [`2026-12-31`, RFC 3339, or `90d` from now]
    #[arg(id = "expires_at", long = "expires", value_name = "WHEN")]
    expires: Option<String>,
    #[arg(long, value_name = "NAME")]
    thread: Option<String>,
    /// [`2026-05-07`, `2026-05`, RFC 3339, or a range with a slash between]
    #[arg(id = "occurred_at", long = "occurred", value_name = "WHEN")]
    occurred: Option<String>,
    #[arg(long, value_name = "ID")]
    supersedes: Vec<String>,
    #[arg(long)]
    restore: bool,
    #[arg(long)]
    untrusted: bool,
    /// Keep it in your personal memory, which every project sees
    #[arg(long)]
    personal: bool,
}

pub fn run(arguments: AddArguments, program: &Program) -> Result<(), Failure> {
    let metadata = arguments.metadata.as_deref().map(|text| object("--metadata", text)).transpose()?;
    let expires_at = arguments.expires.as_deref().map(|text| times::ahead("--expires", text)).transpose()?;
    let memory = MemoryInput {
        context: context(&arguments.text)?,
        topic: arguments.topic,
        decisions: given(arguments.decisions),
        rationale: given(arguments.rationale),
        metadata,
        tags: given(arguments.tags),
        source: arguments.source,
        source_version: arguments.source_version,
        name: arguments.name,
        key: arguments.key,
        pinned: arguments.pin.is_some().then_some(true),
        pin_reason: arguments.pin.filter(|reason| !reason.is_empty()),
        expires_at,
        thread: arguments.thread,
        occurred_at: arguments.occurred,
        supersedes: given(arguments.supersedes),
        restore: arguments.restore.then_some(true),
        untrusted: arguments.untrusted.then_some(true),
    };
    let memory_of = arguments.personal.then_some(MemoryOf::Personal);
    let answer = program.run(AddMemory { workspace_id: None, memory_of, memory })?;
    program.output.answer(&answer, render)?;
    if !program.output.in_json() {
        remarks(&answer).iter().for_each(|remark| program.output.talk(remark));
    }
    Ok(())
}

/// Words, stdin for `-` or a pipe, else what the editor is left with.
fn context(words: &[String]) -> Result<String, ServiceError> {
    match words {
        [dash] if dash == "-" => input::read_stdin(),
        [] if prompt::is_possible() => editor::edit(""),
        [] => input::read_stdin(),
        words => Ok(joined(words).unwrap_or_default()),
    }
}

fn render(answer: &AddedMemory) -> String {
    let what = match (answer.created, answer.restored) {
        (_, true) => "restored",
        (true, false) => "added",
        (false, false) => "already there:",
    };
    let name = answer.name.as_deref().unwrap_or_default();
    format!("{what} {} {}\n", render::bold(name), render::dim(answer.memory_id))
}

fn remarks(answer: &AddedMemory) -> Vec<String> {
    let mut remarks = Vec::new();
    if answer.status == "pending" {
        remarks.push("pending: search already finds its words; entities and vectors follow".to_owned());
    }
    for error in &answer.errors {
        remarks.push(render::warning(format!("not complete yet: {}", escaped(error))));
    }
    let updates = answer.updates.as_deref().unwrap_or_default();
    // What an update says is shown once, with the command that replaces it.
    let is_update = |name: &str| updates.iter().any(|update| update.name == name);
    let similar: Vec<_> = answer.similar.iter().filter(|other| !is_update(&other.name)).collect();
    if !similar.is_empty() {
        let mut lines = String::from("similar memories already exist; `rootset supersede OLD NEW` replaces one:");
        for other in similar {
            let (name, topic) = (escaped(&other.name), one_line(&other.topic, 60));
            write!(lines, "\n  {name}  {}", render::dim(topic)).expect("writing to a string cannot fail");
        }
        remarks.push(lines);
    }
    let new = escaped(answer.name.as_deref().unwrap_or_default());
    remarks.extend(updates.iter().map(|update| about(update, &new)));
    remarks
}

/// The commands for an older memory that says something else: what its `next` does, and what to do if both are right.
fn about(update: &UpdateCandidate, new: &str) -> String {
    let (name, says) = (escaped(&update.name), one_line(&update.says, 80));
    let arguments = &update.next["arguments"];
    let replacing = match (update.next["operation"] == UpdateMemory::NAME, arguments["replace"].is_null()) {
        (true, false) => format!("`rootset supersede {name} {new} --replace clause` replaces that and keeps the rest"),
        (true, true) => format!("it also says something that may still hold: change it with `rootset edit {name}`"),
        (false, _) => format!("`rootset supersede {name} {new}` replaces it"),
    };
    format!(
        "{name} says something else: {says}\n  {replacing}\n  `rootset edit {new} --both-hold {name}` if both are right"
    )
}
