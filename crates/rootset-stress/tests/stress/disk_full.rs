use rootset_stress::disk_full::{run, settings};
use rootset_testing::temporary_folder;

use crate::program;

#[test]
fn full_disk_below_sqlite_is_said_clearly_changes_nothing_and_does_not_stop_a_purge() {
    let folder = temporary_folder();
    let report = run(&settings(&program(), folder.path())).unwrap_or_else(|failed| panic!("{failed}"));
    println!("{report}");
}
