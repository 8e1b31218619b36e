//! Two servers on one database, many clients, and a server killed every few seconds.
//!
//! Clients speak HTTP, each request under an `Idempotency-Key`, and ask the other server when one does not answer. What
//! a client was told has happened must be there at the end: the model is that of the other runs ([`crate::model`]), and
//! because clients repeat what got no answer, nothing is in flight when the comparison is made. A kill in the middle of an
//! apply or of a scan leaves a lease behind; the next process waits for as long as the lease runs and no longer, which
//! [`client`] holds every request to.
//!
//! The servers are processes of the `rootset` that was named, or of this program ([`serve`]), which serves the same routes.

mod check;
mod client;
pub mod serve;
mod server;
mod stream;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rootset_store::Location;

use crate::error::{Failed, StressError};
use client::{Addresses, Client};
use server::ServerProcess;
use stream::{Remembered, Stream};

/// Servers at the same time.
const SERVERS: usize = 2;
/// Clients that share a workspace: writers of one workspace wait for each other, those of several need not.
const CLIENTS_PER_WORKSPACE: usize = 4;

#[derive(Clone, Debug)]
pub struct ServerSettings {
    pub program: ServerProgram,
    pub database: Location,
    /// For trees that are indexed.
    pub folder: PathBuf,
    pub clients: usize,
    pub duration: Duration,
    pub kill_every: Duration,
    pub seed: u64,
}

/// What serves.
#[derive(Clone, Debug)]
pub enum ServerProgram {
    /// The `rootset` binary.
    Rootset(PathBuf),
    /// This program.
    Own(PathBuf),
}

#[derive(Clone, Debug, Default)]
pub struct ServerReport {
    pub clients: usize,
    pub kills: u64,
    /// Acknowledged requests by kind.
    pub acknowledged: BTreeMap<&'static str, u64>,
    /// Requests that were sent again.
    pub repeated: u64,
    /// How long the longest request took from its first sending to its answer.
    pub longest: Duration,
    /// Memories at the end.
    pub memories: usize,
    pub segments: usize,
    pub symbols: usize,
    pub elapsed: Duration,
}

impl fmt::Display for ServerReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: u64 = self.acknowledged.values().sum();
        let seconds = self.elapsed.as_secs_f64();
        writeln!(f, "{} clients through {SERVERS} servers, {} kills, {seconds:.1} s", self.clients, self.kills)?;
        writeln!(f, "{all} requests acknowledged, none lost: {:?}", self.acknowledged)?;
        writeln!(f, "{} repeated, the longest took {:.1} s", self.repeated, self.longest.as_secs_f64())?;
        let Self { memories, segments, symbols, .. } = self;
        write!(f, "{memories} memories, {segments} segments, {symbols} symbols at the end; no lease left, doctor clean")
    }
}

/// Runs clients and kills, then looks at everything.
pub fn run(settings: &ServerSettings) -> Result<ServerReport, Failed> {
    run_all(settings).map_err(Failed::at(settings.seed, 0))
}

fn run_all(settings: &ServerSettings) -> Result<ServerReport, StressError> {
    let start = Instant::now();
    let mut servers = Vec::new();
    for _ in 0..SERVERS {
        servers.push(ServerProcess::start(settings, None)?);
    }
    let addresses: Addresses = servers.iter().map(ServerProcess::address).collect();
    // Names of another run on the same database are not in the way.
    let workspace = |client: usize| format!("stress-{:x}-{}", settings.seed, client / CLIENTS_PER_WORKSPACE);
    for first in (0..settings.clients).step_by(CLIENTS_PER_WORKSPACE) {
        Client::new(&addresses, first, settings.seed).create_workspace(&workspace(first))?;
    }
    let streams = (0..settings.clients).map(|number| {
        let client = Client::new(&addresses, number, settings.seed);
        Stream::new(client, number, workspace(number), &settings.folder, settings.seed)
    });
    let streams = streams.collect::<Result<Vec<_>, _>>()?;
    let (remembered, kills) = work_and_kill(settings, streams, &mut servers)?;
    // The last ones die too: what they leave behind is looked at by somebody who comes after them.
    servers.iter_mut().try_for_each(ServerProcess::kill)?;
    let mut report = check::everything(settings, &remembered)?;
    report.kills = kills + SERVERS as u64;
    report.elapsed = start.elapsed();
    Ok(report)
}

fn work_and_kill(
    settings: &ServerSettings,
    streams: Vec<Stream>,
    servers: &mut [ServerProcess],
) -> Result<(Vec<Remembered>, u64), StressError> {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Whoever fails ends the run, and does not keep the others working for minutes.
        let (alarm, alarms) = mpsc::channel();
        let threads: Vec<_> = streams
            .into_iter()
            .map(|mut stream| {
                let (is_over, alarm) = (&is_over, alarm.clone());
                scope.spawn(move || {
                    let worked = stream.work_until(is_over).map(|()| stream.remembered());
                    if worked.is_err() {
                        let _ = alarm.send(());
                    }
                    worked
                })
            })
            .collect();
        let killed = kill_until_the_end(settings, servers, &alarms);
        is_over.store(true, Ordering::Relaxed);
        let joined = threads.into_iter().map(|thread| thread.join().expect("a client does not panic"));
        // What a client saw says more than what the killer did.
        let remembered = joined.collect::<Result<Vec<_>, _>>()?;
        Ok((remembered, killed?))
    })
}

/// One server after the other, so that one is always there; `alarms` ends it early.
fn kill_until_the_end(
    settings: &ServerSettings,
    servers: &mut [ServerProcess],
    alarms: &Receiver<()>,
) -> Result<u64, StressError> {
    let mut random = StdRng::seed_from_u64(settings.seed);
    let end = Instant::now() + settings.duration;
    let mut kills = 0;
    loop {
        // Not in step with anything that the servers do.
        let pause = settings.kill_every.mul_f64(random.random_range(0.75..1.25));
        let left = end.saturating_duration_since(Instant::now());
        if alarms.recv_timeout(pause.min(left)).is_ok() || pause >= left {
            return Ok(kills);
        }
        let victim = &mut servers[kills as usize % SERVERS];
        victim.kill()?;
        *victim = ServerProcess::start(settings, Some(victim.address()))?;
        kills += 1;
    }
}
