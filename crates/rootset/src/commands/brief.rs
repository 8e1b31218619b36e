//! `rootset brief`: what an agent is told at the start of its work here.

use clap::Args;
use serde::Serialize;

use crate::exit::Failure;
use crate::program::Program;
use crate::render::escaped;

/// Show what an agent is told at the start of its work here
///
/// What you pinned or said about how to work, the latest decisions, and what changed since your agents' last session here; at most
/// 300 tokens, and nothing at all when there is nothing.
#[derive(Debug, Args)]
pub struct BriefArguments {}

/// As `search_memory` answers it.
#[derive(Debug, Serialize)]
struct BriefAnswer {
    #[serde(skip_serializing_if = "Option::is_none")]
    brief: Option<String>,
}

pub fn run(_: BriefArguments, program: &Program) -> Result<(), Failure> {
    let brief = program.service()?.brief(&program.caller()?, None)?.map(|brief| brief.text);
    let brief = BriefAnswer { brief };
    program.output.answer(&brief, |brief| {
        let lines = brief.brief.iter().flat_map(|text| text.lines());
        lines.map(|line| format!("{}\n", escaped(line))).collect()
    })?;
    if !program.output.in_json() && brief.brief.is_none() {
        program.output.talk("nothing to tell: pin what an agent should know (`rootset edit NAME --pin`)");
    }
    Ok(())
}
