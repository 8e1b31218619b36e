//! `rootset hook --explain`: the ledger of a session, event by event, and the bill.

use rootset_service::hooks::{EventView, SessionView};
use serde::Serialize;

use crate::exit::Failure;
use crate::program::Program;
use crate::render::{counted, escaped, short};

/// What `--json` prints.
#[derive(Serialize)]
struct Explained {
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<SessionView>,
}

pub fn run(session: Option<&str>, program: &Program) -> Result<(), Failure> {
    let session = program.service()?.hook_ledger(&program.caller()?, session)?;
    let is_missing = session.is_none();
    program
        .output
        .answer(&Explained { session }, |explained| explained.session.as_ref().map_or_else(String::new, shown))?;
    if is_missing && !program.output.in_json() {
        program
            .output
            .talk("no session with hooks is known here; hint: rootset install claude-code, then restart the client");
    }
    Ok(())
}

fn shown(session: &SessionView) -> String {
    let mut shown = format!("{} session {}\n", session.client, escaped(&session.session_id));
    if session.dropped > 0 {
        shown.push_str(&format!("{} before these are not kept\n", counted(session.dropped as i64, "event", "events")));
    }
    session.events.iter().for_each(|event| shown.push_str(&line(event)));
    let tokens = |count: usize| counted(count as i64, "token", "tokens");
    let kept_out = match session.tokens_kept_out {
        0 => String::new(),
        count => format!(", {} kept out", tokens(count)),
    };
    shown.push_str(&format!("bill: {} put in{kept_out}\n", tokens(session.tokens_put_in)));
    shown
}

fn line(event: &EventView) -> String {
    let mut line = format!("{}  {:<16}  {}", short(event.at), escaped(&event.event), did(event));
    let names: Vec<String> = event.memories.iter().map(|name| escaped(name)).collect();
    if !names.is_empty() {
        line.push_str(&format!(": {}", names.join(", ")));
    }
    for (class, kept, lost) in &event.classes {
        line.push_str(&format!("; {} kept {kept}, lost {lost}", escaped(class)));
    }
    line.push('\n');
    line
}

fn did(event: &EventView) -> String {
    let tokens = counted(event.tokens as i64, "token", "tokens");
    match event.did.as_str() {
        "silent" => "nothing to say".to_owned(),
        "brief" => format!("told the brief, {tokens}"),
        "recall" => format!("recalled {}, {tokens}", counted(event.memories.len() as i64, "memory", "memories")),
        "noted" => "noted what you said that could be kept".to_owned(),
        "asked" => format!("told the summariser what must survive, {tokens}"),
        "checked" => "checked the summary".to_owned(),
        "pointed" => {
            format!("pointed to an equal result, {} kept out", counted(event.kept_out as i64, "token", "tokens"))
        }
        "put_back" => format!("put back what the summary lost, {tokens}"),
        "end" => "closed the session".to_owned(),
        other => escaped(other),
    }
}
