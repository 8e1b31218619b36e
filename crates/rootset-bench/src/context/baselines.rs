//! What others do, for comparison: drop the oldest, the least recently used, or any segment; and a yardstick that
//! sees the future.

use super::needs::NeedKind;
use super::replay::{Policy, ReplayedSession};
use crate::random::Random;

/// Anybody, the same ones for the same seed.
pub struct AtRandom {
    random: Random,
}

impl AtRandom {
    pub fn new(seed: u64) -> Self {
        Self { random: Random::new(seed) }
    }
}

impl Policy for AtRandom {
    fn added(&mut self, _: usize) {}

    fn choose(&mut self, _: usize, may_leave: &[usize], _: u64) -> Vec<usize> {
        vec![self.random.pick(may_leave)]
    }
}

/// The oldest.
pub struct SlidingWindow;

impl Policy for SlidingWindow {
    fn added(&mut self, _: usize) {}

    fn choose(&mut self, _: usize, may_leave: &[usize], _: u64) -> Vec<usize> {
        vec![may_leave[0]]
    }
}

/// Drops the least recently used segment. It knows what each step used, which no policy knows in life.
pub struct LeastRecentlyUsed<'s> {
    session: &'s ReplayedSession<'s>,
    used_at: Vec<usize>,
}

impl<'s> LeastRecentlyUsed<'s> {
    pub fn new(session: &'s ReplayedSession<'s>) -> Self {
        Self { session, used_at: (0..session.tokens.len()).collect() }
    }
}

impl Policy for LeastRecentlyUsed<'_> {
    fn added(&mut self, segment: usize) {
        for need in &self.session.needs_at[segment] {
            for holder in &self.session.needs[*need].holders {
                self.used_at[*holder] = segment;
            }
        }
    }

    fn choose(&mut self, _: usize, may_leave: &[usize], _: u64) -> Vec<usize> {
        may_leave.iter().copied().min_by_key(|segment| self.used_at[*segment]).into_iter().collect()
    }
}

/// Who has the fewest steps to come that need it for one kind of need, per token; of those with none, the oldest. It sees the future.
pub struct LookAhead<'s> {
    session: &'s ReplayedSession<'s>,
    /// By segment: steps that need it, ascending.
    needed_at: Vec<Vec<usize>>,
}

impl<'s> LookAhead<'s> {
    pub fn new(session: &'s ReplayedSession<'s>, kind: NeedKind) -> Self {
        let mut needed_at = vec![Vec::new(); session.tokens.len()];
        for (step, needs) in session.needs_at.iter().enumerate() {
            let of_kind = needs.iter().map(|need| &session.needs[*need]).filter(|need| need.kind == kind);
            for holder in of_kind.flat_map(|need| &need.holders) {
                if needed_at[*holder].last() != Some(&step) {
                    needed_at[*holder].push(step);
                }
            }
        }
        Self { session, needed_at }
    }
}

impl Policy for LookAhead<'_> {
    fn added(&mut self, _: usize) {}

    fn choose(&mut self, step: usize, may_leave: &[usize], _: u64) -> Vec<usize> {
        let needs_per_token = |segment: usize| {
            let needed_at = &self.needed_at[segment];
            let to_come = needed_at.len() - needed_at.partition_point(|needed| *needed <= step);
            to_come as f64 / self.session.tokens[segment] as f64
        };
        let least = may_leave.iter().copied().min_by(|a, b| needs_per_token(*a).total_cmp(&needs_per_token(*b)));
        least.into_iter().collect()
    }
}
