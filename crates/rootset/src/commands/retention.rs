//! `rootset gc retention`.

mod simulation;

use std::fmt::Write;

use clap::{Args, Subcommand};
use rootset_api::{GetRetention, RetentionAnswer, RetentionSet, SetRetention};
use rootset_model::retention::fields::{ShownPolicy, Written};

use crate::arguments::described_by;
use crate::exit::Failure;
use crate::program::Program;
use crate::render::{self, counted, word};

#[derive(Debug, Subcommand)]
pub enum RetentionCommand {
    /// Show the policy in force and where it comes from
    #[command(defer(described_by::<GetRetention>))]
    Show(RetentionTarget),
    Set(SetRetentionArguments),
}

/// What a policy is for: one of these, or else the whole workspace.
#[derive(Debug, Args)]
pub struct RetentionTarget {
    #[arg(long)]
    source: Option<String>,
    #[arg(long, conflicts_with = "source")]
    repo: Option<String>,
    #[arg(long, conflicts_with_all = ["source", "repo"])]
    tag: Option<String>,
}

/// Replace a policy as a whole; without any rule, everything is kept
#[derive(Debug, Args)]
#[command(defer(described_by::<SetRetention>))]
pub struct SetRetentionArguments {
    #[command(flatten)]
    target: RetentionTarget,
    #[arg(long, value_name = "AGE")]
    max_age: Option<String>,
    #[arg(long, value_name = "COUNT")]
    max_count: Option<i64>,
    #[arg(long, value_name = "COUNT")]
    max_version_gap: Option<i64>,
    #[arg(long, value_name = "COUNT")]
    min_keep: Option<i64>,
    #[arg(long, value_name = "AGE")]
    keep_within: Option<String>,
    #[arg(long, value_name = "TIME")]
    basis: Option<String>,
    #[arg(long)]
    may_empty: bool,
    #[arg(id = "final", long = "final")]
    is_final: bool,
    #[arg(long)]
    dry_run: bool,
    #[arg(long, value_name = "DAYS", requires = "dry_run")]
    horizon: Option<String>,
}

pub fn run(command: RetentionCommand, program: &Program) -> Result<(), Failure> {
    match command {
        RetentionCommand::Show(RetentionTarget { source, repo, tag }) => {
            let answer = program.run(GetRetention { workspace_id: None, source, repo, tag })?;
            program.output.answer(&answer, in_force)
        }
        RetentionCommand::Set(arguments) => set(arguments, program),
    }
}

fn in_force(answer: &RetentionAnswer) -> String {
    format!("{}\n{} {}\n", rules(&answer.policy), render::dim("origin"), word(&answer.origin))
}

fn set(arguments: SetRetentionArguments, program: &Program) -> Result<(), Failure> {
    let answer = program.run(SetRetention {
        workspace_id: None,
        source: arguments.target.source,
        repo: arguments.target.repo,
        tag: arguments.target.tag,
        max_age: arguments.max_age.map(Written::Text),
        max_count: arguments.max_count.map(Written::Integer),
        max_version_gap: arguments.max_version_gap.map(Written::Integer),
        min_keep: arguments.min_keep.map(Written::Integer),
        keep_within: arguments.keep_within.map(Written::Text),
        basis: arguments.basis.map(Written::Text),
        may_empty: arguments.may_empty.then_some(Written::Flag(true)),
        is_final: arguments.is_final.then_some(Written::Flag(true)),
        dry_run: arguments.dry_run.then_some(true),
        horizon: arguments.horizon.map(Written::Text),
    })?;
    match &answer.simulation {
        Some(simulation) => {
            program.output.answer(&answer, |answer| simulation::render(answer, simulation))?;
            program.output.talk("nothing was changed; without `--dry-run` the policy is set");
            Ok(())
        }
        None => program.output.answer(&answer, replaced),
    }
}

fn replaced(answer: &RetentionSet) -> String {
    let mut shown = String::new();
    let mut line = |text: String| writeln!(shown, "{text}").expect("writing to a string cannot fail");
    line(rules(&answer.policy));
    line(format!("{} {}", render::dim("before:"), rules(&answer.replaces)));
    let expired = &answer.would_expire;
    if expired.memories == 0 {
        line("nothing would expire now".to_owned());
    } else {
        line(render::warning(format!(
            "{} would expire now ({:.0} %), {} of them used in the last 30 days",
            counted(expired.memories, "memory", "memories"),
            expired.fraction * 100.0,
            expired.recently_used
        )));
    }
    shown
}

/// `max_age 90d, min_keep 10`.
fn rules(policy: &ShownPolicy) -> String {
    let fields = [
        ("max_age", policy.max_age.as_ref().map(word)),
        ("max_count", policy.max_count.as_ref().map(word)),
        ("max_version_gap", policy.max_version_gap.as_ref().map(word)),
        ("min_keep", policy.min_keep.as_ref().map(word)),
        ("keep_within", policy.keep_within.as_ref().map(word)),
        ("basis", policy.basis.as_ref().map(word)),
        ("may_empty", policy.may_empty.as_ref().map(word)),
        ("final", policy.is_final.as_ref().map(word)),
    ];
    let rules: Vec<String> =
        fields.into_iter().filter_map(|(field, value)| Some(format!("{field} {}", value?))).collect();
    if rules.is_empty() { "everything is kept".to_owned() } else { rules.join(", ") }
}
