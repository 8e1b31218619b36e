//! The commands about an agent's context: files in, files out, and what a person is told.

use serde_json::json;

use crate::sandbox::Sandbox;

/// A message list of Anthropic's API with two tool calls.
fn with_messages() -> Sandbox {
    let sandbox = Sandbox::new();
    let call =
        |id: &str, path: &str| json!({"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": path}});
    let result = |id: &str, text: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text}]});
    let messages = json!([
        {"role": "user", "content": "Mend parse_header, please."},
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}, call("one", "src/parse.rs")]},
        result("one", &"fn parse_header() {}\n".repeat(50)),
        {"role": "assistant", "content": [call("two", "src/other.rs")]},
        result("two", &"fn other_thing() {}\n".repeat(50)),
        {"role": "assistant", "content": "Done."},
    ]);
    sandbox.write("talk.json", messages.to_string());
    sandbox
}

#[test]
fn a_file_is_analysed_without_being_imported() {
    let sandbox = with_messages();
    let outcome = sandbox.run(["context", "analyze", "talk.json", "--budget", "1000"]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert!(outcome.stdout.contains("tokens,") && outcome.stdout.contains("% of 1,000"), "{outcome:?}");
    assert!(outcome.stdout.contains("must stay: "), "{outcome:?}");
    let analysis = sandbox.run(["--json", "context", "analyze", "talk.json"]).json();
    assert!(analysis["plan"].get("plan_id").is_none(), "{analysis}");
    assert!(!sandbox.has_database());
}

#[test]
fn a_list_is_imported_pruned_and_rendered_as_it_was_after_a_restore() {
    let sandbox = with_messages();
    let outcome = sandbox.run(["context", "import", "talk.json"]);
    assert!(outcome.stdout.starts_with("talk: imported 7 segments"), "{outcome:?}");
    let list = |sandbox: &Sandbox| sandbox.run(["context", "show", "talk", "--format", "anthropic"]).json();
    let before = list(&sandbox);
    let outcome = sandbox.run(["context", "prune", "talk", "m3"]);
    assert!(outcome.stdout.starts_with("2 segments stashed\n"), "{outcome:?}");
    assert!(!list(&sandbox).to_string().contains("parse.rs"));
    let outcome = sandbox.run(["context", "search", "talk", "parse_header"]);
    assert!(outcome.stdout.contains("m4"), "{outcome:?}");
    sandbox.run(["context", "restore", "talk", "m4"]);
    assert_eq!(list(&sandbox)["messages"], before["messages"]);
}

#[test]
fn what_could_not_be_done_is_told_and_is_in_the_status() {
    let sandbox = with_messages();
    sandbox.run(["context", "import", "talk.json"]);
    sandbox.run(["context", "pin", "talk", "m1", "--reason", "what it is about"]);
    let outcome = sandbox.run(["context", "prune", "talk", "m1", "m99", "m2"]);
    assert_eq!(outcome.status, Some(1), "{outcome:?}");
    assert!(outcome.stdout.starts_with("1 segment stashed\n"), "{outcome:?}");
    assert!(outcome.stderr.contains("m1: ") && outcome.stderr.contains("what it is about"), "{outcome:?}");
    assert!(outcome.stderr.contains("m99: no segment"), "{outcome:?}");
    let outcome = sandbox.run(["context", "show", "tolk"]);
    assert_eq!((outcome.status, outcome.stdout.as_str()), (Some(1), ""));
    assert!(outcome.stderr.contains("did you mean `talk`?"), "{outcome:?}");
}

#[test]
fn deleting_asks_and_can_be_undone() {
    let sandbox = with_messages();
    sandbox.run(["context", "import", "talk.json"]);
    let outcome = sandbox.run(["--json", "context", "prune", "talk", "m2", "--delete"]);
    assert_eq!(outcome.error_code(), "confirmation_required");
    let outcome = sandbox.run(["--json", "--yes", "context", "prune", "talk", "m2", "--delete"]).json();
    assert_eq!(outcome["deleted"], json!(["m2"]));
    let run = outcome["run_id"].as_str().expect("a run");
    assert_eq!(sandbox.run(["undo", run]).status, Some(0));
    assert!(sandbox.run(["context", "show", "talk"]).stdout.contains("I look."));
    sandbox.run(["--yes", "context", "rm", "talk"]);
    assert_eq!(sandbox.call("context_list_sessions", "{}")["total"], 0);
    assert_eq!(sandbox.run(["undo", "--last"]).status, Some(0));
    assert_eq!(sandbox.call("context_list_sessions", "{}")["total"], 1);
}

#[test]
fn an_export_replaces_an_export_and_sets_anything_else_aside() {
    let sandbox = with_messages();
    sandbox.run(["context", "import", "talk.json"]);
    sandbox.run(["context", "export", "talk", "--output", "out.json"]);
    let outcome = sandbox.run(["context", "import", "out.json", "--session", "again"]);
    assert!(outcome.stdout.starts_with("again: imported 7 segments"), "{outcome:?}");
    sandbox.run(["context", "export", "talk", "--output", "out.json"]);
    assert!(!sandbox.work().join("out.json.corrupt").exists());
    sandbox.write("out.json", "{\"segments\": [{\"seg");
    let outcome = sandbox.run(["context", "export", "talk", "-o", "out.json"]);
    assert!(outcome.stderr.contains("was kept as"), "{outcome:?}");
    let aside = std::fs::read_to_string(sandbox.work().join("out.json.corrupt")).expect("what was there");
    assert_eq!(aside, "{\"segments\": [{\"seg");
}

#[test]
fn a_corrupt_file_is_reported_and_left_alone() {
    let sandbox = Sandbox::new();
    sandbox.write("broken.json", "{\"segments\": [{\"seg");
    let outcome = sandbox.run(["--json", "context", "import", "broken.json", "--format", "rootset"]);
    assert_eq!((outcome.status, outcome.error_code().as_str()), (Some(1), "invalid_argument"));
    assert!(outcome.stdout.contains("broken.json"), "{outcome:?}");
    let left = std::fs::read_to_string(sandbox.work().join("broken.json")).expect("the file");
    assert_eq!(left, "{\"segments\": [{\"seg");
    assert_eq!(sandbox.call("context_list_sessions", "{}")["total"], 0);
}

#[test]
fn settings_of_the_configuration_are_in_force_for_every_session() {
    let sandbox = Sandbox::new();
    let variables = [("ROOTSET_CONTEXT__BUDGET_TOKENS", "5000"), ("ROOTSET_CONTEXT__TOKENIZER", "chars/4")];
    let settings = sandbox.run_with_variables(&variables, ["call", "context_gc_configure", r#"{"session_id": "s"}"#]);
    let settings = settings.json();
    assert_eq!((&settings["budget_tokens"], &settings["tokenizer"]), (&json!(5_000), &json!("chars/4")));
    let variables = [("ROOTSET_CONTEXT__SOFT_PERCENT", "95")];
    let outcome = sandbox.run_with_variables(&variables, ["--json", "stats"]);
    assert!(outcome.stdout.contains("soft_percent") && outcome.stdout.contains("hard_percent"), "{outcome:?}");
}

const LEASE: &str = include_str!("../../../../docs/examples/lease.jsonl");

fn session_files(sandbox: &Sandbox) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(sandbox.work()).expect("the folder").map(|entry| entry.expect("an entry").path());
    entries.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).collect()
}

#[test]
fn a_smaller_session_is_a_new_file_and_what_left_can_be_recalled() {
    let sandbox = Sandbox::new();
    sandbox.write("lease.jsonl", LEASE);
    let outcome = sandbox.run(["context", "collect", "lease.jsonl", "--to", "12000"]);
    assert_eq!(outcome.status, Some(0), "{outcome:?}");
    assert!(outcome.stdout.contains("would leave") && outcome.stdout.contains("nothing was changed"), "{outcome:?}");
    assert!(!sandbox.has_database() && session_files(&sandbox).len() == 1);

    let written = sandbox.run(["--json", "context", "collect", "lease.jsonl", "--to", "12000", "--write"]).json();
    assert!(written["tokens_after"].as_u64() <= Some(12_000), "{written}");
    assert_eq!(std::fs::read_to_string(sandbox.work().join("lease.jsonl")).unwrap(), LEASE);
    let path = written["written"].as_str().unwrap();
    let new = std::fs::read_to_string(path).unwrap();
    assert!(new.len() < LEASE.len() && new.contains(written["session_id"].as_str().unwrap()));
    let of = |text: &str, field: &str| -> Vec<serde_json::Value> {
        text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()[field].clone()).collect()
    };
    for field in ["uuid", "parentUuid", "type"] {
        assert_eq!(of(&new, field), of(LEASE, field), "{field}");
    }
    let analysis = sandbox.run(["--json", "context", "analyze", path]).json();
    assert!(analysis["usage"]["tokens"].as_u64() < Some(15_000), "{analysis}");
    // What left is in the stash.
    let recalled =
        sandbox.run(["call", "context_recall", r#"{"query": "killed at sweep.batch resumed doctor"}"#]).json();
    assert!(recalled["results"].as_array().is_some_and(|it| !it.is_empty()), "{recalled}");
}

#[test]
fn a_file_is_rewritten_only_when_nobody_writes_to_it_and_after_a_copy_beside_sqlite() {
    let sandbox = Sandbox::new();
    sandbox.write("lease.jsonl", LEASE);
    let refused = sandbox.run(["context", "collect", "lease.jsonl", "--to", "12000", "--in-place"]);
    assert!(refused.status != Some(0) && refused.stderr.contains("is being written"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(sandbox.work().join("lease.jsonl")).unwrap(), LEASE);
    let file = std::fs::File::options().append(true).open(sandbox.work().join("lease.jsonl")).unwrap();
    file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(3_600)).unwrap();
    let outcome = sandbox.run(["--json", "context", "collect", "lease.jsonl", "--to", "12000", "--in-place"]).json();
    assert!(std::fs::read_to_string(sandbox.work().join("lease.jsonl")).unwrap().len() < LEASE.len());
    assert_eq!(std::fs::read_to_string(outcome["copy"].as_str().unwrap()).unwrap(), LEASE);
    for nonsense in ["missing.jsonl", "", "../../etc/passwd", "talk.json"] {
        assert_ne!(sandbox.run(["context", "collect", nonsense]).status, Some(0), "{nonsense}");
    }
}
