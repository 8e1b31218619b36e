//! A slice of the seeded lives, and proof that they notice.

use std::time::Duration;

use rootset_stress::lives::{LivesSettings, Mistake, run};
use rootset_testing::TestEngine;

use crate::{seed, setting};

fn settings(lives: u64, steps: u64) -> LivesSettings {
    LivesSettings {
        engine: TestEngine::chosen(),
        lives: setting("ROOTSET_STRESS_LIVES", lives),
        steps: setting("ROOTSET_STRESS_LIFE_STEPS", steps) as usize,
        seed: seed(7),
        mistake: None,
        shorten_for: Duration::from_secs(3),
    }
}

#[test]
fn every_memory_is_live_or_undoable_or_gone_whatever_the_clock_does_and_whoever_dies() {
    let report = run(&settings(3, 1_000)).unwrap_or_else(|failed| panic!("{failed}"));
    println!("{report}");
    for (what, count) in [
        ("deaths", report.deaths),
        ("errors", report.errors),
        ("jumps", report.jumps),
        ("doubts", report.doubts),
        ("steps at once", report.at_once),
        ("trashed", report.trashed),
        ("purged", report.purged),
        ("erased", report.erased),
        ("restores", report.restores),
    ] {
        assert!(count > 0, "a run without {what} shows nothing: {report}");
    }
}

/// A control: a model with a wrong rule must differ from the database, in a life that is well without it.
fn is_noticed(mistake: Mistake) {
    let settings = settings(20, 1_500);
    let failed = run(&LivesSettings { mistake: Some(mistake), ..settings }).expect_err("it is noticed");
    println!("{failed}");
    let same_life = LivesSettings { lives: 1, steps: failed.step + 1, seed: failed.seed, ..settings };
    run(&same_life).unwrap_or_else(|failed| panic!("it is not the mistake that was noticed: {failed}"));
}

#[test]
fn grace_by_the_wall_clock_alone_is_noticed() {
    is_noticed(Mistake::GraceByWallAlone);
}

#[test]
fn lost_update_is_noticed() {
    is_noticed(Mistake::UpdatesAreLost);
}

mod at_length {
    use super::*;

    #[test]
    fn age_by_the_wall_clock_alone_is_noticed() {
        is_noticed(Mistake::AgeByWallAlone);
    }

    #[test]
    fn removed_memory_that_comes_back_alive_is_noticed() {
        is_noticed(Mistake::RemovedComesBackAlive);
    }
}
