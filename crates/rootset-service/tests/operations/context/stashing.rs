//! The stash: found by words and by what is known, brought back to its place, stood for by a summary.

use serde_json::{Value, json};

use super::{Session, filler, segment_ids};
use crate::harness::{HOUR_MS, array, ids, text_of};

#[test]
fn stashed_then_restarted_it_is_found_and_comes_back_to_its_place() {
    let mut session = Session::new();
    session.add("before", "note", "the walrus", json!({}));
    let raw = json!({"role": "user", "content": [{"type": "text", "text": "the pelican"}]});
    session.add("middle", "note", "the pelican", json!({"raw": raw, "tags": ["birds"]}));
    session.add("after", "note", "the heron", json!({}));
    session.add_log("last", 1);
    let whole = session.segment("middle");
    session.prune(&["before", "middle"]);
    assert_eq!(session.ids(), ["after", "last"]);
    session.world.restart(|service| service);
    let found = session.call("context_search_stash", json!({"query": "pelican"}));
    let [hit] = array(&found["results"]) else { panic!("{found}") };
    assert_eq!((&hit["segment_id"], &hit["session_id"]), (&json!("middle"), &json!("session")));
    assert_eq!((&hit["type"], &hit["preview"], &hit["tokens"]), (&json!("note"), &json!("the pelican"), &json!(2)));
    assert!(hit["stashed_at"].is_string() && hit["reason"].is_string(), "{hit}");
    let restored = session.call("context_restore", json!({"segment_ids": ["middle"]}));
    assert_eq!((ids(&restored["restored"]), &restored["errors"]), (vec!["middle".to_owned()], &json!([])));
    assert_eq!(session.ids(), ["middle", "after", "last"]);
    let again = session.segment("middle");
    for field in ["text", "raw", "tags", "created_at", "created_step", "tokens"] {
        assert_eq!(again[field], whole[field], "{field}");
    }
    assert_eq!(session.found(json!({"query": "pelican"})), [] as [&str; 0]);
}

#[test]
fn the_stash_is_searched_by_words_type_file_tags_and_time() {
    let session = Session::new();
    session.add("view", "code", "fn walrus() {}", json!({"file_path": "src/sea.rs", "tags": ["rust", "sea"]}));
    session.add("log", "log", "walrus: 3 warnings", json!({"tags": ["rust"]}));
    session.world.advance_ms(HOUR_MS);
    let noon = session.world.now_ms();
    session.add("note", "note", "remember the heron", json!({"tags": ["birds"]}));
    session.add_log("last", 1);
    session.prune(&["view", "log", "note"]);
    let found = |request: Value| {
        let mut found = session.found(request);
        found.sort();
        found
    };
    assert_eq!(found(json!({})), ["log", "note", "view"]);
    assert_eq!(found(json!({"query": "walrus"})), ["log", "view"]);
    assert_eq!(found(json!({"query": "walrus", "type": "code"})), ["view"]);
    assert_eq!(found(json!({"file_path": "src/sea.rs"})), ["view"]);
    assert_eq!(found(json!({"tags": ["rust"]})), ["log", "view"]);
    assert_eq!(found(json!({"tags": ["rust", "sea"]})), ["view"]);
    assert_eq!(found(json!({"created_after": noon})), ["note"]);
    assert_eq!(found(json!({"created_before": noon})), ["log", "view"]);
    assert_eq!(found(json!({"query": "penguin"})), [] as [&str; 0]);
    assert_eq!(found(json!({"limit": 2})).len(), 2);
}

#[test]
fn the_stash_is_shared_by_the_sessions_of_a_workspace() {
    let session = Session::new();
    session.add("note", "note", "the pelican", json!({"raw": {"a": 1}}));
    session.add_log("last", 1);
    session.prune(&["note"]);
    let other = |operation: &str, mut request: Value| {
        request["session_id"] = "other".into();
        session.world.call(operation, request)
    };
    other("context_add", json!({"segments": [{"segment_id": "hello", "type": "message", "text": "hello"}]}));
    let query = json!({"query": "pelican"});
    assert_eq!(other("context_search_stash", query)["results"], json!([]));
    let everywhere = other("context_search_stash", json!({"query": "pelican", "all_sessions": true}));
    assert_eq!(segment_ids(array(&everywhere["results"])), ["note"]);
    assert_eq!(everywhere["results"][0]["session_id"], "session");
    let restored = other("context_restore", json!({"segment_ids": ["note"], "from_session_id": "session"}));
    assert_eq!(restored["errors"], json!([]), "{restored}");
    let segments = other("context_get", json!({}))["segments"].clone();
    let copy = array(&segments).iter().find(|segment| segment["text"] == "the pelican").unwrap();
    assert_eq!(copy["raw"], json!({"a": 1}));
    // The one it came from is as it was.
    assert_eq!(session.ids(), ["last"]);
}

#[test]
fn what_cannot_be_restored_is_told_one_by_one() {
    let session = Session::new();
    session.add_log("one", 5);
    session.add_log("last", 1);
    session.prune(&["one"]);
    let restored = session.call("context_restore", json!({"segment_ids": ["nobody", "one"]}));
    assert_eq!(ids(&restored["restored"]), ["one"]);
    let errors = array(&restored["errors"]);
    assert_eq!((segment_ids(errors), &errors[0]["code"]), (vec!["nobody".to_owned()], &json!("not_found")));
    assert_eq!(restored["usage"]["tokens"], 6);
}

#[test]
fn restoring_touches_and_does_not_push_out_what_was_restored() {
    let session = Session::with(json!({"budget_tokens": 1_000}));
    session.add_log("one", 300);
    session.add_log("two", 300);
    session.add_log("last", 50);
    session.prune(&["one"]);
    let step = session.segment("last")["created_step"].as_i64().unwrap();
    session.call("context_restore", json!({"segment_ids": ["one"]}));
    let restored = session.segment("one");
    assert!(restored["last_touched_step"].as_i64().unwrap() >= step, "{restored}");
}

/// A long segment with everything that a summary inherits.
fn with_original() -> Session {
    let session = Session::new();
    session.add("first", "note", "it began", json!({}));
    session.add(
        "original",
        "code",
        &filler(400),
        json!({
            "file_path": "src/main.rs", "line_range": [1, 80], "tags": ["rust"], "task_id": "task-1",
            "topic_id": "start-up", "references": ["first"],
        }),
    );
    session.add("refers", "note", "as seen", json!({"references": ["original"]}));
    session.add_log("last", 1);
    session.call("context_gc_pin", json!({"segment_ids": ["original"], "reason": "needed all the time"}));
    session
}

#[test]
fn a_summary_takes_the_place_of_the_original_and_all_that_hung_on_it() {
    let session = with_original();
    let before = session.segment("original");
    let answer =
        session.call("context_compress", json!({"segment_id": "original", "summary": "main starts the server"}));
    assert_eq!((&answer["tokens_before"], &answer["tokens_after"]), (&json!(400), &json!(5)));
    let summary_id = text_of(&answer["segment_id"]);
    assert_eq!(session.ids(), ["first", &summary_id, "refers", "last"]);
    let summary = session.segment(&summary_id);
    assert_eq!((&summary["type"], &summary["text"]), (&json!("summary"), &json!("main starts the server")));
    for field in ["file_path", "line_range", "tags", "task_id", "topic_id", "pinned"] {
        assert_eq!(summary[field], before[field], "{field}: {summary}");
    }
    assert!(summary.to_string().contains("\"derived_from\":\"original\""), "{summary}");
    assert!(ids(&summary["references"]).contains(&"first".to_owned()), "{summary}");
    assert_eq!(summary["last_touched_step"], before["last_touched_step"]);
    assert_eq!(session.found(json!({})), ["original"]);
    assert!(!session.is_candidate(&summary_id));
    let whole = session.call("context_restore", json!({"segment_ids": ["original"]}));
    assert_eq!(whole["errors"], json!([]), "{whole}");
    assert_eq!(session.segment("original")["text"], before["text"]);
}

#[test]
fn what_the_original_was_referred_to_by_reaches_the_summary() {
    let session = with_original();
    session.call("context_gc_unpin", json!({"segment_ids": ["original"]}));
    session.call("context_gc_pin", json!({"segment_ids": ["refers"], "reason": "so"}));
    let answer = session.call("context_compress", json!({"segment_id": "original", "summary": "main starts it"}));
    let summary = text_of(&answer["segment_id"]);
    assert_eq!(session.candidate(&summary)["reachable"], true);
    assert_eq!(session.candidate("first")["reachable"], true);
}

#[test]
fn compressing_what_is_unknown_or_with_nothing_is_refused() {
    let session = with_original();
    let request = json!({"segment_id": "origina", "summary": "so"});
    let (code, error) = session.fails("context_compress", request);
    assert_eq!(code, "not_found");
    assert!(error.message.contains("`origina`"), "{error}");
    let blank = session.refuses("context_compress", json!({"segment_id": "original", "summary": "  "}));
    assert!(blank.message.contains("summary"), "{blank}");
    assert_eq!(session.ids(), ["first", "original", "refers", "last"]);
}
