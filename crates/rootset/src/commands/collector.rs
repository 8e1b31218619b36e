//! `rootset gc`: plans, purging, explanations.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use rootset_api::{
    ErrorCode, ExplainAnswer, GcApply, GcExplain, GcPlan, GcPurge, GetPlan, ItemAction, PlanAnswer, PurgeAnswer,
    ReceiptAnswer, StrategyChoice,
};
use rootset_model::{Counts, PlanId};
use rootset_service::ServiceError;
use serde_json::json;

use super::retention::RetentionCommand;
use super::undo::{UndoArguments, run_named};
use super::{given, retention, status, undo, words};
use crate::arguments::described_by;
use crate::commands::list::PageArguments;
use crate::exit::{Failure, STATUS_CALLER};
use crate::program::Program;
use crate::receipt_file::ReceiptFile;
use crate::render::{self, ShownPlan, amounts, bytes, counted, escaped};
use crate::{output, prompt};

/// What is typed before something is removed for good.
const ERASE_WORD: &str = "erase";
/// The answer to a search for garbage that finds none.
pub const NO_GARBAGE: &str = "no garbage\n";

#[derive(Debug, Subcommand)]
pub enum CollectorCommand {
    Plan(PlanArguments),
    Apply(ApplyArguments),
    Undo(UndoArguments),
    Purge(PurgeArguments),
    /// Show live and trashed memories, recent runs, and reclaimable space
    Status,
    /// Show or set how long memories are kept
    #[command(subcommand)]
    Retention(RetentionCommand),
    /// Explain why something is alive or not
    #[command(defer(described_by::<GcExplain>))]
    Explain {
        id: String,
    },
}

/// Find garbage and make a plan, or show an existing plan
#[derive(Debug, Args)]
#[command(defer(described_by::<GetPlan>))]
pub struct PlanArguments {
    /// Strategies (default: all), or the id of a plan
    #[arg(value_name = "STRATEGY|PLAN")]
    what: Vec<String>,
    #[command(flatten)]
    page: PageArguments,
}

/// Apply a reviewed plan
#[derive(Debug, Args)]
#[command(defer(described_by::<GcApply>))]
pub struct ApplyArguments {
    /// The id of the plan
    #[arg(value_name = "PLAN")]
    plan: String,
    #[arg(long, value_name = "ID")]
    exclude: Vec<String>,
    /// Remove this item, also if it is only maybe meant
    #[arg(long, value_name = "ID")]
    remove: Vec<String>,
    /// Remove the sentences of this item that match, and keep the others
    #[arg(long, value_name = "ID")]
    redact: Vec<String>,
    #[arg(long)]
    allow_large: bool,
    #[arg(long)]
    backup: bool,
    #[command(flatten)]
    erasure: ErasureArguments,
}

/// What may be wanted beside an erasure itself.
#[derive(Debug, Default, Args)]
pub struct ErasureArguments {
    /// For an erasure: rewrite the backups without it
    #[arg(long)]
    backups: bool,
    /// For an erasure: write the signed receipt to this new file [default: a file in `<database>.receipts`]
    #[arg(id = "receipt_file", long = "receipt", value_name = "FILE")]
    receipt: Option<PathBuf>,
}

impl ErasureArguments {
    pub fn is_something(&self) -> bool {
        self.backups || self.receipt.is_some()
    }
}

/// Which trash; either of them.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct PurgeTarget {
    #[arg(id = "run_id", long = "run", value_name = "RUN")]
    run: Option<String>,
    #[arg(long, value_name = "AGE")]
    older_than: Option<String>,
}

/// Remove trash for good
#[derive(Debug, Args)]
#[command(defer(described_by::<GcPurge>))]
pub struct PurgeArguments {
    #[command(flatten)]
    target: PurgeTarget,
    /// Rewrite the backups without it
    #[arg(long)]
    backups: bool,
    /// Write a signed receipt to this new file
    #[arg(id = "receipt_file", long = "receipt", value_name = "FILE")]
    receipt: Option<PathBuf>,
}

pub fn run(command: CollectorCommand, program: &Program) -> Result<(), Failure> {
    match command {
        CollectorCommand::Plan(arguments) => plan(arguments, program),
        CollectorCommand::Apply(arguments) => apply(arguments, program),
        CollectorCommand::Undo(arguments) => undo::run(arguments, program),
        CollectorCommand::Purge(arguments) => purge(arguments, program),
        CollectorCommand::Status => status::run(program),
        CollectorCommand::Retention(command) => retention::run(command, program),
        CollectorCommand::Explain { id } => explain(id, program),
    }
}

/// A plan by its id, or a new one by strategies: no strategy looks like an id.
fn plan(arguments: PlanArguments, program: &Program) -> Result<(), Failure> {
    let PageArguments { offset, limit } = arguments.page;
    if let [id] = arguments.what.as_slice()
        && id.parse::<PlanId>().is_ok()
    {
        let plan = program.run(GetPlan { workspace_id: None, plan_id: id.clone(), offset, limit })?;
        return program.output.answer(&plan, |plan| ShownPlan::from(plan).to_string());
    }
    let named: Vec<StrategyChoice> = words("STRATEGY", &arguments.what)?;
    let strategies = if named.is_empty() { vec![StrategyChoice::All] } else { named };
    let plan = program.run(GcPlan { workspace_id: None, strategies })?;
    if plan.items.is_empty() {
        return program.output.answer(&plan, |_| NO_GARBAGE.to_owned());
    }
    program.output.answer(&plan, |plan| ShownPlan::from(plan).to_string())?;
    say_how_to_apply(&plan, program);
    Ok(())
}

pub fn say_how_to_apply(plan: &PlanAnswer, program: &Program) {
    program.output.talk(&format!("nothing was changed; `rootset gc apply {}` applies it", plan.plan_id));
}

fn apply(arguments: ApplyArguments, program: &Program) -> Result<(), Failure> {
    let plan = program.run(GetPlan { plan_id: arguments.plan, ..GetPlan::default() })?;
    let wanted = |ids: Vec<String>, action| ids.into_iter().map(move |id| (id, action));
    let removed = wanted(arguments.remove, ItemAction::Remove);
    let approval = Approval {
        exclude: arguments.exclude,
        actions: removed.chain(wanted(arguments.redact, ItemAction::Redact)).collect(),
        allow_large: arguments.allow_large,
        backup: arguments.backup,
        erasure: arguments.erasure,
    };
    apply_after_approval((&plan).into(), approval, program)
}

/// What the caller agreed to beforehand.
#[derive(Debug)]
pub struct Approval {
    /// Items to keep.
    pub exclude: Vec<String>,
    pub actions: BTreeMap<String, ItemAction>,
    pub allow_large: bool,
    /// A backup first.
    pub backup: bool,
    pub erasure: ErasureArguments,
}

/// Shows the plan, asks, and applies exactly this plan.
pub fn apply_after_approval(plan: ShownPlan<'_>, approval: Approval, program: &Program) -> Result<(), Failure> {
    let answer = plan.answer;
    match (program.output.in_json(), program.global.yes) {
        (false, _) => program.output.text(&format!("{plan}\n"))?,
        // stdout is for the outcome; who is asked must still see what about.
        (true, false) => program.output.talk(&plan.to_string()),
        (true, true) => {}
    }
    if !answer.blocked.is_empty() && !approval.allow_large && approval.exclude.is_empty() {
        return Err(over_limit(answer).into());
    }
    let what = counted(answer.items_total, "item", "items");
    let asked = if answer.purge {
        prompt::confirm_word(program, &format!("erase {what} for good"), ERASE_WORD)
    } else if plan.only_reclaims() {
        prompt::confirm(program, &format!("remove {what} that nothing vouches for"))
    } else {
        prompt::confirm(program, &format!("move {what} to the trash"))
    };
    asked.map_err(|failure| with_plan(failure, answer.plan_id))?;
    let receipt = match answer.purge {
        true => ReceiptFile::begin(approval.erasure.receipt.as_deref(), program.configuration()?)?,
        false => None,
    };
    let wants = |wanted: bool| wanted.then_some(true);
    let applied = program.run(GcApply {
        plan_id: answer.plan_id.to_string(),
        exclude: given(approval.exclude),
        actions: (!approval.actions.is_empty()).then_some(approval.actions),
        allow_large: wants(approval.allow_large),
        confirm: wants(answer.purge),
        backup: wants(approval.backup),
        // Refused by the service for a plan that moves to the trash.
        rewrite_backups: wants(approval.erasure.backups),
        receipt: wants(receipt.is_some() || approval.erasure.receipt.is_some()),
        ..GcApply::default()
    })?;
    program.output.answer(&applied, render::applied)?;
    if answer.purge && receipt.is_none() {
        let apply = format!("rootset gc apply {} --receipt FILE", answer.plan_id);
        program.output.talk(&format!("no receipt was written, because `backup.dir` is not set: `{apply}` writes one"));
    }
    say_where_receipt_is(receipt, applied.receipt.as_ref(), program)?;
    let has_failed = applied.parts.iter().flatten().any(|part| part.problem.is_some());
    if has_failed { Err(Failure::Said(STATUS_CALLER)) } else { Ok(()) }
}

fn say_where_receipt_is(
    file: Option<ReceiptFile>,
    receipt: Option<&ReceiptAnswer>,
    program: &Program,
) -> Result<(), Failure> {
    if let Some(path) = file.map(|file| file.finish(receipt)).transpose()?.flatten() {
        let path = escaped(&path.display().to_string());
        program.output.talk(&format!("receipt: {path} (check it with `rootset receipt verify`)"));
    }
    Ok(())
}

fn over_limit(plan: &PlanAnswer) -> ServiceError {
    ServiceError::new(ErrorCode::LimitExceeded, "the plan exceeds a limit; nothing was changed")
        .with_hint(format!("to apply it anyway: rootset gc apply {} --allow-large", plan.plan_id))
        .with_details(json!({"plan_id": plan.plan_id, "blocked": plan.blocked}))
}

/// A program that could not be asked learns which plan is waiting.
fn with_plan(failure: Failure, plan: PlanId) -> Failure {
    match failure {
        Failure::Error(error) => {
            let hint = format!("confirm with `--yes`, or run `rootset gc apply {plan}` in a terminal");
            error.with_hint(hint).with_details(json!({"plan_id": plan})).into()
        }
        other => other,
    }
}

fn purge(arguments: PurgeArguments, program: &Program) -> Result<(), Failure> {
    let PurgeArguments { mut target, backups, receipt } = arguments;
    if let Some(run) = target.run.as_deref().map(|run| run_named(run, program)).transpose()?.flatten() {
        target.run = Some(run.to_string());
    }
    let whose = match (&target.run, &target.older_than) {
        (Some(run), _) => format!("in the trash of run {}", render::one_line(run, 64)),
        (None, age) => format!("in trash older than {}", render::one_line(age.as_deref().unwrap_or_default(), 64)),
    };
    let request = GcPurge {
        workspace_id: None,
        run_id: target.run,
        older_than: target.older_than.map(Into::into),
        confirm: None,
        set: None,
        rewrite_backups: backups.then_some(true),
        receipt: receipt.is_some().then_some(true),
    };
    let (set, counts) = asked_to_confirm(program.run(request.clone()))?;
    prompt::confirm_word(program, &format!("remove {} {whose} for good", counts.in_words()), ERASE_WORD)?;
    let file = match &receipt {
        Some(path) => ReceiptFile::begin(Some(path), program.configuration()?)?,
        None => None,
    };
    let answer = program.run(GcPurge { confirm: Some(true), set, ..request })?;
    program.output.answer(&answer, purged)?;
    say_about_remains(&answer, &program.output);
    say_where_receipt_is(file, Some(&answer.receipt), program)
}

/// What a purge would remove: its digest, so that no more is removed than was shown, and how much it is.
fn asked_to_confirm(refused: Result<PurgeAnswer, ServiceError>) -> Result<(Option<String>, Counts), Failure> {
    let error = match refused {
        Err(error) if error.code == ErrorCode::ConfirmationRequired => error,
        Err(other) => return Err(other.into()),
        Ok(_) => return Ok((None, Counts::default())),
    };
    let details = error.details.as_ref();
    let set = details.and_then(|it| it["next"]["arguments"]["set"].as_str()).map(str::to_owned);
    let counts = details.and_then(|it| serde_json::from_value(it["counts"].clone()).ok()).unwrap_or_default();
    Ok((set, counts))
}

fn purged(answer: &PurgeAnswer) -> String {
    let backups = render::backups_after(&answer.receipt);
    format!("purged {} ({} of text)\n{backups}", amounts(&answer.purged).in_words(), bytes(answer.bytes_freed))
}

fn say_about_remains(answer: &PurgeAnswer, output: &output::Output) {
    if output.in_json() {
        return;
    }
    if answer.receipt.byte_scan == "found" {
        output.talk(&render::warning(
            "parts of the text are still in the files: another memory may contain the same words",
        ));
    }
    if let Some(problem) = &answer.receipt.ledger_problem {
        let problem = escaped(problem);
        output.talk(&render::warning(format!("not noted beside the backups until the next backup: {problem}")));
    }
    for left in answer.receipt.left_to_operator.iter().flatten() {
        output.talk(&format!("still on the server, for its operator to clean up: {left}"));
    }
}

fn explain(id: String, program: &Program) -> Result<(), Failure> {
    program.output.answer(&program.run(GcExplain { workspace_id: None, id })?, explained)
}

fn explained(answer: &ExplainAnswer) -> String {
    let state = if answer.alive { render::good("alive") } else { render::warning("not alive") };
    let path: Vec<String> = answer.path.iter().map(|step| escaped(step)).collect();
    let path = if path.is_empty() { String::new() } else { format!("{}\n", path.join(" → ")) };
    format!("{} {}: {state}, {}\n{path}", answer.kind, escaped(&answer.id), escaped(&answer.reason))
}
