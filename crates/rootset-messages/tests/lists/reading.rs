//! What drafts say about the blocks they were made of.

use rootset_gc::context::SegmentType;
use rootset_messages::Format::{Anthropic, OpenAi};
use rootset_messages::{Draft, ReadError, read};
use serde_json::json;

use crate::harness::{drafts, texts};

fn roles(drafts: &[Draft]) -> Vec<&str> {
    drafts.iter().map(|draft| draft.role.as_deref().unwrap()).collect()
}

#[test]
fn every_block_that_can_leave_alone_is_a_draft() {
    let read = drafts(
        Anthropic,
        &json!({"system": "Be brief.", "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "Look:"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}},
            ]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Read it.", "signature": "s"},
                {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "a.rs", "offset": 5, "limit": 2}},
                {"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "ls"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "     5→fn a() {\n     6→}"},
                {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "a.rs"}]},
            ]},
        ]}),
    );
    assert_eq!(
        texts(&read),
        [
            "Be brief.",
            "Look:",
            "[image image/png]",
            "Read it.\nRead {\"file_path\":\"a.rs\",\"offset\":5,\"limit\":2}",
            "Bash {\"command\":\"ls\"}",
            "     5→fn a() {\n     6→}",
            "a.rs",
        ]
    );
    assert_eq!(roles(&read), ["system", "user", "user", "assistant", "assistant", "tool", "tool"]);
    let calls: Vec<_> = read.iter().map(|draft| draft.tool_call_id.as_deref()).collect();
    assert_eq!(calls, [None, None, None, Some("t1"), Some("t2"), Some("t1"), Some("t2")]);
    let types: Vec<_> = read[4..].iter().map(|draft| draft.segment_type).collect();
    assert_eq!(types, [SegmentType::Message, SegmentType::Code, SegmentType::Log]);
    for draft in [&read[3], &read[5]] {
        assert_eq!((draft.file_path.as_deref(), draft.lines), (Some("a.rs"), Some((5, 6))));
    }
    let extra: Vec<u32> = read.iter().map(|draft| draft.extra_tokens).collect();
    assert_eq!(extra, [0, 0, 1_600, 0, 0, 0, 0]);
    let invariant: Vec<bool> = read.iter().map(|draft| draft.is_invariant).collect();
    assert_eq!(invariant, [true, false, false, false, false, false, false]);
}

#[test]
fn parts_calls_and_results_of_openai_are_drafts() {
    let read = drafts(
        OpenAi,
        &json!([
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [
                {"type": "text", "text": "Look:"},
                {"type": "image_url", "image_url": {"url": "https://pictures.example/a.png"}},
            ]},
            {"role": "assistant", "content": "I look.", "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\":\"a.rs\"}"}},
            ]},
            {"role": "tool", "tool_call_id": "c1", "content": "1\tfn a() {\n2\t}"},
            {"role": "assistant", "content": null, "function_call": {"name": "old", "arguments": "{}"}},
            {"role": "function", "name": "old", "content": "done"},
            {"role": "assistant", "content": null, "refusal": "No."},
        ]),
    );
    assert_eq!(
        texts(&read),
        [
            "Be brief.",
            "Look:",
            "[image https://pictures.example/a.png]",
            "I look.",
            "read_file {\"path\":\"a.rs\"}",
            "1\tfn a() {\n2\t}",
            "old {}",
            "done",
            "No.",
        ]
    );
    assert_eq!(
        roles(&read),
        ["system", "user", "user", "assistant", "assistant", "tool", "assistant", "tool", "assistant"]
    );
    assert!(read[0].is_invariant && !read[1].is_invariant);
    assert_eq!(read[2].extra_tokens, 1_600);
    assert_eq!((read[5].segment_type, read[5].lines), (SegmentType::Code, Some((1, 2))));
    assert_eq!(read[6].tool_call_id, read[7].tool_call_id);
    assert!(read[6].tool_call_id.is_some());
}

#[test]
fn a_result_of_a_tool_that_failed_shows_no_file() {
    let read = drafts(
        Anthropic,
        &json!([
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "a"}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t", "is_error": true, "content": "no such file"},
            ]},
        ]),
    );
    assert_eq!((read[2].segment_type, &read[2].file_path), (SegmentType::Log, &None));
}

#[test]
fn what_is_no_message_list_is_refused_by_place() {
    let said = |format, list| read(format, &list).unwrap_err().to_string();
    assert_eq!(
        said(Anthropic, json!("hello")),
        "`messages` is a text; allowed: a list of messages, or an object with `messages`"
    );
    assert_eq!(
        said(Anthropic, json!([{"role": "user", "content": "a"}, 5])),
        "`messages[1]` is a number; allowed: an object with `role` and `content`"
    );
    assert_eq!(said(OpenAi, json!([{"content": "a"}])), "`messages[0].role` is missing or not a text");
    assert_eq!(
        said(Anthropic, json!([{"role": "user"}])),
        "`messages[0].content` is null; allowed: a text or a list of blocks"
    );
    assert_eq!(
        said(Anthropic, json!([{"role": "user", "content": [{"type": "text", "text": "a"}, "b"]}])),
        "`messages[0].content[1]` is a text; allowed: an object with `type`"
    );
    assert_eq!(
        said(OpenAi, json!([{"role": "user", "content": {"text": "a"}}])),
        "`messages[0].content` is an object; allowed: a text, a list of parts or null"
    );
    assert_eq!(
        said(OpenAi, json!([{"role": "assistant", "tool_calls": [1]}])),
        "`messages[0].tool_calls[0]` is a number; allowed: an object"
    );
    assert_eq!(
        said(Anthropic, json!({"system": 5, "messages": []})),
        "`system` is a number; allowed: a text or a list of text blocks"
    );
    assert_eq!("gemini".parse::<rootset_messages::Format>(), Err(ReadError::UnknownFormat("gemini".to_owned())));
}

#[test]
fn lists_have_a_length() {
    let long: Vec<_> = (0..=rootset_messages::MESSAGES_MAX).map(|_| json!({"role": "user", "content": "a"})).collect();
    let max = rootset_messages::MESSAGES_MAX;
    assert_eq!(read(OpenAi, &json!(long)), Err(ReadError::TooManyMessages { found: max + 1, max }));
}
