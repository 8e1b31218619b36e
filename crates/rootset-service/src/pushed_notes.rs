//! Notes as they are put before a model that did not ask: which of them may be, and the line that each becomes.
//!
//! The rule is `pushing.rs` of `rootset-gc`, the form of a line `frame.rs` of `rootset-text`. Not here: which notes are wanted.

use rootset_gc::{Pushed, may_be_pushed};
use rootset_model::Trust;
use rootset_store::{Recent, Workspace};
use rootset_text::frame::{self, Line};

use crate::caller::Caller;
use crate::personal::Person;

/// What one note may take of a brief, and of what is recalled.
const TEXT_BYTES_MAX: usize = 220;

pub(crate) struct Note<'a> {
    pub place: &'a Workspace,
    pub memory: &'a Recent,
    pub line: Line,
    pub line_bytes: usize,
}

/// Those that may be pushed, in their order, without those whose text is known.
pub(crate) fn pushed<'a>(
    caller: &Caller,
    notes: impl Iterator<Item = (&'a Workspace, &'a Recent)>,
    is_known: &dyn Fn(&str) -> bool,
) -> Vec<Note<'a>> {
    notes
        .filter(|(place, memory)| is_pushed(place, memory) && !is_known(&memory.content.context))
        .map(|(place, memory)| note(caller, place, memory))
        .collect()
}

fn is_pushed(place: &Workspace, memory: &Recent) -> bool {
    may_be_pushed(Pushed {
        trust: memory.trust,
        pinned_by: memory.pinned_by,
        is_witnessed: memory.is_witnessed,
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
        _ if memory.is_witnessed && is_own => "you said".to_owned(),
        Trust::Agent => format!("agent {}", memory.written_by),
        Trust::Imported | Trust::Untrusted => "imported".to_owned(),
    }
}
