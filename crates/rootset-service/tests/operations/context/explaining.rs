//! Why a segment stays or may go, and what would go with it.

use serde_json::{Value, json};

use super::{Session, filler};
use crate::harness::{ids, text_of};

/// A pinned segment that refers to one, which refers to two more; and one that nothing refers to.
fn tree() -> Session {
    let session = Session::new();
    session.add("leaf-1", "note", &filler(30), json!({}));
    session.add("leaf-2", "note", &filler(40), json!({}));
    session.add("branch", "note", &filler(20), json!({"references": ["leaf-1", "leaf-2"]}));
    session.add("root", "note", &filler(10), json!({"references": ["branch"], "pinned": true}));
    session.add_log("loose", 50);
    session.add_log("last", 1);
    session
}

fn explain(session: &Session, id: &str) -> Value {
    session.call("context_explain", json!({ "segment_id": id }))
}

#[test]
fn the_path_from_a_root_is_shown() {
    let session = tree();
    let leaf = explain(&session, "leaf-1");
    assert_eq!(
        (&leaf["alive"], ids(&leaf["path"])),
        (&json!(true), ["root", "branch", "leaf-1"].map(str::to_owned).to_vec())
    );
    let root = explain(&session, "root");
    assert_eq!((&root["alive"], ids(&root["path"])), (&json!(true), vec!["root".to_owned()]));
    assert!(text_of(&root["reason"]).contains("pinned"), "{root}");
}

#[test]
fn where_no_root_leads_it_is_said() {
    let session = tree();
    let loose = explain(&session, "loose");
    assert_eq!(loose["alive"], false, "{loose}");
    assert_eq!(ids(&loose["path"]), [] as [&str; 0]);
    assert!(text_of(&loose["reason"]).contains("unreachable"), "{loose}");
}

#[test]
fn retained_tokens_are_what_would_become_unreachable() {
    let session = tree();
    let retained = |id: &str| explain(&session, id)["retained_tokens"].as_u64().unwrap();
    assert_eq!(retained("leaf-1"), 30);
    assert_eq!(retained("branch"), 90);
    assert_eq!(retained("root"), 100);
    // A second way to a leaf: the branch alone does not hold it any more.
    session.add("second", "note", &filler(5), json!({"references": ["leaf-2"], "pinned": true}));
    assert_eq!(retained("branch"), 50);
    assert_eq!(retained("leaf-2"), 40);
}

#[test]
fn each_root_is_explained_by_its_kind() {
    let session = Session::new();
    session.add("task", "log", "so it is", json!({"task_id": "task-1"}));
    session.add("file", "code", "so it is", json!({"file_path": "src/main.rs"}));
    session.add("decision", "decision", "so it is", json!({}));
    session.add("last", "log", "so it is", json!({}));
    session.call("context_set_focus", json!({"task_id": "task-1", "active_file": "src/main.rs"}));
    for (id, word) in [("task", "task"), ("file", "file"), ("decision", "decision"), ("last", "last")] {
        let explained = explain(&session, id);
        assert_eq!(explained["alive"], true, "{explained}");
        assert!(text_of(&explained["reason"]).contains(word), "{id}: {explained}");
    }
}

#[test]
fn a_stashed_segment_says_when_and_why_it_left() {
    let session = tree();
    session.prune(&["loose"]);
    let explained = explain(&session, "loose");
    assert_eq!(explained["alive"], false);
    assert!(text_of(&explained["reason"]).contains("stash"), "{explained}");
}
