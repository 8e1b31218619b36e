//! The brief: what a model is told at the start of its work in a project, and nothing when there is nothing.
//!
//! Here its candidates are collected from the project and from personal memory, and its text is put together. What may be
//! pushed and how it reads is `pushed_notes.rs`; what of it a brief tells (`brief.rs`) is decided in `rootset-gc`; the frame is
//! `frame.rs` of `rootset-text`. Being told is no use of a memory.

use rootset_gc::brief::{self, BRIEF_TOKENS_MAX, BYTES_PER_TOKEN};
use rootset_model::{MemoryId, PinnedBy, Trust};
use rootset_text::frame::{self, Line};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::personal::Places;
use crate::pushed_notes::{Note, pushed};
use crate::service::Service;

/// The newest notes of a place that are looked at, beside those that somebody pinned.
const LOOKED_AT: usize = 100;

/// A brief as a model reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brief {
    pub text: String,
    pub notes: usize,
    /// What it tells.
    pub memories: Vec<MemoryId>,
}

impl Service {
    /// The brief of the caller's workspace, or of a named one. What it shows is counted as shown.
    pub fn brief(&self, caller: &Caller, workspace_id: Option<&str>) -> Result<Option<Brief>, ServiceError> {
        self.brief_without(caller, workspace_id, &|_| false)
    }

    /// The same without notes whose text the model has anyway.
    pub(crate) fn brief_without(
        &self,
        caller: &Caller,
        workspace_id: Option<&str>,
        is_known: &dyn Fn(&str) -> bool,
    ) -> Result<Option<Brief>, ServiceError> {
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
        let notes: Vec<Note<'_>> = pushed(caller, of_project.chain(of_person), is_known);
        let candidates: Vec<brief::Candidate<'_>> = notes.iter().map(candidate).collect();
        let room = (BRIEF_TOKENS_MAX * BYTES_PER_TOKEN).saturating_sub(frame::overhead_bytes(&project.id));
        let told: Vec<&Note<'_>> =
            brief::brief(&candidates, last_session, room).into_iter().map(|(place, _)| &notes[place]).collect();
        let lines: Vec<Line> = told.iter().map(|note| note.line.clone()).collect();
        let Some(text) = frame::framed(&project.id, &lines) else { return Ok(None) };
        for it in &told {
            self.uses.show(it.place, [(it.memory.id, it.line.name.as_str())], now);
        }
        Ok(Some(Brief { text, notes: told.len(), memories: told.iter().map(|it| it.memory.id).collect() }))
    }
}

fn candidate<'a>(note: &'a Note<'_>) -> brief::Candidate<'a> {
    brief::Candidate {
        is_pinned_by_person: note.memory.pinned_by == Some(PinnedBy::Person),
        is_by_person: note.memory.trust == Trust::Person || note.memory.is_witnessed,
        is_personal: note.place.person.is_some(),
        tags: &note.memory.tags,
        text: &note.memory.content.context,
        has_decisions: !note.memory.content.decisions.is_empty(),
        said_at: note.memory.said_at,
        changed_at: note.memory.changed_at,
        bytes: note.line_bytes,
    }
}
