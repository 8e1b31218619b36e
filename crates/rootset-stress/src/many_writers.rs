//! Many processes that add to one database at the same time.

use std::fmt;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rootset_store::Location;

use crate::error::{Failed, StressError};
use crate::model::{Model, Violation};
use crate::process::{Observed, WriterProcess};
use crate::verify::{Verifier, file_violations};
use crate::writer::{ExtractorKind, Mix, WriterArguments};

/// A process with less than this part of the median starved. Measured with 64 processes for 20 s on two busy cores, the
/// queue of `flock` gives everybody 0.57 to 0.78 of the median; architecture.md has SQLite's own busy handler at one
/// commit against five thousand.
const STARVED_DIVISOR: usize = 4;

#[derive(Clone, Debug)]
pub struct WriterSettings {
    pub program: PathBuf,
    pub database: Location,
    pub processes: usize,
    pub duration: Duration,
    pub seed: u64,
}

#[derive(Clone, Debug)]
pub struct WriterReport {
    /// Commits of each process, ascending.
    pub commits: Vec<usize>,
    /// Of an add as its caller sees it, in milliseconds: median, 99th percentile, slowest.
    pub latency_ms: [f64; 3],
    /// From the first order to work to the end of the last process.
    pub worked: Duration,
    pub verified: Duration,
}

impl WriterReport {
    pub fn total(&self) -> usize {
        self.commits.iter().sum()
    }

    pub fn least(&self) -> usize {
        self.commits.first().copied().unwrap_or_default()
    }

    pub fn median(&self) -> usize {
        self.commits.get(self.commits.len() / 2).copied().unwrap_or_default()
    }

    fn most(&self) -> usize {
        self.commits.last().copied().unwrap_or_default()
    }
}

impl fmt::Display for WriterReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (total, seconds) = (self.total(), self.worked.as_secs_f64());
        writeln!(
            f,
            "{} processes, {total} commits in {seconds:.1} s, {:.0} per second",
            self.commits.len(),
            total as f64 / seconds
        )?;
        writeln!(f, "commits per process: least {}, median {}, most {}", self.least(), self.median(), self.most())?;
        let [median, late, slowest] = self.latency_ms;
        writeln!(f, "an add took {median:.1} ms (median), {late:.1} ms (99 %), {slowest:.1} ms (slowest)")?;
        write!(f, "all of them found again, doctor clean, in {:.1} s", self.verified.as_secs_f64())
    }
}

pub fn run(settings: &WriterSettings) -> Result<WriterReport, Failed> {
    work(settings).map_err(Failed::at(settings.seed, 0))
}

fn work(settings: &WriterSettings) -> Result<WriterReport, StressError> {
    let (alarm, alarms) = mpsc::channel();
    let mut writers = Vec::new();
    for writer in 0..settings.processes {
        let arguments = WriterArguments {
            database: settings.database.clone(),
            seed: settings.seed.wrapping_add(writer as u64),
            writer,
            round: 0,
            mix: Mix::Adds,
            extractor: ExtractorKind::Builtin,
            operations_max: None,
            planted_bug: None,
        };
        let mut process = WriterProcess::spawn(&settings.program, &arguments, Some(alarm.clone()))?;
        process.let_go();
        writers.push(process);
    }
    for process in &mut writers {
        process.wait_for_ready()?;
    }
    let start = Instant::now();
    writers.iter_mut().for_each(WriterProcess::let_go);
    // Either somebody fails, or the time is up.
    let _ = alarms.recv_timeout(settings.duration);
    writers.iter_mut().for_each(WriterProcess::stop);
    let observed = writers.into_iter().map(WriterProcess::end).collect::<Result<Vec<_>, _>>()?;
    let worked = start.elapsed();
    observed.iter().try_for_each(Observed::refuse_failure)?;
    let verifying = Instant::now();
    verify(settings, &observed)?;
    let report = report(&observed, worked, verifying.elapsed());
    if report.least() * STARVED_DIVISOR < report.median() {
        let distribution = format!("{:?}", report.commits);
        return Err(StressError::Starved { least: report.least(), median: report.median(), distribution });
    }
    Ok(report)
}

/// Everything acknowledged is there, nothing else is, and the file is sound.
fn verify(settings: &WriterSettings, observed: &[Observed]) -> Result<(), StressError> {
    let mut model = Model::default();
    for (change, outcome) in observed.iter().flat_map(|it| &it.acknowledged) {
        model.acknowledge(change, outcome).map_err(|violation| StressError::Violated(vec![violation]))?;
    }
    let verifier = Verifier::open(&settings.database)?;
    model.compare(&[], &verifier.snapshot()?).map_err(StressError::Violated)?;
    let mut violations: Vec<Violation> = verifier.doctor()?;
    violations.extend(file_violations(&settings.database)?);
    if violations.is_empty() { Ok(()) } else { Err(StressError::Violated(violations)) }
}

fn report(observed: &[Observed], worked: Duration, verified: Duration) -> WriterReport {
    let mut commits: Vec<usize> = observed.iter().map(|it| it.acknowledged.len()).collect();
    commits.sort_unstable();
    let mut micros: Vec<u64> =
        observed.iter().flat_map(|it| &it.acknowledged).map(|(_, outcome)| outcome.micros).collect();
    micros.sort_unstable();
    let at = |part: f64| {
        let position = (micros.len() as f64 * part) as usize;
        micros.get(position.min(micros.len().saturating_sub(1))).map_or(0.0, |it| *it as f64 / 1_000.0)
    };
    WriterReport { commits, latency_ms: [at(0.5), at(0.99), at(1.0)], worked, verified }
}
