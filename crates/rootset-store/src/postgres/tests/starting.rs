//! Starts: many at once, with later schemas, and what `doctor` asks of the role that is the cluster's.

use std::io::{Read, Write};
use std::net::TcpListener;

use rootset_testing::OwnedDatabase;

use super::*;
use crate::SCHEMA_VERSION;
use crate::migrations::POSTGRES;
use crate::postgres::connection::Connection;
use crate::postgres::{maintenance, transaction::APPLICATION_ROLE};

#[test]
fn of_eight_that_open_an_empty_database_at_once_one_makes_the_schema_and_all_work() {
    let database = TestDatabase::empty_on(TestEngine::Postgres);
    let settings = PostgresSettings { pool_size: 1, ..settings() };
    let engines: Vec<PostgresEngine> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| open(&database, &settings))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(engines.iter().filter(|engine| engine.is_new()).count(), 1);
    for engine in &engines {
        count_up(engine, 1).unwrap();
        assert_eq!(engine.integrity().unwrap(), [""; 0]);
    }
    assert_eq!(counted(&database.sql(), 1), 8);
}

#[test]
fn a_later_schema_is_refused_at_the_start_and_by_whoever_is_running() {
    let database = database();
    let engine = open(&database, &settings());
    count_up(&engine, 1).unwrap();
    let later = SCHEMA_VERSION + 1;
    database.execute_raw(&format!("UPDATE schema_version SET version = {later}"));
    let is_refused = |outcome: Result<(), StoreError>| match outcome {
        Err(StoreError::SchemaNewer { found, known }) => assert_eq!((found, known), (later, SCHEMA_VERSION)),
        other => panic!("{other:?}"),
    };
    is_refused(try_open(&database, &settings()).map(drop));
    is_refused(count_up(&engine, 1));
    is_refused(engine.read(Tenant::Workspace(WorkspaceKey(1)), &mut |_| Ok(())));
    is_refused(engine.touch(Tenant::Database, &mut |_| Ok(())));
    assert_eq!(counted(&database.sql(), 1), 1);
    database.execute_raw(&format!("UPDATE schema_version SET version = {SCHEMA_VERSION}"));
    count_up(&engine, 1).unwrap();
}

#[test]
fn a_database_of_the_sixth_schema_is_brought_up_to_date_with_what_it_holds() {
    let database = TestDatabase::empty_on(TestEngine::Postgres);
    let connection = Connection::open(&database.url().parse().unwrap(), PATIENCE, Default::default()).unwrap();
    let texts = POSTGRES.iter().filter(|(version, _)| *version == 6);
    texts.for_each(|(_, text)| connection.command(&format!("BEGIN; {text}; COMMIT")).unwrap());
    database.execute_raw("INSERT INTO kept_counters VALUES (1, 41, 0, 0, 0)");
    let settings = PostgresSettings { pool_size: 1, ..settings() };
    let engines: Vec<PostgresEngine> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| open(&database, &settings))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(engines.iter().all(|engine| !engine.is_new()));
    let sql = database.sql();
    assert_eq!(sql.scalar::<i64>("SELECT version FROM schema_version", &[]).unwrap(), SCHEMA_VERSION);
    count_up(&engines[0], 1).unwrap();
    assert_eq!((counted(&sql, 1), engines[0].integrity().unwrap()), (42, Vec::new()));
    assert!(sql.scalar::<i64>("SELECT COUNT(*) FROM commits", &[]).unwrap() >= 1);
}

#[test]
fn tokens_of_the_tenth_schema_are_bound_to_the_numbers_of_their_workspaces() {
    let database = TestDatabase::empty_on(TestEngine::Postgres);
    let connection = Connection::open(&database.url().parse().unwrap(), PATIENCE, Default::default()).unwrap();
    let texts = POSTGRES.iter().filter(|(version, _)| *version <= 10);
    texts.for_each(|(_, text)| connection.command(&format!("BEGIN; {text}; COMMIT")).unwrap());
    database.execute_raw("UPDATE schema_version SET version = 10");
    database.execute_raw(
        "INSERT INTO workspaces (workspace, workspace_id, created_at, last_write_at)
         VALUES (4, 'team', 0, 0), (7, 'other', 0, 0)",
    );
    database.execute_raw(
        "INSERT INTO tokens (token_id, name, secret_hash, scopes, workspaces, created_at, created_by)
         VALUES ('\\x01', 'all', '\\x01', 'read', '*', 0, 'cli'), ('\\x02', 'both', '\\x02', 'read', 'gone other team', 0, 'cli'),
                ('\\x03', 'lost', '\\x03', 'read', 'gone', 0, 'cli')",
    );
    let engine = open(&database, &settings());
    assert_eq!(engine.integrity().unwrap(), [""; 0]);
    let bound = "SELECT name || ':' || workspaces || ':' || trust FROM tokens ORDER BY name";
    let bound: Vec<String> = database.sql().rows(bound, &[], |row| row.get(0)).unwrap();
    assert_eq!(bound, ["all:*:agent", "both: 4 7 :agent", "lost: :agent"]);
}

/// Row-level security binds the owner too: a change of all workspaces that forgot it would change nothing, without an error.
#[test]
fn an_owner_who_is_no_superuser_brings_the_rows_of_every_workspace_up_to_date() {
    let owned = OwnedDatabase::new();
    let connection = Connection::open(&owned.url().parse().unwrap(), PATIENCE, Default::default()).unwrap();
    let texts = POSTGRES.iter().filter(|(version, _)| *version <= 10);
    texts.for_each(|(_, text)| connection.command(&format!("BEGIN; {text}; COMMIT")).unwrap());
    owned.database.execute_raw("UPDATE schema_version SET version = 10");
    for workspace in [4, 7] {
        owned.database.execute_raw(&format!(
            "INSERT INTO workspaces (workspace, workspace_id, created_at, last_write_at, memory_count, content_bytes)
             VALUES ({workspace}, 'w{workspace}', 0, 0, 1, 5);
             INSERT INTO memories (workspace, memory, sequence, source, written_by, status, version, revision, metadata, tags,
                                   created_at, updated_at, ingested_at)
             VALUES ({workspace}, '\\x01', 1, 'user', 'cli', 'complete', 1, 1, '{{\"a\":1}}', '[\"b\"]', 0, 0, 0);
             INSERT INTO revisions (workspace, memory, revision, topic, context, decisions, rationale, bytes, created_at)
             VALUES ({workspace}, '\\x01', 1, 't', 'text', '[]', '[]', 5, 0);
             INSERT INTO untracked (workspace, object, run, kind, description, created_at)
             VALUES ({workspace}, '\\x02', '\\x03', 0, 'bird', 0)"
        ));
    }
    drop(open_url(&owned.url(), &settings()).unwrap());
    let seen = "SELECT w.content_bytes || ' ' || m.channel || ' ' || m.trust
                FROM workspaces w JOIN memories m ON m.workspace = w.workspace ORDER BY w.workspace";
    let seen: Vec<String> = owned.database.sql().rows(seen, &[], |row| row.get(0)).unwrap();
    // The text, the metadata and tags, and the import.
    let bytes = 5 + (7 + 5) + (256 + 4);
    assert_eq!(seen, vec![format!("{bytes} cli person"); 2]);
    let unforced =
        "SELECT COUNT(*) FROM pg_class WHERE relrowsecurity AND NOT relforcerowsecurity AND relname <> 'meta'";
    assert_eq!(owned.database.sql().scalar::<i64>(unforced, &[]).unwrap(), 0);
}

/// In a transaction that is never committed: the role is every database's.
#[test]
fn a_role_that_was_lifted_above_row_level_security_is_reported() {
    let database = database();
    let config = database.url().parse().unwrap();
    let connection = Connection::open(&config, PATIENCE, Default::default()).unwrap();
    assert_eq!(maintenance::integrity(&connection).unwrap(), [""; 0]);
    connection.command("BEGIN").unwrap();
    connection.command(&format!("ALTER ROLE {APPLICATION_ROLE} BYPASSRLS")).unwrap();
    let told = maintenance::integrity(&connection).unwrap();
    connection.command("ROLLBACK").unwrap();
    assert_eq!(told, [format!("the role `{APPLICATION_ROLE}` is above row-level security")]);
}

/// A stand-in for a server with passwords, as far as asking for one: those that tests start have none.
#[test]
fn a_server_that_asks_for_a_password_says_so_to_a_url_without_one() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut length = [0; 4];
        client.read_exact(&mut length).unwrap();
        let mut greeting = vec![0; u32::from_be_bytes(length) as usize - 4];
        client.read_exact(&mut greeting).unwrap();
        // "Authentication, in clear text".
        client.write_all(&[b'R', 0, 0, 0, 8, 0, 0, 0, 3]).unwrap();
    });
    let refused = open_url(&format!("postgres://somebody@{address}/database?sslmode=disable"), &settings());
    server.join().unwrap();
    assert!(
        matches!(&refused, Err(StoreError::LoginRefused { detail, .. }) if detail.contains("password")),
        "{refused:?}"
    );
}
