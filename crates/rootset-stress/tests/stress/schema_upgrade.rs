use std::path::Path;
use std::sync::Arc;

use rootset_service::{ErrorCode, Service, Settings};
use rootset_store::Store;
use rootset_stress::process::WriterProcess;
use rootset_stress::verify::caller;
use rootset_stress::writer::{ExtractorKind, Mix, WriterArguments};
use rusqlite::Connection;
use serde_json::json;

use crate::{program, seed};

fn writer_on(database: &Path, extractor: ExtractorKind) -> WriterProcess {
    let arguments = WriterArguments {
        database: database.to_owned(),
        seed: seed(4),
        writer: 0,
        round: 0,
        mix: Mix::Adds,
        extractor,
        operations_max: None,
        planted_bug: None,
    };
    let mut process = WriterProcess::spawn(&program(), &arguments, None).unwrap();
    process.let_go();
    process.wait_for_ready().unwrap();
    process
}

fn upgrade(connection: &Connection) {
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    connection.execute_batch(&format!("PRAGMA user_version = {}", version + 1)).unwrap();
}

/// Grows with every commit of another connection.
fn commits_of_others(connection: &Connection) -> i64 {
    connection.query_row("PRAGMA data_version", [], |row| row.get(0)).unwrap()
}

#[test]
fn open_process_writes_nothing_after_an_upgrade_by_another() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("upgraded.db");
    let mut process = writer_on(&database, ExtractorKind::Builtin);
    let other = Connection::open(&database).unwrap();
    upgrade(&other);
    let before = commits_of_others(&other);

    process.let_go();
    let observed = process.end().unwrap();

    let (code, message) = observed.failure.expect("it is told");
    assert_eq!(code, "upgrade_required", "{message}");
    assert!(observed.acknowledged.is_empty());
    assert_eq!(commits_of_others(&other), before);
}

#[test]
fn process_at_work_stops_at_the_upgrade_and_keeps_what_it_acknowledged() {
    for extractor in [ExtractorKind::Builtin, ExtractorKind::Slow] {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("upgraded.db");
        let mut process = writer_on(&database, extractor);
        process.let_go();
        process.wait_for_acknowledgements(5).unwrap();
        let other = Connection::open(&database).unwrap();
        other.busy_timeout(std::time::Duration::from_secs(60)).unwrap();
        upgrade(&other);
        let before = commits_of_others(&other);
        let memories: i64 = other.query_row("SELECT COUNT(*) FROM memories", [], |row| row.get(0)).unwrap();

        let observed = process.end().unwrap();

        let (code, message) = observed.failure.expect("it is told");
        assert_eq!(code, "upgrade_required", "{message}");
        assert_eq!(commits_of_others(&other), before);
        // One add may have committed and then failed to read what is similar.
        let acknowledged = observed.acknowledged.len() as i64;
        assert!((acknowledged..=acknowledged + 1).contains(&memories), "{acknowledged} acknowledged, {memories} there");
    }
}

#[test]
fn open_process_reads_nothing_after_an_upgrade_and_a_new_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("upgraded.db");
    let service = Arc::new(Service::new(Store::open_sqlite(&database).unwrap(), Settings::default()).unwrap());
    upgrade(&Connection::open(&database).unwrap());

    for (operation, arguments) in [("list_memories", json!({})), ("doctor", json!({})), ("get_stats", json!({}))] {
        let error = service.call(&caller(), operation, arguments).unwrap_err();
        assert_eq!(error.code, ErrorCode::UpgradeRequired, "{operation}: {error}");
    }
    let error = Store::open_sqlite(&database).unwrap_err();
    assert!(matches!(error, rootset_store::StoreError::SchemaNewer { .. }), "{error}");
}
