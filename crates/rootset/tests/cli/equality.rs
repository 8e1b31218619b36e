//! `rootset call` adds nothing to an operation and loses nothing: every one of them is asked on the command line and
//! directly, each on a fresh database.

use std::sync::Arc;

use rootset_api::catalogue;
use rootset_service::{Caller, FrontEnd, Service, Settings};
use rootset_testing::TestDatabase;
use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// Requests that mean something to somebody; to the others they are unknown fields, which is an answer, too.
fn requests() -> Vec<Value> {
    vec![
        json!({}),
        json!({"nonsense": 1}),
        json!({"context": "Deploys happen on Fridays.", "name": "deploys"}),
        json!({"query": "deploys"}),
        json!({"memory_id": "deploys"}),
        json!({"session_id": "s"}),
        json!({"session_id": "s", "segments": [{"segment_id": "a", "type": "note", "text": "a"}]}),
        json!({"session_id": "s", "segment_id": "a"}),
        json!({"session_id": "s", "segment_ids": ["a", "b"]}),
        json!({"strategies": ["all"]}),
        json!({"qualified_name": "nothing"}),
    ]
}

#[test]
fn every_operation_answers_the_same_on_the_command_line() {
    let sandbox = Sandbox::new();
    let database = TestDatabase::new();
    let service = Arc::new(Service::new(database.open(), Settings::default()).expect("a service"));
    let caller = Caller::new(FrontEnd::CommandLine, "cli", "home");
    let mut answered = 0;
    for operation in catalogue() {
        // Sizes and places of files differ between two databases, secrets between two tokens.
        if operation.name.starts_with("backup") || ["get_stats", "gc_status", "defrag"].contains(&operation.name) {
            continue;
        }
        for request in requests() {
            let outcome = sandbox.run(["call", operation.name, &request.to_string()]);
            let direct = service.call(&caller, operation.name, request.clone());
            let is_ok = direct.is_ok();
            let direct = direct.unwrap_or_else(|error| error.to_json());
            assert_eq!(outcome.status == Some(0), is_ok, "{} {request}: {outcome:?}", operation.name);
            assert_eq!(normalised(&outcome.json()), normalised(&direct), "{} {request}", operation.name);
            answered += usize::from(is_ok);
        }
    }
    assert!(answered > 30, "only {answered} requests meant something");
}

/// Ids, digests and times are different every time; what they stand for is not.
fn normalised(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (name.clone(), normalised(value))).collect())
        }
        Value::Array(items) => items.iter().map(normalised).collect(),
        Value::String(text) if is_made_up(text) => "…".into(),
        Value::String(text) => {
            let words =
                text.split(' ').map(|word| if is_made_up(word.trim_matches(['`', ';', ','])) { "…" } else { word });
            words.collect::<Vec<_>>().join(" ").into()
        }
        other => other.clone(),
    }
}

fn is_made_up(text: &str) -> bool {
    let is_hex = |length: usize| text.len() == length && text.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    is_hex(36) || is_hex(64) || (text.len() == 24 && text.ends_with('Z') && text.contains('T'))
}
