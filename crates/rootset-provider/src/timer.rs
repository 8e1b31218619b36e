//! The clock and the waiting of retries, behind a trait so that tests neither sleep nor race.

use std::fmt::Debug;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

pub trait Timer: Send + Sync + Debug {
    /// Milliseconds since some fixed point; never goes back.
    fn now_ms(&self) -> u64;

    fn sleep_ms(&self, milliseconds: u64);
}

#[derive(Clone, Copy, Debug, Default)]
pub struct SystemTimer;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Timer for SystemTimer {
    fn now_ms(&self) -> u64 {
        u64::try_from(START.elapsed().as_millis()).expect("a process does not run for 500 million years")
    }

    fn sleep_ms(&self, milliseconds: u64) {
        std::thread::sleep(Duration::from_millis(milliseconds));
    }
}
