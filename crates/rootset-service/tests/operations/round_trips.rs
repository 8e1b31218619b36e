//! How often an operation waits for a server: the same for a handful of rows and for ten times as many, as long as both fit
//! one batch. The figures are asserted as they are, so that a new look-up per row shows itself in review.

use std::fmt::Write as _;

use rootset_testing::{TestDatabase, TestEngine};
use serde_json::{Value, json};

use crate::harness::{DAY_MS, World};

/// One life of everything that costs rows, in a workspace of its own; answers the round trips of each step.
struct Life<'a> {
    world: &'a World,
    workspace: String,
    rows: usize,
    taken: Vec<(&'static str, u64)>,
}

impl Life<'_> {
    fn call(&self, operation: &str, mut request: Value) -> Value {
        request["workspace_id"] = self.workspace.as_str().into();
        self.world.call(operation, request)
    }

    fn counted(&mut self, step: &'static str, operation: &str, request: Value) -> Value {
        let count = || self.world.service.database_round_trips().expect("a server counts");
        let before = count();
        let answer = self.call(operation, request);
        self.taken.push((step, count() - before));
        answer
    }

    fn memories(&self, words: &str) -> Value {
        let memory = |number: usize| {
            let context = format!("{words} {number}: Alice{number} uses PostgreSQL{number} for Project{}.", number % 3);
            json!({"context": context, "tags": [words, format!("t{number}")], "source": words})
        };
        json!({"memories": (0..self.rows).map(memory).collect::<Vec<_>>()})
    }

    fn live(&mut self) {
        self.world.call("create_workspace", json!({"workspace_id": self.workspace}));
        let request = self.memories("falcon");
        self.counted("add", "add_memories", request);
        let request = self.memories("falcon");
        self.call("add_memories", request);
        self.counted("search", "search_memory", json!({"query": "falcon Alice1"}));
        self.counted("list", "list_memories", json!({"limit": 100}));
        let plan = self.counted("forget: plan", "forget", json!({"tags": ["falcon"]}));
        let apply = json!({"plan_id": plan["plan_id"], "allow_large": true, "confirm": true});
        let applied = self.counted("apply", "gc_apply", apply);
        self.counted("undo", "gc_undo", json!({"run_id": applied["run_id"]}));

        let request = json!({"source": "falcon", "max_age": "1d"});
        self.call("set_retention", request);
        self.world.advance_ms(3 * DAY_MS);
        let plan = self.counted("retention: plan", "gc_plan", json!({"strategies": ["expired"]}));
        assert_eq!(plan["totals"]["memories"].as_u64(), Some(self.rows as u64), "{plan}");
        let apply = json!({"plan_id": plan["plan_id"], "allow_large": true, "confirm": true});
        let applied = self.counted("retention: apply", "gc_apply", apply);
        self.counted("purge", "gc_purge", json!({"run_id": applied["run_id"], "confirm": true}));

        let root = self.world.folder().join(&self.workspace);
        std::fs::create_dir_all(&root).unwrap();
        self.write_files(&root, "alpha");
        self.counted("index: new files", "index_codebase", json!({"path": root}));
        self.write_files(&root, "omega");
        self.counted("index: changed files", "index_codebase", json!({"path": root}));
        self.counted("index: nothing new", "index_codebase", json!({"path": root}));

        let segment =
            |number: usize| json!({"segment_id": format!("s{number}"), "type": "log", "text": "a line of it"});
        let segments: Vec<Value> = (0..self.rows).map(segment).collect();
        self.counted("context: add", "context_add", json!({"session_id": "work", "segments": segments}));
        let ids: Vec<String> = (0..self.rows).map(|number| format!("s{number}")).collect();
        let pruned = json!({"session_id": "work", "segment_ids": ids, "confirm": true});
        self.counted("context: prune", "context_gc_prune", pruned);
        self.counted("context: restore", "context_restore", json!({"session_id": "work", "segment_ids": ids}));

        let message = |number: usize| json!({"role": "user", "content": format!("message {number} of a list")});
        let mut messages: Vec<Value> = (0..self.rows).map(message).collect();
        let fit = |messages: &[Value]| json!({"session_id": "list", "messages": messages, "budget_tokens": 100_000});
        self.counted("fit: a new list", "context_fit", fit(&messages));
        messages.push(message(self.rows));
        self.counted("fit: one new message", "context_fit", fit(&messages));
        self.counted("fit: the same list", "context_fit", fit(&messages));
    }

    fn write_files(&self, root: &std::path::Path, word: &str) {
        for number in 0..self.rows {
            let text = format!("fn {word}_{number}() {{ helper_{number}(); }}\n\nfn helper_{number}() {{}}\n");
            std::fs::write(root.join(format!("file_{number}.rs")), text).unwrap();
        }
    }
}

#[test]
fn a_server_is_waited_for_by_the_batch_and_not_by_the_row() {
    let world = World::on(TestDatabase::on(TestEngine::Postgres), |service| service);
    let live = |workspace: &str, rows| {
        let mut life = Life { world: &world, workspace: workspace.to_owned(), rows, taken: Vec::new() };
        life.live();
        life.taken
    };
    // Statements are prepared when they are first used.
    live("warm", 60);
    let (few, many) = (live("few", 6), live("many", 60));
    let mut shown = String::new();
    for ((step, of_few), (_, of_many)) in few.iter().zip(&many) {
        writeln!(shown, "{step}: {of_few} for 6 rows, {of_many} for 60").unwrap();
    }
    insta::assert_snapshot!("round_trips", shown);
    let worse: Vec<_> = few.iter().zip(&many).filter(|(few, many)| many.1 > few.1).collect();
    assert!(worse.is_empty(), "more rows, more round trips: {worse:?}");
}

/// The history of a memory costs nothing until it has its full length.
#[test]
fn only_an_update_that_pushes_a_revision_out_waits_for_more() {
    let world = World::on(TestDatabase::on(TestEngine::Postgres), |service| service);
    let count = || world.service.database_round_trips().expect("a server counts");
    let updates = |name: &str| -> Vec<u64> {
        world.add_named(name, &format!("Alice uses PostgreSQL for {name}."));
        let update = |number: usize| {
            let before = count();
            let text = format!("Alice uses PostgreSQL {number} times for {name}.");
            world.call("update_memory", json!({"memory_id": name, "context": text}));
            count() - before
        };
        (0..24).map(update).collect()
    };
    updates("warm"); // Statements are prepared when they are first used.
    let taken = updates("note");
    let (kept, pushed_out) = taken.split_at(20);
    assert!(kept.iter().all(|it| *it == kept[0]) && pushed_out.iter().all(|it| *it == pushed_out[0]), "{taken:?}");
    let shown = format!("an update: {}, one that pushes a revision out: {}", kept[0], pushed_out[0]);
    insta::assert_snapshot!("round_trips_of_updates", shown);
}

/// What looks at every tenant asks many of them at a time.
#[test]
fn a_server_is_not_waited_for_once_per_workspace() {
    let world = World::on(TestDatabase::on(TestEngine::Postgres), |service| service);
    let count = || world.service.database_round_trips().expect("a server counts");
    let mut made = 0;
    let mut taken = |workspaces: usize| -> Vec<u64> {
        for number in made..workspaces {
            let workspace = format!("tenant-{number}");
            world.call("create_workspace", json!({"workspace_id": workspace}));
            let memory = json!({"workspace_id": workspace, "context": format!("Note {number}."), "name": "note"});
            world.call("add_memory", memory);
            if number.is_multiple_of(2) {
                world.call("delete_memory", json!({"workspace_id": workspace, "memory_id": "note"}));
            }
        }
        made = workspaces;
        let operations = [("list_workspaces", json!({})), ("gc_status", json!({"workspace_id": "tenant-1"}))];
        operations
            .into_iter()
            .map(|(operation, request)| {
                world.call(operation, request.clone()); // Statements are prepared when they are first used.
                let before = count();
                let answer = world.call(operation, request);
                let taken = count() - before;
                if operation == "list_workspaces" {
                    let listed = answer["workspaces"].as_array().unwrap();
                    let tenants: Vec<&Value> = listed
                        .iter()
                        .filter(|it| it["workspace_id"].as_str().unwrap().starts_with("tenant-"))
                        .collect();
                    assert_eq!(tenants.len(), workspaces);
                    for tenant in tenants {
                        let number: usize = tenant["workspace_id"].as_str().unwrap()[7..].parse().unwrap();
                        let is_trashed = number.is_multiple_of(2);
                        assert_eq!(tenant["trash"], i64::from(is_trashed), "{tenant}");
                        assert_eq!(tenant.get("last_run_at").is_some(), is_trashed, "{tenant}");
                    }
                }
                taken
            })
            .collect()
    };
    let (few, many) = (taken(3), taken(40));
    assert_eq!(few, many);
}
