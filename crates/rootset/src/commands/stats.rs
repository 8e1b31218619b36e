//! `rootset stats`.

use std::fmt::Write;

use rootset_api::{GetStats, StatsAnswer};

use crate::exit::Failure;
use crate::program::Program;
use crate::render::{self, bytes, counted, escaped};

pub fn run(program: &Program) -> Result<(), Failure> {
    program.output.answer(&program.run(GetStats::default())?, render)
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
