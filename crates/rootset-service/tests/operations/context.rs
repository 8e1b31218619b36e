//! The context window: what leaves it and why, how it comes back, and what an agent is told on the way.
//!
//! Tokens are a quarter of the characters here, so that a text's length says what it costs.

mod adding;
mod analysing;
mod budgets;
mod explaining;
mod fitting;
mod messages;
mod pruning;
mod refusing;
mod rendering;
mod roots;
mod scoring;
mod sessions;
mod settings;
mod stashing;
mod transferring;

use rootset_messages::{Format, Rendered, validate};
use serde_json::{Value, json};

use crate::harness::{World, array, text_of};

/// A world with one session in it.
struct Session {
    world: World,
    id: &'static str,
}

impl Session {
    /// Large enough for nothing to leave by itself; only the last segment is a root by its place.
    fn new() -> Self {
        Self::with(json!({"budget_tokens": 1_000_000}))
    }

    /// Settings on top of those every test wants: tokens by length, and one recent segment.
    #[track_caller]
    fn with(settings: Value) -> Self {
        let session = Self { world: World::new(), id: "session" };
        let mut all = json!({"tokenizer": "chars/4", "recent_segments": 1});
        all.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
        session.call("context_gc_configure", all);
        session
    }

    fn request(&self, mut request: Value) -> Value {
        request["session_id"] = self.id.into();
        request
    }

    #[track_caller]
    fn call(&self, operation: &str, request: Value) -> Value {
        self.world.call(operation, self.request(request))
    }

    #[track_caller]
    fn fails(&self, operation: &str, request: Value) -> (&'static str, rootset_service::ServiceError) {
        self.world.fails(operation, self.request(request))
    }

    #[track_caller]
    fn refuses(&self, operation: &str, request: Value) -> rootset_service::ServiceError {
        self.world.refuses(operation, self.request(request))
    }

    /// Adds one segment: an id, a type, a text, and whatever else it has.
    #[track_caller]
    fn add(&self, id: &str, kind: &str, text: &str, more: Value) -> Value {
        let mut segment = json!({"segment_id": id, "type": kind, "text": text});
        segment.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.call("context_add", json!({ "segments": [segment] }))
    }

    /// A log of so many tokens that names nothing.
    #[track_caller]
    fn add_log(&self, id: &str, tokens: usize) -> Value {
        self.add(id, "log", &filler(tokens), json!({}))
    }

    /// Segments that only push others out of the last places.
    #[track_caller]
    fn add_bystanders(&self, count: usize) {
        for number in 0..count {
            self.add_log(&format!("bystander-{number}"), 1);
        }
    }

    #[track_caller]
    fn prune(&self, ids: &[&str]) -> Value {
        let pruned = self.call("context_gc_prune", json!({"segment_ids": ids, "strategy": "stash"}));
        assert_eq!(pruned["errors"], json!([]), "{pruned}");
        pruned
    }

    /// What is in the window, in order.
    #[track_caller]
    fn segments(&self) -> Vec<Value> {
        array(&self.call("context_get", json!({}))["segments"]).to_vec()
    }

    #[track_caller]
    fn ids(&self) -> Vec<String> {
        segment_ids(&self.segments())
    }

    #[track_caller]
    fn segment(&self, id: &str) -> Value {
        let found = self.segments().into_iter().find(|segment| segment["segment_id"] == id);
        found.unwrap_or_else(|| panic!("`{id}` is not in the window"))
    }

    #[track_caller]
    fn usage(&self) -> Value {
        self.call("context_gc_analyze", json!({}))["usage"].clone()
    }

    #[track_caller]
    fn tokens(&self) -> u64 {
        self.usage()["tokens"].as_u64().unwrap()
    }

    /// All candidates, first to leave first.
    #[track_caller]
    fn candidates(&self) -> Vec<Value> {
        let analysis = self.call("context_gc_analyze", json!({"target_tokens": 1, "max_candidates": 100}));
        array(&analysis["candidates"]).to_vec()
    }

    #[track_caller]
    fn candidate_ids(&self) -> Vec<String> {
        segment_ids(&self.candidates())
    }

    #[track_caller]
    fn candidate(&self, id: &str) -> Value {
        let found = self.candidates().into_iter().find(|candidate| candidate["segment_id"] == id);
        found.unwrap_or_else(|| panic!("`{id}` is no candidate"))
    }

    #[track_caller]
    fn is_candidate(&self, id: &str) -> bool {
        self.candidate_ids().iter().any(|candidate| candidate == id)
    }

    #[track_caller]
    fn found(&self, request: Value) -> Vec<String> {
        segment_ids(array(&self.call("context_search_stash", request)["results"]))
    }

    /// The window as messages, which have to be what the API takes.
    #[track_caller]
    fn rendered(&self, format: &str) -> Rendered {
        let answer = self.call("context_get", json!({ "format": format }));
        valid(format, &answer)
    }
}

#[track_caller]
fn valid(format: &str, answer: &Value) -> Rendered {
    let rendered = Rendered {
        system: answer.get("system").filter(|system| !system.is_null()).cloned(),
        messages: array(&answer["messages"]).to_vec(),
    };
    let problems = validate(format.parse::<Format>().unwrap(), &rendered);
    assert!(problems.is_empty(), "{problems:#?}\n{answer:#}");
    rendered
}

#[track_caller]
fn segment_ids(segments: &[Value]) -> Vec<String> {
    segments.iter().map(|segment| text_of(&segment["segment_id"])).collect()
}

/// So many tokens of words that are nobody's names.
fn filler(tokens: usize) -> String {
    "so it is and ".chars().cycle().take(tokens * 4).collect()
}

/// A user's question, two calls at once with their results, an answer.
fn anthropic_list() -> Value {
    json!([
        {"role": "user", "content": "Look around."},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "Both at once.", "signature": "c2ln"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "call_1", "name": "Bash", "input": {"command": "ls"}},
            {"type": "tool_use", "id": "call_2", "name": "Read", "input": {"file_path": "src/main.rs"}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "call_1", "content": "src"},
            {"type": "tool_result", "tool_use_id": "call_2", "content": [
                {"type": "text", "text": "     1→fn main() {\n     2→}"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}},
            ]},
        ]},
        {"role": "assistant", "content": [{"type": "text", "text": "There is one file."}]},
        {"role": "user", "content": "Thanks."},
    ])
}

fn openai_list() -> Value {
    json!([
        {"role": "system", "content": "Be brief."},
        {"role": "user", "name": "ada", "content": "Look around."},
        {"role": "assistant", "content": null, "refusal": null, "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": "{\"path\": \".\"}"}},
            {"id": "call_2", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\": \"src/main.rs\"}"}},
        ]},
        {"role": "tool", "tool_call_id": "call_1", "content": "src"},
        {"role": "tool", "tool_call_id": "call_2", "content": "fn main() {}"},
        {"role": "assistant", "content": "There is one file."},
        {"role": "user", "content": "Thanks."},
    ])
}
