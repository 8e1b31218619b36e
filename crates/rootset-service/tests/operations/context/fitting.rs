//! `context_fit`: whole lists in, lists that fit out.

use rootset_messages::{Format, Rendered, validate};
use rootset_properties::Budget;
use serde_json::{Value, json};

use super::{Session, filler};
use crate::harness::{DAY_MS, array, text_of};

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

/// A call and its result, in Anthropic's format.
fn turn(id: &str, output: &str) -> [Value; 2] {
    let call = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": format!("run {id}")}});
    let result = json!({"type": "tool_result", "tool_use_id": id, "content": output});
    [json!({"role": "assistant", "content": [call]}), json!({"role": "user", "content": [result]})]
}

fn fit(session: &Session, messages: &[Value], budget: u64) -> Value {
    session.call("context_fit", json!({"messages": messages, "budget_tokens": budget}))
}

fn messages(answer: &Value) -> Vec<Value> {
    array(&answer["messages"]).to_vec()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("`{value}` is no number"))
}

/// An instruction, then many results that nobody needs any more.
fn long_list(turns: usize) -> Vec<Value> {
    let mut list = vec![user("Please find out why the build of falcon is red.")];
    for turn_number in 0..turns {
        let output = format!("line{turn_number} of {}", filler(100));
        list.extend(turn(&format!("call-{turn_number}"), &output));
    }
    list
}

#[test]
fn a_list_that_fits_comes_back_as_it_is() {
    let session = Session::new();
    let list = long_list(5);
    let answer = fit(&session, &list, 100_000);
    assert_eq!(messages(&answer), list);
    assert_eq!(
        (text_of(&answer["state"]), text_of(&answer["format"])),
        ("appended".to_owned(), "anthropic".to_owned())
    );
    assert_eq!(answer["tokens_before"], answer["tokens_after"]);
    assert_eq!((&answer["stashed"], answer.get("first_changed_index")), (&json!([]), None));
    assert_eq!(answer["recall_tool"]["name"], "context_recall");
}

#[test]
fn what_leaves_leaves_whole_and_can_be_recalled() {
    let session = Session::new();
    let list = long_list(20);
    let answer = fit(&session, &list, 1_500);
    assert!(number(&answer["tokens_after"]) <= 1_500 && number(&answer["tokens_before"]) > 2_000, "{answer}");
    let kept = messages(&answer);
    assert_eq!((&kept[0], kept.last()), (&list[0], list.last()));
    let rendered = Rendered { system: None, messages: kept };
    assert_eq!(validate(Format::Anthropic, &rendered), [] as [&str; 0]);
    let stashed = array(&answer["stashed"]);
    assert!(stashed.len() >= 10, "{answer}");
    for message in stashed {
        let recalled = session.world.call("context_recall", json!({"ids": message["ids"]}));
        let place = number(&message["index"]) as usize;
        let original = list[place].to_string();
        let text = text_of(&recalled["results"][0]["text"]);
        let word = text.split([' ', '\n']).next().unwrap();
        assert!(original.contains(word), "{recalled} is not {original}");
        assert!(!text_of(&message["reason"]).is_empty());
    }
}

#[test]
fn an_equal_list_gets_the_stored_answer_whatever_the_time_and_the_process() {
    let session = Session::new();
    let list = long_list(20);
    let first = fit(&session, &list, 1_500);
    session.world.advance_ms(3 * DAY_MS);
    let again = fit(&session, &list, 1_500);
    assert_eq!(text_of(&again["state"]), "unchanged");
    for field in ["messages", "stashed", "tokens_before", "tokens_after"] {
        assert_eq!(first[field], again[field], "{field}");
    }
    let mut longer = list.clone();
    longer.extend([assistant("The linker is missing."), user("Then install it.")]);
    fit(&session, &longer, 1_500);
    let request = json!({"session_id": session.id, "messages": list, "budget_tokens": 1_500});
    let other = session.world.second_process().call(&session.world.caller, "context_fit", request).unwrap();
    assert_eq!(other["messages"], first["messages"]);
}

#[test]
fn both_lists_may_be_extended_and_earlier_messages_stay_as_they_were() {
    for extends_answer in [false, true] {
        let session = Session::new();
        let list = long_list(20);
        let first = fit(&session, &list, 1_500);
        let mut next = if extends_answer { messages(&first) } else { list.clone() };
        next.push(assistant("The linker is missing."));
        let answer = fit(&session, &next, 1_500);
        let (before, after) = (messages(&first), messages(&answer));
        assert_eq!(after[..before.len()], before[..], "{extends_answer}");
        assert_eq!(after.len(), before.len() + 1);
        assert_eq!((text_of(&answer["state"]), answer.get("first_changed_index")), ("appended".to_owned(), None));
    }
}

#[test]
fn a_branch_that_was_left_is_stashed_and_comes_back_with_its_messages() {
    let session = Session::new();
    let list = long_list(4);
    fit(&session, &list, 100_000);
    let mut other = list[..5].to_vec();
    other.push(user("Stop. Look at the tests instead."));
    let answer = fit(&session, &other, 100_000);
    assert_eq!((text_of(&answer["state"]), messages(&answer)), ("diverged".to_owned(), other));
    assert_eq!(number(&answer["first_changed_index"]), 5);
    let found = session.call("context_search_stash", json!({"query": "line3"}));
    assert_eq!(array(&found["results"]).len(), 1, "{found}");
    let back = fit(&session, &list, 99_999);
    assert_eq!(messages(&back), list);
    let found = session.call("context_search_stash", json!({"query": "line3"}));
    assert_eq!(array(&found["results"]).len(), 0, "{found}");
}

#[test]
fn a_list_whose_roots_alone_are_too_long_is_returned_whole_with_the_largest() {
    let session = Session::new();
    let mut list = long_list(10);
    list.push(user(&filler(2_000)));
    let answer = fit(&session, &list, 1_000);
    assert_eq!(messages(&answer), list);
    assert_eq!(answer["over_limit"]["largest"][0]["index"].as_u64(), Some(21), "{answer}");
    // Only two messages must stay.
    assert_eq!(array(&answer["over_limit"]["largest"]).len(), 2);
    assert!(number(&answer["over_limit"]["tokens"]) > 1_000);
    // Nothing left, so that more room brings the list back as it is, and as it was sent.
    let answer = fit(&session, &list, 100_000);
    assert_eq!((messages(&answer), answer.get("first_changed_index")), (list, None));
}

#[test]
fn what_the_provider_counts_above_counts_here_too() {
    let session = Session::new();
    let list = long_list(8);
    let tokens = number(&fit(&session, &list, 100_000)["tokens_after"]);
    let budget = tokens + 60;
    let mut next = list.clone();
    next.push(assistant("Next."));
    let observed = tokens + 100;
    let request = json!({"messages": next, "budget_tokens": budget, "observed_input_tokens": observed});
    let answer = session.call("context_fit", request);
    assert!(number(&answer["tokens_after"]) + 100 <= budget, "{answer}");
    assert!(!array(&answer["stashed"]).is_empty());
}

#[test]
fn what_the_caller_keeps_and_what_frames_the_list_are_heeded() {
    let session = Session::new();
    let list = long_list(20);
    let answer = session.call("context_fit", json!({"messages": list, "budget_tokens": 1_500, "keep": [3]}));
    let kept = messages(&answer);
    assert!(kept.contains(&list[3]) && kept.contains(&list[4]), "{answer}");
    let framed = Session::new();
    let system = filler(600);
    let request = json!({"messages": list, "budget_tokens": 1_500, "system": system, "reserved_tokens": 200});
    let answer = framed.call("context_fit", request);
    assert!(number(&answer["tokens_after"]) <= 1_300 && number(&answer["tokens_after"]) >= 600, "{answer}");
}

#[test]
fn new_messages_that_name_what_is_stashed_are_told_where_it_is() {
    let session = Session::new();
    let mut list = long_list(20);
    let [call, result] = turn("call-x", &format!("the socket is quokka_socket_path {}", filler(100)));
    list.splice(3..3, [call, result]);
    let answer = fit(&session, &list, 1_500);
    assert!(!answer["messages"].to_string().contains("quokka_socket_path"), "{answer}");
    list.push(user("What was in quokka_socket_path?"));
    let hints = fit(&session, &list, 1_500)["recall_hints"].clone();
    let id = hints[0]["id"].clone();
    let recalled = session.world.call("context_recall", json!({"ids": [id]}));
    assert!(text_of(&recalled["results"][0]["text"]).contains("quokka_socket_path"), "{hints} {recalled}");
}

#[test]
fn an_instruction_is_the_current_one_again_where_the_conversation_goes_back_to_it() {
    let session = Session::new();
    let [call, mut result] = turn("call-x", &filler(150));
    result["content"].as_array_mut().unwrap().push(json!({"type": "text", "text": "instruction: use quokkas"}));
    let mut list = vec![user("instruction: begin"), call, result.clone(), assistant("Done.")];
    let back_to = list.len();
    fit(&session, &list, 1_100);
    list.push(user("instruction: another task"));
    (0..40).for_each(|number| list.extend(turn(&format!("call-{number}"), &filler(150))));
    let request = json!({"messages": list, "budget_tokens": 600, "cache_state": "cold"});
    let answer = session.call("context_fit", request);
    assert!(!messages(&answer).contains(&result), "{answer}");
    list.truncate(back_to);
    assert!(messages(&fit(&session, &list, 1_100)).contains(&result));
    // It stays, although the window was told something else last.
    (0..12).for_each(|number| list.extend(turn(&format!("other-{number}"), &filler(150))));
    assert!(messages(&fit(&session, &list, 1_100)).contains(&result));
}

#[test]
fn a_secret_goes_back_to_its_caller_and_not_into_the_database() {
    let session = Session::new();
    let key = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let mut list = long_list(20);
    let [call, result] = turn("call-x", &format!("token {key} {}", filler(100)));
    list.splice(3..3, [call, result]);
    assert_eq!(messages(&fit(&session, &list, 100_000)), list);
    let answer = fit(&session, &list, 1_500);
    let place = |it: &&Value| it["index"].as_u64() == Some(4);
    let stashed = array(&answer["stashed"]).iter().find(place).unwrap_or_else(|| panic!("{answer}"));
    let recalled = session.world.call("context_recall", json!({"ids": stashed["ids"]}));
    let text = text_of(&recalled["results"][0]["text"]);
    assert!(text.contains("[redacted") && !text.contains(&key), "{text}");
}

#[test]
fn nonsense_is_refused_by_field() {
    let session = Session::new();
    let list = [user("a")];
    for (request, word) in [
        (json!({"messages": [], "budget_tokens": 5}), "messages"),
        (json!({"messages": "a", "budget_tokens": 5}), "messages"),
        (json!({"messages": [5], "budget_tokens": 5}), "messages[0]"),
        (json!({"messages": list, "budget_tokens": 0}), "budget_tokens"),
        (json!({"messages": list, "budget_tokens": 5, "reserved_tokens": 5}), "reserved_tokens"),
        (json!({"messages": list, "budget_tokens": 5, "keep": [1]}), "keep"),
        (json!({"messages": list, "budget_tokens": 5, "keep": [-1]}), "keep"),
        (json!({"messages": list, "budget_tokens": 5, "observed_input_tokens": 0}), "observed_input_tokens"),
        (json!({"messages": list, "budget_tokens": 5, "format": "gemini"}), "gemini"),
    ] {
        let error = session.refuses("context_fit", request);
        assert!(error.message.contains(word), "{word}: {error}");
    }
}

#[test]
fn lists_of_every_format_are_fitted() {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let text = |turn: usize| format!("line{turn} of {}", filler(100));
    let openai = |turn: usize| {
        let id = format!("c{turn}");
        let result = json!({"role": "tool", "tool_call_id": id, "content": text(turn)});
        vec![json!({"role": "assistant", "content": null, "tool_calls": [call(&id)]}), result]
    };
    let responses = |turn: usize| {
        let id = format!("c{turn}");
        vec![
            json!({"type": "reasoning", "id": format!("r{turn}"), "summary": []}),
            json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"}),
            json!({"type": "function_call_output", "call_id": id, "output": text(turn)}),
        ]
    };
    let langchain = |turn: usize| {
        let id = format!("c{turn}");
        let calls = json!([{"name": "f", "args": {}, "id": id}]);
        let result = json!({"type": "tool", "content": text(turn), "tool_call_id": id});
        vec![json!({"type": "ai", "content": "", "tool_calls": calls}), result]
    };
    let of = |first: Value, turns: &dyn Fn(usize) -> Vec<Value>| {
        std::iter::once(first).chain((0..20).flat_map(turns)).collect::<Vec<Value>>()
    };
    let lists = [
        ("openai", of(user("Please look."), &openai)),
        ("openai-responses", of(user("Please look."), &responses)),
        ("langchain", of(json!({"type": "human", "content": "Please look."}), &langchain)),
    ];
    for (format, list) in lists {
        let session = Session::new();
        let answer = fit(&session, &list, 1_500);
        assert_eq!(text_of(&answer["format"]), format);
        assert!(number(&answer["tokens_after"]) <= 1_500, "{answer}");
        let kept = messages(&answer);
        assert_eq!(kept[0], list[0], "{format}");
        // Calls, results and thoughts stay or leave together.
        for turn in 0..20 {
            let ids = [format!("\"c{turn}\""), format!("\"r{turn}\"")];
            let count =
                |list: &[Value]| list.iter().filter(|it| ids.iter().any(|id| it.to_string().contains(id))).count();
            assert!([0, count(&list)].contains(&count(&kept)), "{format} {turn}: {answer}");
        }
    }
}

/// Numbers that a seed decides.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// One to three messages, as an agent and its user would add them.
fn addition(random: &mut Random, step: usize) -> Vec<Value> {
    match random.below(8) {
        0 => vec![user(&format!("instruction {step}: {}", filler(random.below(20) as usize + 1)))],
        1 => vec![assistant(&format!("answer {step}: {}", filler(random.below(60) as usize + 1)))],
        2 => {
            let ids = [format!("a{step}"), format!("b{step}")];
            let call = |id: &String| json!({"type": "tool_use", "id": id, "name": "f", "input": {}});
            let text = filler(random.below(150) as usize + 1);
            let result = |id: &String| json!({"type": "tool_result", "tool_use_id": id, "content": text});
            let mut results: Vec<Value> = ids.iter().map(result).collect();
            if random.below(2) == 0 {
                results.push(json!({"type": "text", "text": format!("instruction {step} beside a result")}));
            }
            vec![
                json!({"role": "assistant", "content": ids.iter().map(call).collect::<Vec<_>>()}),
                json!({"role": "user", "content": results}),
            ]
        }
        _ => turn(&format!("c{step}"), &filler(random.below(200) as usize + 1)).to_vec(),
    }
}

fn instructs(message: &Value) -> bool {
    message["role"] == "user" && message.to_string().contains("instruction")
}

#[test]
fn whatever_a_conversation_does_its_list_fits_and_stays_valid() {
    for seed in Budget::weighted(2).seeds() {
        let session = Session::new();
        let mut random = Random(seed);
        let budget = 600 + random.below(2_000);
        let mut own = vec![user("instruction 0: begin")];
        let mut last: Option<Value> = None;
        for step in 1..25 {
            if random.below(10) == 0 && own.len() > 3 {
                own.truncate(own.len() - 2);
                while own.last().is_some_and(|it| it["role"] == "assistant" && it["content"].is_array()) {
                    own.pop();
                }
                last = None;
            }
            let extends_answer = random.below(4) == 0;
            if let Some(last) = last.as_ref().filter(|_| extends_answer) {
                own = messages(last);
            }
            let new = addition(&mut random, step);
            own.extend(new.iter().cloned());
            let cache_state = ["warm", "cold", "unknown"][random.below(3) as usize];
            let request = json!({"messages": own, "budget_tokens": budget, "cache_state": cache_state});
            let answer = session.call("context_fit", request.clone());
            let kept = messages(&answer);
            let said = format!("seed {seed}, step {step}, budget {budget}");

            session.world.advance_ms(random.below(DAY_MS as u64) as i64);
            let again = session.call("context_fit", request);
            assert_eq!((&again["messages"], &again["stashed"]), (&answer["messages"], &answer["stashed"]), "{said}");
            if answer.get("over_limit").is_some() {
                assert_eq!(kept, own, "{said}");
                last = None;
                continue;
            }
            assert!(number(&answer["tokens_after"]) <= budget, "{said}");
            let rendered = Rendered { system: None, messages: kept.clone() };
            let problems = validate(Format::Anthropic, &rendered);
            assert!(problems.is_empty(), "{said}: {problems:?}\n{kept:#?}");
            let latest = own.iter().rev().find(|it| instructs(it)).unwrap();
            assert!(kept.contains(latest), "{said}: {latest}");
            assert_eq!(kept.last(), own.last(), "{said}");
            if let Some(last) = &last {
                let before = messages(last);
                let added = number(&answer["tokens_before"]).saturating_sub(number(&last["tokens_before"]));
                let is_prefix = kept.len() >= before.len() && kept[..before.len()] == before[..];
                assert_eq!(answer.get("first_changed_index").is_none(), is_prefix, "{said}");
                if !extends_answer && number(&last["tokens_after"]) + added <= budget {
                    assert!(is_prefix, "{said}: a list that fits changed");
                }
            }
            last = Some(answer);
        }
    }
}
