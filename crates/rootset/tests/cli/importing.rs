//! `rootset import`: looks first, asks, adds what is missing, and adds nothing the second time.

use serde_json::json;

use crate::sandbox::Sandbox;

const FILE: &str = concat!(
    r#"{"type":"entity","name":"Alice","entityType":"person","observations":["likes tea","lives in Oslo"]}"#,
    "\n",
    r#"{"type":"entity","name":"Falcon","entityType":"project","observations":["ships in May"]}"#,
    "\n",
    r#"{"type":"entity","name":"Acme","entityType":"company","observations":[]}"#,
    "\n",
    r#"{"type":"relation","from":"Alice","to":"Falcon","relationType":"leads"}"#,
    "\n",
    r#"{"type":"relation","from":"Alice","to":"Acme","relationType":"works at"}"#,
    "\n",
);

fn sandbox_with(file: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("memory.jsonl", file);
    sandbox
}

#[test]
fn dry_run_shows_what_would_be_added_and_adds_nothing() {
    let sandbox = sandbox_with(FILE);
    let outcome = sandbox.run(["import", "memory.jsonl", "--dry-run"]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    for line in ["2 memories to add", "  + Alice", "3 entities and 2 relations to add", "already there: 0 memories"] {
        assert!(outcome.stdout.contains(line), "`{line}` is not in {outcome:?}");
    }
    assert_eq!(sandbox.call("list_memories", "{}")["total"], 0);
    let outcome = sandbox.run_with_input(["import", "memory.jsonl"], "y\n");
    assert_eq!(outcome.status, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains("needed to add 2 memories, 3 entities, 2 relations to workspace `home`"));
    assert_eq!(sandbox.call("list_memories", "{}")["total"], 0);
}

#[test]
fn entities_become_memories_and_the_second_time_adds_nothing() {
    let sandbox = sandbox_with(FILE);
    let outcome = sandbox.run(["import", "memory.jsonl", "--yes"]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert!(outcome.stdout.contains("added 2 memories, 3 entities, 2 relations"), "{outcome:?}");
    assert!(outcome.stderr.contains("rootset forget --source server-memory"), "{outcome:?}");
    let alice = sandbox.call("get_memory", r#"{"memory_id": "alice"}"#);
    assert_eq!(alice["topic"], "Alice");
    assert_eq!(alice["context"], "likes tea\nlives in Oslo");
    assert_eq!(alice["tags"], json!(["person"]));
    assert_eq!((&alice["channel"], &alice["trust"]), (&json!("import"), &json!("imported")));
    let related = sandbox.call("get_entity", r#"{"entity_id": "Acme"}"#);
    assert_eq!(related["relations"][0]["relation"], "works at");
    let runs = sandbox.call("gc_undo", "{}");
    let again = sandbox.run(["import", "memory.jsonl", "--json"]).json();
    assert_eq!(again["memories"], json!({"new": 0, "changed": 0, "unchanged": 2, "edited_here": 0, "in_trash": 0}));
    assert_eq!((&again["entities"], &again["relations"]), (&json!(0), &json!(0)));
    assert_eq!(sandbox.call("gc_undo", "{}"), runs, "no new run");
    assert_eq!(sandbox.call("list_memories", "{}")["total"], 2);
}

#[test]
fn newer_text_replaces_the_older_and_edits_and_removals_here_stand() {
    let sandbox = sandbox_with(FILE);
    sandbox.run(["import", "memory.jsonl", "--yes"]);
    sandbox.run(["edit", "falcon", "--text", "ships in June"]);
    sandbox.write("memory.jsonl", FILE.replace("likes tea", "likes coffee").replace("in May", "in July"));
    let answer = sandbox.run(["import", "memory.jsonl", "--yes", "--json"]).json();
    assert_eq!(answer["memories"]["changed"], 1, "{answer}");
    assert_eq!(answer["memories"]["edited_here"], 1, "{answer}");
    let listed = sandbox.call("list_memories", "{}");
    assert_eq!(listed["total"], 2, "the older text is superseded: {listed}");
    let found = sandbox.run(["search", "coffee", "--json"]).json();
    assert_eq!(found["results"][0]["topic"], "Alice");
    assert_eq!(sandbox.call("get_memory", r#"{"memory_id": "falcon"}"#)["context"], "ships in June");

    let other = sandbox_with(FILE);
    other.run(["import", "memory.jsonl", "--yes"]);
    other.run(["rm", "alice", "--yes"]);
    let answer = other.run(["import", "memory.jsonl", "--yes", "--json"]).json();
    assert_eq!((&answer["memories"]["in_trash"], &answer["memories"]["new"]), (&json!(1), &json!(0)), "{answer}");
    assert_eq!(other.call("list_memories", "{}")["total"], 1);
}

#[test]
fn secrets_are_not_stored_and_do_not_look_changed_the_next_time() {
    let line =
        r#"{"type":"entity","name":"Key","entityType":"note","observations":["AKIAIOSFODNN7EXAMPLE is the key"]}"#;
    let sandbox = sandbox_with(line);
    assert_eq!(sandbox.run(["import", "memory.jsonl", "--yes"]).status, Some(0));
    let again = sandbox.run(["import", "memory.jsonl", "--json"]).json();
    assert_eq!(again["memories"]["unchanged"], 1, "{again}");
}

#[test]
fn bad_lines_are_named_and_files_of_another_kind_are_refused() {
    let sandbox = sandbox_with(&format!("{FILE}{{\"type\":\"entity\"\n[]\n"));
    let outcome = sandbox.run(["import", "memory.jsonl", "--dry-run"]);
    assert!(outcome.stdout.contains("line 6 skipped: "), "{outcome:?}");
    assert!(outcome.stdout.contains("line 7 skipped: "), "{outcome:?}");
    for (text, says) in [("", "is empty"), ("hello\n", "line 1"), ("{\"a\": 1}\n", "line 1")] {
        sandbox.write("other.txt", text);
        let outcome = sandbox.run(["import", "other.txt", "--yes"]);
        assert_eq!(outcome.status, Some(1), "{outcome:?}");
        assert!(outcome.stderr.contains(says), "{outcome:?}");
    }
    let outcome = sandbox.run(["import", "nowhere.jsonl"]);
    assert!(outcome.stderr.contains("cannot open `nowhere.jsonl`"), "{outcome:?}");
    let outcome = sandbox.run(["import", "."]);
    assert_eq!(outcome.status, Some(1), "{outcome:?}");
}

#[test]
fn bundle_is_brought_as_a_workspace_and_replaces_another_only_after_a_yes() {
    let sandbox = Sandbox::new();
    sandbox.run(["workspace", "create", "research"]);
    sandbox.run(["add", "falcon", "--name", "falcon", "-w", "research"]);
    let created = sandbox.run(["backup", "create", "-w", "research", "--json"]).json();
    let path = created["path"].as_str().expect("a path");
    let dry = sandbox.run(["import", path, "-w", "copy", "--dry-run"]);
    assert!(dry.stdout.contains("into `copy`, which is new"), "{dry:?}");
    assert_eq!(sandbox.run(["list", "-w", "copy"]).status, Some(1), "a dry run makes no workspace");
    let outcome = sandbox.run(["import", path, "-w", "copy", "--yes"]);
    assert!(outcome.stdout.contains("restored 1 memory in copy"), "{outcome:?}");
    assert_eq!(sandbox.run(["show", "falcon", "-w", "copy"]).status, Some(0));
    let dry = sandbox.run(["import", path, "-w", "copy", "--dry-run"]);
    assert!(dry.stdout.contains("replacing 1 memory"), "{dry:?}");
    sandbox.run(["add", "written since", "-w", "copy"]);
    let refused = sandbox.run(["import", path, "-w", "copy", "--json"]);
    assert_eq!(refused.error_code(), "confirmation_required");
    assert_eq!(sandbox.run(["list", "-w", "copy", "--json"]).json()["total"], 2);
    let manifest = format!("{path}/manifest.json");
    assert_eq!(sandbox.run(["import", &manifest, "-w", "copy", "--yes"]).status, Some(0));
    assert_eq!(sandbox.run(["list", "-w", "copy", "--json"]).json()["total"], 1);
}

#[test]
fn bundle_of_a_whole_database_needs_the_name_of_a_workspace() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "falcon"]);
    let created = sandbox.run(["backup", "create", "--format", "jsonl", "--json"]).json();
    let path = created["path"].as_str().expect("a path");
    let outcome = sandbox.run(["import", path, "--yes"]);
    assert_eq!(outcome.status, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains("`--from`"), "{outcome:?}");
    let outcome = sandbox.run(["import", path, "--from", "home", "-w", "copy", "--yes"]);
    assert!(outcome.stdout.contains("restored 1 memory in copy"), "{outcome:?}");
}
