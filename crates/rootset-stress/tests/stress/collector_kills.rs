use rootset_stress::collector_kills::{CollectorKillSettings, run};
use rootset_testing::TestDatabase;

use crate::{program, seed, setting};

#[test]
fn runs_of_several_batches_survive_the_kill_of_whoever_carries_them_out() {
    let database = TestDatabase::new();
    let settings = CollectorKillSettings {
        program: program(),
        database: database.location().clone(),
        rounds: setting("ROOTSET_STRESS_COLLECTOR_ROUNDS", 8),
        seed: seed(5),
    };
    let report = run(&settings).unwrap_or_else(|failed| panic!("{failed}"));
    println!("{report}");
    assert_eq!(report.kills, report.rounds, "{report}");
    assert!(report.applied > 0 && report.undone + report.purged > 0, "{report}");
}
