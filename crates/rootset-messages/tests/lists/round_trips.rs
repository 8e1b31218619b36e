//! A list that nothing was taken from comes back as it was.

use rootset_messages::Format::{Anthropic, OpenAi};
use serde_json::json;

use crate::harness::comes_back;

#[test]
fn an_anthropic_request_comes_back_byte_for_byte() {
    comes_back(
        Anthropic,
        &json!({
            "system": [
                {"type": "text", "text": "You are a careful engineer."},
                {"type": "text", "text": "House rules.", "cache_control": {"type": "ephemeral"}},
            ],
            "messages": [
                {"role": "user", "content": "Why does the build fail?"},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "Look at the log first.", "signature": "c2lnbmVk"},
                    {"type": "text", "text": "I will look at the log."},
                    {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "build.log"}},
                    {"type": "tool_use", "id": "toolu_2", "name": "Bash", "input": {"command": "make"}},
                ]},
                {"content": [
                    {"type": "tool_result", "tool_use_id": "toolu_1", "content": "     1→error\n     2→at line 3"},
                    {"type": "tool_result", "tool_use_id": "toolu_2", "is_error": true, "content": [
                        {"type": "text", "text": "make: *** [all] Error 2"},
                        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}},
                    ]},
                    {"type": "text", "text": "and hurry"},
                ], "role": "user"},
                {"role": "assistant", "content": [
                    {"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"},
                    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "error 2"}},
                    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [
                        {"type": "web_search_result", "title": "Make", "url": "https://make.example", "encrypted_content": "x"},
                    ]},
                    {"type": "text", "text": "It is line 3.", "citations": [{"type": "char_location", "start_char_index": 0}]},
                ]},
                {"role": "user", "content": [
                    {"type": "image", "source": {"type": "url", "url": "https://pictures.example/a.png"}},
                    {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "notes"}, "title": "n"},
                    {"type": "block_of_next_year", "payload": [1, 2, {"three": null}]},
                ]},
                {"role": "user", "content": "Two messages in a row."},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_3", "name": "Bash", "input": {}}]},
            ],
        }),
    );
}

#[test]
fn an_openai_list_comes_back_byte_for_byte() {
    comes_back(
        OpenAi,
        &json!([
            {"role": "system", "content": "You are a careful engineer."},
            {"role": "developer", "content": [{"type": "text", "text": "House rules."}]},
            {"role": "assistant", "content": "How can I help?"},
            {"role": "user", "name": "ada", "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO", "detail": "low"}},
                {"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBE"}},
            ]},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\": \"a.rs\"}"}},
                {"id": "call_2", "type": "function", "function": {"name": "list", "arguments": "not json"}},
            ], "refusal": null},
            {"role": "tool", "tool_call_id": "call_2", "content": ""},
            {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "fn"}, {"type": "text", "text": "main"}]},
            {"role": "assistant", "content": "", "tool_calls": [
                {"id": "call_1", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}},
            ]},
            {"role": "tool", "tool_call_id": "call_1", "content": "1"},
            {"role": "assistant", "function_call": {"name": "old", "arguments": "{}"}, "content": null},
            {"role": "function", "name": "old", "content": "done"},
            {"role": "assistant", "refusal": "I will not.", "content": null, "tool_calls": null},
            {"role": "user", "content": "Then say it."},
            {"role": "user", "content": "Please."},
            {"role": "assistant", "audio": {"id": "audio_1"}, "annotations": []},
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}, {"type": "text", "text": "Sorry."}]},
        ]),
    );
}

#[test]
fn a_system_prompt_is_a_text_again_or_blocks_again() {
    comes_back(Anthropic, &json!({"system": "Be brief.", "messages": [{"role": "user", "content": "hi"}]}));
    let blocks = json!([{"type": "text", "text": "Be brief."}]);
    comes_back(Anthropic, &json!({"system": blocks, "messages": [{"role": "user", "content": "hi"}]}));
}

#[test]
fn the_last_message_of_an_assistant_may_be_empty() {
    for empty in [json!([]), json!("")] {
        comes_back(Anthropic, &json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": empty}]));
    }
}
