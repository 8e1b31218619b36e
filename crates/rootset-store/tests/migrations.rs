//! A small database of every landed schema is opened by the program of today: nothing is lost, nothing becomes garbage.
//!
//! The fixtures were written by the program of their time and are never rewritten.

use std::path::{Path, PathBuf};

use rootset_gc::context::SegmentState;
use rootset_model::{Limits, Timestamp};
use rootset_store::{SCHEMA_VERSION, StashFilters, Store, StoreError};

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let entries = std::fs::read_dir(folder).expect("the folder of fixtures");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    paths
}

#[test]
fn there_is_a_fixture_of_every_schema_of_sqlite() {
    let names: Vec<String> =
        fixtures().iter().map(|path| path.file_name().expect("a name").to_string_lossy().into_owned()).collect();
    let wanted: Vec<String> = (1..=SCHEMA_VERSION).map(|version| format!("schema-{version:04}.db")).collect();
    assert_eq!(names, wanted);
}

#[test]
fn every_fixture_of_sqlite_opens_with_all_it_holds() {
    for fixture in fixtures() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("copy.db");
        std::fs::copy(&fixture, &path).expect("a copy");
        let store = Store::open_sqlite(&path).expect("the fixture opens");
        let broken: Vec<_> = store.check().expect("checks").into_iter().filter(|check| !check.is_ok()).collect();
        assert!(broken.is_empty(), "{}: {broken:?}", fixture.display());

        let workspace = store.workspace("default").expect("the default workspace");
        let full = store.full_memory(&workspace, "falcon-deploy", None).expect("a memory");
        assert_eq!(full.content.context, "Project Falcon uses PostgreSQL. Alice owns scripts/deploy.sh.");
        assert_eq!(full.row.revision, 2);
        store.full_memory(&workspace, "falcon-deploy", Some(1)).expect("its earlier revision");
        let (falcon, relations) =
            store.entity(&workspace, "Project Falcon", Timestamp(i64::MAX)).expect("a shared entity");
        assert_eq!((falcon.refcount, relations.len()), (2, 2));
        let (trash, _) = store.list_trash(&workspace, 0, 10).expect("the trash");
        let memories = trash.iter().filter(|item| item.kind == "memory");
        assert_eq!(memories.map(|item| item.name.as_deref()).collect::<Vec<_>>(), [Some("gone")]);
        assert!(store.workspace("other").is_ok());
        let plans = store.undoable_runs(&workspace, 10).expect("runs");
        let plan = plans.iter().find_map(|run| run.plan).expect("a run with a plan");
        store.plan(&workspace, plan, &Limits::default(), 0, 10).expect("the plan");
    }
}

#[test]
fn indexed_files_of_the_third_schema_of_sqlite_open_with_all_they_hold() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("copy.db");
    std::fs::copy(&fixtures()[2], &path).expect("a copy");
    let store = Store::open_sqlite(&path).expect("the fixture opens");
    let workspace = store.workspace("default").expect("the default workspace");
    let (repo, files) = store.file_states(&workspace, "web").expect("a read").expect("a repository");
    assert_eq!((repo.run, repo.root.as_str()), (2, "/home/somebody/web"));
    let states: Vec<_> = files.iter().map(|file| (file.path.as_str(), file.is_stale)).collect();
    assert_eq!(states, [("src/app.py", false), ("src/gone.py", true), ("src/util.py", false)]);
    let now = Timestamp(1_800_000_200_000);
    let symbols = store.symbols_named(&workspace, &["helper".into()], Some("web"), now).expect("symbols");
    assert_eq!(symbols[0].qualified_name, "src.util.helper");
    let callers = store.references_holding(&workspace, "helper", None, 10, now).expect("references");
    let calls: Vec<_> = callers.iter().map(|it| (it.path.as_str(), it.references.calls.len())).collect();
    assert_eq!(calls, [("src/app.py", 1), ("src/util.py", 0)]);
}

#[test]
fn sessions_of_the_fourth_schema_of_sqlite_open_with_all_they_hold() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("copy.db");
    std::fs::copy(&fixtures()[3], &path).expect("a copy");
    let store = Store::open_sqlite(&path).expect("the fixture opens");
    let workspace = store.workspace("default").expect("the default workspace");
    let session = store.load_session(&workspace, "morning", None).expect("a read").expect("a session");
    assert_eq!(session.state.settings, r#"{"budget_tokens":1000}"#);
    let states: Vec<_> = session.segments.iter().map(|row| (row.segment_id.as_str(), row.state)).collect();
    use SegmentState::{Active, Deleted, Stashed};
    assert_eq!(states, [("first", Active), ("second", Stashed), ("third", Deleted), ("fourth", Active)]);
    assert_eq!((session.segments[0].names.as_slice(), session.segments[0].tokens), ([7, 1 << 60].as_slice(), 6));
    let texts = store.segment_texts(&workspace, &[session.segments[0].segment]).expect("a text");
    assert_eq!((texts[0].text.as_str(), texts[0].raw.as_deref()), ("deploy the falcon", Some(r#"{"role":"user"}"#)));
    let hits = store.search_stash(&workspace, &["owl".into()], &StashFilters::default(), 10).expect("a search");
    assert_eq!(hits.iter().map(|hit| hit.segment_id.as_str()).collect::<Vec<_>>(), ["second"]);
    assert_eq!(store.ledger(&workspace, session.head.session, 0, 10).expect("a ledger").1, 3);
    let away = store.load_session(&workspace, "evening", None);
    assert!(matches!(away, Err(StoreError::SessionTrashed { .. })), "{away:?}");
}

#[test]
fn tokens_of_the_fifth_schema_of_sqlite_open_with_all_they_hold() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("copy.db");
    std::fs::copy(&fixtures()[4], &path).expect("a copy");
    let store = Store::open_sqlite(&path).expect("the fixture opens");
    let (living, total) = store.list_tokens(false, 0, 10).expect("a list");
    let names: Vec<&str> = living.iter().map(|token| token.name.as_str()).collect();
    assert_eq!((names.as_slice(), total), (["old", "reader"].as_slice(), 2));
    let reader = &living[1];
    assert_eq!(reader.scopes, ["read"]);
    assert_eq!(reader.workspaces.as_deref(), Some(["default".to_owned(), "other".to_owned()].as_slice()));
    assert_eq!(reader.expires_at, Some(Timestamp(1_893_456_000_000)));
    assert_eq!((living[0].workspaces.as_ref(), living[0].revoked_at), (None, None));
    let (all, _) = store.list_tokens(true, 0, 10).expect("a list");
    assert_eq!(all.iter().filter(|token| token.revoked_at.is_some()).count(), 1);
}
