use rootset_stress::StressError;
use rootset_stress::model::Violation;
use rootset_stress::run_length::RunLength;
use rootset_stress::writer::{ExtractorKind, PlantedBug};
use rootset_stress::writer_kills::{KillSettings, Placement, run};
use rootset_testing::TestDatabase;

use crate::{for_a_while, program, seed};

fn settings(database: &TestDatabase, length: RunLength, extractor: ExtractorKind) -> KillSettings {
    KillSettings {
        program: program(),
        database: database.location().clone(),
        length,
        seed: seed(2),
        extractor,
        placement: Placement::Random,
        planted_bug: None,
    }
}

#[test]
fn every_acknowledged_change_survives_the_kill_of_its_writer() {
    let database = TestDatabase::new();
    let report =
        run(&settings(&database, for_a_while(16), ExtractorKind::Builtin)).unwrap_or_else(|failed| panic!("{failed}"));
    println!("{report}");
    assert!(report.kills >= report.rounds, "{report}");
    assert!(report.acknowledged.len() == 5 && !report.in_flight.is_empty(), "{report}");
}

#[test]
fn memories_left_pending_by_a_kill_are_completed_by_another_process() {
    let database = TestDatabase::new();
    let report =
        run(&settings(&database, for_a_while(8), ExtractorKind::Slow)).unwrap_or_else(|failed| panic!("{failed}"));
    println!("{report}");
    assert!(report.pending > 0 && report.completed > 0, "{report}");
}

#[test]
fn acknowledging_before_the_commit_is_noticed() {
    let database = TestDatabase::new();
    let settings = KillSettings {
        placement: Placement::FirstAcknowledgement,
        planted_bug: Some(PlantedBug::AckEarly),
        ..settings(&database, RunLength::Rounds(100), ExtractorKind::Builtin)
    };
    let failed = run(&settings).expect_err("an early acknowledgement loses writes");
    println!("{failed}");
    let StressError::Violated(violations) = &failed.cause else { panic!("{failed}") };
    assert!(matches!(violations.as_slice(), [Violation::Differs { .. }]), "{failed}");
}

#[test]
fn the_same_kills_without_the_planted_bug_lose_nothing() {
    let database = TestDatabase::new();
    let settings = KillSettings {
        placement: Placement::FirstAcknowledgement,
        ..settings(&database, RunLength::Rounds(20), ExtractorKind::Builtin)
    };
    run(&settings).unwrap_or_else(|failed| panic!("{failed}"));
}
