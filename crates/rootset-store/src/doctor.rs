//! The invariants as checks over what is stored, and the repair of what can be rebuilt.

use rootset_model::WorkspaceKey;

use crate::driver::{SearchIndex, SearchRow, Statement, Transaction};
use crate::error::StoreError;
use crate::memories::read_content;
use crate::statements::doctor as sql;
use crate::{ContentPart, Store, audit, workspaces};

/// One invariant, looked at over the whole database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub id: &'static str,
    /// Things that break it.
    pub count: i64,
    pub detail: &'static str,
    /// What was found, where there is more to say than a number.
    pub found: Vec<String>,
}

impl Check {
    pub fn is_ok(&self) -> bool {
        self.count == 0
    }
}

/// Text whose search row is missing.
#[derive(Clone, Debug)]
pub struct UnindexedText {
    pub workspace: WorkspaceKey,
    pub index: SearchIndex,
    pub key: i64,
    pub head: String,
    pub body: String,
}

/// Invariants that a statement can count, one row per statement: id, what it means, statement.
const COUNTED: [(&str, &str, &Statement); 10] = [
    ("I4.untracked", "untracked marks whose graph row is missing", &sql::UNTRACKED_WITHOUT_OBJECT),
    ("I6.ends", "relations whose ends are missing in their workspace", &sql::RELATIONS_WITHOUT_ENDS),
    ("I7.memories", "contributions of memories that do not exist", &sql::CONTRIBUTIONS_WITHOUT_MEMORY),
    ("I7.objects", "contributions to graph rows that do not exist", &sql::CONTRIBUTIONS_WITHOUT_OBJECT),
    ("I7.orphans", "entities and relations nobody contributes to", &sql::OBJECTS_WITHOUT_CONTRIBUTOR),
    ("I7.unvouched", "relations contributed without their ends", &sql::RELATIONS_WITH_UNVOUCHED_ENDS),
    ("I8.revisions", "memories without their current revision", &sql::MEMORIES_WITHOUT_REVISION),
    ("I8.chunks", "memories without chunks", &sql::MEMORIES_WITHOUT_CHUNKS),
    ("I8.memories", "chunks of memories that do not exist", &sql::CHUNKS_WITHOUT_MEMORY),
    ("I8.vectors", "vectors of chunks that do not exist", &sql::VECTORS_WITHOUT_CHUNK),
];

impl Store {
    /// Looks at everything and changes nothing.
    pub fn check(&self) -> Result<Vec<Check>, StoreError> {
        let engine = self.engine.integrity()?;
        let mut checks = vec![Check {
            id: "engine",
            count: engine.len() as i64,
            detail: "problems that the database engine reports",
            found: engine,
        }];
        checks.extend(self.read(check_rows)?);
        Ok(checks)
    }

    /// Texts that full text does not know.
    pub fn unindexed_texts(&self) -> Result<Vec<UnindexedText>, StoreError> {
        self.read(|tx| {
            let mut texts = Vec::new();
            for workspace in workspaces::keys(tx)? {
                let (missing, _) = search_difference(tx, workspace, SearchIndex::Memories)?;
                for (key, head, body) in chunk_texts(tx, workspace, &missing)? {
                    texts.push(UnindexedText { workspace, index: SearchIndex::Memories, key, head, body });
                }
                let (missing, _) = search_difference(tx, workspace, SearchIndex::Entities)?;
                tx.query(&sql::ENTITY_NAMES, &[workspace.into(), missing.as_slice().into()], &mut |row| {
                    let index = SearchIndex::Entities;
                    let (key, body) = (row.get(0)?, row.get(1)?);
                    texts.push(UnindexedText { workspace, index, key, head: String::new(), body });
                    Ok(())
                })?;
            }
            Ok(texts)
        })
    }

    /// Writes missing search rows (their text already turned into terms) and drops those that belong to nothing.
    pub fn repair_search(&self, terms: &[UnindexedText]) -> Result<(), StoreError> {
        self.write(|tx| {
            for workspace in workspaces::keys(tx)? {
                for index in SearchIndex::ALL {
                    let (_, superfluous) = search_difference(tx, workspace, index)?;
                    tx.search_delete(workspace, index, &superfluous)?;
                    let rows: Vec<SearchRow> = terms
                        .iter()
                        .filter(|it| it.workspace == workspace && it.index == index)
                        .map(|it| SearchRow { key: it.key, head: it.head.clone(), body: it.body.clone() })
                        .collect();
                    tx.search_insert(workspace, index, &rows)?;
                }
            }
            Ok(())
        })
    }
}

fn check_rows(tx: &mut dyn Transaction) -> Result<Vec<Check>, StoreError> {
    let keys = workspaces::keys(tx)?;
    let mut checks = check_workspaces(tx, &keys)?;
    let broken = audit::broken_links(tx)?;
    checks.push(Check {
        id: "I11.audit",
        count: broken.len() as i64,
        detail: "audit chains that were altered",
        found: broken.iter().map(|(chain, seq)| format!("chain {} breaks at entry {seq}", chain.0)).collect(),
    });
    Ok(checks)
}

/// The invariants of the rows of some workspaces.
pub(crate) fn check_workspaces(tx: &mut dyn Transaction, keys: &[WorkspaceKey]) -> Result<Vec<Check>, StoreError> {
    let mut checks = vec![Check {
        id: "I6.workspaces",
        count: tx.scalar(&sql::ROWS_WITHOUT_WORKSPACE, &[])?,
        detail: "rows of workspaces that do not exist",
        found: Vec::new(),
    }];
    for (id, detail, statement) in COUNTED {
        let mut count = 0;
        for workspace in keys {
            count += tx.scalar::<i64>(statement, &[(*workspace).into()])?;
        }
        checks.push(Check { id, count, detail, found: Vec::new() });
    }
    let (mut missing, mut superfluous, mut jobless, mut miscounted) = (0, 0, 0, 0);
    for workspace in keys {
        for index in SearchIndex::ALL {
            let difference = search_difference(tx, *workspace, index)?;
            missing += difference.0.len() as i64;
            superfluous += difference.1.len() as i64;
        }
        jobless += tx.scalar::<i64>(&sql::PENDING_WITHOUT_JOB, &[(*workspace).into()])?;
        let off = tx.row(&sql::COUNTERS, &[(*workspace).into()], |row| {
            Ok((row.get::<i64>(0)?, row.get::<i64>(1)?, row.get::<i64>(2)?))
        })?;
        miscounted += i64::from(off.is_some_and(|off| off != (0, 0, 0)));
    }
    let plain = |id, count, detail| Check { id, count, detail, found: Vec::new() };
    checks.push(plain("I8.search_missing", missing, "texts that full text does not know"));
    checks.push(plain("I8.search_superfluous", superfluous, "full-text rows of things that do not exist"));
    checks.push(plain("jobs", jobless, "pending memories that nobody will complete"));
    checks.push(plain("counters", miscounted, "workspaces whose counters are off"));
    Ok(checks)
}

/// Number, topic and text of chunks.
pub(crate) fn chunk_texts(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    keys: &[i64],
) -> Result<Vec<(i64, String, String)>, StoreError> {
    tx.rows(&sql::CHUNK_TEXTS, &[workspace.into(), keys.into()], |row| {
        let part = ContentPart::from_stored(row.get(1)?).ok_or(StoreError::UnreadableValue("the part of a chunk"))?;
        let (start, length) = (row.get::<i64>(2)? as usize, row.get::<i64>(3)? as usize);
        let content = read_content(row, 4)?;
        let text = part.text_of(&content).get(start..start + length).unwrap_or_default().to_owned();
        Ok((row.get(0)?, content.topic, text))
    })
}

/// Keys that the index lacks, and keys that it has too many.
fn search_difference(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    index: SearchIndex,
) -> Result<(Vec<i64>, Vec<i64>), StoreError> {
    let statement = match index {
        SearchIndex::Memories => &sql::CHUNK_KEYS,
        SearchIndex::Entities => &sql::ENTITY_NUMBERS,
    };
    let wanted: Vec<i64> = tx.rows(statement, &[workspace.into()], |row| row.get(0))?;
    let indexed = tx.search_keys(workspace, index)?;
    let without = |a: &[i64], b: &[i64]| a.iter().filter(|key| b.binary_search(key).is_err()).copied().collect();
    Ok((without(&wanted, &indexed), without(&indexed, &wanted)))
}
