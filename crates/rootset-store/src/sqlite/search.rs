//! Full text in SQLite: one FTS5 table per workspace and index, so that the statistics of BM25 never mix workspaces.
//!
//! The tables hold terms that were split and stemmed before they came here. Ordinary content (never contentless, which
//! keeps deleted tokens) and FTS5's secure-delete make a deleted row's terms leave the file.

use std::collections::HashMap;

use rusqlite::OptionalExtension;
use rusqlite::config::DbConfig;

use super::connection::{Connection, WaitingRow};
use crate::driver::{Combine, SearchIndex, SearchQuery, SearchRemoval, SearchRow, SearchStatistics};
use crate::error::StoreError;
use rootset_model::WorkspaceKey;

/// Everything but blanks is part of a term: the text was already split. The apostrophe is doubled for its quotes.
const TERM_PUNCTUATION: &str = "!#$%&''()*+,-./:;<=>?@[\\]^_`{|}~";

fn table(workspace: WorkspaceKey, index: SearchIndex) -> String {
    format!("search_{}_{}", index.as_str(), workspace.0)
}

fn exists(connection: &mut Connection, table: &str) -> Result<bool, StoreError> {
    if connection.search_tables.contains(table) {
        return Ok(true);
    }
    let found = connection
        .raw
        .prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1")?
        .query_row([table], |_| Ok(()))
        .optional()?;
    if found.is_some() {
        connection.search_tables.insert(table.to_owned());
    }
    Ok(found.is_some())
}

/// FTS5's format with secure deletes. FTS5 itself raises the number with the first such delete, but connections that
/// read the number before take an emptied page for damage; so it is there from the beginning.
const SECURE_DELETE_FORMAT: i64 = 5;

fn definition(table: &str, index: SearchIndex) -> String {
    let detail = match index {
        SearchIndex::Memories | SearchIndex::Entities => "",
        // Nobody asks where in a chunk of code or in a segment a term stands, and without places the index is half the size.
        SearchIndex::Code | SearchIndex::Stash => ", detail = none",
    };
    format!(
        "CREATE VIRTUAL TABLE {table} USING fts5(head, body, tokenize = \"ascii tokenchars '{TERM_PUNCTUATION}'\"{detail})"
    )
}

/// Terms that FTS5 gathers before it writes a segment: all of a scan's batch, so that there is one segment to merge later
/// instead of several.
const CODE_BUFFER_BYTES: i64 = 16 << 20;

fn create(connection: &mut Connection, table: &str, index: SearchIndex) -> Result<(), StoreError> {
    connection.raw.execute_batch(&definition(table, index))?;
    // The one moment in which we write to a table behind an index ourselves.
    connection.raw.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false)?;
    let versioned = connection
        .raw
        .execute(&format!("REPLACE INTO {table}_config(k, v) VALUES ('version', ?1)"), [SECURE_DELETE_FORMAT]);
    connection.raw.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    versioned?;
    set_option(connection, table, "secure-delete", 1)?;
    if index == SearchIndex::Code {
        set_option(connection, table, "hashsize", CODE_BUFFER_BYTES)?;
    }
    Ok(())
}

/// Writes the rows that wait, before anything looks at an index and before the transaction ends.
pub fn write_waiting(connection: &mut Connection) -> Result<(), StoreError> {
    for WaitingRow { workspace, index, row } in std::mem::take(&mut connection.search_waiting) {
        let table = table(workspace, index);
        if !exists(connection, &table)? {
            create(connection, &table, index)?;
        }
        let sql = format!("INSERT INTO {table}(rowid, head, body) VALUES (?1, ?2, ?3)");
        connection.raw.prepare_cached(&sql)?.execute((row.key, &row.head, &row.body))?;
    }
    Ok(())
}

pub fn delete(
    connection: &mut Connection,
    workspace: WorkspaceKey,
    index: SearchIndex,
    keys: &[i64],
    removal: SearchRemoval,
) -> Result<(), StoreError> {
    let table = table(workspace, index);
    if keys.is_empty() || !exists(connection, &table)? {
        return Ok(());
    }
    // Changing the option writes out what FTS5 has buffered so far, each part by the option of its time.
    if removal == SearchRemoval::Marked {
        set_option(connection, &table, "secure-delete", 0)?;
    }
    let mut statement = connection.raw.prepare_cached(&format!("DELETE FROM {table} WHERE rowid = ?1"))?;
    for key in keys {
        statement.execute([key])?;
    }
    drop(statement);
    match removal {
        SearchRemoval::Marked => set_option(connection, &table, "secure-delete", 1),
        SearchRemoval::AtOnce => Ok(()),
    }
}

/// Pages of an index that one step of its rewriting writes: other writers wait no longer than for a batch of a sweep.
const COMPACTED_PAGES: i64 = 2_000;

/// Merges all segments into one, which is when marked rows leave them. The first step puts all of them on one level,
/// which a negative number of pages asks for.
pub fn compact(
    connection: &mut Connection,
    workspace: WorkspaceKey,
    index: SearchIndex,
    is_first: bool,
) -> Result<bool, StoreError> {
    let table = table(workspace, index);
    if !exists(connection, &table)? {
        return Ok(true);
    }
    let before = connection.raw.total_changes();
    set_option(connection, &table, "merge", if is_first { -COMPACTED_PAGES } else { COMPACTED_PAGES })?;
    // As FTS5 documents it: fewer than two changes mean that there was nothing left to merge.
    Ok(connection.raw.total_changes() - before < 2)
}

fn set_option(connection: &mut Connection, table: &str, option: &str, value: i64) -> Result<(), StoreError> {
    let sql = format!("INSERT INTO {table}({table}, rank) VALUES (?1, ?2)");
    connection.raw.prepare_cached(&sql)?.execute((option, value))?;
    Ok(())
}

pub fn find(
    connection: &mut Connection,
    workspace: WorkspaceKey,
    index: SearchIndex,
    query: &SearchQuery<'_>,
) -> Result<Vec<(i64, f64)>, StoreError> {
    let table = table(workspace, index);
    if query.terms.is_empty() || !exists(connection, &table)? {
        return Ok(Vec::new());
    }
    let mut statement =
        connection.raw.prepare_cached(&format!("SELECT rowid FROM {table} WHERE {table} MATCH ?1 LIMIT ?2"))?;
    let mut matching = |expression: &str, limit: usize| -> Result<Vec<i64>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let keys = statement.query_map((expression, limit), |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(keys)
    };
    let quoted: Vec<String> = query.terms.iter().map(|term| quoted(term)).collect();
    if query.combine == Combine::All {
        let found = matching(&quoted.join(" AND "), query.limit)?;
        return Ok(found.into_iter().map(|key| (key, 0.0)).collect());
    }
    let mut rows_of_terms: Vec<Vec<i64>> = Vec::with_capacity(quoted.len());
    for term in &quoted {
        let found = matching(term, query.rows_per_term_max.saturating_add(1))?;
        if found.len() <= query.rows_per_term_max {
            rows_of_terms.push(found);
        }
    }
    drop(statement);
    let rows = totals(connection, &table)?.first().copied().unwrap_or(0);
    Ok(best(&rows_of_terms, rows, query.limit))
}

/// Every term is a quoted string, the one form in which FTS5 reads nothing as syntax.
fn quoted(term: &str) -> String {
    format!("\"{}\"", term.replace('"', "\"\""))
}

/// The rows with the greatest sum of their terms' inverse frequencies. FTS5's own ranking costs several times as much,
/// and whoever asks ranks what is found by better means.
fn best(rows_of_terms: &[Vec<i64>], rows: i64, limit: usize) -> Vec<(i64, f64)> {
    let mut scores: HashMap<i64, f64> = HashMap::new();
    for found in rows_of_terms {
        let frequency = found.len() as f64;
        let rarity = (1.0 + (rows as f64 - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln();
        for key in found {
            *scores.entry(*key).or_default() += rarity;
        }
    }
    let mut ranked: Vec<(i64, f64)> = scores.into_iter().collect();
    let order = |a: &(i64, f64), b: &(i64, f64)| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0));
    if limit < ranked.len() {
        ranked.select_nth_unstable_by(limit, order);
        ranked.truncate(limit);
    }
    ranked.sort_unstable_by(order);
    ranked
}

pub fn rows(
    connection: &mut Connection,
    workspace: WorkspaceKey,
    index: SearchIndex,
    keys: &[i64],
) -> Result<Vec<SearchRow>, StoreError> {
    let table = table(workspace, index);
    if keys.is_empty() || !exists(connection, &table)? {
        return Ok(Vec::new());
    }
    let mut statement = connection.raw.prepare_cached(&format!("SELECT c0, c1 FROM {table}_content WHERE id = ?1"))?;
    let mut found = Vec::with_capacity(keys.len());
    for &key in keys {
        let row =
            statement.query_row([key], |row| Ok(SearchRow { key, head: row.get(0)?, body: row.get(1)? })).optional()?;
        found.extend(row);
    }
    Ok(found)
}

pub fn statistics(
    connection: &mut Connection,
    workspace: WorkspaceKey,
    index: SearchIndex,
    terms: &[String],
) -> Result<SearchStatistics, StoreError> {
    let table = table(workspace, index);
    if !exists(connection, &table)? {
        return Ok(SearchStatistics { frequencies: vec![0; terms.len()], ..SearchStatistics::default() });
    }
    let vocabulary = format!("temp.{table}_terms");
    if !connection.search_tables.contains(&vocabulary) {
        connection.raw.execute_batch(&format!(
            "CREATE VIRTUAL TABLE IF NOT EXISTS {vocabulary} USING fts5vocab(main, {table}, row)"
        ))?;
        connection.search_tables.insert(vocabulary.clone());
    }
    let mut statement = connection.raw.prepare_cached(&format!("SELECT doc FROM {vocabulary} WHERE term = ?1"))?;
    let mut frequencies = Vec::with_capacity(terms.len());
    for term in terms {
        frequencies.push(statement.query_row([term], |row| row.get(0)).optional()?.unwrap_or(0));
    }
    drop(statement);
    let totals = totals(connection, &table)?;
    let total = |place: usize| totals.get(place).copied().unwrap_or(0);
    Ok(SearchStatistics { frequencies, rows: total(0), body_terms: total(2) })
}

/// FTS5 keeps its totals in record 1: rows, then terms per column. Reading it spares a count over the whole table.
fn totals(connection: &mut Connection, table: &str) -> Result<Vec<i64>, StoreError> {
    let record: Option<Vec<u8>> = connection
        .raw
        .prepare_cached(&format!("SELECT block FROM {table}_data WHERE id = 1"))?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(varints(record.as_deref().unwrap_or_default()))
}

/// SQLite's big-endian varints: seven bits a byte, the high bit set on all but the last; a ninth byte has eight bits.
fn varints(bytes: &[u8]) -> Vec<i64> {
    let mut numbers = Vec::new();
    let (mut number, mut length) = (0i64, 0);
    for &byte in bytes {
        length += 1;
        if length == 9 {
            number = (number << 8) | i64::from(byte);
        } else {
            number = (number << 7) | i64::from(byte & 0x7f);
        }
        if length == 9 || byte & 0x80 == 0 {
            numbers.push(number);
            (number, length) = (0, 0);
        }
    }
    numbers
}

pub fn keys(connection: &mut Connection, workspace: WorkspaceKey, index: SearchIndex) -> Result<Vec<i64>, StoreError> {
    let table = table(workspace, index);
    if !exists(connection, &table)? {
        return Ok(Vec::new());
    }
    let mut statement = connection.raw.prepare_cached(&format!("SELECT id FROM {table}_docsize ORDER BY id"))?;
    let keys = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(keys)
}

pub fn drop_indexes(connection: &mut Connection, workspace: WorkspaceKey) -> Result<(), StoreError> {
    for index in SearchIndex::ALL {
        let table = table(workspace, index);
        connection.raw.execute_batch(&format!("DROP TABLE IF EXISTS {table}"))?;
        connection.search_tables.remove(&table);
    }
    Ok(())
}

/// Empties a workspace's indexes. They go on existing: another process may know that they do and look into them.
pub fn clear(connection: &mut Connection, workspace: WorkspaceKey) -> Result<(), StoreError> {
    drop_indexes(connection, workspace)?;
    for index in SearchIndex::ALL {
        create(connection, &table(workspace, index), index)?;
    }
    Ok(())
}

/// Which index a full-text table, or one of the tables that FTS5 keeps for it, belongs to.
pub fn index_of(name: &str) -> Option<SearchIndex> {
    const SHADOWS: [&str; 6] = ["", "_config", "_content", "_data", "_docsize", "_idx"];
    SearchIndex::ALL.into_iter().find(|index| {
        let rest = name.strip_prefix("search_").and_then(|rest| rest.strip_prefix(index.as_str()));
        let Some(rest) = rest.and_then(|rest| rest.strip_prefix('_')) else { return false };
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && SHADOWS.contains(&&rest[digits..])
    })
}

/// Whether an object of a schema is a full-text table as this program makes it, or one that FTS5 keeps for it.
pub fn is_own(name: &str, sql: Option<&str>) -> bool {
    let is_shadow = !name.ends_with(|c: char| c.is_ascii_digit());
    match (index_of(name), sql) {
        (Some(_), Some(sql)) if is_shadow => sql.starts_with("CREATE TABLE"),
        (Some(index), Some(sql)) => sql == definition(name, index),
        _ => false,
    }
}

/// Merges the segments of every index into one, which leaves dead rows behind.
pub fn optimize(connection: &mut Connection) -> Result<(), StoreError> {
    let mut statement =
        connection.raw.prepare("SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%'")?;
    let names: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    drop(statement);
    for table in names.iter().filter(|name| index_of(name).is_some()) {
        connection.raw.execute(&format!("INSERT INTO {table}({table}) VALUES ('optimize')"), [])?;
    }
    Ok(())
}
