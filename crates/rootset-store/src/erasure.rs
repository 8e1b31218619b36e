//! The erasure ledger: what must never come back by itself, known by ids and keyed hashes, never by text.

use rootset_model::content::DocHash;
use rootset_model::{ErasureId, MemoryId, RunId, Timestamp, WorkspaceKey};

use crate::Stamp;
use crate::driver::Transaction;
use crate::error::StoreError;
use crate::statements::purge as sql;

/// The hash of a content hash under this database's key: a short text cannot be guessed from it without the key.
fn keyed(tx: &mut dyn Transaction, doc_hash: &DocHash) -> Result<[u8; 32], StoreError> {
    let key: [u8; 32] = tx.scalar(&sql::ERASURE_KEY, &[])?;
    Ok(*blake3::keyed_hash(&key, doc_hash).as_bytes())
}

/// Whether this content was erased, which memory it was and when.
pub(crate) fn find(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    doc_hash: &DocHash,
) -> Result<Option<(MemoryId, Timestamp)>, StoreError> {
    let hash = keyed(tx, doc_hash)?;
    tx.row(&sql::ERASED_CONTENT, &[workspace.into(), (&hash).into()], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// One erasure and the contents it took.
pub(crate) fn record(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    erasure: ErasureId,
    cause: &str,
    run: RunId,
    contents: &[(MemoryId, DocHash)],
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let parameters =
        [workspace.into(), (&erasure).into(), stamp.now.into(), stamp.actor.into(), cause.into(), (&run).into()];
    tx.execute(&sql::INSERT_ERASURE, &parameters)?;
    let hashes = contents
        .iter()
        .map(|(memory, doc_hash)| Ok((*memory, keyed(tx, doc_hash)?)))
        .collect::<Result<Vec<_>, StoreError>>()?;
    let rows: Vec<_> = hashes
        .iter()
        .map(|(memory, hash)| vec![workspace.into(), hash.into(), memory.into(), (&erasure).into()])
        .collect();
    tx.execute_many(&sql::INSERT_ERASED_CONTENT, &rows)?;
    Ok(())
}
