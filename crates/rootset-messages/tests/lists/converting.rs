//! A conversation with one API goes on with the other.

use rootset_messages::Format::{Anthropic, OpenAi};
use rootset_messages::{Format, Rendered};
use serde_json::{Value, json};

use crate::harness::{drafts, pieces, rendered};

#[track_caller]
fn converted(from: Format, to: Format, list: Value) -> Rendered {
    rendered(to, &pieces(&drafts(from, &list)))
}

#[test]
fn anthropic_becomes_openai() {
    let list = json!({"system": "Be brief.", "messages": [
        {"role": "user", "content": [
            {"type": "text", "text": "What is this?", "cache_control": {"type": "ephemeral"}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}},
            {"type": "document", "title": "a.pdf", "source": {"type": "base64", "media_type": "application/pdf", "data": "JV"}},
        ]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "t1", "name": "ls", "input": {"path": "a"}},
            {"type": "tool_use", "id": "t2", "name": "pwd", "input": {}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": "no such folder"},
            {"type": "tool_result", "tool_use_id": "t2", "content": [
                {"type": "text", "text": "/src"},
                {"type": "image", "source": {"type": "url", "url": "https://p.example/a.png"}},
            ]},
            {"type": "text", "text": "Go on."},
        ]},
    ]});
    let call =
        |id, name, arguments| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let expected = json!([
        {"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
        {"role": "user", "content": [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JV"}},
        ]},
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}],
            "tool_calls": [call("t1", "ls", "{\"path\":\"a\"}"), call("t2", "pwd", "{}")]},
        {"role": "tool", "content": "error: no such folder", "tool_call_id": "t1"},
        {"role": "tool", "content": "/src\n[image https://p.example/a.png]", "tool_call_id": "t2"},
        {"role": "user", "content": [{"type": "text", "text": "Go on."}]},
    ]);
    let found = converted(Anthropic, OpenAi, list);
    assert_eq!((found.system, Value::Array(found.messages)), (None, expected));
}

#[test]
fn openai_becomes_anthropic() {
    let call =
        |id, name, arguments| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let list = json!([
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": "Be kind."},
        {"role": "user", "name": "ada", "content": [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}},
            {"type": "image_url", "image_url": {"url": "https://p.example/a.png"}},
            {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JV"}},
        ]},
        {"role": "assistant", "content": "I look.", "tool_calls": [call("c.1", "ls", "{\"path\":\"a\"}"), call("c.2", "pwd", "oops")]},
        {"role": "tool", "tool_call_id": "c.1", "content": "a.rs"},
        {"role": "tool", "tool_call_id": "c.2", "content": [{"type": "text", "text": "/src"}]},
        {"role": "assistant", "content": null, "tool_calls": [call("c.1", "ls", "")]},
        {"role": "tool", "tool_call_id": "c.1", "content": ""},
        {"role": "assistant", "content": null, "function_call": {"name": "old", "arguments": "{}"}},
        {"role": "function", "name": "old", "content": "done"},
        {"role": "assistant", "content": null, "refusal": "No."},
    ]);
    let text = |text: &str| json!({"type": "text", "text": text});
    let tool_use = |id, name, input| json!({"type": "tool_use", "id": id, "name": name, "input": input});
    let result = |id, content| json!({"type": "tool_result", "tool_use_id": id, "content": content});
    let expected = json!([
        {"role": "user", "content": [
            text("What is this?"),
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}},
            {"type": "image", "source": {"type": "url", "url": "https://p.example/a.png"}},
            text("[audio wav]"),
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JV"}, "title": "a.pdf"},
        ]},
        {"role": "assistant", "content": [
            text("I look."),
            tool_use("c_1", "ls", json!({"path": "a"})),
            tool_use("c_2", "pwd", json!({"arguments": "oops"})),
        ]},
        {"role": "user", "content": [result("c_1", json!("a.rs")), result("c_2", json!([text("/src")]))]},
        {"role": "assistant", "content": [tool_use("c_1_2", "ls", json!({}))]},
        {"role": "user", "content": [result("c_1_2", json!(""))]},
        {"role": "assistant", "content": [tool_use("function_old", "old", json!({}))]},
        {"role": "user", "content": [result("function_old", json!("done"))]},
        {"role": "assistant", "content": [text("No.")]},
    ]);
    let found = converted(OpenAi, Anthropic, list);
    assert_eq!(found.system, Some(json!([text("Be brief."), text("Be kind.")])));
    assert_eq!(Value::Array(found.messages), expected);
}

#[test]
fn tools_of_the_apis_own_servers_are_told() {
    let list = json!([
        {"role": "user", "content": "Search."},
        {"role": "assistant", "content": [
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "rust"}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [
                {"type": "web_search_result", "title": "Rust", "url": "https://r.example", "encrypted_content": "x"},
            ]},
        ]},
    ]);
    let found = converted(Anthropic, OpenAi, list);
    assert_eq!(
        found.messages[1]["content"],
        json!([
            {"type": "text", "text": "web_search {\"query\":\"rust\"}"},
            {"type": "text", "text": "Rust\nhttps://r.example"},
        ])
    );
}

#[test]
fn a_conversation_may_change_its_api_in_the_middle() {
    let first = drafts(
        OpenAi,
        &json!([
            {"role": "user", "content": "One."},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "c1", "content": "a.rs"},
        ]),
    );
    let second = drafts(
        Anthropic,
        &json!([
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "ls", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "b.rs"}]},
        ]),
    );
    let roles = |format| {
        let rendered = rendered(format, &pieces(first.iter().chain(&second)));
        rendered.messages.iter().map(|it| it["role"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(roles(Anthropic), ["user", "assistant", "user", "assistant", "user"]);
    assert_eq!(roles(OpenAi), ["user", "assistant", "tool", "assistant", "tool"]);
}
