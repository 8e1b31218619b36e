//! Those who write while servers crash, and what each of them was told.
//!
//! A writer adds memories under names that nobody else uses, and changes a memory of its own: the first tell of what is lost,
//! the version of the second of what was done twice.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rootset_service::{Caller, FrontEnd, Service, ServiceError, Settings};
use rootset_store::{Location, PostgresSettings, Store};
use rootset_testing::Sql;
use serde_json::{Value, json};

use super::PostgresCrashReport;
use crate::error::StressError;

/// Each in a workspace of its own, so that their commits meet in the log.
const WRITERS: usize = 6;
/// The memory that a writer changes.
const CHANGED: &str = "changed";

/// How long a server may be away, and how long a commit may wait for a standby: longer than any of it takes here.
const TIMES: PostgresSettings =
    PostgresSettings { pool_size: 2 * WRITERS, statement_timeout_ms: 20_000, connect_timeout_ms: 60_000 };

#[derive(Debug)]
pub struct Writers {
    service: Arc<Service>,
    writers: Vec<Writer>,
}

#[derive(Debug)]
struct Writer {
    workspace: String,
    next: u64,
    /// By name, what came of adding it.
    added: BTreeMap<String, Told>,
    changes: u64,
    changes_unknown: u64,
    changes_failed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Done,
    Failed,
    Unknown,
}

impl Writers {
    pub fn new(url: &str) -> Result<Self, StressError> {
        let location = Location::parse(url).expect("a URL of our own making");
        let store = Store::open_with(&location, None, &TIMES)?;
        let service = Arc::new(Service::new(store, Settings::default())?);
        let writers = (0..WRITERS).map(|number| Writer::new(&service, format!("writer-{number}")));
        let writers = writers.collect::<Result<_, _>>()?;
        Ok(Self { service, writers })
    }

    /// Lets all of them write while something happens.
    pub fn work(&mut self, seed: u64, happens: impl FnOnce() -> Result<(), StressError>) -> Result<(), StressError> {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let threads: Vec<_> = self
                .writers
                .iter_mut()
                .zip(1..)
                .map(|(writer, number)| {
                    let (service, is_over) = (&self.service, &is_over);
                    let random = StdRng::seed_from_u64(seed ^ number);
                    scope.spawn(move || writer.work_until(service, is_over, random))
                })
                .collect();
            let happened = happens();
            is_over.store(true, Ordering::SeqCst);
            let worked: Result<Vec<()>, StressError> =
                threads.into_iter().map(|thread| thread.join().expect("a writer does not panic")).collect();
            happened.and(worked.map(drop))
        })
    }

    /// Holds what they were told against what is there.
    pub fn compare(&self, sql: &Sql) -> Result<(), StressError> {
        let mut problems = Vec::new();
        for writer in &self.writers {
            writer.compare(sql, &mut problems)?;
        }
        if problems.is_empty() { Ok(()) } else { Err(StressError::Lost(problems.join("; "))) }
    }

    pub fn check_with_doctor(&self) -> Result<(), StressError> {
        let answer = self.service.call(&caller("home"), "doctor", json!({}))?;
        if answer["ok"] == true { Ok(()) } else { Err(StressError::Lost(answer.to_string())) }
    }

    pub fn count(&self, report: &mut PostgresCrashReport) {
        for writer in &self.writers {
            let told = |what| writer.added.values().filter(|told| **told == what).count() as u64;
            report.acknowledged += told(Told::Done) + writer.changes;
            report.failed += told(Told::Failed) + writer.changes_failed;
            report.unknown += told(Told::Unknown) + writer.changes_unknown;
        }
    }
}

fn caller(workspace: &str) -> Caller {
    Caller::new(FrontEnd::CommandLine, "stress", workspace)
}

impl Writer {
    fn new(service: &Arc<Service>, workspace: String) -> Result<Self, StressError> {
        service.call(&caller(&workspace), "create_workspace", json!({"workspace_id": workspace}))?;
        let first = json!({"name": CHANGED, "context": "It was not changed yet."});
        service.call(&caller(&workspace), "add_memory", first)?;
        let (next, changes, changes_unknown, changes_failed) = (0, 0, 0, 0);
        Ok(Self { workspace, next, added: BTreeMap::new(), changes, changes_unknown, changes_failed })
    }

    fn work_until(
        &mut self,
        service: &Arc<Service>,
        is_over: &AtomicBool,
        mut random: StdRng,
    ) -> Result<(), StressError> {
        while !is_over.load(Ordering::SeqCst) {
            self.next += 1;
            if random.random_bool(0.7) { self.add(service)? } else { self.change(service)? }
        }
        Ok(())
    }

    fn add(&mut self, service: &Arc<Service>) -> Result<(), StressError> {
        let name = format!("added-{}", self.next);
        let request = json!({"name": name, "context": format!("Number {} of {}.", self.next, self.workspace)});
        let answer = service.call(&caller(&self.workspace), "add_memory", request);
        let told = told(&answer)?;
        if told == Told::Done && answer.is_ok_and(|answer| answer["created"] != true) {
            return Err(StressError::Lost(format!("`{name}` of {} was added twice", self.workspace)));
        }
        self.added.insert(name, told);
        Ok(())
    }

    fn change(&mut self, service: &Arc<Service>) -> Result<(), StressError> {
        let request = json!({"memory_id": CHANGED, "context": format!("It was changed, number {}.", self.next)});
        match told(&service.call(&caller(&self.workspace), "update_memory", request))? {
            Told::Done => self.changes += 1,
            Told::Unknown => self.changes_unknown += 1,
            Told::Failed => self.changes_failed += 1,
        }
        Ok(())
    }

    fn compare(&self, sql: &Sql, problems: &mut Vec<String>) -> Result<(), StressError> {
        let statement = "SELECT m.name, m.version FROM memories m JOIN workspaces w ON w.workspace = m.workspace
                         WHERE w.workspace_id = ?1";
        let rows: Vec<(String, i64)> =
            sql.rows(statement, &[self.workspace.as_str().into()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let found: BTreeMap<&str, i64> = rows.iter().map(|(name, version)| (name.as_str(), *version)).collect();
        for (name, told) in &self.added {
            let is_wrong = match told {
                Told::Done => !found.contains_key(name.as_str()),
                Told::Failed => found.contains_key(name.as_str()),
                Told::Unknown => false,
            };
            if is_wrong {
                problems.push(format!("`{name}` of {}, which was {told:?}", self.workspace));
            }
        }
        let changes = found.get(CHANGED).map_or(-1, |version| version - 1);
        let (least, most) = (self.changes as i64, (self.changes + self.changes_unknown) as i64);
        if !(least..=most).contains(&changes) {
            problems.push(format!("{changes} changes in {}, of {least} to {most}", self.workspace));
        }
        Ok(())
    }
}

/// Whatever else an error says, it says whether the outcome is known.
fn told(answer: &Result<Value, ServiceError>) -> Result<Told, StressError> {
    let Err(error) = answer else { return Ok(Told::Done) };
    let is_unknown = error.details.as_ref().is_some_and(|details| details["outcome"] == "unknown");
    if error.code != rootset_api::ErrorCode::Busy {
        return Err(StressError::Lost(format!("a writer was told {}", error.to_json())));
    }
    Ok(if is_unknown { Told::Unknown } else { Told::Failed })
}
