//! Rounds of writers that are killed, on a database that outlives them.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rootset_store::Location;

use crate::error::{Failed, StressError};
use crate::model::{Lifecycle, Model, Violation};
use crate::process::{KillAt, Observed, WriterProcess};
use crate::protocol::Change;
use crate::run_length::RunLength;
use crate::verify::{Verifier, complete_pending, file_violations};
use crate::writer::{ExtractorKind, Mix, PlantedBug, WriterArguments};

/// Writers at work at the same time.
const WRITERS_MAX: usize = 3;
/// Acknowledgements after which a writer may be killed: enough to hit every kind of operation, few enough for many kills.
const ACKNOWLEDGEMENTS_MAX: usize = 12;
/// About the time of two operations, so that kills fall into every part of one.
const DELAY_MICROS_MAX: u64 = 6_000;
/// About the time a process takes to open the database.
const START_MICROS_MAX: u64 = 30_000;
/// Rounds between two completions of what is pending: memories stay pending over several kills.
const COMPLETE_EVERY_ROUNDS: u64 = 4;

/// Where kills fall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    Random,
    /// At once when the parent reads the first acknowledgement of the round.
    FirstAcknowledgement,
}

#[derive(Clone, Debug)]
pub struct KillSettings {
    /// The binary of this crate.
    pub program: PathBuf,
    pub database: Location,
    pub length: RunLength,
    pub seed: u64,
    pub extractor: ExtractorKind,
    pub placement: Placement,
    pub planted_bug: Option<PlantedBug>,
}

#[derive(Clone, Debug, Default)]
pub struct KillReport {
    pub rounds: u64,
    pub kills: u64,
    /// Kills that came before the database was open.
    pub during_open: u64,
    /// Acknowledged changes by kind.
    pub acknowledged: BTreeMap<&'static str, u64>,
    /// Changes that were under way when the kill came, by kind.
    pub in_flight: BTreeMap<&'static str, u64>,
    /// How many of those had happened.
    pub happened: u64,
    /// Memories seen pending after a kill.
    pub pending: u64,
    /// Completions by somebody else.
    pub completed: u64,
    /// Memories at the end.
    pub memories: usize,
    pub elapsed: Duration,
}

impl fmt::Display for KillReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = |counts: &BTreeMap<&str, u64>| counts.values().sum::<u64>();
        writeln!(
            f,
            "{} rounds, {} kills ({} before the database was open)",
            self.rounds, self.kills, self.during_open
        )?;
        writeln!(f, "{} changes acknowledged, none lost: {:?}", sum(&self.acknowledged), self.acknowledged)?;
        let (in_flight, happened) = (sum(&self.in_flight), self.happened);
        writeln!(f, "{in_flight} changes in flight, of which {happened} had happened: {:?}", self.in_flight)?;
        writeln!(f, "{} times pending after a kill, {} completed by another process", self.pending, self.completed)?;
        write!(f, "{} memories at the end, {:.1} s", self.memories, self.elapsed.as_secs_f64())
    }
}

/// Runs all rounds; ends with the first violation.
pub fn run(settings: &KillSettings) -> Result<KillReport, Failed> {
    let start = Instant::now();
    let mut report = KillReport::default();
    let mut model = Model::default();
    for round in settings.length.numbers() {
        run_round(settings, round, &mut model, &mut report).map_err(Failed::at(settings.seed, round))?;
        report.rounds += 1;
    }
    complete(settings, &mut model, &mut report).map_err(Failed::at(settings.seed, report.rounds))?;
    report.memories = model.len();
    report.elapsed = start.elapsed();
    Ok(report)
}

fn run_round(
    settings: &KillSettings,
    round: u64,
    model: &mut Model,
    report: &mut KillReport,
) -> Result<(), StressError> {
    // Every round draws from its own stream, so that one can be looked at without the others' timing.
    let mut random = StdRng::seed_from_u64(settings.seed ^ round.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let killed = kill_writers(settings, round, &mut random)?;
    let in_flight = take_over(&killed, model, report)?;
    let pending = verify(&settings.database, model, &in_flight, report)?;
    match settings.extractor {
        // Nothing is ever pending where all is one transaction.
        ExtractorKind::Builtin => refuse_pending(pending),
        ExtractorKind::Slow if round.is_multiple_of(COMPLETE_EVERY_ROUNDS) => {
            report.pending += pending.len() as u64;
            complete(settings, model, report)
        }
        ExtractorKind::Slow => {
            report.pending += pending.len() as u64;
            Ok(())
        }
    }
}

/// What is pending is completed by somebody else, and then nothing is.
fn complete(settings: &KillSettings, model: &mut Model, report: &mut KillReport) -> Result<(), StressError> {
    report.completed += complete_pending(&settings.database)? as u64;
    refuse_pending(verify(&settings.database, model, &[], report)?)
}

fn kill_writers(settings: &KillSettings, round: u64, random: &mut StdRng) -> Result<Vec<Observed>, StressError> {
    let count = match settings.placement {
        Placement::Random => random.random_range(1..=WRITERS_MAX),
        Placement::FirstAcknowledgement => 1,
    };
    let mut writers = Vec::new();
    for writer in 0..count {
        let arguments = WriterArguments {
            database: settings.database.clone(),
            seed: random.random(),
            writer,
            round,
            mix: Mix::All,
            extractor: settings.extractor,
            operations_max: None,
            planted_bug: settings.planted_bug,
        };
        let process = WriterProcess::spawn(&settings.program, &arguments, None)?;
        writers.push((process, kill_moment(settings.placement, random)));
    }
    for (process, _) in &mut writers {
        process.wait_for_start()?;
        // Both points at once: nothing here depends on who is first.
        process.let_go();
        process.let_go();
    }
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            writers.into_iter().map(|(process, moment)| scope.spawn(move || process.kill_at(moment))).collect();
        threads.into_iter().map(|thread| thread.join().expect("listening does not panic")).collect()
    })
}

fn kill_moment(placement: Placement, random: &mut StdRng) -> KillAt {
    match placement {
        Placement::FirstAcknowledgement => KillAt::Acknowledgement { number: 1, micros: 0 },
        Placement::Random if random.random_bool(0.15) => {
            KillAt::Start { micros: random.random_range(0..START_MICROS_MAX) }
        }
        Placement::Random => KillAt::Acknowledgement {
            number: random.random_range(1..=ACKNOWLEDGEMENTS_MAX),
            micros: random.random_range(0..DELAY_MICROS_MAX),
        },
    }
}

/// Brings the model up to date with what the dead had acknowledged; answers what they had not.
fn take_over(killed: &[Observed], model: &mut Model, report: &mut KillReport) -> Result<Vec<Change>, StressError> {
    let mut in_flight = Vec::new();
    for observed in killed {
        observed.refuse_failure()?;
        report.kills += 1;
        report.during_open += u64::from(!observed.is_ready);
        for (change, outcome) in &observed.acknowledged {
            *report.acknowledged.entry(change.kind()).or_default() += 1;
            model.acknowledge(change, outcome).map_err(|violation| StressError::Violated(vec![violation]))?;
        }
        if let Some(change) = &observed.in_flight {
            *report.in_flight.entry(change.kind()).or_default() += 1;
            in_flight.push(change.clone());
        }
    }
    Ok(in_flight)
}

/// Holds the database against the model; answers the names of living memories that are pending.
fn verify(
    database: &Location,
    model: &mut Model,
    in_flight: &[Change],
    report: &mut KillReport,
) -> Result<Vec<String>, StressError> {
    let verifier = Verifier::open(database)?;
    let found = verifier.snapshot()?;
    report.happened += model.compare(in_flight, &found).map_err(StressError::Violated)? as u64;
    refuse(verifier.doctor()?)?;
    refuse(file_violations(database)?)?;
    let pending = found.into_iter().filter(|(_, it)| it.is_pending && it.lifecycle == Lifecycle::Live);
    Ok(pending.map(|(name, _)| name).collect())
}

fn refuse_pending(pending: Vec<String>) -> Result<(), StressError> {
    refuse(pending.into_iter().map(|name| Violation::StaysPending { name }).collect())
}

fn refuse(violations: Vec<Violation>) -> Result<(), StressError> {
    if violations.is_empty() { Ok(()) } else { Err(StressError::Violated(violations)) }
}
