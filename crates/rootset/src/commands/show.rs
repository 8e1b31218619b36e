//! `rootset show`.

use std::fmt::Write;

use clap::Args;
use rootset_api::{GetMemory, MemoryAnswer, MemoryPart};
use rootset_model::PinnedBy;

use crate::arguments::described_by;
use crate::exit::Failure;
use crate::program::Program;
use crate::render::{self, counted, escaped, one_line, with_age};

/// Show one memory in full
#[derive(Debug, Args)]
#[command(defer(described_by::<GetMemory>))]
pub struct ShowArguments {
    #[arg(id = "memory_id", value_name = "ID")]
    memory: String,
    #[arg(long, value_name = "NUMBER")]
    revision: Option<i64>,
    /// Show the ids of chunks, entities and relations, too
    #[arg(long)]
    ids: bool,
}

pub fn run(arguments: ShowArguments, program: &Program) -> Result<(), Failure> {
    let memory = program.run(GetMemory {
        memory_id: arguments.memory,
        revision: arguments.revision,
        include: arguments.ids.then(|| vec![MemoryPart::Ids]),
        ..GetMemory::default()
    })?;
    program.output.answer(&memory, render)
}

fn render(memory: &MemoryAnswer) -> String {
    let mut shown = format!("{}\n", render::bold(one_line(&memory.topic, usize::MAX)));
    let mut line = |text: String| writeln!(shown, "{text}").expect("writing to a string cannot fail");
    for (label, value) in facts(memory) {
        line(format!("{} {value}", render::dim(format!("{label:<11}"))));
    }
    line(format!("\n{}", escaped(&memory.context)));
    for (heading, items) in [("Decisions", &memory.decisions), ("Rationale", &memory.rationale)] {
        if !items.is_empty() {
            line(format!("\n{}", render::bold(heading)));
        }
        items.iter().for_each(|item| line(format!("- {}", escaped(item))));
    }
    let parts = [("Chunks", &memory.chunk_ids), ("Entities", &memory.entity_ids), ("Relations", &memory.relation_ids)];
    for (heading, ids) in parts {
        let ids = ids.as_deref().unwrap_or_default();
        if !ids.is_empty() {
            line(format!("\n{}", render::bold(heading)));
        }
        ids.iter().for_each(|id| line(id.clone()));
    }
    shown
}

/// The lines above the text; what says nothing is left out.
fn facts(memory: &MemoryAnswer) -> Vec<(&'static str, String)> {
    let optional = |text: &Option<String>| text.as_deref().filter(|it| !it.is_empty()).map(escaped);
    let words = |items: &[String]| {
        let items: Vec<String> = items.iter().map(|item| escaped(item)).collect();
        (!items.is_empty()).then(|| items.join(", "))
    };
    let graph = format!(
        "{}, {}, {}",
        counted(memory.chunk_count, "chunk", "chunks"),
        counted(memory.entity_count, "entity", "entities"),
        counted(memory.relation_count, "relation", "relations")
    );
    let used = (memory.use_count > 0).then(|| {
        let last = memory.last_used_at.map(with_age).unwrap_or_default();
        format!("{}, last {last}", counted(memory.use_count, "time", "times"))
    });
    let version = memory.source_version.map(|version| format!(", version {version}")).unwrap_or_default();
    let source = format!("{}{version}, written by {}", escaped(&memory.source), escaped(&memory.written_by));
    let metadata = memory.metadata.as_ref().and_then(|fields| serde_json::to_string(fields).ok());
    let facts = [
        ("name", optional(&memory.name)),
        ("id", Some(memory.memory_id.to_string())),
        ("source", Some(source)),
        ("trust", Some(trust(memory))),
        ("file", optional(&memory.file_path)),
        ("tags", words(&memory.tags)),
        ("created", Some(with_age(memory.created_at))),
        ("updated", Some(with_age(memory.updated_at))),
        ("used", used),
        ("expires", memory.expires_at.map(with_age)),
        ("pinned", memory.pinned.then(|| pin(memory))),
        ("replaced by", optional(&memory.superseded_by).filter(|_| memory.superseded)),
        ("because", optional(&memory.supersede_reason)),
        ("replaces", words(&memory.supersedes)),
        ("status", (memory.status != "complete").then(|| escaped(&memory.status))),
        ("error", optional(&memory.last_error)),
        ("version", Some(format!("{}, revision {}", memory.version, memory.revision))),
        ("graph", Some(graph)),
        ("metadata", metadata.map(|text| escaped(&text))),
    ];
    facts.into_iter().filter_map(|(label, value)| Some((label, value?))).collect()
}

/// Who answers for the text, and how it came in.
fn trust(memory: &MemoryAnswer) -> String {
    let came = format!("{}, came by {}", memory.trust.as_str(), memory.channel.as_str());
    let came = match &memory.revision_by {
        Some(by) => format!("{came}; this text by {} ({})", escaped(&by.written_by), by.trust.as_str()),
        None => came,
    };
    match memory.quarantined {
        Some(true) => render::warning(format!("{came}: never shown unasked; `rootset trust` approves it")),
        _ => came,
    }
}

fn pin(memory: &MemoryAnswer) -> String {
    let by = match (memory.pinned_by, &memory.pinned_actor) {
        (Some(PinnedBy::Person), _) => "by you".to_owned(),
        (Some(PinnedBy::Agent), Some(actor)) => format!("by the agent {}", escaped(actor)),
        (Some(PinnedBy::Agent), None) => "by an agent".to_owned(),
        (None, _) => "yes".to_owned(),
    };
    match memory.pin_reason.as_deref().filter(|reason| !reason.is_empty()) {
        Some(reason) => format!("{by}: {}", escaped(reason)),
        None => by,
    }
}
