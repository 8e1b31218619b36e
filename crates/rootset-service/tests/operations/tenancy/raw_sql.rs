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
    tenants::live_as_people_do(&world);
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
fn the_databases_own_number_shows_workspaces_their_jobs_and_folders_and_changes_only_the_first() {
    let (world, _) = tenants::inhabited();
    let all = world.sql();
    let application = application(&world, Some("0"));
    for (table, column) in tenant_tables(&all) {
        let of_tenants = format!("{column} <> 0");
        let seen = count(&application, &table, &of_tenants).unwrap();
        let expected = match table.as_str() {
            "workspaces" | "jobs" | "projects" => count(&all, &table, &of_tenants).unwrap(),
            _ => 0,
        };
        assert_eq!(seen, expected, "{table}");
    }
    assert_eq!(application.execute("UPDATE jobs SET attempts = 99 WHERE workspace <> 0", &[]).unwrap(), 0);
    for table in ["jobs", "projects"] {
        assert_eq!(application.execute(&format!("DELETE FROM {table} WHERE workspace <> 0"), &[]).unwrap(), 0);
    }
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
        // Names of workspaces and of their persons are the database's: only whoever may make workspaces can try them.
        let is_right = first == "workspace"
            || first == "chain"
            || ["workspaces_workspace_id_key", "workspaces_person"].contains(&index.as_str());
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
    let of_tokens = [
        "end_token",
        "ending_tokens",
        "free_token_name",
        "insert_token",
        "is_any_token_accepted",
        "is_token_named",
        "keep_signing_key",
        "key_of_database",
        "known_tokens",
        "name_of_workspace",
        "note_token_used",
        "note_token_warned",
        "renew_token",
        "set_erasure_key",
        "soonest_token_end",
        "token_of_secret",
        "unbind_tokens",
    ];
    let others: Vec<&String> = functions.iter().filter(|it| !of_tokens.contains(&it.as_str())).collect();
    assert_eq!(others, ["analyse_new_tables", "delete_old_commits", "index_embeddings", "search_all", "search_any"]);
    assert_eq!(functions.len() - others.len(), of_tokens.len());
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
             CREATE TEMP VIEW commits AS SELECT pg_temp.spy() AS at, ''::BYTEA AS token;
             CREATE TEMP VIEW tokens AS SELECT pg_temp.spy() AS expires_at, NULL::BIGINT AS revoked_at;
             CREATE TEMP VIEW meta AS SELECT 'erasure_key' AS key, pg_temp.spy()::TEXT::BYTEA AS value",
        )
        .unwrap();
    for call in [
        "SELECT COUNT(*) FROM search_any(0, ARRAY['quokka'], 1000, 1000)",
        "SELECT COUNT(*) FROM search_all(0, ARRAY['quokka'], 1000)",
        "SELECT COUNT(*) FROM (SELECT index_embeddings(8)) AS called",
        "SELECT delete_old_commits(10)",
        "SELECT COALESCE(soonest_token_end(0), 0)",
        "SELECT is_any_token_accepted(0)::INTEGER::BIGINT",
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
        // Three tables are also shown to the database itself: no index fits such a condition, but every statement of the
        // program names its workspace.
        let condition = match table.as_str() {
            "jobs" | "projects" | "workspaces" => format!("{column} = {own}"),
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

/// The hash of a secret as a session shows it.
fn shown(secret: &str) -> String {
    blake3::hash(secret.as_bytes()).to_hex().to_string()
}

fn create_token(world: &World, name: &str, scopes: &[&str], workspaces: &[&str]) -> String {
    let request = serde_json::json!({"name": name, "scopes": scopes, "workspaces": workspaces});
    crate::harness::text_of(&world.call("create_token", request)["token"])
}

/// What plants a token that may do everything.
const PLANT: &str =
    "SELECT insert_token('\\x01', 'planted', '\\x02', 'read write destroy purge admin', '*', 0, 'x', NULL, NULL,
                                         NULL, 'agent')";

#[test]
fn the_application_reads_no_hash_and_no_key_and_makes_changes_and_ends_no_token() {
    let (world, _) = tenants::inhabited();
    create_token(&world, "root", &["read", "write", "destroy", "purge", "admin"], &["*"]);
    let all = world.sql();
    let state = || -> Vec<String> {
        all.rows("SELECT t::TEXT FROM tokens AS t UNION ALL SELECT m::TEXT FROM meta AS m ORDER BY 1", &[], |row| {
            row.get(0)
        })
        .unwrap()
    };
    let before = state();
    for workspace in ["0", "1"] {
        for statement in [
            "SELECT secret_hash FROM tokens",
            "SELECT COUNT(*) FROM tokens",
            "INSERT INTO tokens (token_id, name, secret_hash, scopes, workspaces, created_at, created_by)
             VALUES ('\\x01', 'x', '\\x02', 'admin', '*', 0, 'x')",
            "UPDATE tokens SET scopes = 'admin', workspaces = '*'",
            "DELETE FROM tokens",
            "TRUNCATE tokens",
            "SELECT * FROM shown_token()",
            "SELECT check_token_manager('')",
            "SELECT check_key_user(ARRAY['write'])",
            "SELECT * FROM known_tokens()",
            PLANT,
            "SELECT free_token_name('root', 9223372036854775807)",
            "SELECT end_token('\\x01', 0)",
            "SELECT renew_token('\\x01', '\\x02', 0, NULL)",
            "SELECT key_of_database('erasure_key')",
            "SELECT key_of_database('signing_key')",
            "SELECT set_erasure_key('\\x00')",
            "SELECT keep_signing_key('\\x00')",
            "INSERT INTO meta (key, value) VALUES ('erasure_key', '\\x00')
             ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            "INSERT INTO meta (key, value) VALUES ('signing_key', '\\x00')",
        ] {
            let told = match application(&world, Some(workspace)).execute_batch(statement) {
                Ok(()) => panic!("`{statement}` was done"),
                Err(error) => error.to_string(),
            };
            let is_about_rights = ["permission denied", "row-level security", "login of"];
            assert!(is_about_rights.iter().any(|it| told.contains(it)), "`{statement}`: {told}");
        }
        let application = application(&world, Some(workspace));
        assert_eq!(count(&application, "meta", "key IN ('erasure_key', 'signing_key')").unwrap(), 0);
        assert_eq!(application.execute("UPDATE meta SET value = '' WHERE key = 'erasure_key'", &[]).unwrap(), 0);
        assert_eq!(application.execute("DELETE FROM meta WHERE key = 'erasure_key'", &[]).unwrap(), 0);
        let unbound = "SELECT COUNT(*) FROM unbind_tokens((SELECT MAX(workspace) FROM workspaces), 0)";
        assert_eq!(application.scalar::<i64>(unbound, &[]).unwrap(), 0, "of a workspace that is there");
    }
    assert_eq!(state(), before);
}

#[test]
fn functions_about_tokens_go_by_the_scopes_of_the_token_that_is_shown() {
    let (world, _) = tenants::inhabited();
    let everything = ["read", "write", "destroy", "purge", "admin"];
    let attempt = |secret: &str, statement: &str| {
        let application = application(&world, Some("0"));
        application.execute("SELECT set_config('rootset.token', ?1, false)", &[shown(secret).as_str().into()]).unwrap();
        application.execute_batch(&format!("BEGIN; {statement}; ROLLBACK")).is_ok()
    };
    let (listed, key) = ("SELECT * FROM known_tokens()", "SELECT key_of_database('erasure_key')");
    // The first token needs nobody's leave.
    assert!(attempt("rst_none", PLANT) && !attempt("rst_none", listed) && !attempt("rst_none", key));
    let root = create_token(&world, "root", &everything, &["*"]);
    let admin = create_token(&world, "admin", &["read", "admin"], &["*"]);
    let of_one = create_token(&world, "of-one", &everything, &[OWN]);
    let writer = create_token(&world, "writer", &["read", "write"], &[OWN]);
    let reader = create_token(&world, "reader", &["read"], &["*"]);
    let gone = create_token(&world, "gone", &everything, &["*"]);
    world.call("revoke_token", serde_json::json!({"name": "gone"}));
    let less = PLANT.replace("read write destroy purge admin", "read admin");
    for (secret, plants, plants_less, lists, reads_key) in [
        (&root, true, true, true, true),
        (&admin, false, true, true, true),
        (&of_one, false, false, false, true),
        (&writer, false, false, false, true),
        (&reader, false, false, false, false),
        (&gone, false, false, false, false),
        (&"rst_none".to_owned(), false, false, false, false),
    ] {
        let outcome = [PLANT, &less, listed, key].map(|statement| attempt(secret, statement));
        assert_eq!(outcome, [plants, plants_less, lists, reads_key], "{secret}");
    }
}

#[test]
fn a_session_of_one_tenant_learns_no_name_of_a_workspace_from_a_refusal() {
    let (world, _) = tenants::inhabited();
    let own = key_of(&world.sql(), OWN);
    let refusals = [OTHER, "never-was"].map(|name| {
        let application = application(&world, Some(&own.to_string()));
        let renamed = "UPDATE workspaces SET workspace_id = ?1";
        let inserted =
            "INSERT INTO workspaces (workspace, workspace_id, created_at, last_write_at) VALUES (?2, ?1, 0, 0)
                        ON CONFLICT (workspace) DO NOTHING";
        [
            refusal(application.execute(renamed, &[name.into()]), renamed),
            refusal(application.execute(inserted, &[name.into(), own.into()]), inserted),
        ]
    });
    assert_eq!(refusals[0], refusals[1]);
}
