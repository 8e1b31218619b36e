//! The window as message lists: what the API takes, whatever left.

use serde_json::{Value, json};

use super::{Session, anthropic_list, openai_list};
use crate::harness::{array, ids};

fn with_list(format: &str, list: &Value) -> Session {
    let session = Session::new();
    session.call("context_add", json!({"messages": list, "format": format}));
    session
}

#[test]
fn a_list_that_nothing_left_comes_back_as_it_was() {
    for (format, list) in [("anthropic", anthropic_list()), ("openai", openai_list())] {
        let session = with_list(format, &list);
        assert_eq!(Value::Array(session.rendered(format).messages), list);
    }
}

#[test]
fn an_anthropic_system_prompt_comes_back_beside_the_messages() {
    let body = json!({"system": [{"type": "text", "text": "Be brief."}], "messages": anthropic_list()});
    let session = Session::new();
    session.call("context_import", json!({"format": "anthropic", "messages": body}));
    let rendered = session.rendered("anthropic");
    assert_eq!(rendered.system, Some(body["system"].clone()));
    assert_eq!(Value::Array(rendered.messages), body["messages"]);
    assert_eq!(session.segments()[0]["invariant"], true);
}

#[test]
fn messages_added_turn_by_turn_are_one_list() {
    let list = openai_list();
    let session = Session::new();
    for message in array(&list) {
        session.call("context_add", json!({"messages": [message], "format": "openai"}));
    }
    assert_eq!(Value::Array(session.rendered("openai").messages), list);
}

#[test]
fn a_pruned_call_takes_its_result_along_and_the_list_stays_valid() {
    for (format, list) in [("anthropic", anthropic_list()), ("openai", openai_list())] {
        let session = with_list(format, &list);
        let segments = session.segments();
        let call = segments.iter().find(|it| it["tool_call_id"] == "call_1" && it["role"] == "assistant").unwrap();
        let pruned = session.call("context_gc_prune", json!({"segment_ids": [call["segment_id"]]}));
        assert_eq!(ids(&pruned["stashed"]).len(), 2, "{pruned}");
        for format in ["anthropic", "openai"] {
            let messages = Value::Array(session.rendered(format).messages).to_string();
            assert!(!messages.contains("call_1") && messages.contains("call_2"), "{messages}");
        }
    }
}

#[test]
fn every_single_segment_can_leave() {
    for (format, list) in [("anthropic", anthropic_list()), ("openai", openai_list())] {
        let session = with_list(format, &list);
        session.add_log("last", 1);
        for id in session.ids() {
            let pruned = session.call("context_gc_prune", json!({ "segment_ids": [id] }));
            session.rendered("anthropic");
            session.rendered("openai");
            // A system prompt does not leave.
            if !array(&pruned["stashed"]).is_empty() {
                session.call("context_restore", json!({"segment_ids": pruned["stashed"]}));
            }
        }
        let rendered = session.rendered(format).messages;
        assert_eq!(rendered[..array(&list).len() - 1], array(&list)[..array(&list).len() - 1]);
    }
}

#[test]
fn a_list_stays_valid_through_collections() {
    let session = Session::with(json!({"budget_tokens": 2_000, "recent_segments": 2}));
    for turn in 0..40 {
        let id = format!("call_{turn}");
        let messages = json!([
            {"role": "user", "content": format!("Question {turn}: {}", super::filler(20))},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": super::filler(5), "signature": "c2ln"},
                {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": super::filler(10)}},
            ]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": super::filler(60)}]},
            {"role": "assistant", "content": format!("Answer {turn}: {}", super::filler(20))},
        ]);
        session.call("context_add", json!({"messages": messages, "format": "anthropic"}));
        session.rendered("anthropic");
        session.rendered("openai");
    }
    assert!(session.tokens() <= 1_800);
    assert!(!session.found(json!({})).is_empty());
}

#[test]
fn a_compressed_result_leaves_a_valid_list() {
    for (format, list) in [("anthropic", anthropic_list()), ("openai", openai_list())] {
        let session = with_list(format, &list);
        let segments = session.segments();
        let result = segments.iter().find(|it| it["tool_call_id"] == "call_2" && it["role"] == "tool").unwrap();
        let request = json!({"segment_id": result["segment_id"], "summary": "main is empty"});
        session.call("context_compress", request);
        for format in ["anthropic", "openai"] {
            let messages = Value::Array(session.rendered(format).messages).to_string();
            assert!(messages.contains("main is empty"), "{messages}");
        }
    }
}

#[test]
fn placeholders_stand_where_something_was_stashed_but_not_inside_a_pair() {
    let session = with_list("anthropic", &anthropic_list());
    let segments = session.segments();
    let thanks = segments.last().unwrap()["segment_id"].clone();
    let answer = segments.iter().find(|it| it["text"] == "There is one file.").unwrap()["segment_id"].clone();
    session.call("context_gc_prune", json!({"segment_ids": [answer]}));
    let without = session.call("context_get", json!({"format": "anthropic"}));
    let with = session.call("context_get", json!({"format": "anthropic", "placeholders": true}));
    super::valid("anthropic", &with);
    assert_ne!(with["messages"], without["messages"]);
    assert!(with.to_string().contains("stash"), "{with}");
    let plain = session.call("context_get", json!({"placeholders": true}));
    let listed = array(&plain["segments"]);
    assert_eq!(listed.len(), segments.len());
    assert_eq!(listed.last().unwrap()["segment_id"], thanks);
    assert_eq!(listed[listed.len() - 2]["segment_id"], answer);
    assert_ne!(listed[listed.len() - 2]["text"], "There is one file.");
}

#[test]
fn segments_that_never_were_messages_are_rendered_by_their_roles() {
    let session = Session::new();
    session.add("rules", "note", "Be brief.", json!({"role": "system"}));
    session.add("question", "message", "How?", json!({"role": "user"}));
    session.add("answer", "message", "So.", json!({"role": "assistant"}));
    session.add("log", "log", "3 warnings", json!({}));
    let anthropic = session.rendered("anthropic");
    assert!(anthropic.system.is_some_and(|system| system.to_string().contains("Be brief.")));
    let roles = |messages: &[Value]| messages.iter().map(|it| it["role"].clone()).collect::<Vec<_>>();
    assert_eq!(roles(&anthropic.messages), ["user", "assistant", "user"]);
    assert_eq!(roles(&session.rendered("openai").messages), ["system", "user", "assistant", "user"]);
}
