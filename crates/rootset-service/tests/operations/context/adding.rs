//! Adding segments: once each, whole batches, with references that may be ahead of their time.

use serde_json::{Value, json};

use super::{Session, filler};
use crate::harness::{array, ids, text_of};

#[test]
fn a_segment_is_read_back_as_it_was_given() {
    let session = Session::new();
    let given = json!({
        "segment_id": "view-1", "type": "code", "text": "fn main() {}", "role": "tool", "raw": {"any": ["thing", null, 1.5]},
        "file_path": "src/main.rs", "line_range": [3, 9], "tags": ["entry", "rust"], "topic_id": "start-up",
        "task_id": "task-1", "references": ["question"], "reply_to": "question", "pinned": true, "invariant": false,
    });
    session.add("question", "message", "Where does it begin?", json!({"role": "user"}));
    let added = session.call("context_add", json!({ "segments": [given] }));
    assert_eq!(ids(&added["segment_ids"]), ["view-1"]);
    let read = session.segment("view-1");
    for field in ["segment_id", "type", "text", "role", "raw", "file_path", "line_range", "topic_id", "task_id"] {
        assert_eq!(read[field], given[field], "{field}: {read}");
    }
    for field in ["tags", "references", "reply_to", "pinned"] {
        assert_eq!(read[field], given[field], "{field}: {read}");
    }
    assert_eq!((&read["tokens"], &read["generation"]), (&json!(3), &json!("young")));
    assert!(read["created_at"].is_string() && read["last_touched_at"].is_string(), "{read}");
    assert_eq!(session.ids(), ["question", "view-1"]);
}

#[test]
fn the_same_segment_again_changes_nothing() {
    let session = Session::new();
    session.add("one", "log", &filler(10), json!({}));
    session.add("two", "log", &filler(20), json!({}));
    let before = session.segments();
    let again = session.add("one", "log", &filler(10), json!({}));
    assert_eq!(ids(&again["segment_ids"]), ["one"]);
    assert_eq!(again["usage"]["tokens"], 30);
    assert_eq!(session.segments(), before);
}

#[test]
fn a_segment_that_was_stashed_is_known_when_it_comes_again() {
    let session = Session::new();
    session.add_log("one", 10);
    session.add_log("two", 10);
    session.prune(&["one"]);
    session.add_log("one", 10);
    let stashed = session.found(json!({}));
    let active = session.ids();
    let known = stashed.iter().chain(&active).filter(|id| *id == "one").count();
    assert_eq!(known, 1, "stashed {stashed:?}, active {active:?}");
}

#[test]
fn the_same_id_with_another_text_is_a_conflict_and_nothing_of_the_batch_is_kept() {
    let session = Session::new();
    session.add("one", "log", "first words", json!({}));
    let batch = json!({"segments": [
        {"segment_id": "two", "type": "log", "text": "second words"},
        {"segment_id": "one", "type": "log", "text": "other words"},
    ]});
    let (code, error) = session.fails("context_add", batch);
    assert_eq!(code, "conflict");
    assert!(error.message.contains("`one`"), "{error}");
    assert_eq!(session.ids(), ["one"]);
    assert_eq!(session.segment("one")["text"], "first words");
    let twice = json!({"segments": [
        {"segment_id": "three", "type": "log", "text": "a"},
        {"segment_id": "three", "type": "log", "text": "b"},
    ]});
    assert_eq!(session.fails("context_add", twice).0, "conflict");
    assert_eq!(session.ids(), ["one"]);
}

#[test]
fn segments_without_ids_get_ids_of_their_own() {
    let session = Session::new();
    let same = json!({"type": "note", "text": "the same words"});
    let added = session.call("context_add", json!({ "segments": [same, same] }));
    let given = ids(&added["segment_ids"]);
    assert_ne!(given[0], given[1]);
    assert_eq!(session.ids(), given);
}

#[test]
fn references_to_segments_that_come_later_wait_for_them() {
    let session = Session::new();
    session.add("summary", "note", "what follows", json!({"references": ["detail", "never"]}));
    assert_eq!(session.segment("summary")["references"], json!(["detail", "never"]));
    session.add("detail", "note", "the detail", json!({}));
    session.add_bystanders(2);
    assert_eq!(session.segment("detail")["refcount"], 1);
    session.call("context_gc_pin", json!({"segment_ids": ["summary"], "reason": "the plan"}));
    assert_eq!(session.candidate("detail")["reachable"], true);
    assert_eq!(session.candidate("bystander-0")["reachable"], false);
}

#[test]
fn references_of_every_kind_are_counted_while_their_segment_is_active() {
    let session = Session::new();
    session.add("origin", "note", "it began", json!({}));
    session.add("by-reference", "note", "first", json!({"references": ["origin"]}));
    session.add("by-reply", "note", "second", json!({"reply_to": "origin"}));
    session.add("by-derivation", "note", "third", json!({"derived_from": "origin"}));
    assert_eq!(session.segment("origin")["refcount"], 3);
    session.add_bystanders(1);
    session.prune(&["by-reply"]);
    assert_eq!(session.segment("origin")["refcount"], 2);
    session.call("context_restore", json!({"segment_ids": ["by-reply"]}));
    assert_eq!(session.segment("origin")["refcount"], 3);
}

#[test]
fn a_segment_is_touched_by_what_refers_to_it_and_not_by_being_looked_at() {
    let session = Session::new();
    session.add("origin", "note", "it began", json!({}));
    session.add_bystanders(3);
    let before = session.segment("origin");
    session.call("context_gc_analyze", json!({}));
    session.call("context_explain", json!({"segment_id": "origin"}));
    assert_eq!(session.segment("origin"), before);
    session.add("reply", "note", "yes", json!({"reply_to": "origin"}));
    let after = session.segment("origin");
    let step = |segment: &Value| segment["last_touched_step"].as_i64().unwrap();
    assert!(step(&after) > step(&before), "{before} {after}");
    assert_eq!(after["created_step"], before["created_step"]);
}

#[test]
fn one_step_passes_with_every_segment() {
    let session = Session::new();
    session.add_bystanders(4);
    let steps: Vec<i64> = session.segments().iter().map(|it| it["created_step"].as_i64().unwrap()).collect();
    assert!(steps.windows(2).all(|pair| pair[1] == pair[0] + 1), "{steps:?}");
}

#[test]
fn what_the_provider_counted_corrects_what_was_guessed() {
    let session = Session::new();
    let guessed = session.add_log("one", 100)["usage"]["tokens"].as_u64().unwrap();
    assert_eq!(guessed, 100);
    let two = json!({"segment_id": "two", "type": "log", "text": filler(100)});
    let corrected = session.call("context_add", json!({"segments": [two], "observed_input_tokens": 400}));
    assert!(corrected["usage"]["tokens"].as_u64().unwrap() > 200, "{corrected}");
}

#[test]
fn an_answer_tells_the_usage_and_what_happened_in_words() {
    let session = Session::with(json!({"budget_tokens": 1_000}));
    let added = session.add_log("one", 100);
    let usage = &added["usage"];
    assert_eq!((&usage["tokens"], &usage["budget_tokens"]), (&json!(100), &json!(1_000)));
    assert_eq!((usage["percent"].as_f64(), &usage["over_limit"]), (Some(10.0), &json!(false)));
    assert_eq!((&added["gc"]["ran"], &added["gc"]["stashed"]), (&json!("none"), &json!([])));
    assert_eq!(added["gc"]["tokens_freed"], 0);
    assert!(text_of(&added["message"]).contains("10 %"), "{added}");
    assert!(added.get("first_changed_segment_id").is_none_or(Value::is_null), "{added}");
    assert_eq!(array(&added["recall_hints"]), [] as [Value; 0]);
}
