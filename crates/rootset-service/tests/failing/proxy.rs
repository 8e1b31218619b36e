//! A server's door that can be slammed: it passes messages on between a client and the real server, and can cut the
//! connection at a chosen message.
//!
//! It knows as much of PostgreSQL's protocol as it takes to tell one message from the next.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tempfile::TempDir;

/// Where the next connection that gets there is cut, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The server never hears of this commit.
    BeforeCommit(usize),
    /// It does it, and its answer is lost.
    AfterCommit(usize),
    /// Half of this statement arrives.
    InStatement(usize),
}

pub struct Proxy {
    folder: TempDir,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    armed: Option<Cut>,
    refused: usize,
    open: Vec<Box<dyn Fn() + Send>>,
}

impl Proxy {
    /// In front of the server of that URL.
    pub fn new(url: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        let state: Arc<Mutex<State>> = Arc::default();
        let (server, shared) = (Address::of(url), Arc::clone(&state));
        // It ends with the process.
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { return };
                let mut state = shared.lock().unwrap();
                if state.refused > 0 {
                    state.refused -= 1;
                    continue;
                }
                let server = server.connect();
                state.open.push(closer(&client, &server));
                drop(state);
                pass_on(client, server, &shared);
            }
        });
        Self { folder, state }
    }

    /// The same database, by this door.
    pub fn url(&self, url: &str) -> String {
        let place = url.split_once('?').map_or(url, |(place, _)| place);
        let (scheme, rest) = place.split_once("://").unwrap();
        let (user, rest) = rest.split_once('@').unwrap_or(("postgres", rest));
        let database = rest.rsplit_once('/').unwrap().1;
        format!("{scheme}://{user}@/{database}?host={}", self.folder.path().display())
    }

    pub fn arm(&self, cut: Cut) {
        self.state.lock().unwrap().armed = Some(cut);
    }

    /// Whether nothing was cut; nothing will be from now on.
    pub fn disarm(&self) -> bool {
        self.state.lock().unwrap().armed.take().is_some()
    }

    pub fn cut_all(&self) {
        self.state.lock().unwrap().open.drain(..).for_each(|close| close());
    }

    /// So many tries to connect find nobody.
    pub fn refuse(&self, connections: usize) {
        self.state.lock().unwrap().refused = connections;
    }
}

#[derive(Clone)]
enum Address {
    Socket(PathBuf),
    Port(String),
}

impl Address {
    fn of(url: &str) -> Self {
        let (place, parameters) = url.split_once('?').unwrap_or((url, ""));
        let parameter = |name: &str| {
            let found = parameters.split('&').filter_map(|it| it.split_once('=')).find(|(key, _)| *key == name);
            found.map(|(_, value)| value.replace("%2F", "/"))
        };
        let port = parameter("port").unwrap_or_else(|| "5432".to_owned());
        match parameter("host") {
            Some(host) if host.starts_with('/') => Self::Socket(PathBuf::from(host).join(format!(".s.PGSQL.{port}"))),
            Some(host) => Self::Port(format!("{host}:{port}")),
            None => {
                let place = place.split_once("://").unwrap().1;
                let place = place.split_once('@').map_or(place, |(_, place)| place);
                let host = place.split_once('/').map_or(place, |(host, _)| host);
                Self::Port(if host.contains(':') { host.to_owned() } else { format!("{host}:{port}") })
            }
        }
    }

    fn connect(&self) -> Server {
        match self {
            Self::Socket(path) => Server::Socket(UnixStream::connect(path).unwrap()),
            Self::Port(address) => Server::Port(TcpStream::connect(address).unwrap()),
        }
    }
}

enum Server {
    Socket(UnixStream),
    Port(TcpStream),
}

impl Server {
    fn another(&self) -> Self {
        match self {
            Self::Socket(stream) => Self::Socket(stream.try_clone().unwrap()),
            Self::Port(stream) => Self::Port(stream.try_clone().unwrap()),
        }
    }

    fn close(&self) {
        // Who is gone already is closed.
        match self {
            Self::Socket(stream) => stream.shutdown(Shutdown::Both).ok(),
            Self::Port(stream) => stream.shutdown(Shutdown::Both).ok(),
        };
    }
}

impl Read for Server {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Socket(stream) => stream.read(buffer),
            Self::Port(stream) => stream.read(buffer),
        }
    }
}

impl Write for Server {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Socket(stream) => stream.write(bytes),
            Self::Port(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn closer(client: &UnixStream, server: &Server) -> Box<dyn Fn() + Send> {
    let (client, server) = (client.try_clone().unwrap(), server.another());
    Box::new(move || {
        client.shutdown(Shutdown::Both).ok();
        server.close();
    })
}

/// A thread for each direction.
fn pass_on(client: UnixStream, server: Server, state: &Arc<Mutex<State>>) {
    // Set while an answer is awaited that must not arrive.
    let swallows: Arc<Mutex<bool>> = Arc::default();
    let (mut to_client, mut from_server) = (client.try_clone().unwrap(), server.another());
    let (close, swallowing) = (closer(&client, &server), Arc::clone(&swallows));
    std::thread::spawn(move || {
        let mut buffer = [0; 16 << 10];
        while let Ok(length @ 1..) = from_server.read(&mut buffer) {
            if *swallowing.lock().unwrap() || to_client.write_all(&buffer[..length]).is_err() {
                break;
            }
        }
        close();
    });
    let (state, close) = (Arc::clone(state), closer(&client, &server));
    let (mut from_client, mut to_server) = (client, server);
    std::thread::spawn(move || {
        let mut has_started = false;
        while let Some(message) = read_message(&mut from_client, &mut has_started) {
            let passed = match meet(&mut state.lock().unwrap().armed, &message) {
                None => to_server.write_all(&message),
                Some(Cut::BeforeCommit(_)) => break,
                Some(Cut::AfterCommit(_)) => {
                    *swallows.lock().unwrap() = true;
                    to_server.write_all(&message)
                }
                Some(Cut::InStatement(_)) => {
                    to_server.write_all(&message[..message.len() / 2]).ok();
                    break;
                }
            };
            if passed.is_err() {
                break;
            }
        }
        close();
    });
}

/// Whether this message is the one, and then no other will be.
fn meet(armed: &mut Option<Cut>, message: &[u8]) -> Option<Cut> {
    let is_commit = message.first() == Some(&b'Q') && message.ends_with(b"COMMIT\0");
    let is_statement = matches!(message.first(), Some(b'Q' | b'P' | b'B')) && !is_commit;
    let left = match armed {
        Some(Cut::BeforeCommit(left) | Cut::AfterCommit(left)) if is_commit => left,
        Some(Cut::InStatement(left)) if is_statement => left,
        _ => return None,
    };
    *left -= 1;
    if *left > 0 { None } else { armed.take() }
}

/// The first messages of a connection have no letter in front.
fn read_message(stream: &mut UnixStream, has_started: &mut bool) -> Option<Vec<u8>> {
    const PROTOCOL_3: u16 = 3;
    let mut message = vec![0; if *has_started { 5 } else { 4 }];
    stream.read_exact(&mut message).ok()?;
    let head = message.len();
    let length = u32::from_be_bytes(message[head - 4..].try_into().unwrap()) as usize;
    message.resize(head + length - 4, 0);
    stream.read_exact(&mut message[head..]).ok()?;
    if !*has_started {
        *has_started = u16::from_be_bytes([message[4], message[5]]) == PROTOCOL_3;
    }
    Some(message)
}
