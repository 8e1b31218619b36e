//! `rootset token`.

use serde_json::json;

use crate::sandbox::Sandbox;

#[test]
fn a_token_is_made_for_the_current_workspace_listed_and_revoked() {
    let sandbox = Sandbox::new();
    sandbox.run(["workspace", "create", "team"]);
    let outcome = sandbox.run(["token", "create", "ci", "--workspace", "team", "--expires", "90d"]);
    let secret = outcome.stdout.trim();
    assert!(secret.starts_with("rst_") && !secret.contains(char::is_whitespace), "{outcome:?}");
    assert!(outcome.stderr.contains("may read, write, destroy in team until "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("cannot be shown again"), "{}", outcome.stderr);
    let listed = sandbox.run(["token", "list"]);
    assert!(listed.stdout.contains("ci") && listed.stdout.contains("valid"), "{}", listed.stdout);
    assert!(!listed.stdout.contains(secret));

    assert_eq!(sandbox.run(["token", "revoke", "ci"]).status, Some(1));
    assert_eq!(sandbox.run(["token", "revoke", "ci", "--yes"]).stdout, "revoked ci\n");
    assert!(!sandbox.run(["token", "list"]).stdout.contains("ci"));
    assert!(sandbox.run(["token", "list", "--revoked"]).stdout.contains("revoked"));
}

#[test]
fn a_token_is_revoked_by_its_id_too() {
    let sandbox = Sandbox::new();
    let arguments = ["token", "create", "root", "--scopes", "read,admin", "--workspaces", "*", "--json"];
    let created = sandbox.run(arguments).json();
    assert_eq!((&created["scopes"], &created["workspaces"]), (&json!(["read", "admin"]), &json!(["*"])));
    let id = created["token_id"].as_str().expect("an id");
    assert_eq!(sandbox.run(["token", "revoke", id, "--yes", "--json"]).json()["name"], "root");
    assert_eq!(sandbox.run(["token", "revoke", "root", "--yes", "--json"]).error_code(), "not_found");
    assert_eq!(sandbox.run(["token", "create", "x", "--scopes", "all", "--json"]).error_code(), "invalid_argument");
}
