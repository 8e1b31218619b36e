//! The model's rows in the form that the invariants ask for.

use std::collections::{BTreeMap, BTreeSet};

use rootset_invariants::rows::{Key, MemoryRow, Rows, Served};
use rootset_invariants::steps::{AuditLink, Traces};
use rootset_model::Timestamp;

use super::{Id, Memory, Object, Workspace};

/// What users can tell apart: everything but plans, runs, audit, and rows that nothing serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    memories: BTreeMap<Id, Memory>,
    chunks: BTreeMap<Id, Id>,
    contributions: BTreeSet<(Object, Id)>,
    refcounts: BTreeMap<Object, i64>,
    untracked: BTreeSet<Object>,
    full_text: BTreeMap<Id, u64>,
    vectors: BTreeMap<Id, u64>,
}

impl Workspace {
    pub fn dump(&self) -> Dump {
        Dump {
            memories: self.memories.clone(),
            chunks: self.chunks.clone(),
            contributions: self.contributions.clone(),
            refcounts: self.refcounts.clone(),
            untracked: self.untracked.clone(),
            full_text: self.full_text.clone(),
            vectors: self.vectors.clone(),
        }
    }

    pub fn rows(&self, now: Timestamp) -> Rows {
        let key = |id: Id| (self.key, id);
        let end = |number: u8| key(Object::Entity(number).id());
        let entities = self.objects.iter().filter(|object| matches!(object, Object::Entity(_)));
        Rows {
            workspaces: [self.key].into(),
            memories: self.memories.iter().map(|(id, memory)| (key(*id), self.memory_row(memory, now))).collect(),
            chunks: self.chunks.iter().map(|(chunk, memory)| (key(*chunk), *memory)).collect(),
            entities: entities.map(|object| key(object.id())).collect(),
            relations: self
                .objects
                .iter()
                .filter_map(|object| match object {
                    Object::Entity(_) => None,
                    Object::Relation(source, target) => Some((key(object.id()), (end(*source), end(*target)))),
                })
                .collect(),
            contributions: self.contributions.iter().map(|(object, memory)| (key(object.id()), *memory)).collect(),
            untracked: self.untracked.iter().map(|object| key(object.id())).collect(),
            refcounts: self.refcounts.iter().map(|(object, count)| (key(object.id()), *count)).collect(),
        }
    }

    fn memory_row(&self, memory: &Memory, now: Timestamp) -> MemoryRow {
        let is_expired = memory.expires_at.is_some_and(|at| at <= now);
        let is_superseded = self.superseded_at(memory, None).is_some();
        let is_current = !is_expired && !is_superseded && memory.stale_at.is_none();
        MemoryRow { is_trashed: memory.trashed.is_some(), is_current }
    }

    /// Searches go from full text to memories, lists do not.
    pub fn served(&self, now: Timestamp) -> Served {
        let key = |id: &Id| (self.key, *id);
        let is_found = |id: &&Id| {
            let row = self.memories.get(*id).map(|memory| self.memory_row(memory, now));
            row.is_some_and(|row| !row.is_trashed && row.is_current)
        };
        let with_vectors: BTreeSet<Key> = self.vectors.keys().map(|chunk| key(&self.chunks[chunk])).collect();
        let with_text: BTreeSet<Key> = self.full_text.keys().map(key).collect();
        Served {
            listed: self.living().map(|(id, _)| key(id)).collect(),
            searched: self.full_text.keys().filter(is_found).map(key).collect(),
            // A difference between the two shows as a difference from what is stored.
            indexed: if with_vectors == with_text { with_text } else { BTreeSet::new() },
        }
    }

    pub fn links(&self) -> Vec<AuditLink> {
        let mut previous = [0; 32];
        let mut links = Vec::new();
        for row in &self.audit {
            links.push(AuditLink { seq: row.seq, hash: row.hash, expected_hash: row.expected_hash(&previous) });
            previous = row.hash;
        }
        links
    }

    /// Where these texts still are.
    pub fn traces(&self, texts: &BTreeSet<u64>) -> Traces {
        Traces {
            tables: self.memories.values().filter(|memory| texts.contains(&memory.text)).count(),
            full_text: self.full_text.values().filter(|text| texts.contains(text)).count(),
            vectors: self.vectors.values().filter(|text| texts.contains(text)).count(),
            log: Some(self.log.intersection(texts).count()),
        }
    }
}
