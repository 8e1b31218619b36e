//! Message lists as segments: what each of them is about.

use serde_json::{Value, json};

use super::{Session, anthropic_list, openai_list};
use crate::harness::array;

#[test]
fn blocks_become_segments_with_their_files_and_pairs() {
    let session = Session::new();
    let added = session.call("context_add", json!({"messages": anthropic_list(), "format": "anthropic"}));
    assert_eq!(array(&added["segment_ids"]).len(), 8);
    let segments = session.segments();
    let of = |field: &str| segments.iter().map(|it| it[field].clone()).collect::<Vec<Value>>();
    assert_eq!(of("role"), ["user", "assistant", "assistant", "assistant", "tool", "tool", "assistant", "user"]);
    assert_eq!(of("type"), ["message", "message", "message", "message", "log", "code", "message", "message"]);
    assert_eq!((&segments[5]["file_path"], &segments[5]["line_range"]), (&json!("src/main.rs"), &json!([1, 2])));
    assert_eq!(segments[2]["tool_call_id"], segments[4]["tool_call_id"]);
    // An image costs what the text does not show.
    assert!(segments[5]["tokens"].as_u64().unwrap() >= 1_600, "{}", segments[5]);
}

#[test]
fn a_system_message_is_invariant() {
    let session = Session::new();
    session.call("context_add", json!({"messages": openai_list(), "format": "openai"}));
    let segments = session.segments();
    assert_eq!((&segments[0]["role"], &segments[0]["invariant"]), (&json!("system"), &json!(true)));
    assert_ne!(segments[1]["invariant"], true);
}

#[test]
fn a_list_that_cannot_be_read_is_refused_by_place() {
    let session = Session::new();
    for (messages, format, words) in [
        (json!("hello"), "anthropic", "messages"),
        (json!([{"role": "user", "content": "a"}, 5]), "anthropic", "messages[1]"),
        (json!([{"content": "a"}]), "openai", "messages[0].role"),
        (json!([{"role": "user", "content": {"text": "a"}}]), "openai", "messages[0].content"),
        (json!([{"role": "user", "content": "a"}]), "gemini", "gemini"),
    ] {
        let error = session.refuses("context_add", json!({"messages": messages, "format": format}));
        assert!(error.message.contains(words), "{words}: {error}");
    }
    assert_eq!(session.ids(), [] as [&str; 0]);
}

#[test]
fn either_segments_or_messages_are_added() {
    let session = Session::new();
    let segment = json!({"type": "note", "text": "a"});
    session.refuses("context_add", json!({}));
    session.refuses("context_add", json!({"segments": [segment], "messages": openai_list(), "format": "openai"}));
    assert!(session.refuses("context_add", json!({"messages": openai_list()})).message.contains("format"));
    assert_eq!(session.ids(), [] as [&str; 0]);
}
