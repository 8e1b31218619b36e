//! What is known of a client's session and of its project: notes of the store, written with each event.

use std::collections::{BTreeSet, VecDeque};

use rootset_messages::hooks::HookClient;
use rootset_model::{MemoryId, Timestamp};
use rootset_store::NoteKey;
use serde::{Deserialize, Serialize};

use super::Occasion;
use super::candidates::Candidate;
use super::compaction::Compaction;
use crate::error::ServiceError;
use crate::service::Service;

pub(super) const SESSION: &str = "hook_session";
pub(super) const PROJECT: &str = "hook_project";
/// A session is forgotten so long after its last event.
pub(super) const SESSION_KEPT_MS: i64 = 30 * 86_400_000;
/// Events of a session that are kept, the newest. A long day has some hundreds.
const LEDGER_MAX: usize = 400;
/// Memories known to be in a window: more than its caps let in.
const SHOWN_MAX: usize = 200;

/// A session by its client and the client's id of it.
pub(super) fn subject(client: HookClient, session_id: &str) -> [u8; 16] {
    let hash = blake3::hash(format!("{}\0{session_id}", client.as_str()).as_bytes());
    let mut subject = [0; 16];
    subject.copy_from_slice(&hash.as_bytes()[..16]);
    subject
}

/// One session of a client.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SessionNote {
    pub client: String,
    pub session_id: String,
    pub transcript: Option<String>,
    pub begun_at_ms: i64,
    pub seen_at_ms: i64,
    pub is_ended: bool,
    pub window: Window,
    /// Bytes of the transcript that were read.
    pub read_to: u64,
    /// The last compaction of its window.
    pub compaction: Option<Compaction>,
    /// Candidates that it gave.
    pub candidates: usize,
    pub ledger: VecDeque<Entry>,
    /// Events that the ledger has dropped.
    pub dropped: usize,
}

/// What the model sees of Rootset at the moment.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Window {
    /// Bytes of the transcript before it, as far as known; what was resumed or forked counts as another window.
    pub begins_at: u64,
    pub recall_tokens: usize,
    pub shown: Vec<MemoryId>,
}

/// One event in the ledger.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Entry {
    pub at_ms: i64,
    pub event: String,
    pub did: String,
    #[serde(skip_serializing_if = "is_zero")]
    pub tokens: usize,
    /// Tokens of a result that the model does not see twice.
    #[serde(skip_serializing_if = "is_zero")]
    pub kept_out: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub memories: Vec<MemoryId>,
    /// Kept and lost, by class.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<(String, usize, usize)>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// What is known of a project.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ProjectNote {
    /// Whether its person was told that hooks are on.
    pub is_announced: bool,
    /// Whose hooks fired here.
    pub clients: Vec<String>,
    pub candidates: Vec<Candidate>,
}

/// Both, as they are.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorded {
    pub session: SessionNote,
    pub project: ProjectNote,
}

/// What an event changes.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    pub did: &'static str,
    pub tokens: usize,
    pub kept_out: usize,
    pub memories: Vec<MemoryId>,
    pub classes: Vec<(String, usize, usize)>,
    /// Where in the transcript a window begins, also one that an earlier process filled.
    pub window_at: Option<u64>,
    /// A window begins: nothing is in it yet.
    pub begins_window: bool,
    /// The memories are in the window of the session itself, not in that of a subagent.
    pub fills_window: bool,
    pub is_recall: bool,
    pub read_to: Option<u64>,
    pub compaction: Option<Compaction>,
    pub candidates: Vec<Candidate>,
    /// The first event of this client in the project.
    pub is_first: bool,
    pub ends: bool,
}

impl Step {
    pub fn of(did: &'static str) -> Self {
        Self { did, ..Self::default() }
    }
}

fn parsed<T: serde::de::DeserializeOwned + Default>(note: Option<&String>) -> T {
    note.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

fn written<T: Serialize>(note: &T) -> String {
    serde_json::to_string(note).expect("notes are numbers and texts")
}

impl Service {
    pub(super) fn recorded(&self, occasion: &Occasion<'_>) -> Result<Recorded, ServiceError> {
        let about = |kind, subject| self.store.notes_about(occasion.workspace.key, kind, &[subject]);
        let session = about(SESSION, occasion.subject)?;
        let project = about(PROJECT, [0; 16])?;
        Ok(Recorded { session: parsed(session.values().next()), project: parsed(project.values().next()) })
    }

    /// The clients whose hooks fired in any project.
    pub fn clients_with_hooks(&self) -> Result<BTreeSet<String>, ServiceError> {
        let notes = self.store.notes_of_all(PROJECT)?;
        Ok(notes.values().flat_map(|text| parsed::<ProjectNote>(Some(text)).clients).collect())
    }

    /// Sessions of projects in which no hook fires any more: where one does, each new window drops the old ones.
    pub(crate) fn drop_old_hook_sessions(&self, now: Timestamp) -> Result<(), ServiceError> {
        for workspace in self.store.notes_of_all(PROJECT)?.into_keys() {
            self.store.drop_notes_before(workspace, SESSION, now.saturating_add_ms(-SESSION_KEPT_MS))?;
        }
        Ok(())
    }

    pub(super) fn project_note(&self, workspace: rootset_model::WorkspaceKey) -> Result<ProjectNote, ServiceError> {
        let notes = self.store.notes_about(workspace, PROJECT, &[[0; 16]])?;
        Ok(parsed(notes.values().next()))
    }

    /// The last sessions of a workspace, the newest first.
    pub(super) fn session_notes(
        &self,
        workspace: rootset_model::WorkspaceKey,
        limit: usize,
    ) -> Result<Vec<SessionNote>, ServiceError> {
        let notes = self.store.newest_notes(workspace, SESSION, limit)?;
        Ok(notes.iter().map(|(_, text)| parsed(Some(text))).collect())
    }

    /// Changes what is known of a project.
    pub(super) fn change_project(
        &self,
        workspace: rootset_model::WorkspaceKey,
        change: impl Fn(&mut ProjectNote),
    ) -> Result<(), ServiceError> {
        let key = [NoteKey { kind: PROJECT, subject: [0; 16] }];
        self.store.change_notes(workspace, &key, self.now(), |notes| {
            let mut project: ProjectNote = parsed(notes[0].as_ref());
            change(&mut project);
            notes[0] = Some(written(&project));
        })?;
        Ok(())
    }

    /// Writes an event down, durably.
    pub(super) fn record(&self, occasion: &Occasion<'_>, step: &Step) -> Result<(), ServiceError> {
        let now = self.now();
        let session = NoteKey { kind: SESSION, subject: occasion.subject };
        let project = NoteKey { kind: PROJECT, subject: [0; 16] };
        let changes_project = step.is_first || !step.candidates.is_empty();
        let keys = if changes_project { vec![session, project] } else { vec![session] };
        self.store.change_notes(occasion.workspace.key, &keys, now, |notes| {
            let mut session: SessionNote = parsed(notes[0].as_ref());
            session.take(occasion, step, now);
            notes[0] = Some(written(&session));
            if let Some(note) = notes.get_mut(1) {
                let mut project: ProjectNote = parsed(note.as_ref());
                project.take(occasion.surroundings.client, step, now);
                *note = Some(written(&project));
            }
        })?;
        if step.begins_window {
            self.store.drop_notes_before(occasion.workspace.key, SESSION, now.saturating_add_ms(-SESSION_KEPT_MS))?;
        }
        Ok(())
    }
}

impl SessionNote {
    fn take(&mut self, occasion: &Occasion<'_>, step: &Step, now: Timestamp) {
        let event = occasion.event;
        if self.session_id.is_empty() {
            self.begun_at_ms = now.0;
            self.client = occasion.surroundings.client.as_str().to_owned();
            self.session_id.clone_from(&event.session_id);
        }
        if event.transcript_path.is_some() && !occasion.caller.is_remote {
            self.transcript.clone_from(&event.transcript_path);
        }
        (self.seen_at_ms, self.is_ended) = (now.0, step.ends);
        if step.begins_window {
            self.window = Window::default();
        }
        self.window.begins_at = step.window_at.unwrap_or(self.window.begins_at);
        if step.fills_window {
            self.window.shown.extend(&step.memories);
            let surplus = self.window.shown.len().saturating_sub(SHOWN_MAX);
            self.window.shown.drain(..surplus);
        }
        if step.is_recall {
            self.window.recall_tokens += step.tokens;
        }
        self.read_to = step.read_to.unwrap_or(self.read_to);
        if step.compaction.is_some() {
            self.compaction.clone_from(&step.compaction);
        }
        self.candidates += step.candidates.len();
        self.ledger.push_back(Entry {
            at_ms: now.0,
            event: event.happening.name().to_owned(),
            did: step.did.to_owned(),
            tokens: step.tokens,
            kept_out: step.kept_out,
            memories: step.memories.clone(),
            classes: step.classes.clone(),
        });
        while self.ledger.len() > LEDGER_MAX {
            self.ledger.pop_front();
            self.dropped += 1;
        }
    }
}

impl ProjectNote {
    fn take(&mut self, client: HookClient, step: &Step, now: Timestamp) {
        self.is_announced |= step.is_first;
        if step.is_first && !self.clients.iter().any(|known| known == client.as_str()) {
            self.clients.push(client.as_str().to_owned());
        }
        self.candidates.retain(|candidate| candidate.is_open(now));
        for candidate in &step.candidates {
            if self.candidates.iter().all(|known| known.hash != candidate.hash) {
                self.candidates.push(candidate.clone());
            }
        }
        let surplus = self.candidates.len().saturating_sub(super::candidates::OF_PROJECT_MAX);
        self.candidates.drain(..surplus);
    }
}
