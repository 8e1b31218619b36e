//! Why nothing is deleted automatically at the moment: the wall clock jumped, or nothing ran for a while.

use rootset_gc::ObservedTime;

use super::clock_guard::{Doubt, Reading};
use crate::error::ServiceError;
use crate::service::Service;

/// A wait, not an alarm: mostly a machine was off for a few days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub doubt: Doubt,
    /// How long the database has to be in use until the doubt is over; `None`: until the clock is set right, or a person
    /// vouches for it.
    pub left_ms: Option<i64>,
}

impl Waiting {
    pub fn in_words(&self) -> String {
        let until = match self.left_ms {
            Some(left_ms) => format!("for another {} of running time", rounded_up(left_ms)),
            None => "until the clock is right again".to_owned(),
        };
        format!("{}: nothing is purged or deleted automatically {until}", self.doubt.in_words())
    }

    /// What the database itself doubts.
    pub(crate) fn of_database(clock: &ObservedTime) -> Option<Self> {
        let doubt = clock.doubt.filter(|_| clock.is_in_doubt())?;
        let left_ms = Some(doubt.ends_ms.saturating_sub(clock.observed_ms));
        Some(Self { doubt: Doubt::of_jump(doubt.jump_ms), left_ms })
    }
}

fn rounded_up(left_ms: i64) -> String {
    const MINUTE_MS: i64 = 60_000;
    let minutes = left_ms.saturating_add(MINUTE_MS - 1) / MINUTE_MS;
    if minutes > 120 { format!("{} hours", minutes.saturating_add(59) / 60) } else { format!("{minutes} minutes") }
}

impl Service {
    /// Whether automatic deletion waits, and why.
    pub(crate) fn waiting(&self) -> Result<Option<Waiting>, ServiceError> {
        let clock = self.store.observed_time()?;
        let of_process = self.clock_guard.lock().check(self.reading());
        let of_process = of_process.err().map(|doubt| Waiting { doubt, left_ms: None });
        Ok(Waiting::of_database(&clock).or(of_process))
    }

    pub(crate) fn reading(&self) -> Reading {
        Reading { wall: self.now(), elapsed_ms: self.elapsed_ms() }
    }
}
