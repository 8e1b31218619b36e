//! Valid message lists of both APIs, made up: every kind of block, in every order that is allowed.
//!
//! Every text holds a word of its own (`w1`, `w2`, …), so that a test can ask what became of it.

use proptest::prelude::*;
use serde_json::{Value, json};

/// One exchange of a conversation; what it looks like depends on the API.
#[derive(Clone, Debug)]
pub enum Step {
    User {
        blocks: u8,
        as_text: bool,
        image: bool,
        unknown: bool,
    },
    Assistant {
        blocks: u8,
        as_text: bool,
        thinking: bool,
    },
    Tools {
        calls: u8,
        thinking: bool,
        text: bool,
        apart: bool,
        backwards: bool,
        more: bool,
        style: u8,
    },
    /// A tool of the API's own servers; an old function for OpenAI.
    Special {
        text: bool,
    },
}

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (1..3_u8, any::<bool>(), any::<bool>(), any::<bool>())
            .prop_map(|(blocks, as_text, image, unknown)| Step::User { blocks, as_text, image, unknown }),
        (1..3_u8, any::<bool>(), any::<bool>()).prop_map(|(blocks, as_text, thinking)| Step::Assistant {
            blocks,
            as_text,
            thinking
        }),
        (1..4_u8, any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), 0..4_u8).prop_map(
            |(calls, thinking, text, apart, backwards, more, style)| Step::Tools {
                calls,
                thinking,
                text,
                apart,
                backwards,
                more,
                style
            }
        ),
        any::<bool>().prop_map(|text| Step::Special { text }),
    ];
    prop::collection::vec(step, 0..12)
}

#[derive(Default)]
struct Maker {
    words: u32,
    calls: u32,
    messages: Vec<Value>,
}

impl Maker {
    fn word(&mut self) -> String {
        self.words += 1;
        format!("w{} is said", self.words)
    }

    fn id(&mut self) -> String {
        self.calls += 1;
        format!("call_{}", self.calls)
    }

    fn text(&mut self) -> Value {
        json!({"type": "text", "text": self.word()})
    }

    fn push(&mut self, role: &str, content: Value) {
        self.messages.push(json!({"role": role, "content": content}));
    }
}

/// Ends with calls that nobody has answered yet when `waits`.
pub fn anthropic(steps: &[Step], waits: bool) -> Value {
    let mut maker = Maker::default();
    let system = match steps.len() % 3 {
        0 => None,
        1 => Some(json!("w0 rules")),
        _ => Some(json!([{"type": "text", "text": "w0 rules", "cache_control": {"type": "ephemeral"}}, maker.text()])),
    };
    let begin = maker.word();
    maker.push("user", begin.into());
    for step in steps {
        anthropic_step(&mut maker, step);
    }
    if waits {
        let (id, word) = (maker.id(), maker.word());
        let call = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": word}});
        maker.push("assistant", json!([call]));
    }
    match system {
        None => json!({"messages": maker.messages}),
        Some(system) => json!({"system": system, "messages": maker.messages}),
    }
}

fn thought(maker: &Maker) -> Value {
    match maker.words % 2 {
        0 => json!({"type": "thinking", "thinking": "hm", "signature": format!("s{}", maker.words)}),
        _ => json!({"type": "redacted_thinking", "data": format!("d{}", maker.words)}),
    }
}

fn anthropic_step(maker: &mut Maker, step: &Step) {
    match step {
        Step::User { as_text: true, .. } => {
            let word = maker.word();
            maker.push("user", word.into());
        }
        Step::User { blocks, image, unknown, .. } => {
            let mut content: Vec<Value> = (0..*blocks).map(|_| maker.text()).collect();
            if *image {
                content.push(
                    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iV"}}),
                );
            }
            if *unknown {
                content.insert(0, json!({"type": "hologram", "says": maker.word()}));
            }
            maker.messages.push(json!({"content": content, "role": "user", "extra": maker.words}));
        }
        Step::Assistant { as_text: true, .. } => {
            let word = maker.word();
            maker.push("assistant", word.into());
        }
        Step::Assistant { blocks, thinking, .. } => {
            let mut content: Vec<Value> = thinking.then(|| thought(maker)).into_iter().collect();
            content.extend((0..*blocks).map(|_| maker.text()));
            maker.push("assistant", content.into());
        }
        Step::Tools { .. } => anthropic_tools(maker, step),
        Step::Special { text } => {
            let id = maker.id();
            let mut content = vec![
                json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": maker.word()}}),
                json!({"type": "web_search_tool_result", "tool_use_id": id, "content": [
                    {"type": "web_search_result", "title": maker.word(), "url": "https://a.example", "encrypted_content": "x"},
                ]}),
            ];
            content.extend(text.then(|| maker.text()));
            maker.push("assistant", content.into());
        }
    }
}

fn anthropic_tools(maker: &mut Maker, step: &Step) {
    let Step::Tools { calls, thinking, text, apart, backwards, more, style } = step else { return };
    let mut asked: Vec<Value> = thinking.then(|| thought(maker)).into_iter().collect();
    asked.extend(text.then(|| maker.text()));
    let mut results = Vec::new();
    for number in 0..*calls {
        let id = maker.id();
        asked.push(json!({"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": maker.word()}}));
        let mut result = json!({"type": "tool_result", "tool_use_id": id});
        match (style + number) % 4 {
            0 => result["content"] = maker.word().into(),
            1 => {
                result["content"] =
                    json!([maker.text(), {"type": "image", "source": {"type": "url", "url": "https://p.example"}}])
            }
            2 => (result["content"], result["is_error"]) = (maker.word().into(), true.into()),
            _ => {}
        }
        results.push(result);
    }
    if *backwards {
        results.reverse();
    }
    maker.push("assistant", asked.into());
    if *apart {
        for result in results.drain(1..).collect::<Vec<_>>() {
            maker.push("user", json!([result]));
        }
    }
    results.extend(more.then(|| maker.text()));
    // The message with more text is the last: results come first.
    maker.push("user", results.into());
}

pub fn openai(steps: &[Step], waits: bool) -> Value {
    let mut maker = Maker::default();
    if steps.len().is_multiple_of(2) {
        maker.push("system", "w0 rules".into());
    }
    for step in steps {
        openai_step(&mut maker, step);
    }
    if waits {
        let call = openai_call(&mut maker, 0);
        maker.messages.push(json!({"role": "assistant", "tool_calls": [call]}));
    }
    maker.messages.into()
}

/// Ids of every third message are used again and again, as some servers do.
fn openai_call(maker: &mut Maker, number: u8) -> Value {
    let fresh = maker.id();
    let id = if maker.words.is_multiple_of(3) { format!("again_{number}") } else { fresh };
    let word = maker.word();
    match number {
        2 => json!({"id": id, "type": "custom", "custom": {"name": "sql", "input": word}}),
        1 => json!({"id": id, "type": "function", "function": {"name": "ls", "arguments": format!("broken {word}")}}),
        _ => {
            json!({"id": id, "type": "function", "function": {"name": "ls", "arguments": json!({"path": word}).to_string()}})
        }
    }
}

fn openai_step(maker: &mut Maker, step: &Step) {
    match step {
        Step::User { as_text: true, .. } => {
            let word = maker.word();
            maker.messages.push(json!({"role": "user", "name": "ada", "content": word}));
        }
        Step::User { blocks, image, unknown, .. } => {
            let mut content: Vec<Value> = (0..*blocks).map(|_| maker.text()).collect();
            if *image {
                content.push(json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,iV"}}));
            }
            if *unknown {
                content.insert(0, json!({"type": "hologram", "says": maker.word()}));
            }
            maker.push("user", content.into());
        }
        Step::Assistant { as_text, blocks, thinking } => match (as_text, thinking) {
            (true, true) => {
                let word = maker.word();
                maker.messages.push(json!({"role": "assistant", "content": null, "refusal": word}));
            }
            (true, false) => {
                let word = maker.word();
                maker.push("assistant", word.into());
            }
            _ => {
                let content: Vec<Value> = (0..*blocks).map(|_| maker.text()).collect();
                maker.push("assistant", content.into());
            }
        },
        Step::Tools { calls, text, apart, backwards, more, style, .. } => {
            let content = match (text, apart) {
                (true, _) => maker.word().into(),
                (false, true) => Value::Null,
                (false, false) => "".into(),
            };
            let asked: Vec<Value> = (0..*calls).map(|number| openai_call(maker, number)).collect();
            let mut results: Vec<Value> = Vec::new();
            for call in &asked {
                let content = match (usize::from(*style) + results.len()) % 3 {
                    0 => maker.word().into(),
                    1 => json!([maker.text(), maker.text()]),
                    _ => "".into(),
                };
                results.push(json!({"role": "tool", "tool_call_id": call["id"], "content": content}));
            }
            if *backwards {
                results.reverse();
            }
            maker.messages.push(json!({"role": "assistant", "content": content, "tool_calls": asked}));
            maker.messages.extend(results);
            if *more {
                let word = maker.word();
                maker.push("user", word.into());
            }
        }
        Step::Special { text } => {
            let call = json!({"name": "old", "arguments": json!({"a": maker.word()}).to_string()});
            let content = if *text { maker.word().into() } else { Value::Null };
            maker.messages.push(json!({"role": "assistant", "content": content, "function_call": call}));
            let word = maker.word();
            maker.messages.push(json!({"role": "function", "name": "old", "content": word}));
        }
    }
}
