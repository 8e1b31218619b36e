//! What a database should hold: one value per memory and run, and every rule written down as plainly as possible.
//!
//! Written from the documentation of the collector and sharing nothing with it.

use std::collections::{BTreeMap, BTreeSet};

use clap::ValueEnum;

use super::clock::{DAY_MS, HOUR_MS, SeenTime};

pub const GRACE_MS: i64 = 7 * DAY_MS;
pub const MAX_AGE_MS: i64 = 30 * DAY_MS;

/// A rule that is wrong: a run that does not notice it is worth nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mistake {
    /// Trash goes when the wall clock says so.
    GraceByWallAlone,
    /// Memories expire when the wall clock says so.
    AgeByWallAlone,
    /// What somebody removed comes back alive.
    RemovedComesBackAlive,
    /// A change that another process made in between is overwritten.
    UpdatesAreLost,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    Live,
    Trash { run: String },
    Gone,
}

#[derive(Clone, Debug)]
pub struct Memory {
    pub tag: String,
    pub text: String,
    /// Earlier revisions.
    pub former: Vec<String>,
    pub version: i64,
    pub state: State,
    pub ingested_ms: i64,
    pub seen_ms: i64,
    pub is_in_doubt: bool,
    pub expires_ms: Option<i64>,
    /// When it was last read, by whatever the clock said.
    pub used_ms: Option<i64>,
}

impl Memory {
    /// What was used after a plan was made is left alone. A clock that was ahead may have written such a use, until a doubt is
    /// over; or a process may have kept it to itself until it died. Both is right.
    pub fn may_be_kept(&self, now_ms: i64) -> bool {
        self.used_ms.is_some_and(|at| at > now_ms)
    }

    /// The run that put it into the trash.
    fn run(&self) -> Option<&String> {
        match &self.state {
            State::Trash { run } => Some(run),
            State::Live | State::Gone => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// A policy's, not a person's.
    pub is_by_policy: bool,
    pub started_ms: i64,
    pub undo_until_ms: i64,
    pub seen_ms: i64,
    pub is_in_doubt: bool,
    pub is_undone: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Erased,
    Removed,
}

/// What a backup holds.
#[derive(Clone, Debug, Default)]
pub struct Heap {
    pub memories: BTreeMap<String, Memory>,
    pub runs: BTreeMap<String, Run>,
    /// Memories that are gone, with how they went and in which purge.
    pub ledger: BTreeMap<String, (Class, u64)>,
}

#[derive(Clone, Debug)]
pub struct Saved {
    pub id: String,
    pub path: String,
    heap: Heap,
}

#[derive(Clone, Debug, Default)]
pub struct Model {
    pub heap: Heap,
    /// Texts that only come back when somebody insists.
    pub removed_texts: BTreeSet<String>,
    pub seen: SeenTime,
    pub housekept_ms: Option<i64>,
    pub round_ms: Option<i64>,
    pub backups: Vec<Saved>,
    purges: u64,
    mistake: Option<Mistake>,
}

/// What becomes of a text that was there before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Again {
    New,
    Existing(String),
    Restored(String),
    Refused,
}

impl Model {
    pub fn new(mistake: Option<Mistake>) -> Self {
        Self { mistake, ..Self::default() }
    }

    fn has(&self, mistake: Mistake) -> bool {
        self.mistake == Some(mistake)
    }

    pub fn in_state(&self, is_wanted: impl Fn(&State) -> bool) -> Vec<&String> {
        self.heap.memories.iter().filter(|(_, memory)| is_wanted(&memory.state)).map(|(id, _)| id).collect()
    }

    pub fn trash_of(&self, run: &str) -> Vec<String> {
        let of_run = |state: &State| matches!(state, State::Trash { run: of } if of == run);
        self.in_state(of_run).into_iter().cloned().collect()
    }

    pub fn runs_with_trash(&self) -> BTreeSet<&String> {
        self.heap.memories.values().filter_map(Memory::run).collect()
    }

    pub fn add(&mut self, id: &str, tag: &str, text: &str, expires_ms: Option<i64>, now_ms: i64) {
        let memory = Memory {
            tag: tag.to_owned(),
            text: text.to_owned(),
            former: Vec::new(),
            version: 1,
            state: State::Live,
            ingested_ms: now_ms,
            seen_ms: self.seen.seen_ms,
            is_in_doubt: self.seen.is_in_doubt(),
            expires_ms,
            used_ms: None,
        };
        self.heap.memories.insert(id.to_owned(), memory);
    }

    pub fn again(&self, text: &str) -> Again {
        let with_text =
            |wanted: fn(&State) -> bool| self.heap.memories.iter().find(|(_, it)| it.text == text && wanted(&it.state));
        if let Some((id, _)) = with_text(|state| *state == State::Live) {
            return Again::Existing(id.clone());
        }
        if let Some((id, memory)) = with_text(|state| matches!(state, State::Trash { .. })) {
            let State::Trash { run } = &memory.state else { return Again::Refused };
            let is_by_policy = self.heap.runs.get(run).is_some_and(|run| run.is_by_policy);
            return if is_by_policy { Again::Restored(id.clone()) } else { Again::Refused };
        }
        if self.removed_texts.contains(text) { Again::Refused } else { Again::New }
    }

    /// A policy's trash comes back when somebody says the same again; a date that has passed is forgotten.
    pub fn restore_by_adding(&mut self, id: &str, now_ms: i64) {
        let Some(memory) = self.heap.memories.get_mut(id) else { return };
        memory.state = State::Live;
        if memory.expires_ms.is_some_and(|at| at <= now_ms) {
            memory.expires_ms = None;
            memory.version += 1;
        }
    }

    /// The new version; `None` where the update must be refused.
    pub fn update(&mut self, id: &str, expected: Option<i64>, text: &str, now_ms: i64) -> Option<i64> {
        let (seen_ms, is_in_doubt) = (self.seen.seen_ms, self.seen.is_in_doubt());
        let is_careless = self.has(Mistake::UpdatesAreLost);
        let memory = self.heap.memories.get_mut(id).filter(|memory| memory.state == State::Live)?;
        if expected.is_some_and(|expected| expected != memory.version) && !is_careless {
            return None;
        }
        memory.former.push(std::mem::replace(&mut memory.text, text.to_owned()));
        memory.version += 1;
        (memory.ingested_ms, memory.seen_ms, memory.is_in_doubt) = (now_ms, seen_ms, is_in_doubt);
        Some(memory.version)
    }

    pub fn trash(&mut self, ids: &[String], run: &str, is_by_policy: bool, now_ms: i64) {
        let started = Run {
            is_by_policy,
            started_ms: now_ms,
            undo_until_ms: now_ms + GRACE_MS,
            seen_ms: self.seen.seen_ms,
            is_in_doubt: self.seen.is_in_doubt(),
            is_undone: false,
        };
        self.heap.runs.insert(run.to_owned(), started);
        for id in ids {
            if let Some(memory) = self.heap.memories.get_mut(id) {
                memory.state = State::Trash { run: run.to_owned() };
            }
        }
    }

    /// Whether a living memory has the text by now.
    pub fn is_taken(&self, id: &str) -> bool {
        let Some(memory) = self.heap.memories.get(id) else { return false };
        self.heap.memories.values().any(|other| other.state == State::Live && other.text == memory.text)
    }

    /// Those that came back.
    pub fn undo(&mut self, ids: &[String]) -> i64 {
        let free: Vec<&String> = ids.iter().filter(|id| !self.is_taken(id)).collect();
        let count = free.len() as i64;
        for id in free {
            self.heap.memories.get_mut(id).expect("it was found").state = State::Live;
        }
        count
    }

    /// Whatever housekeeping or a person removes for good.
    pub fn purge(&mut self, ids: &[String], is_by_policy: bool, class: Option<Class>) {
        self.purges += 1;
        for id in ids {
            let Some(memory) = self.heap.memories.get_mut(id) else { continue };
            memory.state = State::Gone;
            if let Some(class) = class {
                self.heap.ledger.insert(id.clone(), (class, self.purges));
                if !is_by_policy {
                    self.removed_texts.insert(memory.text.clone());
                    self.removed_texts.extend(memory.former.iter().cloned());
                }
            }
        }
    }

    pub fn purge_run(&mut self, run: &str) {
        let ids = self.trash_of(run);
        let is_by_policy = self.heap.runs.get(run).is_some_and(|run| run.is_by_policy);
        self.purge(&ids, is_by_policy, Some(Class::Erased));
    }

    pub fn expired(&self, now_ms: i64) -> Vec<String> {
        let is_expired = |memory: &Memory| {
            let is_known = !memory.is_in_doubt && (0..=now_ms).contains(&memory.ingested_ms);
            let has_been_seen = self.seen.seen_ms - memory.seen_ms >= MAX_AGE_MS.min(DAY_MS);
            let is_old = is_known
                && now_ms - memory.ingested_ms > MAX_AGE_MS
                && (has_been_seen || self.has(Mistake::AgeByWallAlone));
            memory.state == State::Live && (is_old || memory.expires_ms.is_some_and(|at| at <= now_ms))
        };
        self.heap.memories.iter().filter(|(_, memory)| is_expired(memory)).map(|(id, _)| id.clone()).collect()
    }

    /// Whether the limits refuse a plan that nobody has looked at.
    pub fn is_blocked(&self, expired: usize) -> bool {
        let live = self.in_state(|state| *state == State::Live).len();
        expired > 5 && expired as f64 / live as f64 > 0.2
    }

    /// After a doubt: what was written meanwhile gets a time.
    pub fn restamp(&mut self, now_ms: i64) {
        if self.seen.doubt_ends_ms.is_none() || self.seen.is_in_doubt() {
            return;
        }
        self.restamp_rows(now_ms);
        self.seen.doubt_ends_ms = None;
    }

    fn restamp_rows(&mut self, now_ms: i64) {
        let seen_ms = self.seen.seen_ms;
        for memory in self.heap.memories.values_mut().filter(|memory| memory.is_in_doubt) {
            memory.ingested_ms = now_ms - (seen_ms - memory.seen_ms);
            memory.is_in_doubt = false;
        }
        for memory in self.heap.memories.values_mut() {
            memory.used_ms = memory.used_ms.map(|at| at.min(now_ms));
        }
        for run in self.heap.runs.values_mut().filter(|run| run.is_in_doubt) {
            let started_ms = now_ms - (seen_ms - run.seen_ms);
            (run.undo_until_ms, run.started_ms) = (run.undo_until_ms - run.started_ms + started_ms, started_ms);
            run.is_in_doubt = false;
        }
    }

    pub fn is_housekeeping_due(&self, now_ms: i64) -> bool {
        self.housekept_ms.is_none_or(|at| (now_ms - at).abs() >= DAY_MS)
    }

    pub fn is_round_due(&self, now_ms: i64, interval_ms: i64) -> bool {
        self.round_ms.is_none_or(|at| at - now_ms > HOUR_MS || at + interval_ms <= now_ms)
    }

    /// How many memories are purged.
    pub fn housekeep(&mut self, now_ms: i64, is_waiting: bool) -> u64 {
        self.housekept_ms = Some(now_ms);
        if is_waiting {
            return 0;
        }
        self.restamp(now_ms);
        let is_over = |run: &Run| {
            let by_wall = now_ms - run.started_ms >= GRACE_MS && now_ms >= run.undo_until_ms;
            let grace_ms = GRACE_MS.max(run.undo_until_ms - run.started_ms);
            let by_seen = !run.is_in_doubt && self.seen.seen_ms - run.seen_ms >= grace_ms;
            by_wall && (by_seen || self.has(Mistake::GraceByWallAlone))
        };
        let with_trash =
            self.runs_with_trash().into_iter().filter_map(|id| Some((id.clone(), *self.heap.runs.get(id)?)));
        let over: Vec<(String, Run)> = with_trash.filter(|(_, run)| is_over(run)).collect();
        let mut purged = 0;
        for (id, run) in over {
            let ids = self.trash_of(&id);
            purged += ids.len() as u64;
            self.purge(&ids, run.is_by_policy, (!run.is_by_policy).then_some(Class::Removed));
        }
        purged
    }

    pub fn save(&mut self, id: &str, path: &str) {
        self.backups.push(Saved { id: id.to_owned(), path: path.to_owned(), heap: self.heap.clone() });
    }

    /// The memories that come back into the trash; the caller says by which run.
    pub fn restore(&mut self, backup: usize, now_ms: i64) -> Vec<String> {
        let saved = self.backups[backup].heap.clone();
        let ledger = std::mem::take(&mut self.heap.ledger);
        let since = |id: &String| ledger.get(id).filter(|entry| saved.ledger.get(id) != Some(entry)).map(|it| it.0);
        let mut memories: BTreeMap<String, Memory> = saved.memories.clone();
        // What the backup does not know was never there; but its text must not be found anywhere.
        for (id, memory) in &self.heap.memories {
            memories.entry(id.clone()).or_insert_with(|| Memory { state: State::Gone, ..memory.clone() });
        }
        let mut again = Vec::new();
        for (id, memory) in &mut memories {
            memory.seen_ms = self.seen.seen_ms;
            match since(id).filter(|_| memory.state != State::Gone) {
                Some(Class::Erased) => memory.state = State::Gone,
                Some(Class::Removed) => again.push(id.clone()),
                None => {}
            }
        }
        let mut runs = saved.runs.clone();
        runs.values_mut().for_each(|run| run.seen_ms = self.seen.seen_ms);
        self.heap = Heap { memories, runs, ledger };
        if !self.seen.is_in_doubt() {
            self.restamp_rows(now_ms);
        }
        if self.has(Mistake::RemovedComesBackAlive) { Vec::new() } else { again }
    }
}
