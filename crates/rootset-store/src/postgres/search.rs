//! Full text on a server: rows and the counts of their terms, kept by the functions of `0006_2_create_search.sql`.
//!
//! The counts are those that BM25 needs, exact and per workspace, so that ranking is the same arithmetic on both engines.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use rootset_model::WorkspaceKey;

use super::transaction::PostgresTransaction;
use super::values::{PostgresRow, disguised};
use crate::driver::{Combine, Row, SearchIndex, SearchQuery, SearchRow, SearchStatistics};
use crate::error::StoreError;

/// PostgreSQL refuses longer lexemes. A term this long is found by its beginning.
const LEXEME_BYTES_MAX: usize = 1_000;
/// And longer lists of lexemes: what a row holds beyond it is not found by it.
const LEXEMES_BYTES_MAX: usize = 900_000;

fn kind(index: SearchIndex) -> i64 {
    match index {
        SearchIndex::Memories => 0,
        SearchIndex::Entities => 1,
        SearchIndex::Code => 2,
        SearchIndex::Stash => 3,
    }
}

/// A term as it is stored: short enough, and without the character that PostgreSQL does not know.
fn stored_term(term: &str) -> Cow<'_, str> {
    let end = (0..=LEXEME_BYTES_MAX.min(term.len())).rev().find(|end| term.is_char_boundary(*end)).unwrap_or(0);
    disguised(&term[..end])
}

/// The distinct terms of a row.
fn terms_of(row: &SearchRow) -> HashSet<Cow<'_, str>> {
    let mut bytes = 0;
    let terms = row.head.split(' ').chain(row.body.split(' ')).filter(|term| !term.is_empty()).map(stored_term);
    let mut found = HashSet::new();
    for term in terms {
        if bytes + term.len() > LEXEMES_BYTES_MAX {
            break;
        }
        bytes += term.len();
        found.insert(term);
    }
    found
}

fn body_terms(row: &SearchRow) -> i64 {
    if row.body.is_empty() { 0 } else { row.body.split(' ').count() as i64 }
}

pub fn insert(
    transaction: &mut PostgresTransaction<'_>,
    workspace: WorkspaceKey,
    index: SearchIndex,
    rows: &[SearchRow],
) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    let kind = kind(index);
    let prefix = format!("{}/{kind}/", workspace.0);
    let mut counts: HashMap<Cow<'_, str>, i64> = HashMap::new();
    let mut lexemes: Vec<String> = Vec::with_capacity(rows.len());
    for row in rows {
        let mut lexemes_of_row = String::new();
        for term in terms_of(row) {
            if !lexemes_of_row.is_empty() {
                lexemes_of_row.push(' ');
            }
            lexemes_of_row.push_str(&prefix);
            lexemes_of_row.push_str(&term);
            *counts.entry(term).or_default() += 1;
        }
        lexemes.push(lexemes_of_row);
    }
    // Near each other in the table's own order.
    let mut counts: Vec<(Cow<'_, str>, i64)> = counts.into_iter().collect();
    counts.sort_unstable();
    let keys: Vec<i64> = rows.iter().map(|row| row.key).collect();
    let heads: Vec<_> = rows.iter().map(|row| disguised(&row.head)).collect();
    let bodies: Vec<_> = rows.iter().map(|row| disguised(&row.body)).collect();
    let (terms, counts): (Vec<Cow<'_, str>>, Vec<i64>) = counts.into_iter().unzip();
    let new_body_terms: i64 = rows.iter().map(body_terms).sum();
    let text = || "SELECT search_insert($1, $2, $3, $4, $5, $6, $7, $8)".to_owned();
    transaction
        .execute_own(
            "search_insert",
            text,
            &[&kind, &keys, &heads, &bodies, &lexemes, &terms, &counts, &new_body_terms],
        )
        .map(drop)
}

pub fn delete(
    transaction: &mut PostgresTransaction<'_>,
    _: WorkspaceKey,
    index: SearchIndex,
    keys: &[i64],
) -> Result<(), StoreError> {
    if keys.is_empty() {
        return Ok(());
    }
    let text = || "SELECT search_delete($1, $2)".to_owned();
    transaction.execute_own("search_delete", text, &[&kind(index), &keys]).map(drop)
}

pub fn find(
    transaction: &mut PostgresTransaction<'_>,
    _: WorkspaceKey,
    index: SearchIndex,
    query: &SearchQuery<'_>,
) -> Result<Vec<(i64, f64)>, StoreError> {
    if query.terms.is_empty() {
        return Ok(Vec::new());
    }
    let terms: Vec<Cow<'_, str>> = query.terms.iter().map(|term| stored_term(term)).collect();
    let whole = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let (limit, per_term) = (whole(query.limit), whole(query.rows_per_term_max));
    let rows = match query.combine {
        Combine::Any => transaction.query_own(
            "search_any",
            || "SELECT key, score FROM search_any($1, $2, $3, $4)".to_owned(),
            &[&kind(index), &terms, &per_term, &limit],
        )?,
        Combine::All => transaction.query_own(
            "search_all",
            || "SELECT key, 0::DOUBLE PRECISION FROM search_all($1, $2, $3)".to_owned(),
            &[&kind(index), &terms, &limit],
        )?,
    };
    read_all(rows, |row| Ok((row.get(0)?, row.get(1)?)))
}

pub fn rows(
    transaction: &mut PostgresTransaction<'_>,
    workspace: WorkspaceKey,
    index: SearchIndex,
    keys: &[i64],
) -> Result<Vec<SearchRow>, StoreError> {
    let text =
        || "SELECT key, head, body FROM search_rows WHERE workspace = $1 AND kind = $2 AND key = ANY ($3)".to_owned();
    let found = transaction.query_own("search_rows", text, &[&workspace.0, &kind(index), &keys])?;
    read_all(found, |row| Ok(SearchRow { key: row.get(0)?, head: row.get(1)?, body: row.get(2)? }))
}

pub fn statistics(
    transaction: &mut PostgresTransaction<'_>,
    workspace: WorkspaceKey,
    index: SearchIndex,
    terms: &[String],
) -> Result<SearchStatistics, StoreError> {
    let stored: Vec<Cow<'_, str>> = terms.iter().map(|term| stored_term(term)).collect();
    let text = || {
        "SELECT term, rows, 0::BIGINT FROM search_terms WHERE workspace = $1 AND kind = $2 AND term = ANY ($3)
         UNION ALL
         SELECT NULL, rows, body_terms FROM search_totals WHERE workspace = $1 AND kind = $2"
            .to_owned()
    };
    let found = transaction.query_own("search_statistics", text, &[&workspace.0, &kind(index), &stored])?;
    let mut statistics = SearchStatistics::default();
    let mut frequencies: HashMap<String, i64> = HashMap::new();
    for row in found {
        let term: Option<String> = row.try_get(0).map_err(|_| StoreError::UnexpectedColumn { index: 0 })?;
        let row = PostgresRow::new(row);
        let row: &dyn Row = &row;
        match term {
            Some(term) => drop(frequencies.insert(term, row.get(1)?)),
            None => (statistics.rows, statistics.body_terms) = (row.get(1)?, row.get(2)?),
        }
    }
    statistics.frequencies = stored.iter().map(|term| frequencies.get(term.as_ref()).copied().unwrap_or(0)).collect();
    Ok(statistics)
}

pub fn keys(
    transaction: &mut PostgresTransaction<'_>,
    workspace: WorkspaceKey,
    index: SearchIndex,
) -> Result<Vec<i64>, StoreError> {
    let text = || "SELECT key FROM search_rows WHERE workspace = $1 AND kind = $2 ORDER BY key".to_owned();
    let found = transaction.query_own("search_keys", text, &[&workspace.0, &kind(index)])?;
    read_all(found, |row| row.get(0))
}

pub fn clear(transaction: &mut PostgresTransaction<'_>, workspace: WorkspaceKey) -> Result<(), StoreError> {
    for table in ["search_rows", "search_terms", "search_totals"] {
        let text = || format!("DELETE FROM {table} WHERE workspace = $1");
        transaction.execute_own(&format!("clear {table}"), text, &[&workspace.0])?;
    }
    Ok(())
}

fn read_all<T>(
    rows: Vec<tokio_postgres::Row>,
    read: impl Fn(&dyn Row) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    rows.into_iter().map(|row| read(&PostgresRow::new(row))).collect()
}
