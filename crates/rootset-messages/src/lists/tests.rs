use serde_json::{Value, json};

use super::*;

fn list(values: Value) -> Vec<Value> {
    values.as_array().unwrap().clone()
}

fn samples() -> [(ListFormat, Vec<Value>); 4] {
    let anthropic = list(json!([
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "Read", "input": {"file_path": "x.rs"}},
            {"type": "tool_use", "id": "b", "name": "Bash", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "     1→fn x() {}"},
            {"type": "tool_result", "tool_use_id": "b", "content": "ok"}]},
        {"role": "assistant", "content": "done"},
    ]));
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let openai = list(json!([
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")]},
        {"role": "tool", "tool_call_id": "a", "content": "1"},
        {"role": "tool", "tool_call_id": "b", "content": "2"},
        {"role": "assistant", "content": "done"},
    ]));
    let responses = list(json!([
        {"role": "user", "content": "look"},
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "function_call", "call_id": "b", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "1"},
        {"type": "function_call_output", "call_id": "b", "output": "2"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
    ]));
    let langchain = list(json!([
        {"type": "human", "content": "look"},
        {"type": "ai", "content": "", "tool_calls": [{"name": "f", "args": {}, "id": "a"}]},
        {"type": "tool", "content": "1", "tool_call_id": "a"},
        {"type": "ai", "content": "done"},
    ]));
    [
        (ListFormat::Anthropic, anthropic),
        (ListFormat::OpenAi, openai),
        (ListFormat::OpenAiResponses, responses),
        (ListFormat::LangChain, langchain),
    ]
}

#[test]
fn a_format_is_recognised_by_what_only_it_has() {
    for (format, messages) in samples() {
        assert_eq!(ListFormat::recognised(&messages), format);
    }
    let plain = list(json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]));
    assert_eq!(ListFormat::recognised(&plain), ListFormat::Anthropic);
    assert_eq!(ListFormat::recognised(&list(json!([{"role": "system", "content": "a"}]))), ListFormat::OpenAi);
    let wrapped = list(json!([{"type": "human", "data": {"content": "a"}}]));
    assert_eq!(ListFormat::recognised(&wrapped), ListFormat::LangChain);
    assert_eq!(ListFormat::recognised(&list(json!([5, null, "x", {}]))), ListFormat::Anthropic);
}

#[test]
fn calls_stay_with_their_results_and_thoughts_with_their_calls() {
    let firsts = samples().map(|(format, messages)| units(format, &messages).first);
    assert_eq!(firsts[0], [None, Some(1), Some(1), None]);
    assert_eq!(firsts[1], [None, Some(1), Some(1), Some(1), None]);
    assert_eq!(firsts[2], [None, Some(1), Some(1), Some(1), Some(1), Some(1), None]);
    assert_eq!(firsts[3], [None, Some(1), Some(1), None]);
    let [(format, messages), ..] = samples();
    assert_eq!(units(format, &messages).continues, [false, false, true, false]);
}

#[test]
fn an_id_that_is_used_again_means_the_latest_call() {
    let turn = |_| {
        json!([{"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]},
               {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "x"}]}])
    };
    let messages: Vec<Value> = (0..2).map(turn).flat_map(list).collect();
    assert_eq!(units(ListFormat::Anthropic, &messages).first, [Some(0), Some(0), Some(2), Some(2)]);
}

#[test]
fn every_message_is_read_as_what_it_says() {
    for (format, messages) in samples() {
        let messages: Vec<&Value> = messages.iter().collect();
        let drafts = read_list(format, &messages).unwrap();
        assert_eq!(drafts.len(), messages.len());
        assert!(drafts.iter().all(|parts| !parts.is_empty()), "{format:?}");
        assert_eq!(drafts[0][0].role.as_deref(), Some("user"), "{format:?}");
        assert_eq!((drafts[0][0].text.as_str(), drafts.last().unwrap()[0].text.as_str()), ("look", "done"));
        let tools = drafts.iter().flatten().filter(|draft| draft.role.as_deref() == Some("tool")).count();
        assert_eq!(tools, if format == ListFormat::LangChain { 1 } else { 2 }, "{format:?}");
    }
    let (_, anthropic) = &samples()[0];
    let drafts = read_list(ListFormat::Anthropic, &anthropic.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(drafts[2][0].file_path.as_deref(), Some("x.rs"));
    let odd = json!({"type": "martian"});
    assert!(read_list(ListFormat::LangChain, &[&odd]).is_err());
}

#[test]
fn an_image_is_not_counted_as_its_base64() {
    let image = format!("data:image/png;base64,{}", "A".repeat(100_000));
    let item = json!({"role": "user", "content": [{"type": "input_image", "image_url": image}]});
    let drafts = read_list(ListFormat::OpenAiResponses, &[&item]).unwrap();
    assert_eq!((drafts[0][0].text.as_str(), drafts[0][0].extra_tokens), ("[image image/png]", 1_600));
}

#[test]
fn the_order_of_fields_says_nothing_and_everything_else_does() {
    let one = json!({"role": "user", "content": [{"type": "text", "text": "a"}], "n": 1});
    let same = json!({"n": 1, "content": [{"text": "a", "type": "text"}], "role": "user"});
    assert_eq!(message_hash(&one), message_hash(&same));
    let others = [
        json!({"role": "user", "content": [{"type": "text", "text": "b"}], "n": 1}),
        json!({"role": "user", "content": [{"type": "text", "text": "a"}], "n": "1"}),
        json!({"role": "user", "content": {"type": "text", "text": "a"}, "n": 1}),
        json!({"role": "user", "content": [[{"type": "text"}, {"text": "a"}]], "n": 1}),
        json!({"role": "user", "content": [{"type": "text", "text": "a"}], "n": null}),
    ];
    for other in &others {
        assert_ne!(message_hash(&one), message_hash(other), "{other}");
    }
    let deep = (0..100_000).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
    message_hash(&deep);
    // A value so deep is too deep to be dropped by its own destructor.
    std::mem::forget(deep);
}
