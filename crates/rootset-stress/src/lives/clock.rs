//! The clock of a life: it moves only when told, and may be wrong. Beside it what the database should make of it, written
//! down once more as plainly as possible.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use rootset_model::Timestamp;
use rootset_service::{Clock, Ids};

pub const MINUTE_MS: i64 = 60_000;
pub const HOUR_MS: i64 = 60 * MINUTE_MS;
pub const DAY_MS: i64 = 24 * HOUR_MS;
/// 2027-01-15T08:00:00Z.
const START_MS: i64 = 1_800_000_000_000;

/// One for all processes of a life: they are on one machine.
#[derive(Debug)]
pub struct LifeClock {
    wall: AtomicI64,
    elapsed: AtomicI64,
}

impl Default for LifeClock {
    fn default() -> Self {
        Self { wall: AtomicI64::new(START_MS), elapsed: AtomicI64::new(0) }
    }
}

impl LifeClock {
    pub fn pass_ms(&self, ms: i64) {
        self.elapsed.fetch_add(ms, Ordering::SeqCst);
        self.jump_ms(ms);
    }

    /// Somebody sets the clock; no time passes.
    pub fn jump_ms(&self, ms: i64) {
        self.wall.fetch_add(ms, Ordering::SeqCst);
    }

    pub fn set_right(&self) {
        self.wall.store(START_MS + self.elapsed_ms(), Ordering::SeqCst);
    }

    pub fn now_ms(&self) -> i64 {
        self.wall.load(Ordering::SeqCst)
    }
}

impl Clock for LifeClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.now_ms())
    }

    fn elapsed_ms(&self) -> i64 {
        self.elapsed.load(Ordering::SeqCst)
    }
}

/// UUIDv7-shaped, one after the other, over all processes.
#[derive(Debug, Default)]
pub struct CountedIds(AtomicU64);

impl Ids for CountedIds {
    fn next(&self, _: Timestamp) -> [u8; 16] {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&[0x01, 0x90, 0, 0, 0, 0, 0x70, 0]);
        id[8..].copy_from_slice(&self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes());
        id[8] = 0x80;
        id
    }
}

/// The time that the database has seen pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeenTime {
    pub seen_ms: i64,
    last_wall_ms: Option<i64>,
    /// A doubt ends when so much was seen; it stays noted until what was written meanwhile has been stamped anew.
    pub doubt_ends_ms: Option<i64>,
}

impl SeenTime {
    pub fn look(&mut self, wall_ms: i64) {
        let Some(last_ms) = self.last_wall_ms else {
            self.last_wall_ms = Some(wall_ms);
            return;
        };
        let ahead_ms = wall_ms - last_ms;
        if ahead_ms > 25 * HOUR_MS {
            self.seen_ms += DAY_MS;
            self.doubt_ends_ms = Some(self.seen_ms + DAY_MS);
        } else if ahead_ms >= MINUTE_MS {
            self.seen_ms += ahead_ms.min(DAY_MS);
        } else if ahead_ms < -HOUR_MS {
            self.doubt_ends_ms = Some(self.seen_ms + DAY_MS);
        } else {
            return;
        }
        self.last_wall_ms = Some(wall_ms);
    }

    pub fn is_in_doubt(&self) -> bool {
        self.doubt_ends_ms.is_some_and(|ends_ms| self.seen_ms < ends_ms)
    }
}

/// What one process knows of its own clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Guard {
    believed: Option<(i64, i64)>,
}

impl Guard {
    /// Whether the wall clock went on like the other one.
    pub fn believes(&mut self, wall_ms: i64, elapsed_ms: i64) -> bool {
        let jump_ms = self.believed.map_or(0, |(wall, elapsed)| (wall_ms - wall) - (elapsed_ms - elapsed));
        let is_believed = jump_ms.abs() <= 5 * MINUTE_MS;
        if is_believed {
            self.believed = Some((wall_ms, elapsed_ms));
        }
        is_believed
    }
}
