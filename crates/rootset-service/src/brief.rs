//! The brief: what a model is told at the start of its work in a project, and nothing when there is nothing.
//!
//! Here its candidates are collected from the project and from personal memory, and its text is put together. What may be
//! pushed (`pushing.rs`) and what of it a brief tells (`brief.rs`) is decided in `rootset-gc`; the frame is `frame.rs` of
//! `rootset-text`. Being told is no use of a memory.

use rootset_gc::brief::{self, BRIEF_TOKENS_MAX, BYTES_PER_TOKEN};
use rootset_gc::{Pushed, may_be_pushed};
use rootset_model::{PinnedBy, Trust};
use rootset_store::{Recent, Workspace};
use rootset_text::frame::{self, Line};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::personal::{Person, Places};
use crate::service::Service;

/// The newest notes of a place that are looked at, beside those that somebody pinned.
const LOOKED_AT: usize = 100;
/// What one note may take of a brief.
const TEXT_BYTES_MAX: usize = 220;

/// A brief as a model reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brief {
    pub text: String,
    pub notes: usize,
}

struct Note<'a> {
    place: &'a Workspace,
    memory: &'a Recent,
    line: Line,
    line_bytes: usize,
}

impl Service {
    /// The brief of the caller's workspace, or of a named one. What it shows is counted as shown.
    pub fn brief(&self, caller: &Caller, workspace_id: Option<&str>) -> Result<Option<Brief>, ServiceError> {
        let Places { project, personal } = self.places_to_search(caller, workspace_id, None)?;
        let Some(project) = project else { return Ok(None) };
        let now = self.now();
        let last_session = match &caller.person {
            Some(person) => self.last_session(&project, person, now)?,
            None => None,
        };
        let of_project = self.store.recent_notes(&project, LOOKED_AT, now)?;
        let of_person = match &personal {
            Some(personal) => self.store.recent_notes(personal, LOOKED_AT, now)?,
            None => Vec::new(),
        };
        let of_project = of_project.iter().map(|memory| (&project, memory));
        let of_person = of_person.iter().filter_map(|memory| Some((personal.as_ref()?, memory)));
        let notes: Vec<Note<'_>> = of_project
            .chain(of_person)
            .filter(|(place, memory)| is_pushed(place, memory))
            .map(|(place, memory)| note(caller, place, memory))
            .collect();
        let candidates: Vec<brief::Candidate<'_>> = notes.iter().map(candidate).collect();
        let room = (BRIEF_TOKENS_MAX * BYTES_PER_TOKEN).saturating_sub(frame::overhead_bytes(&project.id));
        let told: Vec<&Note<'_>> =
            brief::brief(&candidates, last_session, room).into_iter().map(|(place, _)| &notes[place]).collect();
        let lines: Vec<Line> = told.iter().map(|note| note.line.clone()).collect();
        let Some(text) = frame::framed(&project.id, &lines) else { return Ok(None) };
        for it in &told {
            self.uses.show(it.place, [(it.memory.id, it.line.name.as_str())], now);
        }
        Ok(Some(Brief { text, notes: told.len() }))
    }
}

fn is_pushed(place: &Workspace, memory: &Recent) -> bool {
    may_be_pushed(Pushed {
        trust: memory.trust,
        pinned_by: memory.pinned_by,
        is_witnessed: false,
        is_of_project: place.person.is_none(),
    })
}

fn note<'a>(caller: &Caller, place: &'a Workspace, memory: &'a Recent) -> Note<'a> {
    let decisions = memory.content.decisions.join("; ");
    let text = if decisions.is_empty() { &memory.content.context } else { &decisions };
    let line = Line {
        name: memory.name.clone().unwrap_or_else(|| memory.id.to_string()),
        who: who(caller, place, memory),
        date: memory.said_at.to_string().chars().take("2026-11-02".len()).collect(),
        text: frame::beginning(text, TEXT_BYTES_MAX),
    };
    let line_bytes = line.shown().len();
    Note { place, memory, line, line_bytes }
}

/// On one machine, who is trusted as a person is its user; on a server it may be a colleague.
fn who(caller: &Caller, place: &Workspace, memory: &Recent) -> String {
    let is_own = place.person.is_some() || caller.person == Some(Person::LOCAL);
    match memory.trust {
        Trust::Person if is_own => "you".to_owned(),
        Trust::Person => memory.written_by.clone(),
        Trust::Agent => format!("agent {}", memory.written_by),
        Trust::Imported | Trust::Untrusted => "imported".to_owned(),
    }
}

fn candidate<'a>(note: &'a Note<'_>) -> brief::Candidate<'a> {
    brief::Candidate {
        is_pinned_by_person: note.memory.pinned_by == Some(PinnedBy::Person),
        is_by_person: note.memory.trust == Trust::Person,
        is_personal: note.place.person.is_some(),
        tags: &note.memory.tags,
        text: &note.memory.content.context,
        has_decisions: !note.memory.content.decisions.is_empty(),
        said_at: note.memory.said_at,
        changed_at: note.memory.changed_at,
        bytes: note.line_bytes,
    }
}
