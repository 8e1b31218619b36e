//! Questions asked after a `forget`: whether what had to go can still be found, and whether what had to stay still can.
//!
//! A recall probe asks for the words that had to go, by reading the memory and its first revision, by a search and by the
//! names in the graph; one place that still has them is a miss. A collateral probe asks for the words that had to stay:
//! they must be in the memory, and a search for them must find it.

use serde::Serialize;
use serde_json::{Value, json};

use super::Share;
use crate::client::Client;

/// Results that are looked at: a reader looks no further.
const RESULTS: usize = 10;

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Probes {
    /// What had to go and cannot be found.
    pub recall: Share,
    /// What had to stay and can be found.
    pub collateral: Share,
}

impl Probes {
    pub(super) fn add(&mut self, other: Self) {
        for (own, other) in [(&mut self.recall, other.recall), (&mut self.collateral, other.collateral)] {
            own.right += other.right;
            own.of += other.of;
        }
    }

    pub(super) fn is_gone(&mut self, client: &Client, memory_id: &str, words: &str) {
        let places = [json!({ "memory_id": memory_id }), json!({"memory_id": memory_id, "revision": 1})];
        let is_read = places.into_iter().any(|place| has(client.call("get_memory", place).ok(), words));
        let search =
            |mode: &str| client.call("search_memory", json!({"query": words, "mode": mode, "limit": RESULTS})).ok();
        let is_found = has(search("memories").map(|mut answer| answer["results"].take()), words);
        let of_memory = |answer: Value| {
            let names = answer["results"].as_array().cloned().unwrap_or_default();
            names.iter().any(|it| it["name"].as_str().is_some_and(|name| is_only_here(client, memory_id, name, words)))
        };
        let is_named = search("entities").is_some_and(of_memory);
        self.recall.add(!is_read && !is_found && !is_named);
    }

    pub(super) fn is_there(&mut self, client: &Client, memory_id: &str, words: &str) {
        let is_read = has(client.call("get_memory", json!({ "memory_id": memory_id })).ok(), words);
        let found = client.call("search_memory", json!({"query": words, "limit": RESULTS})).ok();
        let is_found = found.is_some_and(|found| {
            found["results"].as_array().is_some_and(|all| all.iter().any(|it| it["memory_id"] == memory_id))
        });
        self.collateral.add(is_read && is_found);
    }
}

fn has(answer: Option<Value>, words: &str) -> bool {
    let strings = |value: &Value| value.as_str().is_some_and(|text| text.contains(words));
    let mut open: Vec<Value> = answer.into_iter().collect();
    while let Some(value) = open.pop() {
        match value {
            Value::Array(values) => open.extend(values),
            Value::Object(fields) => open.extend(fields.into_iter().map(|(_, value)| value)),
            value if strings(&value) => return true,
            _ => {}
        }
    }
    false
}

/// Whether a name in the graph is one of the words that went, and nothing but the memory that held them vouches for it.
fn is_only_here(client: &Client, memory_id: &str, name: &str, words: &str) -> bool {
    let answer = client.call("search_memory", json!({"query": name, "mode": "entities", "limit": RESULTS})).ok();
    let results = answer.and_then(|answer| answer["results"].as_array().cloned()).unwrap_or_default();
    let entity = results.iter().find(|it| it["name"] == name);
    let memories = entity.and_then(|it| it["memory_ids"].as_array()).cloned().unwrap_or_default();
    let still_says = || has(client.call("get_memory", json!({ "memory_id": memory_id })).ok(), name);
    words.contains(name) && memories.iter().all(|it| it == memory_id) && !still_says()
}
