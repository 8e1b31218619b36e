//! When a person's agents last worked in a workspace, so that a brief can tell what changed since. Noted in memory by whatever
//! an agent asks for, written now and then beside the uses; one note per person and workspace.
//!
//! A session has no end that anybody announces: what is more than half an hour apart is two sessions.

use std::collections::HashMap;

use parking_lot::Mutex;
use rootset_model::{Timestamp, WorkspaceKey};
use rootset_store::{Work, Workspace};
use serde::{Deserialize, Serialize};

use crate::caller::{Caller, FrontEnd};
use crate::error::ServiceError;
use crate::personal::Person;
use crate::scheduler::state;
use crate::service::Service;

const APART_MS: i64 = 30 * 60_000;
/// A session that goes on is written again after so long.
const WRITTEN_EVERY_MS: i64 = 5 * 60_000;
const KIND: &str = "visits";
/// Writing takes one statement.
const LEASE_MS: i64 = 10_000;

/// What is kept of somebody's sessions in a workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Sessions {
    /// The last sign of life.
    last_at_ms: Option<i64>,
    /// The same of the session before.
    before_at_ms: Option<i64>,
}

impl Sessions {
    /// The end of the session before the one that goes on, or begins, now.
    fn previous_end(self, now: Timestamp) -> Option<Timestamp> {
        let last = self.last_at_ms?;
        let is_over = now.0.saturating_sub(last) > APART_MS;
        if is_over { Some(Timestamp(last)) } else { self.before_at_ms.map(Timestamp) }
    }

    fn with_visit(self, at: Timestamp) -> Self {
        Self { before_at_ms: self.previous_end(at).map(|end| end.0), last_at_ms: self.last_at_ms.max(Some(at.0)) }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Visits(Mutex<HashMap<(WorkspaceKey, Person), Visit>>);

#[derive(Clone, Copy, Debug)]
struct Visit {
    at: Timestamp,
    written_at: Option<Timestamp>,
}

impl Visits {
    fn note(&self, key: (WorkspaceKey, Person), at: Timestamp) {
        let mut visits = self.0.lock();
        let visit = visits.entry(key).or_insert(Visit { at, written_at: None });
        visit.at = visit.at.max(at);
    }

    fn take_due(&self) -> Vec<((WorkspaceKey, Person), Timestamp)> {
        let mut due = Vec::new();
        for (key, visit) in self.0.lock().iter_mut() {
            if visit.written_at.is_none_or(|written| visit.at.0.saturating_sub(written.0) >= WRITTEN_EVERY_MS) {
                visit.written_at = Some(visit.at);
                due.push((key.clone(), visit.at));
            }
        }
        due
    }

    fn put_back(&self, key: &(WorkspaceKey, Person)) {
        if let Some(visit) = self.0.lock().get_mut(key) {
            visit.written_at = None;
        }
    }
}

/// A person's name is no key of the length of one, and need not be readable there.
fn work(workspace: WorkspaceKey, person: &Person) -> Work {
    let hash = blake3::hash(person.as_str().as_bytes());
    let mut subject = [0; 16];
    subject.copy_from_slice(&hash.as_bytes()[..16]);
    Work { subject, ..Work::of_workspace(workspace, KIND) }
}

impl Service {
    /// An agent of somebody is at work here.
    pub(crate) fn note_visit(&self, caller: &Caller, workspace: &Workspace) {
        if let Some(person) = caller.person.as_ref().filter(|_| caller.front_end == FrontEnd::Mcp) {
            self.visits.note((workspace.key, person.clone()), self.now());
        }
    }

    /// The same for a hook, whose process ends at once.
    pub(crate) fn note_visit_now(&self, caller: &Caller, workspace: &Workspace) {
        if let Some(person) = &caller.person {
            self.visits.note((workspace.key, person.clone()), self.now());
        }
        self.flush_visits_and_log();
    }

    /// When the person's session here before this one ended; `None` where this is the first.
    pub(crate) fn last_session(
        &self,
        workspace: &Workspace,
        person: &Person,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, ServiceError> {
        let sessions: Sessions = state::read(&self.store, work(workspace.key, person))?;
        Ok(sessions.previous_end(now))
    }

    /// Writes who was where. Missing a visit makes a later brief say a little too much: a failure is logged.
    pub fn flush_visits_and_log(&self) {
        for ((workspace, person), at) in self.visits.take_due() {
            let written = self.write_visit(workspace, &person, at);
            if let Err(error) = written {
                tracing::debug!(%error, "a visit is not written");
                self.visits.put_back(&(workspace, person));
            }
        }
    }

    fn write_visit(&self, workspace: WorkspaceKey, person: &Person, at: Timestamp) -> Result<(), ServiceError> {
        let work = work(workspace, person);
        // Whoever holds it writes the same.
        let Some(lease) = self.store.acquire_lease(work, self.now(), LEASE_MS)? else { return Ok(()) };
        let sessions: Sessions = state::read(&self.store, work)?;
        let written = state::write(&self.store, &lease, &sessions.with_visit(at));
        self.store.release_lease(&lease)?;
        Ok(written?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_MS: i64 = 3_600_000;

    #[test]
    fn the_session_before_ends_where_its_last_sign_of_life_was() {
        let at = |hours: i64| Timestamp(hours * HOUR_MS);
        let mut sessions = Sessions::default();
        assert_eq!(sessions.previous_end(at(1)), None);
        sessions = sessions.with_visit(at(1));
        assert_eq!(sessions.previous_end(Timestamp(HOUR_MS + 60_000)), None, "the first session goes on");
        assert_eq!(sessions.previous_end(at(20)), Some(at(1)));
        sessions = sessions.with_visit(at(20)).with_visit(Timestamp(20 * HOUR_MS + 60_000));
        assert_eq!(sessions.previous_end(Timestamp(20 * HOUR_MS + 120_000)), Some(at(1)), "within the second");
        assert_eq!(sessions.previous_end(at(40)), Some(Timestamp(20 * HOUR_MS + 60_000)));
    }
}
