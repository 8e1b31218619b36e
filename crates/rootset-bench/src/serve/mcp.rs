//! `rootset mcp` over its pipes, in raw lines of JSON-RPC.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};
use serde::Serialize;
use serde_json::{Value, json};

use super::spread;
use crate::latency::{Latencies, Summary, Taken};

/// A revision that every client and server speaks.
const REVISION: &str = "2025-06-18";

#[derive(Debug, Serialize)]
pub struct McpFigures {
    pub first_answer_ms: f64,
    pub call: Summary,
}

/// `None` where the binary has no such command.
pub fn measure(cli: &Path, database: &Path, ids: &[String], calls: usize) -> anyhow::Result<Option<McpFigures>> {
    let help = Command::new(cli).args(["mcp", "--help"]).output().context("cannot start the command line")?;
    if !help.status.success() {
        return Ok(None);
    }
    let started = Instant::now();
    let mut server = Server::start(cli, database)?;
    let client = json!({"name": "rootset-bench", "version": env!("CARGO_PKG_VERSION")});
    let hello = json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client});
    server.request("initialize", &hello)?;
    let first_answer_ms = started.elapsed().as_secs_f64() * 1e3;
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
    let mut latencies = Latencies::default();
    for number in 0..calls {
        let call = json!({"name": "get_memory", "arguments": {"memory_id": spread(ids, number)}});
        let (answer, taken) = Taken::measure(|| server.request("tools/call", &call));
        let answer = answer?;
        ensure!(answer["isError"] != true, "`get_memory` failed: {answer}");
        latencies.push(taken);
    }
    Ok(Some(McpFigures { first_answer_ms, call: latencies.summary() }))
}

struct Server {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next_id: u64,
}

impl Server {
    fn start(cli: &Path, database: &Path) -> anyhow::Result<Self> {
        let mut process = Command::new(cli)
            .arg("--db")
            .arg(database)
            .arg("mcp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start `{}`", cli.display()))?;
        let input = process.stdin.take().context("no stdin")?;
        let output = BufReader::new(process.stdout.take().context("no stdout")?);
        Ok(Self { process, input, output, next_id: 1 })
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        self.input.write_all(format!("{message}\n").as_bytes())?;
        Ok(self.input.flush()?)
    }

    /// Notifications in between are passed over.
    fn request(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let mut line = String::new();
        loop {
            line.clear();
            ensure!(self.output.read_line(&mut line)? > 0, "`rootset mcp` ended at `{method}`");
            let mut message: Value = serde_json::from_str(&line).context("`rootset mcp` wrote something else")?;
            if message["id"] == id {
                ensure!(message.get("error").is_none(), "`{method}` failed: {message}");
                return Ok(message["result"].take());
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
