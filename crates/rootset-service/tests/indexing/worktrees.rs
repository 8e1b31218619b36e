//! One repository in several working trees of one workspace.

use std::path::Path;
use std::process::Command;

use rootset_service::{Caller, CurrentWorkspace, FrontEnd, WorkingFolder};
use serde_json::{Value, json};

use crate::harness::{array, text_of};
use crate::place::{Place, SLUG, request, write};

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "init.defaultBranch=main"]);
    // Nothing of the machine's own settings.
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let done = command.args(arguments).current_dir(folder).output().expect("git");
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

fn in_tree(folder: &Path) -> Caller {
    let workspace = CurrentWorkspace::Around(WorkingFolder::new(folder.to_owned()));
    Caller::new(FrontEnd::CommandLine, "cli", workspace)
}

/// A repository, and a worktree of it on another branch in which `orders.py` is another; both indexed.
fn two_trees() -> Place {
    let mut place = Place::new();
    git(&place.root(), &["init", "-q"]);
    git(&place.root(), &["add", "."]);
    git(&place.root(), &["commit", "-q", "-m", "first"]);
    git(&place.root(), &["worktree", "add", "-q", "../fix"]);
    write(&place.beside("fix/orders.py"), "def cancel_order(item, reason):\n    return reason\n");
    for folder in [place.root(), place.beside("fix")] {
        place.world.caller = in_tree(&folder);
        place.world.call("index_codebase", request(&folder, json!({})));
    }
    place
}

fn repos_of(results: &Value) -> Vec<String> {
    let mut repos: Vec<String> = array(results).iter().map(|it| text_of(&it["repo"])).collect();
    repos.sort();
    repos.dedup();
    repos
}

#[test]
fn a_worktree_is_a_tree_of_its_own_in_the_same_workspace_and_condemns_nothing_of_the_other() {
    let place = two_trees();
    let listed = place.world.call("list_repos", json!({}));
    assert_eq!(repos_of(&listed["repos"]), ["fix", SLUG], "{listed}");
    assert!(array(&listed["repos"]).iter().all(|it| it["stale_memories"] == 0 && it["files"] == 4), "{listed}");
}

#[test]
fn questions_are_answered_from_the_tree_that_the_caller_is_in() {
    let mut place = two_trees();
    for (folder, repo, signature) in
        [(place.root(), SLUG, "def cancel_order(item)"), (place.beside("fix"), "fix", "def cancel_order(item, reason)")]
    {
        place.world.caller = in_tree(&folder);
        let found = place.symbols("cancel_order");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((&found[0]["repo"], &found[0]["signature"]), (&json!(repo), &json!(signature)));
        let answer = place.world.call("search_code", json!({"query": "cancel_order"}));
        assert_eq!(repos_of(&answer["results"]), [repo], "{answer}");
        let lines = place.world.call("search_code", json!({"query": "def charge", "mode": "exact"}));
        assert_eq!(lines["total"], 1, "{lines}");
        let callers = place.world.call("find_references", json!({"symbol": "refund"}));
        assert_eq!(repos_of(&callers["results"]), [repo], "{callers}");
    }
    // The other one is there for whoever names it, or stands in neither.
    let named = place.world.call("get_symbol", json!({"qualified_name": "cancel_order", "repo": SLUG}));
    assert_eq!(repos_of(&named["results"]), [SLUG], "{named}");
    let workspace = place.world.call("list_workspaces", json!({}));
    let workspace = array(&workspace["workspaces"]).iter().find(|it| it["workspace_id"] == SLUG).cloned();
    assert!(workspace.is_some());
    place.world.caller = Caller::new(FrontEnd::CommandLine, "cli", SLUG);
    assert_eq!(place.symbols("cancel_order").len(), 2);
}

#[test]
fn beside_an_unrelated_repository_nothing_is_left_out() {
    let mut place = two_trees();
    let other = place.beside("library");
    write(&other.join("orders.py"), "def cancel_order():\n    pass\n");
    place.world.call("index_codebase", request(&other, json!({})));
    place.world.advance_ms(5_000);
    place.world.caller = in_tree(&place.root());
    assert_eq!(place.symbols("cancel_order").len(), 3);
}
