use rootset_stress::creation_race::{CreationReport, CreationSettings, Victim, run};
use rootset_stress::run_length::RunLength;
use rootset_testing::TestEngine;

use crate::{for_a_while, program, seed};

fn create(processes: usize, length: RunLength, victim: Victim) -> CreationReport {
    let settings =
        CreationSettings { program: program(), engine: TestEngine::chosen(), processes, length, victim, seed: seed(3) };
    let report = run(&settings).unwrap_or_else(|failed| panic!("{failed}"));
    println!("{report}");
    report
}

#[test]
fn processes_that_create_one_database_at_once_all_work() {
    // Few processes meet in the middle of the creation more often than many do.
    create(3, for_a_while(5), Victim::Nobody);
    create(8, RunLength::Rounds(4), Victim::Nobody);
}

#[test]
fn database_whose_creator_was_killed_opens_for_the_others() {
    let report = create(3, for_a_while(10), Victim::First);
    assert!(report.killed_during_open > 0, "{report}");
}

#[test]
fn database_whose_only_creator_was_killed_opens_next_time() {
    let report = create(1, for_a_while(10), Victim::First);
    assert!(report.killed_during_open > 0, "{report}");
}
