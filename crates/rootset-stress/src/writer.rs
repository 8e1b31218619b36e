//! The writing process: opens the database, changes its own memories in a seeded order, says what it does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::Instant;

use clap::{Args, ValueEnum};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rootset_service::{Caller, FrontEnd, Service, ServiceError, Settings};
use rootset_store::{Location, Store};
use serde_json::{Value, json};

use crate::error::StressError;
use crate::protocol::{Change, Line, Outcome, say};
use crate::slow_extractor::SlowExtractor;
use crate::texts;
use crate::verify::list_all;

/// A writer with a slow extractor answers `pending` after this, which is about half of the time.
const ADD_WAIT_MS: u64 = 3;
/// Memories a writer likes to have: below it rather adds, above it rather deletes. Few, because every round reads all.
const LIVE_WANTED: usize = 24;
/// With more in the trash it purges instead of deleting.
const TRASHED_WANTED: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mix {
    Adds,
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExtractorKind {
    Builtin,
    /// Remote-like: memories are pending for some milliseconds.
    Slow,
}

/// Mistakes the harness has to notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlantedBug {
    /// Acknowledges before it calls the operation.
    AckEarly,
}

#[derive(Clone, Debug, Args)]
pub struct WriterArguments {
    #[arg(long, value_parser = Location::parse)]
    pub database: Location,
    #[arg(long)]
    pub seed: u64,
    /// Which of the writers of a round this is: it changes nobody else's memories.
    #[arg(long)]
    pub writer: usize,
    /// Makes names and texts of different rounds different.
    #[arg(long)]
    pub round: u64,
    #[arg(long, value_enum)]
    pub mix: Mix,
    #[arg(long, value_enum)]
    pub extractor: ExtractorKind,
    /// Ends after so many operations instead of waiting to be stopped.
    #[arg(long)]
    pub operations_max: Option<u64>,
    #[arg(long, value_enum)]
    pub planted_bug: Option<PlantedBug>,
}

/// The whole life of the process. An error of an operation is printed, not returned.
pub fn run(arguments: &WriterArguments) -> Result<(), StressError> {
    let orders = Orders::listen();
    say(&Line::Started)?;
    if !orders.wait() {
        return Ok(say(&Line::Stopped)?);
    }
    let line = match Writer::open(arguments) {
        Err(error) => failed(&error),
        Ok(mut writer) => {
            say(&Line::Ready)?;
            if orders.wait() { work(&mut writer, arguments, &orders)? } else { Line::Stopped }
        }
    };
    Ok(say(&line)?)
}

fn work(writer: &mut Writer, arguments: &WriterArguments, orders: &Orders) -> Result<Line, StressError> {
    let mut done = 0;
    while !orders.is_stopped() && arguments.operations_max.is_none_or(|max| done < max) {
        let operation = writer.next_change(arguments.mix);
        say(&Line::Begin { operation: operation.clone() })?;
        if arguments.planted_bug == Some(PlantedBug::AckEarly) {
            say(&Line::Done { operation: operation.clone(), outcome: Outcome::default() })?;
        }
        match writer.perform(&operation) {
            Ok(_) if arguments.planted_bug.is_some() => {}
            Ok(outcome) => say(&Line::Done { operation, outcome })?,
            Err(error) => return Ok(failed(&error)),
        }
        done += 1;
    }
    Ok(writer.service.finish().map_or_else(|error| failed(&error), |()| Line::Stopped))
}

fn failed(error: &ServiceError) -> Line {
    Line::Failed { code: error.code.as_str().to_owned(), message: error.message.clone() }
}

/// What the parent wants: a line lets the writer go on, the end of the stream stops it, also when the parent died.
struct Orders {
    lines: Receiver<()>,
    is_stopped: Arc<AtomicBool>,
}

impl Orders {
    fn listen() -> Self {
        let is_stopped = Arc::new(AtomicBool::new(false));
        let (sender, lines) = mpsc::channel();
        let stop = Arc::clone(&is_stopped);
        std::thread::spawn(move || {
            for line in std::io::stdin().lines() {
                if line.is_err() || sender.send(()).is_err() {
                    break;
                }
            }
            stop.store(true, Ordering::Relaxed);
        });
        Self { lines, is_stopped }
    }

    /// `false` when there is nothing more to come.
    fn wait(&self) -> bool {
        self.lines.recv().is_ok()
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}

/// A memory in the trash, and the run that put it there.
struct Trashed {
    name: String,
    run_id: String,
}

struct Writer {
    service: Arc<Service>,
    caller: Caller,
    random: StdRng,
    /// Names of living memories of this writer.
    live: Vec<String>,
    trashed: Vec<Trashed>,
    /// Prefix of the next text: round and writer, then a count.
    tag: String,
    texts: u64,
}

impl Writer {
    fn open(arguments: &WriterArguments) -> Result<Self, ServiceError> {
        let store = Store::open(&arguments.database, None)?;
        let settings = Settings { add_wait_ms: ADD_WAIT_MS, ..Settings::default() };
        let mut service = Service::new(store, settings)?;
        if arguments.extractor == ExtractorKind::Slow {
            service = service.with_extractor(Arc::new(SlowExtractor::Overloaded));
        }
        let (round, number) = (arguments.round, arguments.writer);
        let actor = format!("writer-{number}");
        let caller = Caller::new(FrontEnd::CommandLine, actor, "home");
        let mut writer = Self {
            service: Arc::new(service),
            caller,
            random: StdRng::seed_from_u64(arguments.seed),
            live: Vec::new(),
            trashed: Vec::new(),
            tag: format!("w{number}-r{round}"),
            texts: 0,
        };
        if arguments.mix == Mix::All {
            writer.find_own_memories()?;
        }
        Ok(writer)
    }

    /// What earlier rounds left behind.
    fn find_own_memories(&mut self) -> Result<(), ServiceError> {
        let name_of = |item: &Value| item["name"].as_str().unwrap_or_default().to_owned();
        let prefix = self.tag.split_once('-').map_or_else(String::new, |(writer, _)| format!("{writer}-"));
        let live =
            list_all(&self.service, &self.caller, "list_memories", "memories", json!({"order_by": "created_at"}))?;
        self.live = live.iter().map(name_of).filter(|name| name.starts_with(&prefix)).collect();
        let trash = list_all(&self.service, &self.caller, "list_trash", "items", json!({}))?;
        for item in trash.iter().filter(|item| item["kind"] == "memory" && name_of(item).starts_with(&prefix)) {
            let run_id = item["run_id"].as_str().unwrap_or_default().to_owned();
            self.trashed.push(Trashed { name: name_of(item), run_id });
        }
        // In an order that a seed repeats: lists are in the order of times.
        self.live.sort();
        self.trashed.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(())
    }

    fn next_change(&mut self, mix: Mix) -> Change {
        let roll = self.random.random_range(0..100);
        let is_full = self.live.len() > LIVE_WANTED;
        let [adds, updates, deletes, undoes] = if is_full { [8, 38, 73, 85] } else { [35, 60, 75, 88] };
        if mix == Mix::Adds || roll < adds || self.live.is_empty() {
            let text = self.next_text();
            return Change::Add { name: format!("{}-n{}", self.tag, self.texts), text };
        }
        let name = self.pick_live();
        if roll < updates {
            return Change::Update { name, text: self.next_text() };
        }
        let has_room = self.trashed.len() < TRASHED_WANTED;
        if (roll < deletes && has_room) || self.trashed.is_empty() {
            return Change::Delete { name };
        }
        let name = self.trashed[self.random.random_range(0..self.trashed.len())].name.clone();
        if (deletes..undoes).contains(&roll) { Change::Undo { name } } else { Change::Purge { name } }
    }

    fn next_text(&mut self) -> String {
        self.texts += 1;
        texts::note(&mut self.random, &format!("{}-n{}", self.tag, self.texts))
    }

    fn pick_live(&mut self) -> String {
        self.live[self.random.random_range(0..self.live.len())].clone()
    }

    fn perform(&mut self, change: &Change) -> Result<Outcome, ServiceError> {
        let start = Instant::now();
        let mut outcome = match change {
            Change::Add { name, text } => self.add(name, text)?,
            Change::Update { name, text } => self.update(name, text)?,
            Change::Delete { name } => self.delete(name)?,
            Change::Undo { name } => self.undo(name)?,
            Change::Purge { name } => self.purge(name)?,
        };
        outcome.micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        Ok(outcome)
    }

    fn call(&self, name: &str, arguments: Value) -> Result<Value, ServiceError> {
        self.service.call(&self.caller, name, arguments)
    }

    fn add(&mut self, name: &str, text: &str) -> Result<Outcome, ServiceError> {
        let answer = self.call("add_memory", json!({"name": name, "topic": name, "context": text}))?;
        self.live.push(name.to_owned());
        Ok(Outcome {
            memory_id: answer["memory_id"].as_str().map(str::to_owned),
            version: answer["version"].as_i64(),
            is_pending: answer["status"] == "pending",
            micros: 0,
        })
    }

    fn update(&mut self, name: &str, text: &str) -> Result<Outcome, ServiceError> {
        let answer = self.call("update_memory", json!({"memory_id": name, "context": text}))?;
        Ok(Outcome {
            memory_id: answer["memory_id"].as_str().map(str::to_owned),
            version: answer["version"].as_i64(),
            is_pending: answer["reextracted"] == false,
            micros: 0,
        })
    }

    fn delete(&mut self, name: &str) -> Result<Outcome, ServiceError> {
        let answer = self.call("delete_memory", json!({"memory_id": name}))?;
        let run_id = answer["run_id"].as_str().unwrap_or_default().to_owned();
        self.live.retain(|it| it != name);
        self.trashed.push(Trashed { name: name.to_owned(), run_id });
        Ok(Outcome::default())
    }

    /// By run or by name, which are different ways through the store.
    fn undo(&mut self, name: &str) -> Result<Outcome, ServiceError> {
        let run_id = self.take_trashed(name);
        let arguments =
            if self.random.random_bool(0.5) { json!({"run_id": run_id}) } else { json!({"memory_id": name}) };
        let answer = self.call("gc_undo", arguments)?;
        if answer["restored"]["memories"] != 1 {
            return Err(ServiceError::conflict(format!("undoing `{name}` answered {answer}")));
        }
        self.live.push(name.to_owned());
        Ok(Outcome::default())
    }

    fn purge(&mut self, name: &str) -> Result<Outcome, ServiceError> {
        let run_id = self.take_trashed(name);
        let answer = self.call("gc_purge", json!({"run_id": run_id, "confirm": true}))?;
        if answer["purged"]["memories"] != 1 {
            return Err(ServiceError::conflict(format!("purging `{name}` answered {answer}")));
        }
        Ok(Outcome::default())
    }

    fn take_trashed(&mut self, name: &str) -> String {
        let position = self.trashed.iter().position(|it| it.name == name).expect("picked from this very list");
        self.trashed.swap_remove(position).run_id
    }
}
