//! Looking at sessions: `rootset context list`, `show`, `explain` and `search`.

use std::fmt::Write;

use clap::{Args, ValueEnum};
use rootset_api::{
    ContextExplain, ContextExplained, ContextExport, ContextGet, ContextListSessions, ContextSearchStash, ContextView,
    ExportedPart, RenderFormat, SegmentState, SessionList, StashResults,
};

use super::analyze::usage_line;
use crate::arguments::described_by;
use crate::commands::list::PageArguments;
use crate::commands::list::{Page, say_what_is_left};
use crate::commands::{given, joined, word};
use crate::exit::Failure;
use crate::program::Program;
use crate::render::{self, Column, Table, age, counted, escaped, grouped, one_line};

/// Show what is in the window, in order
#[derive(Debug, Args)]
#[command(defer(described_by::<ContextGet>))]
pub struct ShowContextArguments {
    /// The name of the session
    session: String,
    /// Show one segment in full instead
    segment: Option<String>,
    /// Show the message list of an API: `anthropic` or `openai`
    #[arg(id = "messages_format", long = "format", value_name = "FORMAT", conflicts_with = "segment")]
    format: Option<MessagesFormat>,
    #[arg(long)]
    placeholders: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MessagesFormat {
    Anthropic,
    #[value(name = "openai")]
    OpenAi,
}

#[derive(Debug, Args)]
pub struct SegmentArguments {
    /// The name of the session
    session: String,
    /// The id of the segment
    segment: String,
}

/// Search the stash
#[derive(Debug, Args)]
#[command(defer(described_by::<ContextSearchStash>))]
pub struct SearchStashArguments {
    /// The name of the session
    session: String,
    query: Vec<String>,
    #[arg(id = "all_sessions", long = "all")]
    all: bool,
    /// The type: message, code, log, note, decision or summary
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    segment_type: Option<String>,
    /// The file that the segments show
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    #[arg(long, short = 'n')]
    limit: Option<i64>,
}

pub fn sessions(PageArguments { offset, limit }: PageArguments, program: &Program) -> Result<(), Failure> {
    let answer = program.run(ContextListSessions { workspace_id: None, offset, limit })?;
    program.output.answer(&answer, session_table)?;
    if !program.output.in_json() {
        let page = Page { shown: answer.sessions.len(), offset: answer.offset, total: answer.total };
        let next = if answer.total == 0 { "; `rootset context import FILE` imports one" } else { "" };
        say_what_is_left(program, page, counted(answer.total, "session", "sessions") + next);
    }
    Ok(())
}

fn session_table(answer: &SessionList) -> String {
    if answer.sessions.is_empty() {
        return String::new();
    }
    let mut table = Table::new([
        Column::name("SESSION"),
        Column::fixed("TOKENS"),
        Column::fixed("SEGMENTS"),
        Column::fixed("STASHED"),
        Column::fixed("USED"),
    ]);
    for row in &answer.sessions {
        table.row([
            one_line(&row.session_id, 80),
            grouped(row.tokens),
            row.segments.to_string(),
            row.stashed.to_string(),
            age(row.updated_at),
        ]);
    }
    table.finish()
}

pub fn show(arguments: ShowContextArguments, program: &Program) -> Result<(), Failure> {
    if let Some(segment) = arguments.segment {
        return show_segment(arguments.session, segment, program);
    }
    let format = arguments.format.map(|format| match format {
        MessagesFormat::Anthropic => RenderFormat::Anthropic,
        MessagesFormat::OpenAi => RenderFormat::OpenAi,
    });
    let answer = program.run(ContextGet {
        workspace_id: None,
        session_id: arguments.session,
        format,
        placeholders: arguments.placeholders.then_some(true),
    })?;
    if format.is_some() {
        // A message list is for programs, whoever asks.
        return program.output.json(&answer);
    }
    program.output.answer(&answer, window)
}

fn window(answer: &ContextView) -> String {
    let mut table = Table::new([
        Column::name("SEGMENT"),
        Column::fixed("TYPE"),
        Column::fixed("ROLE"),
        Column::fixed("TOKENS"),
        Column::text("TEXT"),
    ]);
    for segment in answer.segments.iter().flatten() {
        let pin = if segment.pinned { " (pinned)" } else { "" };
        table.row([
            format!("{}{pin}", one_line(&segment.segment_id, 40)),
            render::word(&segment.segment_type),
            one_line(segment.role.as_deref().unwrap_or_default(), 12),
            grouped(segment.tokens.unwrap_or_default()),
            one_line(segment.placeholder.as_ref().unwrap_or(&segment.text), 200),
        ]);
    }
    format!("{}\n{}\n", table.finish(), usage_line(&answer.usage))
}

/// From the export, which has what is stashed, too.
fn show_segment(session_id: String, segment_id: String, program: &Program) -> Result<(), Failure> {
    // Asked first, for its answer when there is none.
    let explained = program.run(ContextExplain {
        workspace_id: None,
        session_id: session_id.clone(),
        segment_id: segment_id.clone(),
    })?;
    let include = Some(ExportedPart::Both);
    let exported = program.run(ContextExport { workspace_id: None, session_id, include })?;
    let found = exported.segments.into_iter().find(|it| it.segment_id == segment_id);
    program.output.answer(&found, |found| {
        let Some(found) = found else { return String::new() };
        let (kind, state) = (render::word(&found.segment_type), found.state.as_ref().map(render::word));
        let tokens = grouped(found.tokens.unwrap_or_default());
        let about = render::dim(format!("{kind}, {tokens} tokens, {}", state.unwrap_or_default()));
        let name = render::bold(escaped(&found.segment_id));
        let (reason, text) = (escaped(&explained.reason), escaped(&found.text));
        format!("{name}  {about}\n{reason}\n\n{}\n", text.trim_end())
    })
}

pub fn explain(arguments: SegmentArguments, program: &Program) -> Result<(), Failure> {
    let (session_id, segment_id) = (arguments.session, arguments.segment);
    let answer = program.run(ContextExplain { workspace_id: None, session_id, segment_id })?;
    program.output.answer(&answer, explained)
}

fn explained(answer: &ContextExplained) -> String {
    let mut shown = String::new();
    let mut line = |text: String| writeln!(shown, "{text}").expect("writing to a string cannot fail");
    let state = match (answer.alive, answer.state) {
        (true, _) => render::good("kept"),
        (false, SegmentState::Stashed) => render::dim("stashed"),
        (false, _) => render::warning("may leave"),
    };
    let reason = escaped(&render::for_people(&answer.reason));
    line(format!("{}: {state}, {reason}", escaped(&answer.segment_id)));
    if answer.path.len() > 1 {
        let path: Vec<String> = answer.path.iter().map(|step| escaped(step)).collect();
        line(format!("  {}", path.join(" → ")));
    }
    let others = match answer.retained_tokens.saturating_sub(answer.tokens.into()) {
        0 => String::new(),
        others => format!("; {} more would be unreachable without it", grouped(others)),
    };
    line(format!("  {} tokens{others}", grouped(answer.tokens)));
    for entry in &answer.history {
        let (action, reason) = (escaped(&entry.action), escaped(&entry.reason));
        line(render::dim(format!("  {} {action}: {reason}", age(entry.at))));
    }
    shown
}

pub fn search(arguments: SearchStashArguments, program: &Program) -> Result<(), Failure> {
    let answer = program.run(ContextSearchStash {
        session_id: arguments.session,
        query: joined(&arguments.query),
        segment_type: arguments.segment_type.as_deref().map(|text| word("--type", text)).transpose()?,
        file_path: arguments.file,
        tags: given(arguments.tags),
        all_sessions: arguments.all.then_some(true),
        limit: arguments.limit,
        ..ContextSearchStash::default()
    })?;
    program.output.answer(&answer, results)?;
    if !program.output.in_json() && answer.results.is_empty() {
        program.output.talk("nothing found; `--all` looks in other sessions, too");
    }
    Ok(())
}

fn results(answer: &StashResults) -> String {
    if answer.results.is_empty() {
        return String::new();
    }
    let mut table = Table::new([
        Column::name("SEGMENT"),
        Column::name("SESSION"),
        Column::fixed("TYPE"),
        Column::fixed("TOKENS"),
        Column::fixed("STASHED"),
        Column::text("TEXT"),
    ]);
    for result in &answer.results {
        table.row([
            one_line(&result.segment_id, 40),
            one_line(&result.session_id, 30),
            render::word(&result.segment_type),
            grouped(result.tokens),
            age(result.stashed_at),
            one_line(&result.preview, 120),
        ]);
    }
    table.finish()
}
