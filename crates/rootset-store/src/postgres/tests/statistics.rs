//! Plans for tables that have just been filled.

use super::*;

/// In one workspace.
const MANY: i64 = 12_000;

const FILL: Statement = Statement {
    name: "tests.fill",
    sqlite: "",
    scans: None,
    postgres: "INSERT INTO sources (workspace, source, memories)
               SELECT $1, 'source ' || number, 1 FROM generate_series(1, $2::BIGINT) AS number",
};

fn analysed(sql: &Sql, table: &str) -> i64 {
    let statement = "SELECT COUNT(*) FROM pg_stat_user_tables WHERE relname = ?1
                       AND COALESCE(last_analyze, last_autoanalyze) IS NOT NULL";
    sql.scalar(statement, &[table.into()]).unwrap()
}

#[test]
fn tables_that_were_filled_are_analysed_at_once_and_only_those() {
    let database = database();
    let engine = open(&database, &settings());
    let fill = |rows: i64, workspace: i64| {
        engine
            .write(Tenant::Workspace(WorkspaceKey(workspace)), &mut |tx| {
                tx.execute(&FILL, &[Value::Integer(workspace), Value::Integer(rows)]).map(drop)
            })
            .unwrap();
    };
    let sql = database.sql();
    fill(10, 1);
    assert_eq!(analysed(&sql, "sources"), 0, "for ten rows");
    fill(MANY, 2);
    fill(MANY, 3);
    assert_eq!((analysed(&sql, "sources"), analysed(&sql, "chunks")), (1, 0));
    let times = "SELECT analyze_count FROM pg_stat_user_tables WHERE relname = 'sources'";
    fill(MANY, 4);
    fill(MANY, 5);
    assert!(sql.scalar::<i64>(times, &[]).unwrap() <= 1, "the rest is the server's own work");
}

#[test]
fn a_workspace_is_never_taken_for_a_small_part_of_a_table() {
    let database = database();
    drop(open(&database, &settings()));
    let sql = database.sql();
    let tables = "SELECT c.relname::TEXT FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
                  WHERE c.relkind = 'r' AND a.attname IN ('workspace', 'chain') AND NOT a.attisdropped
                    AND c.relnamespace = current_schema()::regnamespace AND c.relname <> 'workspaces'
                    AND COALESCE(a.attoptions, '{}') <> '{n_distinct=1}'";
    let unmarked: Vec<String> = sql.rows(tables, &[], |row| row.get(0)).unwrap();
    assert!(unmarked.is_empty(), "{unmarked:?}");
    // A thousand small tenants and a large one, and a plan that is kept for all of them.
    sql.execute_batch(&format!(
        "INSERT INTO untracked (workspace, object, run, kind, created_at)
         SELECT tenant, 'object', 'run', 1, 1 FROM generate_series(2, 1000) AS tenant;
         INSERT INTO untracked (workspace, object, run, kind, created_at)
         SELECT 1, sha256(number::TEXT::BYTEA), sha256((-number)::TEXT::BYTEA), 1, 1 FROM generate_series(1, {MANY}) AS number;
         ANALYZE untracked;
         SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;
         SET SESSION AUTHORIZATION rootset_application; SET rootset.workspace = '1';
         PREPARE find (BIGINT, BYTEA[]) AS SELECT object FROM untracked WHERE workspace = $1 AND run = ANY ($2)"
    ))
    .unwrap();
    let plan = sql.rows("EXPLAIN EXECUTE find (1, ARRAY['run'::BYTEA])", &[], |row| row.get::<String>(0)).unwrap();
    assert!(plan.iter().any(|line| line.contains("untracked_run")), "{plan:#?}");
}

const PLAN_MODE: Statement = Statement {
    name: "tests.plan_mode",
    sqlite: "",
    scans: None,
    postgres: "SELECT current_setting('plan_cache_mode')",
};

/// A workspace that is newer than the statistics has no rows by them. A plan that was made for it alone would read all of
/// it, which a plan for any workspace does not.
#[test]
fn plans_are_not_made_for_one_workspace() {
    let database = database();
    let engine = open(&database, &settings());
    let mut modes = Vec::new();
    engine
        .read(Tenant::Workspace(WorkspaceKey(1)), &mut |tx| {
            modes = tx.rows(&PLAN_MODE, &[], |row| row.get::<String>(0))?;
            Ok(())
        })
        .unwrap();
    assert_eq!(modes, ["force_generic_plan"]);
}
