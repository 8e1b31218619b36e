//! I12: what is purged is nowhere. Every content has a word and a vector of its own, so the files can be searched.

use std::collections::BTreeMap;
use std::sync::Mutex;

use aho_corasick::AhoCorasick;
use rootset_invariants::steps::{Traces, purged_means_absent};
use rootset_provider::{Embedder, ProviderError};

use super::failed;
use crate::model::Memory;
use crate::properties::simulation::{Outcome, Simulation};
use crate::properties::steps::{CONTENTS, content, own_tail};
use crate::properties::writing::bytes_of;

/// Every text points its own way.
#[derive(Debug)]
pub struct OwnVectors;

impl Embedder for OwnVectors {
    fn id(&self) -> &str {
        "own-vectors"
    }

    fn is_local(&self) -> bool {
        true
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ProviderError> {
        let vector = |text: &&str| {
            let hash = blake3::hash(text.as_bytes());
            hash.as_bytes().chunks(2).map(|it| f32::from(i16::from_le_bytes([it[0], it[1]])) / 32_768.0).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

/// The bytes of a content's vector: as it was computed, and as a search loads it.
type Needles = [Vec<u8>; 2];

impl Simulation {
    /// Of contents that are nowhere stored any more, no trace is in any file. Only for when the log was just emptied.
    pub fn check_absence(&self) -> Outcome {
        let memories = || self.models.iter().flat_map(|model| &model.memories);
        let (mut words, mut vectors) = (Vec::new(), Vec::new());
        for number in 0..CONTENTS {
            let (tail, hash) = (own_tail(number), content(number).doc_hash());
            let tells =
                |it: &Memory| it.name.contains(&tail) || it.revisions.values().any(|it| it.content.doc_hash() == hash);
            if !memories().any(tells) {
                words.push(tail.into_bytes());
            }
            if !memories().any(|it| it.content().doc_hash() == hash) {
                vectors.extend(self.vector_of(number).into_iter().flatten());
            }
        }
        // SQLite's log is a file beside the database; PostgreSQL's is out of reach.
        let (log, database): (Vec<_>, Vec<_>) =
            self.world.database.storage().into_iter().partition(|(name, _)| name.ends_with("-wal"));
        let finders = [words, vectors].map(|needles| AhoCorasick::new(needles).unwrap());
        let count = |finder: &AhoCorasick, places: &[(String, Vec<u8>)]| {
            places.iter().map(|(_, bytes)| finder.find_iter(bytes).count()).sum::<usize>()
        };
        let traces = Traces {
            tables: self.rows_that_name_the_purged(),
            full_text: count(&finders[0], &database),
            vectors: count(&finders[1], &database),
            log: (!log.is_empty()).then(|| finders.iter().map(|finder| count(finder, &log)).sum()),
        };
        purged_means_absent(&traces).map_err(failed)
    }

    /// Chunks are left to I6, because this life may have planted some.
    fn rows_that_name_the_purged(&self) -> usize {
        let tables = ["revisions", "contributions", "memory_tags", "uses"]
            .map(|table| format!("SELECT workspace, memory FROM {table}"));
        let naming = tables.join(" UNION ALL ");
        let statement = format!(
            "SELECT COUNT(*) FROM (
                 {naming} UNION ALL
                 SELECT workspace, superseded_by FROM memories WHERE superseded_by IS NOT NULL UNION ALL
                 SELECT workspace, subject FROM jobs WHERE kind = 'complete') n
             WHERE NOT EXISTS (SELECT 1 FROM memories m WHERE m.workspace = n.workspace AND m.memory = n.memory)"
        );
        self.sql.scalar::<i64>(&statement, &[]).unwrap() as usize
    }

    /// While they can still be read.
    pub fn learn_vectors(&self) {
        (0..CONTENTS).for_each(|number| drop(self.vector_of(number)));
    }

    /// Remembered from the first time that the content was stored, in any life: equal texts have equal vectors.
    fn vector_of(&self, number: u8) -> Option<Needles> {
        static KNOWN: Mutex<BTreeMap<u8, Needles>> = Mutex::new(BTreeMap::new());
        if let Some(needles) = KNOWN.lock().unwrap().get(&number) {
            return Some(needles.clone());
        }
        let hash = content(number).doc_hash();
        let mut memories = self.models.iter().flat_map(|model| &model.memories);
        let memory = memories.find(|it| it.content().doc_hash() == hash)?;
        let statement = "
            SELECT o.vector, v.codes FROM chunks ch
            JOIN vectors v ON v.workspace = ch.workspace AND v.chunk = ch.chunk
            JOIN vector_originals o ON o.workspace = ch.workspace AND o.chunk = ch.chunk
            WHERE ch.memory = ?1";
        let read = self.sql.row(statement, &[(&bytes_of(&memory.id)).into()], |row| Ok([row.get(0)?, row.get(1)?]));
        let needles: Needles = read.unwrap().expect("a content has a vector");
        KNOWN.lock().unwrap().insert(number, needles.clone());
        Some(needles)
    }
}
