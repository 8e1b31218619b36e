//! A real HTTP server on a local port that gives scripted replies and notes what it received, and a clock that only
//! moves when somebody sleeps on it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rootset_provider::{EndpointSettings, ProviderError, Secret, Timer};
use serde_json::{Value, json};

pub const KEY: &str = "sk-test-0123456789-hunter2";

/// What the server does with one connection.
#[derive(Debug)]
pub enum Reply {
    Answer {
        status: u16,
        headers: &'static str,
        body: String,
    },
    /// Keeps the connection open and never says anything.
    Silence,
    /// Closes the connection without a word.
    Hangup,
    /// A body without an end; stops when the client does.
    Endless,
}

impl Reply {
    pub fn status(status: u16) -> Self {
        // A body that quotes what was sent, as real endpoints do: it must not get into an error.
        Self::Answer { status, headers: "", body: format!(r#"{{"error": {{"message": "key {KEY} and Falcon"}}}}"#) }
    }

    pub fn retry_after(status: u16, headers: &'static str) -> Self {
        Self::Answer { status, headers, body: String::new() }
    }

    pub fn body(body: impl ToString) -> Self {
        Self::Answer { status: 200, headers: "", body: body.to_string() }
    }

    /// A chat completion with this message.
    pub fn message(content: impl ToString) -> Self {
        Self::finished("stop", content)
    }

    pub fn finished(finish_reason: &str, content: impl ToString) -> Self {
        let message = json!({"role": "assistant", "content": content.to_string()});
        Self::body(json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }))
    }

    /// An answer of `/embeddings` with these rows, indexes as given.
    pub fn vectors(rows: &[(usize, &[f32])]) -> Self {
        let data: Vec<Value> = rows
            .iter()
            .map(|(index, vector)| json!({"object": "embedding", "index": index, "embedding": vector}))
            .collect();
        Self::body(json!({"object": "list", "data": data, "model": "m"}))
    }
}

/// One request as it arrived.
#[derive(Debug)]
pub struct Received {
    pub request_line: String,
    pub headers: Vec<String>,
    pub body: Value,
}

impl Received {
    /// The value of a header, by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let split = |line: &'_ str| line.split_once(": ").map(|(key, _)| key.to_ascii_lowercase());
        let line = self.headers.iter().find(|line| split(line).as_deref() == Some(name))?;
        line.split_once(": ").map(|(_, value)| value)
    }
}

pub struct Server {
    pub base_url: String,
    received: Arc<Mutex<Vec<Received>>>,
    /// Held here, not in the thread: a silent connection stays open until the test is done.
    silent: Arc<Mutex<Vec<TcpStream>>>,
    thread: JoinHandle<()>,
}

impl Server {
    /// One connection per reply; afterwards nobody listens.
    pub fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let silent = Arc::new(Mutex::new(Vec::new()));
        let (notes, held) = (Arc::clone(&received), Arc::clone(&silent));
        let thread = std::thread::spawn(move || {
            for reply in replies {
                let (mut stream, _) = listener.accept().unwrap();
                notes.lock().unwrap().push(read_request(&stream));
                match reply {
                    Reply::Silence => held.lock().unwrap().push(stream),
                    Reply::Hangup => drop(stream),
                    Reply::Endless => write_endless(&mut stream),
                    Reply::Answer { status, headers, body } => write_answer(&mut stream, status, headers, &body),
                }
            }
        });
        Self { base_url, received, silent, thread }
    }

    /// Settings for this server: a key, short timeouts and up to four attempts.
    pub fn settings(&self) -> EndpointSettings {
        let settings = EndpointSettings::new(&self.base_url, "m").with_api_key(Secret::new(KEY));
        EndpointSettings { timeout_ms: 5_000, total_timeout_ms: 60_000, attempts_max: 4, ..settings }
    }

    /// What arrived. Every reply must have been asked for: a script with replies left over would block the test.
    pub fn finish(self) -> Vec<Received> {
        self.thread.join().unwrap();
        self.silent.lock().unwrap().clear();
        std::mem::take(&mut *self.received.lock().unwrap())
    }
}

fn read_request(stream: &TcpStream) -> Received {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let request_line = lines.remove(0);
    let mut received = Received { request_line, headers: lines, body: Value::Null };
    let length: usize = received.header("content-length").expect("a body of known length").parse().unwrap();
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    received.body = serde_json::from_slice(&body).unwrap();
    received
}

fn write_answer(stream: &mut TcpStream, status: u16, headers: &str, body: &str) {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} Scripted\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
}

fn write_endless(stream: &mut TcpStream) {
    stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n").unwrap();
    let block = [b' '; 64 << 10];
    while stream.write_all(&block).is_ok() {}
}

/// Time passes only by sleeping, at once, and every sleep is noted.
#[derive(Debug, Default)]
pub struct FakeTimer {
    slept_ms: Mutex<Vec<u64>>,
}

impl FakeTimer {
    pub fn slept_ms(&self) -> Vec<u64> {
        self.slept_ms.lock().unwrap().clone()
    }
}

impl Timer for FakeTimer {
    fn now_ms(&self) -> u64 {
        self.slept_ms.lock().unwrap().iter().sum()
    }

    fn sleep_ms(&self, milliseconds: u64) {
        self.slept_ms.lock().unwrap().push(milliseconds);
    }
}

/// A port where nobody listens.
pub fn closed_port_url() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/v1", listener.local_addr().unwrap())
}

/// Neither form of an error may hold the key, the text sent, or words of the answer.
pub fn assert_says_nothing_private(error: &ProviderError) {
    for shown in [error.to_string(), format!("{error:?}"), format!("{error:#?}")] {
        for private in [KEY, "hunter2", "Falcon", "Redis", "Certainly", "Bearer"] {
            assert!(!shown.contains(private), "`{private}` in: {shown}");
        }
    }
}
