//! A server's door that can be slammed: it passes messages on between a client and the real server, and can cut the
//! connection at a chosen message, close to everybody, let answers vanish, or invent them.

mod messages;
mod server;

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;

use messages::{COMMITTED, behind_answer, is_commit, is_statement, read_message};
use server::{Address, Server};

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

#[derive(Debug)]
pub struct Proxy {
    folder: TempDir,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared(Mutex<State>);

#[derive(Default)]
struct State {
    server: Option<Address>,
    armed: Option<Cut>,
    /// Done instead of a commit, see [`Proxy::instead_of_commit`].
    instead: Instead,
    refused: usize,
    is_shut: bool,
    is_mute: bool,
    answers_early: bool,
    cuts: u64,
    open: Vec<Box<dyn Fn() + Send>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Proxy {
    /// In front of the server of that URL.
    pub fn new(url: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder for a socket");
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).expect("a socket in a new folder");
        let proxy = Self { folder, shared: Arc::default() };
        proxy.lead_to(url);
        let shared = Arc::clone(&proxy.shared);
        // It ends with the process.
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { return };
                let mut state = shared.state();
                if state.is_shut || state.refused > 0 {
                    state.refused = state.refused.saturating_sub(1);
                    continue;
                }
                // Who finds no server finds the connection closed.
                let Some(Ok(server)) = state.server.as_ref().map(Address::connect) else { continue };
                state.open.push(closer(&client, &server));
                drop(state);
                pass_on(client, server, &shared);
            }
        });
        proxy
    }

    /// The same database, by this door.
    pub fn url(&self, url: &str) -> String {
        let place = url.split_once('?').map_or(url, |(place, _)| place);
        let (scheme, rest) = place.split_once("://").expect("a URL");
        let (user, rest) = rest.split_once('@').unwrap_or(("postgres", rest));
        let database = rest.rsplit_once('/').expect("a URL with a database").1;
        format!("{scheme}://{user}@/{database}?host={}", self.folder.path().display())
    }

    /// Whoever connects from now on gets to the server of that URL.
    pub fn lead_to(&self, url: &str) {
        self.shared.state().server = Some(Address::of(url));
    }

    pub fn arm(&self, cut: Cut) {
        self.shared.state().armed = Some(cut);
    }

    /// The server never hears of the next commit. Something else is done, whatever becomes of the server by it, and only
    /// then is the connection cut.
    pub fn instead_of_commit(&self, done: impl FnOnce() + Send + 'static) {
        let mut state = self.shared.state();
        state.armed = Some(Cut::BeforeCommit(1));
        state.instead = Some(Box::new(done));
    }

    /// Whether nothing was cut; nothing will be from now on.
    pub fn disarm(&self) -> bool {
        let mut state = self.shared.state();
        state.instead = None;
        state.armed.take().is_some()
    }

    /// Connections that were cut at a chosen message so far.
    pub fn cuts(&self) -> u64 {
        self.shared.state().cuts
    }

    pub fn cut_all(&self) {
        self.shared.state().open.drain(..).for_each(|close| close());
    }

    /// So many tries to connect find nobody.
    pub fn refuse(&self, connections: usize) {
        self.shared.state().refused = connections;
    }

    /// Nobody gets in until it is opened; who is in stays.
    pub fn shut(&self) {
        self.shared.state().is_shut = true;
    }

    /// No answer of the server arrives from now on; what clients say still does.
    pub fn mute(&self) {
        self.shared.state().is_mute = true;
    }

    /// From now on every commit is answered at once, whatever the server says of it later.
    pub fn answer_commits_early(&self) {
        self.shared.state().answers_early = true;
    }

    /// Ends what is there, and lets everybody in.
    pub fn open(&self) {
        self.cut_all();
        let mut state = self.shared.state();
        state.is_shut = false;
        state.is_mute = false;
    }
}

fn closer(client: &UnixStream, server: &Server) -> Box<dyn Fn() + Send> {
    let (client, server) = (client.try_clone().expect("another handle"), server.another());
    Box::new(move || {
        client.shutdown(Shutdown::Both).ok();
        server.close();
    })
}

/// A thread for each direction.
fn pass_on(client: UnixStream, server: Server, shared: &Arc<Shared>) {
    // Set while an answer is awaited that must not arrive, and while the client must not learn that the server is gone.
    let (swallows, holds): (Arc<AtomicBool>, Arc<AtomicBool>) = Default::default();
    // Set while an answer is awaited that the client was given already.
    let is_answered: Arc<AtomicBool> = Arc::default();
    let (mut to_client, mut from_server) = (client.try_clone().expect("another handle"), server.another());
    let (swallowing, holding, answered) = (Arc::clone(&swallows), Arc::clone(&holds), Arc::clone(&is_answered));
    let (close, listening) = (closer(&client, &server), Arc::clone(shared));
    std::thread::spawn(move || {
        let mut buffer = [0; 16 << 10];
        let mut said = Vec::new();
        while let Ok(length @ 1..) = from_server.read(&mut buffer) {
            said.extend_from_slice(&buffer[..length]);
            if answered.load(Ordering::SeqCst) {
                let Some(rest) = behind_answer(&said) else { continue };
                said = rest.to_vec();
                answered.store(false, Ordering::SeqCst);
            }
            // Asked and passed on in one: who is told that it is mute can be sure that nothing slips through.
            let state = listening.state();
            if swallowing.load(Ordering::SeqCst) || (!state.is_mute && to_client.write_all(&said).is_err()) {
                break;
            }
            said.clear();
        }
        // A client behind a mute door learns nothing, not even that the server is gone, until the door is opened.
        if !listening.state().is_mute && !holding.load(Ordering::SeqCst) {
            close();
        }
    });
    let (shared, close) = (Arc::clone(shared), closer(&client, &server));
    let (mut from_client, mut to_server) = (client, server);
    std::thread::spawn(move || {
        let mut has_started = false;
        while let Some(message) = read_message(&mut from_client, &mut has_started) {
            let (met, answers_early) = {
                let mut state = shared.state();
                (meet(&mut state, &message), state.answers_early)
            };
            let passed = match met {
                None if answers_early && is_commit(&message) => {
                    is_answered.store(true, Ordering::SeqCst);
                    to_server.write_all(&message).and_then(|()| from_client.write_all(COMMITTED))
                }
                None => to_server.write_all(&message),
                Some((Cut::BeforeCommit(_), instead)) => {
                    if let Some(instead) = instead {
                        holds.store(true, Ordering::SeqCst);
                        instead();
                    }
                    break;
                }
                Some((Cut::AfterCommit(_), _)) => {
                    swallows.store(true, Ordering::SeqCst);
                    to_server.write_all(&message)
                }
                Some((Cut::InStatement(_), _)) => {
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

type Instead = Option<Box<dyn FnOnce() + Send>>;

/// Whether this message is the one, and then no other will be; with what is to be done instead.
fn meet(state: &mut State, message: &[u8]) -> Option<(Cut, Instead)> {
    let left = match &mut state.armed {
        Some(Cut::BeforeCommit(left) | Cut::AfterCommit(left)) if is_commit(message) => left,
        Some(Cut::InStatement(left)) if is_statement(message) => left,
        _ => return None,
    };
    *left -= 1;
    if *left > 0 {
        return None;
    }
    state.cuts += 1;
    let instead = state.instead.take();
    state.armed.take().map(|cut| (cut, instead))
}
