//! Pruning what the agent names: stash at once, delete by the collector's protocol.

use serde_json::json;

use super::{Session, segment_ids};
use crate::harness::{array, ids, text_of};

#[test]
fn of_a_pinned_an_unknown_and_a_good_id_the_good_one_is_done() {
    let session = Session::new();
    session.add_log("good", 10);
    session.add("pinned", "log", "so it is", json!({"pinned": true}));
    session.add_log("last", 1);
    let pruned = session.call("context_gc_prune", json!({"segment_ids": ["pinned", "unknown", "good"]}));
    assert_eq!(ids(&pruned["stashed"]), ["good"]);
    let errors = array(&pruned["errors"]);
    assert_eq!(segment_ids(errors), ["pinned", "unknown"]);
    assert!(text_of(&errors[0]["message"]).contains("pinned"), "{errors:?}");
    assert_eq!(errors[1]["code"], "not_found");
    assert_eq!((&pruned["tokens_freed"], pruned["run_id"].is_string()), (&json!(10), true));
    assert_eq!(session.ids(), ["pinned", "last"]);
}

#[test]
fn deleting_needs_a_confirmation_and_undo_brings_it_back_in_its_place() {
    let session = Session::new();
    for id in ["one", "two", "three"] {
        session.add(id, "note", &format!("the words of {id}"), json!({"raw": {"block": id}}));
    }
    let before = session.segments();
    let request = json!({"segment_ids": ["two"], "strategy": "delete"});
    let (code, _) = session.fails("context_gc_prune", request.clone());
    assert_eq!(code, "confirmation_required");
    assert_eq!(session.segments(), before);
    let mut confirmed = request;
    confirmed["confirm"] = true.into();
    let deleted = session.call("context_gc_prune", confirmed);
    assert_eq!((ids(&deleted["deleted"]), &deleted["stashed"]), (vec!["two".to_owned()], &json!([])));
    assert!(deleted["undo_until"].is_string(), "{deleted}");
    assert_eq!(session.ids(), ["one", "three"]);
    assert_eq!(session.found(json!({})), [] as [&str; 0]);
    assert_eq!(session.world.call("list_trash", json!({}))["total"], 1);
    session.world.call("gc_undo", json!({"run_id": deleted["run_id"]}));
    let after = session.segments();
    assert_eq!(segment_ids(&after), ["one", "two", "three"]);
    assert_eq!((&after[1]["text"], &after[1]["raw"]), (&before[1]["text"], &before[1]["raw"]));
    session.world.assert_doctor_is_content();
}

#[test]
fn a_deleted_segment_that_is_purged_leaves_no_trace() {
    let session = Session::new();
    session.add("secret", "note", "the zanzibar password", json!({"raw": {"said": "zanzibar"}}));
    session.add_log("last", 1);
    session.prune(&["secret"]);
    let deleted =
        session.call("context_gc_prune", json!({"segment_ids": ["secret"], "strategy": "delete", "confirm": true}));
    session.world.call("gc_purge", json!({"run_id": deleted["run_id"], "confirm": true}));
    assert_eq!(session.world.places_with(b"zanzibar"), [] as [&str; 0]);
    session.world.assert_doctor_is_content();
}

#[test]
fn auto_stashes_where_it_would_delete_without_confirmation() {
    let session = Session::new();
    session.add_log("one", 10);
    session.add_log("last", 1);
    let pruned = session.call("context_gc_prune", json!({"segment_ids": ["one"], "strategy": "auto"}));
    assert_eq!((ids(&pruned["stashed"]), &pruned["deleted"]), (vec!["one".to_owned()], &json!([])));
}

#[test]
fn the_other_half_of_a_pair_goes_along_and_comes_back_along() {
    for named in ["call", "result"] {
        let session = Session::new();
        session.add("call", "message", "ls", json!({"role": "assistant", "tool_call_id": "t1"}));
        session.add("result", "log", "src", json!({"role": "tool", "tool_call_id": "t1"}));
        session.add_log("last", 1);
        let pruned = session.prune(&[named]);
        let mut stashed = ids(&pruned["stashed"]);
        stashed.sort();
        assert_eq!(stashed, ["call", "result"]);
        assert_eq!(session.ids(), ["last"]);
        session.call("context_restore", json!({"segment_ids": [named]}));
        assert_eq!(session.ids(), ["call", "result", "last"]);
    }
}

#[test]
fn a_pair_with_a_pinned_half_stays_whole() {
    let session = Session::new();
    session.add("call", "message", "ls", json!({"role": "assistant", "tool_call_id": "t1"}));
    session.add("result", "log", "src", json!({"role": "tool", "tool_call_id": "t1", "pinned": true}));
    session.add_log("last", 1);
    let pruned = session.call("context_gc_prune", json!({"segment_ids": ["call"]}));
    assert_eq!((&pruned["stashed"], segment_ids(array(&pruned["errors"]))), (&json!([]), vec!["call".to_owned()]));
    assert_eq!(session.ids(), ["call", "result", "last"]);
}

#[test]
fn stashing_twice_counts_once() {
    let session = Session::new();
    session.add_log("one", 10);
    session.add_log("last", 1);
    session.prune(&["one"]);
    let again = session.call("context_gc_prune", json!({"segment_ids": ["one"]}));
    assert_eq!(again["tokens_freed"], 0);
    assert_eq!(again["usage_after"]["tokens"], 1);
    assert_eq!(session.found(json!({})), ["one"]);
}

#[test]
fn a_deletion_and_a_stash_that_somebody_asks_for_are_in_the_audit() {
    let session = Session::new();
    session.add_log("one", 10);
    session.add_log("two", 10);
    session.add_log("last", 1);
    let stashed = session.prune(&["one"]);
    let explained = session.call("context_explain", json!({"segment_id": "one"}));
    assert_eq!(explained["alive"], false, "{explained}");
    let deleted =
        session.call("context_gc_prune", json!({"segment_ids": ["two"], "strategy": "delete", "confirm": true}));
    let audit = session.world.call("list_audit", json!({}));
    let runs: Vec<_> = array(&audit["entries"]).iter().map(|entry| entry["run_id"].clone()).collect();
    assert!(runs.contains(&deleted["run_id"]) && runs.contains(&stashed["run_id"]), "{audit}");
}

#[test]
fn a_stash_is_listed_by_its_kind_and_undone_as_a_run() {
    let session = Session::new();
    session.add_log("one", 10);
    session.add_log("last", 1);
    let pruned = session.prune(&["one"]);
    assert_eq!(pruned.get("undo_until"), None, "no grace ends a stash");
    assert_eq!(session.world.call("gc_undo", json!({}))["runs"], json!([]), "it is no deletion");
    let listed = session.world.call("gc_undo", json!({"kind": "segment"}));
    assert_eq!(listed["runs"][0]["run_id"], pruned["run_id"]);
    assert_eq!(listed["runs"][0]["trashed"]["stashed"], 1);
    let undone = session.world.call("gc_undo", json!({"run_id": pruned["run_id"]}));
    assert_eq!(undone["restored"], json!({"memories": 0, "segments": 1}));
    assert_eq!(session.ids(), ["one", "last"]);
    assert_eq!(session.world.call("gc_undo", json!({"kind": "segment"}))["runs"], json!([]));
    session.world.assert_doctor_is_content();
}
