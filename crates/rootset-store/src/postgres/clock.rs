//! The server's wall clock, and the database's own clock beside it: both come with the answer that begins a transaction, and
//! what has to be written goes with its commit, so that time costs no round trip.

use std::sync::atomic::{AtomicI64, Ordering};

use rootset_gc::ObservedTime;
use rootset_model::Timestamp;
use tokio_postgres::Row;

use crate::driver::Wall;
use crate::time;

/// Clocks that differ by less agree.
const AGREEMENT_MS: i64 = 1_000;

/// As a transaction began.
#[derive(Clone, Copy, Debug)]
pub struct ServerClock {
    pub server_now: Timestamp,
    stored: ObservedTime,
    pub now: ObservedTime,
}

impl ServerClock {
    /// The five columns from `first` on; `wall` stands in for the server's clock.
    pub fn read(row: &Row, first: usize, wall: Option<&Wall>) -> Result<Self, tokio_postgres::Error> {
        let server_now = Timestamp(row.try_get(first)?);
        let stored = time::of_columns(
            row.try_get(first + 1)?,
            row.try_get(first + 2)?,
            row.try_get(first + 3)?,
            row.try_get(first + 4)?,
        );
        let now = stored.at(wall.map_or(server_now, |wall| wall()));
        Ok(Self { server_now, stored, now })
    }

    /// The statement that moves the stored clock on, if it has to be; nothing happens where somebody else has done it.
    pub fn moved_on(&self) -> Option<String> {
        let (before, now) = (self.stored, self.now);
        if now == before {
            return None;
        }
        let wall = |clock: ObservedTime| clock.last_wall.map_or_else(|| "NULL".to_owned(), |wall| wall.0.to_string());
        // A doubt that is over is ended by whoever has stamped anew what was written during it.
        let doubt = match now.doubt.filter(|_| now.doubt != before.doubt) {
            Some(new) => format!(", doubt_ends_ms = {}, doubt_jump_ms = {}", new.ends_ms, new.jump_ms),
            None => String::new(),
        };
        Some(format!(
            "UPDATE observed_time SET observed_ms = {}, last_wall_ms = {}{doubt} \
             WHERE observed_ms = {} AND last_wall_ms IS NOT DISTINCT FROM {}; ",
            now.observed_ms,
            wall(now),
            before.observed_ms,
            wall(before),
        ))
    }
}

/// By how much the server's clock is ahead of this machine's.
#[derive(Debug, Default)]
pub struct ServerAhead(AtomicI64);

impl ServerAhead {
    pub fn ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    /// The server told its time somewhere between two looks at the clock of this machine. What is known stays while it can
    /// be right: time must not jump to and fro.
    pub fn compare(&self, server: Timestamp, before: Timestamp, after: Timestamp) {
        let least_ms = server.0.saturating_sub(after.0).saturating_sub(AGREEMENT_MS);
        let most_ms = server.0.saturating_sub(before.0).saturating_add(AGREEMENT_MS);
        if !(least_ms..=most_ms).contains(&self.ms()) {
            self.0.store(server.0.saturating_sub(after.0), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_that_agree_are_one_and_others_are_measured() {
        let ahead = ServerAhead::default();
        let compare = |server, before, after| {
            ahead.compare(Timestamp(server), Timestamp(before), Timestamp(after));
            ahead.ms()
        };
        assert_eq!(compare(10_900, 10_000, 10_001), 0);
        assert_eq!(compare(19_000, 10_000, 20_000), 0, "an answer that took long");
        assert_eq!(compare(70_000, 10_000, 10_000), 60_000);
        assert_eq!(compare(75_400, 10_500, 20_000), 60_000);
        assert_eq!(compare(10_000, 70_000, 70_000), -60_000);
        assert_eq!(compare(10_000, 10_000, 10_000), 0);
    }
}
