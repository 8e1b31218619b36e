use rootset_stress::bit_rot::{BitRotReport, BitRotSettings, Watchman, run};
use rootset_testing::temporary_folder;

use crate::seed;

/// Far apart, so that a change waits a few seconds for it; the night ring flips more.
const EVERY: usize = 32_749;
/// Most bits harm nothing: the control tries more, and ends with the first that does.
const EVERY_OF_CONTROL: usize = 4_093;

fn swept(watchman: Watchman, every: usize) -> BitRotReport {
    let folder = temporary_folder();
    let (folder, seed) = (folder.path().to_owned(), seed(14));
    let report = run(&BitRotSettings { folder, seed, every, time: None, watchman }).unwrap();
    println!("{report}");
    report
}

#[test]
fn rot_in_files_of_sqlite_never_gives_a_wrong_answer_that_nobody_reports() {
    let report = swept(Watchman::Listening, EVERY);
    assert_eq!(report.failures(), 0, "{report}");
    assert!(report.kinds.iter().all(|kind| kind.tried > 5), "{report}");
}

#[test]
fn a_sweep_of_sqlite_files_that_hears_no_reports_finds_wrong_answers() {
    let report = swept(Watchman::Deaf, EVERY_OF_CONTROL);
    assert!(report.failures() > 0, "{report}");
}
