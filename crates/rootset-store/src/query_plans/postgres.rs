//! Every statement on a real PostgreSQL: it is understood, its types are those that the driver reads, an index fits it; and
//! the schema is that of SQLite in other words.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};

use super::{connection, may_scan};
use crate::migrations::POSTGRES;
use crate::statements;

/// Tables alone: what full text and the planner need is the engine's own.
const FIRST_TABLES: &str = include_str!("../../migrations/postgres/0006_1_create_tables.sql");
const FIRST_VERSION: i64 = 6;
const APPLICATION: &str = "rootset_application";
/// What the driver reads, and what it binds.
const COLUMN_TYPES: [Type; 5] = [Type::BOOL, Type::INT4, Type::INT8, Type::TEXT, Type::BYTEA];
const PARAMETER_TYPES: [Type; 8] = [
    Type::INT4,
    Type::INT8,
    Type::FLOAT8,
    Type::TEXT,
    Type::BYTEA,
    Type::INT8_ARRAY,
    Type::TEXT_ARRAY,
    Type::BYTEA_ARRAY,
];

/// A database of its own with the schema in it, dropped at the end.
struct Database {
    runtime: tokio::runtime::Runtime,
    server: Config,
    name: String,
    client: Client,
}

impl Database {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let url = std::env::var("ROOTSET_TEST_POSTGRES").expect(
            "`ROOTSET_TEST_POSTGRES` names a PostgreSQL database to test with; hint: `scripts/test` starts one and sets it",
        );
        let server = Config::from_str(&url).expect("`ROOTSET_TEST_POSTGRES` is the URL of a PostgreSQL database");
        let name = format!("rootset_statements_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("threads for a connection");
        let client = runtime.block_on(async {
            let admin = connect(&server).await;
            admin.batch_execute(&format!("CREATE DATABASE {name}")).await.expect("a new database");
            let client = connect(server.clone().dbname(&name)).await;
            let later = POSTGRES.iter().filter(|(version, _)| *version > FIRST_VERSION).map(|(_, text)| *text);
            let schema: Vec<&str> = std::iter::once(FIRST_TABLES).chain(later).collect();
            client.batch_execute(&format!("BEGIN; {}; COMMIT", schema.join(";"))).await.expect("the schema");
            client
        });
        Self { runtime, server, name, client }
    }

    fn rows(&self, sql: &str) -> Vec<tokio_postgres::Row> {
        self.runtime.block_on(self.client.query(sql, &[])).unwrap_or_else(|error| panic!("{error:?}: {sql}"))
    }

    fn execute(&self, sql: &str) {
        self.runtime.block_on(self.client.batch_execute(sql)).unwrap_or_else(|error| panic!("{error:?}: {sql}"));
    }

    /// The first column of every row, which is a text. Placeholders stay unbound: plans are made without values.
    fn lines(&self, sql: &str) -> Vec<String> {
        let messages = self.runtime.block_on(self.client.simple_query(sql));
        let line = |message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        };
        messages.unwrap_or_else(|error| panic!("{error:?}: {sql}")).into_iter().filter_map(line).collect()
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        self.runtime.block_on(async { connect(&self.server).await.batch_execute(&drop).await }).expect("dropped");
    }
}

async fn connect(config: &Config) -> Client {
    let (client, connection) = config.connect(NoTls).await.expect("a connection");
    tokio::spawn(connection);
    client
}

#[test]
fn every_statement_is_understood_and_has_types_that_the_driver_knows() {
    let database = Database::new();
    database.execute(&format!("SET ROLE {APPLICATION}"));
    let mut offenders: BTreeMap<&str, String> = BTreeMap::new();
    for statement in statements::ALL {
        match database.runtime.block_on(database.client.prepare(statement.postgres)) {
            Err(error) => drop(offenders.insert(statement.name, format!("{error:?}"))),
            Ok(prepared) => {
                let is_known = |it: &&Type| COLUMN_TYPES.contains(it) || **it == Type::FLOAT8;
                let columns = prepared.columns().iter().map(|it| it.type_()).filter(|it| !is_known(it));
                let parameters = prepared.params().iter().filter(|it| !PARAMETER_TYPES.contains(it));
                let strange: Vec<String> = columns.chain(parameters).map(Type::to_string).collect();
                if !strange.is_empty() {
                    offenders.insert(statement.name, strange.join(", "));
                }
            }
        }
    }
    assert!(offenders.is_empty(), "{offenders:#?}");
}

/// Two workspaces with so many rows in every table that nobody would read all of one who has an index. The rules of the
/// schema do not matter to plans, so they are dropped first.
const FILL: &str = r"
    DO $$
    DECLARE
      rule RECORD;
      tenant RECORD;
    BEGIN
      FOR rule IN SELECT conrelid::regclass AS name, conname FROM pg_constraint
                  WHERE contype IN ('f', 'c') AND connamespace = current_schema()::regnamespace
      LOOP
        EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', rule.name, rule.conname);
      END LOOP;
      FOR tenant IN
        SELECT c.relname, string_agg(quote_ident(a.attname), ', ') AS columns,
               string_agg(format('CASE WHEN i %% 5 = 0 OR %L THEN %s END', a.attnotnull, CASE
                 WHEN a.attname IN ('workspace', 'chain') THEN 'i % 2 + 1'
                 WHEN a.attname IN ('pinned', 'is_symbol', 'is_indexed') THEN '0'
                 WHEN a.attname IN ('status', 'state') THEN '$c$complete$c$'
                 WHEN a.atttypid = 'text'::regtype THEN '$c$t$c$ || i'
                 WHEN a.atttypid = 'bytea'::regtype THEN 'decode(md5(i::text), $c$hex$c$)'
                 ELSE 'i' END), ', ') AS cells
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relforcerowsecurity
          AND c.relname NOT IN ('workspaces', 'kept_counters')
        GROUP BY c.relname
      LOOP
        EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', tenant.relname);
        EXECUTE format('INSERT INTO %I (%s) SELECT %s FROM generate_series(1, 10000) i',
                       tenant.relname, tenant.columns, tenant.cells);
      END LOOP;
    END
    $$;
    ANALYZE";

/// Indexes in which a workspace has few rows, or one.
fn holds_few(step: &str) -> bool {
    step.contains("_trashed on") || step.ends_with("_trashed") || step.contains("workspaces_pkey")
}

/// A table is read whole, or all of it that belongs to one workspace; `step` is the line above.
fn is_scan(step: &str, line: &str) -> bool {
    let Some((_, condition)) = line.split_once("Index Cond: ") else { return line.contains("Seq Scan") };
    if holds_few(step) {
        return false;
    }
    let mut columns = condition.split(" AND ").filter_map(|part| part.trim_start_matches('(').split(' ').next());
    columns.all(|column| column == "workspace")
}

#[test]
fn lookups_never_scan_a_table_or_a_workspace() {
    let database = Database::new();
    database.execute(FILL);
    // Tables are far larger than these, and joins other than by look-ups do not pay then.
    database.execute(&format!(
        "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET ROLE {APPLICATION}"
    ));
    let mut offenders: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for statement in statements::ALL {
        let allowed = may_scan(statement);
        let plan = database.lines(&format!("EXPLAIN (GENERIC_PLAN, COSTS OFF) {}", statement.postgres));
        let steps = std::iter::once("").chain(plan.iter().map(String::as_str));
        if !allowed && steps.zip(&plan).any(|(step, line)| is_scan(step, line)) {
            offenders.insert(statement.name, plan);
        }
    }
    assert!(offenders.is_empty(), "statements that scan: {offenders:#?}");
}

/// Table and column, with the type in SQLite's words.
type Columns = BTreeSet<(String, String, String, bool)>;

#[test]
fn both_engines_have_the_same_tables_columns_and_indexes() {
    let (_folder, sqlite) = connection();
    let database = Database::new();
    let mut columns = sqlite
        .prepare(
            "SELECT t.name, c.name, c.type, c.\"notnull\" = 1 OR c.pk > 0 FROM sqlite_schema t, pragma_table_info(t.name) c
             WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'",
        )
        .expect("a statement");
    let of_sqlite: Columns = columns
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .expect("columns")
        .collect::<Result<_, _>>()
        .expect("columns");
    let of_postgres: Columns = database
        .rows(
            "SELECT table_name::text, column_name::text, is_nullable = 'NO',
                    CASE data_type WHEN 'bigint' THEN 'INTEGER' WHEN 'bytea' THEN 'BLOB'
                                   WHEN 'double precision' THEN 'REAL'
                                   WHEN 'text' THEN CASE collation_name WHEN 'C' THEN 'TEXT' ELSE 'text in some order' END
                                   ELSE data_type::text END
             FROM information_schema.columns
             WHERE table_schema = current_schema() AND table_name NOT IN ('schema_version', 'commits')",
        )
        .iter()
        .map(|row| (row.get(0), row.get(1), row.get(3), row.get(2)))
        .collect();
    assert_eq!(of_postgres, of_sqlite);

    let mut names =
        sqlite.prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL").expect("x");
    let of_sqlite: BTreeSet<String> =
        names.query_map([], |row| row.get(0)).expect("names").collect::<Result<_, _>>().expect("names");
    let of_postgres: BTreeSet<String> = database
        .lines(
            "SELECT c.relname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
             WHERE c.relnamespace = current_schema()::regnamespace AND i.indrelid <> 'commits'::regclass
               AND NOT EXISTS (SELECT 1 FROM pg_constraint o WHERE o.conindid = i.indexrelid AND o.contype IN ('p', 'u'))",
        )
        .into_iter()
        .collect();
    assert_eq!(of_postgres, of_sqlite);
}

#[test]
fn every_table_with_a_workspace_is_closed_to_other_workspaces_also_for_its_owner() {
    let database = Database::new();
    let open = database.lines(
        "SELECT c.relname::text FROM pg_class c
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
           AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname IN ('workspace', 'chain'))
           AND NOT (c.relrowsecurity AND c.relforcerowsecurity
                    AND EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid AND p.polcmd = '*'))",
    );
    assert_eq!(open, Vec::<String>::new());
    let above = database.lines(&format!(
        "SELECT rolname::text FROM pg_roles
         WHERE rolname = '{APPLICATION}' AND (rolsuper OR rolbypassrls OR rolcanlogin OR rolcreaterole)"
    ));
    assert_eq!(above, Vec::<String>::new());
}

#[test]
fn a_transaction_sees_the_workspace_that_it_names_and_none_before() {
    let database = Database::new();
    database.execute(&format!("SET ROLE {APPLICATION}"));
    for number in [1, 2] {
        database.execute(&format!(
            "BEGIN; SET LOCAL rootset.workspace = '0';
             INSERT INTO workspaces (workspace, workspace_id, created_at, last_write_at)
             VALUES ({number}, 'w{number}', 0, 0);
             SET LOCAL rootset.workspace = '{number}';
             INSERT INTO sources (workspace, source, memories) VALUES ({number}, 's', 1);
             INSERT INTO jobs (workspace, kind, subject, created_at, due_at) VALUES ({number}, 'k', '\\x00', 0, 0);
             INSERT INTO audit (chain, seq, at, actor, operation, counts, hash)
             VALUES ({number}, 1, 0, 'a', 'o', '{{}}', '\\x00');
             COMMIT"
        ));
    }
    let seen = |workspace: Option<i64>| -> Vec<i64> {
        let setting = workspace.map_or_else(String::new, |it| it.to_string());
        database.execute(&format!("BEGIN; SET LOCAL rootset.workspace = '{setting}'"));
        let counts = ["workspaces", "sources", "jobs", "audit"]
            .map(|table| database.rows(&format!("SELECT COUNT(*) FROM {table}"))[0].get::<_, i64>(0));
        let changed = database.runtime.block_on(database.client.execute("UPDATE jobs SET fence = fence + 1", &[]));
        database.execute("ROLLBACK");
        [counts.to_vec(), vec![changed.expect("an update") as i64]].concat()
    };
    assert_eq!(seen(Some(1)), [1, 1, 1, 1, 1]);
    assert_eq!(seen(Some(3)), [0, 0, 0, 0, 0]);
    assert_eq!(seen(None), [0, 0, 0, 0, 0]);
    // The database's own: which workspaces there are, and which have work; but not the work.
    assert_eq!(seen(Some(0)), [2, 0, 2, 0, 0]);
    // A connection that never named one.
    assert_eq!(database.rows("SELECT COUNT(*) FROM sources")[0].get::<_, i64>(0), 0);
    let foreign = "BEGIN; SET LOCAL rootset.workspace = '1'; INSERT INTO sources VALUES (2, 'mine', 1)";
    let refused = database.runtime.block_on(database.client.batch_execute(foreign)).expect_err("refused");
    assert_eq!(refused.code(), Some(&tokio_postgres::error::SqlState::INSUFFICIENT_PRIVILEGE));
}
