//! How much time a database has seen pass, and whether its clock can be believed. Pure: readings in, a verdict out.
//!
//! Ages decide what is removed for good, and a wall clock can be wrong by years. So the database keeps a clock of its own
//! that only ever grows, by what the wall clock shows to have passed and never by more than a day at once. It says how
//! long something has at least been there, whatever the wall clock claims. After a jump the wall clock is in doubt until a
//! day of observed time has passed: nothing is removed automatically, and what is written meanwhile has no known age.
//!
//! A gap in which nothing ran looks the same as a clock that was set ahead: both are waited out.

use rootset_model::Timestamp;

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// Observed time is written at most so often: ages are counted in days.
pub const OBSERVED_STEP_MS: i64 = MINUTE_MS;
/// What a single look at the clock can add.
pub const OBSERVED_AT_ONCE_MS_MAX: i64 = DAY_MS;
/// How far ahead of the last reading a clock may be without a doubt: a database that is used once a day is used a little
/// later on some days. More is a jump, or a gap in which nothing ran.
pub const AHEAD_MS_MAX: i64 = DAY_MS + HOUR_MS;
/// How far behind the last reading a clock may be without a doubt: machines that share a database differ by less.
pub const BEHIND_MS_MAX: i64 = HOUR_MS;
/// How long a doubt lasts, in observed time: long enough for somebody to notice a wrong clock and set it right.
pub const DOUBT_MS: i64 = DAY_MS;
/// Whatever a policy's age is, a memory was there for at least so long before it expires by it, in observed time.
pub const OBSERVED_AGE_MS_MIN: i64 = DAY_MS;

/// The clock that a database keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObservedTime {
    pub observed_ms: i64,
    /// The last reading of the wall clock; `None` before the first.
    pub last_wall: Option<Timestamp>,
    pub doubt: Option<Doubt>,
}

/// Why the wall clock is not believed, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// The observed time at which it is over. What was written meanwhile is then stamped anew, and the doubt removed.
    pub ends_ms: i64,
    /// By how much the wall clock jumped: ahead, or back where it is negative.
    pub jump_ms: i64,
}

impl ObservedTime {
    /// The clock after a look at the wall clock.
    pub fn at(self, wall: Timestamp) -> Self {
        let Some(last) = self.last_wall else { return Self { last_wall: Some(wall), ..self } };
        let passed_ms = wall.0.saturating_sub(last.0);
        if (-BEHIND_MS_MAX..OBSERVED_STEP_MS).contains(&passed_ms) {
            return self;
        }
        let observed_ms = self.observed_ms.saturating_add(passed_ms.clamp(0, OBSERVED_AT_ONCE_MS_MAX));
        let is_jump = !(0..=AHEAD_MS_MAX).contains(&passed_ms);
        let new = Doubt { ends_ms: observed_ms.saturating_add(DOUBT_MS), jump_ms: passed_ms };
        Self { observed_ms, last_wall: Some(wall), doubt: if is_jump { Some(new) } else { self.doubt } }
    }

    /// Whether the time of the wall clock is not to be believed now.
    pub fn is_in_doubt(&self) -> bool {
        self.doubt.is_some_and(|doubt| self.observed_ms < doubt.ends_ms)
    }

    /// Whether a doubt is over and what was written meanwhile can be stamped anew.
    pub fn is_doubt_over(&self) -> bool {
        self.doubt.is_some() && !self.is_in_doubt()
    }

    /// How long ago something happened, as far as the database has seen.
    pub fn age_ms(&self, observed_ms: i64) -> i64 {
        self.observed_ms.saturating_sub(observed_ms)
    }
}

/// What a jump of the wall clock looks like from here; negative: back.
pub fn jump_in_words(jump_ms: i64) -> String {
    let by_ms = jump_ms.saturating_abs();
    let shown = match by_ms / MINUTE_MS {
        minutes if minutes < 120 => format!("{minutes} minutes"),
        minutes if minutes < 2 * 24 * 60 => format!("{} hours", by_ms / HOUR_MS),
        _ => format!("{} days", by_ms / DAY_MS),
    };
    match jump_ms < 0 {
        true => format!("the clock went back by {shown}"),
        false => format!("the clock moved ahead by {shown}, or nothing ran for so long"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000_000;

    fn started() -> ObservedTime {
        ObservedTime::default().at(Timestamp(NOW))
    }

    #[test]
    fn first_reading_is_the_measure_of_the_next() {
        assert_eq!(started(), ObservedTime { observed_ms: 0, last_wall: Some(Timestamp(NOW)), doubt: None });
    }

    #[test]
    fn observed_time_follows_a_clock_that_goes_on_and_is_written_once_a_minute() {
        let clock = started();
        assert_eq!(clock.at(Timestamp(NOW + OBSERVED_STEP_MS - 1)), clock);
        let later = clock.at(Timestamp(NOW + OBSERVED_STEP_MS));
        assert_eq!((later.observed_ms, later.last_wall), (OBSERVED_STEP_MS, Some(Timestamp(NOW + OBSERVED_STEP_MS))));
        let next_day = later.at(Timestamp(NOW + OBSERVED_STEP_MS + DAY_MS));
        assert_eq!((next_day.observed_ms, next_day.doubt), (OBSERVED_STEP_MS + DAY_MS, None));
    }

    #[test]
    fn database_that_is_used_once_a_day_is_not_in_doubt() {
        let (mut clock, mut wall) = (started(), NOW);
        for day in 1..=30 {
            wall += if day % 2 == 0 { AHEAD_MS_MAX } else { DAY_MS - HOUR_MS };
            clock = clock.at(Timestamp(wall));
            assert_eq!(clock.doubt, None, "day {day}");
        }
        assert_eq!(
            clock.observed_ms,
            15 * (OBSERVED_AT_ONCE_MS_MAX + DAY_MS - HOUR_MS),
            "never more than a day at once"
        );
        assert!(clock.at(Timestamp(wall + AHEAD_MS_MAX + 1)).is_in_doubt());
    }

    #[test]
    fn jump_ahead_counts_as_a_day_and_is_doubted_for_a_day() {
        let jumped = started().at(Timestamp(NOW + 60 * DAY_MS));
        assert_eq!(jumped.observed_ms, DAY_MS);
        assert_eq!(jumped.doubt, Some(Doubt { ends_ms: 2 * DAY_MS, jump_ms: 60 * DAY_MS }));
        assert!(jumped.is_in_doubt() && !jumped.is_doubt_over());
        let next_day = jumped.at(Timestamp(NOW + 61 * DAY_MS));
        assert!(!next_day.is_in_doubt() && next_day.is_doubt_over());
    }

    #[test]
    fn clock_that_is_set_back_is_the_new_measure_and_takes_nothing_away() {
        let clock = started().at(Timestamp(NOW + DAY_MS));
        assert_eq!(clock.at(Timestamp(NOW + DAY_MS - BEHIND_MS_MAX)), clock, "machines differ by so much");
        let back = clock.at(Timestamp(NOW + DAY_MS - BEHIND_MS_MAX - 1));
        assert_eq!((back.observed_ms, back.last_wall), (DAY_MS, Some(Timestamp(NOW + DAY_MS - BEHIND_MS_MAX - 1))));
        assert!(back.is_in_doubt());
        assert_eq!(back.at(Timestamp(back.last_wall.unwrap_or_default().0 + HOUR_MS)).observed_ms, DAY_MS + HOUR_MS);
    }

    #[test]
    fn slower_machine_beside_others_neither_doubts_nor_counts_twice() {
        let mut clock = started();
        for minute in 1..=600 {
            clock = clock.at(Timestamp(NOW + minute * MINUTE_MS));
            clock = clock.at(Timestamp(NOW + minute * MINUTE_MS - 50 * MINUTE_MS));
        }
        assert_eq!((clock.observed_ms, clock.doubt), (600 * MINUTE_MS, None));
    }

    #[test]
    fn no_reading_overflows() {
        let extremes = [i64::MIN, -1, 0, NOW, i64::MAX];
        for first in extremes {
            for second in extremes {
                let clock = ObservedTime::default().at(Timestamp(first)).at(Timestamp(second));
                assert!((0..=OBSERVED_AT_ONCE_MS_MAX).contains(&clock.observed_ms));
                clock.doubt.map(|doubt| jump_in_words(doubt.jump_ms));
            }
        }
    }
}
