//! `rootset log`: what was added, removed and run lately, one line each, with the command that takes it back.
//!
//! Put together from three answers: lists of memories, the audit trail, and the runs that can still be undone. Removals
//! of one run are one line, however many batches it took.

use std::collections::{BTreeMap, BTreeSet};

use rootset_model::Timestamp;
use serde_json::{Value, json};

use super::times;
use crate::arguments::LogArguments;
use crate::exit::Failure;
use crate::render::{self, Table, counted, list, one_line, short, text};
use crate::session::Session;

/// The largest page that lists answer.
const PAGE: usize = 100;
/// Items of the trash that are looked at: older ones lose their handles before the log takes too long.
const TRASH_ITEMS_MAX: usize = 2_000;
const NAME_CHARS: usize = 64;

/// One line: what happened, and how to take it back.
#[derive(Debug)]
struct Line {
    at: Timestamp,
    what: String,
    actor: String,
    about: String,
    undo: Option<String>,
}

pub fn run(arguments: LogArguments, session: &Session) -> Result<(), Failure> {
    let from = times::behind("--since", &arguments.since)?;
    let since = from.to_string();
    let trash = Trash::read(session)?;
    let mut lines = added(session, from, arguments.limit, &trash)?;
    lines.extend(audited(session, &since, arguments.limit, &trash)?);
    lines.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| a.about.cmp(&b.about)));
    let is_cut = lines.len() > arguments.limit;
    lines.truncate(arguments.limit);
    session.output.answer(&as_json(&lines, &since), |_| as_table(&lines))?;
    if !session.output.in_json() {
        let shown = counted(lines.len() as i64, "line", "lines");
        let more = if is_cut { "; `--limit` shows more" } else { "" };
        session.output.talk(&format!("{shown} since {}{more}", short(&since)));
    }
    Ok(())
}

/// Memories created since then that still exist, newest first.
fn added(session: &Session, from: Timestamp, limit: usize, trash: &Trash) -> Result<Vec<Line>, Failure> {
    let mut lines = Vec::new();
    while lines.len() <= limit {
        let request = json!({"order_by": "created_at", "lifecycle": "all", "limit": PAGE, "offset": lines.len()});
        let answer = session.call("list_memories", request)?;
        let page: Vec<&Value> =
            list(&answer, "memories").iter().filter(|memory| time(memory, "created_at") >= from).collect();
        lines.extend(page.iter().map(|memory| {
            let name = [text(memory, "name"), text(memory, "memory_id")].into_iter().find(|it| !it.is_empty());
            let name = name.unwrap_or_default();
            Line {
                at: time(memory, "created_at"),
                what: "add".to_owned(),
                actor: text(memory, "source").to_owned(),
                about: name.to_owned(),
                // What was removed since is taken back by the line of its removal.
                undo: (!trash.items.contains(text(memory, "memory_id"))).then(|| format!("rootset rm {name}")),
            }
        }));
        if page.len() < PAGE {
            break;
        }
    }
    Ok(lines)
}

/// Entries of the audit trail, those of one run together.
fn audited(session: &Session, since: &str, limit: usize, trash: &Trash) -> Result<Vec<Line>, Failure> {
    let mut entries: Vec<Value> = Vec::new();
    while entries.len() <= limit {
        let answer = session.call("list_audit", json!({"since": since, "limit": PAGE, "offset": entries.len()}))?;
        let page = list(&answer, "entries");
        entries.extend(page.iter().cloned());
        if page.len() < PAGE {
            break;
        }
    }
    let mut together: BTreeMap<(String, String), (Value, BTreeMap<String, i64>)> = BTreeMap::new();
    for (place, entry) in entries.into_iter().enumerate() {
        let run = text(&entry, "run_id");
        let run = if run.is_empty() { format!("#{place}") } else { run.to_owned() };
        let key = (run, text(&entry, "operation").to_owned());
        let (_, counts) = together.entry(key).or_insert_with(|| (entry.clone(), BTreeMap::new()));
        for (kind, count) in entry["counts"].as_object().into_iter().flatten() {
            *counts.entry(kind.clone()).or_default() += count.as_i64().unwrap_or_default();
        }
    }
    Ok(together
        .into_values()
        .map(|(entry, counts)| {
            let run = text(&entry, "run_id");
            // An undo names the run that it undid: that one is gone, and nothing undoes an undo.
            let can_be_undone = text(&entry, "operation") != "gc_undo" && trash.runs.contains(run);
            Line {
                at: time(&entry, "at"),
                what: text(&entry, "operation").to_owned(),
                actor: text(&entry, "actor").to_owned(),
                about: if counts.values().any(|count| *count > 0) {
                    render::amounts(&json!(counts))
                } else {
                    String::new()
                },
                undo: can_be_undone.then(|| format!("rootset undo {run}")),
            }
        })
        .collect())
}

/// What is in the trash, and the runs that can be undone.
#[derive(Debug, Default)]
struct Trash {
    items: BTreeSet<String>,
    runs: BTreeSet<String>,
}

impl Trash {
    fn read(session: &Session) -> Result<Self, Failure> {
        let mut trash = Self::default();
        let answer = session.call("gc_undo", json!({}))?;
        trash.runs.extend(list(&answer, "runs").iter().map(|run| text(run, "run_id").to_owned()));
        let mut offset = 0;
        while offset < TRASH_ITEMS_MAX {
            let answer = session.call("list_trash", json!({"limit": PAGE, "offset": offset}))?;
            let page = list(&answer, "items");
            trash.items.extend(page.iter().map(|item| text(item, "id").to_owned()));
            trash.runs.extend(page.iter().map(|item| text(item, "run_id").to_owned()));
            offset += page.len();
            if page.len() < PAGE {
                break;
            }
        }
        Ok(trash)
    }
}

fn time(value: &Value, field: &str) -> Timestamp {
    Timestamp::parse(text(value, field)).unwrap_or_default()
}

fn as_json(lines: &[Line], since: &str) -> Value {
    let entries: Vec<Value> = lines
        .iter()
        .map(|line| {
            let mut entry = json!({"at": line.at, "what": line.what, "by": line.actor, "about": line.about});
            if let Some(undo) = &line.undo {
                entry["undo"] = undo.as_str().into();
            }
            entry
        })
        .collect();
    json!({"since": since, "entries": entries})
}

fn as_table(lines: &[Line]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    // Handles are for copying: they must not be cut.
    let mut table = Table::new(["AT", "WHAT", "BY", "ABOUT", "UNDO"]).uncut();
    for line in lines {
        table.row([
            short(line.at),
            one_line(&line.what, NAME_CHARS),
            one_line(&line.actor, 24),
            one_line(&line.about, NAME_CHARS),
            one_line(line.undo.as_deref().unwrap_or_default(), NAME_CHARS * 2),
        ]);
    }
    table.finish()
}
