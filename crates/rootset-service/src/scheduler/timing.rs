//! When a round is due. Pure, and a function of stored times: restarts neither skip nor repeat a round.

use rootset_gc::BEHIND_MS_MAX;
use rootset_model::Timestamp;

/// The times of the last round, as stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LastRound {
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
}

/// When the next round starts; `None`: at once.
pub fn next_round_at(last: LastRound, interval_ms: i64) -> Option<Timestamp> {
    let started_at = last.started_at?;
    // A round that was cut off is not a round: what is left of it comes first.
    let was_finished = last.finished_at.is_some_and(|finished_at| finished_at >= started_at);
    was_finished.then(|| started_at.saturating_add_ms(interval_ms))
}

pub fn is_due(last: LastRound, interval_ms: i64, now: Timestamp) -> bool {
    // A round of a future that was none must not hold the next one back until then.
    let is_from_the_future = last.started_at.is_some_and(|at| at.0.saturating_sub(now.0) > BEHIND_MS_MAX);
    is_from_the_future || next_round_at(last, interval_ms).is_none_or(|next| next <= now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(started_at: i64, finished_at: Option<i64>) -> LastRound {
        LastRound { started_at: Some(Timestamp(started_at)), finished_at: finished_at.map(Timestamp) }
    }

    #[test]
    fn first_round_is_due_at_once() {
        assert!(is_due(LastRound::default(), 1_000, Timestamp(0)));
    }

    #[test]
    fn next_round_is_due_one_interval_after_the_last_began() {
        let last = round(5_000, Some(5_400));
        assert!(!is_due(last, 1_000, Timestamp(5_999)));
        assert!(is_due(last, 1_000, Timestamp(6_000)));
        assert!(is_due(last, 1_000, Timestamp(60_000)), "a machine that was off does one round, not many");
    }

    #[test]
    fn round_of_a_clock_that_was_set_back_since_does_not_hold_the_next_one_back() {
        let last = round(60 * BEHIND_MS_MAX, Some(60 * BEHIND_MS_MAX + 1));
        assert!(is_due(last, 1_000, Timestamp(59 * BEHIND_MS_MAX - 1)));
        assert!(!is_due(last, 1_000, Timestamp(59 * BEHIND_MS_MAX)), "machines differ by so much");
    }

    #[test]
    fn round_that_was_cut_off_is_due_at_once() {
        assert!(is_due(round(5_000, None), 1_000, Timestamp(5_001)));
        assert!(is_due(round(5_000, Some(4_000)), 1_000, Timestamp(5_001)));
    }
}
