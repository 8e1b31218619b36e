//! What a database answers about all that was ever said to it, and who complains when an answer is wrong.
//!
//! Compared is what was said: texts, names, tags, metadata, who said it, and what searches find. Not compared are times, counts
//! and what is derived (the graph, snippets, symbols), which nothing seals, see docs/backup.md.

use std::path::Path;
use std::sync::Arc;

use rootset_model::Timestamp;
use rootset_service::{Caller, Clock, Service, Settings};
use rootset_store::{Location, Store, StoreError};
use serde_json::{Value, json};

use super::{Looked, Outcome};
use crate::error::StressError;

/// Time stands still, so that the same rows give the same answers.
#[derive(Clone, Copy, Debug)]
struct Standing;

impl Clock for Standing {
    fn now(&self) -> Timestamp {
        Timestamp(4_000_000_000_000)
    }

    fn elapsed_ms(&self) -> i64 {
        0
    }
}

/// The right answer to each question.
#[derive(Debug)]
pub struct Answers(Vec<(&'static str, Value, Value)>);

/// Fields that hold what was said.
const SAID: [&str; 19] = [
    "content",
    "context",
    "decisions",
    "file_path",
    "memory_id",
    "metadata",
    "name",
    "pin_reason",
    "pinned",
    "rationale",
    "raw",
    "role",
    "segment_id",
    "source",
    "tags",
    "text",
    "topic",
    "type",
    "written_by",
];
/// Fields that hold what is derived.
const DERIVED: [&str; 6] = ["entities", "relations", "snippet", "snippets", "similar", "symbols"];

/// What an answer says of what was said.
fn said(answer: &Value) -> Value {
    match answer {
        Value::Array(items) => items.iter().map(said).collect(),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| !DERIVED.contains(&name.as_str()));
            let kept = kept.filter_map(|(name, value)| match value {
                _ if SAID.contains(&name.as_str()) => Some((name.clone(), value.clone())),
                Value::Array(_) | Value::Object(_) => Some((name.clone(), said(value))),
                _ => None,
            });
            Value::Object(kept.collect())
        }
        other => other.clone(),
    }
}

fn questions() -> Vec<(&'static str, Value)> {
    let notes = (0..12).filter(|number| *number != 4).map(|number| format!("note-{number}"));
    let mut questions: Vec<(&'static str, Value)> =
        notes.map(|name| ("get_memory", json!({"memory_id": name}))).collect();
    questions.extend([
        ("get_memory", json!({"memory_id": "note-1", "revision": 1})),
        ("list_memories", json!({"lifecycle": "all", "limit": 100})),
        ("list_memories", json!({"tags": ["notes"], "limit": 100})),
        ("search_memory", json!({"query": "who owns Falcon"})),
        ("search_memory", json!({"query": "deploys tool7"})),
        ("list_trash", json!({})),
        ("context_get", json!({"session_id": "morning"})),
        ("context_get", json!({"session_id": "morning", "format": "anthropic"})),
        ("context_search_stash", json!({"session_id": "morning", "query": "owl"})),
        ("context_recall", json!({"query": "owl"})),
        ("search_code", json!({"query": "parse settings"})),
    ]);
    questions
}

fn open(path: &Path) -> Result<Arc<Service>, StoreError> {
    let store = Store::open(&Location::File(path.to_owned()), None)?;
    let service = Service::new_at(store, Settings::default(), Arc::new(Standing));
    service.map(Arc::new).map_err(|error| StoreError::Engine(error.to_string()))
}

fn caller() -> Caller {
    crate::verify::caller()
}

impl Answers {
    /// What a whole database answers.
    pub fn of(path: &Path) -> Result<Self, StressError> {
        let service = open(path)?;
        let ask = |(operation, request): (&'static str, Value)| {
            let answer = said(&service.call(&caller(), operation, request.clone())?);
            Ok((operation, request, answer))
        };
        Ok(Self(questions().into_iter().map(ask).collect::<Result<_, StressError>>()?))
    }

    /// Asks a damaged one the same, and looks for somebody who complains when an answer is wrong. An error is not an answer.
    pub(super) fn look(&self, path: &Path) -> Result<Looked, StressError> {
        let Ok(service) = open(path) else { return Ok(Looked { outcome: Outcome::Reported, is_wrong: false }) };
        let wrong = self.0.iter().find(|(operation, request, right)| {
            service.call(&caller(), operation, request.clone()).is_ok_and(|answer| said(&answer) != *right)
        });
        let Some((operation, request, _)) = wrong else {
            return Ok(Looked { outcome: Outcome::Harmless, is_wrong: false });
        };
        let outcome = if is_reported(&service) {
            Outcome::Reported
        } else {
            Outcome::Failed(format!("a wrong answer to {operation} {request}, and nobody complains"))
        };
        Ok(Looked { outcome, is_wrong: true })
    }
}

fn is_reported(service: &Arc<Service>) -> bool {
    let doctor = service.call(&caller(), "doctor", json!({}));
    if !doctor.is_ok_and(|answer| answer["ok"] == true) {
        return true;
    }
    ["snapshot", "jsonl"]
        .iter()
        .any(|format| service.call(&caller(), "backup_create", json!({"format": format})).is_err())
}
