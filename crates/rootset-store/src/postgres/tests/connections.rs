//! Few connections for many, and connections that end.

use std::sync::Barrier;
use std::time::Instant;

use super::*;
use crate::driver::Transaction;

#[test]
fn one_connection_serves_eight_threads() {
    const TURNS: i64 = 20;
    let database = database();
    let engine = open(&database, &PostgresSettings { pool_size: 1, ..settings() });
    std::thread::scope(|scope| {
        for workspace in 1..=8 {
            let engine = &engine;
            scope.spawn(move || (0..TURNS).for_each(|_| count_up(engine, workspace).unwrap()));
        }
    });
    let sql = database.sql();
    for workspace in 1..=8 {
        assert_eq!(counted(&sql, workspace), TURNS);
    }
    let sessions =
        "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    assert_eq!(sql.scalar::<i64>(sessions, &[]).unwrap(), 1);
}

#[test]
fn a_pool_whose_connections_were_all_ended_goes_on_at_once() {
    let database = database();
    let engine = open(&database, &PostgresSettings { pool_size: 2, ..settings() });
    let both_in_use = Barrier::new(2);
    std::thread::scope(|scope| {
        for workspace in 1..=2 {
            let (engine, both_in_use) = (&engine, &both_in_use);
            scope.spawn(move || {
                engine
                    .read(Tenant::Workspace(WorkspaceKey(workspace)), &mut |_| {
                        both_in_use.wait();
                        Ok(())
                    })
                    .unwrap();
            });
        }
    });
    let sql = database.sql();
    end_all_sessions(&sql);
    let begun = Instant::now();
    for workspace in 1..=2 {
        count_up(&engine, workspace).unwrap();
        engine.read(Tenant::Workspace(WorkspaceKey(workspace)), &mut |_| Ok(())).unwrap();
    }
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    assert_eq!((counted(&sql, 1), counted(&sql, 2)), (1, 1));
}

/// The first try counts once and then loses its session; what follows is the caller's. Answers tries, and what was counted.
fn counted_by_an_interrupted_writer(then: &dyn Fn(&mut dyn Transaction) -> Result<(), StoreError>) -> (u32, i64) {
    let database = database();
    let engine = open(&database, &settings());
    let sql = database.sql();
    let mut tried = 0;
    engine
        .write(Tenant::Workspace(WorkspaceKey(1)), &mut |tx| {
            tx.execute(&COUNT_UP, &[Value::Integer(1)])?;
            tried += 1;
            if tried == 1 {
                end_all_sessions(&sql);
            }
            then(tx)
        })
        .unwrap();
    (tried, counted(&sql, 1))
}

#[test]
fn a_session_that_is_ended_in_the_middle_of_its_work_is_replaced_and_the_work_done_once() {
    let once_more = |tx: &mut dyn Transaction| tx.execute(&COUNT_UP, &[Value::Integer(1)]).map(drop);
    assert_eq!(counted_by_an_interrupted_writer(&once_more), (2, 2));
}

#[test]
fn a_session_that_is_ended_before_its_commit_is_sent_leaves_nothing_behind() {
    assert_eq!(counted_by_an_interrupted_writer(&|_| Ok(())), (2, 1));
}
