//! `rootset trust` and `rootset untrust`.

use clap::Args;
use rootset_api::SetTrust;
use rootset_model::Trust;

use super::word;
use crate::exit::Failure;
use crate::program::Program;
use crate::render::{self, escaped};

/// Approve a memory: from then on it counts as yours
///
/// A memory that is `untrusted` is found by search but never put before a model that did not ask for it; this lifts that.
/// `rootset untrust` takes it back.
#[derive(Debug, Args)]
pub struct TrustArguments {
    /// The id or name of the memory
    #[arg(value_name = "ID")]
    memory: String,
    /// Who answers for it instead of you
    #[arg(long = "as", value_name = "person|agent|imported|untrusted", default_value = "person")]
    trust: String,
}

/// Quarantine a memory: it is found by search, marked, and never shown unasked
///
/// `rootset trust` takes it back.
#[derive(Debug, Args)]
pub struct UntrustArguments {
    /// The id or name of the memory
    #[arg(value_name = "ID")]
    memory: String,
}

pub fn run(arguments: TrustArguments, program: &Program) -> Result<(), Failure> {
    let trust = word("--as", &arguments.trust)?;
    set(arguments.memory, trust, program)
}

pub fn run_untrust(arguments: UntrustArguments, program: &Program) -> Result<(), Failure> {
    set(arguments.memory, Trust::Untrusted, program)
}

fn set(memory_id: String, trust: Trust, program: &Program) -> Result<(), Failure> {
    let answer = program.run(SetTrust { workspace_id: None, memory_id, trust })?;
    program.output.answer(&answer, |answer| {
        let name = answer.name.clone().unwrap_or_else(|| answer.memory_id.to_string());
        let (name, now, before) = (render::bold(escaped(&name)), answer.trust.as_str(), answer.previous.as_str());
        match answer.trust == answer.previous {
            true => format!("{name} is already `{now}`\n"),
            false => format!("{name} is now `{now}` (it was `{before}`)\n"),
        }
    })
}
