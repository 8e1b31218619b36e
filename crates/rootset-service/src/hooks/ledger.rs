//! What hooks did, for the person: the last session event by event, and the bill.

use rootset_model::Timestamp;
use serde::Serialize;

use super::session::{Entry, SessionNote};
use crate::caller::Caller;
use crate::error::ServiceError;
use crate::service::Service;

/// A session as its ledger tells it.
#[derive(Clone, Debug, Serialize)]
pub struct SessionView {
    pub client: String,
    pub session_id: String,
    pub begun_at: Timestamp,
    pub seen_at: Timestamp,
    pub is_ended: bool,
    pub events: Vec<EventView>,
    /// Older events that are not kept.
    pub dropped: usize,
    /// Put into windows, the session's own and those of its subagents.
    pub tokens_put_in: usize,
    /// Kept out of windows: results that pointers stand for.
    pub tokens_kept_out: usize,
}

#[derive(Clone, Debug, Serialize)]
pub struct EventView {
    pub at: Timestamp,
    pub event: String,
    pub did: String,
    pub tokens: usize,
    pub kept_out: usize,
    /// The names of memories that were put in; ids of those that are gone.
    pub memories: Vec<String>,
    /// Kept and lost in a compaction, by class.
    pub classes: Vec<(String, usize, usize)>,
}

impl Service {
    /// What hooks did in the last session of the caller's workspace, or in one by its client's id.
    pub fn hook_ledger(&self, caller: &Caller, session_id: Option<&str>) -> Result<Option<SessionView>, ServiceError> {
        let workspace = self.workspace(caller, None)?;
        let sessions = self.session_notes(workspace.key, if session_id.is_some() { LOOKED_AT } else { 1 })?;
        let is_meant = |session: &SessionNote| session_id.is_none_or(|id| session.session_id.starts_with(id));
        let Some(session) = sessions.into_iter().find(is_meant) else { return Ok(None) };
        let ids: Vec<_> = session.ledger.iter().flat_map(|entry| entry.memories.iter().copied()).collect();
        let mut names = std::collections::HashMap::new();
        let places = self.places_to_search(caller, None, None)?;
        for place in [&places.project, &places.personal].into_iter().flatten() {
            let found = self.store.notes_by_ids(place, &ids)?;
            names.extend(found.into_iter().filter_map(|note| Some((note.id, note.name?))));
        }
        let view = |entry: &Entry| EventView {
            at: Timestamp(entry.at_ms),
            event: entry.event.clone(),
            did: entry.did.clone(),
            tokens: entry.tokens,
            kept_out: entry.kept_out,
            memories: entry
                .memories
                .iter()
                .map(|id| names.get(id).cloned().unwrap_or_else(|| id.to_string()))
                .collect(),
            classes: entry.classes.clone(),
        };
        Ok(Some(SessionView {
            begun_at: Timestamp(session.begun_at_ms),
            seen_at: Timestamp(session.seen_at_ms),
            is_ended: session.is_ended,
            events: session.ledger.iter().map(view).collect(),
            dropped: session.dropped,
            tokens_put_in: session.ledger.iter().map(|entry| entry.tokens).sum(),
            tokens_kept_out: session.ledger.iter().map(|entry| entry.kept_out).sum(),
            client: session.client,
            session_id: session.session_id,
        }))
    }
}

/// Sessions among which one is looked for by its id.
const LOOKED_AT: usize = 100;
