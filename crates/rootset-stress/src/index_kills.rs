//! A tree that changes, indexed by processes that are killed at random moments.
//!
//! After every kill `doctor` finds nothing, and a run that did not end has called nothing stale. Now and then a process
//! is left alone: what is served then is what a fresh index of the tree serves, and nothing is stale that is on disk.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rootset_store::Location;
use rootset_testing::Sql;
use rootset_trees::{Tree, indexed_paths, stale_paths};
use serde_json::Value;

use crate::error::{Failed, StressError};
use crate::model::Violation;
use crate::same_index;
use crate::step::{Step, call};
use crate::verify::Verifier;

/// What a run takes before the first has been measured.
const FIRST_GUESS: Duration = Duration::from_millis(800);
/// Every process is so far ahead of the one before that the lease of a dead one has run out.
const AHEAD_MS: i64 = 60_000;
/// Rounds between two runs that nobody kills.
const LEFT_ALONE_EVERY: u64 = 4;
const WORKSPACE: &str = "home";

#[derive(Clone, Debug)]
pub struct IndexKillSettings {
    /// The binary of this crate.
    pub program: PathBuf,
    /// Of which this indexes into it.
    pub database: Location,
    /// Where the tree and the databases to compare with are made.
    pub folder: PathBuf,
    pub rounds: u64,
    /// Files beside the random project.
    pub files: usize,
    pub seed: u64,
}

#[derive(Clone, Debug, Default)]
pub struct IndexKillReport {
    pub rounds: u64,
    pub kills: u64,
    /// Runs that did not end.
    pub cut_short: u64,
    /// Kills that left files of an unfinished run behind.
    pub halfway: u64,
    /// Runs that nobody killed, each compared with a fresh index.
    pub compared: u64,
    pub elapsed: Duration,
}

impl fmt::Display for IndexKillReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rounds, kills, cut_short, halfway, compared, elapsed } = self;
        writeln!(f, "{rounds} rounds, {kills} kills, {cut_short} runs cut short, {halfway} of them halfway")?;
        write!(f, "{compared} times compared with a fresh index, {:.1} s", elapsed.as_secs_f64())
    }
}

/// What the database says about runs.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Runs {
    /// The last that was completed; 0 before the first.
    completed: i64,
    stale: BTreeSet<String>,
    /// Versions of all files together: grows with every file that is written.
    written: i64,
}

struct Rounds<'a> {
    settings: &'a IndexKillSettings,
    database: Location,
    random: StdRng,
    tree: Tree,
    processes: i64,
    /// How long a run takes that nobody kills.
    usual: Duration,
    report: IndexKillReport,
}

/// Runs all rounds; ends with the first violation.
pub fn run(settings: &IndexKillSettings) -> Result<IndexKillReport, Failed> {
    let start = Instant::now();
    let begin = || -> Result<Rounds<'_>, StressError> {
        let mut tree = Tree::create(&settings.folder.join("tree"), settings.seed)?;
        tree.write_many(settings.files)?;
        let database = settings.database.clone();
        // Made by one process, so that no kill meets the creation of the database, which has its own runs.
        call(&database, "list_repos", serde_json::json!({}))?;
        let random = StdRng::seed_from_u64(settings.seed);
        let (processes, usual, report) = (0, FIRST_GUESS, IndexKillReport::default());
        Ok(Rounds { settings, database, random, tree, processes, usual, report })
    };
    let mut rounds = begin().map_err(Failed::at(settings.seed, 0))?;
    for round in 0..settings.rounds {
        rounds.round(round).map_err(Failed::at(settings.seed, round))?;
        rounds.report.rounds += 1;
    }
    rounds.leave_alone().map_err(Failed::at(settings.seed, settings.rounds))?;
    rounds.report.elapsed = start.elapsed();
    Ok(rounds.report)
}

impl Rounds<'_> {
    fn round(&mut self, round: u64) -> Result<(), StressError> {
        self.kill()?;
        if (round + 1).is_multiple_of(LEFT_ALONE_EVERY) {
            self.leave_alone()?;
        }
        for _ in 0..self.random.random_range(1..4) {
            self.tree.step()?;
        }
        if self.random.random_bool(0.5) {
            let files = self.random.random_range(0..=self.settings.files);
            self.tree.write_many(files)?;
        }
        Ok(())
    }

    fn request(&self) -> Value {
        self.tree.scope().request(&self.tree.root().display().to_string())
    }

    fn step(&mut self) -> Step {
        self.processes += 1;
        let request = self.request();
        Step { ahead_ms: self.processes * AHEAD_MS, ..Step::new(&self.database, "index_codebase", &request) }
    }

    /// Starts a run, kills it somewhere between its start and its usual end, and looks at what is left.
    fn kill(&mut self) -> Result<(), StressError> {
        let before = self.runs()?;
        let step = Step { waits: true, ..self.step() };
        let mut running = step.start(&self.settings.program)?;
        running.let_go();
        let patience = self.usual.mul_f64(self.random.random_range(0.0..1.1));
        // The moment of a kill is what is random here; nothing waits for it.
        std::thread::sleep(patience);
        running.kill()?;
        running.end()?;
        self.report.kills += 1;
        let after = self.runs()?;
        if after.completed == before.completed {
            self.report.cut_short += 1;
            self.report.halfway += u64::from(after.written != before.written);
            let newly: Vec<&String> = after.stale.difference(&before.stale).collect();
            self.expect(newly.is_empty(), || format!("a run that did not end called {newly:?} stale"))?;
        } else {
            // Too late: however fast the machine is, most kills are to meet a run.
            self.usual = self.usual.mul_f64(0.5);
        }
        self.doctor()
    }

    /// A run that nobody kills, and the comparison with a fresh index.
    fn leave_alone(&mut self) -> Result<(), StressError> {
        let start = Instant::now();
        self.step().run_in(&self.settings.program)?.answer()?;
        self.usual = self.usual.mul_f64(0.5) + start.elapsed().mul_f64(0.5);
        let fresh = self.settings.folder.join("fresh");
        std::fs::create_dir(&fresh)?;
        let database = Location::File(fresh.join("fresh.db"));
        call(&database, "index_codebase", self.request())?;
        same_index::run_within(&database, &self.database, WORKSPACE, self.tree.scope())?;
        let stale = self.runs()?.stale;
        let on_disk: Vec<String> = indexed_paths(&database, WORKSPACE)?;
        let wrong: Vec<&String> = on_disk.iter().filter(|path| stale.contains(*path)).collect();
        self.expect(wrong.is_empty(), || format!("{wrong:?} are on disk and stale"))?;
        std::fs::remove_dir_all(&fresh)?;
        self.report.compared += 1;
        self.doctor()
    }

    fn runs(&self) -> Result<Runs, StressError> {
        let connection = Sql::open(&self.database)?;
        let number = |sql: &str| connection.scalar::<i64>(sql, &[]);
        Ok(Runs {
            completed: number("SELECT coalesce(max(run), 0) FROM repos")?,
            stale: stale_paths(&self.database, WORKSPACE)?.into_iter().collect(),
            written: number(
                "SELECT CAST(COALESCE(SUM(version), 0) AS BIGINT) FROM memories WHERE source = 'code_indexer'",
            )?,
        })
    }

    fn doctor(&self) -> Result<(), StressError> {
        let mut violations = Verifier::open(&self.database)?.doctor()?;
        violations.retain(|it| !it.is_debt_of_a_purge());
        if violations.is_empty() { Ok(()) } else { Err(StressError::Violated(violations)) }
    }

    fn expect(&self, is_so: bool, what: impl FnOnce() -> String) -> Result<(), StressError> {
        if is_so { Ok(()) } else { Err(StressError::Violated(vec![Violation::Twin(what())])) }
    }
}
