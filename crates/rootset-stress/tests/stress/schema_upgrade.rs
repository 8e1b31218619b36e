use std::sync::Arc;

use rootset_api::ErrorCode;
use rootset_service::{Service, Settings};
use rootset_store::{SCHEMA_VERSION, Store};
use rootset_stress::process::WriterProcess;
use rootset_stress::verify::caller;
use rootset_stress::writer::{ExtractorKind, Mix, WriterArguments};
use rootset_testing::{TestDatabase, TestEngine};
use rootset_trees::dump::{Dump, differences};
use rootset_trees::raw_dump;
use serde_json::json;

use crate::{program, seed};

fn writer_on(database: &TestDatabase, extractor: ExtractorKind) -> WriterProcess {
    let arguments = WriterArguments {
        database: database.location().clone(),
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

fn upgrade(database: &TestDatabase) {
    database.execute_raw(&match database.engine() {
        TestEngine::Sqlite => format!("PRAGMA user_version = {}", SCHEMA_VERSION + 1),
        // As a migration does it: who has begun with the old schema ends first.
        TestEngine::Postgres => "BEGIN; LOCK TABLE schema_version IN ACCESS EXCLUSIVE MODE;
                                 UPDATE schema_version SET version = version + 1; COMMIT"
            .to_owned(),
    });
}

/// That nobody wrote anything since.
#[track_caller]
fn assert_is_as_before(database: &TestDatabase, before: &Dump) {
    assert_eq!(differences(before, &raw_dump(database.location()).unwrap()), [""; 0]);
}

#[test]
fn open_process_writes_nothing_after_an_upgrade_by_another() {
    let database = TestDatabase::new();
    let mut process = writer_on(&database, ExtractorKind::Builtin);
    upgrade(&database);
    let before = raw_dump(database.location()).unwrap();

    process.let_go();
    let observed = process.end().unwrap();

    let (code, message) = observed.failure.expect("it is told");
    assert_eq!(code, "upgrade_required", "{message}");
    assert!(observed.acknowledged.is_empty());
    assert_is_as_before(&database, &before);
}

#[test]
fn process_at_work_stops_at_the_upgrade_and_keeps_what_it_acknowledged() {
    for extractor in [ExtractorKind::Builtin, ExtractorKind::Slow] {
        let database = TestDatabase::new();
        let mut process = writer_on(&database, extractor);
        process.let_go();
        process.wait_for_acknowledgements(5).unwrap();
        upgrade(&database);
        let before = raw_dump(database.location()).unwrap();
        let memories = before["memories"].len() as i64;

        let observed = process.end().unwrap();

        let (code, message) = observed.failure.expect("it is told");
        assert_eq!(code, "upgrade_required", "{message}");
        assert_is_as_before(&database, &before);
        // One add may have committed and then failed to read what is similar.
        let acknowledged = observed.acknowledged.len() as i64;
        assert!((acknowledged..=acknowledged + 1).contains(&memories), "{acknowledged} acknowledged, {memories} there");
    }
}

#[test]
fn open_process_reads_nothing_after_an_upgrade_and_a_new_one_is_refused() {
    let database = TestDatabase::new();
    let service = Arc::new(Service::new(database.open(), Settings::default()).unwrap());
    upgrade(&database);

    for (operation, arguments) in [("list_memories", json!({})), ("doctor", json!({})), ("get_stats", json!({}))] {
        let error = service.call(&caller(), operation, arguments).unwrap_err();
        assert_eq!(error.code, ErrorCode::UpgradeRequired, "{operation}: {error}");
    }
    let error = Store::open(database.location(), None).unwrap_err();
    assert!(matches!(error, rootset_store::StoreError::SchemaNewer { .. }), "{error}");
}
