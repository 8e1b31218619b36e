//! Looking at the database with a fresh handle, through the service like any caller.

use std::collections::BTreeMap;
use std::sync::Arc;

use rootset_model::Timestamp;
use rootset_service::{Caller, Clock, FrontEnd, Service, ServiceError, Settings, SystemClock};
use rootset_store::{Location, Store};
use rootset_testing::Sql;
use serde_json::{Value, json};

use crate::error::StressError;
use crate::model::{Found, Lifecycle, Violation};
use crate::slow_extractor::SlowExtractor;

/// Far beyond a lease (240 s) and the longest back-off (an hour): whatever is pending is due.
const AHEAD_MS: i64 = 2 * 3_600_000;
const PAGE_ITEMS: i64 = 100;

/// A clock that goes right, but ahead.
#[derive(Clone, Copy, Debug)]
pub struct ClockAhead {
    pub ms: i64,
}

impl Clock for ClockAhead {
    fn now(&self) -> Timestamp {
        SystemClock.now().saturating_add_ms(self.ms)
    }

    fn elapsed_ms(&self) -> i64 {
        SystemClock.elapsed_ms()
    }
}

#[derive(Debug)]
pub struct Verifier {
    service: Arc<Service>,
    caller: Caller,
}

impl Verifier {
    pub fn open(database: &Location) -> Result<Self, StressError> {
        Self::of_workspace(database, "home")
    }

    pub fn of_workspace(database: &Location, workspace: &str) -> Result<Self, StressError> {
        let service = Service::new(Store::open(database, None)?, Settings::default())?;
        let caller = Caller { workspace: workspace.into(), ..caller() };
        Ok(Self { service: Arc::new(service), caller })
    }

    pub fn call(&self, operation: &str, request: Value) -> Result<Value, StressError> {
        Ok(self.service.call(&self.caller, operation, request)?)
    }

    /// Everything there is, by name.
    pub fn snapshot(&self) -> Result<BTreeMap<String, Found>, StressError> {
        let mut found = BTreeMap::new();
        for (name, lifecycle) in [("live", Lifecycle::Live), ("trashed", Lifecycle::Trashed)] {
            let filter = json!({"lifecycle": name, "order_by": "created_at"});
            for item in list_all(&self.service, &self.caller, "list_memories", "memories", filter)? {
                let name = item["name"].as_str().ok_or(StressError::AnswerLacks("name"))?.to_owned();
                let memory = match lifecycle {
                    Lifecycle::Live => self.live(&item)?,
                    Lifecycle::Trashed => trashed(&item)?,
                };
                found.insert(name, memory);
            }
        }
        Ok(found)
    }

    fn live(&self, item: &Value) -> Result<Found, StressError> {
        let id = text_of(item, "memory_id")?;
        let memory = self.memory(&id)?;
        Ok(Found {
            text: Some(text_of(&memory, "context")?),
            version: memory["version"].as_i64(),
            lifecycle: Lifecycle::Live,
            is_pending: memory["status"] == "pending",
            id,
        })
    }

    /// One memory with its newest text, also when that is not extracted yet.
    pub fn memory(&self, id: &str) -> Result<Value, StressError> {
        let memory = self.service.call(&self.caller, "get_memory", json!({"memory_id": id}))?;
        match memory["pending_revision"].as_i64() {
            None => Ok(memory),
            Some(revision) => {
                Ok(self.service.call(&self.caller, "get_memory", json!({"memory_id": id, "revision": revision}))?)
            }
        }
    }

    /// Every finding of `doctor`.
    pub fn doctor(&self) -> Result<Vec<Violation>, StressError> {
        let answer = self.service.call(&self.caller, "doctor", json!({}))?;
        let checks = answer["checks"].as_array().ok_or(StressError::AnswerLacks("checks"))?;
        Ok(checks
            .iter()
            .filter(|check| check["ok"] != true)
            .map(|check| Violation::Doctor {
                check: check["id"].to_string(),
                count: check["count"].as_i64().unwrap_or_default(),
                detail: format!("{} {}", check["detail"], check["found"]),
            })
            .collect())
    }

    pub fn workspaces(&self) -> Result<i64, StressError> {
        let answer = self.service.call(&self.caller, "list_workspaces", json!({}))?;
        Ok(answer["workspaces"].as_array().ok_or(StressError::AnswerLacks("workspaces"))?.len() as i64)
    }
}

/// Completes everything that is pending, as a process does that comes after all leases ran out.
pub fn complete_pending(database: &Location) -> Result<usize, StressError> {
    let (store, clock) = (Store::open(database, None)?, Arc::new(ClockAhead { ms: AHEAD_MS }));
    let service = Service::new_at(store, Settings::default(), clock)?.with_extractor(Arc::new(SlowExtractor::Idle));
    let mut completed = 0;
    while service.complete_one_pending()? {
        completed += 1;
    }
    Ok(completed)
}

/// What SQLite's file itself must say: the log is on.
pub fn file_violations(database: &Location) -> Result<Vec<Violation>, StressError> {
    let Location::File(_) = database else { return Ok(Vec::new()) };
    let mode: String = Sql::open(database)?.scalar("PRAGMA journal_mode", &[])?;
    let wanted = "wal".to_owned();
    Ok((mode != wanted)
        .then_some(Violation::File { what: "the journal mode", wanted, found: mode })
        .into_iter()
        .collect())
}

/// All pages of a list.
pub fn list_all(
    service: &Arc<Service>,
    caller: &Caller,
    operation: &str,
    field: &str,
    mut filter: Value,
) -> Result<Vec<Value>, ServiceError> {
    let mut items = Vec::new();
    loop {
        filter["offset"] = items.len().into();
        filter["limit"] = PAGE_ITEMS.into();
        let mut answer = service.call(caller, operation, filter.clone())?;
        let Value::Array(page) = answer[field].take() else { return Ok(items) };
        let is_last = (page.len() as i64) < PAGE_ITEMS;
        items.extend(page);
        if is_last {
            return Ok(items);
        }
    }
}

pub fn caller() -> Caller {
    Caller::new(FrontEnd::CommandLine, "verifier", "home")
}

/// A trashed memory cannot be read whole; its text is short enough for the preview.
fn trashed(item: &Value) -> Result<Found, StressError> {
    let is_pending = item["status"] == "pending";
    let text = text_of(item, "preview")?;
    Ok(Found {
        id: text_of(item, "memory_id")?,
        text: (!is_pending).then_some(text),
        version: None,
        lifecycle: Lifecycle::Trashed,
        is_pending,
    })
}

fn text_of(item: &Value, field: &'static str) -> Result<String, StressError> {
    item[field].as_str().map(str::to_owned).ok_or(StressError::AnswerLacks(field))
}
