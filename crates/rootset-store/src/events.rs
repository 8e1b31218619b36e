//! Events: what happened without anybody asking for it, for people who are not there.
//!
//! An event is an entry of the audit trail, and a row for each place that wants to hear of it. Both are written in the
//! transaction of the change itself, so that no event is lost and none is made up. Delivering is somebody else's work: a row
//! stays until its place has had it.

use std::collections::BTreeMap;

use rootset_model::{Counts, RunId, Timestamp};

use crate::driver::{Tenant, Transaction};
use crate::error::StoreError;
use crate::leases::DATABASE;
use crate::statements::events as sql;
use crate::{Stamp, Store, Workspace, audit};

/// So many wait for one place: one that cannot be reached for months must not fill the disk.
const WAITING_MAX: i64 = 100_000;

/// What is to be told.
#[derive(Clone, Debug, Default)]
pub struct EventNote {
    /// A word such as `drain_announced`.
    pub kind: &'static str,
    pub counts: Counts,
    /// JSON of codes, names and policies, never of content.
    pub details: Option<serde_json::Value>,
    pub run: Option<RunId>,
}

/// An event that waits for its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    pub number: i64,
    pub at: Timestamp,
    /// JSON, one object.
    pub body: String,
}

impl Store {
    /// From now on events are kept for these places, too. Said once.
    pub fn send_events_to(&self, sinks: Vec<String>) {
        let _ = self.event_sinks.set(sinks);
    }

    /// Tells of something that happened in a workspace, or in the database as a whole.
    pub fn note_event(
        &self,
        workspace: Option<&Workspace>,
        event: &EventNote,
        stamp: Stamp<'_>,
    ) -> Result<(), StoreError> {
        let tenant = workspace.map_or(Tenant::Database, |it| it.key.into());
        self.write(tenant, |tx| self.note_event_in(tx, workspace, event, stamp))
    }

    /// The same, in the transaction of what happened.
    pub(crate) fn note_event_in(
        &self,
        tx: &mut dyn Transaction,
        workspace: Option<&Workspace>,
        event: &EventNote,
        stamp: Stamp<'_>,
    ) -> Result<(), StoreError> {
        let details = event.details.as_ref().map(ToString::to_string);
        let counts = Some(audit::json(&event.counts));
        let entry = audit::Entry { counts, details, run: event.run, ..audit::Entry::of(event.kind) };
        let chain = workspace.map_or(DATABASE, |it| it.key);
        let number = audit::append_numbered(tx, chain, stamp, &entry)?;
        let Some(sinks) = self.event_sinks.get() else { return Ok(()) };
        let body = body(&format!("{}-{number}", chain.0), workspace, event, stamp);
        let rows: Vec<_> = sinks.iter().map(|sink| vec![sink.into(), stamp.now.into(), (&body).into()]).collect();
        tx.execute_many(&sql::SEND, &rows).map(drop)
    }

    /// The oldest events that a place has not had yet.
    pub fn waiting_events(&self, sink: &str, limit: i64) -> Result<Vec<Outgoing>, StoreError> {
        self.read(Tenant::Database, |tx| {
            tx.rows(&sql::WAITING, &[sink.into(), limit.into()], |row| {
                Ok(Outgoing { number: row.get(0)?, at: row.get(1)?, body: row.get(2)? })
            })
        })
    }

    /// How many wait for each place; places of this process are named even if none does.
    pub fn waiting_event_counts(&self) -> Result<BTreeMap<String, i64>, StoreError> {
        let counts: Vec<(String, i64)> =
            self.read(Tenant::Database, |tx| tx.rows(&sql::WAITING_COUNTS, &[], |row| Ok((row.get(0)?, row.get(1)?))))?;
        let own = self.event_sinks.get().into_iter().flatten().map(|sink| (sink.clone(), 0));
        Ok(own.chain(counts).collect())
    }

    /// The place has had them.
    pub fn delivered_events(&self, numbers: &[i64]) -> Result<(), StoreError> {
        self.touch(Tenant::Database, |tx| tx.execute(&sql::DELIVERED, &[numbers.into()]).map(drop))
    }

    /// Gives up on the oldest events of a place for which too many wait; answers how many those were. The audit trail
    /// still has them.
    pub fn drop_oldest_events(&self, sink: &str) -> Result<usize, StoreError> {
        self.touch(Tenant::Database, |tx| tx.execute(&sql::DROP_OLDER, &[sink.into(), WAITING_MAX.into()]))
    }
}

/// As it is delivered. The id names its entry in the audit trail, so it is the same when it is delivered twice.
fn body(id: &str, workspace: Option<&Workspace>, event: &EventNote, stamp: Stamp<'_>) -> String {
    let mut body = serde_json::json!({
        "id": id,
        "event": event.kind,
        "at": stamp.now.to_string(),
        "counts": event.counts,
    });
    if let Some(workspace) = workspace {
        body["workspace_id"] = workspace.id.as_str().into();
        body["class"] = workspace.class.as_str().into();
    }
    if let Some(details) = &event.details {
        body["details"] = details.clone();
    }
    if let Some(run) = &event.run {
        body["run_id"] = run.to_string().into();
    }
    body.to_string()
}
