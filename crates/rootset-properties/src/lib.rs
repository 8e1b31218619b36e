//! For tests: a property is tried for a while ([`for_a_while`]) instead of a number of times. A fast machine tries more, a
//! slow one does not take longer, and a failure prints the seed that repeats it.
//!
//! - `ROOTSET_TEST_BUDGET_MS`: how long each property is tried; the rings of CONTRIBUTING.md set it.
//! - `ROOTSET_TEST_CASES`: so many times instead, however long that takes.
//! - `ROOTSET_TEST_SEED`: where to begin.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use proptest::test_runner::{Config, RngSeed};

const BUDGET_MS_DEFAULT: u64 = 500;
/// Cases between two looks at the clock, from one to so many: a slow property is not tried much longer than it may, and a fast
/// one does not look at the clock all the time. Each batch has a seed of its own, so a late failure is repeated at once.
const BATCH_CASES_MAX: u32 = 16;
/// A failing case is made smaller for so many steps at most.
const SHRINK_STEPS_MAX: u32 = 5_000;

/// What one test may take, from the environment.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    time: Duration,
    cases: Option<u64>,
    seed: u64,
}

impl Budget {
    /// `weight` is how much more a property deserves than others, because it is the one that finds most or is slow to try.
    pub fn weighted(weight: u32) -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later than 1970");
        Self {
            time: Duration::from_millis(setting("ROOTSET_TEST_BUDGET_MS").unwrap_or(BUDGET_MS_DEFAULT)) * weight,
            cases: setting("ROOTSET_TEST_CASES"),
            // Short enough to be typed.
            seed: setting("ROOTSET_TEST_SEED").unwrap_or(since_1970.as_nanos() as u64 % 1_000_000_000),
        }
    }

    /// Where to begin if the environment does not say: for lives so long that a few well-known ones are the best.
    pub fn starting_at(self, seed: u64) -> Self {
        Self { seed: setting("ROOTSET_TEST_SEED").unwrap_or(seed), ..self }
    }

    /// For what is not tried seed by seed.
    pub fn time(self) -> Duration {
        self.time
    }

    /// Seeds to try, one after the other, until the budget is used up; there is always a first.
    pub fn seeds(self) -> impl Iterator<Item = u64> {
        let (start, first) = (Instant::now(), self.seed);
        (0..).map_while(move |tried| {
            let has_more = match self.cases {
                Some(cases) => tried < cases,
                None => tried == 0 || start.elapsed() < self.time,
            };
            has_more.then(|| first.wrapping_add(tried))
        })
    }
}

/// Runs `proptest!` with the configuration it is given, batch after batch: `for_a_while(|config| proptest!(config, |(…)| {…}))`.
pub fn for_a_while(property: impl Fn(Config)) {
    for_longer(1, property);
}

/// The same for `weight` times as long.
pub fn for_longer(weight: u32, property: impl Fn(Config)) {
    let budget = Budget::weighted(weight);
    let (mut cases, budget) = match budget.cases {
        // One batch of all of them.
        Some(cases) => (u32::try_from(cases).unwrap_or(u32::MAX), Budget { cases: Some(1), ..budget }),
        None => (1, budget),
    };
    for seed in budget.seeds() {
        let _hint = Hint { seed, cases };
        property(Config {
            cases,
            rng_seed: RngSeed::Fixed(seed),
            failure_persistence: None,
            max_shrink_iters: SHRINK_STEPS_MAX,
            ..Config::default()
        });
        cases = cases.saturating_mul(2).min(BATCH_CASES_MAX);
    }
}

/// Says how to repeat a failure, when it is one.
struct Hint {
    seed: u64,
    cases: u32,
}

impl Drop for Hint {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("hint: ROOTSET_TEST_SEED={} ROOTSET_TEST_CASES={} repeats this", self.seed, self.cases);
        }
    }
}

/// A number from the environment.
///
/// # Panics
/// If it is there and no number: a typing error must not look like a short run.
pub fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("`{name}` is `{text}`, not a number")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_always_a_first_seed_and_cases_are_counted() {
        let none = Budget { time: Duration::ZERO, cases: None, seed: 7 };
        assert_eq!(none.seeds().collect::<Vec<_>>(), [7]);
        let three = Budget { time: Duration::ZERO, cases: Some(3), seed: u64::MAX };
        assert_eq!(three.seeds().collect::<Vec<_>>(), [u64::MAX, 0, 1]);
    }

    #[test]
    fn equal_seeds_try_equal_cases() {
        use proptest::prelude::*;
        let tried = || {
            let seen = std::cell::RefCell::new(Vec::new());
            let config =
                Config { cases: 8, rng_seed: RngSeed::Fixed(3), failure_persistence: None, ..Config::default() };
            proptest!(config, |(number: u64)| seen.borrow_mut().push(number));
            seen.into_inner()
        };
        assert_eq!(tried(), tried());
    }
}
