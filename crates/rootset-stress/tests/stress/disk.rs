//! Short runs on a disk that loses power or fails. Long ones: `rootset-stress power-cuts`, `faults`.

use std::path::Path;

use rootset_stress::disk::faults::{self, DiskFaultSettings};
use rootset_stress::disk::power_cuts::{self, PowerCutSettings};
use rootset_stress::disk::script::DiskMistake;
use rootset_stress::disk::small_disk::{self, SmallDiskSettings};
use rootset_stress::disk::{DiskReport, judge};
use rootset_testing::temporary_folder;

use crate::{program, seed, setting};

fn power_cuts(folder: &Path, images: usize, mistake: Option<DiskMistake>, names: &[&str]) -> Vec<DiskReport> {
    let (folder, time) = (folder.to_owned(), None);
    let settings = PowerCutSettings { program: program(), folder, images, time, seed: seed(11), mistake };
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let reports = power_cuts::run_all(&settings, &names).unwrap_or_else(|failed| panic!("{failed}"));
    reports.iter().for_each(|report| println!("{report}"));
    reports
}

#[test]
fn power_cuts_below_sqlite_lose_no_answer_and_bring_nothing_back() {
    let folder = temporary_folder();
    let images = setting("ROOTSET_STRESS_IMAGES", 12) as usize;
    judge(&power_cuts(folder.path(), images, None, &[])).unwrap_or_else(|failed| panic!("{failed}"));
}

#[test]
fn commits_that_sqlite_does_not_sync_are_noticed() {
    let folder = temporary_folder();
    let reports = power_cuts(folder.path(), 20, Some(DiskMistake::SynchronousOff), &["ingest"]);
    assert!(!reports[0].failures.is_empty());
}

#[test]
fn answer_before_the_commit_is_noticed_on_sqlite() {
    let folder = temporary_folder();
    let reports = power_cuts(folder.path(), 0, Some(DiskMistake::EarlyAnswer), &["ingest"]);
    assert!(!reports[0].failures.is_empty());
}

#[test]
fn erasure_that_leaves_the_log_of_sqlite_is_noticed() {
    let folder = temporary_folder();
    let reports = power_cuts(folder.path(), 20, Some(DiskMistake::LogNotEmptied), &["erase"]);
    assert!(reports[0].failures.iter().any(|failure| failure.contains("still holds")), "{:?}", reports[0].failures);
}

/// As it was before: SQLite cuts the log off when asked to, but does not sync that.
#[test]
fn erasure_that_does_not_sync_the_log_of_sqlite_is_noticed() {
    let folder = temporary_folder();
    let reports = power_cuts(folder.path(), 40, Some(DiskMistake::LogNotSynced), &["purge"]);
    assert!(reports[0].failures.iter().any(|failure| failure.contains("still holds")), "{:?}", reports[0].failures);
}

#[test]
fn failing_disk_below_sqlite_is_told_as_it_is_and_leaves_what_was_answered() {
    let folder = temporary_folder();
    let faults_max = setting("ROOTSET_STRESS_FAULTS", 10) as usize;
    let (folder, from, time) = (folder.path().to_owned(), 0, None);
    let settings = DiskFaultSettings { program: program(), folder, faults_max, from, time, seed: seed(12) };
    let reports = faults::run_all(&settings, &[]).unwrap_or_else(|failed| panic!("{failed}"));
    reports.iter().for_each(|report| println!("{report}"));
    judge(&reports).unwrap_or_else(|failed| panic!("{failed}"));
}

#[test]
fn full_small_disk_below_sqlite_can_always_be_purged() {
    let folder = temporary_folder();
    let settings = SmallDiskSettings { program: program(), folder: folder.path().to_owned() };
    let report = small_disk::run(&settings).unwrap_or_else(|failed| panic!("{failed}"));
    println!("{report}");
    judge(&[report]).unwrap_or_else(|failed| panic!("{failed}"));
}

/// Every call is one that can fail, and one more round trip to the disk.
#[test]
fn backup_of_sqlite_writes_its_files_in_few_calls() {
    let folder = temporary_folder();
    let (folder, time) = (folder.path().to_owned(), None);
    let settings = DiskFaultSettings { program: program(), folder, faults_max: 0, from: 0, time, seed: seed(13) };
    let reports = faults::run_all(&settings, &["backup".to_owned()]).unwrap_or_else(|failed| panic!("{failed}"));
    assert!(reports[0].points < 3_000, "{}", reports[0]);
}
