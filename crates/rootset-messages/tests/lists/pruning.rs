//! What comes out when something left, or when pieces do not fit together.

use rootset_messages::Format::{Anthropic, OpenAi};
use rootset_messages::{Draft, Format, Piece};
use serde_json::{Value, json};

use crate::harness::{drafts, pieces, rendered};

const EARLIER: &str = "[earlier messages of this conversation were stashed]";
const ORPHAN: &str = "[result of a tool call that is no longer in this conversation]";

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Two calls at once, thinking before them, text after the results.
fn anthropic() -> Vec<Draft> {
    drafts(
        Anthropic,
        &json!([
            {"role": "user", "content": "Look around."},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                text("I look."),
                {"type": "tool_use", "id": "t1", "name": "ls", "input": {}},
                {"type": "tool_use", "id": "t2", "name": "pwd", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "a.rs"},
                {"type": "tool_result", "tool_use_id": "t2", "content": [text("/src"), text("(end)")]},
                text("Go on."),
            ]},
            {"role": "assistant", "content": [text("Done.")]},
        ]),
    )
}

fn openai() -> Vec<Draft> {
    drafts(
        OpenAi,
        &json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Look around."},
            {"role": "assistant", "content": "I look.", "tool_calls": [
                {"id": "t1", "type": "function", "function": {"name": "ls", "arguments": "{}"}},
                {"id": "t2", "type": "function", "function": {"name": "pwd", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "t1", "content": "a.rs"},
            {"role": "tool", "tool_call_id": "t2", "content": "/src"},
            {"role": "assistant", "content": "Done."},
        ]),
    )
}

#[track_caller]
fn kept(format: Format, drafts: &[Draft], places: &[usize]) -> Vec<Value> {
    rendered(format, &pieces(places.iter().map(|place| &drafts[*place]))).messages
}

#[test]
fn a_pair_leaves_and_its_message_closes_over_the_gap() {
    // user, text, thinking + t1, t2, result 1, result 2, text, text
    let all = anthropic();
    assert_eq!(
        kept(Anthropic, &all, &[0, 1, 3, 5, 6, 7])[1..3],
        [
            json!({"role": "assistant", "content": [text("I look."), {"type": "tool_use", "id": "t2", "name": "pwd", "input": {}}]}),
            json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t2", "content": [text("/src"), text("(end)")]},
                text("Go on."),
            ]}),
        ]
    );
}

#[test]
fn thinking_stands_where_it_stood_before_the_text_that_came_between() {
    let all = anthropic();
    let messages = kept(Anthropic, &all, &[0, 1, 2, 4]);
    let types: Vec<&str> =
        messages[1]["content"].as_array().unwrap().iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["thinking", "text", "tool_use"]);
    let without_text = kept(Anthropic, &all, &[0, 2, 4]);
    assert_eq!(without_text[1]["content"][0]["type"], "thinking");
}

#[test]
fn openai_calls_stay_when_the_text_beside_them_leaves() {
    // system, user, text, t1, t2, result 1, result 2, text
    let all = openai();
    let messages = kept(OpenAi, &all, &[0, 1, 4, 6, 7]);
    let call = json!({"id": "t2", "type": "function", "function": {"name": "pwd", "arguments": "{}"}});
    assert_eq!(messages[2], json!({"role": "assistant", "content": null, "tool_calls": [call]}));
    assert_eq!(kept(OpenAi, &all, &[1, 2, 7])[1], json!({"role": "assistant", "content": "I look."}));
}

#[test]
fn a_list_that_would_begin_with_an_answer_says_that_something_came_before() {
    let first = json!({"role": "user", "content": EARLIER});
    assert_eq!(kept(Anthropic, &anthropic(), &[1, 7])[0], first);
    let messages = kept(OpenAi, &openai(), &[0, 7]);
    assert_eq!((&messages[0]["role"], &messages[1]), (&json!("system"), &first));
    let greeting =
        drafts(OpenAi, &json!([{"role": "assistant", "content": "Hello."}, {"role": "user", "content": "Hi."}]));
    assert_eq!(kept(OpenAi, &greeting, &[0, 1])[0]["content"], "Hello.");
}

#[test]
fn neighbours_by_pruning_are_joined_and_neighbours_from_before_are_not() {
    let all = drafts(
        Anthropic,
        &json!([
            {"role": "user", "content": "one", "note": 1},
            {"role": "user", "content": "two"},
            {"role": "assistant", "content": "three"},
            {"role": "user", "content": "four", "other": 2},
        ]),
    );
    assert_eq!(kept(Anthropic, &all, &[0, 1]).len(), 2);
    assert_eq!(
        kept(Anthropic, &all, &[0, 3]),
        [json!({"role": "user", "content": [text("one"), text("four")], "note": 1, "other": 2})]
    );
}

#[test]
fn a_result_without_its_call_is_told_as_text() {
    let all = anthropic();
    assert_eq!(
        kept(Anthropic, &all, &[0, 4, 5, 6]),
        [json!({"role": "user", "content": [
            text("Look around."), text(ORPHAN), text("a.rs"), text(ORPHAN), text("/src"), text("(end)"), text("Go on."),
        ]})]
    );
    let told = json!({"role": "user", "content": format!("{ORPHAN}\na.rs")});
    assert_eq!(kept(OpenAi, &openai(), &[1, 2, 5, 7])[2], told);
}

#[test]
fn a_call_in_the_middle_without_its_result_goes_with_its_thinking() {
    let all = anthropic();
    assert_eq!(kept(Anthropic, &all, &[0, 1, 2, 6])[1], json!({"role": "assistant", "content": [text("I look.")]}));
    assert_eq!(kept(OpenAi, &openai(), &[1, 3, 4, 6, 7])[1]["tool_calls"].as_array().unwrap().len(), 1);
    let nothing_else = kept(OpenAi, &openai(), &[1, 3, 7]);
    assert_eq!(nothing_else.len(), 2);
}

#[test]
fn calls_at_the_very_end_may_wait_for_their_results() {
    let all = anthropic();
    assert_eq!(kept(Anthropic, &all, &[0, 2, 3])[1]["content"].as_array().unwrap().len(), 3);
    assert_eq!(kept(OpenAi, &openai(), &[1, 3, 4])[1]["tool_calls"].as_array().unwrap().len(), 2);
    // One of two is answered: the other one cannot wait any more.
    assert_eq!(kept(OpenAi, &openai(), &[1, 3, 4, 5])[1]["tool_calls"].as_array().unwrap().len(), 1);
}

#[test]
fn a_result_that_strayed_comes_back_to_its_call() {
    for (format, all, call, result) in [(Anthropic, anthropic(), 2, 4), (OpenAi, openai(), 3, 5)] {
        let note = Piece::Text { role: "user", text: "A note." };
        let answer = Piece::Text { role: "assistant", text: "An answer." };
        let raw = |place: usize| Piece::Raw(&all[place].raw);
        let user = if format == OpenAi { 1 } else { 0 };
        let messages = rendered(format, &[raw(user), raw(call), note, answer, raw(result)]).messages;
        let whole = Value::Array(messages).to_string();
        let place = |words: &str| whole.find(words).unwrap_or_else(|| panic!("no `{words}` in {whole}"));
        assert!(place("a.rs") < place("A note."), "{whole}");
        assert!(place("A note.") < place("An answer."), "{whole}");
        assert!(!whole.contains(ORPHAN), "{whole}");
    }
}

#[test]
fn a_result_before_its_call_is_none_of_its() {
    let all = anthropic();
    let messages = kept(Anthropic, &all, &[0, 4, 1, 2, 6]);
    assert!(messages[0].to_string().contains(ORPHAN), "{messages:?}");
    assert!(!messages[1].to_string().contains("tool_use"), "{messages:?}");
}

#[test]
fn a_placeholder_stands_behind_the_message_and_the_pair_it_fell_into() {
    let gone = Piece::Placeholder { text: "[stashed: 1 segment]" };
    let all = anthropic();
    let raw = |place: usize| Piece::Raw(&all[place].raw);
    // In the middle of the assistant's message, and between call and result.
    let messages = rendered(Anthropic, &[raw(0), raw(1), gone, raw(3), gone, raw(5), raw(6), raw(7)]).messages;
    assert_eq!(messages.len(), 4);
    let blocks = messages[2]["content"].as_array().unwrap();
    assert_eq!(blocks[0]["type"], "tool_result");
    assert_eq!(blocks[1..], [text("[stashed: 1 segment]\n[stashed: 1 segment]"), text("Go on.")]);
    let all = openai();
    let raw = |place: usize| Piece::Raw(&all[place].raw);
    let messages = rendered(OpenAi, &[raw(1), raw(4), gone, raw(6), raw(7)]).messages;
    let roles: Vec<&str> = messages.iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "user", "assistant"]);
}

#[test]
fn text_pieces_become_messages_of_their_roles() {
    let said = |role, text| Piece::Text { role, text };
    let all = [
        said("system", "Be brief."),
        said("user", "one"),
        said("tool", "two"),
        said("assistant", "three"),
        said("assistant", "  "),
        said("system", "Be kind."),
    ];
    let anthropic = rendered(Anthropic, &all);
    assert_eq!(anthropic.system, Some(json!([text("Be brief."), text("Be kind.")])));
    assert_eq!(
        anthropic.messages,
        [
            json!({"role": "user", "content": [text("one"), text("two")]}),
            json!({"role": "assistant", "content": "three"})
        ]
    );
    let openai = rendered(OpenAi, &all);
    assert_eq!(openai.system, None);
    let roles: Vec<&str> = openai.messages.iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "user", "assistant", "system"]);
}

#[test]
fn messages_of_different_lists_stay_apart() {
    let first = drafts(Anthropic, &json!([{"role": "user", "content": [text("one"), text("two")]}]));
    let second = drafts(Anthropic, &json!([{"role": "assistant", "content": [text("one"), text("two")]}]));
    let messages = rendered(Anthropic, &pieces([&first[0], &second[1]])).messages;
    assert_eq!(messages.len(), 2);
    // The same message sent twice is two messages, joined because the API would.
    let again = rendered(OpenAi, &pieces([&first[0], &first[0]])).messages;
    assert_eq!(again.len(), 2);
}

#[test]
fn a_callers_own_message_or_block_is_taken_as_it_is() {
    let message = json!({"role": "user", "content": "hello", "id": 7});
    let call = json!({"type": "tool_use", "id": "t", "name": "ls", "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "a.rs"});
    let odd = json!({"what": "ever"});
    let all = [Piece::Raw(&message), Piece::Raw(&call), Piece::Raw(&result), Piece::Raw(&odd)];
    let messages = rendered(Anthropic, &all).messages;
    assert_eq!(messages[0], message);
    assert_eq!(messages[1], json!({"role": "assistant", "content": [call]}));
    assert_eq!(messages[2], json!({"role": "user", "content": [result, text("{\"what\":\"ever\"}")]}));
}

#[test]
fn nothing_gives_nothing() {
    for format in Format::ALL {
        let nothing = rendered(format, &[]);
        assert_eq!((nothing.system, nothing.messages.len()), (None, 0));
    }
}
