//! Changing sessions: `rootset context add`, `prune`, `restore`, `pin`, `compress`, `focus`, `configure`, `rm`.

use serde_json::{Value, json};

use super::analyze::{grouped, plan_lines, usage_line};
use crate::arguments::{
    AddSegmentArguments, CompressArguments, ConfigureArguments, FocusArguments, PinArguments, PruneContextArguments,
    RestoreSegmentsArguments, SegmentsArguments,
};
use crate::commands::joined;
use crate::exit::{Failure, STATUS_CALLER};
use crate::render::{self, Table, count, escaped, list, text, with_age};
use crate::session::Session;
use crate::{input, prompt};

pub fn add(arguments: AddSegmentArguments, session: &Session) -> Result<(), Failure> {
    let words = joined(&arguments.text).map_or_else(input::read_stdin, Ok)?;
    let segment = json!({
        "segment_id": arguments.id,
        "type": arguments.segment_type,
        "text": words,
        "role": arguments.role,
        "file_path": arguments.file,
        "pinned": arguments.pin.then_some(true),
    });
    let answer = session.call("context_add", json!({"session_id": arguments.session, "segments": [segment]}))?;
    session.output.answer(&answer, |answer| {
        let ids: Vec<String> = list(answer, "segment_ids").iter().filter_map(Value::as_str).map(escaped).collect();
        format!("{}: {}\n", ids.join(", "), escaped(text(answer, "message")))
    })?;
    if !session.output.in_json() {
        for hint in list(&answer, "recall_hints") {
            let (id, because) = (escaped(text(hint, "segment_id")), escaped(text(hint, "because")));
            session.output.talk(&format!("in the stash: {id} ({because})"));
        }
    }
    Ok(())
}

pub fn prune(arguments: &PruneContextArguments, session: &Session) -> Result<(), Failure> {
    let mut request = json!({"session_id": arguments.session});
    if arguments.segments.is_empty() {
        let plan = match &arguments.plan {
            Some(plan) => plan.clone(),
            None => {
                let analysis = analysis_for(arguments, session)?;
                let plan = &analysis["plan"];
                let is_empty = ["stash_segments", "delete_segments"].iter().all(|field| list(plan, field).is_empty());
                if arguments.dry_run || is_empty {
                    return session.output.answer(&analysis, |_| format!("{}\n", plan_lines(plan)));
                }
                text(plan, "plan_id").to_owned()
            }
        };
        request["plan_id"] = plan.into();
    } else {
        request["segment_ids"] = json!(arguments.segments);
    }
    if arguments.delete {
        prompt::confirm(session, "delete these segments")?;
        request["strategy"] = "delete".into();
        request["confirm"] = true.into();
    }
    let answer = session.call("context_gc_prune", request)?;
    session.output.answer(&answer, pruned)?;
    say_errors(&answer, session)
}

fn analysis_for(arguments: &PruneContextArguments, session: &Session) -> Result<Value, Failure> {
    let mut request = json!({"session_id": arguments.session, "max_candidates": 1, "target_tokens": arguments.free});
    if let Some(wanted) = arguments.to {
        let look = json!({"session_id": arguments.session, "max_candidates": 1, "target_tokens": 0});
        let used = count(&session.call("context_gc_analyze", look)?["usage"], "tokens");
        request["target_tokens"] = (used - wanted).max(0).into();
    }
    Ok(session.call("context_gc_analyze", request)?)
}

fn pruned(answer: &Value) -> String {
    let (stashed, deleted) = (list(answer, "stashed").len() as i64, list(answer, "deleted").len() as i64);
    let mut parts = Vec::new();
    if stashed > 0 || deleted == 0 {
        parts.push(format!("{} stashed", render::counted(stashed, "segment", "segments")));
    }
    if deleted > 0 {
        let run = text(answer, "run_id");
        let until = with_age(text(answer, "undo_until"));
        parts.push(format!(
            "{} deleted; `rootset undo {run}` brings it back until {until}",
            render::counted(deleted, "segment", "segments")
        ));
    }
    let freed = grouped(count(answer, "tokens_freed"));
    format!("{}\nfreed {freed} tokens; now {}\n", parts.join(", "), usage_line(&answer["usage_after"]))
}

/// Each id that was left alone is told; the status says that not all was done.
fn say_errors(answer: &Value, session: &Session) -> Result<(), Failure> {
    let errors = list(answer, "errors");
    if errors.is_empty() {
        return Ok(());
    }
    if !session.output.in_json() {
        for error in errors {
            let (id, message) = (escaped(text(error, "segment_id")), render::for_people(text(error, "message")));
            session.output.talk(&render::warning(format!("{id}: {}", escaped(&message))));
        }
    }
    Err(Failure::Said(STATUS_CALLER))
}

pub fn restore(arguments: &RestoreSegmentsArguments, session: &Session) -> Result<(), Failure> {
    let request = json!({
        "session_id": arguments.session,
        "segment_ids": arguments.segments,
        "from_session_id": arguments.from,
    });
    let answer = session.call("context_restore", request)?;
    session.output.answer(&answer, |answer| {
        let restored = list(answer, "restored").len() as i64;
        let segments = render::counted(restored, "segment", "segments");
        format!("{segments} restored; now {}\n", usage_line(&answer["usage"]))
    })?;
    say_errors(&answer, session)
}

pub fn pin(arguments: &PinArguments, session: &Session) -> Result<(), Failure> {
    let request = json!({
        "session_id": arguments.session,
        "segment_ids": arguments.segments,
        "reason": arguments.reason,
    });
    let answer = session.call("context_gc_pin", request)?;
    named(&answer, "pinned", session)
}

pub fn unpin(arguments: &SegmentsArguments, session: &Session) -> Result<(), Failure> {
    let request = json!({"session_id": arguments.session, "segment_ids": arguments.segments});
    let answer = session.call("context_gc_unpin", request)?;
    named(&answer, "unpinned", session)
}

fn named(answer: &Value, field: &str, session: &Session) -> Result<(), Failure> {
    session.output.answer(answer, |answer| {
        let ids: Vec<String> = list(answer, field).iter().filter_map(Value::as_str).map(escaped).collect();
        if ids.is_empty() { String::new() } else { format!("{field}: {}\n", ids.join(", ")) }
    })?;
    say_errors(answer, session)
}

pub fn compress(arguments: &CompressArguments, session: &Session) -> Result<(), Failure> {
    let summary = joined(&arguments.summary).map_or_else(input::read_stdin, Ok)?;
    let request = json!({"session_id": arguments.session, "segment_id": arguments.segment, "summary": summary});
    let answer = session.call("context_compress", request)?;
    session.output.answer(&answer, |answer| {
        let (before, after) = (count(answer, "tokens_before"), count(answer, "tokens_after"));
        let id = escaped(text(answer, "segment_id"));
        format!("{id}: {} tokens instead of {}\n", grouped(after), grouped(before))
    })
}

pub fn focus(arguments: &FocusArguments, session: &Session) -> Result<(), Failure> {
    let mut request = json!({"session_id": arguments.session});
    match arguments.clear {
        true => {
            for field in ["task_id", "active_file", "line_range", "recent_files", "open_files", "breakpoints"] {
                request[field] = Value::Null;
            }
        }
        false => {
            for (field, value) in [("task_id", &arguments.task), ("active_file", &arguments.file)] {
                if let Some(value) = value {
                    request[field] = value.as_str().into();
                }
            }
        }
    }
    let answer = session.call("context_set_focus", request)?;
    session.output.answer(&answer, |answer| {
        let shown: Vec<String> = [("task", "task_id"), ("file", "active_file")]
            .into_iter()
            .filter(|(_, field)| !text(answer, field).is_empty())
            .map(|(word, field)| format!("{word} {}", escaped(text(answer, field))))
            .collect();
        if shown.is_empty() { "nothing in focus\n".to_owned() } else { format!("in focus: {}\n", shown.join(", ")) }
    })
}

pub fn configure(arguments: &ConfigureArguments, session: &Session) -> Result<(), Failure> {
    let request = json!({
        "session_id": arguments.session,
        "budget_tokens": arguments.budget,
        "reserved_tokens": arguments.reserved,
        "mode": arguments.mode,
        "tokenizer": arguments.tokenizer,
        "recent_segments": arguments.recent,
    });
    let answer = session.call("context_gc_configure", request)?;
    session.output.answer(&answer, |answer| {
        let mut table = Table::new(["SETTING", "VALUE"]);
        for (name, value) in answer.as_object().into_iter().flatten().filter(|(name, _)| *name != "session_id") {
            let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            table.row([name.clone(), shown]);
        }
        table.finish()
    })
}

pub fn remove(session_id: &str, session: &Session) -> Result<(), Failure> {
    // The question must not come before the answer that there is no such session.
    session.call("context_get", json!({"session_id": session_id}))?;
    prompt::confirm(
        session,
        &format!("move the session {} and its stash to the trash", render::one_line(session_id, 80)),
    )?;
    let answer = session.call("context_delete_session", json!({"session_id": session_id, "confirm": true}))?;
    session.output.answer(&answer, |answer| {
        let run = text(answer, "run_id");
        format!("in the trash; `rootset undo {run}` brings it back until {}\n", with_age(text(answer, "undo_until")))
    })
}
