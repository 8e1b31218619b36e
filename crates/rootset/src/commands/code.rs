//! `rootset code`: reading the code index.

use std::fmt::Write;

use clap::{Args, Subcommand};
use rootset_api::{
    CallsAnswer, CodeAnswer, GetCallees, GetCallers, GetSymbol, ListRepos, ReposAnswer, SearchCode, SymbolAnswer,
};

use super::given;
use crate::arguments::described_by;
use crate::exit::Failure;
use crate::program::Program;
use crate::render::{self, Column, Table, escaped};

#[derive(Debug, Subcommand)]
pub enum CodeCommand {
    /// Find functions, classes and passages by words or names
    Search(CodeSearchArguments),
    /// Show a symbol by its name; the last parts of the name are enough
    Symbol(SymbolArguments),
    /// List the callers of a symbol
    #[command(defer(described_by::<GetCallers>))]
    Callers(CallsArguments),
    /// List what a symbol calls
    #[command(defer(described_by::<GetCallees>))]
    Callees(CallsArguments),
    /// List the repositories
    Repos,
}

#[derive(Debug, Args)]
#[command(defer(described_by::<SearchCode>))]
pub struct CodeSearchArguments {
    #[arg(required = true)]
    query: Vec<String>,
    #[arg(long, value_name = "NAME")]
    repo: Option<String>,
    #[arg(long = "language", short = 'l', value_name = "LANGUAGE")]
    languages: Vec<String>,
    #[arg(long, short = 'n')]
    limit: Option<i64>,
}

#[derive(Debug, Args)]
#[command(defer(described_by::<GetSymbol>))]
pub struct SymbolArguments {
    #[arg(id = "qualified_name", value_name = "NAME")]
    name: String,
    #[arg(long, value_name = "NAME")]
    repo: Option<String>,
}

#[derive(Debug, Args)]
pub struct CallsArguments {
    #[arg(id = "qualified_name", value_name = "NAME")]
    name: String,
    #[arg(long, value_name = "NAME")]
    repo: Option<String>,
    #[arg(long, short = 'n')]
    limit: Option<i64>,
}

pub fn run(command: CodeCommand, program: &Program) -> Result<(), Failure> {
    let is_empty = match command {
        CodeCommand::Search(arguments) => {
            let (query, languages) = (arguments.query.join(" "), given(arguments.languages));
            let (repo, limit) = (arguments.repo, arguments.limit);
            let answer = program.run(SearchCode { workspace_id: None, query, repo, languages, limit })?;
            program.output.answer(&answer, found)?;
            answer.results.is_empty()
        }
        CodeCommand::Symbol(arguments) => {
            let (qualified_name, repo) = (arguments.name, arguments.repo);
            let answer = program.run(GetSymbol { workspace_id: None, qualified_name, repo })?;
            program.output.answer(&answer, symbols)?;
            answer.results.is_empty()
        }
        CodeCommand::Callers(arguments) => {
            let (qualified_name, repo, limit) = (arguments.name, arguments.repo, arguments.limit);
            show_calls(program.run(GetCallers { workspace_id: None, qualified_name, repo, limit })?, program)?
        }
        CodeCommand::Callees(arguments) => {
            let (qualified_name, repo, limit) = (arguments.name, arguments.repo, arguments.limit);
            show_calls(program.run(GetCallees { workspace_id: None, qualified_name, repo, limit })?, program)?
        }
        CodeCommand::Repos => return program.output.answer(&program.run(ListRepos::default())?, repos),
    };
    if !program.output.in_json() && is_empty {
        program.output.talk("nothing found; `rootset code repos` lists what is indexed");
    }
    Ok(())
}

/// Answers whether there was nothing to show.
fn show_calls(answer: CallsAnswer, program: &Program) -> Result<bool, Failure> {
    program.output.answer(&answer, call_table)?;
    Ok(answer.results.is_empty())
}

fn found(answer: &CodeAnswer) -> String {
    let blocks = answer.results.iter().map(|it| {
        let name = it.qualified_name.as_deref().unwrap_or(&it.file_path);
        block(name, &it.kind, &location(&it.repo, &it.file_path, it.lines), &it.snippet)
    });
    blocks.collect::<Vec<_>>().join("\n")
}

fn symbols(answer: &SymbolAnswer) -> String {
    let blocks = answer
        .results
        .iter()
        .map(|it| block(&it.qualified_name, &it.kind, &location(&it.repo, &it.file_path, it.lines), &it.text));
    blocks.collect::<Vec<_>>().join("\n")
}

/// Where it is, what it is, and its text as it is indented.
fn block(name: &str, kind: &str, location: &str, body: &str) -> String {
    let mut shown = String::new();
    let mut line = |text: String| writeln!(shown, "{text}").expect("writing to a string cannot fail");
    let about = format!("{kind} in {location}");
    line(format!("{}  {}", render::bold(escaped(name)), render::dim(escaped(&about))));
    body.lines().for_each(|text| line(format!("  {}", escaped(text))));
    shown
}

fn location(repo: &str, file_path: &str, [first, _]: [i64; 2]) -> String {
    format!("{repo}/{file_path}:{first}")
}

fn call_table(answer: &CallsAnswer) -> String {
    if answer.results.is_empty() {
        return String::new();
    }
    let mut table = Table::new([Column::name("NAME"), Column::name("FILE"), Column::fixed("LINE"), Column::fixed("")]);
    for call in &answer.results {
        table.row([
            escaped(&call.qualified_name),
            escaped(&format!("{}/{}", call.repo, call.file_path)),
            call.line.to_string(),
            if call.ambiguous { "maybe".to_owned() } else { String::new() },
        ]);
    }
    table.finish()
}

fn repos(answer: &ReposAnswer) -> String {
    if answer.repos.is_empty() {
        return "no repository is indexed; `rootset index FOLDER` indexes one\n".to_owned();
    }
    let mut table = Table::new([
        Column::name("REPO"),
        Column::fixed("FILES"),
        Column::fixed("STALE"),
        Column::fixed("LAST RUN"),
        Column::name("ROOT"),
    ]);
    for repo in &answer.repos {
        table.row([
            escaped(&repo.repo),
            repo.files.to_string(),
            repo.stale_memories.to_string(),
            repo.last_run_at.map(render::age).unwrap_or_default(),
            escaped(&repo.root),
        ]);
    }
    table.finish()
}
