//! What rounds found and did, for whoever asks later: the status of one workspace, and figures over all of them.

use std::collections::BTreeMap;

use rootset_api::{RoundsAnswer, WaitingSourceAnswer};
use rootset_model::Timestamp;
use rootset_store::{Work, Workspace};
use serde::Serialize;

use super::state::{self, RoundsNote, SourceState, WaitingSource, WorkspaceNote};
use super::timing;
use crate::error::ServiceError;
use crate::service::Service;

/// Figures over all workspaces, as the last looks left them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overview {
    pub by_class: BTreeMap<String, ClassFigures>,
    pub last_round_at: Option<Timestamp>,
    pub last_round_failed: usize,
    /// `None` while the scheduler is off.
    pub next_round_at: Option<Timestamp>,
    pub is_clock_in_doubt: bool,
    /// Events that wait to be delivered, by place.
    pub events_waiting: BTreeMap<String, i64>,
    /// How long the next of the tokens to end will be accepted; `None` where none ends.
    pub token_ends_in_ms: Option<i64>,
}

/// A source that a person should look at.
#[derive(Clone, Debug, Serialize)]
pub struct WaitingForPerson {
    pub workspace_id: String,
    #[serde(flatten)]
    pub source: WaitingSourceAnswer,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassFigures {
    pub workspaces: i64,
    /// Memories that were garbage when last looked at, and are still there.
    pub garbage: i64,
    /// Sources by what becomes of them.
    pub sources: BTreeMap<SourceState, i64>,
}

impl Service {
    /// What the rounds know of one workspace.
    pub(crate) fn rounds_of(&self, workspace: &Workspace) -> Result<RoundsAnswer, ServiceError> {
        let note: WorkspaceNote = state::read(&self.store, Work::of_workspace(workspace.key, state::ROUNDS.kind))?;
        let rounds: RoundsNote = state::read(&self.store, state::ROUNDS)?;
        let sources: Vec<_> = note.waiting.into_iter().map(answer).collect();
        Ok(RoundsAnswer {
            garbage: note.garbage,
            sources: Some(sources).filter(|sources| !sources.is_empty()),
            last_at: rounds.finished_at_ms.map(Timestamp),
            next_at: self.next_round_at(&rounds),
        })
    }

    /// The sources that wait for a person, in every workspace, as the last looks left them.
    pub fn sources_waiting_for_a_person(&self) -> Result<Vec<WaitingForPerson>, ServiceError> {
        let mut notes = self.store.notes_of_all(state::ROUNDS.kind)?;
        let mut waiting = Vec::new();
        for workspace in self.store.workspaces()? {
            let note = notes.remove(&workspace.key).and_then(|text| state::parse::<WorkspaceNote>(&text));
            let sources = note.into_iter().flat_map(|note| note.waiting).filter(|it| it.state.wants_a_person());
            waiting
                .extend(sources.map(|it| WaitingForPerson { workspace_id: workspace.id.clone(), source: answer(it) }));
        }
        Ok(waiting)
    }

    /// A few queries, however many workspaces there are.
    pub fn rounds_overview(&self) -> Result<Overview, ServiceError> {
        let rounds: RoundsNote = state::read(&self.store, state::ROUNDS)?;
        let notes = self.store.notes_of_all(state::ROUNDS.kind)?;
        let mut by_class: BTreeMap<String, ClassFigures> = BTreeMap::new();
        for workspace in self.store.workspaces()? {
            let figures = by_class.entry(workspace.class).or_default();
            figures.workspaces += 1;
            let Some(note) = notes.get(&workspace.key).and_then(|text| state::parse::<WorkspaceNote>(text)) else {
                continue;
            };
            figures.garbage += note.garbage;
            for source in note.waiting {
                *figures.sources.entry(source.state).or_default() += 1;
            }
        }
        Ok(Overview {
            by_class,
            last_round_at: rounds.finished_at_ms.map(Timestamp),
            last_round_failed: rounds.outcome.failed,
            next_round_at: self.next_round_at(&rounds),
            is_clock_in_doubt: self.store.observed_time()?.is_in_doubt(),
            events_waiting: self.store.waiting_event_counts()?,
            token_ends_in_ms: self.soonest_token_end_ms()?,
        })
    }

    fn next_round_at(&self, rounds: &RoundsNote) -> Option<Timestamp> {
        let gc = &self.settings.gc;
        let next = || timing::next_round_at(rounds.last_round(), gc.interval_ms).unwrap_or_else(|| self.now());
        gc.enabled.then(next)
    }
}

fn answer(it: WaitingSource) -> WaitingSourceAnswer {
    WaitingSourceAnswer {
        source: it.source,
        state: it.state.as_str().to_owned(),
        garbage: it.garbage,
        total: it.total,
        drain_id: it.drain_id,
        plan_id: it.plan_id,
        next_at: it.next_at,
    }
}
