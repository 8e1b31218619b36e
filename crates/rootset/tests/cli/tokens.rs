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
fn a_list_shows_for_whom_a_token_is_until_when_and_when_it_was_used() {
    let sandbox = Sandbox::new();
    let created = sandbox.run([
        "token",
        "create",
        "ci",
        "--owner",
        "alice",
        "--trust",
        "untrusted",
        "--roots",
        "/srv/a,/srv/b",
        "--expires",
        "10d",
        "--json",
    ]);
    let created = created.json();
    assert_eq!((&created["owner"], &created["roots"]), (&json!("alice"), &json!(["/srv/a", "/srv/b"])));
    sandbox.run(["token", "create", "robot", "--expires", "never"]);
    let listed = sandbox.run(["token", "list"]).stdout;
    let line = |name: &str| listed.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{listed}"));
    assert!(line("ci").contains("alice") && line("ci").contains("ends soon"), "{listed}");
    assert!(line("robot").contains("never") && line("robot").contains("valid"), "{listed}");
    let rotated = sandbox.run(["token", "rotate", "ci", "--overlap", "2h"]);
    assert!(
        rotated.stdout.starts_with("rst_") && rotated.stderr.contains("the old secret is accepted until"),
        "{rotated:?}"
    );
    assert!(!sandbox.run(["token", "list"]).stdout.contains("ends soon"));
    assert_eq!(sandbox.run(["token", "rotate", "nobody", "--json"]).error_code(), "not_found");
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
