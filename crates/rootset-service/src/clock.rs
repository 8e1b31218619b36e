//! The only clock and the only source of ids. Tests bring their own.

use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use rootset_model::Timestamp;
use uuid::{ContextV7, Uuid};

use crate::platform;

pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;

    /// Milliseconds since some moment before this process: nobody sets it, and it goes on while the machine sleeps. The
    /// clock guard holds [`Self::now`] against it.
    fn elapsed_ms(&self) -> i64;
}

#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        // A clock before 1970 is broken: time 0 expires nothing and orders before everything.
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }

    fn elapsed_ms(&self) -> i64 {
        platform::elapsed_ms()
    }
}

/// Sixteen bytes that nobody else has; later ones order after earlier ones.
pub trait Ids: Send + Sync {
    fn next(&self, now: Timestamp) -> [u8; 16];
}

/// UUIDv7: the time first, then a counter and randomness, so that new rows land side by side.
#[derive(Debug)]
pub struct SystemIds(Mutex<ContextV7>);

impl Default for SystemIds {
    fn default() -> Self {
        Self(Mutex::new(ContextV7::new()))
    }
}

impl Ids for SystemIds {
    fn next(&self, now: Timestamp) -> [u8; 16] {
        let milliseconds = u64::try_from(now.0).unwrap_or(0);
        let nanoseconds = (milliseconds % 1_000) as u32 * 1_000_000;
        let time = uuid::Timestamp::from_unix(&*self.0.lock(), milliseconds / 1_000, nanoseconds);
        Uuid::new_v7(time).into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_one_millisecond_are_ordered_and_distinct() {
        let ids = SystemIds::default();
        let drawn: Vec<[u8; 16]> = (0..1_000).map(|_| ids.next(Timestamp(1_800_000_000_000))).collect();
        assert!(drawn.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
