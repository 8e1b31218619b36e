//! `rootset secrets`, and what adding says about one.

use crate::sandbox::Sandbox;

/// Shaped like the real thing, and nobody's.
const TOKEN: &str = concat!("ghp", "_Zk3vQ9rT1xLw8YbN5mPc2HsD7fGj4KaR6uVe");
const WARN: &[(&str, &str)] = &[("ROOTSET_MEMORY__SECRETS", "warn")];

#[test]
fn an_added_secret_is_redacted_refused_or_warned_about() {
    let sandbox = Sandbox::new();
    let text = format!("use {TOKEN} for deploys");
    let added = sandbox.run(["add", &text]);
    assert!(added.stderr.contains("1 value looked like a secret and was not stored"), "{added:?}");
    let refuse = [("ROOTSET_MEMORY__SECRETS", "refuse")];
    let refused = sandbox.run_with_variables(&refuse, ["add", &text, "--json"]);
    assert_eq!(refused.error_code(), "invalid_argument");
    assert!(!refused.stdout.contains(TOKEN) && !refused.stderr.contains(TOKEN), "{refused:?}");
    let warned = sandbox.run_with_variables(WARN, ["add", &text]);
    assert!(warned.stderr.contains("`text` looks like a secret (github_token) and was stored"), "{warned:?}");
    let wrong = sandbox.run_with_variables(&[("ROOTSET_MEMORY__SECRETS", "maybe")], ["add", "x", "--json"]);
    assert_eq!(wrong.error_code(), "invalid_argument");
}

#[test]
fn stored_secrets_are_listed_and_redacted() {
    let sandbox = Sandbox::new();
    assert!(sandbox.run(["secrets", "scan"]).stdout.starts_with("nothing that looks like a secret"));
    sandbox.run_with_variables(WARN, ["add", &format!("use {TOKEN} for deploys"), "--name", "leak"]);
    let found = sandbox.run(["secrets", "scan"]);
    assert!(found.stdout.contains("github_token") && !found.stdout.contains(TOKEN), "{found:?}");
    assert_eq!(sandbox.run(["secrets", "redact"]).status, Some(1), "nobody confirmed");
    let redacted = sandbox.run(["secrets", "redact", "--yes"]);
    assert!(redacted.stdout.starts_with("erased 2 values in 1 memory"), "topic and text: {redacted:?}");
    assert!(sandbox.run(["show", "leak", "--json"]).stdout.contains("use [redacted:github_token] for deploys"));
    assert!(sandbox.run(["secrets", "scan"]).stdout.starts_with("nothing that looks like a secret"));
}
