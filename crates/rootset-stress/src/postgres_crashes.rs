//! PostgreSQL servers that crash under writers, and standbys that take their place.
//!
//! The servers are this run's own ([`rootset_testing::OwnServer`]). Their log is slow: a commit waits before it is written, so
//! that a crash finds commits of which nothing is on the disk. Writers ([`writers`]) reach them through a door
//! ([`rootset_testing::Proxy`]) that loses answers to commits at random, and are told the truth or "outcome not known": what
//! was acknowledged is there once, what failed is not there, and what is not known is there at most once. Between a crash and
//! the next word to a client, other transactions use up the numbers of those that were lost, as other databases of the same
//! server do.
//!
//! A round is one of the [`Fault`]s, drawn from the seed. With a [`Control`], a mistake is planted; then something must be
//! lost, or the run is good for nothing.

mod controls;
mod faults;
mod writers;

use std::fmt;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rootset_testing::{OwnServer, Proxy};

use crate::error::{Failed, StressError};
use writers::Writers;

pub use controls::Control;

/// A commit waits for so long before the log is written, whoever else commits; and nobody else writes it.
const SLOW_LOG: [&str; 3] = ["commit_delay = 100000", "commit_siblings = 0", "wal_writer_delay = 10s"];
const DATABASE: &str = "postgres";
/// A planted mistake gets at least so many chances. The shyest one loses something in every second crash, and the run ends when
/// it does.
const CONTROL_ROUNDS_MIN: u64 = 20;

#[derive(Clone, Debug)]
pub struct PostgresCrashSettings {
    pub rounds: u64,
    pub seed: u64,
    pub control: Option<Control>,
}

/// What happens to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is killed and started again.
    Crash,
    /// It is killed, and a standby takes its place that lacks the commits nobody was told about.
    AsynchronousFailover,
    /// It is killed, and a standby takes its place that has every commit.
    SynchronousFailover,
    /// It is killed while commits wait for a standby that is away, comes back, and is then replaced by that standby.
    CrashBeforeFailover,
}

impl Fault {
    /// Crashes twice as often as each of the others.
    fn drawn(random: &mut StdRng) -> Self {
        let faults = [
            Self::Crash,
            Self::Crash,
            Self::AsynchronousFailover,
            Self::SynchronousFailover,
            Self::CrashBeforeFailover,
        ];
        faults[random.random_range(0..faults.len())]
    }
}

#[derive(Clone, Debug, Default)]
pub struct PostgresCrashReport {
    pub rounds: u64,
    /// Servers that were killed.
    pub crashes: u64,
    pub promotions: u64,
    /// Answers that the door lost, beside those that went with a server.
    pub lost_answers: u64,
    pub acknowledged: u64,
    pub failed: u64,
    pub unknown: u64,
    /// What a control lost.
    pub lost: Option<(Control, String)>,
    pub elapsed: Duration,
}

impl fmt::Display for PostgresCrashReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((control, lost)) = &self.lost {
            return write!(f, "{control}: something is lost in round {}, as it must be: {lost}", self.rounds);
        }
        let Self { rounds, crashes, promotions, lost_answers, acknowledged, failed, unknown, elapsed, .. } = self;
        let seconds = elapsed.as_secs_f64();
        writeln!(f, "{rounds} rounds, {crashes} crashes, {promotions} promotions, {seconds:.1} s")?;
        writeln!(f, "{lost_answers} answers to commits lost on the way, beside those that went with a server")?;
        write!(
            f,
            "{acknowledged} writes acknowledged, none lost and none twice; {failed} failed, none of them done; \
             {unknown} of unknown outcome"
        )
    }
}

/// Fails when something acknowledged is lost or there twice; with a control, when nothing is.
pub fn run(settings: &PostgresCrashSettings) -> Result<PostgresCrashReport, Failed> {
    let Some(control) = settings.control else { return run_all(settings) };
    let rounds = settings.rounds.max(CONTROL_ROUNDS_MIN);
    match run_all(&PostgresCrashSettings { rounds, ..settings.clone() }) {
        Err(Failed { cause: StressError::Lost(lost), round, .. }) => {
            let lost = Some((control, lost));
            Ok(PostgresCrashReport { rounds: round + 1, crashes: round + 1, lost, ..PostgresCrashReport::default() })
        }
        Ok(report) => {
            let cause = StressError::ControlLostNothing(control.to_string());
            Err(Failed { seed: settings.seed, round: report.rounds, cause })
        }
        failed => failed,
    }
}

fn run_all(settings: &PostgresCrashSettings) -> Result<PostgresCrashReport, Failed> {
    let at_start = Failed::at(settings.seed, 0);
    let begun = Instant::now();
    let mut place = Place::new(settings.control).map_err(&at_start)?;
    let mut report = PostgresCrashReport::default();
    for round in 0..settings.rounds {
        // Every round draws from its own stream, so that one can be looked at without the others' timing.
        let mut random = StdRng::seed_from_u64(settings.seed ^ round.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let fault = if settings.control.is_some() { Fault::Crash } else { Fault::drawn(&mut random) };
        place.round(fault, &mut random, &mut report).map_err(Failed::at(settings.seed, round))?;
        report.rounds += 1;
    }
    place.writers.check_with_doctor().map_err(&at_start)?;
    report.lost_answers = place.door.cuts();
    report.elapsed = begun.elapsed();
    place.writers.count(&mut report);
    Ok(report)
}

/// The server that is the first one at present, the door before it, and those who write through it.
struct Place {
    server: OwnServer,
    door: Proxy,
    writers: Writers,
}

impl Place {
    fn new(control: Option<Control>) -> Result<Self, StressError> {
        let server = OwnServer::new(&SLOW_LOG)?;
        let url = server.url(DATABASE);
        let door = Proxy::new(&url);
        let writers = Writers::new(&door.url(&url))?;
        control.map_or(Ok(()), |control| control.plant(&server.sql(DATABASE), &door))?;
        Ok(Self { server, door, writers })
    }

    fn round(
        &mut self,
        fault: Fault,
        random: &mut StdRng,
        report: &mut PostgresCrashReport,
    ) -> Result<(), StressError> {
        let Self { server, door, writers } = self;
        let seed = random.random();
        writers.work(seed, || faults::happen(fault, server, door, random, report))?;
        writers.compare(&server.sql(DATABASE))
    }
}
