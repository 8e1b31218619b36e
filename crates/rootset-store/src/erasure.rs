//! The erasure ledger: what must not come back unasked, known by ids and keyed hashes, never by text.

use std::collections::HashSet;

use rootset_model::content::DocHash;
use rootset_model::{ErasureId, MemoryId, SegmentKey, SessionKey, Timestamp, WorkspaceKey};

use crate::driver::{Tenant, Transaction};
use crate::error::StoreError;
use crate::kinds::Ledger;
use crate::statements::purge as sql;
use crate::{Stamp, Store};

/// What stands in the place of a content's hash where the memory as a whole is noted.
pub(crate) const WHOLE_MEMORY: &[u8] = &[];
/// The cause of an erasure that took a whole workspace.
pub(crate) const WORKSPACE_CAUSE: &str = "purge_workspace";

/// This database's key: without it, a short text cannot be guessed from the hash of its hash.
pub(crate) struct Key([u8; 32]);

impl Key {
    pub fn load(tx: &mut dyn Transaction) -> Result<Self, StoreError> {
        tx.scalar(&sql::ERASURE_KEY, &[]).map(Self)
    }

    /// What the ledger notes in the place of a content's hash.
    pub fn hash(&self, doc_hash: &DocHash) -> [u8; 32] {
        *blake3::keyed_hash(&self.0, doc_hash).as_bytes()
    }
}

/// Separates hashes of requests from those of contents.
const REQUEST_CONTEXT: &str = "rootset 2027-01-15 hash of what an erasure was asked for";

impl Store {
    /// A hash of what somebody asked for, under this database's key: equal requests have equal hashes, and without the
    /// key nobody can try out what was asked.
    pub fn keyed_hash(&self, request: &[u8]) -> Result<String, StoreError> {
        let key = self.read(Tenant::Database, Key::load)?;
        let key = blake3::derive_key(REQUEST_CONTEXT, &key.0);
        Ok(blake3::keyed_hash(&key, request).to_hex().to_string())
    }

    /// The seed of the key that signs this installation's receipts; `fresh` becomes it where there is none yet. It stays
    /// in this database: no backup has it, and no restore changes it.
    pub fn signing_seed(&self, fresh: &[u8; 32]) -> Result<[u8; 32], StoreError> {
        let known = |tx: &mut dyn Transaction| tx.row(&sql::SIGNING_KEY, &[], |row| row.get(0));
        if let Some(seed) = self.read(Tenant::Database, known)? {
            return Ok(seed);
        }
        self.write(Tenant::Database, |tx| {
            tx.execute(&sql::INSERT_SIGNING_KEY, &[fresh.into()])?;
            tx.scalar(&sql::SIGNING_KEY, &[])
        })
    }
}

/// Of these contents, those that were erased.
pub(crate) fn erased_among(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    contents: &[DocHash],
) -> Result<HashSet<DocHash>, StoreError> {
    let key = Key::load(tx)?;
    let hashes: Vec<[u8; 32]> = contents.iter().map(|it| key.hash(it)).collect();
    let erased: Vec<[u8; 32]> =
        tx.rows(&sql::ERASED_AMONG, &[workspace.into(), hashes.as_slice().into()], |row| row.get(0))?;
    let erased: HashSet<[u8; 32]> = erased.into_iter().collect();
    Ok(contents.iter().zip(&hashes).filter(|(_, hash)| erased.contains(*hash)).map(|(it, _)| *it).collect())
}

/// How a thing went, and so whether it may come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Somebody wanted it gone for good: nothing brings it back.
    Erased,
    /// Somebody removed it, and its grace was over: a restore puts it into the trash.
    Removed,
}

impl Class {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Erased => "erased",
            Self::Removed => "removed",
        }
    }

    /// What is neither is not known to be harmless.
    pub fn from_stored(text: &str) -> Self {
        if text == Self::Removed.as_str() { Self::Removed } else { Self::Erased }
    }
}

/// A content that somebody removed: which memory it was, when it was purged and how.
pub(crate) struct Noted {
    pub memory: MemoryId,
    pub at: Timestamp,
    pub class: Class,
}

/// Whether this content was removed for good.
pub(crate) fn find(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    doc_hash: &DocHash,
) -> Result<Option<Noted>, StoreError> {
    let hash = Key::load(tx)?.hash(doc_hash);
    tx.row(&sql::ERASED_CONTENT, &[workspace.into(), (&hash).into()], |row| {
        let class = Class::from_stored(&row.get::<String>(2)?);
        Ok(Noted { memory: row.get(0)?, at: row.get(1)?, class })
    })
}

/// The head of everything that one erasure notes.
fn note_erasure(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    ledger: &Ledger<'_>,
    class: Class,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let parameters = [
        workspace.into(),
        (&ledger.erasure).into(),
        stamp.now.into(),
        stamp.actor.into(),
        ledger.cause.into(),
        (&ledger.run).into(),
        class.as_str().into(),
    ];
    tx.execute(&sql::INSERT_ERASURE, &parameters).map(drop)
}

/// One erasure and the contents it took.
pub(crate) fn record(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    ledger: &Ledger<'_>,
    contents: &[(MemoryId, DocHash)],
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let Some(class) = ledger.class else { return Ok(()) };
    note_erasure(tx, workspace, ledger, class, stamp)?;
    let key = Key::load(tx)?;
    let mut hashes: Vec<_> = contents.iter().map(|(memory, doc_hash)| (*memory, key.hash(doc_hash))).collect();
    // Two revisions of a memory may say the same.
    hashes.sort_unstable();
    hashes.dedup();
    let rows: Vec<_> = hashes
        .iter()
        .map(|(memory, hash)| vec![workspace.into(), hash.into(), memory.into(), (&ledger.erasure).into()])
        .collect();
    tx.execute_many(&sql::INSERT_ERASED_CONTENT, &rows).map(drop)
}

/// Memories that are gone. Their contents may be added again, unless [`record`] notes them too.
pub(crate) fn note_memories(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    ledger: &Ledger<'_>,
    memories: &[[u8; 16]],
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let Some(class) = ledger.class else { return Ok(()) };
    note_erasure(tx, workspace, ledger, class, stamp)?;
    let rows: Vec<_> = memories
        .iter()
        .map(|memory| vec![workspace.into(), WHOLE_MEMORY.into(), memory.into(), (&ledger.erasure).into()])
        .collect();
    tx.execute_many(&sql::INSERT_ERASED_CONTENT, &rows).map(drop)
}

/// A segment, session or imported row that is gone for good. Numbers mean something within one workspace only, and a backup may be
/// restored into another: so it is known by its number and a keyed hash of what it was.
pub(crate) struct NotedObject {
    pub object: [u8; 16],
    pub hash: [u8; 32],
}

/// Makes notes under this database's key.
pub(crate) struct ObjectHasher {
    key: [u8; 32],
}

impl ObjectHasher {
    pub(crate) fn new(tx: &mut dyn Transaction) -> Result<Self, StoreError> {
        Ok(Self { key: tx.scalar(&sql::ERASURE_KEY, &[])? })
    }

    pub(crate) fn segment(
        &self,
        key: SegmentKey,
        text_hash: &[u8; 16],
        created_at: Timestamp,
        segment_id: &str,
    ) -> NotedObject {
        NotedObject { object: key.object(), hash: self.hash(text_hash, created_at, segment_id) }
    }

    pub(crate) fn session(&self, key: SessionKey, created_at: Timestamp, session_id: &str) -> NotedObject {
        NotedObject { object: key.object(), hash: self.hash(b"a whole session.", created_at, session_id) }
    }

    /// A row of the graph that an import vouched for. Its id is a hash of its name that anybody can make: so it is known
    /// by the import and a keyed hash.
    pub(crate) fn untracked(&self, row: &[u8; 16], import: &[u8; 16]) -> NotedObject {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(b"untracked row...").update(row).update(import);
        NotedObject { object: *import, hash: *hasher.finalize().as_bytes() }
    }

    /// What is first in every workspace is likely to have the same number, name and text: the time tells it apart.
    pub(crate) fn hash(&self, content: &[u8; 16], created_at: Timestamp, name: &str) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(content).update(&created_at.0.to_le_bytes()).update(name.as_bytes());
        *hasher.finalize().as_bytes()
    }
}

/// Segments, sessions or imported rows that are gone. The same text may be added again.
pub(crate) fn note_objects(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    ledger: &Ledger<'_>,
    objects: &[NotedObject],
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let Some(class) = ledger.class else { return Ok(()) };
    note_erasure(tx, workspace, ledger, class, stamp)?;
    let rows: Vec<_> = objects
        .iter()
        .map(|it| vec![workspace.into(), (&it.hash).into(), (&it.object).into(), (&ledger.erasure).into()])
        .collect();
    tx.execute_many(&sql::INSERT_ERASED_CONTENT, &rows).map(drop)
}

/// A workspace that is gone for good: a restore of the whole database does not bring it back, only one that asks for it.
pub(crate) fn note_workspace(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    erasure: ErasureId,
    class: Class,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let parameters = [
        workspace.into(),
        (&erasure).into(),
        stamp.now.into(),
        stamp.actor.into(),
        WORKSPACE_CAUSE.into(),
        crate::driver::Value::Null,
        class.as_str().into(),
    ];
    tx.execute(&sql::INSERT_ERASURE, &parameters)?;
    tx.execute(&crate::statements::backup::KEEP_COUNTERS, &[workspace.into()]).map(drop)
}
