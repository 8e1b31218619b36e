//! `rootset serve` under load: connections that are kept, requests one after the other on each.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde::Serialize;

use super::spread;
use crate::latency::{Latencies, Summary, Taken};

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
    let server = Server::start(cli, database)?;
    let mut first = server.connect()?;
    first.get_memory(&ids[0])?;
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
        let (answered, taken) = Taken::measure(|| connection.get_memory(id));
        answered?;
        all.push(taken);
        number += 1;
    }
    Ok(all)
}

/// A server of this benchmark, which ends with it.
struct Server {
    process: Child,
    address: String,
    token: String,
}

impl Server {
    fn start(cli: &Path, database: &Path) -> anyhow::Result<Self> {
        let mut process = Command::new(cli)
            .arg("--db")
            .arg(database)
            .args(["--quiet", "serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start `{}`", cli.display()))?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().context("no stdout")?).read_line(&mut line)?;
        let address = line.trim().strip_prefix("listening on http://").map(str::to_owned);
        let token_file = format!("{}.token", database.display());
        let token = std::fs::read_to_string(&token_file).with_context(|| format!("cannot read `{token_file}`"));
        // From here on the process ends with this value, whatever goes wrong.
        let mut server = Self { process, address: String::new(), token: String::new() };
        server.address = address.with_context(|| format!("`rootset serve` said `{}`", line.trim()))?;
        server.token = token?.trim().to_owned();
        Ok(server)
    }

    fn connect(&self) -> anyhow::Result<Connection> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        let head = format!(
            "POST /v1/get_memory HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n",
            self.address, self.token
        );
        Ok(Connection { stream, head, buffer: Vec::new() })
    }

    /// Resident now, where Linux tells.
    fn memory_kib(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().trim_end_matches("kB").trim().parse().ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its database goes with the folder: nobody needs a graceful end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Connection {
    stream: TcpStream,
    head: String,
    buffer: Vec<u8>,
}

impl Connection {
    fn get_memory(&mut self, id: &str) -> anyhow::Result<()> {
        let body = format!("{{\"memory_id\":\"{id}\"}}");
        let request = format!("{}Content-Length: {}\r\n\r\n{body}", self.head, body.len());
        self.stream.write_all(request.as_bytes())?;
        self.buffer.clear();
        let mut piece = [0; 16_384];
        loop {
            let count = self.stream.read(&mut piece)?;
            ensure!(count > 0, "the server closed the connection");
            self.buffer.extend_from_slice(&piece[..count]);
            if let Some(length) = whole_length(&self.buffer)?
                && self.buffer.len() >= length
            {
                ensure!(self.buffer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&self.buffer));
                return Ok(());
            }
        }
    }
}

/// Bytes of head and body together, once the head is here.
fn whole_length(bytes: &[u8]) -> anyhow::Result<Option<usize>> {
    let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&bytes[..end])?.to_ascii_lowercase();
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length:")).context("an answer of no length")?;
    Ok(Some(end + 4 + length.trim().parse::<usize>()?))
}
