//! Seeded lives: a few processes take turns on one database, at times two of them at once, while clocks jump, processes die
//! and steps fail half way; a naive model lives beside them.
//!
//! Everything comes from one seed: which process does what, when it dies, where a step is struck, what the clock shows. The
//! processes are services of their own in this process, each with a store, a pool and caches of its own; a death is a panic at
//! a failpoint, after which the service is dropped and another one opened. What is struck is asked again and must end as if
//! nothing had happened. Steps go through operations only; the database itself is looked at to compare.
//!
//! At every moment each memory is exactly one of live, in the trash and undoable, or gone without a byte; nothing erased ever
//! comes back; no acknowledged change is lost, and no process sees an old one. A life that fails is shortened to the fewest
//! steps that still fail.
//!
//! What this is not: a test of power loss (nothing is ever lost below a transaction here), and not a test of text.

mod checks;
mod clock;
mod model;
mod processes;
mod shrink;
mod steps;

use std::fmt;
use std::time::Duration;

use rootset_testing::{TestDatabase, TestEngine};
use serde_json::json;

pub use model::Mistake;
use processes::Processes;
pub use steps::Step;

#[derive(Clone, Copy, Debug)]
pub struct LivesSettings {
    pub engine: TestEngine,
    pub lives: u64,
    pub steps: usize,
    pub seed: u64,
    /// A rule that the model gets wrong on purpose: the run has to notice.
    pub mistake: Option<Mistake>,
    /// How long a life that failed may be tried with fewer steps.
    pub shorten_for: Duration,
}

/// What happened, so that a run that did nothing is noticed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub lives: u64,
    pub steps: u64,
    pub deaths: u64,
    pub errors: u64,
    pub jumps: u64,
    pub at_once: u64,
    pub trashed: u64,
    pub purged: u64,
    pub erased: u64,
    pub restores: u64,
    pub doubts: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} lives, {} steps: {} deaths, {} errors, {} jumps of the clock, {} doubts, {} steps at once, {} trashed, \
             {} purged, {} erased, {} restores",
            self.lives,
            self.steps,
            self.deaths,
            self.errors,
            self.jumps,
            self.doubts,
            self.at_once,
            self.trashed,
            self.purged,
            self.erased,
            self.restores
        )
    }
}

/// A life that went wrong, as short as it could be made.
#[derive(Clone, Debug)]
pub struct LifeFailed {
    pub seed: u64,
    /// Lives that ended well before.
    pub lives_before: u64,
    pub step: usize,
    pub cause: String,
    pub script: Vec<Step>,
}

impl fmt::Display for LifeFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "the life of seed {} failed at step {}: {}", self.seed, self.step, self.cause)?;
        writeln!(f, "{} steps show it:", self.script.len())?;
        self.script.iter().try_for_each(|step| writeln!(f, "    Step::{step:?},"))
    }
}

impl std::error::Error for LifeFailed {}

/// What happened in words, and a line that can be added up.
pub fn told(seed: u64, outcome: &Result<Report, LifeFailed>) -> String {
    let (words, cases, failures) = match outcome {
        Ok(report) => (report.to_string(), report.lives, 0),
        Err(failed) => (failed.to_string(), failed.lives_before + 1, 1),
    };
    let line = json!({"run": "lives", "cases": cases, "failures": failures, "seed": seed});
    format!("{words}\nresult: {line}")
}

/// Lives one after the other; the seed of each follows from the first.
pub fn run(settings: &LivesSettings) -> Result<Report, LifeFailed> {
    let mut report = Report::default();
    for number in 0..settings.lives {
        let seed = settings.seed.wrapping_add(number);
        let script = steps::of_seed(seed, settings.steps);
        if let Err((step, cause)) = live(settings, seed, &script, &mut report) {
            let failed = |some: &[Step]| live(settings, seed, some, &mut Report::default()).err();
            let (script, cause) = shrink::shortest(script[..=step].to_vec(), cause, settings.shorten_for, &failed);
            return Err(LifeFailed { seed, lives_before: report.lives, step, cause, script });
        }
        report.lives += 1;
    }
    Ok(report)
}

/// Repeats a script: for a test of a life that once failed.
pub fn repeat(engine: TestEngine, script: &[Step]) -> Result<Report, String> {
    let shorten_for = Duration::ZERO;
    let settings = LivesSettings { engine, lives: 1, steps: script.len(), seed: 1, mistake: None, shorten_for };
    let mut report = Report::default();
    live(&settings, 1, script, &mut report).map_err(|(step, cause)| format!("step {step}: {cause}"))?;
    Ok(report)
}

/// One life on a database of its own; the step that failed, and why.
fn live(settings: &LivesSettings, seed: u64, script: &[Step], report: &mut Report) -> Result<(), (usize, String)> {
    let database = TestDatabase::on(settings.engine);
    let mut processes = Processes::new(&database, seed, settings.mistake);
    for (place, step) in script.iter().enumerate() {
        report.steps += 1;
        let taken = processes.take(step, report);
        let checked = taken.and_then(|()| processes.check(place));
        checked.map_err(|cause| (place, format!("{step:?}: {cause}")))?;
    }
    processes.check_everything().map_err(|cause| (script.len().saturating_sub(1), cause))
}
