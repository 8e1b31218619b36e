//! `rootset trash`.

use serde_json::{Value, json};

use super::list::say_what_is_left;
use crate::arguments::PageArguments;
use crate::exit::Failure;
use crate::render::{Table, count, counted, list, one_line, short, text, with_age};
use crate::session::Session;

pub fn run(arguments: PageArguments, session: &Session) -> Result<(), Failure> {
    let answer = session.call("list_trash", json!({"offset": arguments.offset, "limit": arguments.limit}))?;
    session.output.answer(&answer, render)?;
    if !session.output.in_json() {
        let total = format!("{} in the trash", counted(count(&answer, "total"), "item", "items"));
        say_what_is_left(session, &answer, "items", total);
    }
    Ok(())
}

fn render(answer: &Value) -> String {
    let items = list(answer, "items");
    if items.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["WHAT", "NAME", "RUN", "TRASHED", "UNDO UNTIL", "TOPIC"]);
    for item in items {
        let name = [text(item, "name"), text(item, "id")].into_iter().find(|it| !it.is_empty());
        table.row([
            text(item, "kind").to_owned(),
            one_line(name.unwrap_or_default(), 128),
            text(item, "run_id").to_owned(),
            short(text(item, "trashed_at")),
            with_age(text(item, "undo_until")),
            one_line(text(item, "topic"), 80),
        ]);
    }
    table.finish()
}
