//! Changing sessions: `rootset context add`, `prune`, `restore`, `pin`, `compress`, `focus`, `configure`, `rm`.

use clap::Args;
use rootset_api::{
    ContextAdd, ContextAdded, ContextAnalysis, ContextCompress, ContextDeleteSession, ContextFocus, ContextGcAnalyze,
    ContextGcConfigure, ContextGcPin, ContextGcPrune, ContextGcUnpin, ContextGet, ContextPruned, ContextRestore,
    ContextSetFocus, FocusField, PruneMode, SegmentError, SegmentInput, SettingsInForce,
};

use super::analyze::{plan_lines, usage_line};
use crate::arguments::described_by;
use crate::commands::{joined, word};
use crate::exit::{Failure, STATUS_CALLER};
use crate::program::Program;
use crate::render::{self, Column, Table, counted, escaped, grouped, with_age};
use crate::{input, prompt};

/// Add a segment, from TEXT or stdin
#[derive(Debug, Args)]
#[command(defer(described_by::<ContextAdd>))]
pub struct AddSegmentArguments {
    #[arg(id = "session_id", value_name = "SESSION")]
    session: String,
    /// The text of the segment
    text: Vec<String>,
    /// The type: message, code, log, note, decision or summary
    #[arg(long = "type", short = 't', default_value = "note", value_name = "TYPE")]
    segment_type: String,
    /// The id of the segment; default: a new one
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// The role: system, user, assistant or tool
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
    /// The file that the segment shows
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Keep the segment in the window
    #[arg(long)]
    pin: bool,
}

pub fn add(arguments: AddSegmentArguments, program: &Program) -> Result<(), Failure> {
    let text = joined(&arguments.text).map_or_else(input::read_stdin, Ok)?;
    let segment = SegmentInput {
        segment_id: arguments.id,
        role: arguments.role,
        file_path: arguments.file,
        pinned: arguments.pin.then_some(true),
        ..SegmentInput::new(word("--type", &arguments.segment_type)?, text)
    };
    let (session_id, segments) = (arguments.session, Some(vec![segment]));
    let answer = program.run(ContextAdd { session_id, segments, ..ContextAdd::default() })?;
    program.output.answer(&answer, added)?;
    if !program.output.in_json() {
        for hint in &answer.recall_hints {
            let (id, because) = (escaped(&hint.segment_id), escaped(&hint.because));
            program.output.talk(&format!("in the stash: {id} ({because})"));
        }
    }
    Ok(())
}

fn added(answer: &ContextAdded) -> String {
    format!("{}: {}\n", names(&answer.segment_ids), escaped(&answer.message))
}

fn names(ids: &[String]) -> String {
    ids.iter().map(|id| escaped(id)).collect::<Vec<_>>().join(", ")
}

/// Remove segments from the window: those named, or enough to meet the budget
#[derive(Debug, Args)]
#[command(defer(described_by::<ContextGcPrune>))]
pub struct PruneContextArguments {
    /// The name of the session
    session: String,
    #[arg(id = "segment_ids", value_name = "SEGMENTS")]
    segments: Vec<String>,
    /// Shrink the window to this many tokens
    #[arg(long, value_name = "TOKENS", conflicts_with_all = ["segment_ids", "free", "plan_id"])]
    to: Option<i64>,
    /// Free this many tokens
    #[arg(long, value_name = "TOKENS", conflicts_with_all = ["segment_ids", "plan_id"])]
    free: Option<i64>,
    #[arg(id = "plan_id", long = "plan", value_name = "ID", conflicts_with = "segment_ids")]
    plan: Option<String>,
    /// Delete instead of stashing; `rootset undo` restores what was deleted
    #[arg(long)]
    delete: bool,
    /// Only show what would leave
    #[arg(long)]
    dry_run: bool,
    #[arg(long)]
    backup: bool,
}

pub fn prune(arguments: PruneContextArguments, program: &Program) -> Result<(), Failure> {
    let mut request = ContextGcPrune {
        session_id: arguments.session.clone(),
        backup: arguments.backup.then_some(true),
        ..ContextGcPrune::default()
    };
    if !arguments.segments.is_empty() {
        request.segment_ids = Some(arguments.segments);
    } else if arguments.plan.is_some() {
        request.plan_id = arguments.plan;
    } else {
        let analysis = analysis_for(&arguments, program)?;
        let plan = &analysis.plan;
        if arguments.dry_run || (plan.stash_segments.is_empty() && plan.delete_segments.is_empty()) {
            return program.output.answer(&analysis, |analysis| format!("{}\n", plan_lines(&analysis.plan)));
        }
        request.plan_id = analysis.plan.plan_id;
    }
    if arguments.delete {
        prompt::confirm(program, "delete these segments")?;
        request.strategy = Some(PruneMode::Delete);
        request.confirm = Some(true);
    }
    let answer = program.run(request)?;
    program.output.answer(&answer, pruned)?;
    say_errors(&answer.errors, program)
}

fn analysis_for(arguments: &PruneContextArguments, program: &Program) -> Result<ContextAnalysis, Failure> {
    let request = |target_tokens: Option<i64>| ContextGcAnalyze {
        session_id: arguments.session.clone(),
        max_candidates: Some(1),
        target_tokens,
        ..ContextGcAnalyze::default()
    };
    let Some(wanted) = arguments.to else { return Ok(program.run(request(arguments.free))?) };
    let used = i64::try_from(program.run(request(Some(0)))?.usage.tokens).unwrap_or(i64::MAX);
    Ok(program.run(request(Some(used.saturating_sub(wanted).max(0))))?)
}

fn pruned(answer: &ContextPruned) -> String {
    let (stashed, deleted) = (answer.stashed.len(), answer.deleted.len());
    let mut parts = Vec::new();
    if stashed > 0 || deleted == 0 {
        parts.push(format!("{} stashed", counted(stashed, "segment", "segments")));
    }
    if deleted > 0 {
        let run = answer.run_id.map(|run| run.to_string()).unwrap_or_default();
        let until = answer.undo_until.map(with_age).unwrap_or_default();
        let deleted = counted(deleted, "segment", "segments");
        parts.push(format!("{deleted} deleted (undo until {until}: rootset undo {run})"));
    }
    let freed = grouped(answer.tokens_freed);
    format!("{}\nfreed {freed} tokens; now {}\n", parts.join(", "), usage_line(&answer.usage_after))
}

/// Names each id that was left alone; the status says that not everything was done.
fn say_errors(errors: &[SegmentError], program: &Program) -> Result<(), Failure> {
    if errors.is_empty() {
        return Ok(());
    }
    if !program.output.in_json() {
        for error in errors {
            let (id, message) = (escaped(&error.segment_id), escaped(&render::for_people(&error.message)));
            program.output.talk(&render::warning(format!("{id}: {message}")));
        }
    }
    Err(Failure::Said(STATUS_CALLER))
}

/// Return stashed segments to their place
#[derive(Debug, Args)]
#[command(defer(described_by::<ContextRestore>))]
pub struct RestoreSegmentsArguments {
    /// The name of the session
    session: String,
    #[arg(id = "segment_ids", value_name = "SEGMENTS", required = true)]
    segments: Vec<String>,
    #[arg(id = "from_session_id", long = "from", value_name = "SESSION")]
    from: Option<String>,
}

pub fn restore(arguments: RestoreSegmentsArguments, program: &Program) -> Result<(), Failure> {
    let answer = program.run(ContextRestore {
        workspace_id: None,
        session_id: arguments.session,
        segment_ids: arguments.segments,
        from_session_id: arguments.from,
    })?;
    program.output.answer(&answer, |answer| {
        let segments = counted(answer.restored.len(), "segment", "segments");
        format!("{segments} restored; now {}\n", usage_line(&answer.usage))
    })?;
    say_errors(&answer.errors, program)
}

/// Keep segments in the window
#[derive(Debug, Args)]
#[command(defer(described_by::<ContextGcPin>))]
pub struct PinArguments {
    /// The name of the session
    session: String,
    /// The ids of the segments
    #[arg(required = true)]
    segments: Vec<String>,
    #[arg(long)]
    reason: Option<String>,
}

#[derive(Debug, Args)]
pub struct SegmentsArguments {
    /// The name of the session
    session: String,
    /// The ids of the segments
    #[arg(required = true)]
    segments: Vec<String>,
}

pub fn pin(arguments: PinArguments, program: &Program) -> Result<(), Failure> {
    let PinArguments { session: session_id, segments: segment_ids, reason } = arguments;
    let answer = program.run(ContextGcPin { workspace_id: None, session_id, segment_ids, reason })?;
    program.output.answer(&answer, |answer| changed("pinned", &answer.pinned))?;
    say_errors(&answer.errors, program)
}

pub fn unpin(arguments: SegmentsArguments, program: &Program) -> Result<(), Failure> {
    let SegmentsArguments { session: session_id, segments: segment_ids } = arguments;
    let answer = program.run(ContextGcUnpin { workspace_id: None, session_id, segment_ids, reason: None })?;
    program.output.answer(&answer, |answer| changed("unpinned", &answer.unpinned))?;
    say_errors(&answer.errors, program)
}

fn changed(how: &str, ids: &[String]) -> String {
    if ids.is_empty() { String::new() } else { format!("{how}: {}\n", names(ids)) }
}

/// Replace a long segment with a summary, from SUMMARY or stdin
#[derive(Debug, Args)]
#[command(defer(described_by::<ContextCompress>))]
pub struct CompressArguments {
    /// The name of the session
    session: String,
    #[arg(id = "segment_id", value_name = "SEGMENT")]
    segment: String,
    summary: Vec<String>,
}

pub fn compress(arguments: CompressArguments, program: &Program) -> Result<(), Failure> {
    let summary = joined(&arguments.summary).map_or_else(input::read_stdin, Ok)?;
    let (session_id, segment_id) = (arguments.session, arguments.segment);
    let answer = program.run(ContextCompress { workspace_id: None, session_id, segment_id, summary })?;
    program.output.answer(&answer, |answer| {
        let (before, after) = (grouped(answer.tokens_before), grouped(answer.tokens_after));
        format!("{}: {after} tokens instead of {before}\n", escaped(&answer.segment_id))
    })
}

/// Set what the agent works on
#[derive(Debug, Args)]
#[command(defer(described_by::<ContextSetFocus>))]
pub struct FocusArguments {
    /// The name of the session
    session: String,
    #[arg(id = "task_id", long = "task", value_name = "ID")]
    task: Option<String>,
    #[arg(id = "active_file", long = "file", value_name = "PATH")]
    file: Option<String>,
    /// Clear the focus
    #[arg(id = "cleared", long = "clear", conflicts_with_all = ["task_id", "active_file"])]
    clear: bool,
}

pub fn focus(arguments: FocusArguments, program: &Program) -> Result<(), Failure> {
    let session_id = arguments.session;
    let clear = arguments.clear.then(|| FocusField::ALL.to_vec());
    let (task_id, active_file) = (arguments.task, arguments.file);
    let request = ContextSetFocus { session_id, task_id, active_file, clear, ..ContextSetFocus::default() };
    program.output.answer(&program.run(request)?, focused)
}

fn focused(ContextFocus { focus, .. }: &ContextFocus) -> String {
    let shown: Vec<String> = [("task", &focus.task_id), ("file", &focus.active_file)]
        .into_iter()
        .filter_map(|(what, name)| Some(format!("{what} {}", escaped(name.as_deref()?))))
        .collect();
    if shown.is_empty() { "nothing in focus\n".to_owned() } else { format!("in focus: {}\n", shown.join(", ")) }
}

/// Show or change a session's settings
#[derive(Debug, Args)]
#[command(defer(described_by::<ContextGcConfigure>))]
pub struct ConfigureArguments {
    /// The name of the session
    session: String,
    #[arg(id = "budget_tokens", long = "budget", value_name = "TOKENS")]
    budget: Option<i64>,
    #[arg(id = "reserved_tokens", long = "reserved", value_name = "TOKENS")]
    reserved: Option<i64>,
    #[arg(long, value_name = "MODE")]
    mode: Option<String>,
    #[arg(long, value_name = "NAME")]
    tokenizer: Option<String>,
    #[arg(id = "recent_segments", long = "recent", value_name = "COUNT")]
    recent: Option<i64>,
}

pub fn configure(arguments: ConfigureArguments, program: &Program) -> Result<(), Failure> {
    let answer = program.run(ContextGcConfigure {
        session_id: arguments.session,
        budget_tokens: arguments.budget,
        reserved_tokens: arguments.reserved,
        mode: arguments.mode.as_deref().map(|text| word("--mode", text)).transpose()?,
        tokenizer: arguments.tokenizer.as_deref().map(|text| word("--tokenizer", text)).transpose()?,
        recent_segments: arguments.recent,
        ..ContextGcConfigure::default()
    })?;
    program.output.answer(&answer, settings)
}

fn settings(answer: &SettingsInForce) -> String {
    let settings = [
        ("budget_tokens", render::word(&answer.budget_tokens)),
        ("reserved_tokens", render::word(&answer.reserved_tokens)),
        ("soft_percent", render::word(&answer.soft_percent)),
        ("target_percent", render::word(&answer.target_percent)),
        ("hard_percent", render::word(&answer.hard_percent)),
        ("min_free_percent", render::word(&answer.min_free_percent)),
        ("mode", render::word(&answer.mode)),
        ("recent_segments", render::word(&answer.recent_segments)),
        ("decision_window", render::word(&answer.decision_window)),
        ("half_life_steps", render::word(&answer.half_life_steps)),
        ("half_life", render::word(&answer.half_life)),
        ("weights", render::word(&answer.weights)),
        ("tokenizer", render::word(&answer.tokenizer)),
    ];
    let mut table = Table::new([Column::fixed("SETTING"), Column::whole("VALUE")]);
    settings.into_iter().for_each(|(name, value)| table.row([name.to_owned(), value]));
    table.finish()
}

#[derive(Debug, Args)]
pub struct SessionArguments {
    /// The name of the session
    session: String,
    /// Create a verified backup first
    #[arg(long)]
    backup: bool,
}

pub fn remove(
    SessionArguments { session: session_id, backup }: SessionArguments,
    program: &Program,
) -> Result<(), Failure> {
    // The question must not come before the answer that there is no such session.
    program.run(ContextGet { session_id: session_id.clone(), ..ContextGet::default() })?;
    let shown = render::one_line(&session_id, 80);
    prompt::confirm(program, &format!("move the session {shown} and its stash to the trash"))?;
    let answer = program.run(ContextDeleteSession {
        workspace_id: None,
        session_id,
        confirm: Some(true),
        backup: backup.then_some(true),
    })?;
    program.output.answer(&answer, |answer| {
        let until = answer.undo_until.map(with_age).unwrap_or_default();
        format!("in the trash; `rootset undo {}` restores it until {until}\n", answer.run_id)
    })
}
