//! The end of a turn or of a session: the transcript's new lines are read, what the person said that could be kept is noted, and
//! notes of agents that repeat what the person said get a witness.

use std::path::Path;

use rootset_messages::hooks::{Happening, HookAnswer};
use rootset_messages::prompt_of_line;
use rootset_model::{Timestamp, WorkspaceKey};
use rootset_store::{NoteKey, WITNESS, Workspace, witness_of};
use rootset_text::sentence_sets::Sentences;

use super::Occasion;
use super::candidates;
use super::files::{TAIL_BYTES_MAX, Tail};
use super::session::{SessionNote, Step};
use crate::error::ServiceError;
use crate::personal::Places;
use crate::service::Service;

/// New notes of agents that are looked at after a turn.
const LOOKED_AT: usize = 50;

impl Service {
    pub(super) fn read_tail(
        &self,
        occasion: &Occasion<'_>,
        session: &SessionNote,
    ) -> Result<(HookAnswer, Step), ServiceError> {
        let ends = occasion.event.happening == Happening::End;
        let mut step = Step { ends, ..Step::of(if ends { "end" } else { "silent" }) };
        let is_readable = !occasion.caller.is_remote && occasion.surroundings.client.has_known_transcripts();
        let path = occasion.event.transcript_path.as_deref().filter(|_| is_readable);
        let Some(path) = path else { return Ok((HookAnswer::default(), step)) };
        if let Some(tail) = Tail::read(Path::new(path), session.read_to) {
            step.candidates = candidates::of_tail(&tail, path, session.candidates, self.now());
            step.read_to = Some(tail.end);
            if !step.candidates.is_empty() {
                step.did = "noted";
            }
        }
        self.witness(occasion, path, session)?;
        self.note_visit_now(occasion.caller, &occasion.workspace);
        Ok((HookAnswer::default(), step))
    }

    /// A memory that an agent stored in this session, and whose every sentence the user said in it, counts as said by the user.
    fn witness(&self, occasion: &Occasion<'_>, path: &str, session: &SessionNote) -> Result<(), ServiceError> {
        let since = Timestamp(session.begun_at_ms);
        if session.begun_at_ms == 0 {
            return Ok(());
        }
        let Places { project, personal } = self.places_to_search(occasion.caller, None, None)?;
        let mut prompts: Option<Sentences> = None;
        for place in [&project, &personal].into_iter().flatten() {
            let notes = self.store.notes_of_agents_since(place, since, LOOKED_AT)?;
            let fresh = notes.iter().filter(|note| !note.is_witnessed && note.said_at >= since);
            for note in fresh {
                let said = prompts.get_or_insert_with(|| said_in(path));
                let parts = std::iter::once(&note.content.context).chain(&note.content.decisions);
                let rationale = note.content.rationale.iter();
                if parts.chain(rationale).all(|part| said.contain(part)) {
                    self.note_witness(place, note.id.0, note.said_at)?;
                }
            }
        }
        Ok(())
    }

    fn note_witness(&self, place: &Workspace, memory: [u8; 16], said_at: Timestamp) -> Result<(), ServiceError> {
        let (key, workspace): (_, WorkspaceKey) = (NoteKey { kind: WITNESS, subject: memory }, place.key);
        let note = witness_of(said_at);
        self.store.change_notes(workspace, &[key], self.now(), |notes| notes[0] = Some(note.clone()))?;
        Ok(())
    }
}

/// What the user said in a session, as far as it is read at once: its end.
fn said_in(path: &str) -> Sentences {
    let mut said = Sentences::default();
    let length = std::fs::metadata(path).map_or(0, |it| it.len());
    if let Some(tail) = Tail::read(Path::new(path), length.saturating_sub(TAIL_BYTES_MAX)) {
        tail.lines().filter_map(|(_, line)| prompt_of_line(line)).for_each(|prompt| said.add(&prompt));
    }
    said
}
