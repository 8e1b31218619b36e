//! The scheduler's loop, in a process of its own or beside a server: waits, and tells the scheduler to look.

use std::time::Duration;

use rootset_model::Timestamp;
use rootset_service::scheduler::{Scheduler, Tick};
use rootset_service::{Clock, SystemClock};

/// Looks at the time at least so often: clocks are set, other schedulers die, machines wake up.
const LOOK_EVERY_MS: i64 = 60_000;
pub const HOW_TO_TRUST: &str = "if the time is right: rootset daemon --trust-clock";

/// `wait` waits for so long, and answers `true` as soon as somebody asks to end.
pub fn until_stopped(scheduler: &Scheduler, wait: impl Fn(Duration) -> bool) {
    let mut last_doubt = None;
    loop {
        let tick = scheduler.tick();
        if !matches!(tick, Ok(Tick::Waiting(_))) {
            last_doubt = None;
        }
        let wait_ms = match tick {
            Ok(Tick::Ran(round)) => {
                tracing::info!(target: "rootset::gc", ?round, "a round finished");
                0
            }
            Ok(Tick::NotDue { next_at }) => until(next_at),
            Ok(Tick::HeldElsewhere | Tick::Disabled) => LOOK_EVERY_MS,
            Ok(Tick::Waiting(waiting)) => {
                // Said once per kind: the sizes change with every look.
                let kind = std::mem::discriminant(&waiting.doubt);
                if last_doubt.replace(kind) != Some(kind) {
                    tracing::info!(target: "rootset::gc", "{}; {HOW_TO_TRUST}", waiting.in_words());
                }
                LOOK_EVERY_MS
            }
            // The database may be busy, or its disk full: tomorrow is another day.
            Err(error) => {
                tracing::error!(target: "rootset::gc", %error, "a round failed");
                LOOK_EVERY_MS
            }
        };
        if wait(Duration::from_millis(wait_ms.unsigned_abs())) {
            return;
        }
    }
}

fn until(time: Timestamp) -> i64 {
    time.0.saturating_sub(SystemClock.now().0).clamp(0, LOOK_EVERY_MS)
}
