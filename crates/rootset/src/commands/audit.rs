//! `rootset audit`: the audit trail as it is stored, entry by entry.

use clap::Args;
use rootset_api::{AuditAnswer, AuditList, ListAudit};
use rootset_model::Counts;
use serde::Deserialize;

use super::list::PageArguments;
use super::{given, times};
use crate::arguments::described_by;
use crate::exit::Failure;
use crate::program::Program;
use crate::render::{Column, Table, amounts, counted, one_line};

/// Show the audit trail, with what the scheduler reported
#[derive(Debug, Args)]
#[command(defer(described_by::<ListAudit>))]
pub struct AuditArguments {
    #[arg(id = "kinds", long = "kind", value_name = "KIND")]
    kinds: Vec<String>,
    /// How far back: `24h`, `30d`, or a day such as `2026-12-31`
    #[arg(id = "how_far_back", long = "since", value_name = "WHEN")]
    since: Option<String>,
    #[arg(long)]
    database: bool,
    #[command(flatten)]
    page: PageArguments,
}

const DETAILS_CHARS: usize = 160;

pub fn run(arguments: AuditArguments, program: &Program) -> Result<(), Failure> {
    let since = arguments.since.map(|since| times::past("--since", &since)).transpose()?;
    let answer = program.run(ListAudit {
        since,
        kinds: given(arguments.kinds),
        database: arguments.database.then_some(true),
        offset: arguments.page.offset,
        limit: arguments.page.limit,
        ..ListAudit::default()
    })?;
    program.output.answer(&answer, as_table)?;
    if !program.output.in_json() {
        let (shown, total) = (answer.entries.len(), answer.total);
        program.output.talk(&format!("{shown} of {}", counted(total, "entry", "entries")));
    }
    Ok(())
}

fn as_table(answer: &AuditList) -> String {
    if answer.entries.is_empty() {
        return String::new();
    }
    let mut table = Table::new([
        Column::time("AT"),
        Column::name("WHAT"),
        Column::name("BY"),
        Column::whole("COUNTS"),
        Column::whole("DETAILS"),
    ]);
    for entry in &answer.entries {
        table.row([
            entry.at.to_string(),
            entry.operation.clone(),
            one_line(&entry.actor, 24),
            counts(entry),
            one_line(&entry.details.as_ref().map(ToString::to_string).unwrap_or_default(), DETAILS_CHARS),
        ]);
    }
    table.finish()
}

fn counts(entry: &AuditAnswer) -> String {
    match Counts::deserialize(&entry.counts) {
        Ok(counts) if !counts.is_nothing() => amounts(&counts).in_words(),
        _ => String::new(),
    }
}
