//! Each step as requests, and what the model makes of the answers.

use std::sync::{Arc, OnceLock};

use rootset_model::Timestamp;
use rootset_service::scheduler::{Scheduler, Tick};
use rootset_service::{Housekeeper, Service};
use serde_json::{Value, json};

use super::{Outcome, Processes, ROUND_EVERY_MS, caller};
use crate::lives::Report;
use crate::lives::clock::DAY_MS;
use crate::lives::model::{Again, Class, Model, State};
use crate::lives::steps::What;

/// A step with the things that it is about.
#[derive(Clone, Debug)]
pub enum Asked {
    Add { text: String, tag: String, expires_ms: Option<i64> },
    AddAgain { text: String },
    Update { id: String, expected: Option<i64>, text: String },
    Delete { id: String },
    UndoRun { run: String },
    UndoMemory { id: String },
    Erase { id: String, tag: String, plan: OnceLock<String> },
    PurgeRun { run: String },
    Prune { expired: Vec<String>, plan: OnceLock<String> },
    Housekeep,
    Tick,
    Backup,
    Restore { backup: usize, id: String },
    Get { id: String },
    List,
}

/// Whether a step was struck before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    First,
    AfterStrike,
}

/// An answer, or the words of an error.
pub type Answer = Result<Value, String>;

impl Processes<'_> {
    /// `None` when there is nothing that the step could be about.
    pub(super) fn asked(&mut self, what: What) -> Option<Asked> {
        let is_live = |state: &State| *state == State::Live;
        let is_trash = |state: &State| matches!(state, State::Trash { .. });
        Some(match what {
            What::Add { expires_in_days } => {
                let expires_ms = expires_in_days.map(|days| self.now_ms() + days * DAY_MS);
                let text = self.new_text();
                Asked::Add { tag: format!("t{}", self.texts), text, expires_ms }
            }
            What::AddAgain { memory } => {
                let id = self.choose_memory(memory, |_| true)?;
                Asked::AddAgain { text: self.model.heap.memories[&id].text.clone() }
            }
            What::Update { memory, stale } => {
                let id = self.choose_memory(memory, is_live)?;
                let version = self.model.heap.memories[&id].version;
                Asked::Update { id, expected: Some(if stale { version - 1 } else { version }), text: self.new_text() }
            }
            What::Delete { memory } => Asked::Delete { id: self.choose_memory(memory, is_live)? },
            What::UndoRun { run } => Asked::UndoRun { run: self.choose_run(run)? },
            What::UndoMemory { memory } => Asked::UndoMemory { id: self.choose_memory(memory, is_trash)? },
            What::Erase { memory } => {
                let id = self.choose_memory(memory, is_live)?;
                let chosen = &self.model.heap.memories[&id];
                (chosen.state == State::Live && !chosen.tag.is_empty()).then(|| Asked::Erase {
                    id,
                    tag: chosen.tag.clone(),
                    plan: OnceLock::new(),
                })?
            }
            What::PurgeRun { run } => Asked::PurgeRun { run: self.choose_run(run)? },
            What::Prune => Asked::Prune { expired: self.model.expired(self.now_ms()), plan: OnceLock::new() },
            What::Housekeep => Asked::Housekeep,
            What::Tick => Asked::Tick,
            What::Backup => Asked::Backup,
            What::Restore { backup } => {
                let backup = backup.checked_rem(self.model.backups.len())?;
                Asked::Restore { backup, id: self.model.backups[backup].id.clone() }
            }
            What::Get { memory } => Asked::Get { id: self.choose_memory(memory, |_| true)? },
            What::List => Asked::List,
        })
    }

    /// A text that nobody wrote before; its number is looked for in the files when it is gone.
    fn new_text(&mut self) -> String {
        self.texts += 1;
        let number = self.texts;
        format!("Note zq{number}x: Falcon uses Module{} since release {}.", number % 7, number % 40)
    }

    pub(super) fn ask(&mut self, process: usize, asked: &Asked, report: &mut Report) -> Outcome {
        let answer = attempt(&self.services[process], asked);
        self.answered(process, asked, answer, Attempt::First, report)
    }

    /// Once more: whether the first attempt was carried out is nobody's business but its own.
    pub(super) fn ask_after_strike(&mut self, process: usize, asked: &Asked, report: &mut Report) -> Outcome {
        let answer = attempt(&self.services[process], asked);
        let answer = match (asked, answer) {
            // It was undone already, and says so.
            (Asked::UndoRun { run }, Err(_)) if !self.model.trash_of(run).is_empty() => Ok(json!({})),
            (Asked::UndoRun { .. } | Asked::PurgeRun { .. } | Asked::Housekeep, Ok(_)) => Ok(json!({})),
            (_, answer) => answer,
        };
        self.answered(process, asked, answer, Attempt::AfterStrike, report)
    }

    /// What the answer should have been, and what the database should hold now.
    pub(super) fn answered(
        &mut self,
        process: usize,
        asked: &Asked,
        answer: Answer,
        attempt: Attempt,
        report: &mut Report,
    ) -> Outcome {
        let now_ms = self.now_ms();
        match asked {
            Asked::Erase { id, .. } => {
                need(&answer)?;
                let may_be_kept = self.model.heap.memories[id].may_be_kept(now_ms);
                if !(may_be_kept && self.is_stored(id)?) {
                    self.model.purge(std::slice::from_ref(id), false, Some(Class::Erased));
                    report.erased += 1;
                }
            }
            Asked::PurgeRun { run } => {
                let purged = self.model.trash_of(run).len();
                if purged > 0 {
                    need(&answer)?;
                    self.model.purge_run(run);
                    report.erased += purged as u64;
                }
            }
            Asked::Prune { expired, .. } => {
                need(&answer)?;
                report.trashed += expired.len() as u64;
                self.learn_runs(expired, true, attempt)?;
            }
            Asked::Housekeep => {
                let done = need(&answer)?;
                self.housekept(process, done, report)?;
            }
            Asked::Tick => self.ticked(process, need(&answer)?, attempt, report)?,
            Asked::Backup => {
                let made = need(&answer)?;
                let (id, path) = (text_of(&made["backup_id"]), text_of(&made["path"]));
                self.model.save(&id, &path);
                self.forget_old_backups();
            }
            Asked::Restore { backup, .. } => {
                let restored = need(&answer)?.clone();
                let again = self.model.restore(*backup, now_ms);
                expect("trashed_again", &restored["trashed_again"], &json!(again.len()))?;
                self.learn_runs(&again, false, Attempt::First)?;
                report.restores += 1;
            }
            Asked::List => {
                let counted = need(&answer)?;
                let live = self.model.in_state(|state| *state == State::Live).len();
                let trash = self.model.in_state(|state| matches!(state, State::Trash { .. })).len();
                expect("live memories", &counted["live"], &json!(live))?;
                expect("trash", &counted["trash"], &json!(trash))?;
            }
            quick => {
                report.trashed += u64::from(matches!(quick, Asked::Delete { .. }) && answer.is_ok());
                apply(&mut self.model, quick, &answer, now_ms)?;
            }
        }
        Ok(())
    }

    fn housekept(&mut self, process: usize, done: &Value, report: &mut Report) -> Outcome {
        let now_ms = self.now_ms();
        if !self.model.is_housekeeping_due(now_ms) {
            return Ok(());
        }
        let is_waiting = self.is_waiting(process);
        let purged = self.model.housekeep(now_ms, is_waiting);
        report.purged += purged;
        match done.get("purged") {
            Some(answered) => expect("memories purged", answered, &json!(purged)),
            None => Ok(()),
        }
    }

    fn ticked(&mut self, process: usize, tick: &Value, attempt: Attempt, report: &mut Report) -> Outcome {
        let now_ms = self.now_ms();
        let is_waiting = self.is_waiting(process);
        expect("whether it waits", &json!(tick.get("waiting").is_some()), &json!(is_waiting))?;
        if !is_waiting && self.model.is_round_due(now_ms, ROUND_EVERY_MS) {
            self.model.round_ms = Some(now_ms);
            self.model.restamp(now_ms);
            let expired = self.model.expired(now_ms);
            if !expired.is_empty() && !self.model.is_blocked(expired.len()) {
                report.trashed += expired.len() as u64;
                self.learn_runs(&expired, true, attempt)?;
            }
        }
        self.housekept(process, &json!({}), report)
    }

    /// Two processes at once: what they hear and leave behind must be that of one after the other, in either order.
    pub(super) fn both(&mut self, first: What, second: What) -> Outcome {
        let (Some(first), Some(second)) = (self.asked(first), self.asked(second)) else { return Ok(()) };
        let (one, other) = std::thread::scope(|threads| {
            let (here, there) = (&self.services[0], &self.services[1]);
            let one = threads.spawn(|| attempt(here, &first));
            let other = attempt(there, &second);
            (one.join().expect("it does not panic"), other)
        });
        let now_ms = self.now_ms();
        let in_order = |pairs: [(&Asked, &Answer); 2]| {
            let mut model = self.model.clone();
            let told = pairs.into_iter().try_for_each(|(asked, answer)| apply(&mut model, asked, answer, now_ms));
            told.and_then(|()| self.compare_rows(&model)).map(|()| model)
        };
        let forth = in_order([(&first, &one), (&second, &other)]);
        self.model = match forth.or_else(|why| in_order([(&second, &other), (&first, &one)]).map_err(|_| why)) {
            Ok(model) => model,
            Err(why) => return Err(format!("{first:?} and {second:?} at once: {why}; {one:?}, {other:?}")),
        };
        Ok(())
    }
}

/// One process asks.
pub(super) fn attempt(service: &Arc<Service>, asked: &Asked) -> Answer {
    let call = |operation: &str, request: Value| {
        let answer = service.call(&caller(), operation, request);
        answer.map_err(|error| format!("{}: {}", error.code.as_str(), error.message))
    };
    match asked {
        Asked::Add { text, tag, expires_ms } => {
            let expires_at = expires_ms.map(|at| Timestamp(at).to_string());
            call("add_memory", json!({"context": text, "tags": [tag], "expires_at": expires_at}))
        }
        Asked::AddAgain { text } => call("add_memory", json!({ "context": text })),
        Asked::Update { id, expected, text } => {
            call("update_memory", json!({"memory_id": id, "context": text, "expected_version": expected}))
        }
        Asked::Delete { id } => call("delete_memory", json!({ "memory_id": id })),
        Asked::UndoRun { run } => call("gc_undo", json!({ "run_id": run })),
        Asked::UndoMemory { id } => call("gc_undo", json!({ "memory_id": id })),
        Asked::Erase { tag, plan, .. } => {
            if plan.get().is_none() {
                let planned = call("forget", json!({"tags": [tag], "purge": true}))?;
                plan.get_or_init(|| text_of(&planned["plan_id"]));
            }
            call("gc_apply", json!({"plan_id": plan.get(), "allow_large": true, "confirm": true}))
        }
        Asked::PurgeRun { run } => call("gc_purge", json!({"run_id": run, "confirm": true})),
        Asked::Prune { plan, .. } => {
            if plan.get().is_none() {
                let planned = call("gc_plan", json!({"strategies": ["expired"]}))?;
                if planned["totals"]["memories"] == 0 {
                    return Ok(json!({}));
                }
                plan.get_or_init(|| text_of(&planned["plan_id"]));
            }
            call("gc_apply", json!({"plan_id": plan.get(), "allow_large": true}))
        }
        Asked::Housekeep => {
            let done = service.housekeep(Housekeeper::Writer);
            let done = done.map_err(|error| error.message.clone())?;
            Ok(json!({"purged": done.map(|done| done.memories_purged)}))
        }
        Asked::Tick => {
            let tick = Scheduler::new(service.clone()).tick();
            match tick.map_err(|error| error.message.clone())? {
                // The reasons of what failed are only in the log.
                Tick::Ran(round) if round.failed > 0 => Err("failpoint within a round".to_owned()),
                Tick::Ran(round) => Ok(json!({"trashed": round.trashed})),
                Tick::Waiting(_) => Ok(json!({"waiting": true})),
                other => Ok(json!({"other": format!("{other:?}")})),
            }
        }
        Asked::Backup => call("backup_create", json!({})),
        Asked::Restore { id, .. } => call("backup_restore", json!({"backup_id": id, "confirm": true})),
        Asked::Get { id } => call("get_memory", json!({ "memory_id": id })),
        Asked::List => {
            let live = call("list_memories", json!({"limit": 1}))?["total"].clone();
            let trash = call("list_trash", json!({"limit": 1}))?["total"].clone();
            Ok(json!({"live": live, "trash": trash}))
        }
    }
}

/// The steps of one short transaction.
fn apply(model: &mut Model, asked: &Asked, answer: &Answer, now_ms: i64) -> Outcome {
    match asked {
        Asked::Add { text, tag, expires_ms } => {
            let added = need(answer)?;
            expect("created", &added["created"], &json!(true))?;
            model.add(&text_of(&added["memory_id"]), tag, text, *expires_ms, now_ms);
        }
        Asked::AddAgain { text } => match model.again(text) {
            Again::Refused => refused(answer, "conflict")?,
            Again::New => {
                let added = need(answer)?;
                expect("created", &added["created"], &json!(true))?;
                model.add(&text_of(&added["memory_id"]), "", text, None, now_ms);
            }
            Again::Existing(id) => {
                let found = need(answer)?;
                expect("memory_id", &found["memory_id"], &json!(id))?;
                expect("restored", &found["restored"], &json!(false))?;
            }
            Again::Restored(id) => {
                let found = need(answer)?;
                expect("memory_id", &found["memory_id"], &json!(id))?;
                expect("restored", &found["restored"], &json!(true))?;
                model.restore_by_adding(&id, now_ms);
            }
        },
        Asked::Update { id, expected, text } => match model.update(id, *expected, text, now_ms) {
            Some(version) => expect("version", &need(answer)?["version"], &json!(version))?,
            None => refused(answer, "")?,
        },
        Asked::Delete { id } => match model.heap.memories[id].state {
            State::Live => {
                let run = text_of(&need(answer)?["run_id"]);
                model.trash(std::slice::from_ref(id), &run, false, now_ms);
            }
            _ => refused(answer, "not_found")?,
        },
        Asked::UndoRun { run } => {
            let ids = model.trash_of(run);
            let is_undone = model.heap.runs.get(run).is_some_and(|run| run.is_undone);
            if is_undone {
                return Ok(());
            }
            if !ids.is_empty() {
                let undone = need(answer)?.clone();
                let restored = model.undo(&ids);
                if let Some(answered) = undone.get("restored") {
                    expect("restored", &answered["memories"], &json!(restored))?;
                }
            }
            if let Some(run) = model.heap.runs.get_mut(run).filter(|_| answer.is_ok()) {
                run.is_undone = true;
            }
        }
        Asked::UndoMemory { id } => match model.heap.memories[id].state {
            State::Trash { .. } => {
                let undone = need(answer)?["restored"]["memories"].clone();
                expect("restored", &undone, &json!(model.undo(std::slice::from_ref(id))))?;
            }
            _ => refused(answer, "")?,
        },
        Asked::Get { id } => {
            let memory = model.heap.memories.get_mut(id).expect("it was chosen from these");
            match memory.state {
                State::Live => {
                    let read = need(answer)?;
                    expect("context", &read["context"], &json!(memory.text))?;
                    expect("version", &read["version"], &json!(memory.version))?;
                    memory.used_ms = memory.used_ms.max(Some(now_ms));
                }
                _ => refused(answer, "not_found")?,
            }
        }
        other => unreachable!("{other:?} is no short transaction"),
    }
    Ok(())
}

fn need(answer: &Answer) -> Result<&Value, String> {
    answer.as_ref().map_err(|error| format!("it should have been done, but: {error}"))
}

fn refused(answer: &Answer, code: &str) -> Outcome {
    match answer {
        Err(error) if error.starts_with(code) => Ok(()),
        other => Err(format!("it should have been refused with `{code}`, but: {other:?}")),
    }
}

fn expect(what: &str, found: &Value, wanted: &Value) -> Outcome {
    if found == wanted { Ok(()) } else { Err(format!("{what} is {found}, not {wanted}")) }
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
