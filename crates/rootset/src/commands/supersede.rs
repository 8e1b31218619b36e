//! `rootset supersede`.

use clap::{Args, ValueEnum};
use rootset_api::{Replace, SupersedeMemory};

use crate::arguments::described_by;
use crate::exit::Failure;
use crate::program::Program;
use crate::render::{escaped, one_line};

/// Of the changed text, enough to see what became of it.
const TEXT_CHARS_MAX: usize = 200;

/// Mark one memory as replaced by another
#[derive(Debug, Args)]
#[command(defer(described_by::<SupersedeMemory>))]
pub struct SupersedeArguments {
    #[arg(id = "memory_id", value_name = "OLD")]
    old: String,
    #[arg(id = "by", value_name = "NEW")]
    new: String,
    #[arg(long, conflicts_with = "replace")]
    reason: Option<String>,
    #[arg(long, value_name = "clause")]
    replace: Option<ReplacedPart>,
}

/// How much of a text is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReplacedPart {
    Clause,
}

impl From<ReplacedPart> for Replace {
    fn from(part: ReplacedPart) -> Self {
        match part {
            ReplacedPart::Clause => Self::Clause,
        }
    }
}

pub fn run(arguments: SupersedeArguments, program: &Program) -> Result<(), Failure> {
    let (memory_id, by, reason) = (arguments.old, arguments.new, arguments.reason);
    let replace = arguments.replace.map(Replace::from);
    let answer = program.run(SupersedeMemory { memory_id, by, reason, replace, ..SupersedeMemory::default() })?;
    program.output.answer(&answer, |answer| {
        let chain: Vec<String> = answer.chain.iter().map(|name| escaped(name)).collect();
        match &answer.text {
            Some(text) => format!("changed {}: {}\n", chain.join(" → "), one_line(text, TEXT_CHARS_MAX)),
            None => format!("superseded: {}\n", chain.join(" → ")),
        }
    })
}
