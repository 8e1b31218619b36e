//! The other side of a webhook: a real server that answers, refuses or holds its answer, and checks signatures.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use parking_lot::{Condvar, Mutex};
use sha2::Sha256;

pub const SECRET: &str = "hunter2";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    Answer(u16),
    /// No answer until it behaves otherwise.
    Hold,
    /// Answers so many well, and 500 from then on.
    FailAfter(usize),
}

#[derive(Clone, Debug)]
pub struct Request {
    headers: Vec<(String, String)>,
    pub body: String,
}

impl Request {
    fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str()).expect(name)
    }

    #[track_caller]
    pub fn assert_signed(&self) {
        assert_eq!(self.header("content-type"), "application/json");
        let timestamp = self.header("x-rootset-timestamp");
        assert!(timestamp.parse::<i64>().is_ok_and(|seconds| seconds > 1_700_000_000), "{timestamp}");
        let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
        mac.update(format!("{timestamp}.{}", self.body).as_bytes());
        let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(self.header("x-rootset-signature"), format!("sha256={hex}"));
    }
}

struct State {
    manner: Manner,
    requests: Vec<Request>,
}

pub struct Hook {
    address: String,
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl Hook {
    pub fn new() -> Self {
        Self::on("127.0.0.1:0")
    }

    pub fn on(address: &str) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let state = State { manner: Manner::Answer(200), requests: Vec::new() };
        let shared = Arc::new((Mutex::new(state), Condvar::new()));
        let hook = Self { address: listener.local_addr().unwrap().to_string(), shared: shared.clone() };
        // It ends with the process of the test; a request that is never answered holds up nobody else.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let shared = shared.clone();
                std::thread::spawn(move || answer(&shared, &stream.unwrap()));
            }
        });
        hook
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn behave(&self, manner: Manner) {
        self.shared.0.lock().manner = manner;
        self.shared.1.notify_all();
    }

    pub fn wait_for_request(&self) {
        let mut state = self.shared.0.lock();
        self.shared.1.wait_while(&mut state, |state| state.requests.is_empty());
    }

    /// Requests since the last time, whatever their answer was.
    pub fn taken(&self) -> Vec<Request> {
        std::mem::take(&mut self.shared.0.lock().requests)
    }

    pub fn bodies(&self) -> Vec<String> {
        self.taken().into_iter().map(|request| request.body).collect()
    }
}

fn answer((state, changed): &(Mutex<State>, Condvar), stream: &TcpStream) {
    let request = read(stream);
    let mut state = state.lock();
    state.requests.push(request);
    let number = state.requests.len();
    changed.notify_all();
    changed.wait_while(&mut state, |state| state.manner == Manner::Hold);
    let status = match state.manner {
        Manner::Answer(status) => status,
        Manner::FailAfter(good) if number <= good => 200,
        Manner::FailAfter(_) | Manner::Hold => 500,
    };
    drop(state);
    let mut stream = stream;
    let head = format!("HTTP/1.1 {status} Status\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    // Who waited too long is gone.
    let _ = stream.write_all(head.as_bytes());
}

fn read(stream: &TcpStream) -> Request {
    let mut reader = BufReader::new(stream);
    let mut headers = Vec::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.trim().split_once(": ") {
            let name = name.to_lowercase();
            if name == "content-length" {
                length = value.parse().unwrap();
            }
            headers.push((name, value.to_owned()));
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Request { headers, body: String::from_utf8(body).unwrap() }
}
