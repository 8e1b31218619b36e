//! `rootset edit`.

use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use rootset_api::{GetMemory, MemoryField, Replace, UpdateMemory, UpdatedMemory};
use rootset_service::ServiceError;

use super::supersede::ReplacedPart;
use super::{given, object, times};
use crate::arguments::described_by;
use crate::exit::Failure;
use crate::program::Program;
use crate::render;
use crate::{editor, input, prompt};

/// Change a memory; without options your editor opens on its text
#[derive(Debug, Args)]
#[command(defer(described_by::<UpdateMemory>))]
pub struct EditArguments {
    #[arg(id = "memory_id", value_name = "ID")]
    memory: String,
    /// The new text, or `-` to read it from stdin
    #[arg(id = "new_text", long = "text", value_name = "TEXT")]
    text: Option<String>,
    /// A new topic
    #[arg(id = "new_topic", long = "topic", value_name = "TOPIC")]
    topic: Option<String>,
    #[arg(long = "decision", value_name = "TEXT")]
    decisions: Vec<String>,
    #[arg(long, value_name = "TEXT")]
    rationale: Vec<String>,
    #[arg(long = "tag", short, value_name = "TAG")]
    tags: Vec<String>,
    #[arg(long)]
    name: Option<String>,
    /// [a JSON object]
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
    #[arg(long, value_name = "NUMBER")]
    source_version: Option<i64>,
    /// Protect it from removal by policies and queries
    #[arg(long, value_name = "REASON", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pin: Option<String>,
    /// Allow its removal again
    #[arg(long, conflicts_with = "pin")]
    unpin: bool,
    /// When it expires: `2026-12-31`, RFC 3339, or `90d` from now
    #[arg(long, value_name = "WHEN")]
    expires: Option<String>,
    /// Clear a field (may be repeated)
    #[arg(id = "cleared", long = "clear", value_name = "FIELD")]
    clear: Vec<ClearedField>,
    #[arg(long, value_name = "NUMBER")]
    expected_version: Option<i64>,
    #[arg(long)]
    erase_previous: bool,
    #[arg(long, value_name = "clause", requires = "new_text")]
    replace: Option<ReplacedPart>,
    #[arg(long, value_name = "ID")]
    both_hold: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ClearedField {
    Topic,
    Decisions,
    Rationale,
    Tags,
    Metadata,
    Expires,
    PinReason,
    SourceVersion,
}

impl From<ClearedField> for MemoryField {
    fn from(field: ClearedField) -> Self {
        match field {
            ClearedField::Topic => Self::Topic,
            ClearedField::Decisions => Self::Decisions,
            ClearedField::Rationale => Self::Rationale,
            ClearedField::Tags => Self::Tags,
            ClearedField::Metadata => Self::Metadata,
            ClearedField::Expires => Self::ExpiresAt,
            ClearedField::PinReason => Self::PinReason,
            ClearedField::SourceVersion => Self::SourceVersion,
        }
    }
}

pub fn run(arguments: EditArguments, program: &Program) -> Result<(), Failure> {
    let (memory, expected_version) = (arguments.memory.clone(), arguments.expected_version);
    let erases = arguments.erase_previous;
    let mut update = changes(arguments)?;
    if !update.changes_something() {
        if !prompt::is_possible() {
            let error = ServiceError::invalid("no option says what to change, and an editor needs a terminal");
            return Err(error.with_hint("see `rootset edit --help`").into());
        }
        if !changes_in_editor(&memory, &mut update, program)? {
            program.output.talk("the text is the same; nothing was changed");
            return Ok(());
        }
    }
    if erases {
        let action = format!("erase all earlier revisions of `{}` for good", render::one_line(&memory, 128));
        prompt::confirm_word(program, &action, "erase")?;
    }
    update.memory_id = memory;
    update.expected_version = expected_version.or(update.expected_version);
    let answer = program.run(update)?;
    program.output.answer(&answer, render)?;
    if !program.output.in_json() {
        for error in &answer.errors {
            program.output.talk(&render::warning(format!("not complete yet: {}", render::escaped(error))));
        }
    }
    Ok(())
}

fn changes(arguments: EditArguments) -> Result<UpdateMemory, ServiceError> {
    let context = match arguments.text.as_deref() {
        Some("-") => Some(input::read_stdin()?),
        other => other.map(str::to_owned),
    };
    let metadata = arguments.metadata.as_deref().map(|text| object("--metadata", text)).transpose()?;
    let expires_at = arguments.expires.as_deref().map(|text| times::ahead("--expires", text)).transpose()?;
    let pinned = if arguments.unpin { Some(false) } else { arguments.pin.is_some().then_some(true) };
    Ok(UpdateMemory {
        name: arguments.name,
        context,
        topic: arguments.topic,
        decisions: given(arguments.decisions),
        rationale: given(arguments.rationale),
        metadata,
        tags: given(arguments.tags),
        source_version: arguments.source_version,
        pinned,
        pin_reason: arguments.pin.filter(|reason| !reason.is_empty()),
        expires_at,
        clear: given(arguments.clear.into_iter().map(MemoryField::from).collect()),
        erase_previous: arguments.erase_previous.then_some(true),
        replace: arguments.replace.map(Replace::from),
        both_hold: given(arguments.both_hold),
        ..UpdateMemory::default()
    })
}

/// Whether the text is another one after the editor. Somebody else's change meanwhile is a conflict, not overwritten.
fn changes_in_editor(memory: &str, update: &mut UpdateMemory, program: &Program) -> Result<bool, ServiceError> {
    let current = program.run(GetMemory { memory_id: memory.to_owned(), ..GetMemory::default() })?;
    let after = editor::edit(&format!("{}\n", current.context))?;
    if after.trim() == current.context.trim() {
        return Ok(false);
    }
    update.context = Some(after);
    update.expected_version = Some(current.version);
    Ok(true)
}

fn render(answer: &UpdatedMemory) -> String {
    let what = if answer.reextracted { ", entities and relations updated" } else { "" };
    let name = answer.name.as_deref().map(render::escaped).unwrap_or_default();
    let (id, version) = (render::dim(answer.memory_id), answer.version);
    let mut shown = format!("changed {} {id}, now version {version}{what}\n", render::bold(name));
    if let Some(receipt) = &answer.receipt {
        let revisions = render::counted(receipt.rows.get("revisions"), "earlier revision", "earlier revisions");
        let scan = &receipt.byte_scan;
        writeln!(shown, "erased {revisions}; byte scan: {scan}").expect("writing to a string cannot fail");
    }
    shown
}
