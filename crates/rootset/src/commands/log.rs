//! `rootset log`: what was added, removed and run recently, one line each, with the command that undoes it.
//!
//! Put together from three answers: lists of memories, the audit trail, and the runs that can still be undone. Removals
//! of one run are one line, however many batches it took.

use std::collections::{BTreeMap, BTreeSet};

use clap::Args;
use rootset_api::{AuditAnswer, GcUndo, LifecycleFilter, ListAudit, ListMemories, ListTrash, MemoryOrder};
use rootset_model::{Counts, RunId, Timestamp};
use serde::{Deserialize, Serialize};

use super::times;
use crate::exit::Failure;
use crate::program::Program;
use crate::render::{Column, Table, amounts, counted, one_line, short};

/// Show what was added, removed and run recently, with the command that undoes it
#[derive(Debug, Args)]
pub struct LogArguments {
    /// How far back: `24h`, `30d`, or a day such as `2026-12-31`
    #[arg(long, value_name = "WHEN", default_value = "7d")]
    since: String,
    /// The number of lines to show
    #[arg(long, short = 'n', value_name = "COUNT", default_value_t = 100)]
    limit: usize,
}

/// The largest page that lists answer.
const PAGE: i64 = 100;
/// Items of the trash that are looked at: older ones lose their handles before the log takes too long.
const TRASH_ITEMS_MAX: i64 = 2_000;
const NAME_CHARS: usize = 64;

/// What `--json` prints: the log is put together here, not by an operation.
#[derive(Serialize)]
struct Log {
    since: Timestamp,
    entries: Vec<Line>,
}

/// One line: what happened, and how to undo it.
#[derive(Serialize)]
struct Line {
    at: Timestamp,
    what: String,
    #[serde(rename = "by")]
    actor: String,
    about: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    undo: Option<String>,
}

pub fn run(arguments: LogArguments, program: &Program) -> Result<(), Failure> {
    let since = times::behind("--since", &arguments.since)?;
    let trash = Trash::read(program)?;
    let mut entries = added(program, since, arguments.limit, &trash)?;
    entries.extend(audited(program, since, arguments.limit, &trash)?);
    entries.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.about.cmp(&b.about)));
    let is_cut = entries.len() > arguments.limit;
    entries.truncate(arguments.limit);
    let log = Log { since, entries };
    program.output.answer(&log, as_table)?;
    if !program.output.in_json() {
        let shown = counted(log.entries.len(), "line", "lines");
        let more = match log.entries.is_empty() {
            true => "; `--since 90d` looks further back",
            false if is_cut => "; `--limit` shows more",
            false => "",
        };
        program.output.talk(&format!("{shown} since {}{more}", short(since)));
    }
    Ok(())
}

/// Memories created since then that still exist, newest first.
fn added(program: &Program, since: Timestamp, limit: usize, trash: &Trash) -> Result<Vec<Line>, Failure> {
    let mut lines = Vec::new();
    while lines.len() <= limit {
        let page = program.run(ListMemories {
            order_by: Some(MemoryOrder::CreatedAt),
            lifecycle: Some(LifecycleFilter::All),
            limit: Some(PAGE),
            offset: Some(lines.len() as i64),
            ..ListMemories::default()
        })?;
        let before = lines.len();
        lines.extend(page.memories.into_iter().filter(|memory| memory.created_at >= since).map(|memory| {
            let id = memory.memory_id.to_string();
            let is_trashed = trash.items.contains(&id);
            let name = memory.name.unwrap_or(id);
            Line {
                at: memory.created_at,
                what: "add".to_owned(),
                actor: memory.source,
                // What was removed since is taken back by the line of its removal.
                undo: (!is_trashed).then(|| format!("rootset rm {name}")),
                about: name,
            }
        }));
        if is_last(lines.len() - before) {
            break;
        }
    }
    Ok(lines)
}

/// Entries of the audit trail, those of one run together.
fn audited(program: &Program, since: Timestamp, limit: usize, trash: &Trash) -> Result<Vec<Line>, Failure> {
    let mut entries: Vec<AuditAnswer> = Vec::new();
    while entries.len() <= limit {
        let page = program.run(ListAudit {
            since: Some(since.into()),
            limit: Some(PAGE),
            offset: Some(entries.len() as i64),
            ..ListAudit::default()
        })?;
        let is_last = is_last(page.entries.len());
        entries.extend(page.entries);
        if is_last {
            break;
        }
    }
    let mut together: BTreeMap<(String, String), (AuditAnswer, Counts)> = BTreeMap::new();
    for (place, entry) in entries.into_iter().enumerate() {
        let run = entry.run_id.map_or_else(|| format!("#{place}"), |run| run.to_string());
        let key = (run, entry.operation.clone());
        let added = Counts::deserialize(&entry.counts).unwrap_or_default();
        let (_, counts) = together.entry(key).or_insert_with(|| (entry, Counts::default()));
        counts.add_all(&added);
    }
    Ok(together.into_values().map(|(entry, counts)| audited_line(entry, &counts, trash)).collect())
}

fn audited_line(entry: AuditAnswer, counts: &Counts, trash: &Trash) -> Line {
    // An undo names the run that it undid: that one is gone, and nothing undoes an undo.
    let undone = entry.run_id.filter(|run| entry.operation != "gc_undo" && trash.runs.contains(run));
    Line {
        at: entry.at,
        what: entry.operation,
        actor: entry.actor,
        about: if counts.is_nothing() { String::new() } else { amounts(counts).in_words() },
        undo: undone.map(|run| format!("rootset undo {run}")),
    }
}

/// What is in the trash, and the runs that can be undone.
#[derive(Debug, Default)]
struct Trash {
    items: BTreeSet<String>,
    runs: BTreeSet<RunId>,
}

impl Trash {
    fn read(program: &Program) -> Result<Self, Failure> {
        let mut trash = Self::default();
        let undo = program.run(GcUndo::default())?;
        trash.runs.extend(undo.runs.into_iter().flatten().map(|run| run.run_id));
        for offset in (0..TRASH_ITEMS_MAX).step_by(PAGE as usize) {
            let (offset, limit) = (Some(offset), Some(PAGE));
            let page = program.run(ListTrash { workspace_id: None, offset, limit })?.items;
            trash.runs.extend(page.iter().map(|item| item.run_id));
            let is_last = is_last(page.len());
            trash.items.extend(page.into_iter().map(|item| item.id));
            if is_last {
                break;
            }
        }
        Ok(trash)
    }
}

/// A page that is not full has no next one.
fn is_last(shown: usize) -> bool {
    shown < PAGE as usize
}

fn as_table(log: &Log) -> String {
    if log.entries.is_empty() {
        return String::new();
    }
    let mut table = Table::new([
        Column::time("AT"),
        Column::whole("WHAT"),
        Column::name("BY"),
        Column::whole("ABOUT"),
        Column::whole("UNDO").spare(),
    ]);
    for line in &log.entries {
        table.row([
            line.at.to_string(),
            one_line(&line.what, NAME_CHARS),
            one_line(&line.actor, 24),
            one_line(&line.about, NAME_CHARS),
            one_line(line.undo.as_deref().unwrap_or_default(), NAME_CHARS * 2),
        ]);
    }
    table.finish()
}
