//! `rootset serve` as a process of a benchmark, and connections to it: plain sockets, so that little of what is measured is
//! a client library's.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, ensure};
use serde_json::Value;

/// A server of this benchmark, which ends with it.
pub struct Server {
    process: Child,
    address: String,
    token: String,
}

/// Who may ask.
pub enum Access {
    /// Whoever has the first token, which is in this file after the start.
    Token(PathBuf),
    Anybody,
}

impl Server {
    /// Starts it on a port of its own and waits until it listens.
    pub fn start(cli: &Path, database: &str, access: &Access) -> anyhow::Result<Self> {
        let mut command = Command::new(cli);
        // By the environment: arguments can be seen by everybody on the machine, and a URL may hold a password.
        command.env("ROOTSET_DB", database).env("ROOTSET_LOG", "warn");
        command.args(["--quiet", "serve", "--listen", "127.0.0.1:0"]);
        if let Access::Anybody = access {
            command.arg("--no-auth");
        }
        let mut process =
            command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start `{}`", cli.display()))?;
        let mut line = String::new();
        BufReader::new(process.stdout.take().context("no stdout")?).read_line(&mut line)?;
        let address = line.trim().strip_prefix("listening on http://").map(str::to_owned);
        let token = match access {
            Access::Token(file) => {
                std::fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))
            }
            Access::Anybody => Ok(String::new()),
        };
        // From here on the process ends with this value, whatever goes wrong.
        let mut server = Self { process, address: String::new(), token: String::new() };
        server.address = address.with_context(|| format!("`rootset serve` said `{}`", line.trim()))?;
        server.token = token?.trim().to_owned();
        Ok(server)
    }

    pub fn connect(&self) -> anyhow::Result<Connection> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        let mut head = format!("Host: {}\r\nContent-Type: application/json\r\n", self.address);
        if !self.token.is_empty() {
            head.push_str(&format!("Authorization: Bearer {}\r\n", self.token));
        }
        Ok(Connection { stream, head, buffer: Vec::new() })
    }

    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Resident now, where Linux tells.
    pub fn memory_kib(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().trim_end_matches("kB").trim().parse().ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its database is of no use afterwards: nobody needs a graceful end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub struct Connection {
    stream: TcpStream,
    head: String,
    buffer: Vec<u8>,
}

impl Connection {
    /// The answer, which has to be a good one.
    pub fn call(&mut self, operation: &str, request: &Value) -> anyhow::Result<&[u8]> {
        let body = request.to_string();
        let length = body.len();
        let request = format!("POST /v1/{operation} HTTP/1.1\r\n{}Content-Length: {length}\r\n\r\n{body}", self.head);
        self.stream.write_all(request.as_bytes())?;
        self.buffer.clear();
        let mut piece = [0; 16_384];
        loop {
            let count = self.stream.read(&mut piece)?;
            ensure!(count > 0, "the server closed the connection");
            self.buffer.extend_from_slice(&piece[..count]);
            if let Some((head, whole)) = lengths(&self.buffer)?
                && self.buffer.len() >= whole
            {
                ensure!(self.buffer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&self.buffer));
                return Ok(&self.buffer[head..whole]);
            }
        }
    }
}

/// Bytes of the head, and of head and body together, once the head is here.
fn lengths(bytes: &[u8]) -> anyhow::Result<Option<(usize, usize)>> {
    let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&bytes[..end])?.to_ascii_lowercase();
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length:")).context("an answer of no length")?;
    Ok(Some((end + 4, end + 4 + length.trim().parse::<usize>()?)))
}
