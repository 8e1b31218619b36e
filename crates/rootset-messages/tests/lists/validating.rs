//! Each rule broken once.

use rootset_messages::Format::{Anthropic, OpenAi};
use rootset_messages::{Format, Rendered, validate};
use serde_json::{Value, json};

#[track_caller]
fn problems(format: Format, list: Value) -> Vec<String> {
    let (system, messages) = match list {
        Value::Array(messages) => (None, messages),
        body => (body.get("system").cloned(), body["messages"].as_array().unwrap().clone()),
    };
    validate(format, &Rendered { system, messages })
}

/// Exactly one problem, said with these words.
#[track_caller]
fn broken(format: Format, words: &str, list: Value) {
    let found = problems(format, list);
    assert!(found.len() == 1 && found[0].contains(words), "expected `{words}`, found {found:#?}");
}

fn user(content: Value) -> Value {
    json!({"role": "user", "content": content})
}

fn assistant(content: Value) -> Value {
    json!({"role": "assistant", "content": content})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "ls", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "a.rs"})
}

fn text() -> Value {
    json!({"type": "text", "text": "so"})
}

fn thinking() -> Value {
    json!({"type": "thinking", "thinking": "hm", "signature": "s"})
}

#[test]
fn anthropic_messages_have_roles_and_contents() {
    broken(Anthropic, "begins with the user", json!([assistant(json!("hi"))]));
    broken(Anthropic, "role `tool`", json!([user(json!("hi")), {"role": "tool", "content": "x"}]));
    for empty in [json!(""), json!("  "), json!([])] {
        broken(Anthropic, "empty content", json!([user(empty.clone())]));
        broken(Anthropic, "empty content", json!([user(json!("a")), assistant(empty), user(json!("b"))]));
    }
    broken(Anthropic, "neither a text nor a list", json!([{"role": "user"}]));
    broken(Anthropic, "without text", json!([user(json!([{"type": "text", "text": " "}]))]));
    broken(Anthropic, "no `type`", json!([user(json!([{"text": "a"}]))]));
    broken(
        Anthropic,
        "image of the assistant",
        json!([user(json!("a")), assistant(json!([{"type": "image", "source": {}}]))]),
    );
}

#[test]
fn anthropic_system_is_text() {
    let hi = || json!([user(json!("hi"))]);
    broken(Anthropic, "`system[0]`", json!({"system": [{"type": "image"}], "messages": hi()}));
    broken(Anthropic, "`system[0]`", json!({"system": [{"type": "text", "text": ""}], "messages": hi()}));
    broken(Anthropic, "`system` is neither", json!({"system": 5, "messages": hi()}));
}

#[test]
fn anthropic_calls_are_answered_in_the_very_next_message() {
    let go = || user(json!("go"));
    broken(Anthropic, "`t1` has no result", json!([go(), assistant(json!([call("t1")])), user(json!("well?"))]));
    broken(
        Anthropic,
        "`t2` has no result",
        json!([go(), assistant(json!([call("t1"), call("t2")])), user(json!([result("t1")]))]),
    );
    broken(Anthropic, "does not call", json!([user(json!([result("t1")]))]));
    let late = json!([
        go(),
        assistant(json!([call("t1")])),
        user(json!([result("t1")])),
        assistant(json!("so")),
        user(json!([result("t1")])),
    ]);
    broken(Anthropic, "does not call", late);
    broken(
        Anthropic,
        "does not call",
        json!([go(), assistant(json!([call("t1")])), user(json!([result("t1"), result("t1")]))]),
    );
    broken(
        Anthropic,
        "behind something else",
        json!([go(), assistant(json!([call("t1")])), user(json!([text(), result("t1")]))]),
    );
    let twice = json!([
        go(),
        assistant(json!([call("t1")])),
        user(json!([result("t1")])),
        assistant(json!([call("t1")])),
        user(json!([result("t1")])),
    ]);
    broken(Anthropic, "of an earlier call", twice);
}

#[test]
fn anthropic_blocks_are_whole_and_of_the_right_role() {
    let go = || user(json!("go"));
    broken(Anthropic, "only the assistant", json!([user(json!([thinking(), text()]))]));
    let misplaced = problems(Anthropic, json!([go(), assistant(json!([result("t1")])), go()]));
    assert!(misplaced.iter().any(|problem| problem.contains("only the user")), "{misplaced:?}");
    for bad in [
        json!({"type": "tool_use", "id": "t 1", "name": "ls", "input": {}}),
        json!({"type": "tool_use", "id": "t1", "name": "", "input": {}}),
        json!({"type": "tool_use", "id": "t1", "name": "ls", "input": "{}"}),
    ] {
        broken(Anthropic, "is not valid tool use", json!([go(), assistant(json!([bad]))]));
    }
    let unsigned = json!({"type": "thinking", "thinking": "hm"});
    broken(Anthropic, "is not valid thinking", json!([go(), assistant(json!([unsigned, text()]))]));
    broken(
        Anthropic,
        "is not valid thinking",
        json!([go(), assistant(json!([{"type": "redacted_thinking"}, text()]))]),
    );
    broken(Anthropic, "ends with thinking", json!([go(), assistant(json!([text(), thinking()]))]));
    let blank = json!({"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": ""}]});
    let mute = json!({"type": "tool_result", "tool_use_id": "t1", "content": "", "is_error": true});
    broken(Anthropic, "does not say how", json!([go(), assistant(json!([call("t1")])), user(json!([mute]))]));
    broken(Anthropic, "holds a text block", json!([go(), assistant(json!([call("t1")])), user(json!([blank]))]));
}

#[test]
fn anthropic_server_tools_answer_in_their_own_message() {
    let go = || user(json!("go"));
    let search = json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}});
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "s1", "content": []});
    assert_eq!(problems(Anthropic, json!([go(), assistant(json!([search, found])), go()])), [""; 0]);
    assert_eq!(problems(Anthropic, json!([go(), assistant(json!([search]))])), [""; 0]);
    broken(Anthropic, "in its message", json!([go(), assistant(json!([search])), go()]));
    broken(Anthropic, "without its call", json!([go(), assistant(json!([found])), go()]));
}

#[test]
fn anthropic_takes_four_cache_marks() {
    let marked = json!({"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}});
    let with = |count: usize| json!({"system": [marked], "messages": [user(json!(vec![marked.clone(); count]))]});
    assert_eq!(problems(Anthropic, with(3)), [""; 0]);
    broken(Anthropic, "5 blocks have `cache_control`", with(4));
}

#[test]
fn anthropic_takes_what_is_unusual_and_allowed() {
    let list = json!([
        user(json!("one")),
        user(json!("two")),
        assistant(json!([call("t1"), call("t2")])),
        user(json!([result("t2")])),
        user(json!([result("t1"), text()])),
        assistant(json!([call("t3")])),
    ]);
    assert_eq!(problems(Anthropic, list), [""; 0]);
    assert_eq!(problems(Anthropic, json!([user(json!("a")), assistant(json!([]))])), [""; 0]);
}

fn asks(ids: &[&str]) -> Value {
    let call = |id: &&str| json!({"id": id, "type": "function", "function": {"name": "ls", "arguments": "{}"}});
    json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(call).collect::<Vec<_>>()})
}

fn tool(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": ""})
}

#[test]
fn openai_messages_have_roles_and_contents() {
    broken(OpenAi, "role `robot`", json!([{"role": "robot", "content": "hi"}]));
    broken(OpenAi, "empty content", json!([user(json!(""))]));
    broken(OpenAi, "empty content", json!([user(json!([]))]));
    broken(OpenAi, "neither a text nor a list", json!([user(Value::Null)]));
    broken(OpenAi, "neither a text nor a list", json!([assistant(Value::Null)]));
    broken(OpenAi, "no `type`", json!([user(json!([{"text": "a"}]))]));
    broken(OpenAi, "belongs among them", json!({"system": "a", "messages": [user(json!("hi"))]}));
    broken(OpenAi, "without any call", json!([{"role": "assistant", "content": "a", "tool_calls": []}]));
}

#[test]
fn openai_calls_and_results_are_whole() {
    for call in [
        json!({"id": "", "type": "function", "function": {"name": "ls", "arguments": "{}"}}),
        json!({"id": "c", "function": {"name": "ls", "arguments": "{}"}}),
        json!({"id": "c", "type": "function", "function": {"name": "l s", "arguments": "{}"}}),
        json!({"id": "c", "type": "function", "function": {"name": "ls", "arguments": {}}}),
    ] {
        broken(OpenAi, "is not a call", json!([{"role": "assistant", "content": null, "tool_calls": [call]}]));
    }
    broken(OpenAi, "for two calls", json!([asks(&["c1", "c1"])]));
    for role in ["system", "developer", "user"] {
        let mut other = asks(&["c1"]);
        (other["role"], other["content"]) = (role.into(), "hi".into());
        broken(OpenAi, "only an assistant's has", json!([other, tool("c1")]));
    }
    let image = json!({"type": "image_url", "image_url": {"url": "https://a.example"}});
    broken(OpenAi, "not text", json!([asks(&["c1"]), {"role": "tool", "tool_call_id": "c1", "content": [image]}]));
    broken(OpenAi, "is a tool's with a content", json!([asks(&["c1"]), {"role": "tool", "tool_call_id": "c1"}]));
}

#[test]
fn openai_results_follow_their_calls_all_of_them() {
    broken(OpenAi, "`c2` has no result", json!([asks(&["c1", "c2"]), tool("c1"), user(json!("well?"))]));
    broken(OpenAi, "`c2` has no result", json!([asks(&["c1", "c2"]), tool("c1")]));
    broken(OpenAi, "not asked for", json!([user(json!("hi")), tool("c1")]));
    broken(OpenAi, "not asked for", json!([asks(&["c1"]), tool("c1"), tool("c1")]));
    let between = problems(OpenAi, json!([asks(&["c1"]), user(json!("wait")), tool("c1")]));
    assert_eq!(between.len(), 2, "{between:?}");
    broken(OpenAi, "not asked for", json!([{"role": "function", "name": "old", "content": "x"}]));
    let old = json!({"role": "assistant", "content": null, "function_call": {"name": "old", "arguments": "{}"}});
    broken(OpenAi, "function `old` has no result", json!([old, user(json!("well?"))]));
}

#[test]
fn openai_takes_what_is_unusual_and_allowed() {
    let list = json!([
        {"role": "assistant", "content": "Hello."},
        asks(&["c1", "c2"]),
        tool("c2"),
        tool("c1"),
        {"role": "assistant", "content": null, "refusal": "No."},
        user(json!("a")),
        user(json!("b")),
        asks(&["c1"]),
    ]);
    assert_eq!(problems(OpenAi, list), [""; 0]);
}
