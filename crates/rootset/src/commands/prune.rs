//! `rootset prune`: a plan of garbage, a look at it, a question, and only then the removal of exactly that plan.

use std::collections::BTreeMap;

use clap::Args;
use rootset_api::{GetPlan, PlanAnswer, PruneMemory, StrategyChoice};
use serde::Serialize;

use super::collector::{Approval, ErasureArguments, NO_GARBAGE, apply_after_approval, say_how_to_apply};
use super::word;
use crate::arguments::described_by;
use crate::exit::Failure;
use crate::program::Program;
use crate::render::ShownPlan;

/// Find garbage, show it, and remove it
#[derive(Debug, Args)]
#[command(defer(described_by::<PruneMemory>))]
pub struct PruneArguments {
    #[arg(long, value_name = "STRATEGY", conflicts_with = "plan_id", help = strategies())]
    strategy: Option<String>,
    #[arg(id = "plan_id", long = "plan", value_name = "PLAN")]
    plan: Option<String>,
    #[arg(long, value_name = "ID")]
    exclude: Vec<String>,
    #[arg(long)]
    allow_large: bool,
    #[arg(long)]
    dry_run: bool,
    #[arg(long)]
    backup: bool,
}

fn strategies() -> String {
    format!("[{}]", StrategyChoice::listed(|choice| format!("`{}`", choice.word())))
}

pub fn run(mut arguments: PruneArguments, program: &Program) -> Result<(), Failure> {
    if let Some(plan_id) = arguments.plan.take() {
        let plan = program.run(GetPlan { plan_id, ..GetPlan::default() })?;
        return review(&plan, &plan, arguments, program);
    }
    let strategy = arguments.strategy.as_deref().map(|text| word("--strategy", text)).transpose()?;
    let preview = program.run(PruneMemory { dry_run: Some(true), strategy, ..PruneMemory::default() })?;
    let plan = preview.plan.as_ref().expect("a preview holds a plan");
    review(&preview, plan, arguments, program)
}

/// The plan is all of the answer, or a part of it.
fn review(
    answer: &impl Serialize,
    plan: &PlanAnswer,
    arguments: PruneArguments,
    program: &Program,
) -> Result<(), Failure> {
    if plan.items.is_empty() {
        return program.output.answer(answer, |_| NO_GARBAGE.to_owned());
    }
    if arguments.dry_run {
        program.output.answer(answer, |_| ShownPlan::from(plan).to_string())?;
        say_how_to_apply(plan, program);
        return Ok(());
    }
    let approval = Approval {
        exclude: arguments.exclude,
        actions: BTreeMap::new(),
        allow_large: arguments.allow_large,
        backup: arguments.backup,
        erasure: ErasureArguments::default(),
    };
    apply_after_approval(plan.into(), approval, program)
}
