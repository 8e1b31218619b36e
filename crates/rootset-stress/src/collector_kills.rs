//! Rounds of plan, apply, undo and purge over several batches, each killed at a random moment and then finished, or
//! taken back, by another process.
//!
//! After every kill `doctor` finds nothing and everything outside the plan is as it was. A run that was finished took
//! everything; one that was undone took nothing: the dump is that of before.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rootset_service::{Clock, SystemClock};
use rootset_store::Location;
use rootset_trees::dump::{Dump, differences};
use serde_json::{Value, json};

use crate::dump::Since;
use crate::error::{Failed, StressError};
use crate::model::Violation;
use crate::step::{BATCH_MEMORIES, Ended, Step, call, call_all};
use crate::texts;
use crate::verify::Verifier;

/// The source whose memories a policy condemns.
const CONDEMNED: &str = "condemned";
/// More than two batches.
const CONDEMNED_MEMORIES: usize = 2 * BATCH_MEMORIES + 20;
const KEPT_MEMORIES: usize = 20;
/// What an operation takes before the first has been measured.
const FIRST_GUESS: Duration = Duration::from_secs(1);
/// Beyond the lease of a process that died.
const AHEAD_MS: i64 = 10_000;
/// Tables that tell the history of runs; the others tell what is stored.
const HISTORY: [&str; 10] =
    ["audit", "counters", "erasures", "jobs", "kept_counters", "meta", "plans", "plan_items", "runs", "run_skips"];

#[derive(Clone, Debug)]
pub struct CollectorKillSettings {
    /// The binary of this crate.
    pub program: PathBuf,
    pub database: Location,
    pub rounds: u64,
    pub seed: u64,
}

#[derive(Clone, Debug, Default)]
pub struct CollectorKillReport {
    pub rounds: u64,
    pub kills: u64,
    /// Kills that left a run in the middle.
    pub halfway: u64,
    pub applied: u64,
    pub undone: u64,
    pub purged: u64,
    pub elapsed: Duration,
}

impl fmt::Display for CollectorKillReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rounds, kills, halfway, applied, undone, purged, elapsed } = self;
        writeln!(f, "{rounds} rounds, {kills} kills, {halfway} of them between two batches")?;
        write!(f, "{applied} applied, {undone} undone, {purged} purged, {:.1} s", elapsed.as_secs_f64())
    }
}

/// Where the condemned memories are between two rounds.
#[derive(Clone, Debug)]
enum Condemned {
    Gone,
    Live,
    Trashed { run: Value },
}

struct Rounds<'a> {
    settings: &'a CollectorKillSettings,
    random: StdRng,
    condemned: Condemned,
    /// What is stored while everything lives, for the moment after an undo.
    alive: Option<(Since, Dump)>,
    /// How long an operation takes that nobody kills.
    usual: Duration,
    report: CollectorKillReport,
}

/// Runs all rounds; ends with the first violation.
pub fn run(settings: &CollectorKillSettings) -> Result<CollectorKillReport, Failed> {
    let start = Instant::now();
    let mut rounds = Rounds {
        settings,
        random: StdRng::seed_from_u64(settings.seed),
        condemned: Condemned::Gone,
        alive: None,
        usual: FIRST_GUESS,
        report: CollectorKillReport::default(),
    };
    fill_kept(&settings.database, &mut rounds.random).map_err(Failed::at(settings.seed, 0))?;
    for round in 0..settings.rounds {
        rounds.round(round).map_err(Failed::at(settings.seed, round))?;
        rounds.report.rounds += 1;
    }
    rounds.report.elapsed = start.elapsed();
    Ok(rounds.report)
}

fn fill_kept(database: &Location, random: &mut StdRng) -> Result<(), StressError> {
    let memories = notes(random, "kept", KEPT_MEMORIES, "user");
    let retention = json!({"source": CONDEMNED, "max_count": 0});
    call_all(database, vec![("add_memories", json!({"memories": memories})), ("set_retention", retention)]).map(drop)
}

fn notes(random: &mut StdRng, tag: &str, count: usize, source: &str) -> Vec<Value> {
    let one = |number: usize| {
        let name = format!("{tag}-{number}");
        json!({"name": name, "context": texts::note(random, &name), "source": source})
    };
    (0..count).map(one).collect()
}

impl Rounds<'_> {
    fn round(&mut self, round: u64) -> Result<(), StressError> {
        if matches!(self.condemned, Condemned::Gone) {
            self.refill(round)?;
        }
        match self.condemned.clone() {
            Condemned::Gone => unreachable!("it was just filled"),
            Condemned::Live => self.apply(),
            Condemned::Trashed { run } if self.random.random_bool(0.5) => self.undo(&run),
            Condemned::Trashed { run } => self.purge(&run),
        }
    }

    fn refill(&mut self, round: u64) -> Result<(), StressError> {
        let memories = notes(&mut self.random, &format!("r{round}"), CONDEMNED_MEMORIES, CONDEMNED);
        for part in memories.chunks(1_000) {
            call(self.database(), "add_memories", json!({"memories": part}))?;
        }
        let since = Since::of(self.database(), SystemClock.now().0)?;
        let dump = self.stored(&since)?;
        self.alive = Some((since, dump));
        self.condemned = Condemned::Live;
        Ok(())
    }

    fn apply(&mut self) -> Result<(), StressError> {
        let plan = call(self.database(), "gc_plan", json!({"strategies": ["expired"]}))?["plan_id"].clone();
        let (operation, arguments) = if self.random.random_bool(0.5) {
            ("gc_apply", json!({"plan_id": plan, "allow_large": true}))
        } else {
            let confirmed = json!({"plan_id": plan, "dry_run": false, "confirm": true, "allow_large": true});
            ("prune_memory", confirmed)
        };
        self.kill(operation, &arguments)?;
        let started = self.run_under_way()?;
        if let Some(run) = started.filter(|_| self.random.random_bool(0.3)) {
            // Somebody thinks better of it.
            self.finish("gc_undo", &json!({"run_id": run}))?;
            self.report.undone += 1;
            return self.expect_alive();
        }
        let answer = self.finish(operation, &arguments)?;
        self.expect(answer["trashed"]["memories"] == CONDEMNED_MEMORIES, || format!("applied: {answer}"))?;
        let trashed = self.trashed()?;
        self.expect(trashed == CONDEMNED_MEMORIES, || format!("{trashed} in the trash"))?;
        self.report.applied += 1;
        self.condemned = Condemned::Trashed { run: answer["run_id"].clone() };
        Ok(())
    }

    fn undo(&mut self, run: &Value) -> Result<(), StressError> {
        let arguments = json!({"run_id": run});
        self.kill("gc_undo", &arguments)?;
        self.finish("gc_undo", &arguments)?;
        self.report.undone += 1;
        self.condemned = Condemned::Live;
        self.expect_alive()
    }

    fn purge(&mut self, run: &Value) -> Result<(), StressError> {
        let arguments = json!({"run_id": run, "confirm": true});
        self.kill("gc_purge", &arguments)?;
        self.finish("gc_purge", &arguments)?;
        let trashed = self.trashed()?;
        self.expect(trashed == 0, || format!("{trashed} in the trash after a purge"))?;
        self.report.purged += 1;
        self.condemned = Condemned::Gone;
        Ok(())
    }

    /// Starts it, kills it somewhere between its start and its usual end, and looks at what is left.
    fn kill(&mut self, operation: &str, arguments: &Value) -> Result<(), StressError> {
        let step = Step { waits: true, ..Step::new(self.database(), operation, arguments) };
        let mut running = step.start(&self.settings.program)?;
        running.let_go();
        let patience = self.usual.mul_f64(self.random.random_range(0.0..1.0));
        // The moment of a kill is what is random here; nothing waits for it.
        std::thread::sleep(patience);
        running.kill()?;
        running.end()?;
        self.report.kills += 1;
        let trashed = self.trashed()?;
        self.report.halfway += u64::from(trashed % CONDEMNED_MEMORIES != 0);
        self.doctor()
    }

    /// The same again, by a process that nobody kills. What had been done before the kill may be refused now.
    fn finish(&mut self, operation: &str, arguments: &Value) -> Result<Value, StressError> {
        let start = Instant::now();
        let step = Step { ahead_ms: AHEAD_MS, ..Step::new(self.database(), operation, arguments) };
        let answer = match step.run_in(&self.settings.program)? {
            Ended::Refused(refusal) if operation == "gc_undo" && refusal.code == "conflict" => json!({}),
            ended => ended.answer()?,
        };
        self.usual = self.usual.mul_f64(0.5) + start.elapsed().mul_f64(0.5);
        self.doctor()?;
        Ok(answer)
    }

    /// The run that the killed process had begun and that can be undone.
    fn run_under_way(&self) -> Result<Option<Value>, StressError> {
        if self.trashed()? == 0 {
            return Ok(None);
        }
        let runs = call(self.database(), "gc_undo", json!({}))?;
        Ok(runs["runs"].get(0).map(|run| run["run_id"].clone()))
    }

    fn trashed(&self) -> Result<usize, StressError> {
        let total = call(self.database(), "list_trash", json!({}))?["total"].as_u64();
        Ok(total.ok_or(StressError::AnswerLacks("total"))? as usize)
    }

    fn expect_alive(&mut self) -> Result<(), StressError> {
        self.condemned = Condemned::Live;
        let Some((since, wanted)) = &self.alive else { return Ok(()) };
        let found = differences(wanted, &self.stored(since)?);
        let violations: Vec<Violation> = found.into_iter().map(Violation::Twin).collect();
        if violations.is_empty() { Ok(()) } else { Err(StressError::Violated(violations)) }
    }

    fn stored(&self, since: &Since) -> Result<Dump, StressError> {
        let mut dump = since.dump(self.database())?;
        dump.retain(|table, _| !HISTORY.contains(&table.as_str()));
        Ok(dump)
    }

    fn doctor(&self) -> Result<(), StressError> {
        let mut violations = Verifier::open(self.database())?.doctor()?;
        violations.retain(|it| !it.is_debt_of_a_purge());
        if !violations.is_empty() {
            return Err(StressError::Violated(violations));
        }
        let kept = call(self.database(), "list_memories", json!({"source": "user"}))?["total"].clone();
        self.expect(kept == KEPT_MEMORIES, || format!("{kept} memories outside the plan"))
    }

    fn expect(&self, is_so: bool, what: impl FnOnce() -> String) -> Result<(), StressError> {
        if is_so { Ok(()) } else { Err(StressError::Violated(vec![Violation::Twin(what())])) }
    }

    fn database(&self) -> &Location {
        &self.settings.database
    }
}
