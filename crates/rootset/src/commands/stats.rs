//! `rootset stats`.

use std::fmt::Write;

use clap::Args;
use rootset_api::{GetStats, StatsAnswer, StatsBy};

use crate::exit::Failure;
use crate::program::Program;
use crate::render::{self, Column, Table, bytes, counted, escaped, one_line};

const TAG_CHARS: usize = 80;

/// Show counts and sizes
#[derive(Debug, Args)]
pub struct StatsArguments {
    /// Count the memories of each tag instead
    #[arg(long)]
    tags: bool,
}

pub fn run(arguments: StatsArguments, program: &Program) -> Result<(), Failure> {
    let by = arguments.tags.then_some(StatsBy::Tags);
    let answer = program.run(GetStats { by, ..GetStats::default() })?;
    program.output.answer(&answer, if arguments.tags { render_tags } else { render })?;
    if !program.output.in_json() && answer.by_tag.is_some_and(|tags| tags.is_empty()) {
        program.output.talk("no tags yet: `rootset add --tag TAG` or `rootset edit --tag TAG` gives a memory one");
    }
    Ok(())
}

fn render_tags(answer: &StatsAnswer) -> String {
    let mut table = Table::new([Column::name("TAG"), Column::fixed("MEMORIES")]);
    let tags = answer.by_tag.as_deref().unwrap_or_default();
    for counted in tags {
        table.row([one_line(&counted.tag, TAG_CHARS), counted.memories.to_string()]);
    }
    if tags.is_empty() { String::new() } else { table.finish() }
}

fn render(answer: &StatsAnswer) -> String {
    let (counts, sizes) = (&answer.counts, &answer.sizes);
    let mut lines = vec![
        ("workspace", escaped(&answer.workspace_id)),
        ("memories", format!("{} live, {} in the trash, {} pending", counts.live, counts.trashed, counts.pending)),
    ];
    for (source, counts) in &answer.by_source {
        lines.push(("", format!("{}: {} live, {} in the trash", escaped(source), counts.live, counts.trashed)));
    }
    let entities = counted(counts.entities, "entity", "entities");
    let relations = counted(counts.relations, "relation", "relations");
    lines.push(("graph", format!("{entities}, {relations}")));
    let chunks = counted(counts.chunks, "chunk", "chunks");
    lines.push(("stored", format!("{chunks}, {}", counted(counts.vectors, "vector", "vectors"))));
    if counts.sessions > 0 {
        let sessions = counted(counts.sessions, "session", "sessions");
        let segments = counted(counts.segments, "segment", "segments");
        lines.push(("context", format!("{sessions}, {segments} ({} stashed)", counts.stashed)));
    }
    lines.push(("text", bytes(sizes.content_bytes)));
    let size = |size: Option<i64>| bytes(size.unwrap_or_default());
    let (database, log, free) = (size(sizes.database_bytes), size(sizes.wal_bytes), size(sizes.free_bytes));
    lines.push(("files", format!("{database} database, {log} log, {free} free inside")));
    lines.push(("engine", format!("{}, schema {}", answer.engine, answer.schema_version)));
    lines.push(("extractor", escaped(&answer.extractor)));
    lines.push(("embedder", escaped(&answer.embedder)));
    let mut shown = String::new();
    for (label, value) in lines {
        writeln!(shown, "{} {value}", render::dim(format!("{label:<10}"))).expect("writing to a string cannot fail");
    }
    shown
}
