//! `rootset add`.

use std::fmt::Write;

use rootset_service::ServiceError;
use serde_json::{Value, json};

use super::{given, joined, object, times};
use crate::arguments::AddArguments;
use crate::exit::Failure;
use crate::render::{self, count, counted, escaped, flag, list, one_line, text};
use crate::session::Session;
use crate::{editor, input, prompt};

pub fn run(arguments: AddArguments, session: &Session) -> Result<(), Failure> {
    let metadata = arguments.metadata.as_deref().map(|text| object("--metadata", text)).transpose()?;
    let expires_at = arguments.expires.as_deref().map(|text| times::ahead("--expires", text)).transpose()?;
    let request = json!({
        "context": context(&arguments.text)?,
        "topic": arguments.topic,
        "decisions": given(arguments.decisions),
        "rationale": given(arguments.rationale),
        "tags": given(arguments.tags),
        "name": arguments.name,
        "source": arguments.source,
        "metadata": metadata,
        "pinned": arguments.pin.is_some().then_some(true),
        "pin_reason": arguments.pin.filter(|reason| !reason.is_empty()),
        "expires_at": expires_at,
        "supersedes": given(arguments.supersedes),
        "restore": arguments.restore.then_some(true),
    });
    let answer = session.call("add_memory", request)?;
    session.output.answer(&answer, render)?;
    if !session.output.in_json() {
        remarks(&answer).iter().for_each(|remark| session.output.talk(remark));
    }
    Ok(())
}

/// Words, stdin for `-` or a pipe, else what the editor is left with.
fn context(words: &[String]) -> Result<String, ServiceError> {
    match words {
        [dash] if dash == "-" => input::read_stdin(),
        [] if prompt::is_possible() => editor::edit(""),
        [] => input::read_stdin(),
        words => Ok(joined(words).unwrap_or_default()),
    }
}

fn render(answer: &Value) -> String {
    let what = match (flag(answer, "created"), flag(answer, "restored")) {
        (_, true) => "restored",
        (true, false) => "added",
        (false, false) => "already there:",
    };
    format!("{what} {} {}\n", render::bold(text(answer, "name")), render::dim(text(answer, "memory_id")))
}

fn remarks(answer: &Value) -> Vec<String> {
    let mut remarks = Vec::new();
    match count(answer, "redacted") {
        0 => {}
        redacted => remarks.push(render::warning(format!(
            "{} like a secret and {} not stored",
            counted(redacted, "value looked", "values looked"),
            if redacted == 1 { "was" } else { "were" }
        ))),
    }
    if text(answer, "status") == "pending" {
        remarks.push("pending: found by its words already, entities and vectors follow".to_owned());
    }
    for error in list(answer, "errors").iter().filter_map(Value::as_str) {
        remarks.push(render::warning(format!("not complete yet: {}", escaped(error))));
    }
    let similar = list(answer, "similar");
    if !similar.is_empty() {
        let mut lines = String::from("similar memories are there already; `rootset supersede OLD NEW` replaces one:");
        for other in similar {
            let (name, topic) = (escaped(text(other, "name")), one_line(text(other, "topic"), 60));
            write!(lines, "\n  {name}  {}", render::dim(topic)).expect("writing to a string cannot fail");
        }
        remarks.push(lines);
    }
    remarks
}
