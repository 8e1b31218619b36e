//! `rootset list`.

use serde_json::{Value, json};

use super::{given, joined};
use crate::arguments::ListArguments;
use crate::exit::Failure;
use crate::render::{Table, count, counted, flag, list, one_line, short, text};
use crate::session::Session;

/// The longest name there is.
const NAME_CHARS: usize = 128;
const TOPIC_CHARS: usize = 80;

pub fn run(arguments: ListArguments, session: &Session) -> Result<(), Failure> {
    let request = json!({
        "query": joined(&arguments.query),
        "offset": arguments.page.offset,
        "limit": arguments.page.limit,
        "order_by": arguments.order_by,
        "descending": arguments.ascending.then_some(false),
        "tags": given(arguments.tags),
        "source": arguments.source,
        "written_by": arguments.written_by,
        "status": arguments.status,
        "lifecycle": arguments.lifecycle,
    });
    let answer = session.call("list_memories", request)?;
    session.output.answer(&answer, render)?;
    if !session.output.in_json() {
        say_what_is_left(session, &answer, "memories", counted(count(&answer, "total"), "memory", "memories"));
    }
    Ok(())
}

fn render(answer: &Value) -> String {
    let memories = list(answer, "memories");
    if memories.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["NAME", "UPDATED", "SOURCE", "NOTE", "TOPIC"]);
    for memory in memories {
        let name = [text(memory, "name"), text(memory, "memory_id")].into_iter().find(|it| !it.is_empty());
        let notes = [(flag(memory, "pinned"), "pinned"), (text(memory, "status") == "pending", "pending")];
        let notes: Vec<&str> = notes.into_iter().filter(|(is_so, _)| *is_so).map(|(_, note)| note).collect();
        table.row([
            one_line(name.unwrap_or_default(), NAME_CHARS),
            short(text(memory, "updated_at")),
            one_line(text(memory, "source"), 20),
            notes.join(", "),
            one_line(text(memory, "topic"), TOPIC_CHARS),
        ]);
    }
    table.finish()
}

/// The total of a list in pages, and how to see the next one.
pub fn say_what_is_left(session: &Session, answer: &Value, field: &str, total: String) {
    let shown = list(answer, field).len().max(list(answer, "items").len()) as i64;
    let next = count(answer, "offset") + shown;
    if next < count(answer, "total") && shown > 0 {
        session.output.talk(&format!("{shown} of {total}; `--offset {next}` shows the next"));
    } else {
        session.output.talk(&total);
    }
}
