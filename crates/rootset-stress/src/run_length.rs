//! How long a run goes on: so many rounds, or as many as a time holds.

use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub enum RunLength {
    Rounds(u64),
    /// As many as begin within the time, and at least so many.
    Within {
        time: Duration,
        least: u64,
    },
}

impl RunLength {
    /// Numbers of rounds, from 0, until it is enough.
    pub(crate) fn numbers(self) -> impl Iterator<Item = u64> {
        let start = Instant::now();
        (0..).take_while(move |round| match self {
            Self::Rounds(rounds) => *round < rounds,
            Self::Within { time, least } => *round < least || start.elapsed() < time,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_is_over_still_has_its_least_rounds() {
        assert_eq!(RunLength::Within { time: Duration::ZERO, least: 2 }.numbers().collect::<Vec<_>>(), [0, 1]);
        assert_eq!(RunLength::Rounds(3).numbers().count(), 3);
    }
}
