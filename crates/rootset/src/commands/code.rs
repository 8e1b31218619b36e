//! `rootset code`: reading the code index.

use std::fmt::Write;

use clap::{Args, Subcommand, ValueEnum};
use rootset_api::{
    CallsAnswer, Certainty, CodeAnswer, CodeMode, Direction, FindReferences, GetCallees, GetCallers, GetSymbol,
    ListRepos, ReferenceKind, ReferencesAnswer, ReposAnswer, SearchCode, SymbolAnswer, SymbolResult, TestCode,
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
    /// List what a file defines: signatures without bodies
    Outline(OutlineArguments),
    /// List the callers of a symbol
    #[command(defer(described_by::<GetCallers>))]
    Callers(CallsArguments),
    /// List what a symbol calls
    #[command(defer(described_by::<GetCallees>))]
    Callees(CallsArguments),
    /// List who refers to a symbol: calls, imports, subclasses, overrides, types, values
    References(ReferencesArguments),
    /// List the repositories
    Repos,
}

#[derive(Debug, Args)]
#[command(defer(described_by::<SearchCode>))]
pub struct CodeSearchArguments {
    /// Words or names
    #[arg(required = true)]
    query: Vec<String>,
    #[arg(long, value_name = "NAME")]
    repo: Option<String>,
    #[arg(long = "language", short = 'l', value_name = "LANGUAGE")]
    languages: Vec<String>,
    #[arg(long)]
    path: Option<String>,
    #[arg(long)]
    kind: Option<String>,
    #[arg(long, value_enum)]
    tests: Option<Tests>,
    #[arg(long, value_enum)]
    mode: Option<Mode>,
    #[arg(long)]
    generated: bool,
    #[arg(long, short = 'n')]
    limit: Option<i64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mode {
    Words,
    Exact,
    Regex,
}

impl From<Mode> for CodeMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Words => Self::Words,
            Mode::Exact => Self::Exact,
            Mode::Regex => Self::Regex,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Tests {
    Below,
    With,
    Without,
    Only,
}

impl From<Tests> for TestCode {
    fn from(tests: Tests) -> Self {
        match tests {
            Tests::Below => Self::Below,
            Tests::With => Self::With,
            Tests::Without => Self::Without,
            Tests::Only => Self::Only,
        }
    }
}

#[derive(Debug, Args)]
#[command(defer(described_by::<GetSymbol>))]
pub struct SymbolArguments {
    #[arg(id = "qualified_name", value_name = "NAME")]
    name: String,
    #[arg(long = "file", id = "file_path", value_name = "PATH")]
    file: Option<String>,
    #[arg(long, value_name = "NAME")]
    repo: Option<String>,
    #[arg(long)]
    full: bool,
    #[arg(long)]
    offset: Option<i64>,
}

#[derive(Debug, Args)]
#[command(defer(described_by::<GetSymbol>))]
pub struct OutlineArguments {
    #[arg(id = "file_path", value_name = "PATH")]
    file: String,
    #[arg(long, value_name = "NAME")]
    repo: Option<String>,
    #[arg(long)]
    offset: Option<i64>,
}

#[derive(Debug, Args)]
pub struct CallsArguments {
    #[arg(id = "qualified_name", value_name = "NAME")]
    name: String,
    #[arg(long, value_name = "NAME")]
    repo: Option<String>,
    #[arg(long)]
    offset: Option<i64>,
    #[arg(long, short = 'n')]
    limit: Option<i64>,
}

#[derive(Debug, Args)]
#[command(defer(described_by::<FindReferences>))]
pub struct ReferencesArguments {
    #[arg(id = "symbol", value_name = "NAME")]
    name: String,
    #[arg(long, value_name = "NAME")]
    repo: Option<String>,
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    #[arg(long, value_enum)]
    direction: Option<Way>,
    #[arg(long)]
    depth: Option<i64>,
    #[arg(long)]
    offset: Option<i64>,
    #[arg(long, short = 'n')]
    limit: Option<i64>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    Calls,
    Types,
    Bases,
    Overrides,
    Values,
    Imports,
}

impl From<Kind> for ReferenceKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Calls => Self::Calls,
            Kind::Types => Self::Types,
            Kind::Bases => Self::Bases,
            Kind::Overrides => Self::Overrides,
            Kind::Values => Self::Values,
            Kind::Imports => Self::Imports,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Way {
    In,
    Out,
}

impl From<Way> for Direction {
    fn from(way: Way) -> Self {
        match way {
            Way::In => Self::In,
            Way::Out => Self::Out,
        }
    }
}

pub fn run(command: CodeCommand, program: &Program) -> Result<(), Failure> {
    let is_empty = match command {
        CodeCommand::Search(arguments) => {
            let (query, languages) = (arguments.query.join(" "), given(arguments.languages));
            let answer = program.run(SearchCode {
                workspace_id: None,
                query,
                repo: arguments.repo,
                languages,
                path: arguments.path,
                kind: arguments.kind,
                tests: arguments.tests.map(TestCode::from),
                mode: arguments.mode.map(CodeMode::from),
                generated: arguments.generated.then_some(true),
                limit: arguments.limit,
            })?;
            program.output.answer(&answer, found)?;
            talk_of_age(&answer.changed_files, &answer.indexing, program);
            talk_of_lines(&answer, program);
            answer.results.is_empty()
        }
        CodeCommand::Symbol(arguments) => {
            let SymbolArguments { name, file: file_path, repo, full, offset } = arguments;
            let (qualified_name, full) = (Some(name), Some(full));
            let answer =
                program.run(GetSymbol { workspace_id: None, qualified_name, file_path, repo, full, offset })?;
            program.output.answer(&answer, symbols)?;
            about_symbols(&answer, program)
        }
        CodeCommand::Outline(arguments) => {
            let OutlineArguments { file, repo, offset } = arguments;
            let answer = program.run(GetSymbol { file_path: Some(file), repo, offset, ..GetSymbol::default() })?;
            program.output.answer(&answer, outline)?;
            about_symbols(&answer, program)
        }
        CodeCommand::Callers(arguments) => {
            let CallsArguments { name: qualified_name, repo, offset, limit } = arguments;
            return show_calls(
                program.run(GetCallers { workspace_id: None, qualified_name, repo, offset, limit })?,
                program,
            );
        }
        CodeCommand::Callees(arguments) => {
            let CallsArguments { name: qualified_name, repo, offset, limit } = arguments;
            return show_calls(
                program.run(GetCallees { workspace_id: None, qualified_name, repo, offset, limit })?,
                program,
            );
        }
        CodeCommand::References(arguments) => {
            let ReferencesArguments { name: symbol, repo, kind, direction, depth, offset, limit } = arguments;
            let (kind, direction) = (kind.map(Into::into), direction.map(Into::into));
            let request = FindReferences { workspace_id: None, symbol, repo, kind, direction, depth, offset, limit };
            let answer = program.run(request)?;
            program.output.answer(&answer, reference_table)?;
            talk_of_age(&answer.changed_files, &answer.indexing, program);
            let nearest = answer.nearest.as_deref().unwrap_or_default();
            let ReferencesAnswer { known, total, returned, unresolved, elsewhere, .. } = answer;
            return Listed { known, nearest, total, returned, unresolved, elsewhere }.talk(program);
        }
        CodeCommand::Repos => return program.output.answer(&program.run(ListRepos::default())?, repos),
    };
    if !program.output.in_json() && is_empty {
        program.output.talk("nothing found; `rootset code repos` lists what is indexed");
    }
    Ok(())
}

/// What could not be brought up to date before the answer was given.
fn talk_of_age(changed_files: &Option<Vec<String>>, indexing: &Option<Vec<String>>, program: &Program) {
    if program.output.in_json() {
        return;
    }
    if let Some(files) = changed_files {
        program.output.talk(&format!("changed since they were indexed: {}", escaped(&files.join(", "))));
    }
    if let Some(repos) = indexing {
        let repos = escaped(&repos.join(", "));
        program.output.talk(&format!("still indexing {repos}; ask again for what is missing"));
    }
}

/// How much of what matches is shown, and what was not searched.
fn talk_of_lines(answer: &CodeAnswer, program: &Program) {
    if program.output.in_json() {
        return;
    }
    let shown = answer.results.len();
    if let Some(total) = answer.total.filter(|total| shown < *total) {
        program.output.talk(&format!("{shown} of {total} lines shown; `--limit` shows more"));
    }
    if let Some(files) = answer.unsearched {
        let files = if files == 1 { "1 file was".to_owned() } else { format!("{files} files were") };
        program.output.talk(&format!("{files} not searched to the end; narrow the search with `--path`"));
    }
}

/// What an answer about symbols says beside its results; whether nothing was found.
fn about_symbols(answer: &SymbolAnswer, program: &Program) -> bool {
    talk_of_age(&answer.changed_files, &answer.indexing, program);
    if program.output.in_json() {
        return false;
    }
    if let Some(nearest) = answer.nearest.as_ref().filter(|_| !answer.known) {
        program.output.talk(&format!("not in the index; did you mean `{}`?", escaped(&nearest.join("`, `"))));
        return false;
    }
    if let Some(total) = answer.total.filter(|total| answer.results.len() < *total) {
        let shown = answer.results.len();
        program.output.talk(&format!("{shown} of {total} shown; `--offset` shows the others"));
    }
    !answer.known
}

fn show_calls(answer: CallsAnswer, program: &Program) -> Result<(), Failure> {
    program.output.answer(&answer, call_table)?;
    talk_of_age(&answer.changed_files, &answer.indexing, program);
    let nearest = answer.nearest.as_deref().unwrap_or_default();
    let CallsAnswer { known, total, returned, unresolved, elsewhere, .. } = answer;
    Listed { known, nearest, total, returned, unresolved, elsewhere }.talk(program)
}

/// What an answer says beside its results.
struct Listed<'a> {
    known: bool,
    nearest: &'a [String],
    total: usize,
    returned: usize,
    unresolved: usize,
    elsewhere: usize,
}

impl Listed<'_> {
    fn talk(&self, program: &Program) -> Result<(), Failure> {
        if program.output.in_json() {
            return Ok(());
        }
        if !self.known {
            program.output.talk(&match self.nearest {
                [] => "no such symbol; `rootset code repos` lists what is indexed".to_owned(),
                names => format!("no such symbol; did you mean {}?", names.join(", ")),
            });
        } else if self.total == 0 {
            program.output.talk("nothing found");
        } else if self.returned < self.total {
            program.output.talk(&format!("{} of {}; `--offset` shows more", self.returned, self.total));
        }
        let calls = |count| if count == 1 { "1 call".to_owned() } else { format!("{count} calls") };
        if self.unresolved > 0 {
            program.output.talk(&format!("{} of this name could not be placed", calls(self.unresolved)));
        }
        if self.elsewhere > 0 {
            program.output.talk(&format!("{} of other symbols, or of code that is not indexed", calls(self.elsewhere)));
        }
        Ok(())
    }
}

fn reference_table(answer: &ReferencesAnswer) -> String {
    let mut table = Table::new([
        Column::fixed("KIND"),
        Column::name("NAME"),
        Column::name("FILE"),
        Column::fixed("LINE"),
        Column::fixed(""),
    ]);
    for it in &answer.results {
        table.row([
            shown_kind(it.kind).to_owned(),
            escaped(&it.qualified_name),
            escaped(&format!("{}/{}", it.repo, it.file_path)),
            it.line.to_string(),
            maybe(it.certainty),
        ]);
    }
    let mut shown = if answer.results.is_empty() { String::new() } else { table.finish() };
    if let Some(files) = answer.files.as_deref().filter(|files| !files.is_empty()) {
        let mut table =
            Table::new([Column::name("FILE"), Column::fixed("STEPS"), Column::fixed(""), Column::name("THROUGH")]);
        for file in files {
            table.row([
                escaped(&format!("{}/{}", file.repo, file.file_path)),
                file.steps.to_string(),
                if file.is_test { "test".to_owned() } else { String::new() },
                escaped(&file.symbols.join(", ")),
            ]);
        }
        if !shown.is_empty() {
            shown.push('\n');
        }
        shown.push_str(&table.finish());
    }
    shown
}

fn shown_kind(kind: ReferenceKind) -> &'static str {
    match kind {
        ReferenceKind::Calls => "calls",
        ReferenceKind::Types => "types",
        ReferenceKind::Bases => "bases",
        ReferenceKind::Overrides => "overrides",
        ReferenceKind::Values => "values",
        ReferenceKind::Imports => "imports",
    }
}

fn maybe(certainty: Certainty) -> String {
    if certainty == Certainty::Possible { "maybe".to_owned() } else { String::new() }
}

fn found(answer: &CodeAnswer) -> String {
    let blocks = answer.results.iter().map(|it| {
        let name = it.qualified_name.as_deref().unwrap_or(&it.file_path);
        block(name, &it.kind, &location(&it.repo, &it.file_path, it.lines), &it.snippet)
    });
    blocks.collect::<Vec<_>>().join("\n")
}

fn symbols(answer: &SymbolAnswer) -> String {
    let shown = |it: &SymbolResult| {
        let text = it.text.as_deref().unwrap_or_default();
        block(&it.qualified_name, &it.kind, &location(&it.repo, &it.file_path, it.lines), text)
    };
    answer.results.iter().map(shown).collect::<Vec<_>>().join("\n")
}

/// Signatures under their lines.
fn outline(answer: &SymbolAnswer) -> String {
    if answer.results.is_empty() {
        return String::new();
    }
    let mut table =
        Table::new([Column::fixed("LINE"), Column::name("NAME"), Column::fixed("KIND"), Column::name("SIGNATURE")]);
    for it in &answer.results {
        table.row([
            it.lines[0].to_string(),
            escaped(&it.qualified_name),
            it.kind.replace('_', " "),
            escaped(&it.signature),
        ]);
    }
    table.finish()
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
            maybe(call.certainty),
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
