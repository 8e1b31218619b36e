//! `rootset serve` under load: connections that are kept, requests one after the other on each.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;

use super::spread;
use crate::latency::{Latencies, Summary, Taken};
use crate::server::{Access, Server};

#[derive(Debug, Serialize)]
pub struct HttpFigures {
    pub first_answer_ms: f64,
    pub idle_memory_kib: Option<u64>,
    pub loaded_memory_kib: Option<u64>,
    /// All connections together.
    pub per_s: f64,
    pub latency: Summary,
}

pub fn measure(
    cli: &Path,
    database: &Path,
    ids: &[String],
    connections: usize,
    time: Duration,
) -> anyhow::Result<HttpFigures> {
    let started = Instant::now();
    let token_file = PathBuf::from(format!("{}.token", database.display()));
    let server = Server::start(cli, &database.display().to_string(), &Access::Token(token_file))?;
    server.connect()?.call("get_memory", &json!({ "memory_id": ids[0] }))?;
    let first_answer_ms = started.elapsed().as_secs_f64() * 1e3;
    let idle_memory_kib = server.memory_kib();
    let begun = Instant::now();
    let taken: Vec<Vec<Taken>> = std::thread::scope(|scope| {
        let askers: Vec<_> = (0..connections)
            .map(|asker| {
                scope.spawn({
                    let server = &server;
                    move || ask(server, ids, asker * ids.len() / connections.max(1), time)
                })
            })
            .collect();
        let joined = askers.into_iter().map(|asker| asker.join().expect("a thread that asks does not panic"));
        joined.collect::<anyhow::Result<_>>()
    })?;
    let elapsed = begun.elapsed();
    let mut latencies = Latencies::default();
    let mut count = 0;
    for taken in taken.into_iter().flatten() {
        latencies.push(taken);
        count += 1;
    }
    Ok(HttpFigures {
        first_answer_ms,
        idle_memory_kib,
        loaded_memory_kib: server.memory_kib(),
        per_s: f64::from(count) / elapsed.as_secs_f64(),
        latency: latencies.summary(),
    })
}

fn ask(server: &Server, ids: &[String], from: usize, time: Duration) -> anyhow::Result<Vec<Taken>> {
    let mut connection = server.connect()?;
    let mut all = Vec::new();
    let until = Instant::now() + time;
    let mut number = from;
    while Instant::now() < until {
        let id = spread(ids, number);
        let request = json!({ "memory_id": id });
        let (answered, taken) = Taken::measure(|| connection.call("get_memory", &request));
        answered?;
        all.push(taken);
        number += 1;
    }
    Ok(all)
}
