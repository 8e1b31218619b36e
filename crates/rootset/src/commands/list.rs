//! `rootset list`.

use clap::Args;
use rootset_api::{ListMemories, MemoryList, MemoryOf};

use super::{given, joined, word};
use crate::arguments::described_by;
use crate::exit::Failure;
use crate::program::Program;
use crate::render::{Column, Table, counted, one_line};

/// The longest name there is.
const NAME_CHARS: usize = 128;
const TOPIC_CHARS: usize = 80;

/// List memories
#[derive(Debug, Args)]
#[command(defer(described_by::<ListMemories>))]
pub struct ListArguments {
    query: Vec<String>,
    #[command(flatten)]
    page: PageArguments,
    #[arg(long, value_name = "updated_at|created_at|use_count")]
    order_by: Option<String>,
    /// Show the oldest or least used first
    #[arg(long)]
    ascending: bool,
    #[arg(long = "tag", short, value_name = "TAG")]
    tags: Vec<String>,
    #[arg(long)]
    source: Option<String>,
    #[arg(long, value_name = "NAME")]
    written_by: Option<String>,
    #[arg(long, value_name = "person|agent|imported|untrusted")]
    trust: Option<String>,
    #[arg(long, value_name = "cli|mcp|http|hook|index|import")]
    channel: Option<String>,
    #[arg(long)]
    status: Option<String>,
    #[arg(long, value_name = "live|trashed|superseded|contradicting|all")]
    lifecycle: Option<String>,
    /// List your personal memory instead of the project's
    #[arg(long)]
    personal: bool,
    #[arg(long)]
    waiting: bool,
}

#[derive(Debug, Args)]
pub struct PageArguments {
    #[arg(long, value_name = "COUNT")]
    pub offset: Option<i64>,
    #[arg(long, short = 'n', value_name = "COUNT")]
    pub limit: Option<i64>,
}

pub fn run(arguments: ListArguments, program: &Program) -> Result<(), Failure> {
    let order_by = arguments.order_by.as_deref().map(|text| word("--order-by", text)).transpose()?;
    let status = arguments.status.as_deref().map(|text| word("--status", text)).transpose()?;
    let trust = arguments.trust.as_deref().map(|text| word("--trust", text)).transpose()?;
    let channel = arguments.channel.as_deref().map(|text| word("--channel", text)).transpose()?;
    let lifecycle = arguments.lifecycle.as_deref().map(|text| word("--lifecycle", text)).transpose()?;
    let answer = program.run(ListMemories {
        workspace_id: None,
        query: joined(&arguments.query),
        offset: arguments.page.offset,
        limit: arguments.page.limit,
        order_by,
        descending: arguments.ascending.then_some(false),
        tags: given(arguments.tags),
        source: arguments.source,
        written_by: arguments.written_by,
        trust,
        channel,
        status,
        lifecycle,
        memory_of: arguments.personal.then_some(MemoryOf::Personal),
        waiting: arguments.waiting.then_some(true),
    })?;
    program.output.answer(&answer, render)?;
    if !program.output.in_json() {
        let page = Page { shown: answer.memories.len(), offset: answer.offset, total: answer.total };
        say_what_is_left(program, page, counted(answer.total, "memory", "memories"));
        if answer.total == 0 {
            program.tell_where_memories_are()?;
        }
    }
    Ok(())
}

fn render(answer: &MemoryList) -> String {
    if answer.memories.is_empty() {
        return String::new();
    }
    let mut table = Table::new([
        Column::name("NAME"),
        Column::time("UPDATED"),
        Column::name("SOURCE").spare(),
        Column::text("NOTE").spare(),
        Column::text("TOPIC"),
    ]);
    for memory in &answer.memories {
        let name = memory.name.clone().unwrap_or_else(|| memory.memory_id.to_string());
        let is_untrusted = memory.quarantined == Some(true);
        let is_waiting = memory.waiting == Some(true) && !is_untrusted;
        let notes = [
            (is_untrusted, "untrusted"),
            (is_waiting, "waiting"),
            (memory.pinned, "pinned"),
            (memory.status == "pending", "pending"),
        ];
        let notes: Vec<&str> = notes.into_iter().filter(|(is_so, _)| *is_so).map(|(_, note)| note).collect();
        table.row([
            one_line(&name, NAME_CHARS),
            memory.updated_at.to_string(),
            one_line(&memory.source, 20),
            notes.join(", "),
            one_line(&memory.topic, TOPIC_CHARS),
        ]);
    }
    table.finish()
}

/// A part of a list that is read in pages.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    pub shown: usize,
    pub offset: i64,
    pub total: i64,
}

/// The total of a list in pages, and how to see the next one.
pub fn say_what_is_left(program: &Program, page: Page, total: String) {
    let Page { shown, offset, .. } = page;
    let next = offset.saturating_add_unsigned(shown as u64);
    if next < page.total && shown > 0 {
        program.output.talk(&format!("{shown} of {total}; `--offset {next}` shows the next"));
    } else {
        program.output.talk(&total);
    }
}
