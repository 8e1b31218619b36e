//! Bits that rot: one bit after the other is flipped in a small database, in its log and in its backups, and whole pages are
//! overwritten.
//!
//! After each, every answer is right, or opening the database, `doctor`, a backup or `backup verify` says that something is
//! wrong; and what can be salvaged is salvaged: every memory that the damage did not touch, and nothing altered without the
//! mark that says so. A run with a deaf watchman ([`Watchman::Deaf`]) has to fail.
//!
//! PostgreSQL checks its own pages; this is about SQLite's files.

mod answers;
mod backups;
mod places;
mod world;

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::error::StressError;
use places::{Place, Places};
use world::World;

/// Failures that are told; one is enough to look at.
const FAILURES_SHOWN: usize = 20;

/// Who listens to what `doctor` and the others say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watchman {
    Listening,
    /// The control: whatever is reported is not heard, so that wrong answers must be found.
    Deaf,
}

#[derive(Clone, Debug)]
pub struct BitRotSettings {
    /// An empty folder.
    pub folder: PathBuf,
    pub seed: u64,
    /// A bit of every so many bytes is flipped; 1 for a bit of every byte.
    pub every: usize,
    /// When to stop, wherever it is.
    pub time: Option<Duration>,
    pub watchman: Watchman,
}

/// What came of all damages.
#[derive(Clone, Debug)]
pub struct BitRotReport {
    pub kinds: Vec<KindReport>,
    pub seed: u64,
    pub watchman: Watchman,
}

/// What came of one kind of damage.
#[derive(Clone, Debug)]
pub struct KindReport {
    pub kind: Kind,
    pub tried: usize,
    /// After so many, something was reported.
    pub reported: usize,
    pub failures: Vec<String>,
}

/// What is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Database,
    Log,
    Backups,
    /// A whole page, and what is left is salvaged.
    Salvage,
}

/// What one damage led to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    /// Nobody would notice, because nothing is wrong.
    Harmless,
    Reported,
    Failed(String),
}

/// Damages of every kind, in an order that the seed gives, one of each kind after the other: so a run that has only little
/// time has looked everywhere.
pub fn run(settings: &BitRotSettings) -> Result<BitRotReport, StressError> {
    let world = World::make(&settings.folder)?;
    let started = Instant::now();
    let mut places = Places::of(&world, settings)?;
    let new = |kind| KindReport { kind, tried: 0, reported: 0, failures: Vec::new() };
    let mut kinds: Vec<KindReport> = Kind::ALL.into_iter().map(new).collect();
    let is_late = || settings.time.is_some_and(|time| started.elapsed() >= time);
    // A control is there to find something: one is enough.
    let has_proved =
        |kinds: &[KindReport]| settings.watchman == Watchman::Deaf && kinds.iter().any(KindReport::has_failed);
    while !places.are_empty() && !is_late() && !has_proved(&kinds) {
        for report in &mut kinds {
            if let Some(place) = places.next(report.kind) {
                let outcome = settings.watchman.hears(world.look(report.kind, &place)?);
                report.count(outcome, &place);
            }
        }
    }
    Ok(BitRotReport { kinds, seed: settings.seed, watchman: settings.watchman })
}

impl Kind {
    const ALL: [Self; 4] = [Self::Database, Self::Log, Self::Backups, Self::Salvage];
}

impl Watchman {
    fn hears(self, looked: Looked) -> Outcome {
        match self {
            Self::Deaf if looked.is_wrong => Outcome::Failed("an answer is wrong".to_owned()),
            _ => looked.outcome,
        }
    }
}

/// What became of a damaged file.
#[derive(Debug)]
struct Looked {
    outcome: Outcome,
    /// Whether an answer is wrong, whoever says so.
    is_wrong: bool,
}

impl World {
    fn look(&self, kind: Kind, place: &Place) -> Result<Looked, StressError> {
        let right = |outcome| Looked { outcome, is_wrong: false };
        match kind {
            Kind::Database => self.look_at_database(&place.damaged()?),
            Kind::Log => self.look_at_log(&place.damaged()?),
            Kind::Backups => self.look_at_backup(&place.path, &place.damaged()?).map(right),
            Kind::Salvage => self.salvage_without(place.offset / world::PAGE_BYTES).map(right),
        }
    }
}

impl KindReport {
    fn has_failed(&self) -> bool {
        !self.failures.is_empty()
    }

    fn count(&mut self, outcome: Outcome, place: &Place) {
        self.tried += 1;
        match outcome {
            Outcome::Harmless => {}
            Outcome::Reported => self.reported += 1,
            Outcome::Failed(what) => self.failures.push(format!("{place}: {what}")),
        }
    }
}

impl BitRotReport {
    pub fn cases(&self) -> usize {
        self.kinds.iter().map(|it| it.tried).sum()
    }

    pub fn failures(&self) -> usize {
        self.kinds.iter().map(|it| it.failures.len()).sum()
    }
}

impl fmt::Display for BitRotReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for KindReport { kind, tried, reported, failures } in &self.kinds {
            for failure in failures.iter().take(FAILURES_SHOWN) {
                writeln!(f, "{kind:?}: {failure}")?;
            }
            writeln!(f, "{kind:?}: {tried} tried, {reported} reported, {} failures", failures.len())?;
        }
        let is_control = self.watchman == Watchman::Deaf;
        let line = json!({"run": "bit-rot", "cases": self.cases(), "failures": self.failures(), "seed": self.seed,
                          "control": is_control});
        write!(f, "result: {line}")
    }
}
