//! What removes asks first; where nobody can answer, nothing is removed.

use crate::sandbox::Sandbox;

#[track_caller]
fn refused<const N: usize>(sandbox: &Sandbox, arguments: [&str; N]) {
    // An answer in a pipe is not an answer: it may belong to another program's input.
    let outcome = sandbox.run_with_input(arguments, "y\nerase\n");
    assert_eq!(outcome.status, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains("a confirmation is needed to"), "{outcome:?}");
    assert!(outcome.stderr.contains("--yes"), "{outcome:?}");
    let mut in_json = arguments.to_vec();
    in_json.push("--json");
    let outcome = crate::sandbox::outcome(sandbox.command().args(in_json));
    assert_eq!((outcome.status, outcome.error_code().as_str()), (Some(1), "confirmation_required"), "{outcome:?}");
}

#[test]
fn nothing_is_removed_without_a_terminal_or_yes() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "falcon", "--name", "falcon"]);
    sandbox.run(["add", "eagle", "--name", "eagle"]);
    sandbox.run(["workspace", "create", "team"]);
    refused(&sandbox, ["rm", "falcon"]);
    refused(&sandbox, ["forget", "falcon"]);
    refused(&sandbox, ["forget", "falcon", "--purge"]);
    refused(&sandbox, ["edit", "falcon", "--erase-previous"]);
    refused(&sandbox, ["gc", "purge", "--older-than", "0s"]);
    refused(&sandbox, ["workspace", "delete", "team"]);
    let plan = sandbox.run(["forget", "falcon", "--dry-run", "--json"]).json();
    refused(&sandbox, ["gc", "apply", plan["plan_id"].as_str().expect("a plan")]);
    assert_eq!(sandbox.call("list_memories", "{}")["total"], 2);
    assert_eq!(sandbox.call("list_trash", "{}")["total"], 0);
}

#[test]
fn refused_forget_names_its_plan_which_can_be_applied() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "falcon", "--name", "falcon"]);
    sandbox.run(["add", "eagle", "--name", "eagle"]);
    let refusal = sandbox.run(["forget", "falcon", "--json"]).json();
    let plan = refusal["error"]["details"]["plan_id"].as_str().expect("the plan that waits");
    assert_eq!(sandbox.run(["gc", "apply", plan, "--yes"]).status, Some(0));
    assert_eq!(sandbox.call("list_memories", "{}")["total"], 1);
}

#[test]
fn edit_without_options_needs_a_terminal() {
    let sandbox = Sandbox::new();
    sandbox.run(["add", "falcon", "--name", "falcon"]);
    let outcome = sandbox.run(["edit", "falcon"]);
    assert_eq!(outcome.status, Some(1));
    assert!(outcome.stderr.contains("rootset edit --help"), "{outcome:?}");
}
