//! `rootset import`: memories from another program, or a workspace out of a backup. Looks first, asks, and then adds.

mod apply;
mod bundle;
mod comparison;
pub mod server_memory;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use rootset_model::RunId;
use rootset_service::ServiceError;
use serde::Serialize;

use crate::exit::{Failure, STATUS_CALLER};
use crate::program::Program;
use crate::render::{self, counted, escaped, one_line};
use crate::{input, prompt};
use apply::Applied;
use comparison::Comparison;
use server_memory::Graph;

/// Lines and names that are listed before the rest is only counted.
const SHOWN_MAX: usize = 10;
const MANIFEST_FILE: &str = "manifest.json";

/// Import memories from another program; shows what would be added, then asks
#[derive(Debug, Args)]
pub struct ImportMemoriesArguments {
    /// The JSON lines of @modelcontextprotocol/server-memory (`-` for stdin), or the folder of a backup
    file: PathBuf,
    /// The workspace to import from a backup
    #[arg(long, value_name = "ID")]
    from: Option<String>,
    /// Only show what would be added
    #[arg(long)]
    dry_run: bool,
}

pub fn run(arguments: &ImportMemoriesArguments, program: &Program) -> Result<(), Failure> {
    if let Some(folder) = backup_folder(&arguments.file) {
        return bundle::run(&folder, arguments, program);
    }
    if arguments.from.is_some() {
        return Err(ServiceError::invalid("`--from` is for backups, and the file is not a backup").into());
    }
    let shown = arguments.file.display().to_string();
    let graph = server_memory::parse(&input::read_file(&arguments.file)?);
    if graph.is_empty() {
        return Err(nothing_understood(&shown, &graph).into());
    }
    let comparison = Comparison::make(&graph, program)?;
    if !program.output.in_json() {
        program.output.text(&preview(&comparison, &graph))?;
    }
    if arguments.dry_run || comparison.is_empty() {
        return program.output.answer(&Answer::new(&comparison, &graph, None), |_| String::new());
    }
    let workspace = program.workspace_id()?;
    prompt::confirm(program, &format!("add {} to workspace `{workspace}`", amounts(&comparison)))?;
    let applied = apply::apply(&comparison, program)?;
    program.output.answer(&Answer::new(&comparison, &graph, Some(&applied)), |_| in_words(&applied))?;
    if !program.output.in_json() {
        remarks(&applied, program);
    }
    if applied.failed.is_empty() { Ok(()) } else { Err(Failure::Said(STATUS_CALLER)) }
}

/// The folder itself, or the manifest in it.
fn backup_folder(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        return Some(path.to_owned());
    }
    let is_manifest = path.file_name().is_some_and(|name| name == MANIFEST_FILE);
    let folder = path.parent().filter(|_| is_manifest)?;
    Some(if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() })
}

fn nothing_understood(file: &str, graph: &Graph) -> ServiceError {
    let message = match graph.problems.first() {
        Some(problem) => format!("`{file}` is not a file of server-memory; line {}: {}", problem.line, problem.what),
        None => format!("`{file}` is empty"),
    };
    ServiceError::invalid(message).with_hint(
        "lines look like {\"type\": \"entity\", \"name\": …, \"entityType\": …, \"observations\": […]}; a backup is a folder",
    )
}

fn amounts(comparison: &Comparison<'_>) -> String {
    let memories = comparison.new.len() + comparison.changed.len();
    [
        counted(memories, "memory", "memories"),
        counted(comparison.entities.len(), "entity", "entities"),
        counted(comparison.relations.len(), "relation", "relations"),
    ]
    .join(", ")
}

fn preview(comparison: &Comparison<'_>, graph: &Graph) -> String {
    let mut shown = String::new();
    let mut line = |text: String| writeln!(shown, "{text}").expect("writing to a string cannot fail");
    let mut group = |names: Vec<&str>, mark: &str, what: &str| {
        if names.is_empty() {
            return;
        }
        line(format!("{} {what}", render::bold(counted(names.len(), "memory", "memories"))));
        for name in names.iter().take(SHOWN_MAX) {
            line(format!("  {mark} {}", one_line(name, 100)));
        }
        if names.len() > SHOWN_MAX {
            line(format!("  … and {} more", names.len() - SHOWN_MAX));
        }
    };
    group(comparison.new.iter().map(|it| it.name.as_str()).collect(), "+", "to add");
    group(comparison.changed.iter().map(|it| it.entity.name.as_str()).collect(), "~", "with a newer text to add");
    group(
        comparison.edited.iter().map(|it| it.name.as_str()).collect(),
        "=",
        "left alone: edited here since the last import",
    );
    group(comparison.removed.iter().map(|it| it.name.as_str()).collect(), "-", "left in the trash");
    line(format!(
        "{} and {} to add to the graph",
        counted(comparison.entities.len(), "entity", "entities"),
        counted(comparison.relations.len(), "relation", "relations")
    ));
    line(format!("already there: {}", counted(comparison.unchanged, "memory", "memories")));
    for problem in graph.problems.iter().take(SHOWN_MAX) {
        line(render::warning(format!("line {} skipped: {}", problem.line, escaped(&problem.what))));
    }
    if graph.problems.len() > SHOWN_MAX {
        line(render::warning(format!("and {}", counted(graph.problems.len() - SHOWN_MAX, "more line", "more lines"))));
    }
    shown
}

fn in_words(applied: &Applied) -> String {
    format!(
        "added {}, {}, {}\n",
        counted(applied.created, "memory", "memories"),
        counted(applied.entities, "entity", "entities"),
        counted(applied.relations, "relation", "relations"),
    )
}

fn remarks(applied: &Applied, program: &Program) {
    for (name, message) in applied.failed.iter().take(SHOWN_MAX) {
        let message = escaped(&render::for_people(message));
        program.output.talk(&render::warning(format!("not added: {}: {message}", one_line(name, 100))));
    }
    if applied.failed.len() > SHOWN_MAX {
        program.output.talk(&render::warning(format!("and {} more", applied.failed.len() - SHOWN_MAX)));
    }
    if applied.created > 0 {
        program
            .output
            .talk(&format!("to remove the memories again: rootset forget --source {}", server_memory::SOURCE));
    }
    for run in &applied.runs {
        program.output.talk(&format!("to remove the graph again: rootset undo {run}"));
    }
}

/// What `--json` prints: an import is put together here, not by an operation.
#[derive(Serialize)]
struct Answer<'a> {
    dry_run: bool,
    memories: MemoryCounts,
    entities: usize,
    relations: usize,
    skipped: Skipped<'a>,
    #[serde(flatten)]
    applied: Option<AppliedAnswer<'a>>,
}

#[derive(Serialize)]
struct MemoryCounts {
    new: usize,
    changed: usize,
    unchanged: usize,
    edited_here: usize,
    in_trash: usize,
}

#[derive(Serialize)]
struct Skipped<'a> {
    count: usize,
    first: Vec<SkippedLine<'a>>,
}

#[derive(Serialize)]
struct SkippedLine<'a> {
    line: usize,
    reason: &'a str,
}

#[derive(Serialize)]
struct AppliedAnswer<'a> {
    created: usize,
    failed: Vec<FailedMemory<'a>>,
    run_ids: &'a [RunId],
}

#[derive(Serialize)]
struct FailedMemory<'a> {
    name: &'a str,
    message: &'a str,
}

impl<'a> Answer<'a> {
    fn new(comparison: &Comparison<'_>, graph: &'a Graph, applied: Option<&'a Applied>) -> Self {
        let problems = graph.problems.iter().take(SHOWN_MAX);
        Self {
            dry_run: applied.is_none(),
            memories: MemoryCounts {
                new: comparison.new.len(),
                changed: comparison.changed.len(),
                unchanged: comparison.unchanged,
                edited_here: comparison.edited.len(),
                in_trash: comparison.removed.len(),
            },
            entities: comparison.entities.len(),
            relations: comparison.relations.len(),
            skipped: Skipped {
                count: graph.problems.len(),
                first: problems.map(|it| SkippedLine { line: it.line, reason: &it.what }).collect(),
            },
            applied: applied.map(|applied| AppliedAnswer {
                created: applied.created,
                failed: applied.failed.iter().map(|(name, message)| FailedMemory { name, message }).collect(),
                run_ids: &applied.runs,
            }),
        }
    }
}
