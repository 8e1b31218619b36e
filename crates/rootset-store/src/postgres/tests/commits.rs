//! Tokens of commits: what they answer, how long they stay, and who may see them.

use super::*;
use crate::postgres::commits::{Commit, OLD_AT_ONCE, Token, went_through};
use crate::postgres::connection::Connection;

const DAY_MS: i64 = 86_400_000;

fn connection(database: &TestDatabase) -> Connection {
    let config = database.url().parse().unwrap();
    Connection::open(&config, PATIENCE, Default::default()).unwrap()
}

fn server_time(sql: &Sql) -> i64 {
    sql.scalar("SELECT (EXTRACT(EPOCH FROM now()) * 1000)::BIGINT", &[]).unwrap()
}

fn tokens(sql: &Sql) -> i64 {
    sql.scalar("SELECT COUNT(*) FROM commits", &[]).unwrap()
}

/// A transaction of somebody else that has written this token, and is not over.
fn unfinished(database: &TestDatabase, bytes: [u8; 16]) -> Sql {
    let sql = database.sql();
    sql.execute_batch("BEGIN").unwrap();
    sql.execute("INSERT INTO commits (token) VALUES (?1)", &[(&bytes).into()]).unwrap();
    sql
}

fn commit_of(database: &TestDatabase, bytes: [u8; 16]) -> Commit {
    Commit { token: Token::of(bytes), begun_at_ms: server_time(&database.sql()) }
}

#[test]
fn every_attempt_to_write_leaves_a_token_of_its_own_and_reading_leaves_none() {
    let database = database();
    let engine = open(&database, &settings());
    let sql = database.sql();
    let before = tokens(&sql);
    count_up(&engine, 1).unwrap();
    engine.touch(Tenant::Database, &mut |_| Ok(())).unwrap();
    engine.read(Tenant::Workspace(WorkspaceKey(1)), &mut |_| Ok(())).unwrap();
    let refused = engine.write(Tenant::Database, &mut |_| Err(StoreError::TimedOut));
    assert!(refused.is_err());
    assert_eq!(tokens(&sql) - before, 2);
}

#[test]
fn a_token_tells_a_commit_from_a_rollback_and_waits_for_whoever_is_not_done() {
    let database = database();
    drop(open(&database, &settings()));
    for (number, (end, expected)) in [("COMMIT", true), ("ROLLBACK", false)].into_iter().enumerate() {
        let bytes = [number as u8; 16];
        let commit = commit_of(&database, bytes);
        let other = unfinished(&database, bytes);
        let (mut asking, sql) = (connection(&database), database.sql());
        let answer = std::thread::scope(|scope| {
            let asked = scope.spawn(|| went_through(&mut asking, &commit, PATIENCE));
            let waits = "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'transactionid' AND NOT granted
                         AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())";
            while sql.scalar::<i64>(waits, &[]).unwrap() == 0 {
                assert!(!asked.is_finished(), "{end}: it did not wait");
                std::thread::yield_now();
            }
            other.execute_batch(end).unwrap();
            asked.join().unwrap()
        });
        assert_eq!(answer.unwrap(), expected, "{end}");
        // Asking leaves nothing behind: the second answer is the first one.
        assert_eq!(went_through(&mut asking, &commit, PATIENCE).unwrap(), expected, "{end}");
    }
}

#[test]
fn whoever_does_not_end_in_time_leaves_the_outcome_open() {
    let database = database();
    drop(open(&database, &settings()));
    let commit = commit_of(&database, [7; 16]);
    let _other = unfinished(&database, [7; 16]);
    let asked = went_through(&mut connection(&database), &commit, Duration::from_millis(50));
    assert!(matches!(asked, Err(StoreError::Busy { .. } | StoreError::TimedOut)), "{asked:?}");
}

/// The token of somebody who slept for a day may have been deleted meanwhile.
#[test]
fn a_commit_of_long_ago_is_not_taken_for_one_that_never_was() {
    let database = database();
    drop(open(&database, &settings()));
    let mut commit = commit_of(&database, [8; 16]);
    commit.begun_at_ms -= DAY_MS / 2 + 60_000;
    let asked = went_through(&mut connection(&database), &commit, PATIENCE);
    assert!(matches!(asked, Err(StoreError::OutcomeUnknown)), "{asked:?}");
}

#[test]
fn tokens_of_more_than_a_day_ago_are_deleted_in_batches_and_no_others() {
    let database = database();
    let engine = open(&database, &settings());
    let sql = database.sql();
    let now = server_time(&sql);
    sql.execute_batch("DELETE FROM commits").unwrap();
    let insert = "INSERT INTO commits (token, at) SELECT decode(md5(i::TEXT || ?1::BIGINT::TEXT), 'hex'), ?1
                  FROM generate_series(1, ?2::BIGINT) AS i";
    let old = OLD_AT_ONCE + 1;
    sql.execute(insert, &[(now - DAY_MS - 60_000).into(), old.into()]).unwrap();
    sql.execute(insert, &[(now - DAY_MS + 60_000).into(), 3_i64.into()]).unwrap();
    assert_eq!(engine.delete_old_commits().unwrap(), old);
    // Those of its own two transactions came to the three.
    assert_eq!(tokens(&sql), 3 + 2);
    assert_eq!(engine.delete_old_commits().unwrap(), 0);
}

#[test]
fn the_application_adds_tokens_and_can_neither_read_nor_change_those_of_others() {
    let database = database();
    drop(open(&database, &settings()));
    let sql = database.sql();
    sql.execute_batch("SET SESSION AUTHORIZATION rootset_application").unwrap();
    sql.execute("INSERT INTO commits (token) VALUES (?1)", &[(&[9_u8; 16]).into()]).unwrap();
    for statement in
        ["SELECT token FROM commits", "UPDATE commits SET at = 0", "DELETE FROM commits", "TRUNCATE commits"]
    {
        let told = sql.execute_batch(statement).expect_err(statement).to_string();
        assert!(told.contains("permission denied"), "{statement}: {told}");
    }
}
