//! Whether the time can be believed. Pure: readings in, a verdict out.
//!
//! Ages decide what is deleted, so a clock that jumps deletes. Within a process the wall clock is compared with one that
//! nobody can set; from one process to the next, with the last time that was believed. When in doubt, nothing is deleted
//! and a person decides.

use rootset_model::Timestamp;
use serde::Serialize;

/// What clocks correct by themselves: leap seconds, a slow quartz, two machines that share a database.
pub const DRIFT_MS_MAX: i64 = 5 * 60_000;
/// From one process to the next: longer than machines that somebody uses are off, shorter than what an empty battery or
/// a mistyped year makes of a date.
pub const ABSENCE_MS_MAX: i64 = 90 * 24 * 3_600_000;

/// Both clocks, read at the same moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    pub wall: Timestamp,
    pub elapsed_ms: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "doubt", rename_all = "snake_case")]
pub enum Doubt {
    WentBack { by_ms: i64 },
    JumpedAhead { by_ms: i64 },
}

impl Doubt {
    pub fn in_words(self) -> String {
        let minutes = |ms: i64| match ms / 60_000 {
            1 => "1 minute".to_owned(),
            minutes if minutes < 120 => format!("{minutes} minutes"),
            minutes if minutes < 2 * 24 * 60 => format!("{} hours", minutes / 60),
            minutes => format!("{} days", minutes / (24 * 60)),
        };
        match self {
            Self::WentBack { by_ms } => format!("the clock went back by {}", minutes(by_ms)),
            Self::JumpedAhead { by_ms } => format!("the clock jumped ahead by {}", minutes(by_ms)),
        }
    }
}

/// Remembers the last reading that was believed in this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClockGuard {
    believed: Option<Reading>,
}

impl ClockGuard {
    /// Judges a reading; one that is believed becomes the measure of the next. `last_seen` is the last time that any
    /// process believed: the only measure of the first reading, and a second one of those after it.
    pub fn check(&mut self, reading: Reading, last_seen: Option<Timestamp>) -> Result<(), Doubt> {
        let within = self.believed.map(|believed| {
            let expected = believed.wall.0.saturating_add(reading.elapsed_ms.saturating_sub(believed.elapsed_ms));
            (expected, DRIFT_MS_MAX)
        });
        let across = last_seen.map(|seen| (seen.0, ABSENCE_MS_MAX));
        for (expected, ahead_ms_max) in within.into_iter().chain(across) {
            judge(reading.wall.0.saturating_sub(expected), ahead_ms_max)?;
        }
        self.believed = Some(reading);
        Ok(())
    }

    /// A person vouches for this reading.
    pub fn believe(&mut self, reading: Reading) {
        self.believed = Some(reading);
    }
}

fn judge(ahead_ms: i64, ahead_ms_max: i64) -> Result<(), Doubt> {
    if ahead_ms < -DRIFT_MS_MAX {
        Err(Doubt::WentBack { by_ms: ahead_ms.saturating_neg() })
    } else if ahead_ms > ahead_ms_max {
        Err(Doubt::JumpedAhead { by_ms: ahead_ms })
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_MS: i64 = 3_600_000;
    const DAY_MS: i64 = 24 * HOUR_MS;
    const YEAR_MS: i64 = 365 * DAY_MS;
    const NOW: i64 = 1_800_000_000_000;

    fn at(wall_ms: i64, elapsed_ms: i64) -> Reading {
        Reading { wall: Timestamp(wall_ms), elapsed_ms }
    }

    fn started() -> ClockGuard {
        let mut guard = ClockGuard::default();
        assert_eq!(guard.check(at(NOW, 0), Some(Timestamp(NOW - DAY_MS))), Ok(()));
        guard
    }

    #[test]
    fn clocks_that_go_on_together_are_believed() {
        let mut guard = started();
        assert_eq!(guard.check(at(NOW + 30 * DAY_MS, 30 * DAY_MS), Some(Timestamp(NOW))), Ok(()));
        assert_eq!(guard.check(at(NOW + 31 * DAY_MS + 60_000, 31 * DAY_MS), Some(Timestamp(NOW))), Ok(()));
    }

    #[test]
    fn jump_within_a_process_is_noticed_in_either_direction() {
        let mut guard = started();
        let ahead = guard.check(at(NOW + 2 * HOUR_MS, HOUR_MS), Some(Timestamp(NOW)));
        assert_eq!(ahead, Err(Doubt::JumpedAhead { by_ms: HOUR_MS }));
        let back = guard.check(at(NOW, HOUR_MS), Some(Timestamp(NOW)));
        assert_eq!(back, Err(Doubt::WentBack { by_ms: HOUR_MS }));
        assert_eq!(guard.check(at(NOW + HOUR_MS, HOUR_MS), Some(Timestamp(NOW))), Ok(()), "it was set right again");
    }

    #[test]
    fn jump_between_two_processes_is_noticed() {
        let check = |wall_ms| ClockGuard::default().check(at(wall_ms, 7), Some(Timestamp(NOW)));
        assert_eq!(check(NOW - 400 * DAY_MS), Err(Doubt::WentBack { by_ms: 400 * DAY_MS }));
        assert_eq!(check(NOW + 10 * YEAR_MS), Err(Doubt::JumpedAhead { by_ms: 10 * YEAR_MS }));
        assert_eq!(check(NOW - DRIFT_MS_MAX), Ok(()));
        assert_eq!(check(NOW + ABSENCE_MS_MAX), Ok(()));
    }

    #[test]
    fn slow_drift_never_adds_up_to_a_jump() {
        let mut guard = started();
        for day in 1..100 {
            let drift_ms = day * 60_000;
            let seen = Some(Timestamp(NOW + (day - 1) * (DAY_MS + 60_000)));
            assert_eq!(guard.check(at(NOW + day * DAY_MS + drift_ms, day * DAY_MS), seen), Ok(()));
        }
    }

    #[test]
    fn person_can_vouch_for_a_new_time() {
        let mut guard = started();
        assert!(guard.check(at(NOW + YEAR_MS, 0), Some(Timestamp(NOW))).is_err());
        guard.believe(at(NOW + YEAR_MS, 0));
        assert_eq!(guard.check(at(NOW + YEAR_MS + 1, 1), Some(Timestamp(NOW + YEAR_MS))), Ok(()));
    }
}
