use std::time::Duration;

use rootset_stress::many_writers::{WriterSettings, run};
use rootset_testing::TestDatabase;

use crate::{program, seed, setting};

#[test]
fn many_writers_share_one_database_without_errors_losses_or_starvation() {
    let database = TestDatabase::new();
    let settings = WriterSettings {
        program: program(),
        database: database.location().clone(),
        processes: setting("ROOTSET_STRESS_PROCESSES", 16) as usize,
        duration: Duration::from_secs(setting("ROOTSET_STRESS_SECONDS", 3)),
        seed: seed(1),
    };
    let report = run(&settings).unwrap_or_else(|failed| panic!("{failed}"));
    println!("{report}");
    assert!(report.least() > 0, "{report}");
}
