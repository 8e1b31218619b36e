//! Writers that get in each other's way.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use super::*;

#[test]
fn transactions_that_wait_for_each_other_are_tried_again_and_count_once() {
    let database = database();
    let engine = open(&database, &settings());
    let (barrier, attempts) = (Barrier::new(2), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for (first, second) in [(1, 2), (2, 1)] {
            let (engine, barrier, attempts) = (&engine, &barrier, &attempts);
            scope.spawn(move || {
                let mut tried = 0;
                let outcome = engine.write(Tenant::Workspace(WorkspaceKey(first)), &mut |tx| {
                    attempts.fetch_add(1, Ordering::SeqCst);
                    tx.execute(&COUNT_UP, &[Value::Integer(first)])?;
                    tried += 1;
                    if tried == 1 {
                        barrier.wait();
                    }
                    tx.enter(Tenant::Workspace(WorkspaceKey(second)))?;
                    tx.execute(&COUNT_UP, &[Value::Integer(second)]).map(drop)
                });
                outcome.unwrap_or_else(|error| panic!("{first} then {second}: {error}"));
            });
        }
    });
    assert!(attempts.load(Ordering::SeqCst) > 2, "nobody was in anybody's way");
    let sql = database.sql();
    assert_eq!((counted(&sql, 1), counted(&sql, 2)), (2, 2));
}

const SLEEP: Statement = Statement {
    name: "tests.sleep",
    sqlite: "",
    scans: None,
    postgres: "SELECT 1::BIGINT FROM pg_sleep(20) WHERE $1 = 1::BIGINT",
};

#[test]
fn a_statement_that_takes_too_long_ends_in_time_and_its_connection_goes_on() {
    let database = database();
    let settings = PostgresSettings { statement_timeout_ms: 200, pool_size: 1, ..settings() };
    let engine = open(&database, &settings);
    count_up(&engine, 1).unwrap();
    let begun = Instant::now();
    let slow = engine
        .read(Tenant::Workspace(WorkspaceKey(1)), &mut |tx| tx.query(&SLEEP, &[Value::Integer(1)], &mut |_| Ok(())));
    assert!(matches!(slow, Err(StoreError::TimedOut)), "{slow:?}");
    // Somebody holds the row, and does not let go.
    let other = database.sql();
    other.execute_batch("BEGIN; UPDATE kept_counters SET next_number = 100").unwrap();
    let blocked = count_up(&engine, 1);
    assert!(matches!(blocked, Err(StoreError::TimedOut)), "{blocked:?}");
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    other.execute_batch("ROLLBACK").unwrap();
    count_up(&engine, 1).unwrap();
    assert_eq!(counted(&database.sql(), 1), 2);
}

#[test]
fn writers_of_one_workspace_take_turns_and_those_of_another_do_not_wait() {
    let database = database();
    let engine = open(&database, &settings());
    let entered = Barrier::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut is_first = true;
            engine
                .write(Tenant::Workspace(WorkspaceKey(1)), &mut |tx| {
                    if std::mem::take(&mut is_first) {
                        entered.wait();
                        // Another workspace's writer comes and goes while this one is at it.
                        entered.wait();
                    }
                    tx.execute(&COUNT_UP, &[Value::Integer(1)]).map(drop)
                })
                .unwrap();
        });
        entered.wait();
        count_up(&engine, 2).unwrap();
        entered.wait();
        count_up(&engine, 1).unwrap();
    });
    let sql = database.sql();
    assert_eq!((counted(&sql, 1), counted(&sql, 2)), (2, 1));
}
