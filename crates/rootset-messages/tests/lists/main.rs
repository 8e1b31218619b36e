//! Message lists in, message lists out: what a caller can rely on, without looking at how.

#![allow(clippy::unwrap_used, reason = "clippy's own exception for tests does not reach the helpers of a test binary")]
// The bans on clocks and the environment are for the crate; tests take their number of cases and their seeds from them.
#![allow(clippy::disallowed_methods)]

mod converting;
mod generated;
mod harness;
mod properties;
mod pruning;
mod reading;
mod round_trips;
mod sessions;
mod validating;

use std::time::{SystemTime, UNIX_EPOCH};

use proptest::test_runner::{Config, RngSeed};

/// `ROOTSET_TEST_CASES`, or the number given; from `ROOTSET_TEST_SEED`, or another seed every time.
fn cases(default: u32) -> Config {
    let from_environment = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let cases = from_environment("ROOTSET_TEST_CASES").map_or(default, |cases| cases as u32);
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later than 1970");
    let seed = from_environment("ROOTSET_TEST_SEED").unwrap_or(since_1970.as_nanos() as u64);
    // Shown by the test harness when the test fails.
    println!("hint: ROOTSET_TEST_SEED={seed} ROOTSET_TEST_CASES={cases} repeats this");
    Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        ..Config::default()
    }
}
