//! `rootset show`.

use std::fmt::Write;

use rootset_api::{GetMemory, MemoryAnswer, MemoryPart};

use crate::arguments::ShowArguments;
use crate::exit::Failure;
use crate::render::{self, counted, escaped, one_line, with_age};
use crate::session::Session;

pub fn run(arguments: ShowArguments, session: &Session) -> Result<(), Failure> {
    let answer = session.run(GetMemory {
        memory_id: arguments.memory,
        revision: arguments.revision,
        include: arguments.ids.then(|| vec![MemoryPart::Ids]),
        ..GetMemory::default()
    })?;
    session.output.answer(&answer, render)
}

fn render(memory: &MemoryAnswer) -> String {
    let mut shown = String::new();
    let mut line = |text: String| writeln!(shown, "{text}").expect("writing to a string cannot fail");
    line(render::bold(one_line(&memory.topic, usize::MAX)));
    for (label, value) in facts(memory) {
        line(format!("{} {value}", render::dim(format!("{label:<11}"))));
    }
    line(format!("\n{}", escaped(&memory.context)));
    for (items, heading) in [(&memory.decisions, "Decisions"), (&memory.rationale, "Rationale")] {
        if !items.is_empty() {
            line(format!("\n{}", render::bold(heading)));
        }
        items.iter().for_each(|item| line(format!("- {}", escaped(item))));
    }
    let ids = [(&memory.chunk_ids, "Chunks"), (&memory.entity_ids, "Entities"), (&memory.relation_ids, "Relations")];
    for (ids, heading) in ids {
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
    let optional = |text: &Option<String>| text.as_deref().map(escaped);
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
    let metadata = memory.metadata.as_ref().map(|metadata| {
        let text = serde_json::to_string(metadata).expect("an object is always JSON");
        escaped(&text)
    });
    let facts = [
        ("name", optional(&memory.name)),
        ("id", Some(memory.memory_id.to_string())),
        ("source", Some(format!("{}, written by {}", escaped(&memory.source), escaped(&memory.written_by)))),
        ("file", optional(&memory.file_path)),
        ("tags", words(&memory.tags)),
        ("created", Some(with_age(memory.created_at))),
        ("updated", Some(with_age(memory.updated_at))),
        ("used", used),
        ("expires", memory.expires_at.map(with_age)),
        ("pinned", memory.pinned.then(|| optional(&memory.pin_reason).unwrap_or_else(|| "yes".to_owned()))),
        ("replaced by", optional(&memory.superseded_by).filter(|_| memory.superseded)),
        ("because", optional(&memory.supersede_reason)),
        ("replaces", words(&memory.supersedes)),
        ("status", (memory.status != "complete").then(|| escaped(&memory.status))),
        ("error", optional(&memory.last_error)),
        ("version", Some(format!("{}, revision {}", memory.version, memory.revision))),
        ("graph", Some(graph)),
        ("metadata", metadata),
    ];
    facts.into_iter().filter_map(|(label, value)| Some((label, value?))).collect()
}
