//! `rootset stats`.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::exit::Failure;
use crate::render::{self, bytes, count, counted, escaped, text};
use crate::session::Session;

pub fn run(session: &Session) -> Result<(), Failure> {
    let answer = session.call("get_stats", json!({}))?;
    session.output.answer(&answer, render)
}

fn render(answer: &Value) -> String {
    let (counts, sizes) = (&answer["counts"], &answer["sizes"]);
    let number = |field: &str| count(counts, field);
    let mut lines = vec![
        ("workspace", escaped(text(answer, "workspace_id"))),
        (
            "memories",
            format!("{} live, {} in the trash, {} pending", number("live"), number("trashed"), number("pending")),
        ),
    ];
    for (source, counts) in answer["by_source"].as_object().into_iter().flatten() {
        let (live, trashed) = (count(counts, "live"), count(counts, "trashed"));
        lines.push(("", format!("{}: {live} live, {trashed} in the trash", escaped(source))));
    }
    lines.push((
        "graph",
        format!(
            "{}, {}",
            counted(number("entities"), "entity", "entities"),
            counted(number("relations"), "relation", "relations")
        ),
    ));
    lines.push((
        "stored",
        format!("{} revisions, {} chunks, {} vectors", number("revisions"), number("chunks"), number("vectors")),
    ));
    if number("sessions") > 0 {
        let (sessions, segments) = (number("sessions"), number("segments"));
        lines.push((
            "context",
            format!(
                "{}, {} ({} stashed)",
                counted(sessions, "session", "sessions"),
                counted(segments, "segment", "segments"),
                number("stashed")
            ),
        ));
    }
    lines.push(("text", bytes(count(sizes, "content_bytes"))));
    lines.push((
        "files",
        format!(
            "{} database, {} log, {} free inside",
            bytes(count(sizes, "database_bytes")),
            bytes(count(sizes, "wal_bytes")),
            bytes(count(sizes, "free_bytes"))
        ),
    ));
    lines.push(("engine", format!("{}, schema {}", text(answer, "engine"), count(answer, "schema_version"))));
    lines.push(("extractor", escaped(text(answer, "extractor"))));
    lines.push(("embedder", escaped(text(answer, "embedder"))));
    let mut shown = String::new();
    for (label, value) in lines {
        writeln!(shown, "{} {value}", render::dim(format!("{label:<10}"))).expect("writing to a string cannot fail");
    }
    shown
}
