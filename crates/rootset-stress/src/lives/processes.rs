//! The processes of a life, and what each step does to the database and to the model beside it.

mod asking;
mod striking;

use std::sync::Arc;

use rootset_gc::drains::DrainMode;
use rootset_model::RetentionPolicy;
use rootset_service::{BackupSettings, Caller, Clock, FrontEnd, GcSettings, Service, Settings};
use rootset_testing::{Sql, TestDatabase, TestEngine};

use super::Report;
use super::clock::{CountedIds, Guard, LifeClock, MINUTE_MS};
use super::model::{GRACE_MS, MAX_AGE_MS, Mistake, Model, State};
use super::steps::{PROCESSES, Step, What};
pub use asking::Attempt;
use striking::Struck;

/// Every step takes a moment.
const STEP_MS: i64 = 1_000;
/// Longer than any lease: whoever comes after a death waits for it.
const AFTER_DEATH_MS: i64 = 11 * MINUTE_MS;
/// A round is due whenever somebody looks.
pub const ROUND_EVERY_MS: i64 = 0;
/// Backups that are kept; each is a copy of the database.
const BACKUPS_KEPT: usize = 3;

pub struct Processes<'a> {
    pub database: &'a TestDatabase,
    pub sql: Sql,
    services: Vec<Arc<Service>>,
    guards: [Guard; PROCESSES],
    clock: Arc<LifeClock>,
    ids: Arc<CountedIds>,
    pub model: Model,
    /// Texts that were ever written.
    pub texts: u64,
    was_in_doubt: bool,
}

/// Why a life is not what it should be.
pub type Outcome = Result<(), String>;

impl<'a> Processes<'a> {
    pub fn new(database: &'a TestDatabase, seed: u64, mistake: Option<Mistake>) -> Self {
        striking::be_quiet_about_deaths();
        let (clock, ids) = (Arc::new(LifeClock::default()), Arc::new(CountedIds::default()));
        let services: Vec<Arc<Service>> = (0..PROCESSES).map(|_| open(database, &clock, &ids)).collect();
        let mut model = Model::new(mistake);
        model.seen.look(clock.now_ms());
        let texts = seed.wrapping_mul(1_000_003) % 1_000_000_000;
        let (guards, sql) = (Default::default(), database.sql());
        Self { database, sql, services, guards, clock, ids, model, texts, was_in_doubt: false }
    }

    pub fn engine(&self) -> TestEngine {
        self.database.engine()
    }

    pub fn service(&self, process: usize) -> &Arc<Service> {
        &self.services[process]
    }

    pub fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    pub fn take(&mut self, step: &Step, report: &mut Report) -> Outcome {
        match *step {
            Step::Pass { ms } => self.clock.pass_ms(ms),
            Step::Jump { ms } => {
                report.jumps += 1;
                self.clock.jump_ms(ms);
            }
            Step::SetRight => self.clock.set_right(),
            Step::Die { process } => {
                report.deaths += 1;
                self.restart(process);
            }
            Step::Do { process, what, struck } => {
                self.begin_step();
                let strike = struck.map(|strike| striking::place_of(what, strike, self.engine()));
                self.act(process, what, strike.flatten(), report)?;
            }
            Step::Both { first, second } => {
                self.begin_step();
                report.at_once += 1;
                self.both(first, second)?;
            }
        }
        self.look();
        let is_in_doubt = self.model.seen.is_in_doubt();
        report.doubts += u64::from(is_in_doubt && !self.was_in_doubt);
        self.was_in_doubt = is_in_doubt;
        Ok(())
    }

    fn begin_step(&mut self) {
        self.clock.pass_ms(STEP_MS);
        self.model.seen.look(self.now_ms());
    }

    /// Somebody runs: the database sees the time. What a step writes has seen it already.
    fn look(&mut self) {
        self.model.seen.look(self.now_ms());
        self.services[0].observe_time().expect("the database can be written");
    }

    fn restart(&mut self, process: usize) {
        self.services[process] = open(self.database, &self.clock, &self.ids);
        self.guards[process] = Guard::default();
    }

    /// Whether automatic deletion waits, as this process sees it.
    fn is_waiting(&mut self, process: usize) -> bool {
        let is_believed = self.guards[process].believes(self.now_ms(), self.clock.elapsed_ms());
        self.model.seen.is_in_doubt() || !is_believed
    }

    /// A step that is struck is asked again, by the same process or by one that takes its place.
    fn act(&mut self, process: usize, what: What, strike: Option<Struck>, report: &mut Report) -> Outcome {
        let Some(asked) = self.asked(what) else { return Ok(()) };
        let Some(strike) = strike else { return self.ask(process, &asked, report) };
        strike.arm();
        let outcome = strike.catch(|| asking::attempt(&self.services[process], &asked));
        strike.disarm();
        match outcome {
            striking::Ended::Died => {
                report.deaths += 1;
                self.learn_restamp()?;
                self.restart(process);
                self.clock.pass_ms(AFTER_DEATH_MS);
                self.model.seen.look(self.now_ms());
            }
            striking::Ended::Failed => report.errors += 1,
            // What was carried out before the strike is an answer, which tells of the rest.
            striking::Ended::Answered(Ok(answer)) if striking::is_told_of(&answer) => report.errors += 1,
            // It did not come by that place. The answer is the answer.
            striking::Ended::Answered(answer) => {
                return self.answered(process, &asked, answer, Attempt::First, report);
            }
        }
        self.ask_after_strike(process, &asked, report)
    }

    fn forget_old_backups(&mut self) {
        while self.model.backups.len() > BACKUPS_KEPT {
            let old = self.model.backups.remove(0);
            std::fs::remove_dir_all(old.path).expect("the backup is there");
        }
    }

    /// One of those that are wanted, so that most steps do something; now and then any that ever was.
    fn choose_memory(&self, number: usize, is_wanted: impl Fn(&State) -> bool) -> Option<String> {
        let wanted = self.model.in_state(is_wanted);
        let any = self.model.in_state(|_| true);
        let from = if wanted.is_empty() || number.is_multiple_of(17) { any } else { wanted };
        (!from.is_empty()).then(|| from[number % from.len()].clone())
    }

    fn choose_run(&self, number: usize) -> Option<String> {
        let wanted: Vec<&String> = self.model.runs_with_trash().into_iter().collect();
        if wanted.is_empty() || number.is_multiple_of(17) {
            let runs: Vec<&String> = self.model.heap.runs.keys().collect();
            return Some(runs[number.checked_rem(runs.len())?].clone());
        }
        Some(wanted[number % wanted.len()].clone())
    }
}

fn open(database: &TestDatabase, clock: &Arc<LifeClock>, ids: &Arc<CountedIds>) -> Arc<Service> {
    let settings = Settings {
        grace_ms: GRACE_MS,
        gc: GcSettings {
            enabled: true,
            auto_delete: true,
            interval_ms: ROUND_EVERY_MS,
            // A life has one plan for a round: drains have a model of their own in the tests of the service.
            drain: DrainMode::Never,
            retention: RetentionPolicy { max_age_ms: Some(MAX_AGE_MS), may_empty: true, ..RetentionPolicy::default() },
            ..GcSettings::default()
        },
        backup: BackupSettings {
            folder: Some(database.folder().join("backups")),
            interval_ms: None,
            ..BackupSettings::default()
        },
        ..Settings::default()
    };
    let service = Service::new_at(database.open(), settings, clock.clone()).expect("a service");
    Arc::new(service.with_ids(ids.clone()))
}

pub fn caller() -> Caller {
    Caller::new(FrontEnd::CommandLine, "life", "home")
}
