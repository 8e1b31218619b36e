//! `rootset code`: reading the code index.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{given, joined};
use crate::arguments::{CallsArguments, CodeCommand, CodeSearchArguments, SymbolArguments};
use crate::exit::Failure;
use crate::render::{self, Table, count, escaped, flag, list, text};
use crate::session::Session;

pub fn run(command: CodeCommand, session: &Session) -> Result<(), Failure> {
    let (answer, show): (Value, fn(&Value) -> String) = match command {
        CodeCommand::Search(arguments) => (search(arguments, session)?, found),
        CodeCommand::Symbol(arguments) => (symbol(arguments, session)?, symbols),
        CodeCommand::Callers(arguments) => (calls("get_callers", arguments, session)?, call_table),
        CodeCommand::Callees(arguments) => (calls("get_callees", arguments, session)?, call_table),
        CodeCommand::Repos => return session.output.answer(&session.call("list_repos", json!({}))?, repos),
    };
    session.output.answer(&answer, show)?;
    if !session.output.in_json() && list(&answer, "results").is_empty() {
        session.output.talk("nothing found");
    }
    Ok(())
}

fn search(arguments: CodeSearchArguments, session: &Session) -> Result<Value, Failure> {
    let request = json!({
        "query": joined(&arguments.query),
        "repo": arguments.repo,
        "languages": given(arguments.languages),
        "limit": arguments.limit,
    });
    Ok(session.call("search_code", request)?)
}

fn symbol(arguments: SymbolArguments, session: &Session) -> Result<Value, Failure> {
    Ok(session.call("get_symbol", json!({"qualified_name": arguments.name, "repo": arguments.repo}))?)
}

fn calls(operation: &str, arguments: CallsArguments, session: &Session) -> Result<Value, Failure> {
    let request = json!({"qualified_name": arguments.name, "repo": arguments.repo, "limit": arguments.limit});
    Ok(session.call(operation, request)?)
}

fn found(answer: &Value) -> String {
    blocks(answer, |result| text(result, "snippet"))
}

fn symbols(answer: &Value) -> String {
    blocks(answer, |result| text(result, "text"))
}

/// Where it is, what it is, and its text as it is indented.
fn blocks(answer: &Value, body: fn(&Value) -> &str) -> String {
    let mut shown = String::new();
    for (place, result) in list(answer, "results").iter().enumerate() {
        let separator = if place == 0 { "" } else { "\n" };
        let name = [text(result, "qualified_name"), text(result, "file_path")].into_iter().find(|it| !it.is_empty());
        let name = render::bold(escaped(name.unwrap_or_default()));
        let about = format!("{} in {}", text(result, "kind"), location(result));
        writeln!(shown, "{separator}{name}  {}", render::dim(escaped(&about)))
            .expect("writing to a string cannot fail");
        for line in body(result).lines() {
            writeln!(shown, "  {}", escaped(line)).expect("writing to a string cannot fail");
        }
    }
    shown
}

fn location(result: &Value) -> String {
    let line = result.get("lines").and_then(|lines| lines.get(0)).and_then(Value::as_i64).unwrap_or(1);
    format!("{}/{}:{line}", text(result, "repo"), text(result, "file_path"))
}

fn call_table(answer: &Value) -> String {
    let results = list(answer, "results");
    if results.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["NAME", "FILE", "LINE", ""]);
    for call in results {
        table.row([
            escaped(text(call, "qualified_name")).to_string(),
            escaped(&format!("{}/{}", text(call, "repo"), text(call, "file_path"))).to_string(),
            count(call, "line").to_string(),
            if flag(call, "ambiguous") { "maybe".to_owned() } else { String::new() },
        ]);
    }
    table.finish()
}

fn repos(answer: &Value) -> String {
    let repos = list(answer, "repos");
    if repos.is_empty() {
        return "no repository is indexed\n".to_owned();
    }
    let mut table = Table::new(["REPO", "FILES", "STALE", "LAST RUN", "ROOT"]);
    for repo in repos {
        table.row([
            escaped(text(repo, "repo")).to_string(),
            count(repo, "files").to_string(),
            count(repo, "stale_memories").to_string(),
            render::age(text(repo, "last_run_at")),
            escaped(text(repo, "root")).to_string(),
        ]);
    }
    table.finish()
}
