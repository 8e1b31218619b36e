//! Looking at sessions: `rootset context list`, `show`, `explain` and `search`.

use std::fmt::Write;

use serde_json::{Value, json};

use super::analyze::{grouped, usage_line};
use crate::arguments::{MessagesFormat, PageArguments, SearchStashArguments, ShowContextArguments};
use crate::commands::list::{Page, say_what_is_left};
use crate::commands::{given, joined};
use crate::exit::Failure;
use crate::render::{self, Table, age, count, escaped, flag, list, one_line, text};
use crate::session::Session;

pub fn sessions(arguments: &PageArguments, session: &Session) -> Result<(), Failure> {
    let request = json!({"offset": arguments.offset, "limit": arguments.limit});
    let answer = session.call("context_list_sessions", request)?;
    session.output.answer(&answer, |answer| {
        if list(answer, "sessions").is_empty() {
            return String::new();
        }
        let mut table = Table::new(["SESSION", "TOKENS", "SEGMENTS", "STASHED", "USED"]);
        for row in list(answer, "sessions") {
            table.row([
                one_line(text(row, "session_id"), 80),
                grouped(count(row, "tokens")),
                count(row, "segments").to_string(),
                count(row, "stashed").to_string(),
                age(text(row, "updated_at")),
            ]);
        }
        table.finish()
    })?;
    if !session.output.in_json() {
        let total = render::counted(count(&answer, "total"), "session", "sessions");
        let shown = list(&answer, "sessions").len();
        let page = Page { shown, offset: count(&answer, "offset"), total: count(&answer, "total") };
        say_what_is_left(session, page, total);
    }
    Ok(())
}

pub fn show(arguments: &ShowContextArguments, session: &Session) -> Result<(), Failure> {
    let format = arguments.format.map(|format| match format {
        MessagesFormat::Anthropic => "anthropic",
        MessagesFormat::OpenAi => "openai",
    });
    if let Some(segment) = &arguments.segment {
        return show_segment(&arguments.session, segment, session);
    }
    let request = json!({
        "session_id": arguments.session,
        "format": format,
        "placeholders": arguments.placeholders.then_some(true),
    });
    let answer = session.call("context_get", request)?;
    if format.is_some() {
        // A message list is for programs, whoever asks.
        return session.output.json(&answer);
    }
    session.output.answer(&answer, |answer| {
        let mut table = Table::new(["SEGMENT", "TYPE", "ROLE", "TOKENS", "TEXT"]);
        for segment in list(answer, "segments") {
            let shown = [text(segment, "placeholder"), text(segment, "text")].into_iter().find(|it| !it.is_empty());
            let pin = if flag(segment, "pinned") { " (pinned)" } else { "" };
            table.row([
                format!("{}{pin}", one_line(text(segment, "segment_id"), 40)),
                text(segment, "type").to_owned(),
                one_line(text(segment, "role"), 12),
                grouped(count(segment, "tokens")),
                one_line(shown.unwrap_or_default(), 200),
            ]);
        }
        format!("{}\n{}\n", table.finish(), usage_line(&answer["usage"]))
    })
}

/// From the export, which has what is stashed, too.
fn show_segment(session_id: &str, segment: &str, session: &Session) -> Result<(), Failure> {
    // Asked first, for its answer when there is none.
    let explained = session.call("context_explain", json!({"session_id": session_id, "segment_id": segment}))?;
    let exported = session.call("context_export", json!({"session_id": session_id, "include": "both"}))?;
    let found = list(&exported, "segments").iter().find(|it| text(it, "segment_id") == segment);
    let found = found.cloned().unwrap_or_default();
    session.output.answer(&found, |found| {
        let about =
            format!("{}, {} tokens, {}", text(found, "type"), grouped(count(found, "tokens")), text(found, "state"));
        let (name, reason) = (escaped(text(found, "segment_id")), escaped(text(&explained, "reason")));
        let text = escaped(text(found, "text"));
        format!("{}  {}\n{reason}\n\n{}\n", render::bold(name), render::dim(about), text.trim_end())
    })
}

pub fn explain(session_id: &str, segment: &str, session: &Session) -> Result<(), Failure> {
    let answer = session.call("context_explain", json!({"session_id": session_id, "segment_id": segment}))?;
    session.output.answer(&answer, |answer| {
        let state = match (flag(answer, "alive"), text(answer, "state")) {
            (true, _) => render::good("kept"),
            (false, "stashed") => render::dim("stashed"),
            (false, _) => render::warning("may leave"),
        };
        let reason = render::for_people(text(answer, "reason"));
        let mut shown = format!("{}: {state}, {}\n", escaped(text(answer, "segment_id")), escaped(&reason));
        let path: Vec<String> = list(answer, "path").iter().filter_map(Value::as_str).map(escaped).collect();
        if path.len() > 1 {
            writeln!(shown, "  {}", path.join(" → ")).expect("writing to a string cannot fail");
        }
        let (own, retained) = (count(answer, "tokens"), count(answer, "retained_tokens"));
        write!(shown, "  {} tokens", grouped(own)).expect("writing to a string cannot fail");
        if retained > own {
            let others = grouped(retained - own);
            write!(shown, "; {others} more would be out of reach without it").expect("writing to a string cannot fail");
        }
        shown.push('\n');
        for entry in list(answer, "history") {
            let (action, reason) = (escaped(text(entry, "action")), escaped(text(entry, "reason")));
            let line = format!("  {} {action}: {reason}", age(text(entry, "at")));
            writeln!(shown, "{}", render::dim(line)).expect("writing to a string cannot fail");
        }
        shown
    })
}

pub fn search(arguments: SearchStashArguments, session: &Session) -> Result<(), Failure> {
    let request = json!({
        "session_id": arguments.session,
        "query": joined(&arguments.query),
        "type": arguments.segment_type,
        "file_path": arguments.file,
        "tags": given(arguments.tags),
        "all_sessions": arguments.all.then_some(true),
        "limit": arguments.limit,
    });
    let answer = session.call("context_search_stash", request)?;
    session.output.answer(&answer, |answer| {
        if list(answer, "results").is_empty() {
            return String::new();
        }
        let mut table = Table::new(["SEGMENT", "SESSION", "TYPE", "TOKENS", "STASHED", "TEXT"]);
        for result in list(answer, "results") {
            table.row([
                one_line(text(result, "segment_id"), 40),
                one_line(text(result, "session_id"), 30),
                text(result, "type").to_owned(),
                grouped(count(result, "tokens")),
                age(text(result, "stashed_at")),
                one_line(text(result, "preview"), 120),
            ]);
        }
        table.finish()
    })?;
    if !session.output.in_json() && list(&answer, "results").is_empty() {
        session.output.talk("nothing found");
    }
    Ok(())
}
