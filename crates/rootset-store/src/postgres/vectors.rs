//! Vectors on a server: pgvector, where it is installed. Without it search goes by words alone, and the start says so.
//!
//! `vectors` and `vector_originals` hold them as on the other engine, for backups; `embeddings` is the index over them,
//! and can be made again from them.

use std::collections::BTreeMap;

use rootset_model::WorkspaceKey;
use tokio_postgres::types::ToSql;

use super::PostgresEngine;
use super::connection::Connection;
use super::transaction::PostgresTransaction;
use crate::driver::{Engine, Tenant};
use crate::error::StoreError;
use crate::statements::vectors as sql;
use crate::vectors::index_more;
use crate::workspaces;

/// Up to here every vector of a workspace is compared: exact, and quicker than an index that knows all workspaces.
const EXACT_VECTORS_MAX: i64 = 10_000;
/// How the graph is searched: how many vectors it keeps in view, and on past those of other workspaces. It is searched
/// because it alone has the order without sorting: by estimates it would not be, where the table was never analysed.
pub const GRAPH_SETTINGS: &str = "SELECT set_config('hnsw.ef_search', '200', true), \
    set_config('hnsw.iterative_scan', 'strict_order', true), set_config('enable_sort', 'off', true)";
/// For the statements that follow in the transaction.
const GRAPH_SETTINGS_END: &str = "SELECT set_config('enable_sort', 'on', true)";

/// Makes the table where the extension is there, and answers whether there is one.
pub fn prepare(connection: &Connection) -> Result<bool, StoreError> {
    if are_prepared(connection)? {
        return Ok(true);
    }
    let available = connection.query("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'", &[])?;
    if available.is_empty() {
        return Ok(false);
    }
    // Who may not do this logs in without vectors, and an owner who starts later makes them.
    let text = include_str!("../../migrations/postgres/embeddings.sql");
    let made = connection.command(&format!("BEGIN; SELECT pg_advisory_xact_lock({});", super::migrate::SCHEMA_LOCK));
    let made = made.and_then(|()| if connection.has_table("embeddings")? { Ok(()) } else { connection.command(text) });
    let made = made.and_then(|()| connection.command("COMMIT"));
    if made.is_err() && connection.is_open() {
        connection.command("ROLLBACK")?;
    }
    match made {
        Ok(()) => Ok(true),
        Err(error @ StoreError::Disconnected(_)) => Err(error),
        Err(_) => Ok(false),
    }
}

/// Whether there is a table for them.
pub fn are_prepared(connection: &Connection) -> Result<bool, StoreError> {
    connection.has_table("embeddings")
}

/// Brings vectors into the index that were there before it, workspace by workspace, a batch per transaction. Whoever is
/// killed on the way leaves the mark, and the next start goes on.
pub fn fill_all(engine: &PostgresEngine) -> Result<(), StoreError> {
    let mut unfilled = None;
    engine.read(Tenant::Database, &mut |tx| {
        let mark: Option<Vec<u8>> = tx.row(&sql::INDEX_TO_FILL, &[], |row| row.get(0))?;
        unfilled = mark.map(|_| workspaces::keys(tx)).transpose()?;
        Ok(())
    })?;
    let Some(unfilled) = unfilled else { return Ok(()) };
    for workspace in unfilled {
        let mut after = Some(i64::MIN);
        while let Some(before) = after {
            engine.write(Tenant::Workspace(workspace), &mut |tx| {
                after = index_more(tx, workspace, before)?;
                Ok(())
            })?;
        }
    }
    engine.write(Tenant::Database, &mut |tx| tx.execute(&sql::SET_INDEX_FILLED, &[]).map(drop))
}

/// Whether there is an index by now: its owner may have made it since this process began.
fn has_index(transaction: &mut PostgresTransaction<'_>) -> Result<bool, StoreError> {
    if transaction.has_vectors {
        return Ok(true);
    }
    let text = || "SELECT to_regclass('embeddings') IS NOT NULL".to_owned();
    let rows = transaction.query_own("embeddings.exist", text, &[])?;
    Ok(rows.first().is_some_and(|row| row.get(0)))
}

pub fn insert(
    transaction: &mut PostgresTransaction<'_>,
    workspace: WorkspaceKey,
    space: &str,
    vectors: &[(i64, &[f32])],
) -> Result<(), StoreError> {
    // What is not in it when somebody else's search goes by it would never be found.
    if vectors.is_empty() || !has_index(transaction)? {
        return Ok(());
    }
    // A model may have changed under its name.
    let mut alike: BTreeMap<usize, Vec<(i64, &[f32])>> = BTreeMap::new();
    for &(chunk, vector) in vectors {
        alike.entry(vector.len()).or_default().push((chunk, vector));
    }
    alike.into_values().try_for_each(|vectors| insert_alike(transaction, workspace, space, &vectors))
}

/// Vectors of one dimension.
fn insert_alike(
    transaction: &mut PostgresTransaction<'_>,
    workspace: WorkspaceKey,
    space: &str,
    vectors: &[(i64, &[f32])],
) -> Result<(), StoreError> {
    let dimension = vectors.first().map_or(0, |(_, vector)| vector.len()) as i64;
    let chunks: Vec<i64> = vectors.iter().map(|(chunk, _)| *chunk).collect();
    let texts: Vec<String> = vectors.iter().map(|(_, vector)| written(vector)).collect();
    let text = || {
        "INSERT INTO embeddings (workspace, chunk, space, dimension, embedding)
         SELECT $1, given.chunk, $2, $3, given.embedding::vector
         FROM unnest($4::BIGINT[], $5::TEXT[]) AS given (chunk, embedding)
         ON CONFLICT (workspace, chunk) DO UPDATE
         SET space = excluded.space, dimension = excluded.dimension, embedding = excluded.embedding"
            .to_owned()
    };
    transaction.execute_own("embeddings.insert", text, &[&workspace.0, &space, &dimension, &chunks, &texts])?;
    if transaction.connection.knows_dimension(dimension) {
        return Ok(());
    }
    transaction.execute_own("embeddings.index", || "SELECT index_embeddings($1)".to_owned(), &[&dimension])?;
    transaction.connection.note_dimension(dimension);
    Ok(())
}

/// The nearest chunks by cosine, best first.
pub fn nearest(
    transaction: &mut PostgresTransaction<'_>,
    workspace: WorkspaceKey,
    space: &str,
    query: &[f32],
    limit: usize,
) -> Result<Vec<(i64, f32)>, StoreError> {
    if !transaction.has_vectors || query.is_empty() {
        return Ok(Vec::new());
    }
    let (dimension, limit, wanted) = (query.len() as i64, limit as i64, written(query));
    let count = || {
        "SELECT COUNT(*) FROM (SELECT 1 FROM embeddings
          WHERE workspace = $1 AND space = $2 AND dimension = $3 LIMIT $4) AS counted"
            .to_owned()
    };
    let most = EXACT_VECTORS_MAX + 1;
    let counted = transaction.query_own("embeddings.count", count, &[&workspace.0, &space, &dimension, &most])?;
    let is_small = counted.first().is_none_or(|row| row.get::<_, i64>(0) <= EXACT_VECTORS_MAX);
    if !is_small {
        transaction.query_own("embeddings.settings", || GRAPH_SETTINGS.to_owned(), &[])?;
        let name = format!("embeddings.nearest {dimension}");
        let parameters: [&(dyn ToSql + Sync); 5] = [&workspace.0, &space, &dimension, &wanted, &limit];
        let rows = transaction.query_own(&name, || nearest_text(dimension), &parameters)?;
        transaction.query_own("embeddings.settings end", || GRAPH_SETTINGS_END.to_owned(), &[])?;
        // The index knows all workspaces, and gives up where most of what is near belongs to others.
        if rows.len() as i64 == limit {
            return Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect());
        }
    }
    // The materialised part hides the order from the index.
    let text = || {
        "WITH own AS MATERIALIZED (
             SELECT chunk, embedding FROM embeddings WHERE workspace = $1 AND space = $2 AND dimension = $3)
         SELECT chunk, (1 - (embedding <=> $4::TEXT::vector))::REAL AS cosine FROM own
         ORDER BY cosine DESC, chunk LIMIT $5"
            .to_owned()
    };
    let rows = transaction.query_own("embeddings.exact", text, &[&workspace.0, &space, &dimension, &wanted, &limit])?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// The dimension is part of the text: an index is found by its expression.
pub fn nearest_text(dimension: i64) -> String {
    format!(
        "SELECT chunk, (1 - ((embedding::vector({dimension})) <=> $4::TEXT::vector({dimension})))::REAL
         FROM embeddings WHERE workspace = $1 AND space = $2 AND dimension = $3 AND dimension = {dimension}
         ORDER BY (embedding::vector({dimension})) <=> $4::TEXT::vector({dimension}) LIMIT $5"
    )
}

/// pgvector's own notation.
fn written(vector: &[f32]) -> String {
    let numbers: Vec<String> = vector.iter().map(f32::to_string).collect();
    format!("[{}]", numbers.join(","))
}
