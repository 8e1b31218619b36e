//! Real processes on one database. Failures print the seed; `ROOTSET_STRESS_SEED` repeats it.

#![allow(clippy::unwrap_used, reason = "the helpers of tests fail like tests do")]

mod bit_rot;
mod collecting_at_once;
mod collector_kills;
mod creation;
mod disk;
mod disk_full;
mod faults;
mod index_kills;
mod kills;
mod lives;
mod many_writers;
mod postgres_crashes;
mod schema_upgrade;
mod servers;

use std::path::{Path, PathBuf};

use rootset_properties::Budget;
use rootset_stress::run_length::RunLength;

fn program() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_rootset-stress")).to_owned()
}

/// A number from the environment, for longer or shorter runs.
fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("`{name}` is `{text}`, not a number")),
        Err(_) => default,
    }
}

/// As long as eight properties, and long enough to have met what a test asks for.
fn for_a_while(least: u64) -> RunLength {
    RunLength::Within { time: Budget::weighted(8).time(), least }
}

fn seed(default: u64) -> u64 {
    setting("ROOTSET_STRESS_SEED", default)
}
