//! Processes that open a path which does not exist yet, all at once, and one that dies while it creates the file.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rootset_store::Location;
use rootset_testing::{TestDatabase, TestEngine};

use crate::error::{Failed, StressError};
use crate::model::{Model, Violation};
use crate::process::{KillAt, Observed, WriterProcess};
use crate::run_length::RunLength;
use crate::verify::{Verifier, file_violations};
use crate::writer::{ExtractorKind, Mix, WriterArguments};

/// Adds of each process: enough to see that it works.
const OPERATIONS: u64 = 2;
/// About twice the time that creating the file takes, so that kills fall into every part of it.
const KILL_MICROS_MAX: u64 = 30_000;

/// Whether a process dies on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    Nobody,
    /// The first process is killed at a random moment after it was let go.
    First,
}

#[derive(Clone, Debug)]
pub struct CreationSettings {
    pub program: PathBuf,
    /// Where a database per round is made.
    pub engine: TestEngine,
    pub processes: usize,
    pub length: RunLength,
    pub victim: Victim,
    pub seed: u64,
}

#[derive(Clone, Debug, Default)]
pub struct CreationReport {
    pub rounds: u64,
    pub processes: usize,
    /// Victims that died before the database was open.
    pub killed_during_open: u64,
    pub elapsed: Duration,
}

impl fmt::Display for CreationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rounds, processes, killed_during_open, elapsed } = self;
        let seconds = elapsed.as_secs_f64();
        write!(f, "{rounds} databases created by {processes} processes at once, ")?;
        write!(f, "{killed_during_open} times one died before it was open, {seconds:.1} s")
    }
}

pub fn run(settings: &CreationSettings) -> Result<CreationReport, Failed> {
    let start = Instant::now();
    let mut report = CreationReport { processes: settings.processes, ..CreationReport::default() };
    for round in settings.length.numbers() {
        create_once(settings, round, &mut report).map_err(Failed::at(settings.seed, round))?;
        report.rounds += 1;
    }
    report.elapsed = start.elapsed();
    Ok(report)
}

fn create_once(settings: &CreationSettings, round: u64, report: &mut CreationReport) -> Result<(), StressError> {
    let mut random = StdRng::seed_from_u64(settings.seed ^ round.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let database = TestDatabase::empty_on(settings.engine);
    let mut writers = Vec::new();
    for writer in 0..settings.processes {
        let arguments = WriterArguments {
            database: database.location().clone(),
            seed: random.random(),
            writer,
            round,
            mix: Mix::Adds,
            extractor: ExtractorKind::Builtin,
            operations_max: Some(OPERATIONS),
            planted_bug: None,
        };
        writers.push(WriterProcess::spawn(&settings.program, &arguments, None)?);
    }
    for process in &mut writers {
        process.wait_for_start()?;
    }
    for process in &mut writers {
        process.let_go();
        process.let_go();
    }
    let mut observed = Vec::new();
    if settings.victim == Victim::First {
        let killed = writers.remove(0).kill_at(KillAt::Start { micros: random.random_range(0..KILL_MICROS_MAX) })?;
        report.killed_during_open += u64::from(!killed.is_ready);
        observed.push(killed);
    }
    for process in writers {
        let ended = process.end()?;
        ended.refuse_failure()?;
        if !ended.has_stopped {
            return Err(StressError::WriterEnded { writer: ended.writer, awaited: "stopped" });
        }
        observed.push(ended);
    }
    verify(database.location(), &observed)
}

fn verify(database: &Location, observed: &[Observed]) -> Result<(), StressError> {
    let mut model = Model::default();
    for (change, outcome) in observed.iter().flat_map(|it| &it.acknowledged) {
        model.acknowledge(change, outcome).map_err(|violation| StressError::Violated(vec![violation]))?;
    }
    let in_flight: Vec<_> = observed.iter().filter_map(|it| it.in_flight.clone()).collect();
    let verifier = Verifier::open(database)?;
    model.compare(&in_flight, &verifier.snapshot()?).map_err(StressError::Violated)?;
    let mut violations = verifier.doctor()?;
    violations.extend(file_violations(database)?);
    let workspaces = verifier.workspaces()?;
    if workspaces != 1 {
        let (wanted, found) = ("1".into(), workspaces.to_string());
        violations.push(Violation::File { what: "the number of workspaces", wanted, found });
    }
    if violations.is_empty() { Ok(()) } else { Err(StressError::Violated(violations)) }
}
