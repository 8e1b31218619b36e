use rootset_stress::index_kills::{IndexKillSettings, run};
use rootset_testing::TestDatabase;

use crate::{program, seed, setting};

#[test]
fn an_index_whose_runs_were_killed_ends_as_a_fresh_one() {
    let database = TestDatabase::new();
    let settings = IndexKillSettings {
        program: program(),
        database: database.location().clone(),
        folder: database.folder().to_owned(),
        rounds: setting("ROOTSET_STRESS_INDEX_ROUNDS", 8),
        files: 420,
        seed: seed(6),
    };
    let report = run(&settings).unwrap_or_else(|failed| panic!("{failed}"));
    println!("{report}");
    assert_eq!(report.kills, report.rounds, "{report}");
    assert!(report.cut_short > 0 && report.compared > 0, "{report}");
}
