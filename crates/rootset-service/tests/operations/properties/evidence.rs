//! What the invariants say of the database itself: rows read past the service, turned into the evidence that
//! `rootset_invariants` asks for. The model is not asked here, but for what was planted on purpose.
//!
//! | invariants | when | where |
//! |---|---|---|
//! | I1, I2, I3 | after every sweep | [`sweeps`] |
//! | I4, I5 | after every plan by strategies | [`sweeps`] |
//! | I6, I7, I8, I11 | after every step | here |
//! | I9 | where an undo follows a sweep at once | here |
//! | I10 | where another process goes on | here |
//! | I12 | after every purge and erasure | [`absence`] |

pub mod absence;
pub mod sweeps;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prop_assert;
use proptest::test_runner::TestCaseError;
use rootset_gc::invariants::Broken;
use rootset_invariants::rows::{self, Key, MemoryRow, Rows, Served};
use rootset_invariants::steps::{self, AuditLink};
use rootset_store::driver::{SearchIndex, Value as Parameter};
use rootset_testing::{SqlError, SqlRow};
use serde_json::{Value, json};

use super::simulation::{Outcome, Simulation};
use super::steps::{CODE_SOURCE, COMMON_WORD, WORKSPACES};
use super::writing::bytes_of;
use crate::harness::{array, text_of};
use crate::model::OrphanKind;
pub use sweeps::States;

pub fn failed(broken: Broken) -> TestCaseError {
    TestCaseError::fail(broken.to_string())
}

impl Simulation {
    pub fn key(&self, at: usize) -> i64 {
        // Numbers are given in the order of creation, and `home` comes first.
        at as i64 + 1
    }

    fn all<T>(&self, sql: &str, parameters: &[Parameter<'_>], read: impl Fn(&SqlRow) -> Result<T, SqlError>) -> Vec<T> {
        self.sql.rows(sql, parameters, read).unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// I6, I7, I8 and I11.
    pub fn check_rows(&self) -> Outcome {
        self.learn_vectors();
        let mut found = self.rows();
        self.set_planted_aside(&mut found)?;
        rows::rows_belong_to_one_workspace(&found).map_err(failed)?;
        rows::refcounts_are_right(&found).map_err(failed)?;
        rows::what_is_served_is_live(&found, &self.served(&found)).map_err(failed)?;
        for at in 0..WORKSPACES.len() {
            steps::every_step_is_audited(self.models[at].audited, &self.audit_chain(at)).map_err(failed)?;
        }
        Ok(())
    }

    fn rows(&self) -> Rows {
        let key = |row: &SqlRow| -> Result<Key, SqlError> { Ok((row.get(0)?, row.get(1)?)) };
        let now = self.world.now_ms();
        let memories = "
            SELECT m.workspace, m.memory, m.trashed_run IS NOT NULL,
                   s.memory IS NULL AND (m.expires_at IS NULL OR m.expires_at > ?1)
                   AND (m.repo IS NULL OR m.stale_at IS NULL)
            FROM memories m LEFT JOIN memories s
              ON s.workspace = m.workspace AND s.memory = m.superseded_by AND s.trashed_run IS NULL";
        let relations = self.all("SELECT workspace, relation, source, target FROM relations", &[], |row| {
            let workspace: i64 = row.get(0)?;
            Ok((key(row)?, ((workspace, row.get(2)?), (workspace, row.get(3)?))))
        });
        let mut rows = Rows {
            workspaces: self.all("SELECT workspace FROM workspaces", &[], |row| row.get(0)).into_iter().collect(),
            memories: self
                .all(memories, &[now.into()], |row| {
                    Ok((key(row)?, MemoryRow { is_trashed: row.get(2)?, is_current: row.get(3)? }))
                })
                .into_iter()
                .collect(),
            chunks: self
                .all("SELECT workspace, chunk, memory FROM chunks", &[], |row| {
                    Ok((chunk_key(row.get(0)?, row.get(1)?), row.get(2)?))
                })
                .into_iter()
                .collect(),
            entities: self.all("SELECT workspace, entity FROM entities", &[], key).into_iter().collect(),
            relations: relations.into_iter().collect(),
            contributions: self
                .all("SELECT workspace, object, memory FROM contributions", &[], |row| Ok((key(row)?, row.get(2)?)))
                .into_iter()
                .collect(),
            untracked: self.all("SELECT workspace, object FROM untracked", &[], key).into_iter().collect(),
            refcounts: BTreeMap::new(),
        };
        rows.refcounts = self.refcounts(&rows);
        rows
    }

    /// As the operations answer them; what is not answered has none. No operation tells those of relations.
    fn refcounts(&self, rows: &Rows) -> BTreeMap<Key, i64> {
        let mut refcounts: BTreeMap<Key, i64> = rows.entities.iter().map(|entity| (*entity, 0)).collect();
        for at in 0..WORKSPACES.len() {
            for entity in array(&self.look(at, "export_graph", json!({}))["entities"]) {
                let id = text_of(&entity["entity_id"]).parse::<rootset_model::EntityId>().unwrap().0;
                refcounts.insert((self.key(at), id), entity["refcount"].as_i64().unwrap());
            }
        }
        let statement = "
            SELECT r.workspace, r.relation, COUNT(m.memory) FROM relations r
            LEFT JOIN contributions c ON c.workspace = r.workspace AND c.object = r.relation
            LEFT JOIN memories m ON m.workspace = c.workspace AND m.memory = c.memory AND m.trashed_run IS NULL
            GROUP BY 1, 2";
        refcounts.extend(self.all(statement, &[], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?))));
        refcounts
    }

    fn served(&self, rows: &Rows) -> Served {
        let mut served = Served::default();
        for at in 0..WORKSPACES.len() {
            let keys = |list: &Value| -> Vec<Key> {
                array(list).iter().map(|it| (self.key(at), bytes_of(&text_of(&it["memory_id"])))).collect()
            };
            // Indexed files are found by those who ask for them.
            for source in [None, Some(CODE_SOURCE)] {
                for lifecycle in ["live", "superseded"] {
                    let request = json!({"lifecycle": lifecycle, "limit": 100, "source": source});
                    served.listed.extend(keys(&self.look(at, "list_memories", request)["memories"]));
                }
                let request = json!({"query": COMMON_WORD, "limit": 100, "max_tokens": 1_000_000, "source": source});
                served.searched.extend(keys(&self.look(at, "search_memory", request)["results"]));
            }
            served.indexed.extend(self.indexed(at, rows));
        }
        served
    }

    /// Memories that full text and vectors hold; what they hold beyond that is nobody's.
    fn indexed(&self, at: usize, rows: &Rows) -> BTreeSet<Key> {
        let key = self.key(at);
        let read = |sql: &str| -> BTreeSet<Key> {
            self.all(sql, &[], |row| Ok(chunk_key(key, row.get(0)?))).into_iter().collect()
        };
        let full_text = self.sql.search_rows(key, SearchIndex::Memories).unwrap();
        let indexes = [
            full_text.iter().map(|row| chunk_key(key, row.key)).collect(),
            read(&format!("SELECT chunk FROM vectors WHERE workspace = {key}")),
            read(&format!("SELECT chunk FROM vector_originals WHERE workspace = {key}")),
        ];
        let chunks: BTreeSet<Key> = indexes.iter().flatten().copied().collect();
        let is_everywhere = |chunk: &Key| indexes.iter().all(|index| index.contains(chunk));
        let memory_of = |chunk: &Key| (key, rows.chunks.get(chunk).copied().unwrap_or_default());
        chunks.iter().filter(|chunk| !rows.chunks.contains_key(*chunk) || is_everywhere(chunk)).map(memory_of).collect()
    }

    /// Orphans that this life planted break I7 on purpose, and have to be there until they are reclaimed.
    fn set_planted_aside(&self, rows: &mut Rows) -> Outcome {
        for at in 0..WORKSPACES.len() {
            for orphan in &self.models[at].orphans {
                let key = (self.key(at), self.planted_id(&orphan.id));
                let is_there = match orphan.kind {
                    OrphanKind::Chunk => {
                        let number = i64::from_be_bytes(key.1[8..].try_into().unwrap()) & i64::MAX;
                        rows.chunks.remove(&chunk_key(key.0, number)).is_some()
                    }
                    OrphanKind::Entity => rows.entities.remove(&key),
                    OrphanKind::Relation => rows.relations.remove(&key).is_some(),
                };
                prop_assert!(is_there, "{:?} went without being reclaimed", orphan);
            }
        }
        Ok(())
    }

    fn planted_id(&self, shown: &str) -> [u8; 16] {
        let digits: String = shown.chars().filter(char::is_ascii_hexdigit).collect();
        u128::from_str_radix(&digits, 16).unwrap().to_be_bytes()
    }

    /// The workspace's chain with the hashes that its rows should have.
    pub fn audit_chain(&self, at: usize) -> Vec<AuditLink> {
        let chain = self.key(at);
        let statement = "SELECT seq, at, actor, operation, counts, plan, run, hash, details, token, origin FROM audit WHERE chain = ?1 ORDER BY seq";
        let rows = self.all(statement, &[chain.into()], |row| {
            let numbers: [i64; 2] = [row.get(0)?, row.get(1)?];
            let texts: [String; 3] = [row.get(2)?, row.get(3)?, row.get(4)?];
            let ids: [Option<[u8; 16]>; 2] = [row.get(5)?, row.get(6)?];
            let later: (Option<String>, Option<[u8; 16]>, Option<String>) = (row.get(8)?, row.get(9)?, row.get(10)?);
            Ok((numbers, texts, ids, row.get::<[u8; 32]>(7)?, later))
        });
        let (mut previous, mut links) = (Vec::new(), Vec::new());
        for (numbers, texts, ids, hash, (details, token, origin)) in rows {
            let mut hasher = blake3::Hasher::new();
            let mut part = |bytes: &[u8]| {
                hasher.update(&(bytes.len() as u64).to_le_bytes());
                hasher.update(bytes);
            };
            part(&previous);
            part(&chain.to_le_bytes());
            numbers.iter().for_each(|number| part(&number.to_le_bytes()));
            texts.iter().for_each(|text| part(text.as_bytes()));
            ids.iter().for_each(|id| part(id.as_ref().map_or(&[][..], |id| id)));
            details.iter().for_each(|details| part(details.as_bytes()));
            token.iter().for_each(|token| [b"token".as_slice(), token].into_iter().for_each(&mut part));
            origin.iter().for_each(|it| [b"origin".as_slice(), it.as_bytes()].into_iter().for_each(&mut part));
            previous = hash.to_vec();
            links.push(AuditLink { seq: numbers[0], hash, expected_hash: *hasher.finalize().as_bytes() });
        }
        links
    }

    /// I9.
    pub fn check_identity(&self, before: &Value, after: &Value) -> Outcome {
        steps::undo_is_the_identity(before, after).map_err(failed)
    }

    /// What was refused, or done before, changes nothing.
    pub fn check_untouched(&self, at: usize, before: &Value) -> Outcome {
        let after = self.world.dump(WORKSPACES[at]);
        proptest::prop_assert_eq!(before, &after);
        Ok(())
    }

    /// I10: whoever goes on sees what the one before left behind.
    pub fn restart(&mut self) -> Outcome {
        let dumps = |world: &crate::harness::World| WORKSPACES.map(|workspace| world.dump(workspace));
        let before = dumps(&self.world);
        self.world.restart(|service| service.with_embedder(std::sync::Arc::new(absence::OwnVectors)));
        steps::resuming_changes_nothing(&before, &dumps(&self.world)).map_err(failed)
    }

    /// Doctor looks at everything, so it would find what was planted.
    pub fn ask_doctor(&self) -> Outcome {
        if self.models.iter().any(|model| !model.orphans.is_empty()) {
            return Ok(());
        }
        let doctor = self.world.call("doctor", json!({}));
        let broken: Vec<&Value> = array(&doctor["checks"]).iter().filter(|it| it["ok"] == false).collect();
        prop_assert!(broken.is_empty(), "{:?}", broken);
        Ok(())
    }

    /// Reads without leaving a use behind, and without the clock moving.
    pub fn look(&self, at: usize, operation: &str, mut request: Value) -> Value {
        request["workspace_id"] = WORKSPACES[at].into();
        self.world.look_by(operation, request)
    }
}

fn chunk_key(workspace: i64, number: i64) -> Key {
    let mut id = [0; 16];
    id[8..].copy_from_slice(&number.to_be_bytes());
    (workspace, id)
}
