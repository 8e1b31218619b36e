//! Bounds on what comes in: refused with the field, the value and the limit, and nothing is stored.

use serde_json::{Value, json};

use super::Session;
use crate::harness::World;

#[track_caller]
fn refused(session: &Session, operation: &str, request: Value, parts: &[&str]) {
    let (code, error) = session.fails(operation, request);
    assert!(matches!(code, "invalid_argument" | "limit_exceeded"), "{code}: {error}");
    let said = error.to_json().to_string();
    assert!(parts.iter().all(|part| said.contains(part)), "{parts:?}: {said}");
}

fn segment(field: &str, value: Value) -> Value {
    let mut segment = json!({"segment_id": "one", "type": "note", "text": "a"});
    segment[field] = value;
    json!({ "segments": [segment] })
}

#[test]
fn segments_have_bounds() {
    let session = Session::new();
    let refused = |request: Value, parts: &[&str]| refused(&session, "context_add", request, parts);
    let many: Vec<Value> = (0..1_001).map(|_| json!({"type": "note", "text": "a"})).collect();
    refused(json!({ "segments": many }), &["segments", "1001", "1000"]);
    refused(json!({"segments": []}), &["segments"]);
    refused(segment("segment_id", json!("x".repeat(257))), &["segment_id", "257", "256"]);
    refused(segment("segment_id", json!("")), &["segment_id"]);
    refused(segment("text", json!("x".repeat((4 << 20) + 1))), &["text", "4194305", "4194304"]);
    refused(segment("type", json!("poem")), &["type", "poem"]);
    refused(segment("tags", json!(vec!["t"; 101])), &["tags", "101", "100"]);
    let references: Vec<String> = (0..1_001).map(|number| number.to_string()).collect();
    refused(segment("references", json!(references)), &["references", "1001", "1000"]);
    refused(segment("line_range", json!([9, 3])), &["line_range", "9", "3"]);
    refused(segment("line_range", json!([0, 3])), &["line_range"]);
    refused(segment("colour", json!("red")), &["colour"]);
    refused(segment("text", Value::Null), &["text"]);
    assert_eq!(session.ids(), [] as [&str; 0]);
    session.call("context_add", segment("text", json!("x".repeat(4 << 20))));
}

#[test]
fn names_of_sessions_have_bounds() {
    let world = World::new();
    for bad in ["".to_owned(), " ".to_owned(), "x".repeat(129)] {
        let request = json!({"session_id": bad, "segments": [{"type": "note", "text": "a"}]});
        let error = world.refuses("context_add", request);
        assert!(error.message.contains("session_id"), "{error}");
    }
    let missing = world.refuses("context_add", json!({"segments": [{"type": "note", "text": "a"}]}));
    assert!(missing.message.contains("session_id"), "{missing}");
    assert_eq!(world.call("context_list_sessions", json!({}))["total"], 0);
}

#[test]
fn lists_of_ids_have_bounds() {
    let session = Session::new();
    session.add_log("one", 1);
    let many: Vec<String> = (0..10_001).map(|number| number.to_string()).collect();
    for operation in ["context_gc_prune", "context_gc_pin", "context_gc_unpin", "context_restore"] {
        refused(&session, operation, json!({ "segment_ids": many }), &["segment_ids", "10001"]);
        refused(&session, operation, json!({"segment_ids": []}), &["segment_ids"]);
    }
    let both = json!({"segment_ids": ["one"], "plan_id": "01900000-0000-7000-8000-000000000001"});
    refused(&session, "context_gc_prune", both, &["plan_id"]);
    refused(&session, "context_gc_prune", json!({}), &["segment_ids"]);
    refused(&session, "context_gc_prune", json!({"segment_ids": ["one"], "strategy": "burn"}), &["strategy", "burn"]);
    let focus = json!({"open_files": vec!["a"; 1_001]});
    refused(&session, "context_set_focus", focus, &["open_files", "1001", "1000"]);
}

#[test]
fn fields_of_reading_operations_are_checked() {
    let session = Session::new();
    session.add_log("one", 1);
    refused(&session, "context_get", json!({"format": "gemini"}), &["format", "gemini"]);
    refused(&session, "context_search_stash", json!({"type": "poem"}), &["type", "poem"]);
    refused(&session, "context_search_stash", json!({"created_after": "yesterday"}), &["created_after", "yesterday"]);
    refused(&session, "context_gc_analyze", json!({"target_tokens": -1}), &["target_tokens"]);
    let (code, error) = session.fails("context_explain", json!({"segment_id": "two"}));
    assert_eq!(code, "not_found");
    assert!(error.message.contains("`two`"), "{error}");
}
