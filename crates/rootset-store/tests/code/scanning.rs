//! Runs from the repository's side: who is bound where, what is compared, what becomes stale and when.

use rootset_model::MemoryId;
use rootset_store::{CompletedScan, FileStamp, StoreError};
use rootset_testing::Sql;

use crate::harness::{REPO, ROOT, World, chunk_terms, source};

#[test]
fn a_repository_is_bound_to_one_folder_until_somebody_rebinds_it() {
    let world = World::new();
    let bind =
        |repo: &str, root: &str, rebind| world.store.bind_repo(&world.workspace, repo, root, rebind, world.stamp());
    assert_eq!(bind(REPO, ROOT, false).unwrap().run, 0);
    assert!(matches!(bind(REPO, "/other", false), Err(StoreError::RepoElsewhere { root, .. }) if root == ROOT));
    assert_eq!(bind("second", ROOT, false).unwrap().root, ROOT);
    world.complete(None, &[], &[]);
    let rebound = bind(REPO, "/other", true).unwrap();
    assert_eq!((rebound.root.as_str(), rebound.run, rebound.trusted_at), ("/other", 1, 0));
    let found = world.store.repo_rooted_at(&world.workspace, "/other").unwrap();
    assert_eq!(found.unwrap().repo, REPO);
}

#[test]
fn states_come_in_the_order_of_paths_and_say_what_a_scan_compares() {
    let world = World::new();
    world.scan(&[source("b.toy", "def two\n"), source("a.py", "def one\n"), source("empty.toy", "")], &[]);
    let states = world.states();
    let paths: Vec<&str> = states.iter().map(|state| state.path.as_str()).collect();
    assert_eq!(paths, ["a.py", "b.toy", "empty.toy"]);
    assert_eq!(states[0].language, "python");
    assert_eq!(states[0].stamp, FileStamp { size: 8, modified_ns: 5, changed_ns: 6, inode: 7 });
    assert_eq!((states[0].content_hash, states[0].extractor, states[0].lines), ([8; 16], 1, 1));
    let view = &world.store.repos(&world.workspace).unwrap()[0];
    assert_eq!((view.row.run, view.files, view.stale), (1, 3, 0));
    assert_eq!((view.row.scope.as_deref(), view.row.trusted_at), (Some("{}"), 77));
    assert_eq!(world.broken(), Vec::<&str>::new());
}

#[test]
fn a_run_that_finds_nothing_new_writes_one_row() {
    let world = World::new();
    world.scan(&[source("a.toy", "def one\n")], &[]);
    let watcher = world.sql();
    let before = world.count("repos");
    let dump = |connection: &Sql| -> Vec<String> {
        let tables = ["workspaces", "memories", "files", "jobs", "meta", "counters", "audit", "sources"];
        tables.iter().map(|table| whole(connection, table)).collect()
    };
    let (rest, run) = (dump(&watcher), world.run());
    world.now.set(2_000);
    assert_eq!(world.complete(None, &[], &[]), 0);
    assert_eq!(dump(&watcher), rest);
    assert_eq!((before, world.run()), (1, run + 1));
}

fn whole(connection: &Sql, table: &str) -> String {
    let sql = format!("SELECT * FROM {table} ORDER BY 1, 2");
    format!("{:?}", connection.rows(&sql, &[], |row| Ok(row.clone())).unwrap())
}

#[test]
fn only_the_end_of_a_run_makes_files_stale_and_a_later_one_takes_it_back() {
    let world = World::new();
    let files = world.scan(&[source("a.toy", "def one\n"), source("b.toy", "def two\n")], &[]);
    let gone = [files[0].memory];
    world.now.set(2_000);
    assert_eq!(world.complete(None, &gone, &[]), 1);
    assert_eq!(world.states().iter().map(|it| it.is_stale).collect::<Vec<_>>(), [true, false]);
    world.now.set(3_000);
    assert_eq!(world.complete(None, &gone, &[]), 1);
    let since = "SELECT stale_at FROM memories WHERE file_path = 'a.toy'";
    assert_eq!(world.sql().scalar::<i64>(since, &[]).unwrap(), 2_000);
    let view = &world.store.repos(&world.workspace).unwrap()[0];
    assert_eq!((view.files, view.stale), (1, 1));
    assert_eq!(world.complete(None, &[], &gone), 0);
    assert!(world.states().iter().all(|it| !it.is_stale));
}

#[test]
fn of_two_runs_at_once_the_second_to_end_changes_nothing() {
    let world = World::new();
    let files = world.scan(&[source("a.toy", "def one\n")], &[]);
    let gone: [MemoryId; 1] = [files[0].memory];
    let late = world.completed(None, &gone);
    world.complete(None, &[], &[]);
    let refused = world.store.complete_scan(&world.workspace, &late, &chunk_terms, world.stamp());
    assert!(matches!(refused, Err(StoreError::ScanOvertaken { expected: 1, found: 2, .. })), "{refused:?}");
    assert!(!world.states()[0].is_stale);
    let unknown = CompletedScan { repo: "nobody", ..late };
    let refused = world.store.complete_scan(&world.workspace, &unknown, &chunk_terms, world.stamp());
    assert!(matches!(refused, Err(StoreError::RepoNotFound(_))));
}

#[test]
fn whoever_lost_the_lease_writes_nothing_and_ends_nothing() {
    let world = World::new();
    let late = world.lease();
    world.now.set(1_000_000);
    let held = world.lease();
    let refused = world.store.write_files(&world.workspace, &late, 1, REPO, 1, &[], world.stamp());
    assert!(matches!(refused, Err(StoreError::LeaseLost)));
    let scan = world.completed(Some(&late), &[]);
    let refused = world.store.complete_scan(&world.workspace, &scan, &chunk_terms, world.stamp());
    assert!(matches!(refused, Err(StoreError::LeaseLost)));
    assert_eq!(world.run(), 0);
    world.write(&held, &[source("a.toy", "def one\n")]);
    world.complete(Some(&held), &[], &[]);
    // Released with the run: the next one need not wait.
    world.lease();
}

#[test]
fn a_touched_file_gets_its_new_stamp_and_nothing_else() {
    let world = World::new();
    let files = world.scan(&[source("a.toy", "def one\n")], &[]);
    let stamp = FileStamp { size: 8, modified_ns: 50, changed_ns: 60, inode: 70 };
    let refreshed = [("a.toy".to_owned(), files[0].memory, stamp)];
    let scan = CompletedScan { refreshed: &refreshed, ..world.completed(None, &[]) };
    world.store.complete_scan(&world.workspace, &scan, &chunk_terms, world.stamp()).unwrap();
    assert_eq!(world.states()[0].stamp, stamp);
    let version = "SELECT version FROM memories";
    assert_eq!(world.sql().scalar::<i64>(version, &[]).unwrap(), 1);
}
