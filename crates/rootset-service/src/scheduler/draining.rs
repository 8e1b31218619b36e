//! The drains of one workspace's round: sources with more garbage than a plan may take.
//!
//! Which step comes next is decided in `rootset-gc`; here it is carried out. Each slice is a plan and a run of its own, so
//! that preview, re-check, trash and undo are those of every other plan.

use std::collections::HashSet;

use rootset_gc::drains::{self, Act, DrainState, Found, Step};
use rootset_model::DrainId;
use rootset_store::{Drain, Garbage, NewDrain, SourceGarbage, Stamp, Workspace};

use super::state::{SourceState, WaitingSource, WorkspaceNote};
use super::telemetry::{self, DrainEvent, DrainStep, Event};
use super::{ACTOR, Scheduler};
use crate::collecting::Review;
use crate::error::ServiceError;

/// What a round may do with the garbage of each source.
#[derive(Debug, Default)]
pub(super) struct Sorted<'a> {
    /// Memories that go in the round's own plan.
    pub taken: HashSet<[u8; 16]>,
    /// Memories of sources over a limit, for a plan that waits for a person.
    pub blocked: HashSet<[u8; 16]>,
    pub blocked_sources: Vec<(&'a SourceGarbage, i64)>,
    pub slices: Vec<Slice<'a>>,
    /// Whether something is left that was garbage.
    pub leaves_garbage: bool,
}

/// What a drain takes in this round.
#[derive(Debug)]
pub(super) struct Slice<'a> {
    drain: DrainId,
    found: &'a SourceGarbage,
    total: i64,
    memories: HashSet<[u8; 16]>,
    is_last: bool,
}

impl Scheduler {
    /// Decides about every source, and notes what begins, ends or is announced.
    pub(super) fn sort_sources<'a>(
        &self,
        workspace: &Workspace,
        garbage: &'a Garbage,
        totals: impl Fn(&str) -> i64,
        note: &mut WorkspaceNote,
    ) -> Result<Sorted<'a>, ServiceError> {
        let mut open = self.service.store.open_drains(workspace)?;
        let mut sorted = Sorted::default();
        for found in &garbage.sources {
            let place = open.iter().position(|drain| drain.source == found.source);
            let drain = place.map(|place| open.swap_remove(place));
            self.sort_source(workspace, found, totals(&found.source), drain, note, &mut sorted)?;
        }
        // What has no garbage any more needs no drain.
        for drain in open {
            match drain.state {
                DrainState::Stopped => {}
                DrainState::Announced => self.close(workspace, &drain, DrainStep::Withdrawn)?,
                DrainState::Draining | DrainState::Ended => self.close(workspace, &drain, DrainStep::Ended)?,
            }
        }
        Ok(sorted)
    }

    fn sort_source<'a>(
        &self,
        workspace: &Workspace,
        found: &'a SourceGarbage,
        total: i64,
        open: Option<Drain>,
        note: &mut WorkspaceNote,
        sorted: &mut Sorted<'a>,
    ) -> Result<(), ServiceError> {
        let (service, limits) = (&self.service, &self.service.settings.limits);
        let now = service.now();
        let mode = service.settings.gc.drain_of(workspace);
        let garbage = found.memories.len() as i64;
        let of_source = Found { garbage, total, shown: found.shown, policies: &found.policies };
        let as_open = open.as_ref().map(Drain::as_open);
        let Step { closes_open, act } = drains::next_step(&of_source, as_open.as_ref(), mode, limits, now);
        let open = match open {
            Some(drain) if closes_open => {
                let is_announced = drain.state == DrainState::Announced;
                self.close(workspace, &drain, if is_announced { DrainStep::Withdrawn } else { DrainStep::Ended })?;
                None
            }
            open => open,
        };
        let keeps_last = !found.may_empty && garbage >= total;
        let takable = found.memories.len() - usize::from(keeps_last);
        sorted.leaves_garbage |= keeps_last;
        // `gone` is what this round takes of it.
        let mut waits = |state, drain_id, next_at, gone: i64| {
            let (source, garbage, total) = (found.source.clone(), garbage - gone, total - gone);
            note.waiting.push(WaitingSource { source, state, garbage, total, drain_id, plan_id: None, next_at });
        };
        match act {
            Act::TakeAll => sorted.taken.extend(&found.memories[..takable]),
            Act::Block => {
                sorted.blocked.extend(&found.memories);
                sorted.blocked_sources.push((found, total));
                waits(SourceState::Blocked, None, None, 0);
            }
            Act::Hold => waits(SourceState::Stopped, open.map(|drain| drain.id), None, 0),
            Act::Wait => {
                let (id, at) = open.map(|drain| (drain.id, drain.begins_at)).unzip();
                waits(SourceState::Announced, id, at, 0);
            }
            Act::Announce => {
                let begins_at = now.saturating_add_ms(service.settings.gc.interval_ms);
                let id = self.open_drain(workspace, found, total, DrainState::Announced, begins_at)?;
                waits(SourceState::Announced, Some(id), Some(begins_at), 0);
            }
            Act::Begin | Act::GoOn => {
                let (drain, total_then) = match open {
                    Some(drain) if drain.state == DrainState::Draining => (drain.id, drain.total),
                    Some(drain) => {
                        self.begin(workspace, found, total, drain.id)?;
                        (drain.id, total)
                    }
                    None => (self.open_drain(workspace, found, total, DrainState::Draining, now)?, total),
                };
                let size = drains::slice_max(total_then, limits).min(takable);
                let is_last = size == takable;
                let memories = found.memories[..size].iter().copied().collect();
                if !is_last {
                    let next_at = now.saturating_add_ms(service.settings.gc.interval_ms);
                    waits(SourceState::Draining, Some(drain), Some(next_at), size as i64);
                }
                sorted.slices.push(Slice { drain, found, total, memories, is_last });
            }
        }
        Ok(())
    }

    /// Takes the slice of one drain; answers how many memories went.
    pub(super) fn drain(
        &self,
        workspace: &Workspace,
        garbage: &Garbage,
        slice: &Slice<'_>,
        note: &mut WorkspaceNote,
    ) -> Result<i64, ServiceError> {
        let service = &self.service;
        let plan = service.store_round_plan(workspace, garbage, &slice.memories, Some(slice.drain), ACTOR.into())?;
        // The size of the slice is the limit here.
        let review = Review { allow_large: true, ..Review::default() };
        let applied = service.apply_plan(workspace, plan.id, review, ACTOR.into())?;
        if applied.run.finished_at.is_none() {
            note.unfinished_plans.push(plan.id);
        }
        let taken = applied.run.counts.taken.get("memories");
        let event = |step| DrainEvent {
            taken,
            run_id: Some(applied.run.id),
            ..self.event(workspace, slice.drain, slice.found, slice.total, step)
        };
        self.tell(Some(workspace), &Event::Drain(event(DrainStep::Round)))?;
        if slice.is_last {
            let event = Event::Drain(event(DrainStep::Ended));
            self.set_state(workspace, slice.drain, DrainState::Ended, None, &event)?;
        }
        Ok(taken)
    }

    fn open_drain(
        &self,
        workspace: &Workspace,
        found: &SourceGarbage,
        total: i64,
        state: DrainState,
        begins_at: rootset_model::Timestamp,
    ) -> Result<DrainId, ServiceError> {
        let id = self.service.next_drain_id();
        let is_announced = state == DrainState::Announced;
        let step = if is_announced { DrainStep::Announced } else { DrainStep::Began };
        let begins = is_announced.then_some(begins_at);
        let event = Event::Drain(DrainEvent { begins_at: begins, ..self.event(workspace, id, found, total, step) });
        let new = NewDrain {
            id,
            source: found.source.clone(),
            state,
            policies: found.policies.clone(),
            found: found.memories.len() as i64,
            total,
            begins_at,
        };
        let stamp = Stamp::new(self.service.now(), ACTOR);
        self.service.store.add_drain(workspace, &new, &event.note(), stamp)?;
        telemetry::emit(&self.sink, &event);
        Ok(id)
    }

    fn begin(
        &self,
        workspace: &Workspace,
        found: &SourceGarbage,
        total: i64,
        drain: DrainId,
    ) -> Result<(), ServiceError> {
        let event = Event::Drain(self.event(workspace, drain, found, total, DrainStep::Began));
        self.set_state(workspace, drain, DrainState::Draining, Some(total), &event)
    }

    /// The drain is over without a slice of this round.
    fn close(&self, workspace: &Workspace, drain: &Drain, step: DrainStep) -> Result<(), ServiceError> {
        let event = Event::Drain(DrainEvent {
            workspace_id: workspace.id.clone(),
            drain_id: drain.id,
            source: drain.source.clone(),
            step,
            garbage: 0,
            total: drain.total,
            taken: 0,
            begins_at: None,
            run_id: None,
        });
        self.set_state(workspace, drain.id, DrainState::Ended, None, &event)
    }

    fn set_state(
        &self,
        workspace: &Workspace,
        drain: DrainId,
        state: DrainState,
        total: Option<i64>,
        event: &Event,
    ) -> Result<(), ServiceError> {
        let stamp = Stamp::new(self.service.now(), ACTOR);
        self.service.store.set_drain_state(workspace, drain, state, total, &event.note(), stamp)?;
        telemetry::emit(&self.sink, event);
        Ok(())
    }

    fn event(
        &self,
        workspace: &Workspace,
        drain_id: DrainId,
        found: &SourceGarbage,
        total: i64,
        step: DrainStep,
    ) -> DrainEvent {
        DrainEvent {
            workspace_id: workspace.id.clone(),
            drain_id,
            source: found.source.clone(),
            step,
            garbage: found.memories.len() as i64,
            total,
            taken: 0,
            begins_at: None,
            run_id: None,
        }
    }
}
