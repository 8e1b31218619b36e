//! `rootset index`.

use std::fmt::Write;

use serde_json::{Value, json};

use super::given;
use crate::arguments::{IndexArguments, ScopeArguments};
use crate::exit::Failure;
use crate::progress::Bar;
use crate::render::{self, count, escaped, list, text};
use crate::session::Session;

pub fn run(arguments: IndexArguments, session: &Session) -> Result<(), Failure> {
    let mut request = request(&arguments.path, arguments.scope);
    if arguments.accept_missing {
        request["accept_missing"] = true.into();
    }
    if arguments.rebind {
        request["rebind"] = true.into();
    }
    let bar = Bar::new(session.output.shows_progress());
    let answer = session.call_with_progress("index_codebase", request, bar.progress());
    drop(bar);
    let answer = answer?;
    session.output.answer(&answer, in_words)?;
    if !session.output.in_json() {
        for warning in list(&answer, "warnings").iter().filter_map(Value::as_str) {
            session.output.talk(&render::warning(render::for_people(warning)));
        }
        if count(&answer, "stale_memories") > 0 {
            session.output.talk("to see and remove what is stale: rootset prune");
        }
    }
    Ok(())
}

/// What a scan is asked to look at.
pub fn request(path: &str, scope: ScopeArguments) -> Value {
    json!({
        "path": path,
        "repo": scope.repo,
        "languages": given(scope.languages),
        "include_tests": scope.no_tests.then_some(false),
        "max_file_size": scope.max_file_size,
    })
}

fn in_words(answer: &Value) -> String {
    let mut shown = String::new();
    let files = |name: &str| render::counted(count(answer, name), "file", "files");
    let mut line = |text: String| writeln!(shown, "{text}").expect("writing to a string cannot fail");
    // Worth a word only when it was worth a wait.
    let elapsed = match count(answer, "elapsed_ms") {
        ms if ms < 1_000 => String::new(),
        ms => format!("  in {:.1} s", ms as f64 / 1e3),
    };
    line(format!(
        "{}  {} indexed, {} unchanged, {} gone{}",
        render::bold(escaped(text(answer, "repo"))),
        files("files_indexed"),
        count(answer, "files_unchanged"),
        count(answer, "files_removed"),
        render::dim(elapsed),
    ));
    let functions = render::counted(count(answer, "functions"), "function", "functions");
    let classes = render::counted(count(answer, "classes"), "type", "types");
    let lines = render::counted(count(answer, "total_lines"), "line", "lines");
    let by_language = counts(answer, "languages");
    line(format!("  {functions}, {classes}, {lines}{}", in_brackets(&by_language)));
    let skipped = counts(answer, "skipped");
    if !skipped.is_empty() {
        line(format!("  left out: {skipped}"));
    }
    if count(answer, "redacted") > 0 {
        line(format!("  {} not stored", render::counted(count(answer, "redacted"), "likely secret", "likely secrets")));
    }
    if count(answer, "stale_memories") > 0 {
        line(format!("  stale: {}", files("stale_memories")));
    }
    for citation in list(answer, "dangling_citations") {
        let name = [text(citation, "name"), text(citation, "memory_id")].into_iter().find(|it| !it.is_empty());
        let (name, cites) = (escaped(name.unwrap_or_default()), escaped(text(citation, "cites")));
        line(format!("  {name} cites {cites}, which is gone"));
    }
    shown
}

/// `python 12, rust 3`: the most first.
fn counts(answer: &Value, field: &str) -> String {
    let mut counts: Vec<(&str, i64)> = answer
        .get(field)
        .and_then(Value::as_object)
        .map(|object| object.iter().map(|(name, count)| (name.as_str(), count.as_i64().unwrap_or(0))).collect())
        .unwrap_or_default();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    counts.iter().map(|(name, count)| format!("{} {count}", name.replace('_', " "))).collect::<Vec<_>>().join(", ")
}

fn in_brackets(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" ({text})") }
}
