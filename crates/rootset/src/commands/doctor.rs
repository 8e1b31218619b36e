//! `rootset doctor`.

use std::fmt::Write;

use clap::Args;
use rootset_api::{Doctor, DoctorAnswer};
use rootset_service::ServiceError;
use serde_json::json;

use super::install::Client;
use super::salvage;
use crate::arguments::described_by;
use crate::exit::{Failure, STATUS_CALLER};
use crate::program::Program;
use crate::render::{self, escaped};

/// Check the database; exits with status 1 if something is wrong
#[derive(Debug, Args)]
#[command(defer(described_by::<Doctor>))]
pub struct DoctorArguments {
    #[arg(long)]
    repair: bool,
    /// Save what can still be read of a damaged database into a new bundle in this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "repair")]
    salvage: Option<String>,
}

pub fn run(arguments: DoctorArguments, program: &Program) -> Result<(), Failure> {
    if let Some(folder) = &arguments.salvage {
        return salvage::run(folder, program);
    }
    let outcome = program.run(Doctor { repair: arguments.repair.then_some(true) });
    let answer = match outcome {
        Err(error) if is_damage(&error) => return Err(with_advice(error, program)?.into()),
        outcome => outcome?,
    };
    program.output.answer(&answer, render)?;
    tell_of_hooks(program)?;
    if answer.ok {
        return Ok(());
    }
    let is_damaged = answer.checks.iter().any(|check| ["engine", "seals"].contains(&check.id.as_str()) && !check.ok);
    if is_damaged && !program.output.in_json() {
        salvage::advice(program)?.iter().for_each(|step| program.output.talk(step));
        return Err(Failure::Said(STATUS_CALLER));
    }
    if !program.output.in_json() && !arguments.repair {
        program.output.talk("`rootset doctor --repair` rebuilds what can be rebuilt");
    }
    Err(Failure::Said(STATUS_CALLER))
}

/// Hooks that a client does not run are silent: who installed them hears whether they ever were.
fn tell_of_hooks(program: &Program) -> Result<(), ServiceError> {
    let installed = super::install::clients_with_hooks()?;
    if program.output.in_json() || installed.is_empty() {
        return Ok(());
    }
    let fired = program.service()?.clients_with_hooks()?;
    for client in installed {
        let name = client.name();
        if fired.contains(client.as_str()) {
            program.output.talk(&format!("hooks of {name} are installed and have fired"));
        } else {
            let trust = if client == Client::Codex { "; Codex runs them once you trust them (/hooks)" } else { "" };
            program.output.talk(&format!("hooks of {name} are installed and have never fired: restart {name}{trust}"));
        }
    }
    Ok(())
}

fn is_damage(error: &ServiceError) -> bool {
    error.details.as_ref().is_some_and(|details| details["damaged"] == true)
}

fn with_advice(error: ServiceError, program: &Program) -> Result<ServiceError, ServiceError> {
    let steps = salvage::advice(program)?;
    Ok(error.with_hint(steps.join("; or ")).with_details(json!({"damaged": true, "advice": steps})))
}

fn render(answer: &DoctorAnswer) -> String {
    let mut shown = String::new();
    let mut line = |text: String| writeln!(shown, "{text}").expect("writing to a string cannot fail");
    for check in &answer.checks {
        let id = &check.id;
        if check.ok {
            line(format!("{}   {id}", render::good("ok")));
        } else {
            line(format!("{} {id}: {} {}", render::warning("BAD "), check.count, escaped(&check.detail)));
        }
        check.found.iter().flatten().for_each(|found| line(format!("       {}", escaped(found))));
    }
    let bad = answer.checks.iter().filter(|check| !check.ok).count();
    match bad {
        0 => line(format!("all {} checks passed", answer.checks.len())),
        bad => line(format!("{bad} of {} checks failed", answer.checks.len())),
    }
    shown
}
