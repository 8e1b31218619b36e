//! Sizes, health and defragmentation of a database on a server.

use super::connection::Connection;
use super::durability;
use super::transaction::APPLICATION_ROLE;
use crate::driver::{DurabilitySetting, Sizes};
use crate::error::StoreError;
use crate::failpoints::failpoint;

/// Bytes of the database, and those of rows that are dead, as far as the server has counted them.
pub fn sizes(connection: &Connection) -> Result<Sizes, StoreError> {
    let rows = connection.query(
        "SELECT pg_database_size(current_database()),
                COALESCE(sum(pg_table_size(relid) * (n_dead_tup::DOUBLE PRECISION
                         / GREATEST(n_live_tup + n_dead_tup, 1))), 0)::BIGINT
         FROM pg_stat_user_tables",
        &[],
    )?;
    let row = rows.first().ok_or(StoreError::MissingRow { statement: "sizes" })?;
    Ok(Sizes { database_bytes: row.get(0), log_bytes: 0, free_bytes: row.get(1), disk_free_bytes: None })
}

pub fn durability(connection: &Connection) -> Result<Vec<DurabilitySetting>, StoreError> {
    let rows = connection.query(&format!("SELECT {}", durability::COLUMNS), &[])?;
    durability::settings(rows.first().ok_or(StoreError::MissingRow { statement: "durability" })?, 0)
}

/// What keeps tenants apart and answers right: every table with a workspace shows its rows by policy, to its owner too;
/// the role of the application is bound by that; no index is half made.
pub fn integrity(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut problems = Vec::new();
    let mut ask = |sql: &str, problem: &dyn Fn(&str) -> String| -> Result<(), StoreError> {
        for row in connection.query(sql, &[])? {
            problems.push(problem(row.get(0)));
        }
        Ok(())
    };
    ask(
        "SELECT DISTINCT c.relname::TEXT FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
         WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
           AND a.attname IN ('workspace', 'chain') AND NOT a.attisdropped
           AND NOT (c.relrowsecurity AND c.relforcerowsecurity)",
        &|table| format!("the table `{table}` shows rows of every workspace: row-level security is off"),
    )?;
    // A policy that asks for no workspace is somebody's own. Two are ours: the search functions ask themselves, and the keys
    // of the database belong to no workspace.
    ask(
        "SELECT DISTINCT c.relname::TEXT FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
         WHERE c.relnamespace = current_schema()::regnamespace AND p.polpermissive
           AND p.polname <> 'search_rows_of_functions' AND NOT (c.relname = 'meta' AND p.polname = 'no_keys')
           AND COALESCE(pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid), '')
               NOT LIKE '%rootset.workspace%'",
        &|table| format!("the table `{table}` shows rows of every workspace: a policy was added to it"),
    )?;
    ask(
        &format!(
            "SELECT rolname::TEXT FROM pg_roles
             WHERE rolname = '{APPLICATION_ROLE}' AND (rolsuper OR rolbypassrls)"
        ),
        &|role| format!("the role `{role}` is above row-level security"),
    )?;
    ask(
        "SELECT c.relname::TEXT FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
         WHERE c.relnamespace = current_schema()::regnamespace AND NOT i.indisvalid",
        &|index| format!("the index `{index}` is not valid"),
    )?;
    // Views of somebody's own only read. What acts when we write is not ours: Rootset makes neither triggers nor rules.
    ask(
        "SELECT format('the trigger `%s` on `%s`', t.tgname, c.relname)
         FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
         WHERE c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal
         UNION ALL
         SELECT format('the rule `%s` on `%s`', r.rulename, c.relname)
         FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
         ORDER BY 1 LIMIT 20",
        &|planted| format!("{planted} is not Rootset's"),
    )?;
    Ok(problems)
}

/// Gives back what dead rows and half-empty pages hold while others read and write.
pub fn compact(connection: &Connection) -> Result<(), StoreError> {
    let tables = connection.query(
        "SELECT quote_ident(relname) FROM pg_class
         WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace ORDER BY relname",
        &[],
    )?;
    connection.command("SET statement_timeout = 0; SET lock_timeout = 0")?;
    failpoint!("defrag.begun");
    for row in &tables {
        let table: String = row.get(0);
        connection.command(&format!("VACUUM (ANALYZE) {table}"))?;
        failpoint!("defrag.optimized");
        connection.command(&format!("REINDEX TABLE CONCURRENTLY {table}"))?;
    }
    failpoint!("defrag.rebuilt");
    Ok(())
}
