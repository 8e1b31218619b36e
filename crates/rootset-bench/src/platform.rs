//! What systems tell in different ways about time and memory. The rest of the crate is the same everywhere.

use std::time::Duration;

#[cfg(unix)]
use nix::sys::resource::{UsageWho, getrusage};
#[cfg(unix)]
use nix::time::{ClockId, clock_gettime};

/// Of this thread, which does all the work of a call.
#[cfg(unix)]
pub fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

/// Nothing tells the time of one thread: the clock stands in for it.
#[cfg(not(unix))]
pub fn processor_time() -> Duration {
    static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
    START.elapsed()
}

/// The largest resident size of any process that this one started and that has ended, where the system tells.
#[cfg(unix)]
pub fn peak_memory_of_children_kib() -> Option<u64> {
    // Apple's systems count bytes, others KiB.
    let unit = if cfg!(target_vendor = "apple") { 1_024 } else { 1 };
    getrusage(UsageWho::RUSAGE_CHILDREN).ok().and_then(|usage| u64::try_from(usage.max_rss() / unit).ok())
}

#[cfg(not(unix))]
pub fn peak_memory_of_children_kib() -> Option<u64> {
    None
}
