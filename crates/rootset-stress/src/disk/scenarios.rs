//! What processes do while their disk is watched: a state, and operations on it.

use std::path::Path;

use rootset_trees::dump::Dump;
use serde_json::{Value, json};

use super::script::Call;
use crate::dump::Since;
use crate::error::StressError;
use crate::prepared_databases::{OLD, State, States};
use crate::step::call;

/// Tables in which each attempt leaves a row of its own, and that say nothing about what is stored.
const PER_ATTEMPT: [&str; 5] = ["audit", "counters", "erasures", "jobs", "meta"];
/// Files of the tree that is indexed.
const SOURCES: [(&str, &str); 3] = [
    ("main.rs", "fn main() {\n    greet(\"you\");\n}\n\nfn greet(name: &str) {\n    println!(\"{name}\");\n}\n"),
    ("lib.rs", "//! A library.\npub struct Ledger;\nimpl Ledger {\n    pub fn post(&self) {}\n}\n"),
    ("notes.py", "class Note:\n    def text(self):\n        return 'a note'\n"),
];

#[derive(Clone, Debug)]
pub struct Scenario {
    pub name: &'static str,
    pub state: State,
    pub calls: Vec<Call>,
    /// Texts that are in no file once the first call is answered.
    pub erased: Vec<String>,
    /// Whether a call is many small ones, which stay when a later one fails: a database is created before its first
    /// workspace, and a tree is indexed file by file, by several threads.
    pub goes_in_steps: bool,
    /// Whether its only call has batches, of which the first stays when a later one fails.
    pub goes_in_batches: bool,
}

/// All of them, on states that are made below this folder.
pub fn all(folder: &Path) -> Result<Vec<Scenario>, StressError> {
    let states = States::make_small(&made(folder.join("states"))?)?;
    let empty = State::empty(&folder.join("empty"))?;
    let tree = made(folder.join("tree"))?;
    for (name, text) in SOURCES {
        std::fs::write(tree.join(name), text)?;
    }
    // Number 4 is pinned and stays.
    let names = (0..).filter(|number| *number != 4).map(|number| format!("{OLD}-{number}"));
    let old = texts(&states.filled, names)?;
    let changed = texts(&states.filled, std::iter::once("kept-1".to_owned()))?;
    let facts = |state: &State, fact: &str| state.facts[fact].clone();
    let scenario = |name, state: &State, calls: Vec<(&str, Value)>| Scenario {
        name,
        state: state.clone(),
        calls: calls.into_iter().map(|(operation, arguments)| Call::new(operation, arguments)).collect(),
        erased: Vec::new(),
        goes_in_steps: false,
        goes_in_batches: false,
    };
    let in_batches =
        |name, state: &State, call| Scenario { goes_in_batches: true, ..scenario(name, state, vec![call]) };
    let note = |number: u64| json!({"name": format!("new-{number}"), "context": format!("New note {number}: Falcon uses AuthGateway.")});
    Ok(vec![
        Scenario { goes_in_steps: true, ..scenario("create", &empty, vec![("add_memory", note(0))]) },
        scenario(
            "ingest",
            &states.filled,
            vec![
                ("add_memory", note(1)),
                ("add_memories", json!({"memories": [note(2), note(3), note(4)]})),
                ("add_memory", note(5)),
            ],
        ),
        Scenario {
            erased: changed,
            ..scenario(
                "update",
                &states.filled,
                vec![
                    (
                        "update_memory",
                        json!({"memory_id": "kept-1", "context": "A first note that was rewritten.", "topic": "rewritten",
                               "erase_previous": true}),
                    ),
                    ("update_memory", json!({"memory_id": "kept-2", "context": "Falcon replaced RetryPolicy."})),
                    ("update_memory", json!({"memory_id": "kept-4", "pinned": true})),
                    ("supersede_memory", json!({"memory_id": "kept-0", "by": "kept-2"})),
                ],
            )
        },
        scenario(
            "plan",
            &states.filled,
            vec![("forget", json!({"tags": [OLD]})), ("gc_plan", json!({"strategies": ["all"]}))],
        ),
        in_batches(
            "apply",
            &states.planned,
            ("gc_apply", json!({"plan_id": facts(&states.planned, "plan_id"), "allow_large": true})),
        ),
        in_batches("undo", &states.trashed, ("gc_undo", json!({"run_id": facts(&states.trashed, "run_id")}))),
        Scenario {
            erased: old.clone(),
            ..in_batches(
                "purge",
                &states.trashed,
                ("gc_purge", json!({"run_id": facts(&states.trashed, "run_id"), "confirm": true})),
            )
        },
        Scenario {
            erased: old,
            ..in_batches(
                "erase",
                &states.erasing,
                (
                    "gc_apply",
                    json!({"plan_id": facts(&states.erasing, "plan_id"), "allow_large": true, "confirm": true}),
                ),
            )
        },
        Scenario {
            goes_in_steps: true,
            ..scenario("index", &states.filled, vec![("index_codebase", json!({"path": tree, "repo": "tree"}))])
        },
        scenario(
            "context",
            &states.filled,
            vec![
                ("context_add", json!({"session_id": "s", "segments": segments()})),
                ("context_gc_pin", json!({"session_id": "s", "segment_ids": ["one"]})),
                ("context_gc_prune", json!({"session_id": "s", "segment_ids": ["two", "three"], "strategy": "stash"})),
                ("context_restore", json!({"session_id": "s", "segment_ids": ["two"]})),
                ("context_delete_session", json!({"session_id": "s", "confirm": true})),
            ],
        ),
        scenario(
            "backup",
            &states.filled,
            vec![("backup_create", json!({"format": "snapshot"})), ("backup_create", json!({"format": "jsonl"}))],
        ),
        scenario(
            "restore",
            &states.backed_up,
            vec![("backup_restore", json!({"backup_id": facts(&states.backed_up, "bundle"), "confirm": true}))],
        ),
        scenario("defrag", &states.purged, vec![("defrag", json!({"confirm": true}))]),
        scenario("migrate", &states.first_schema, vec![("get_stats", json!({}))]),
    ])
}

fn made(folder: std::path::PathBuf) -> Result<std::path::PathBuf, StressError> {
    std::fs::create_dir(&folder)?;
    Ok(folder)
}

fn segments() -> Vec<Value> {
    ["one", "two", "three", "four"]
        .iter()
        .map(
            |id| json!({"segment_id": id, "type": "message", "role": "user", "text": format!("Segment {id} of many.")}),
        )
        .collect()
}

/// Texts of memories as they are stored, as far as there are memories of these names.
fn texts(state: &State, names: impl Iterator<Item = String>) -> Result<Vec<String>, StressError> {
    let mut texts = Vec::new();
    for name in names {
        match call(&state.database(), "get_memory", json!({"memory_id": name})) {
            Ok(memory) => texts.extend(memory["context"].as_str().map(str::to_owned)),
            Err(_) => break,
        }
    }
    Ok(texts)
}

impl Scenario {
    /// The database without what tells two runs of the same operations apart.
    pub fn dump(&self, since: &Since, state: &State) -> Result<Dump, StressError> {
        if !state.file().exists() {
            return Ok(Dump::new());
        }
        let mut dump = since.dump(&state.database())?;
        dump.retain(|table, rows| !PER_ATTEMPT.contains(&table.as_str()) && !rows.is_empty());
        if self.goes_in_steps {
            dump.values_mut().for_each(|rows| unnumbered(rows));
        }
        Ok(dump)
    }
}

/// Leaves out the numbers that files and chunks get in the order in which threads were done with them.
fn unnumbered(rows: &mut [String]) {
    let is_number = |word: &str| ["chunk=", "sequence=", "id="].iter().any(|name| word.starts_with(name));
    for row in rows.iter_mut() {
        *row = row.split(' ').filter(|word| !is_number(word)).collect::<Vec<_>>().join(" ");
    }
    rows.sort();
}
