//! Several servers on one database: what a second one adds, and what the limit is where it adds nothing.
//!
//! Clients write and search in workspaces of their own, over HTTP, spread over the servers. Beside the requests per second
//! stands the processor time of everybody involved: on a machine whose processors are all busy, the second server has
//! nothing to run on, and the ratio says more about the machine than about Rootset.

mod report;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::json;

use crate::database;
use crate::latency::{Latencies, Taken};
use crate::notes::Notes;
use crate::output::print_report;
use crate::process;
use crate::server::{Access, Server};
use report::{Measured, Report};

/// What is in each workspace before the clock starts.
const MEMORIES_FIRST: usize = 200;
/// Of so many requests one adds; the others search.
const REQUESTS_PER_ADD: u64 = 2;
/// Processes of the database, as the machine calls them.
const DATABASE_PROCESS: &str = "postgres";

/// What several `rootset serve` on one database do together.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The `rootset` binary.
    #[arg(long, value_name = "PATH")]
    cli: PathBuf,
    /// A new file, or an empty database on a server (`postgres://…`).
    #[arg(long, value_name = "DATABASE")]
    db: String,
    /// How many servers, one measurement each.
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    servers: Vec<usize>,
    /// Clients that ask at the same time.
    #[arg(long, default_value_t = 16)]
    clients: usize,
    /// How long they ask.
    #[arg(long, default_value_t = 10.0)]
    seconds: f64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    ensure!(!arguments.servers.contains(&0) && arguments.clients > 0, "`--servers` and `--clients` must be above 0");
    let location = database::named(&arguments.db)?;
    let mut measured = Vec::new();
    for (round, servers) in arguments.servers.iter().enumerate() {
        measured.push(measure(arguments, round, *servers, location.path())?);
    }
    let report = Report::new(location.to_string(), arguments.clients, measured);
    print_report(&report, arguments.json, || report.text())
}

fn measure(arguments: &Arguments, round: usize, servers: usize, file: Option<&Path>) -> anyhow::Result<Measured> {
    let started: Vec<Server> = (0..servers)
        .map(|_| Server::start(&arguments.cli, &arguments.db, &Access::Anybody))
        .collect::<anyhow::Result<_>>()?;
    let clients: Vec<Client<'_>> = (0..arguments.clients)
        .map(|number| {
            let workspace = format!("bench-{round}-{number}");
            let client = Client { server: &started[number % servers], workspace, seed: arguments.seed + number as u64 };
            client.fill().map(|()| client)
        })
        .collect::<anyhow::Result<_>>()?;
    let before = Used::now(&started, file);
    let begun = Instant::now();
    let until = begun + Duration::from_secs_f64(arguments.seconds);
    let answered: Vec<Answered> = std::thread::scope(|scope| {
        let threads: Vec<_> = clients.iter().map(|client| scope.spawn(move || client.ask(until))).collect();
        let joined = threads.into_iter().map(|thread| thread.join().expect("a thread that asks does not panic"));
        joined.collect::<anyhow::Result<_>>()
    })?;
    let elapsed = begun.elapsed();
    let used = Used::now(&started, file).since(&before);
    let (mut adds, mut searches) = (Latencies::default(), Latencies::default());
    for one in answered {
        one.adds.into_iter().for_each(|taken| adds.push(taken));
        one.searches.into_iter().for_each(|taken| searches.push(taken));
    }
    Ok(Measured::new(servers, elapsed, adds.summary(), searches.summary(), &used))
}

struct Client<'a> {
    server: &'a Server,
    workspace: String,
    seed: u64,
}

struct Answered {
    adds: Vec<Taken>,
    searches: Vec<Taken>,
}

impl Client<'_> {
    fn fill(&self) -> anyhow::Result<()> {
        let mut connection = self.server.connect()?;
        connection.call("create_workspace", &json!({ "workspace_id": self.workspace }))?;
        let notes = Notes::new(self.seed);
        let memories: Vec<_> = (0..MEMORIES_FIRST as u64).map(|number| notes.note(number).request()).collect();
        let request = json!({"workspace_id": self.workspace, "memories": memories});
        connection.call("add_memories", &request).context("a workspace cannot be filled")?;
        Ok(())
    }

    fn ask(&self, until: Instant) -> anyhow::Result<Answered> {
        let notes = Notes::new(self.seed);
        let mut connection = self.server.connect()?;
        let mut answered = Answered { adds: Vec::new(), searches: Vec::new() };
        let mut number = MEMORIES_FIRST as u64;
        while Instant::now() < until {
            let is_add = number.is_multiple_of(REQUESTS_PER_ADD);
            let (operation, mut request) = if is_add {
                ("add_memory", notes.note(number).request())
            } else {
                ("search_memory", json!({ "query": notes.question(number % MEMORIES_FIRST as u64) }))
            };
            request["workspace_id"] = self.workspace.as_str().into();
            let (outcome, taken) = Taken::measure(|| connection.call(operation, &request).map(drop));
            outcome?;
            if is_add {
                answered.adds.push(taken)
            } else {
                answered.searches.push(taken)
            }
            number += 1;
        }
        Ok(answered)
    }
}

/// Processor time up to now.
struct Used {
    clients: Option<Duration>,
    servers: Option<Duration>,
    /// Of all PostgreSQL processes of this machine; none where the database is a file, or elsewhere.
    database: Option<Duration>,
    /// Of everything on this machine.
    machine: Option<Duration>,
}

impl Used {
    fn now(servers: &[Server], file: Option<&Path>) -> Self {
        Self {
            clients: process::processor_time(std::process::id()),
            servers: servers.iter().map(|server| process::processor_time(server.process_id())).sum(),
            database: match file {
                Some(_) => None,
                None => process::processor_time_of_all(DATABASE_PROCESS),
            },
            machine: process::processor_time_of_machine(),
        }
    }

    fn since(&self, before: &Self) -> Self {
        let more = |now: Option<Duration>, then: Option<Duration>| Some(now?.saturating_sub(then?));
        Self {
            clients: more(self.clients, before.clients),
            servers: more(self.servers, before.servers),
            database: more(self.database, before.database),
            machine: more(self.machine, before.machine),
        }
    }
}
