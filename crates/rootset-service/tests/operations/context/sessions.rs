//! Sessions as a whole: made by writing, known by name, apart from each other, deleted with undo.

use serde_json::{Value, json};

use super::{Session, segment_ids};
use crate::harness::{World, array, text_of};

#[test]
fn a_session_is_made_by_whatever_writes_first() {
    let world = World::new();
    world.call("context_add", json!({"session_id": "by-add", "segments": [{"type": "note", "text": "a"}]}));
    world.call("context_set_focus", json!({"session_id": "by-focus", "task_id": "t"}));
    world.call("context_gc_configure", json!({"session_id": "by-settings", "budget_tokens": 5_000}));
    let list = json!([{"role": "user", "content": "hi"}]);
    world.call("context_import", json!({"session_id": "by-import", "format": "openai", "messages": list}));
    let answer = world.call("context_list_sessions", json!({}));
    let mut known: Vec<String> = array(&answer["sessions"]).iter().map(|it| text_of(&it["session_id"])).collect();
    known.sort();
    assert_eq!(known, ["by-add", "by-focus", "by-import", "by-settings"]);
    assert_eq!(answer["total"], 4);
}

#[test]
fn reading_an_unknown_session_is_not_found_with_the_nearest_names() {
    let session = Session { world: World::new(), id: "project-falcon" };
    session.add_log("one", 5);
    for (operation, request) in [
        ("context_get", json!({})),
        ("context_export", json!({})),
        ("context_gc_analyze", json!({})),
        ("context_explain", json!({"segment_id": "one"})),
        ("context_delete_session", json!({"confirm": true})),
    ] {
        let mut unknown = request;
        unknown["session_id"] = "project-falkon".into();
        let (code, error) = session.world.fails(operation, unknown);
        assert_eq!(code, "not_found", "{operation}: {error}");
        assert!(error.to_json().to_string().contains("project-falcon"), "{operation}: {}", error.to_json());
    }
    assert_eq!(session.world.call("context_list_sessions", json!({}))["total"], 1);
}

#[test]
fn sessions_and_workspaces_see_nothing_of_each_other() {
    let mut session = Session::new();
    session.add("one", "note", "the pelican", json!({}));
    session.add_log("last", 1);
    session.prune(&["one"]);
    session.world.call("create_workspace", json!({"workspace_id": "other"}));
    session.world.caller.workspace = "other".into();
    assert_eq!(session.fails("context_get", json!({})).0, "not_found");
    assert_eq!(session.world.call("context_list_sessions", json!({}))["total"], 0);
    session.add("one", "note", "another text altogether", json!({}));
    assert_eq!(session.found(json!({"query": "pelican", "all_sessions": true})), [] as [&str; 0]);
    let restored = session.call("context_restore", json!({"segment_ids": ["last"]}));
    assert_eq!(segment_ids(array(&restored["errors"])), ["last"]);
    session.world.caller.workspace = "home".into();
    assert_eq!(session.found(json!({"query": "pelican"})), ["one"]);
    assert_eq!(session.ids(), ["last"]);
}

#[test]
fn deleting_a_session_needs_a_confirmation_and_can_be_undone() {
    let session = Session::new();
    session.add("one", "note", "the pelican", json!({"pinned": true}));
    session.add("two", "note", "the heron", json!({}));
    session.add_log("last", 1);
    session.prune(&["two"]);
    let before = session.call("context_export", json!({"include": "both"}));
    for request in [json!({}), json!({"confirm": false})] {
        let (code, _) = session.fails("context_delete_session", request);
        assert!(matches!(code, "confirmation_required" | "invalid_argument"), "{code}");
    }
    assert_eq!(session.fails("context_delete_session", json!({"confirm": false})).0, "confirmation_required");
    assert_eq!(session.call("context_export", json!({"include": "both"})), before);
    let deleted = session.call("context_delete_session", json!({"confirm": true}));
    assert!(deleted["undo_until"].is_string(), "{deleted}");
    assert_eq!(session.fails("context_get", json!({})).0, "not_found");
    assert_eq!(session.world.call("context_list_sessions", json!({}))["total"], 0);
    session.world.call("gc_undo", json!({"run_id": deleted["run_id"]}));
    assert_eq!(session.call("context_export", json!({"include": "both"})), before);
    assert_eq!(session.found(json!({"query": "heron"})), ["two"]);
    session.world.assert_doctor_is_content();
}

#[test]
fn a_deleted_session_that_is_purged_leaves_no_trace() {
    let session = Session::new();
    session.add("one", "note", "the zanzibar password", json!({"raw": {"said": "zanzibar"}, "tags": ["zanzibar"]}));
    session.add_log("last", 1);
    session.prune(&["one"]);
    let deleted = session.call("context_delete_session", json!({"confirm": true}));
    session.world.call("gc_purge", json!({"run_id": deleted["run_id"], "confirm": true}));
    assert_eq!(session.world.places_with(b"zanzibar"), [] as [&str; 0]);
    session.world.assert_doctor_is_content();
}

#[test]
fn two_processes_that_take_turns_see_each_others_segments() {
    let session = Session::new();
    let second = session.world.second_process();
    let on_second = |operation: &str, mut request: Value| {
        request["session_id"] = session.id.into();
        second.call(&session.world.caller, operation, request).unwrap_or_else(|error| panic!("{operation}: {error}"))
    };
    for turn in 0..5 {
        session.add_log(&format!("first-{turn}"), 10);
        let segment = json!({"segment_id": format!("second-{turn}"), "type": "log", "text": super::filler(10)});
        let added = on_second("context_add", json!({ "segments": [segment] }));
        assert_eq!(added["usage"]["tokens"], 20 * (turn + 1));
    }
    let expected: Vec<String> = (0..5).flat_map(|turn| [format!("first-{turn}"), format!("second-{turn}")]).collect();
    assert_eq!(session.ids(), expected);
    session.prune(&["second-0"]);
    let seen = on_second("context_get", json!({}));
    assert_eq!(segment_ids(array(&seen["segments"])).len(), 9);
    on_second("context_gc_pin", json!({"segment_ids": ["first-0"], "reason": "seen by the second"}));
    assert!(!session.is_candidate("first-0"));
    let deleted =
        session.call("context_gc_prune", json!({"segment_ids": ["first-1"], "strategy": "delete", "confirm": true}));
    assert!(!on_second("context_get", json!({})).to_string().contains("\"first-1\""));
    let undo = json!({"run_id": deleted["run_id"]});
    second.call(&session.world.caller, "gc_undo", undo).unwrap();
    assert!(session.ids().contains(&"first-1".to_owned()));
}

#[test]
fn a_restart_loses_nothing() {
    let mut session = Session::with(json!({"budget_tokens": 5_000, "mode": "advise"}));
    session.add("one", "note", "the pelican", json!({"references": ["later"], "tags": ["birds"]}));
    session.add("call", "message", "ls", json!({"role": "assistant", "tool_call_id": "t1"}));
    session.add("result", "log", "src", json!({"role": "tool", "tool_call_id": "t1"}));
    session.add_log("last", 10);
    session.call("context_gc_pin", json!({"segment_ids": ["result"], "reason": "so"}));
    let settings = session.call("context_gc_configure", json!({}));
    let analysis = session.call("context_gc_analyze", json!({}));
    let segments = session.segments();
    session.world.restart(|service| service);
    assert_eq!(session.segments(), segments);
    assert_eq!(session.call("context_gc_configure", json!({})), settings);
    let again = session.call("context_gc_analyze", json!({}));
    assert_eq!((&again["usage"], &again["roots"]), (&analysis["usage"], &analysis["roots"]));
    assert_eq!(session.candidate_ids(), ["one"]);
    session.add("later", "note", "it came", json!({}));
    assert_eq!(session.segment("later")["refcount"], 1);
}

#[test]
fn sessions_are_listed_newest_first_with_what_they_hold() {
    let session = Session::new();
    session.add_log("one", 10);
    session.add_log("last", 5);
    session.prune(&["one"]);
    session.world.call("context_add", json!({"session_id": "newer", "segments": [{"type": "note", "text": "a"}]}));
    let listed = session.world.call("context_list_sessions", json!({"limit": 2}));
    let sessions = array(&listed["sessions"]);
    assert_eq!((&sessions[0]["session_id"], &sessions[1]["session_id"]), (&json!("newer"), &json!("session")));
    let this = &sessions[1];
    assert_eq!((&this["segments"], &this["stashed"], &this["tokens"]), (&json!(1), &json!(1), &json!(5)));
}
