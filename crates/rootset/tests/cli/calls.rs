//! `rootset call`, the door for programs.

use serde_json::json;

use crate::sandbox::Sandbox;

#[test]
fn request_comes_from_the_argument_or_from_stdin() {
    let sandbox = Sandbox::new();
    let added = sandbox.call("add_memory", r#"{"text": "Falcon uses Postgres", "name": "falcon"}"#);
    assert_eq!((&added["name"], &added["created"]), (&json!("falcon"), &json!(true)));
    let outcome = sandbox.run_with_input(["call", "search_memory", "-"], r#"{"query": "falcon"}"#);
    assert_eq!(outcome.json()["results"][0]["name"], "falcon");
    assert_eq!(sandbox.call("list_memories", "{}")["total"], 1);
    assert_eq!(sandbox.run(["call", "list_memories"]).json()["total"], 1);
}

#[test]
fn answer_is_one_line_in_a_pipe() {
    let sandbox = Sandbox::new();
    sandbox.call("add_memory", r#"{"text": "one\ntwo"}"#);
    let outcome = sandbox.run(["call", "list_memories"]);
    assert_eq!(outcome.stdout.lines().count(), 1);
    assert_eq!(outcome.stderr, "");
}

#[test]
fn writer_is_the_command_line() {
    let sandbox = Sandbox::new();
    sandbox.call("add_memory", r#"{"text": "x", "name": "x"}"#);
    let memory = sandbox.call("get_memory", r#"{"memory_id": "x"}"#);
    assert_eq!((&memory["written_by"], &memory["source"]), (&json!("cli"), &json!("user")));
}

#[test]
fn uses_are_written_after_the_answer() {
    let sandbox = Sandbox::new();
    sandbox.call("add_memory", r#"{"text": "falcon", "name": "x"}"#);
    sandbox.call("search_memory", r#"{"query": "falcon"}"#);
    sandbox.call("get_memory", r#"{"memory_id": "x"}"#);
    assert_eq!(sandbox.call("get_memory", r#"{"memory_id": "x"}"#)["use_count"], 2);
}

#[test]
fn errors_are_json_on_stdout_with_the_status_of_their_code() {
    let sandbox = Sandbox::new();
    let cases: [(&[&str], &str); 6] = [
        (&["call", "nonsense", "{}"], "invalid_argument"),
        (&["call", "get_memory", r#"{"memory_id": "none"}"#], "not_found"),
        (&["call", "add_memory", "{"], "invalid_argument"),
        (&["call", "add_memory", "[]"], "invalid_argument"),
        (&["call", "gc_purge", r#"{"older_than": "1d"}"#], "confirmation_required"),
        (&["call", "list_memories", "{}", "--nonsense"], "invalid_argument"),
    ];
    for (arguments, code) in cases {
        let outcome = crate::sandbox::outcome(sandbox.command().args(arguments));
        assert_eq!(outcome.status, Some(1), "{arguments:?}: {outcome:?}");
        assert_eq!(outcome.error_code(), code, "{arguments:?}");
        assert_eq!(outcome.stderr, "", "{arguments:?}");
    }
}

#[test]
fn friendly_commands_print_the_same_json() {
    let sandbox = Sandbox::new();
    sandbox.call("add_memory", r#"{"text": "falcon", "name": "x"}"#);
    assert_eq!(sandbox.run(["list", "--json"]).json(), sandbox.call("list_memories", "{}"));
    assert_eq!(sandbox.run(["--json", "show", "none"]).error_code(), "not_found");
}

#[test]
fn without_a_name_the_operations_are_listed_and_a_schema_is_printed_of_one() {
    let sandbox = Sandbox::new();
    let listed = sandbox.run(["call"]);
    assert_eq!(listed.status, Some(0), "{listed:?}");
    let row = |name: &str| listed.stdout.lines().any(|line| line.split_whitespace().next() == Some(name));
    assert!(row("add_memory") && row("gc_undo") && listed.stderr.contains("--schema"), "{listed:?}");
    let names = sandbox.run(["call", "--json"]).json();
    assert_eq!(names["operations"].as_array().expect("a list").len(), listed.stdout.lines().count() - 1);
    for name in ["add_memory", "gc_undo", "context_import"] {
        let schema = sandbox.run(["call", name, "--schema"]).json();
        assert!(schema["request"]["properties"].is_object() && schema["example"].is_object(), "{schema}");
    }
    let unknown = sandbox.run(["call", "serach_memory", "--schema"]);
    assert_eq!(unknown.error_code(), "invalid_argument");
    assert!(unknown.stdout.contains("search_memory"), "{unknown:?}");
    assert!(!sandbox.has_database(), "nobody asked for one");
}
