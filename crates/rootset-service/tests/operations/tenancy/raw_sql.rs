//! Raw SQL as the role that the program works as: whatever a mistake in a statement asked for, the database shows and
//! changes the rows of one tenant.

use rootset_testing::{Sql, SqlError};

use super::tenants::{self, OTHER, OWN, SECRET};
use crate::harness::World;

/// Whoever has this session is the application and nothing else, with the workspace that is named.
fn application(world: &World, workspace: Option<&str>) -> Sql {
    let sql = world.sql();
    // As the engine's own sessions are, see its options.
    sql.execute_batch(
        "SET session_replication_role = origin; SET enable_seqscan = off; SET SESSION AUTHORIZATION rootset_application",
    )
    .unwrap();
    if let Some(workspace) = workspace {
        sql.execute("SELECT set_config('rootset.workspace', ?1, false)", &[workspace.into()]).unwrap();
    }
    sql
}

/// Tables whose rows belong to tenants, with the column that says to whom. Asked of the catalogue, so that a new table is
/// among them.
pub fn tenant_tables(sql: &Sql) -> Vec<(String, String)> {
    let statement =
        "SELECT c.relname::TEXT, a.attname::TEXT FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
                     WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
                       AND a.attname IN ('workspace', 'chain') AND NOT a.attisdropped ORDER BY 1";
    let tables = sql.rows(statement, &[], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert!(tables.len() > 30, "{tables:?}");
    tables
}

fn key_of(sql: &Sql, workspace: &str) -> i64 {
    sql.scalar("SELECT workspace FROM workspaces WHERE workspace_id = ?1", &[workspace.into()]).unwrap()
}

fn count(sql: &Sql, table: &str, condition: &str) -> Result<i64, SqlError> {
    sql.scalar(&format!("SELECT COUNT(*) FROM {table} WHERE {condition}"), &[])
}

#[track_caller]
fn refusal(result: Result<usize, SqlError>, what: &str) -> String {
    match result {
        Ok(rows) => panic!("{what}: {rows} rows"),
        Err(error) => error.to_string(),
    }
}

/// Tables that a workspace fills only on rare occasions: these tests are as good without rows in them.
const RARELY_FILLED: [&str; 2] = ["kept_counters", "run_skips"];

#[test]
fn a_session_of_one_tenant_reads_counts_changes_and_removes_nothing_of_another() {
    let (world, _) = tenants::inhabited();
    let all = world.sql();
    let (own, other) = (key_of(&all, OWN), key_of(&all, OTHER));
    let application = application(&world, Some(&own.to_string()));
    for (table, column) in tenant_tables(&all) {
        let (of_own, of_other) = (format!("{column} = {own}"), format!("{column} = {other}"));
        let there = count(&all, &table, &of_other).unwrap();
        assert!(there > 0 || RARELY_FILLED.contains(&table.as_str()), "`{table}` has no rows to try this with");
        assert_eq!(count(&application, &table, &of_other).unwrap(), 0, "{table}");
        assert_eq!(count(&application, &table, "TRUE").unwrap(), count(&all, &table, &of_own).unwrap(), "{table}");
        let planted = application.execute(&format!("INSERT INTO {table} ({column}) VALUES ({other})"), &[]);
        let told = refusal(planted, &table);
        assert!(told.contains("row-level security"), "{table}: {told}");
        if table == "audit" {
            continue; // Nobody changes it, see below.
        }
        application.execute_batch("BEGIN").unwrap();
        for statement in [
            format!("UPDATE {table} SET {column} = {column} WHERE {of_other}"),
            format!("DELETE FROM {table} WHERE {of_other}"),
        ] {
            assert_eq!(application.execute(&statement, &[]).unwrap(), 0, "{statement}");
        }
        application.execute_batch("SAVEPOINT moving").unwrap();
        if count(&all, &table, &of_own).unwrap() > 0 {
            let moved = application.execute(&format!("UPDATE {table} SET {column} = {other}"), &[]);
            let told = refusal(moved, &table);
            assert!(told.contains("row-level security"), "{table}: {told}");
        }
        application.execute_batch("ROLLBACK").unwrap();
        assert_eq!(count(&all, &table, &of_other).unwrap(), there, "{table}");
    }
}

#[test]
fn a_session_that_names_no_tenant_or_nonsense_sees_and_plants_nothing() {
    let (world, _) = tenants::inhabited();
    let all = world.sql();
    let other = key_of(&all, OTHER);
    for workspace in [None, Some(""), Some("x"), Some("-1"), Some("1 OR TRUE"), Some("99999999999999999999")] {
        let application = application(&world, workspace);
        for (table, column) in tenant_tables(&all) {
            // An error is as good as no rows.
            let seen = count(&application, &table, "TRUE").unwrap_or(0);
            assert_eq!(seen, 0, "{table} with {workspace:?}");
            refusal(
                application.execute(&format!("INSERT INTO {table} ({column}) VALUES ({other})"), &[]),
                &format!("{table} with {workspace:?}"),
            );
        }
        let found =
            application.scalar::<i64>("SELECT COUNT(*) FROM search_any(0, ARRAY['zyxwaardvark'], 1000, 1000)", &[]);
        assert_eq!(found.unwrap_or(0), 0, "with {workspace:?}");
    }
}

#[test]
fn the_databases_own_number_shows_the_list_of_workspaces_and_their_jobs_and_changes_only_the_first() {
    let (world, _) = tenants::inhabited();
    let all = world.sql();
    let application = application(&world, Some("0"));
    for (table, column) in tenant_tables(&all) {
        let of_tenants = format!("{column} <> 0");
        let seen = count(&application, &table, &of_tenants).unwrap();
        let expected = match table.as_str() {
            "workspaces" | "jobs" => count(&all, &table, &of_tenants).unwrap(),
            _ => 0,
        };
        assert_eq!(seen, expected, "{table}");
    }
    assert_eq!(application.execute("UPDATE jobs SET attempts = 99 WHERE workspace <> 0", &[]).unwrap(), 0);
    assert_eq!(application.execute("DELETE FROM jobs WHERE workspace <> 0", &[]).unwrap(), 0);
}

#[test]
fn unique_keys_and_references_begin_with_the_tenant_so_that_they_cannot_tell_of_another() {
    let (world, _) = tenants::inhabited();
    let all = world.sql();
    let tables: Vec<String> = tenant_tables(&all).into_iter().map(|(table, _)| table).collect();
    let unique = "SELECT i.indexrelid::regclass::TEXT, i.indrelid::regclass::TEXT, a.attname::TEXT
                  FROM pg_index AS i JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
                  WHERE (i.indisunique OR i.indisexclusion)
                    AND i.indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace)";
    let found: Vec<[String; 3]> = all.rows(unique, &[], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?])).unwrap();
    let of_tenants: Vec<&[String; 3]> = found.iter().filter(|[_, table, _]| tables.contains(table)).collect();
    assert!(of_tenants.len() > 30, "{of_tenants:?}");
    for [index, _, first] in of_tenants {
        // Names of workspaces are the database's: only whoever may make workspaces can try them.
        let is_right = first == "workspace" || first == "chain" || index == "workspaces_workspace_id_key";
        assert!(is_right, "`{index}` begins with `{first}`");
    }
    let references = "SELECT c.conname::TEXT, own.attname::TEXT, theirs.attname::TEXT FROM pg_constraint AS c
                      JOIN pg_attribute AS own ON own.attrelid = c.conrelid AND own.attnum = c.conkey[1]
                      JOIN pg_attribute AS theirs ON theirs.attrelid = c.confrelid AND theirs.attnum = c.confkey[1]
                      WHERE c.contype = 'f' AND c.connamespace = current_schema()::regnamespace";
    let found: Vec<[String; 3]> = all.rows(references, &[], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?])).unwrap();
    assert!(found.len() > 10, "{found:?}");
    for [name, from, to] in found {
        assert_eq!((from.as_str(), to.as_str()), ("workspace", "workspace"), "{name}");
    }
}

#[test]
fn functions_answer_for_the_named_tenant_whatever_their_arguments_say() {
    let (world, _) = tenants::inhabited();
    let all = world.sql();
    let (own, other) = (key_of(&all, OWN), key_of(&all, OTHER));
    let application = application(&world, Some(&own.to_string()));
    let before = search_state(&all, other);
    let terms: Vec<(i64, String)> = all
        .rows(
            "SELECT t.kind, t.term FROM search_terms AS t WHERE t.workspace = ?1 AND NOT EXISTS (
               SELECT 1 FROM search_terms AS o WHERE o.workspace = ?2 AND o.kind = t.kind AND o.term = t.term)",
            &[other.into(), own.into()],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert!(terms.len() > 10, "{terms:?}");
    let mut tried = 0;
    for (kind, term) in &terms {
        for written in [
            term.clone(),
            format!("{other}/{kind}/{term}"),
            format!("x' | '{other}/{kind}/{term}"),
            format!("x'' | ''{other}/{kind}/{term}"),
            format!("\\' | \\'{other}/{kind}/{term}"),
            format!("x\\\\' | '{other}/{kind}/{term}"),
            format!("{term}':* | '{other}"),
        ] {
            for function in ["search_any(?1, ARRAY[?2::TEXT], 1000000, 1000)", "search_all(?1, ARRAY[?2::TEXT], 1000)"]
            {
                let statement = format!("SELECT COUNT(*) FROM {function}");
                let found: i64 = application.scalar(&statement, &[(*kind).into(), written.as_str().into()]).unwrap();
                assert_eq!(found, 0, "{function} {written}");
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "{tried}");
    // Keys of the other are numbers like any others; lexemes that begin with the other's number are found by nobody.
    for kind in 0..4 {
        let keys = "ARRAY(SELECT generate_series(1, 1000)::BIGINT)";
        application.execute_batch(&format!("BEGIN; SELECT search_delete({kind}, {keys}); ROLLBACK")).unwrap();
        application.execute_batch(&format!("SELECT search_delete({kind}, {keys})")).unwrap();
    }
    let planted = format!(
        "SELECT search_insert(0, ARRAY[777777]::BIGINT[], ARRAY['planted'], ARRAY['planted'], ARRAY['{other}/0/{}'],
                              ARRAY['planted'], ARRAY[1]::BIGINT[], 1)",
        SECRET.to_lowercase()
    );
    application.execute_batch(&planted).unwrap();
    assert_eq!(search_state(&all, other), before);
    let as_other = super::raw_sql::application(&world, Some(&other.to_string()));
    let seen = "SELECT COUNT(*) FROM search_any(0, ARRAY[?1::TEXT], 1000000, 1000000) WHERE key = 777777";
    assert_eq!(as_other.scalar::<i64>(seen, &[SECRET.to_lowercase().as_str().into()]).unwrap(), 0);
}

fn search_state(all: &Sql, workspace: i64) -> Vec<String> {
    ["search_rows", "search_terms", "search_totals"]
        .iter()
        .flat_map(|table| {
            let statement = format!("SELECT t::TEXT FROM {table} AS t WHERE workspace = ?1 ORDER BY 1");
            all.rows(&statement, &[workspace.into()], |row| row.get::<String>(0)).unwrap()
        })
        .collect()
}

#[test]
fn a_temporary_table_cannot_stand_in_for_one_that_a_function_of_the_owner_reads() {
    let (world, _) = tenants::inhabited();
    let all = world.sql();
    let own = key_of(&all, OWN);
    let application = application(&world, Some(&own.to_string()));
    let functions = "SELECT p.proname::TEXT FROM pg_proc AS p
                     WHERE p.prosecdef AND p.pronamespace = current_schema()::regnamespace ORDER BY 1";
    let functions: Vec<String> = all.rows(functions, &[], |row| row.get(0)).unwrap();
    // The first reads no rows by name: the server analyses a table with the rights of the table's owner.
    assert_eq!(functions, ["analyse_new_tables", "delete_old_commits", "index_embeddings", "search_all", "search_any"]);
    // Whoever reads these views runs the function, with the rights that he has just then.
    application
        .execute_batch(
            "CREATE FUNCTION pg_temp.spy() RETURNS BIGINT LANGUAGE plpgsql AS 'BEGIN RAISE ''as %'', current_user; END';
             CREATE TEMP VIEW search_totals AS SELECT 1::BIGINT AS workspace, 0::BIGINT AS kind, pg_temp.spy() AS rows;
             CREATE TEMP VIEW search_terms AS
               SELECT 1::BIGINT AS workspace, 0::BIGINT AS kind, 'quokka' AS term, pg_temp.spy() AS rows;
             CREATE TEMP VIEW search_rows AS
               SELECT 1::BIGINT AS workspace, 0::BIGINT AS kind, pg_temp.spy() AS key, NULL::tsvector AS terms;
             CREATE TEMP VIEW embeddings AS SELECT pg_temp.spy() AS dimension;
             CREATE TEMP VIEW commits AS SELECT pg_temp.spy() AS at, ''::BYTEA AS token",
        )
        .unwrap();
    for call in [
        "SELECT COUNT(*) FROM search_any(0, ARRAY['quokka'], 1000, 1000)",
        "SELECT COUNT(*) FROM search_all(0, ARRAY['quokka'], 1000)",
        "SELECT COUNT(*) FROM (SELECT index_embeddings(8)) AS called",
        "SELECT delete_old_commits(10)",
    ] {
        application.scalar::<i64>(call, &[]).unwrap_or_else(|error| panic!("{call}: {error}"));
    }
}

#[test]
fn plans_errors_and_statistics_tell_nothing_of_another_tenants_values() {
    let (world, handles) = tenants::inhabited();
    let all = world.sql();
    all.execute_batch("ANALYZE").unwrap();
    let own = key_of(&all, OWN);
    let application = application(&world, Some(&own.to_string()));
    for (table, column) in tenant_tables(&all) {
        // Two tables are also shown to the database itself: no index fits such a condition, but every statement of the
        // program names its workspace.
        let condition = match table.as_str() {
            "jobs" | "workspaces" => format!("{column} = {own}"),
            _ => "TRUE".to_owned(),
        };
        let plan =
            format!("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT * FROM {table} WHERE {condition}");
        let lines: Vec<String> = application.rows(&plan, &[], |row| row.get(0)).unwrap();
        assert!(!lines.iter().any(|line| line.contains("Rows Removed")), "{table}: {lines:#?}");
    }
    // A function of the caller's own is asked about rows only after the policy was.
    application
        .execute_batch(
            "CREATE FUNCTION pg_temp.spy(text TEXT) RETURNS BOOLEAN LANGUAGE plpgsql COST 0.0001 AS
             'BEGIN IF text LIKE ''%Zyxw%'' THEN RAISE ''it was %'', text; END IF; RETURN TRUE; END'",
        )
        .unwrap();
    for (table, column) in
        [("revisions", "context"), ("memories", "name"), ("segment_texts", "text"), ("entities", "name")]
    {
        let seen = count(&application, table, &format!("pg_temp.spy({column})"));
        assert!(seen.is_ok_and(|rows| rows > 0), "{table}");
    }
    let statistics = "SELECT COUNT(*) FROM pg_stats WHERE schemaname = current_schema() AND tablename = ANY (
                        SELECT c.relname FROM pg_class AS c WHERE c.relrowsecurity)";
    assert!(all.scalar::<i64>(statistics, &[]).unwrap() > 100);
    assert_eq!(application.scalar::<i64>(statistics, &[]).unwrap(), 0);
    // The one message that quotes a key quotes none where rows are hidden.
    let duplicate = "INSERT INTO memory_tags SELECT * FROM memory_tags LIMIT 1";
    let told = refusal(application.execute(duplicate, &[]), duplicate);
    assert!(told.contains("memory_tags_pkey") && !told.contains("Key ("), "{told}");
    let foreign = format!("UPDATE memory_tags SET memory = decode(replace('{}', '-', ''), 'hex')", handles.memory);
    let told = refusal(application.execute(&foreign, &[]), &foreign);
    assert!(told.contains("violates foreign key") && !told.contains(SECRET), "{told}");
    assert_eq!(
        application.scalar::<i64>("SELECT COUNT(*) FROM pg_stat_activity WHERE query LIKE '%xyz%'", &[]).unwrap(),
        0
    );
}

#[test]
fn the_application_cannot_lift_what_binds_it() {
    let (world, _) = tenants::inhabited();
    let all = world.sql();
    let own = key_of(&all, OWN);
    let before = world.database.storage();
    for statement in [
        "SET ROLE postgres",
        "ALTER TABLE memories DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE memories NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY tenancy ON memories",
        "CREATE POLICY more ON memories USING (TRUE)",
        "DROP TABLE memories CASCADE",
        "TRUNCATE memories CASCADE",
        "TRUNCATE audit",
        "UPDATE audit SET actor = 'somebody'",
        "DELETE FROM audit",
        "UPDATE schema_version SET version = 99",
        "INSERT INTO schema_version VALUES (99)",
        "DELETE FROM schema_version",
        "CREATE TABLE mine (a BIGINT)",
        "CREATE FUNCTION mine() RETURNS BIGINT LANGUAGE sql AS 'SELECT 1'",
        "CREATE SCHEMA mine",
        "DROP EXTENSION vector",
        "CREATE TRIGGER mine BEFORE INSERT ON memories EXECUTE FUNCTION pg_catalog.suppress_redundant_updates_trigger()",
        "ALTER FUNCTION search_any OWNER TO rootset_application",
        "CREATE OR REPLACE FUNCTION search_lexeme(lexeme TEXT) RETURNS TSQUERY LANGUAGE sql AS 'SELECT NULL::TSQUERY'",
        "ALTER ROLE rootset_application BYPASSRLS",
        "CREATE ROLE mine",
        "GRANT postgres TO rootset_application",
        "SET session_replication_role = replica",
        "SELECT COUNT(*) FROM pg_statistic",
        "SELECT COUNT(*) FROM pg_authid",
        "COPY memories TO PROGRAM 'cat'",
        "COPY memories TO '/tmp/stolen'",
        "SELECT pg_read_file('PG_VERSION')",
        "SELECT lo_import('/etc/passwd')",
    ] {
        let application = application(&world, Some(&own.to_string()));
        let told = match application.execute_batch(statement) {
            Ok(()) => panic!("`{statement}` was done"),
            Err(error) => error.to_string(),
        };
        let is_about_rights = ["permission denied", "must be owner", "must be member", "must be a superuser"];
        assert!(is_about_rights.iter().any(|it| told.contains(it)), "`{statement}`: {told}");
    }
    let application = application(&world, Some(&own.to_string()));
    application.execute_batch("SET row_security = off").unwrap();
    for (table, _) in tenant_tables(&all) {
        let told =
            count(&application, &table, "TRUE").map_or_else(|error| error.to_string(), |rows| format!("{rows} rows"));
        assert!(told.contains("would be affected by row-level security"), "{table}: {told}");
    }
    assert_eq!(world.database.storage(), before);
}
