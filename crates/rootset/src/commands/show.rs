//! `rootset show`.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::arguments::ShowArguments;
use crate::exit::Failure;
use crate::render::{self, count, counted, escaped, flag, list, one_line, text, with_age};
use crate::session::Session;

pub fn run(arguments: ShowArguments, session: &Session) -> Result<(), Failure> {
    let request = json!({
        "memory_id": arguments.memory,
        "revision": arguments.revision,
        "include": arguments.ids.then_some(["ids"]),
    });
    let answer = session.call("get_memory", request)?;
    session.output.answer(&answer, render)
}

fn render(memory: &Value) -> String {
    let mut shown = format!("{}\n", render::bold(one_line(text(memory, "topic"), usize::MAX)));
    for (label, value) in facts(memory) {
        writeln!(shown, "{} {value}", render::dim(format!("{label:<11}"))).expect("writing to a string cannot fail");
    }
    writeln!(shown, "\n{}", escaped(text(memory, "context"))).expect("writing to a string cannot fail");
    for (field, heading) in [("decisions", "Decisions"), ("rationale", "Rationale")] {
        let items = list(memory, field);
        if !items.is_empty() {
            writeln!(shown, "\n{}", render::bold(heading)).expect("writing to a string cannot fail");
        }
        for item in items.iter().filter_map(Value::as_str) {
            writeln!(shown, "- {}", escaped(item)).expect("writing to a string cannot fail");
        }
    }
    for (field, heading) in [("chunk_ids", "Chunks"), ("entity_ids", "Entities"), ("relation_ids", "Relations")] {
        let ids = list(memory, field);
        if !ids.is_empty() {
            writeln!(shown, "\n{}", render::bold(heading)).expect("writing to a string cannot fail");
        }
        for id in ids.iter().filter_map(Value::as_str) {
            writeln!(shown, "{id}").expect("writing to a string cannot fail");
        }
    }
    shown
}

/// The lines above the text; what says nothing is left out.
fn facts(memory: &Value) -> Vec<(&'static str, String)> {
    let optional = |field: &str| Some(text(memory, field)).filter(|it| !it.is_empty());
    let time = |field: &str| optional(field).map(with_age);
    let words = |field: &str| {
        let items: Vec<String> = list(memory, field).iter().filter_map(Value::as_str).map(escaped).collect();
        (!items.is_empty()).then(|| items.join(", "))
    };
    let graph = format!(
        "{}, {}, {}",
        counted(count(memory, "chunk_count"), "chunk", "chunks"),
        counted(count(memory, "entity_count"), "entity", "entities"),
        counted(count(memory, "relation_count"), "relation", "relations")
    );
    let version = format!("{}, revision {}", count(memory, "version"), count(memory, "revision"));
    let used = match count(memory, "use_count") {
        0 => None,
        uses => Some(format!("{}, last {}", counted(uses, "time", "times"), with_age(text(memory, "last_used_at")))),
    };
    let facts = [
        ("name", optional("name").map(escaped)),
        ("id", optional("memory_id").map(escaped)),
        (
            "source",
            Some(format!("{}, written by {}", escaped(text(memory, "source")), escaped(text(memory, "written_by")))),
        ),
        ("file", optional("file_path").map(escaped)),
        ("tags", words("tags")),
        ("created", time("created_at")),
        ("updated", time("updated_at")),
        ("used", used),
        ("expires", time("expires_at")),
        ("pinned", pinned(memory)),
        ("replaced by", optional("superseded_by").filter(|_| flag(memory, "superseded")).map(escaped)),
        ("because", optional("supersede_reason").map(escaped)),
        ("replaces", words("supersedes")),
        ("status", (text(memory, "status") != "complete").then(|| escaped(text(memory, "status")))),
        ("error", optional("last_error").map(escaped)),
        ("version", Some(version)),
        ("graph", Some(graph)),
        ("metadata", memory.get("metadata").map(|metadata| escaped(&metadata.to_string()))),
    ];
    facts.into_iter().filter_map(|(label, value)| Some((label, value?))).collect()
}

fn pinned(memory: &Value) -> Option<String> {
    let reason = text(memory, "pin_reason");
    match (flag(memory, "pinned"), reason.is_empty()) {
        (false, _) => None,
        (true, true) => Some("yes".to_owned()),
        (true, false) => Some(escaped(reason)),
    }
}
