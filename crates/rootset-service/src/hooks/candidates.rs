//! What a person said that could be kept: places of sentences in transcripts, until the person decides or time is over.
//!
//! They are no memories: no search finds them and nothing pushes them. The sentence itself is read from the client's transcript when
//! it is shown; where that is gone or says something else by now, so is the candidate.

use std::path::Path;
use std::sync::Arc;

use rootset_api::{AddMemory, ErrorCode, MemoryInput};
use rootset_messages::prompt_of_line;
use rootset_model::Timestamp;
use rootset_text::said::{Said, worth_keeping};
use serde::{Deserialize, Serialize};

use super::files::{self, Tail};
use crate::caller::Caller;
use crate::error::ServiceError;
use crate::service::Service;

/// Of one session: who says more in one sitting reviews them one by one.
pub(super) const OF_SESSION_MAX: usize = 5;
/// Of one project.
pub(super) const OF_PROJECT_MAX: usize = 100;
/// Nobody looks at them after that.
const OPEN_MS: i64 = 14 * 86_400_000;
/// Hexadecimal digits by which a candidate is named.
const ID_CHARS: usize = 8;

/// By what it is named: the beginning of its hash.
pub type CandidateId = String;

/// The place of a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    pub transcript: String,
    /// Of the line, in bytes.
    pub at: u64,
    pub length: u64,
    /// Of the sentence in the prompt.
    pub start: usize,
    pub end: usize,
}

/// A sentence that could be kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    #[serde(flatten)]
    pub(super) place: Place,
    pub(super) hash: String,
    pub(super) said_at_ms: i64,
}

impl Candidate {
    pub fn id(&self) -> CandidateId {
        format!("said-{}", self.hash.chars().take(ID_CHARS).collect::<String>())
    }

    pub fn said_at(&self) -> Timestamp {
        Timestamp(self.said_at_ms)
    }

    pub(super) fn is_open(&self, now: Timestamp) -> bool {
        now.0.saturating_sub(self.said_at_ms) <= OPEN_MS
    }

    /// The sentence, word for word; `None` where it is not found there any more.
    pub fn text(&self) -> Option<String> {
        let Place { transcript, at, length, start, end } = &self.place;
        let prompt = prompt_of_line(&files::line_at(Path::new(transcript), *at, *length)?)?;
        let text = prompt.get(*start..*end)?;
        (hash(text) == self.hash).then(|| text.to_owned())
    }
}

/// Of the words alone: who says the same twice is asked once.
fn hash(text: &str) -> String {
    let words = text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    blake3::hash(words.as_bytes()).to_hex().as_str()[..32].to_owned()
}

/// By which a brief knows that it is about how to work, or was decided.
fn tag_of(text: &str) -> Option<Vec<String>> {
    let tag = match worth_keeping(text).first()? {
        (_, Said::Preference | Said::Correction) => "preference",
        (_, Said::Decision) => "decision",
        (_, Said::Request) => return None,
    };
    Some(vec![tag.to_owned()])
}

/// The sentences of new prompts that are worth keeping, as far as there is room for this session's.
pub(super) fn of_tail(tail: &Tail, transcript: &str, already: usize, now: Timestamp) -> Vec<Candidate> {
    let room = OF_SESSION_MAX.saturating_sub(already);
    let mut found: Vec<(Said, Candidate)> = Vec::new();
    for (at, line) in tail.lines() {
        let Some(prompt) = prompt_of_line(line) else { continue };
        for (range, said) in worth_keeping(&prompt) {
            let (transcript, length) = (transcript.to_owned(), line.len() as u64);
            let place = Place { transcript, at, length, start: range.start, end: range.end };
            found.push((said, Candidate { place, hash: hash(&prompt[range]), said_at_ms: now.0 }));
        }
    }
    // What was plainly asked for first, then in the order in which it was said.
    found.sort_by_key(|(said, _)| *said);
    found.truncate(room);
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

impl Service {
    /// What the person said here that could be kept, with its words; without what is not found any more.
    pub fn candidates(&self, caller: &Caller) -> Result<Vec<(Candidate, String)>, ServiceError> {
        let workspace = self.workspace(caller, None)?;
        let now = self.now();
        let open = self.project_note(workspace.key)?.candidates.into_iter().filter(|candidate| candidate.is_open(now));
        Ok(open.filter_map(|candidate| candidate.text().map(|text| (candidate, text))).collect())
    }

    /// The person decided about one: its text becomes a memory of theirs, or nothing. Either way it is not asked about again.
    pub fn decide_candidate(
        self: &Arc<Self>,
        caller: &Caller,
        id: &str,
        kept: Option<String>,
    ) -> Result<Option<String>, ServiceError> {
        let workspace = self.workspace(caller, None)?;
        let is_meant = |candidate: &Candidate| candidate.id() == id;
        if !self.project_note(workspace.key)?.candidates.iter().any(is_meant) {
            let error = ServiceError::new(ErrorCode::NotFound, format!("nothing you said is called `{id}`"));
            return Err(error.with_hint("`rootset review --list` shows what waits"));
        }
        let name = match kept {
            Some(text) => {
                let memory = MemoryInput { tags: tag_of(&text), context: text, ..MemoryInput::default() };
                let added = self.run(caller, AddMemory { workspace_id: None, memory_of: None, memory })?;
                Some(added.name.unwrap_or_else(|| added.memory_id.to_string()))
            }
            None => None,
        };
        self.change_project(workspace.key, |project| project.candidates.retain(|candidate| !is_meant(candidate)))?;
        Ok(name)
    }
}
