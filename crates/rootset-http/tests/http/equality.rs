//! Every operation answers over HTTP what it answers to the service's own caller, errors included.
//!
//! Two databases with the same clock and ids live the same life, one through the service and one through a socket.

use std::collections::BTreeSet;

use rootset_api::{ErrorCode, catalogue};
use serde_json::{Value, json};

use crate::harness::{Served, Tokens, World};

/// The same life, twice.
struct Twins {
    direct: World,
    served: Served,
    called: BTreeSet<&'static str>,
}

impl Twins {
    fn new() -> Self {
        let (direct, served) = (World::new(), Served::new());
        // What the server's tokens took from its ids and its audit trail, the other one takes too.
        Tokens::new(&direct);
        Self { direct, served, called: BTreeSet::new() }
    }

    /// Calls both, holds the answers against each other, and gives the one answer there is.
    #[track_caller]
    fn call(&mut self, operation: &'static str, request: Value) -> Value {
        self.called.insert(operation);
        self.direct.step();
        self.served.world.step();
        let direct = self.direct.service.call(&self.direct.caller(), operation, request.clone());
        let reply = self.served.post(operation, &request);
        let (status, expected) = match &direct {
            Ok(answer) => (200, answer.clone()),
            Err(error) => (error.code.http_status(), error.to_json()),
        };
        assert_eq!(reply.status, status, "{operation} {request}: {reply:?}");
        let got = self.normalised(&reply.text);
        assert_eq!(got, self.normalised(&expected.to_string()), "{operation} {request}");
        assert!(!matches!(&direct, Err(error) if error.code == ErrorCode::Internal), "{operation}: {direct:?}");
        expected
    }

    #[track_caller]
    fn good(&mut self, operation: &'static str, request: Value) -> Value {
        let answer = self.call(operation, request);
        assert!(answer.get("error").is_none(), "{operation}: {answer}");
        answer
    }

    #[track_caller]
    fn refused(&mut self, operation: &'static str, request: Value, code: &str) -> Value {
        let answer = self.call(operation, request);
        assert_eq!(answer["error"]["code"], code, "{operation}: {answer}");
        answer
    }

    /// The two live in different folders, on one disk, and files are never the same size to the byte.
    fn normalised(&self, text: &str) -> Value {
        let folders = [self.direct.database.folder(), self.served.world.database.folder()];
        let text = folders.iter().fold(text.to_owned(), |text, it| text.replace(&*it.to_string_lossy(), "FOLDER"));
        let mut value: Value = serde_json::from_str(&text).expect("JSON");
        for pointer in [
            "/disk/free",
            "/free_bytes",
            "/disk/wal",
            "/disk/db",
            "/disk/reclaimable",
            "/sizes/database_bytes",
            "/sizes/wal_bytes",
            "/sizes/free_bytes",
        ] {
            if let Some(found) = value.pointer_mut(pointer) {
                *found = json!("SIZE");
            }
        }
        if let Some(secret) = value.get_mut("token") {
            *secret = json!("SECRET");
        }
        // One has a token and an address, the other neither.
        for (list, fields) in [("entries", ["token_id", "origin"].as_slice()), ("tokens", &["last_used_at"])] {
            for row in value.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                fields.iter().for_each(|field| drop(row.as_object_mut().and_then(|row| row.remove(*field))));
            }
        }
        // The first workspace is made with the service, before it is given its clock.
        for workspace in value.get_mut("workspaces").and_then(Value::as_array_mut).into_iter().flatten() {
            if workspace["workspace_id"] == "home" {
                workspace["created_at"] = json!("TIME");
                workspace["last_write_at"] = json!("TIME");
            }
        }
        value
    }
}

#[test]
fn every_operation_answers_the_same_over_http() {
    let mut twins = Twins::new();
    memories(&mut twins);
    graph(&mut twins);
    collector(&mut twins);
    code(&mut twins);
    context(&mut twins);
    database(&mut twins);
    let others: Vec<_> = catalogue().iter().filter(|it| !twins.called.contains(it.name)).collect();
    for operation in others {
        twins.call(operation.name, (operation.example)());
    }
}

#[test]
fn every_operation_refuses_nonsense_the_same_over_http() {
    let mut twins = Twins::new();
    for operation in catalogue() {
        twins.refused(operation.name, json!({"nonsense": 1}), "invalid_argument");
        twins.refused(operation.name, json!([1]), "invalid_argument");
        twins.refused(operation.name, json!("text"), "invalid_argument");
        twins.call(operation.name, json!({}));
    }
}

fn memories(twins: &mut Twins) {
    let added = twins.good("add_memory", json!({"context": "Alice uses PostgreSQL at Acme.", "name": "database"}));
    twins.good("add_memory", json!({"context": "Bob prefers SQLite.", "name": "other", "tags": ["birds"]}));
    let many = json!([{"context": "falcons fly"}, {"context": ""}, {"context": "herons wade", "source": "import"}]);
    twins.good("add_memories", json!({"memories": many}));
    twins.good("get_memory", json!({"memory_id": added["memory_id"], "include": ["ids"]}));
    twins.refused("get_memory", json!({"memory_id": "nobody"}), "not_found");
    twins.good("list_memories", json!({"limit": 2, "order_by": "created_at"}));
    twins
        .good("update_memory", json!({"memory_id": "database", "context": "Alice uses SQLite.", "topic": "databases"}));
    twins.refused("update_memory", json!({"memory_id": "database", "topic": "x", "expected_version": 1}), "conflict");
    twins.good("search_memory", json!({"query": "Alice", "explain": true}));
    twins.good("supersede_memory", json!({"memory_id": "other", "by": "database", "reason": "newer"}));
    twins.good("delete_memory", json!({"memory_id": "other"}));
}

fn graph(twins: &mut Twins) {
    let entities = json!([{"name": "Rust", "type": "language"}, {"name": "Ferris", "type": "person"}]);
    let relations = json!([{"source": "Ferris", "source_type": "person", "relation": "likes",
        "target": "Rust", "target_type": "language"}]);
    twins.good("import_graph", json!({"entities": entities, "relations": relations}));
    twins.good("get_entity", json!({"entity_id": "Rust"}));
    twins.good("get_related", json!({"entity_id": "Ferris", "depth": 1}));
    twins.good("export_graph", json!({"format": "graphml"}));
}

fn collector(twins: &mut Twins) {
    twins.good("prune_memory", json!({"strategy": "all"}));
    twins.refused("prune_memory", json!({"strategy": "all", "dry_run": false}), "confirmation_required");
    let forgotten = twins.good("forget", json!({"query": "herons"}));
    let plan = forgotten["plan_id"].clone();
    twins.good("get_plan", json!({ "plan_id": plan }));
    let applied = twins.good("gc_apply", json!({"plan_id": plan, "allow_large": true}));
    twins.good("list_trash", json!({}));
    twins.good("gc_undo", json!({"run_id": applied["run_id"]}));
    twins.good("gc_plan", json!({"strategies": ["superseded"]}));
    twins.refused("gc_purge", json!({"older_than": "0s"}), "confirmation_required");
    twins.good("gc_purge", json!({"older_than": "0s", "confirm": true}));
    twins.good("gc_explain", json!({"id": "database"}));
    twins.good("gc_status", json!({}));
    twins.good("list_audit", json!({"limit": 5}));
    twins.good("set_retention", json!({"source": "import", "max_count": 3}));
    twins.good("get_retention", json!({"source": "import"}));
}

/// Through HTTP no folder may be indexed unless the configuration lists it.
fn code(twins: &mut Twins) {
    twins.refused("index_codebase", json!({"path": "/"}), "forbidden");
    twins.good("search_code", json!({"query": "main"}));
    for operation in ["get_symbol", "get_callers", "get_callees"] {
        twins.call(operation, json!({"qualified_name": "main"}));
    }
    twins.good("list_repos", json!({}));
}

fn context(twins: &mut Twins) {
    let segment = |id: &str, text: &str| json!({"segment_id": id, "type": "message", "role": "user", "text": text});
    let segments = json!([segment("one", "falcons fly"), segment("two", "herons wade"), segment("three", "owls wait")]);
    twins.good("context_gc_configure", json!({"session_id": "s", "tokenizer": "chars/4", "recent_segments": 1}));
    twins.good("context_add", json!({"session_id": "s", "segments": segments}));
    twins.good("context_set_focus", json!({"session_id": "s", "task_id": "birds"}));
    twins.good("context_get", json!({"session_id": "s"}));
    twins.good("context_gc_analyze", json!({"session_id": "s", "target_tokens": 4}));
    twins.good("context_gc_pin", json!({"session_id": "s", "segment_ids": ["one"], "reason": "mine"}));
    twins.good("context_gc_unpin", json!({"session_id": "s", "segment_ids": ["one"]}));
    twins.good("context_explain", json!({"session_id": "s", "segment_id": "one"}));
    twins.good("context_compress", json!({"session_id": "s", "segment_id": "one", "summary": "birds"}));
    twins.good("context_gc_prune", json!({"session_id": "s", "segment_ids": ["two"], "strategy": "stash"}));
    twins.good("context_search_stash", json!({"session_id": "s", "query": "herons"}));
    twins.good("context_recall", json!({"query": "herons"}));
    twins.good("context_restore", json!({"session_id": "s", "segment_ids": ["two"]}));
    twins.good("context_export", json!({"session_id": "s"}));
    let messages = json!([{"role": "user", "content": "hello"}]);
    twins.good("context_import", json!({"session_id": "t", "format": "openai", "messages": messages}));
    let messages = json!([{"role": "user", "content": "hello"}]);
    twins.good("context_fit", json!({"session_id": "f", "messages": messages, "budget_tokens": 100}));
    twins.good("context_list_sessions", json!({}));
    twins.good("context_delete_session", json!({"session_id": "t", "confirm": true}));
}

fn database(twins: &mut Twins) {
    twins.good("create_workspace", json!({"workspace_id": "team", "name": "The team"}));
    twins.refused("create_workspace", json!({"workspace_id": "team"}), "conflict");
    twins.refused("list_memories", json!({"workspace_id": "tean"}), "not_found");
    twins.call("list_workspaces", json!({}));
    twins.refused(
        "delete_workspace",
        json!({"workspace_id": "team", "confirm_phrase": "yes"}),
        "confirmation_required",
    );
    twins.good("delete_workspace", json!({"workspace_id": "team", "confirm_phrase": "DELETE team"}));
    let backup = twins.call("backup_create", json!({"format": "jsonl", "workspace_id": "home"}));
    twins.call("backup_list", json!({}));
    twins.call("backup_verify", json!({"backup_id": backup["backup_id"]}));
    twins.refused("backup_restore", json!({"backup_id": backup["backup_id"]}), "confirmation_required");
    twins.call("get_stats", json!({}));
    twins.good("doctor", json!({}));
    let token = twins.call("create_token", json!({"name": "robot", "scopes": ["read"], "workspaces": ["home"]}));
    assert!(token["token"].is_string(), "{token}");
    twins.good("list_tokens", json!({}));
    twins.good("revoke_token", json!({"name": "robot"}));
    twins.refused("defrag", json!({}), "confirmation_required");
}
