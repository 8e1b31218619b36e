//! A folder of chats with an assistant, as BEAM lays them out: `NUMBER/chat.json` with batches of turns of messages, and
//! `NUMBER/probing_questions/probing_questions.json` with questions by category.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Context;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::conversation::{Conversation, Question, Turn};

/// What the makers of the data noted behind a user's words.
const NOTE: &str = "->->";
/// The category whose questions have an old and a new answer.
const UPDATES: &str = "knowledge_update";

#[derive(Deserialize)]
struct Batch {
    batch_number: u32,
    turns: Vec<Vec<Message>>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    id: u64,
    content: String,
}

#[derive(Deserialize)]
struct Probe {
    question: String,
    #[serde(default)]
    source_chat_ids: Value,
}

/// The chats of a folder, in the order of their numbers.
pub fn read(folder: &Path) -> anyhow::Result<Vec<Conversation>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
    let mut numbers: Vec<u32> =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers.into_iter().map(|number| chat(number, &folder.join(number.to_string()))).collect()
}

fn chat(number: u32, folder: &Path) -> anyhow::Result<Conversation> {
    let batches: Vec<Batch> = json(&folder.join("chat.json"))?;
    let mut turns = Vec::new();
    for batch in batches {
        for message in batch.turns.into_iter().flatten() {
            let text = match message.content.split_once(NOTE) {
                Some((said, _)) if message.role == "user" => said,
                _ => &message.content,
            };
            turns.push(Turn {
                id: message.id.to_string(),
                session: batch.batch_number,
                speaker: message.role,
                text: text.trim().to_owned(),
                at: String::new(),
            });
        }
    }
    let probes: BTreeMap<String, Vec<Probe>> = json(&folder.join("probing_questions/probing_questions.json"))?;
    let mut questions = Vec::new();
    for (category, probes) in probes {
        questions.extend(probes.into_iter().map(|probe| question(&category, probe)));
    }
    Ok(Conversation { id: number.to_string(), turns, questions })
}

fn question(category: &str, probe: Probe) -> Question {
    let (old, new) = (ids(&probe.source_chat_ids["original_info"]), ids(&probe.source_chat_ids["updated_info"]));
    let is_update = category == UPDATES && old != new && !old.is_empty() && !new.is_empty();
    Question {
        question: probe.question,
        category: category.to_owned(),
        evidence: ids(&probe.source_chat_ids),
        update: is_update.then_some((old, new)),
    }
}

/// All integers in it, each once.
fn ids(value: &Value) -> Vec<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => open.extend(fields.values()),
            value => found.extend(value.as_u64()),
        }
    }
    found.into_iter().map(|id| id.to_string()).collect()
}

fn json<T: DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("`{}` is not what a chat consists of", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_all_integers_however_deep() {
        let value = serde_json::json!({ "first": [3, [1]], "second": { "deeper": [3, 20] }, "text": "7" });
        assert_eq!(ids(&value), ["1", "3", "20"]);
    }
}
