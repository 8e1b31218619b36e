//! Properties of the collector's decisions over random heaps.
//!
//! A failure prints the smallest input that shows it, and the seed; `ROOTSET_TEST_CASES` sets the number of inputs tried.
// The ban on reading the environment is for the crate; tests take their number of cases from it.
#![allow(clippy::disallowed_methods)]

mod heaps;
mod retention;
mod strategies;

use proptest::test_runner::Config;

/// `ROOTSET_TEST_CASES`, or the number given.
fn cases(default: u32) -> Config {
    let cases = std::env::var("ROOTSET_TEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    Config { cases, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() }
}
