//! The open connections: how many, from which address, and which one is closed when there is no room for one more.
//!
//! A connection that waits for a request is given up for a new one: first those on which nobody has shown a token, then
//! the one that has waited the longest. So connections that somebody opens and never uses keep nobody else out, not even
//! from the same address. One with a running request is never given up; these have deadlines of their own.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::settings::ServerSettings;

#[derive(Debug)]
pub struct Connections {
    max: usize,
    per_address_max: usize,
    open: Arc<Mutex<Open>>,
}

#[derive(Debug, Default)]
struct Open {
    by_address: HashMap<IpAddr, Vec<Arc<Connection>>>,
    total: usize,
}

/// One of them, as its requests see it.
#[derive(Debug)]
pub struct Connection {
    /// Under which it is counted.
    address: IpAddr,
    /// The other end: the proxy's, where there is one.
    remote: IpAddr,
    opened: Instant,
    closing: CancellationToken,
    has_shown_token: AtomicBool,
    requests: AtomicUsize,
    /// When the last request ended, in milliseconds since it was opened.
    idle_since_ms: AtomicU64,
}

/// Its place among the open ones; given back when dropped.
#[derive(Debug)]
pub struct Place {
    pub connection: Arc<Connection>,
    open: Arc<Mutex<Open>>,
}

/// A request is running on the connection.
#[derive(Debug)]
pub struct Running(Arc<Connection>);

impl Connections {
    pub fn new(settings: &ServerSettings) -> Self {
        let (max, per_address_max) = (settings.connections_max, settings.connections_per_address_max);
        Self { max, per_address_max, open: Arc::default() }
    }

    /// A place for a new connection; `None` if every other one has a request running.
    pub fn enter(&self, from: IpAddr) -> Option<Place> {
        let connection = Arc::new(Connection::new(from));
        let mut open = self.open.lock();
        let of_address = open.by_address.get(&connection.address).map_or(0, Vec::len);
        if of_address >= self.per_address_max {
            open.give_up(Some(connection.address))?;
        } else if open.total >= self.max {
            open.give_up(None)?;
        }
        open.by_address.entry(connection.address).or_default().push(connection.clone());
        open.total += 1;
        Some(Place { connection, open: self.open.clone() })
    }
}

impl Open {
    /// Closes the connection that will be missed least, of one address or of all.
    fn give_up(&mut self, address: Option<IpAddr>) -> Option<()> {
        let candidates = self.by_address.iter().filter(|(of, _)| address.is_none_or(|it| it == **of));
        let idle = candidates.flat_map(|(_, them)| them).filter(|it| it.requests.load(Ordering::Relaxed) == 0);
        let least = idle.min_by_key(|it| (it.has_shown_token.load(Ordering::Relaxed), it.idle_since()))?.clone();
        least.closing.cancel();
        self.remove(&least);
        Some(())
    }

    fn remove(&mut self, connection: &Arc<Connection>) {
        let Some(of_address) = self.by_address.get_mut(&connection.address) else { return };
        let before = of_address.len();
        of_address.retain(|it| !Arc::ptr_eq(it, connection));
        self.total -= before - of_address.len();
        if of_address.is_empty() {
            self.by_address.remove(&connection.address);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.open.lock().remove(&self.connection);
    }
}

impl Connection {
    pub fn new(from: IpAddr) -> Self {
        Self {
            address: counted_as(from),
            remote: from.to_canonical(),
            opened: Instant::now(),
            closing: CancellationToken::new(),
            has_shown_token: AtomicBool::new(false),
            requests: AtomicUsize::new(0),
            idle_since_ms: AtomicU64::new(0),
        }
    }

    pub fn address(&self) -> IpAddr {
        self.address
    }

    pub fn remote(&self) -> IpAddr {
        self.remote
    }

    /// Until it is given up.
    pub async fn given_up(&self) {
        self.closing.cancelled().await;
    }

    pub fn token_was_shown(&self) {
        self.has_shown_token.store(true, Ordering::Relaxed);
    }

    pub fn begin_request(self: &Arc<Self>) -> Running {
        self.requests.fetch_add(1, Ordering::Relaxed);
        Running(self.clone())
    }

    fn idle_since(&self) -> Instant {
        self.opened + std::time::Duration::from_millis(self.idle_since_ms.load(Ordering::Relaxed))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let now_ms = u64::try_from(self.0.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.idle_since_ms.store(now_ms, Ordering::Relaxed);
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whoever has an address of IPv6 has the 64 bits behind it, too.
fn counted_as(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn connections(max: usize, per_address_max: usize) -> Connections {
        Connections::new(&ServerSettings {
            connections_max: max,
            connections_per_address_max: per_address_max,
            ..ServerSettings::default()
        })
    }

    fn is_given_up(place: &Place) -> bool {
        place.connection.closing.is_cancelled()
    }

    #[test]
    fn one_more_closes_a_strangers_connection_before_a_known_ones_and_never_a_busy_one() {
        let connections = connections(10, 3);
        let enter = || connections.enter(address("10.0.0.1"));
        let (busy, known, stranger) = (enter().unwrap(), enter().unwrap(), enter().unwrap());
        known.connection.token_was_shown();
        let running = busy.connection.begin_request();
        let fourth = enter().unwrap();
        assert!(is_given_up(&stranger) && !is_given_up(&known) && !is_given_up(&busy));
        let fourth_runs = fourth.connection.begin_request();
        let fifth = enter().unwrap();
        assert!(is_given_up(&known) && !is_given_up(&fourth));
        let fifth_runs = fifth.connection.begin_request();
        assert!(enter().is_none(), "every other one has a request running");
        assert!(connections.enter(address("10.0.0.2")).is_some(), "other addresses have their own share");
        drop((running, fourth_runs, fifth_runs));
        assert!(enter().is_some());
    }

    #[test]
    fn places_are_given_back_once() {
        let connections = connections(2, 2);
        let first = connections.enter(address("10.0.0.1")).unwrap();
        let second = connections.enter(address("10.0.0.2")).unwrap();
        let third = connections.enter(address("10.0.0.3")).unwrap();
        assert!(is_given_up(&first), "it waited the longest");
        drop((first, second, third));
        let open = connections.open.lock();
        assert!(open.total == 0 && open.by_address.is_empty(), "{open:?}");
    }

    #[test]
    fn addresses_are_counted_by_whoever_has_them() {
        assert_eq!(counted_as(address("::ffff:10.0.0.1")), address("10.0.0.1"));
        assert_eq!(counted_as(address("2001:db8:1:2:3:4:5:6")), address("2001:db8:1:2::"));
        assert_eq!(counted_as(address("::1")), address("::1"));
    }
}
