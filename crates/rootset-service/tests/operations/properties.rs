//! Random lives of two workspaces on a real database: people write, use, pin and supersede, files come and go, policies
//! change, plans are made, applied late, undone and purged, in any order.
//!
//! Every answer is compared with that of the model of `model.rs`, which is written from the specification and shares
//! nothing with the collector; and after every step the invariants are asked of the database itself. A failure prints
//! the shortest life that shows it, and the seed to repeat it with; `ROOTSET_TEST_CASES` raises the number of lives.

mod collecting;
mod comparing;
mod evidence;
mod simulation;
mod steps;
mod writing;

use std::time::{SystemTime, UNIX_EPOCH};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use rootset_testing::TestEngine;

use simulation::Simulation;
use steps::life;

const CASES_DEFAULT: u32 = 200;

/// `ROOTSET_TEST_CASES`, or the number given; from `ROOTSET_TEST_SEED`, or another seed every time.
fn cases(default: u32) -> Config {
    let from_environment = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    // A database on a server takes ten times as long to make as a file in memory.
    let default = match TestEngine::chosen() {
        TestEngine::Sqlite => default,
        TestEngine::Postgres => default / 10,
    };
    let cases = from_environment("ROOTSET_TEST_CASES").map_or(default, |cases| cases as u32);
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later than 1970");
    let seed = from_environment("ROOTSET_TEST_SEED").unwrap_or(since_1970.as_nanos() as u64);
    // Shown by the test harness when the test fails.
    println!("hint: ROOTSET_TEST_SEED={seed} ROOTSET_TEST_CASES={cases} repeats this");
    Config {
        cases,
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        max_shrink_iters: 400,
        ..Config::default()
    }
}

#[test]
fn whatever_happens_answers_are_as_the_model_says_and_the_invariants_hold() {
    proptest!(cases(CASES_DEFAULT), |(life in life())| {
        Simulation::new().live(&life)?;
    });
}
