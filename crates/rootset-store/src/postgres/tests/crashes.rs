//! Servers of a test's own that crash, or wait for a standby that never comes.

use std::sync::{Arc, Mutex};

use rootset_testing::{OwnServer, Proxy};

use super::*;

/// More transactions than the engine can have begun since the log was last written.
const OTHERS: usize = 30;

/// The number of a transaction whose log was lost is given to another, which commits. Asked by that number, the server
/// would say that the first one did.
#[test]
fn a_commit_that_a_crash_undid_is_made_again_though_another_commits_under_its_number() {
    // Nobody writes the log but those who commit.
    let server = OwnServer::new(&["wal_writer_delay = 10s", "autovacuum = off"]).unwrap();
    let url = server.url("postgres");
    let proxy = Proxy::new(&url);
    let engine = open_url(&proxy.url(&url), &settings()).unwrap();
    count_up(&engine, 1).unwrap();
    let server = Arc::new(Mutex::new(server));
    let crashing = Arc::clone(&server);
    proxy.instead_of_commit(move || {
        let mut server = crashing.lock().unwrap();
        server.stop_at_once().unwrap();
        server.start().unwrap();
        let others = server.sql("postgres");
        for _ in 0..OTHERS {
            others.execute_batch("SELECT pg_current_xact_id()").unwrap();
        }
    });
    count_up(&engine, 1).unwrap();
    assert!(!proxy.disarm(), "the server did not crash");
    assert_eq!(counted(&server.lock().unwrap().sql("postgres"), 1), 2);
}

/// Whoever loses this server keeps what is on its standby: nothing else may be acknowledged.
#[test]
fn a_commit_that_no_synchronous_standby_has_is_not_acknowledged() {
    let mut server = OwnServer::new(&[]).unwrap();
    let url = server.url("postgres");
    // Writers get ten times as long as a statement, and wait for an outcome as long as for a connection.
    let settings = |statement_timeout_ms, connect_timeout_ms| PostgresSettings {
        statement_timeout_ms,
        connect_timeout_ms,
        ..settings()
    };
    let is_unknown = |outcome: Result<(), StoreError>| match outcome {
        Err(StoreError::OutcomeUnknown) => {}
        other => panic!("{other:?}"),
    };
    let engine = open_url(&url, &settings(100, 1_000)).unwrap();
    let patient = open_url(&url, &settings(2_000, 3_000)).unwrap();
    count_up(&engine, 1).unwrap();

    server.stop().unwrap();
    server.set("synchronous_standby_names = 'nobody'").unwrap();
    server.start().unwrap();
    // The limit of time for statements does not end the wait for a standby with an acknowledgement.
    is_unknown(count_up(&engine, 1));

    // A server that crashes while it waits does not wait again for what is in its log.
    let outcome = std::thread::scope(|scope| {
        let counting = scope.spawn(|| count_up(&patient, 2));
        let sql = server.sql("postgres");
        let waiting = "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
        // The first one is still at it.
        while sql.scalar::<i64>(waiting, &[]).unwrap() < 2 && !counting.is_finished() {
            std::thread::yield_now();
        }
        server.stop_at_once().unwrap();
        server.start().unwrap();
        counting.join().unwrap()
    });
    is_unknown(outcome);

    server.stop().unwrap();
    server.set("synchronous_standby_names = ''").unwrap();
    server.start().unwrap();
    count_up(&engine, 1).unwrap();
    let sql = server.sql("postgres");
    assert_eq!((counted(&sql, 1), counted(&sql, 2)), (3, 1));
}

#[test]
fn settings_of_the_server_that_lose_acknowledged_writes_are_reported() {
    let mut server = OwnServer::new(&["synchronous_commit = local"]).unwrap();
    let engine = open_url(&server.url("postgres"), &settings()).unwrap();
    let told = |settings: &[crate::driver::DurabilitySetting]| -> Vec<(String, bool)> {
        settings.iter().map(|it| (format!("{} = {}", it.name, it.value), it.risk.is_some())).collect()
    };
    let raised = "synchronous_commit = on (`local` on the server; Rootset sets it for its own writes)".to_owned();
    let safe = [("fsync = on".to_owned(), false), ("full_page_writes = on".to_owned(), false), (raised.clone(), false)];
    assert_eq!(told(engine.durability_at_start()), safe);
    server.stop().unwrap();
    server.set("fsync = off\nfull_page_writes = off").unwrap();
    server.start().unwrap();
    let risky = [("fsync = off".to_owned(), true), ("full_page_writes = off".to_owned(), true), (raised, false)];
    let engine = open_url(&server.url("postgres"), &settings()).unwrap();
    assert_eq!(told(engine.durability_at_start()), risky);
    assert_eq!(told(&engine.durability().unwrap()), risky);
    let store = crate::Store::over(engine);
    let check = store.check().unwrap().into_iter().find(|check| check.id == "durability").unwrap();
    assert_eq!((check.is_ok(), check.count), (false, 2), "{check:?}");
}
