//! `rootset search`.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{given, joined, times};
use crate::arguments::SearchArguments;
use crate::exit::Failure;
use crate::render::{self, Table, age, count, escaped, flag, list, one_line, text};
use crate::session::Session;

const TOPIC_CHARS: usize = 100;
const SNIPPET_CHARS: usize = 320;

pub fn run(arguments: SearchArguments, session: &Session) -> Result<(), Failure> {
    let time =
        |option: &str, text: &Option<String>| text.as_deref().map(|text| times::behind(option, text)).transpose();
    let request = json!({
        "query": joined(&arguments.query),
        "limit": arguments.limit,
        "mode": arguments.entities.then_some("entities"),
        "tags": given(arguments.tags),
        "source": arguments.source,
        "created_after": time("--after", &arguments.after)?,
        "created_before": time("--before", &arguments.before)?,
        "explain": arguments.explain.then_some(true),
    });
    let answer = session.call("search_memory", request)?;
    session.output.answer(&answer, if arguments.entities { entities } else { memories })?;
    if !session.output.in_json() {
        if list(&answer, "results").is_empty() {
            session.output.talk("nothing found");
        }
        if flag(&answer, "truncated") {
            session.output.talk("the answer was cut to fit; ask for more with narrower words");
        }
    }
    Ok(())
}

fn memories(answer: &Value) -> String {
    let mut shown = String::new();
    for (place, result) in list(answer, "results").iter().enumerate() {
        let name = [text(result, "name"), text(result, "memory_id")].into_iter().find(|it| !it.is_empty());
        let about = format!("{}, {}", age(text(result, "updated_at")), escaped(text(result, "source")));
        let separator = if place == 0 { "" } else { "\n" };
        let name = render::bold(escaped(name.unwrap_or_default()));
        writeln!(shown, "{separator}{name}  {}", render::dim(about)).expect("writing to a string cannot fail");
        let topic = one_line(text(result, "topic"), TOPIC_CHARS);
        let snippet = one_line(text(result, "snippet"), SNIPPET_CHARS);
        // Without a topic of its own a memory begins with it: once is enough.
        let repeats = snippet.starts_with(topic.trim_end_matches('…'));
        for line in [topic, snippet].into_iter().skip(usize::from(repeats)) {
            writeln!(shown, "  {line}").expect("writing to a string cannot fail");
        }
        if let Some(score) = result.get("score").and_then(Value::as_f64) {
            let why = format!("score {score:.3}: {}", escaped(text(result, "why")));
            writeln!(shown, "  {}", render::dim(why)).expect("writing to a string cannot fail");
        }
    }
    shown
}

fn entities(answer: &Value) -> String {
    let results = list(answer, "results");
    if results.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["NAME", "TYPE", "MEMORIES", "DESCRIPTION"]);
    for entity in results {
        table.row([
            one_line(text(entity, "name"), 60),
            one_line(text(entity, "type"), 20),
            count(entity, "refcount").to_string(),
            one_line(text(entity, "description"), TOPIC_CHARS),
        ]);
    }
    table.finish()
}
