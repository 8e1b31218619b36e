//! `rootset search`.

use std::fmt::Write;

use clap::Args;
use rootset_api::{
    Known, ListWorkspaces, MemoryOf, MemoryResult, SearchAnswer, SearchMemory, SearchMode, SearchResult,
};
use serde::Serialize;

use super::{given, joined, times};
use crate::arguments::described_by;
use crate::exit::Failure;
use crate::program::Program;
use crate::render::{self, Column, Table, age, escaped, one_line};

const TOPIC_CHARS: usize = 100;
const SNIPPET_CHARS: usize = 320;
/// Names shown where nothing was found: a line of them.
const NEAREST_SHOWN: usize = 5;

/// Find memories, or the entities they mention
#[derive(Debug, Args)]
#[command(defer(described_by::<SearchMemory>))]
pub struct SearchArguments {
    query: Vec<String>,
    #[arg(long, value_name = "WHAT", conflicts_with_all = ["query", "entities", "explain", "all"])]
    about: Option<String>,
    #[arg(long, short = 'n', value_name = "COUNT")]
    limit: Option<i64>,
    /// Find entities instead of memories
    #[arg(long)]
    entities: bool,
    #[arg(long = "tag", short, value_name = "TAG")]
    tags: Vec<String>,
    #[arg(long)]
    source: Option<String>,
    /// The earliest creation time
    #[arg(long, value_name = "TIME")]
    after: Option<String>,
    /// The latest creation time
    #[arg(long, value_name = "TIME")]
    before: Option<String>,
    #[arg(long)]
    explain: bool,
    /// Search your personal memory only
    #[arg(long, conflicts_with = "project")]
    personal: bool,
    /// Leave your personal memory out
    #[arg(long)]
    project: bool,
    /// Look into every workspace, your personal memory too
    #[arg(long, conflicts_with_all = ["workspace", "personal", "project"])]
    all: bool,
}

pub fn run(arguments: SearchArguments, program: &Program) -> Result<(), Failure> {
    let time = |option: &str, text: &Option<String>| text.as_deref().map(|text| times::past(option, text)).transpose();
    let memory_of = match (arguments.personal, arguments.project) {
        (true, _) => Some(MemoryOf::Personal),
        (false, true) => Some(MemoryOf::Project),
        (false, false) => None,
    };
    let request = SearchMemory {
        memory_of,
        query: joined(&arguments.query),
        about: arguments.about,
        limit: arguments.limit,
        mode: arguments.entities.then_some(SearchMode::Entities),
        tags: given(arguments.tags),
        source: arguments.source,
        created_after: time("--after", &arguments.after)?,
        created_before: time("--before", &arguments.before)?,
        explain: arguments.explain.then_some(true),
        ..SearchMemory::default()
    };
    if arguments.all {
        return everywhere(&request, program);
    }
    let answer = program.run(request)?;
    program.output.answer(&answer, render)?;
    if !program.output.in_json() {
        if answer.results.is_empty() && answer.known.is_none() {
            program.output.talk(&nothing_found(&answer));
            program.tell_where_memories_are()?;
        }
        if answer.truncated == Some(true) {
            program.output.talk("the answer was cut to fit; use more specific words to see more");
        }
    }
    Ok(())
}

/// What there is instead, where the answer names it.
fn nothing_found(answer: &SearchAnswer) -> String {
    let near = answer.nearest.as_deref().unwrap_or_default();
    if near.is_empty() {
        return "nothing found".to_owned();
    }
    let names: Vec<String> = near.iter().take(NEAREST_SHOWN).map(|near| escaped(&near.name)).collect();
    let more = if near.len() > NEAREST_SHOWN { ", …" } else { "" };
    format!("nothing found; there is {}{more} (rootset list)", names.join(", "))
}

/// The answer of one workspace among those of all.
#[derive(Serialize)]
struct InWorkspace {
    workspace_id: String,
    #[serde(flatten)]
    answer: SearchAnswer,
}

#[derive(Serialize)]
struct Everywhere {
    workspaces: Vec<InWorkspace>,
}

/// For the person at the terminal, who may see every workspace. Each is ranked alone; those without a result are left out.
fn everywhere(request: &SearchMemory, program: &Program) -> Result<(), Failure> {
    let mut workspaces = Vec::new();
    for workspace in program.run(ListWorkspaces {})?.workspaces {
        let workspace_id = Some(workspace.workspace_id.clone());
        let memory_of = Some(MemoryOf::Project);
        let answer = program.run(SearchMemory { workspace_id, memory_of, ..request.clone() })?;
        if !answer.results.is_empty() {
            workspaces.push(InWorkspace { workspace_id: workspace.workspace_id, answer });
        }
    }
    let everywhere = Everywhere { workspaces };
    program.output.answer(&everywhere, |everywhere| {
        let shown = everywhere
            .workspaces
            .iter()
            .map(|it| format!("{}\n{}", render::dim(format!("workspace {}", it.workspace_id)), render(&it.answer)));
        shown.collect::<Vec<_>>().join("\n")
    })?;
    if everywhere.workspaces.is_empty() {
        program.output.talk("nothing found in any workspace");
    }
    Ok(())
}

/// Memories as paragraphs, entities as a table: an answer holds either.
fn render(answer: &SearchAnswer) -> String {
    if let Some(known) = &answer.known {
        return known.iter().map(sentence).collect();
    }
    let mut shown = String::new();
    let mut table = Table::new([
        Column::name("NAME"),
        Column::fixed("TYPE"),
        Column::fixed("MEMORIES"),
        Column::text("DESCRIPTION"),
    ]);
    let mut has_entities = false;
    for result in &answer.results {
        match result {
            SearchResult::Memory(memory) => {
                let separator = if shown.is_empty() { "" } else { "\n" };
                write!(shown, "{separator}{}", paragraph(memory)).expect("writing to a string cannot fail");
            }
            SearchResult::Entity(entity) => {
                has_entities = true;
                table.row([
                    one_line(&entity.name, 60),
                    one_line(&entity.entity_type, 20),
                    entity.refcount.to_string(),
                    one_line(&entity.description, TOPIC_CHARS),
                ]);
            }
        }
    }
    if has_entities { table.finish() } else { shown }
}

/// Whole, unlike the snippet of a memory: it is what was asked for.
fn sentence(known: &Known) -> String {
    let mut about = format!(
        "{}, {}, {}",
        escaped(&known.name),
        age(known.occurred_at.unwrap_or(known.updated_at)),
        escaped(&known.source)
    );
    if known.memory_of == Some(MemoryOf::Personal) {
        about += ", personal";
    }
    let mut lines = vec![escaped(&known.text), format!("  {}", render::dim(about))];
    if let Some(newer) = &known.contradicted_by {
        lines.push(format!("  {}", render::warning(format!("{} says something else since", escaped(newer)))));
    }
    if known.quarantined == Some(true) {
        lines.push(format!("  {}", render::warning("untrusted")));
    }
    lines.join("\n") + "\n"
}

fn paragraph(memory: &MemoryResult) -> String {
    let name = memory.name.clone().unwrap_or_else(|| memory.memory_id.to_string());
    let about = format!("{}, {}", age(memory.updated_at), escaped(&memory.source));
    let mut head = format!("{}  {}", render::bold(escaped(&name)), render::dim(about));
    if memory.memory_of == Some(MemoryOf::Personal) {
        let waits = memory.waiting == Some(true) && memory.quarantined != Some(true);
        head =
            format!("{head}  {}", render::dim(if waits { "personal, waits for `rootset review`" } else { "personal" }));
    }
    if memory.quarantined == Some(true) {
        head = format!("{head}  {}", render::warning("untrusted"));
    }
    let mut lines = vec![head];
    let topic = one_line(&memory.topic, TOPIC_CHARS);
    let snippet = one_line(&memory.snippet, SNIPPET_CHARS);
    // Without a topic of its own a memory begins with it: once is enough.
    let repeats = snippet.starts_with(topic.trim_end_matches('…'));
    lines.extend([topic, snippet].into_iter().skip(usize::from(repeats)).map(|line| format!("  {line}")));
    if let Some(score) = memory.score {
        let why = format!("score {score:.3}: {}", escaped(memory.why.as_deref().unwrap_or_default()));
        lines.push(format!("  {}", render::dim(why)));
    }
    lines.join("\n") + "\n"
}
