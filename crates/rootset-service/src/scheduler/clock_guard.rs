//! Whether the time can be believed within a process. Pure: readings in, a verdict out.
//!
//! Ages decide what is deleted, so a clock that jumps deletes. The wall clock is held against one that nobody can set: also
//! jumps that are too small for the database's own clock (`rootset-gc/src/observed.rs`) are noticed here. In doubt nothing is
//! deleted, and a person decides.

use rootset_model::Timestamp;
use serde::Serialize;

/// What clocks correct by themselves: leap seconds, a slow quartz, two machines that share a database.
pub const DRIFT_MS_MAX: i64 = 5 * 60_000;

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
    /// Of a jump ahead, or back where it is negative.
    pub fn of_jump(jump_ms: i64) -> Self {
        match jump_ms < 0 {
            true => Self::WentBack { by_ms: jump_ms.saturating_neg() },
            false => Self::JumpedAhead { by_ms: jump_ms },
        }
    }

    pub fn in_words(self) -> String {
        match self {
            Self::WentBack { by_ms } => rootset_gc::jump_in_words(by_ms.saturating_neg()),
            Self::JumpedAhead { by_ms } => rootset_gc::jump_in_words(by_ms),
        }
    }
}

/// Remembers the last reading that was believed in this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClockGuard {
    believed: Option<Reading>,
}

impl ClockGuard {
    /// Judges a reading; one that is believed becomes the measure of the next.
    pub fn check(&mut self, reading: Reading) -> Result<(), Doubt> {
        if let Some(believed) = self.believed {
            let passed_ms = reading.elapsed_ms.saturating_sub(believed.elapsed_ms);
            let jump_ms = reading.wall.0.saturating_sub(believed.wall.0.saturating_add(passed_ms));
            if jump_ms.saturating_abs() > DRIFT_MS_MAX {
                return Err(Doubt::of_jump(jump_ms));
            }
        }
        self.believed = Some(reading);
        Ok(())
    }

    /// A person vouches for this reading.
    pub fn believe(&mut self, reading: Reading) {
        self.believed = Some(reading);
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
        assert_eq!(guard.check(at(NOW, 0)), Ok(()));
        guard
    }

    #[test]
    fn clocks_that_go_on_together_are_believed() {
        let mut guard = started();
        assert_eq!(guard.check(at(NOW + 30 * DAY_MS, 30 * DAY_MS)), Ok(()));
        assert_eq!(guard.check(at(NOW + 31 * DAY_MS + 60_000, 31 * DAY_MS)), Ok(()));
    }

    #[test]
    fn jump_within_a_process_is_noticed_in_either_direction() {
        let mut guard = started();
        assert_eq!(guard.check(at(NOW + 2 * HOUR_MS, HOUR_MS)), Err(Doubt::JumpedAhead { by_ms: HOUR_MS }));
        assert_eq!(guard.check(at(NOW, HOUR_MS)), Err(Doubt::WentBack { by_ms: HOUR_MS }));
        assert_eq!(guard.check(at(NOW + HOUR_MS, HOUR_MS)), Ok(()), "it was set right again");
    }

    #[test]
    fn slow_drift_never_adds_up_to_a_jump() {
        let mut guard = started();
        for day in 1..100 {
            assert_eq!(guard.check(at(NOW + day * DAY_MS + day * 60_000, day * DAY_MS)), Ok(()));
        }
    }

    #[test]
    fn person_can_vouch_for_a_new_time() {
        let mut guard = started();
        assert!(guard.check(at(NOW + YEAR_MS, 0)).is_err());
        guard.believe(at(NOW + YEAR_MS, 0));
        assert_eq!(guard.check(at(NOW + YEAR_MS + 1, 1)), Ok(()));
    }
}
