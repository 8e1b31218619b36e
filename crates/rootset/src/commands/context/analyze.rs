//! Where the tokens of a session went: `rootset context analyze` and `top`.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use rootset_api::ErrorCode;
use rootset_service::{Caller, FrontEnd, Service, ServiceError};
use rootset_store::Store;
use serde_json::{Value, json};

use super::files::{detect, import_request};
use crate::arguments::AnalyzeArguments;
use crate::exit::Failure;
use crate::render::{self, Table, count, escaped, flag, list, one_line, text};
use crate::session::Session;

pub fn analyze(arguments: &AnalyzeArguments, session: &Session) -> Result<(), Failure> {
    let answer = match Path::new(&arguments.session) {
        file if file.is_file() => analyze_file(file, arguments, session)?,
        _ => session.call("context_gc_analyze", request(&arguments.session, arguments))?,
    };
    session.output.answer(&answer, one_screen)?;
    if !session.output.in_json() && !list(&answer["plan"], "stash_segments").is_empty() {
        session.output.talk("nothing was changed");
    }
    Ok(())
}

fn request(session_id: &str, arguments: &AnalyzeArguments) -> Value {
    json!({"session_id": session_id, "target_tokens": arguments.free, "max_candidates": arguments.limit})
}

/// In a database of its own that is gone afterwards: looking at a file imports nothing.
fn analyze_file(file: &Path, arguments: &AnalyzeArguments, session: &Session) -> Result<Value, ServiceError> {
    const NAME: &str = "file";
    let failed =
        |error: std::io::Error| ServiceError::new(ErrorCode::Internal, format!("no temporary folder: {error}"));
    let folder = tempfile::tempdir().map_err(failed)?;
    let store = Store::open_sqlite(&folder.path().join("analysis.db"))?;
    let settings = session.configuration()?.settings.clone();
    let service = Arc::new(Service::new(store, settings)?);
    let caller = Caller::new(FrontEnd::CommandLine, "cli", "default".to_owned());
    let format = arguments.format.map_or_else(|| detect(file), Ok)?;
    if let Some(budget) = arguments.budget {
        let request = json!({"session_id": NAME, "budget_tokens": budget});
        service.call(&caller, "context_gc_configure", request)?;
    }
    service.call(&caller, "context_import", import_request(NAME, file, format))?;
    let mut answer = service.call(&caller, "context_gc_analyze", request(NAME, arguments))?;
    // A plan of a database that is gone is none.
    if let Some(plan) = answer.get_mut("plan").and_then(Value::as_object_mut) {
        plan.remove("plan_id");
        plan.remove("expires_at");
    }
    Ok(answer)
}

fn one_screen(answer: &Value) -> String {
    let mut shown = String::new();
    let mut line = |text: &str| writeln!(shown, "{text}").expect("writing to a string cannot fail");
    line(&usage_line(&answer["usage"]));
    line("");
    line(by_type(answer).trim_end());
    line("");
    line(&format!("must stay: {}", roots(answer)));
    let candidates = list(answer, "candidates");
    let total = count(answer, "candidates_total");
    if candidates.is_empty() {
        line("nothing may leave");
    } else {
        line(&format!("may leave: {}; first:", render::counted(total, "segment", "segments")));
        line("");
        line(candidate_table(candidates).trim_end());
    }
    line("");
    line(&plan_lines(&answer["plan"]));
    shown
}

pub fn usage_line(usage: &Value) -> String {
    let percent = usage.get("percent").and_then(Value::as_f64).unwrap_or_default();
    let used = format!("{} tokens", grouped(count(usage, "tokens")));
    let shown = format!("{}, {percent:.0} % of {}", render::bold(used), grouped(count(usage, "budget_tokens")));
    match flag(usage, "over_limit") {
        true => format!("{shown}  {}", render::warning("over the budget")),
        false => shown,
    }
}

fn by_type(answer: &Value) -> String {
    let empty = serde_json::Map::new();
    let tokens = answer.get("tokens_by_type").and_then(Value::as_object).unwrap_or(&empty);
    let mut types: Vec<(&str, i64)> =
        tokens.iter().map(|(name, tokens)| (name.as_str(), tokens.as_i64().unwrap_or(0))).collect();
    types.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let all: i64 = types.iter().map(|(_, tokens)| tokens).sum();
    let mut table = Table::new(["TYPE", "TOKENS", "SHARE"]);
    for (name, tokens) in types {
        let share = tokens as f64 / all.max(1) as f64 * 100.0;
        table.row([name.to_owned(), grouped(tokens), format!("{share:.0} %")]);
    }
    table.finish()
}

fn roots(answer: &Value) -> String {
    let kinds = answer.get("roots").and_then(Value::as_object);
    let kinds: Vec<String> =
        kinds.into_iter().flatten().map(|(kind, count)| format!("{count} {}", kind.replace('_', " "))).collect();
    if kinds.is_empty() { "nothing".to_owned() } else { kinds.join(", ") }
}

fn candidate_table(candidates: &[Value]) -> String {
    let mut table = Table::new(["SEGMENT", "TYPE", "TOKENS", "SCORE", "WHY"]);
    for candidate in candidates {
        let score = candidate.get("score").and_then(Value::as_f64).unwrap_or_default();
        table.row([
            one_line(text(candidate, "segment_id"), 40),
            text(candidate, "type").to_owned(),
            grouped(count(candidate, "tokens")),
            format!("{score:.2}"),
            one_line(text(candidate, "reason"), 120),
        ]);
    }
    table.finish()
}

pub fn plan_lines(plan: &Value) -> String {
    let (stash, delete) = (list(plan, "stash_segments").len(), list(plan, "delete_segments").len());
    let mut shown = format!("plan: {}", escaped(text(plan, "reason")));
    if stash > 0 {
        let lost = grouped(count(plan, "cache_tokens_lost"));
        write!(shown, "\n      stash {stash}; {lost} tokens of a cached prompt are read anew")
            .expect("writing to a string cannot fail");
    }
    if delete > 0 {
        write!(shown, "\n      delete {delete} that were stashed long ago").expect("writing to a string cannot fail");
    }
    let compress: Vec<String> =
        list(plan, "compress_candidates").iter().filter_map(Value::as_str).map(escaped).collect();
    if !compress.is_empty() {
        let first = compress.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
        write!(shown, "\n      long and cold, worth a summary: {first}").expect("writing to a string cannot fail");
    }
    shown
}

pub fn top(session_id: &str, limit: i64, session: &Session) -> Result<(), Failure> {
    let request = json!({"session_id": session_id, "max_candidates": 1, "max_retainers": limit});
    let answer = session.call("context_gc_analyze", request)?;
    session.output.answer(&answer, |answer| {
        let mut table = Table::new(["SEGMENT", "TYPE", "TOKENS", "RETAINED", "KEPT AS"]);
        for retainer in list(answer, "retainers") {
            table.row([
                one_line(text(retainer, "segment_id"), 60),
                text(retainer, "type").to_owned(),
                grouped(count(retainer, "tokens")),
                grouped(count(retainer, "retained_tokens")),
                text(retainer, "root").replace('_', " "),
            ]);
        }
        table.finish()
    })
}

/// 12480 as 12,480.
pub fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if number < 0 { format!("-{grouped}") } else { grouped }
}
