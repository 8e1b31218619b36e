//! Holding the database against the model: row by row, byte by byte, and by its own doctor.

use std::collections::{BTreeMap, BTreeSet};

use rootset_model::{MemoryId, RunId};
use rootset_testing::TestEngine;
use serde_json::json;

use super::clock::HOUR_MS;
use super::model::{Model, Run, State};
use super::processes::{Attempt, Outcome, Processes};

/// Steps between two looks at every row.
const ROWS_EVERY: usize = 10;
/// Steps between two looks at every byte: a file is read in a moment, a server's tables one by one.
const BYTES_EVERY: usize = 50;
const BYTES_EVERY_ON_SERVER: usize = 400;
/// Steps between two calls of `doctor`, which looks at everything.
const DOCTOR_EVERY: usize = 200;

/// What is stored of a memory.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    version: i64,
    text: String,
    run: Option<String>,
    ingested_ms: i64,
}

impl Processes<'_> {
    /// After every step, as much as is worth it.
    pub fn check(&self, place: usize) -> Outcome {
        let bytes_every = match self.engine() {
            TestEngine::Sqlite => BYTES_EVERY,
            TestEngine::Postgres => BYTES_EVERY_ON_SERVER,
        };
        if place % ROWS_EVERY == ROWS_EVERY - 1 {
            self.compare_rows(&self.model)?;
        }
        if place % bytes_every == bytes_every - 1 {
            self.compare_bytes()?;
        }
        if place % DOCTOR_EVERY == DOCTOR_EVERY - 1 {
            self.ask_doctor()?;
        }
        Ok(())
    }

    pub fn check_everything(&self) -> Outcome {
        self.compare_rows(&self.model)?;
        self.compare_bytes()?;
        self.ask_doctor()
    }

    /// Every memory is where it should be, as it should be: live, in the trash of its run, or not there.
    pub fn compare_rows(&self, model: &Model) -> Outcome {
        let found = self.rows()?;
        let mut wanted = BTreeMap::new();
        for (id, memory) in &model.heap.memories {
            let run = match &memory.state {
                State::Gone => continue,
                State::Live => None,
                State::Trash { run } => Some(run.clone()),
            };
            let (version, text, ingested_ms) = (memory.version, memory.text.clone(), memory.ingested_ms);
            wanted.insert(id.clone(), Row { version, text, run, ingested_ms });
        }
        for id in wanted.keys().chain(found.keys()) {
            if wanted.get(id) != found.get(id) {
                return Err(format!("memory {id} should be {:?} and is {:?}", wanted.get(id), found.get(id)));
            }
        }
        model.runs_with_trash().into_iter().try_for_each(|run| self.compare_run(model, run))
    }

    /// Whoever has something in the trash has a run that undoes it, and its promise.
    fn compare_run(&self, model: &Model, id: &str) -> Outcome {
        let stored = self.stored_run(id)?;
        let wanted = model.heap.runs.get(id).ok_or_else(|| format!("the model lost run {id}"))?;
        let times = |run: &Run| (run.started_ms, run.undo_until_ms, run.seen_ms, run.is_in_doubt);
        match times(&stored) == times(wanted) {
            true => Ok(()),
            false => Err(format!("run {id} should be {wanted:?} and is {stored:?}")),
        }
    }

    fn rows(&self) -> Result<BTreeMap<String, Row>, String> {
        let sql = "SELECT m.memory, m.version, r.context, m.trashed_run, m.ingested_at
                   FROM memories m LEFT JOIN revisions r
                     ON r.workspace = m.workspace AND r.memory = m.memory AND r.revision = m.revision";
        let rows = self.sql.rows(sql, &[], |row| {
            let (memory, run): (MemoryId, Option<RunId>) = (row.get(0)?, row.get(3)?);
            let (version, text, ingested_ms) = (row.get(1)?, row.get(2)?, row.get(4)?);
            Ok((memory.to_string(), Row { version, text, run: run.map(|run| run.to_string()), ingested_ms }))
        });
        Ok(rows.map_err(|error| error.to_string())?.into_iter().collect())
    }

    /// Whether a memory is still there, in the trash or not.
    pub fn is_stored(&self, id: &str) -> Result<bool, String> {
        Ok(self.rows()?.contains_key(id))
    }

    /// Learns by which runs memories were put into the trash just now.
    pub fn learn_runs(&mut self, ids: &[String], is_by_policy: bool, attempt: Attempt) -> Outcome {
        let found = self.rows()?;
        let mut by_run: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for id in ids {
            match found.get(id).and_then(|row| row.run.clone()) {
                Some(run) => by_run.entry(run).or_default().push(id.clone()),
                None if is_by_policy && self.model.heap.memories[id].may_be_kept(self.now_ms()) => {}
                None => return Err(format!("memory {id} should be in the trash")),
            }
        }
        for (run, ids) in by_run {
            self.model.trash(&ids, &run, is_by_policy, self.now_ms());
            let stored = self.stored_run(&run)?;
            let wanted = self.model.heap.runs.get_mut(&run).expect("it was just noted");
            // A step that died and was asked again had begun a while before.
            let is_recent = (0..=HOUR_MS).contains(&(wanted.started_ms - stored.started_ms));
            match attempt {
                Attempt::AfterStrike if is_recent => *wanted = Run { is_by_policy, ..stored },
                _ if stored.started_ms == wanted.started_ms && stored.seen_ms == wanted.seen_ms => {}
                _ => return Err(format!("run {run} should be {wanted:?} and is {stored:?}")),
            }
        }
        Ok(())
    }

    /// Whoever died may have stamped anew what was written in doubt. Later it would be by another time: what the database has
    /// seen is up to a minute behind.
    pub fn learn_restamp(&mut self) -> Outcome {
        let sql = "SELECT COUNT(*) FROM observed_time WHERE doubt_ends_ms IS NULL";
        let is_without_doubt: i64 = self.sql.scalar(sql, &[]).map_err(|error| error.to_string())?;
        if is_without_doubt == 1 {
            self.model.restamp(self.now_ms());
        }
        Ok(())
    }

    fn stored_run(&self, id: &str) -> Result<Run, String> {
        let run: RunId = id.parse().map_err(|_| format!("run {id} has no id"))?;
        let sql = "SELECT started_at, undo_until, observed_ms, is_stamp_in_doubt FROM runs WHERE run = ?1";
        let found = self.sql.row(sql, &[(&run).into()], |row| {
            Ok(Run {
                is_by_policy: false,
                started_ms: row.get(0)?,
                undo_until_ms: row.get(1)?,
                seen_ms: row.get(2)?,
                is_in_doubt: row.get::<Option<i64>>(3)? == Some(1),
                is_undone: false,
            })
        });
        found.map_err(|error| error.to_string())?.ok_or_else(|| format!("there is no run {id}"))
    }

    /// What is gone has left no byte. Every text has a number of its own.
    fn compare_bytes(&self) -> Outcome {
        let mut allowed: BTreeSet<&str> = BTreeSet::new();
        let mut gone: BTreeSet<&str> = BTreeSet::new();
        for memory in self.model.heap.memories.values() {
            let texts = memory.former.iter().chain([&memory.text]).map(|text| number_of(text));
            if memory.state == State::Gone { gone.extend(texts) } else { allowed.extend(texts) }
        }
        for (place, bytes) in self.database.storage() {
            for number in numbers_in(&bytes) {
                if gone.contains(number) && !allowed.contains(number) {
                    return Err(format!("{number} is gone, and still in {place}"));
                }
            }
        }
        Ok(())
    }

    fn ask_doctor(&self) -> Outcome {
        let answer = self.service(0).call(&super::processes::caller(), "doctor", json!({}));
        let answer = answer.map_err(|error| error.to_string())?;
        if answer["ok"] == true { Ok(()) } else { Err(format!("doctor: {answer}")) }
    }
}

/// `zq17x` of a text.
fn number_of(text: &str) -> &str {
    text.split_whitespace().find_map(|word| word.strip_suffix(':')).unwrap_or_default()
}

/// All numbers in some bytes.
fn numbers_in(bytes: &[u8]) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut from = 0;
    while let Some(at) = bytes[from..].windows(2).position(|pair| pair == b"zq") {
        let start = from + at;
        let digits = bytes[start + 2..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let end = start + 2 + digits;
        if digits > 0 && bytes.get(end) == Some(&b'x') {
            found.extend(std::str::from_utf8(&bytes[start..=end]).ok());
        }
        from = end.max(start + 1);
    }
    found
}
