//! Writing files: new ones, and new content or a new path for those that are stored already.
//!
//! A batch is one transaction. Rows of a kind are written together over all of its files, so that numbers are drawn once,
//! statements are prepared once and full text is merged once.

use std::collections::HashMap;

use rootset_model::code::{Outline, SymbolKind};
use rootset_model::identity::{NORMALISER_VERSION, normalise};
use rootset_model::names::CODE_SOURCE;
use rootset_model::{MemoryId, WorkspaceKey};

use super::derive::{Graph, Vouched};
use super::previous::{self, Previous, PreviousChunk};
use super::references;
use super::states::FileStamp;
use crate::compaction::search_delete;
use crate::driver::{SearchIndex, SearchRemoval, SearchRow, Transaction, Value};
use crate::error::StoreError;
use crate::graph::{KIND_ENTITY, KIND_RELATION, relation_row};
use crate::leases::{self, Lease};
use crate::seals::{Seal, seal};
use crate::statements::{code as sql, graph as graph_sql, memories as memory_sql};
use crate::time::ObservedStamp;
use crate::workspaces::{self, Draw, Drawn};
use crate::{Stamp, Store, Workspace, kinds, purge, vectors};

/// From so many rows on, and from this share of the index on, full-text rows are marked and the index is rewritten once
/// at the end of the run.
const MARKED_ROWS_MIN: usize = 256;
const MARKED_SHARE_MIN: f64 = 0.005;

/// A file to be stored, read and parsed by the caller.
#[derive(Clone, Debug)]
pub struct NewFile<'a> {
    /// Its id if it is a new one.
    pub memory: MemoryId,
    /// The living memory that gets this content, this path, or both. If it was trashed meanwhile, the file is a new one.
    pub replaces: Option<MemoryId>,
    pub path: &'a str,
    pub stamp: FileStamp,
    pub content_hash: [u8; 16],
    pub extractor: i64,
    pub language: &'a str,
    pub is_test: bool,
    pub is_mounted: bool,
    /// Written by a program, not by people.
    pub is_generated: bool,
    pub lines: i64,
    /// As it may be stored: likely secrets are gone from it.
    pub text: &'a str,
    pub outline: &'a Outline,
    /// Terms of head and body of each of the outline's chunks.
    pub terms: &'a [(String, String)],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOutcome {
    pub memory: MemoryId,
    pub created: bool,
    /// Chunks that have the numbers they had.
    pub chunks_kept: usize,
    /// Qualified names that the file no longer defines.
    pub vanished: Vec<String>,
}

impl Store {
    /// Writes all files of a batch, or none, for whoever holds the lease; the lease is renewed with it.
    ///
    /// Renamed files belong into a batch before, or with, the new files at their old paths.
    #[expect(clippy::too_many_arguments, reason = "a struct would be built in one place and taken apart in another")]
    pub fn write_files(
        &self,
        workspace: &Workspace,
        lease: &Lease,
        lease_ms: i64,
        repo: &str,
        run: i64,
        files: &[NewFile<'_>],
        stamp: Stamp<'_>,
    ) -> Result<Vec<FileOutcome>, StoreError> {
        self.write(workspace, |tx| {
            leases::renew(tx, lease, stamp.now, lease_ms)?;
            if files.is_empty() {
                return Ok(Vec::new());
            }
            let replaced: Vec<[u8; 16]> = files.iter().filter_map(|file| file.replaces).map(|id| id.0).collect();
            let previous = previous::load(tx, workspace.key, repo, &replaced)?;
            let batch = Batch::new(workspace.key, repo, run, files, &previous, stamp);
            let drawn = workspaces::draw(tx, workspace.key, batch.draw(), stamp.now)?;
            batch.clear(tx)?;
            batch.insert_rows(tx, drawn)?;
            batch.write_chunks(tx, drawn.first_chunk)?;
            batch.contribute(tx, drawn.first_number + batch.created() as i64)?;
            batch.retire_others(tx)?;
            Ok(batch.placed.iter().map(Placed::outcome).collect())
        })
    }
}

struct Batch<'a> {
    workspace: WorkspaceKey,
    repo: &'a str,
    run: i64,
    stamp: Stamp<'a>,
    placed: Vec<Placed<'a>>,
    graph: Graph<'a>,
}

/// A file with the memory that it has or gets.
struct Placed<'a> {
    file: &'a NewFile<'a>,
    memory: MemoryId,
    previous: Option<&'a Previous>,
    /// Beside each of the outline's chunks the stored one that stays for it.
    kept: Vec<Option<PreviousChunk>>,
    vouched: Vouched<'a>,
}

impl Placed<'_> {
    fn bytes(&self) -> i64 {
        (self.file.path.len() + self.file.text.len()) as i64
    }

    /// Whether a chunk that stays changes its place in the order.
    fn is_reordered(&self) -> bool {
        (0..).zip(&self.kept).any(|(ordinal, kept)| kept.is_some_and(|kept| kept.ordinal != ordinal))
    }

    /// Stored chunks that stay for no new one.
    fn dropped(&self) -> impl Iterator<Item = i64> {
        let stored = self.previous.map_or(&[][..], |previous| &previous.chunks);
        let kept: std::collections::HashSet<i64> = self.kept.iter().flatten().map(|kept| kept.chunk).collect();
        stored.iter().map(|chunk| chunk.chunk).filter(move |chunk| !kept.contains(chunk))
    }

    fn outcome(&self) -> FileOutcome {
        FileOutcome {
            memory: self.memory,
            created: self.previous.is_none(),
            chunks_kept: self.kept.iter().flatten().count(),
            vanished: self.previous.map_or_else(Vec::new, |it| it.vanished(&self.file.outline.symbols)),
        }
    }
}

impl<'a> Batch<'a> {
    fn new(
        workspace: WorkspaceKey,
        repo: &'a str,
        run: i64,
        files: &'a [NewFile<'a>],
        previous: &'a HashMap<MemoryId, Previous>,
        stamp: Stamp<'a>,
    ) -> Self {
        let mut graph = Graph::default();
        let placed = files
            .iter()
            .map(|file| {
                let outline = file.outline;
                assert_eq!(file.terms.len(), outline.chunks.len(), "every chunk comes with its terms");
                let stored = file.replaces.and_then(|id| previous.get(&id).map(|stored| (id, stored)));
                let kept = match stored {
                    Some((_, stored)) => stored.matched(file.text, &outline.symbols, &outline.chunks),
                    None => vec![None; outline.chunks.len()],
                };
                Placed {
                    file,
                    memory: stored.map_or(file.memory, |(id, _)| id),
                    previous: stored.map(|(_, stored)| stored),
                    kept,
                    vouched: graph.add(outline),
                }
            })
            .collect();
        Self { workspace, repo, run, stamp, placed, graph }
    }

    fn created(&self) -> usize {
        self.placed.iter().filter(|it| it.previous.is_none()).count()
    }

    fn draw(&self) -> Draw {
        let bytes = self.placed.iter().map(|it| it.bytes() - it.previous.map_or(0, |previous| previous.bytes)).sum();
        Draw {
            numbers: self.created() + self.graph.entities.len(),
            chunks: self.placed.iter().flat_map(|it| &it.kept).filter(|kept| kept.is_none()).count(),
            memories: self.created() as i64,
            bytes,
        }
    }

    fn ids(&self, is_wanted: impl Fn(&Placed<'_>) -> bool) -> Vec<[u8; 16]> {
        self.placed.iter().filter(|it| is_wanted(it)).map(|it| it.memory.0).collect()
    }

    /// Takes out what is written anew.
    fn clear(&self, tx: &mut dyn Transaction) -> Result<(), StoreError> {
        let replaced = self.ids(|it| it.previous.is_some());
        if replaced.is_empty() {
            return Ok(());
        }
        let key = [self.workspace.into(), replaced.as_slice().into()];
        for statement in [&sql::DELETE_FILES, &sql::DELETE_SYMBOLS, &sql::DELETE_REFERENCES] {
            tx.execute(statement, &key)?;
        }
        let dropped: Vec<i64> = self.placed.iter().flat_map(Placed::dropped).collect();
        if !dropped.is_empty() {
            vectors::delete(tx, self.workspace, &dropped)?;
            tx.execute(&sql::DELETE_CHUNKS, &[self.workspace.into(), dropped.as_slice().into()])?;
            purge::count_purged_chunks(tx, dropped.len())?;
        }
        let reordered = self.ids(|it| it.is_reordered());
        if !reordered.is_empty() {
            tx.execute(&sql::LIFT_CHUNKS, &[self.workspace.into(), reordered.as_slice().into()])?;
        }
        Ok(())
    }

    /// Memories, their content, what the next scan compares, symbols and references.
    fn insert_rows(&self, tx: &mut dyn Transaction, drawn: Drawn) -> Result<(), StoreError> {
        let (workspace, now) = (self.workspace, self.stamp.now);
        let observed = ObservedStamp::now(tx)?;
        let (replaced, created): (Vec<_>, Vec<_>) = self.placed.iter().partition(|it| it.previous.is_some());
        let seals: Vec<Seal> =
            (drawn.first_number..).zip(&created).map(|(sequence, it)| self.seal(it, sequence)).collect();
        let rows: Vec<_> = (drawn.first_number..)
            .zip(created.iter().zip(&seals))
            .map(|(sequence, (it, seal))| {
                vec![
                    workspace.into(),
                    (&it.memory).into(),
                    sequence.into(),
                    CODE_SOURCE.into(),
                    self.repo.into(),
                    it.file.path.into(),
                    self.stamp.actor.into(),
                    self.run.into(),
                    now.into(),
                    observed.observed_ms.into(),
                    observed.doubt(),
                    seal.into(),
                ]
            })
            .collect();
        tx.execute_many(&sql::INSERT_MEMORY, &rows)?;
        if !created.is_empty() {
            let count = created.len() as i64;
            tx.execute(&memory_sql::COUNT_SOURCE, &[workspace.into(), CODE_SOURCE.into(), count.into()])?;
        }
        let rows: Vec<_> = replaced
            .iter()
            .map(|it| {
                let times = [now.into(), observed.observed_ms.into(), observed.doubt()];
                let file = [workspace.into(), (&it.memory).into(), it.file.path.into(), self.run.into()];
                file.into_iter().chain(times).collect()
            })
            .collect();
        tx.execute_many(&sql::REPLACE_MEMORY, &rows)?;
        for (statement, files) in [(&sql::INSERT_REVISION, &created), (&sql::REPLACE_REVISION, &replaced)] {
            let seals: Vec<Seal> = files.iter().map(|it| self.text_seal(it)).collect();
            let rows: Vec<_> = files
                .iter()
                .zip(&seals)
                .map(|(it, seal)| {
                    let (path, text) = (it.file.path.into(), it.file.text.into());
                    let (bytes, seal) = (it.bytes().into(), seal.into());
                    vec![workspace.into(), (&it.memory).into(), path, text, bytes, now.into(), seal]
                })
                .collect();
            tx.execute_many(statement, &rows)?;
        }
        let rows: Vec<_> = self.placed.iter().map(|it| self.file_row(it)).collect();
        tx.execute_many(&sql::INSERT_FILE, &rows)?;
        let rows: Vec<_> = self.placed.iter().flat_map(|it| symbol_rows(workspace, it)).collect();
        tx.execute_many(&sql::INSERT_SYMBOL, &rows)?;
        let packed: Vec<Vec<u8>> = self.placed.iter().map(|it| references::pack(&it.file.outline.references)).collect();
        let rows: Vec<_> = self
            .placed
            .iter()
            .zip(&packed)
            .map(|(it, packed)| vec![workspace.into(), (&it.memory).into(), packed.as_slice().into()])
            .collect();
        tx.execute_many(&sql::INSERT_REFERENCES, &rows).map(drop)
    }

    /// The seal of a new memory, which has nothing yet that a person gives it.
    fn seal(&self, placed: &Placed<'a>, sequence: i64) -> Seal {
        let (none, actor) = (Value::Null, self.stamp.actor.into());
        let (memory, repo) = ((&placed.memory).into(), self.repo.into());
        let (source, pinned) = (CODE_SOURCE.into(), false.into());
        seal(&[memory, sequence.into(), none, source, repo, actor, none, none, pinned, none])
    }

    fn text_seal(&self, placed: &Placed<'a>) -> Seal {
        let (path, text, list) = (placed.file.path.into(), placed.file.text.into(), Value::Text("[]"));
        let (bytes, now) = (placed.bytes().into(), self.stamp.now.into());
        seal(&[(&placed.memory).into(), path, text, list, list, bytes, now])
    }

    fn file_row<'b>(&'b self, placed: &'b Placed<'a>) -> Vec<Value<'b>> {
        let file = placed.file;
        vec![
            self.workspace.into(),
            self.repo.into(),
            file.path.into(),
            (&placed.memory).into(),
            file.stamp.size.into(),
            file.stamp.modified_ns.into(),
            file.stamp.changed_ns.into(),
            file.stamp.inode.into(),
            (&file.content_hash).into(),
            file.extractor.into(),
            file.language.into(),
            file.is_test.into(),
            file.is_mounted.into(),
            file.lines.into(),
            file.outline.count(SymbolKind::is_function).into(),
            file.outline.count(SymbolKind::is_type).into(),
            file.is_generated.into(),
        ]
    }

    /// Chunks and their search rows: from here on the text is found.
    fn write_chunks(&self, tx: &mut dyn Transaction, first_chunk: i64) -> Result<(), StoreError> {
        let stored = self.stored_terms(tx)?;
        let mut next = first_chunk;
        let (mut inserted, mut moved) = (Vec::new(), Vec::new());
        let mut search_rows = Vec::new();
        let mut outdated: Vec<i64> = self.placed.iter().flat_map(Placed::dropped).collect();
        for placed in &self.placed {
            let is_lifted = placed.is_reordered();
            let chunks = placed.file.outline.chunks.iter().zip(placed.file.terms).zip(&placed.kept);
            for (ordinal, ((chunk, (head, body)), kept)) in (0i64..).zip(chunks) {
                let (start, length) = (i64::from(chunk.start), i64::from(chunk.end) - i64::from(chunk.start));
                let symbol = chunk.symbol.map(i64::from);
                let key = match kept {
                    None => {
                        let key = next;
                        next += 1;
                        inserted.push(vec![
                            self.workspace.into(),
                            key.into(),
                            (&placed.memory).into(),
                            ordinal.into(),
                            start.into(),
                            length.into(),
                            symbol.into(),
                        ]);
                        key
                    }
                    Some(kept) => {
                        if is_lifted || (kept.start, kept.length, kept.symbol) != (start, length, symbol) {
                            let place = [ordinal.into(), start.into(), length.into(), symbol.into()];
                            moved.push([&[self.workspace.into(), kept.chunk.into()], &place[..]].concat());
                        }
                        match stored.get(&kept.chunk) {
                            Some((old_head, old_body)) if old_head == head && old_body == body => continue,
                            Some(_) => outdated.push(kept.chunk),
                            None => {}
                        }
                        kept.chunk
                    }
                };
                search_rows.push(SearchRow { key, head: head.clone(), body: body.clone() });
            }
        }
        tx.execute_many(&sql::MOVE_CHUNK, &moved)?;
        tx.execute_many(&sql::INSERT_CHUNK, &inserted)?;
        let removal = self.removal_of(tx, outdated.len())?;
        search_delete(tx, self.workspace, SearchIndex::Code, &outdated, removal)?;
        tx.search_insert(self.workspace, SearchIndex::Code, search_rows)
    }

    /// Terms under which the chunks that stay are found now.
    fn stored_terms(&self, tx: &mut dyn Transaction) -> Result<HashMap<i64, (String, String)>, StoreError> {
        let kept: Vec<i64> = self.placed.iter().flat_map(|it| &it.kept).flatten().map(|kept| kept.chunk).collect();
        if kept.is_empty() {
            return Ok(HashMap::new());
        }
        let rows = tx.search_rows(self.workspace, SearchIndex::Code, &kept)?;
        Ok(rows.into_iter().map(|row| (row.key, (row.head, row.body))).collect())
    }

    fn removal_of(&self, tx: &mut dyn Transaction, rows: usize) -> Result<SearchRemoval, StoreError> {
        if rows < MARKED_ROWS_MIN {
            return Ok(SearchRemoval::AtOnce);
        }
        let all = tx.search_statistics(self.workspace, SearchIndex::Code, &[])?.rows;
        let is_large = rows as f64 >= all as f64 * MARKED_SHARE_MIN;
        Ok(if is_large { SearchRemoval::Marked } else { SearchRemoval::AtOnce })
    }

    fn contribute(&self, tx: &mut dyn Transaction, first_number: i64) -> Result<(), StoreError> {
        let (workspace, now) = (self.workspace, self.stamp.now);
        let normal_names: Vec<String> = self.graph.entities.values().map(|(name, _)| normalise(name)).collect();
        let rows: Vec<_> = (first_number..)
            .zip(self.graph.entities.iter().zip(&normal_names))
            .map(|(number, ((id, (name, kind)), normal_name))| {
                vec![
                    workspace.into(),
                    id.into(),
                    number.into(),
                    (*name).into(),
                    kind.as_str().into(),
                    normal_name.into(),
                    NORMALISER_VERSION.into(),
                    now.into(),
                ]
            })
            .collect();
        tx.execute_many(&sql::INSERT_ENTITY, &rows)?;
        let rows: Vec<_> = self
            .graph
            .relations
            .iter()
            .map(|(id, (source, verb, target))| relation_row(workspace, id, source, verb, target, now))
            .collect();
        tx.query_many(&graph_sql::INSERT_RELATION, &rows, &mut |_| Ok(()))?;
        let rows: Vec<_> = self.placed.iter().flat_map(|it| contribution_rows(workspace, it)).collect();
        tx.execute_many(&graph_sql::INSERT_CONTRIBUTION, &rows)?;
        self.withdraw(tx)
    }

    /// What replaced files no longer vouch for goes, with what nobody else vouches for.
    fn withdraw(&self, tx: &mut dyn Transaction) -> Result<(), StoreError> {
        let mut withdrawn: HashMap<[u8; 16], i64> = HashMap::new();
        let mut rows = Vec::new();
        for placed in &self.placed {
            let Some(previous) = placed.previous else { continue };
            for (object, (kind, ..)) in &previous.contributions {
                if !placed.vouched.holds(object) {
                    rows.push(vec![self.workspace.into(), (&placed.memory).into(), object.into()]);
                    withdrawn.insert(*object, *kind);
                }
            }
        }
        if withdrawn.is_empty() {
            return Ok(());
        }
        tx.execute_many(&sql::DELETE_CONTRIBUTION, &rows)?;
        kinds::delete_orphans(tx, self.workspace, &withdrawn, SearchRemoval::AtOnce).map(drop)
    }

    /// Somebody may have brought a trashed file back while the scan thought that its path was free.
    fn retire_others(&self, tx: &mut dyn Transaction) -> Result<(), StoreError> {
        let created = self.placed.iter().filter(|it| it.previous.is_none());
        let paths: Vec<String> = created.map(|it| it.file.path.to_owned()).collect();
        if paths.is_empty() {
            return Ok(());
        }
        let written = self.ids(|_| true);
        let parameters = [
            self.workspace.into(),
            self.repo.into(),
            paths.as_slice().into(),
            self.stamp.now.into(),
            written.as_slice().into(),
        ];
        tx.execute(&sql::RETIRE_OTHERS, &parameters).map(drop)
    }
}

fn symbol_rows<'b>(workspace: WorkspaceKey, placed: &'b Placed<'_>) -> impl Iterator<Item = Vec<Value<'b>>> {
    let symbols: &[_] = &placed.file.outline.symbols;
    (0i64..).zip(symbols).map(move |(ordinal, symbol)| {
        vec![
            workspace.into(),
            (&placed.memory).into(),
            ordinal.into(),
            (&symbol.name).into(),
            (&symbol.qualified_name).into(),
            symbol.kind.as_str().into(),
            symbol.parent.map(i64::from).into(),
            i64::from(symbol.first_line).into(),
            i64::from(symbol.last_line).into(),
            i64::from(symbol.start).into(),
            (i64::from(symbol.end) - i64::from(symbol.start)).into(),
            (&symbol.signature).into(),
        ]
    })
}

/// Rows that are not there already, word for word.
fn contribution_rows<'b>(workspace: WorkspaceKey, placed: &'b Placed<'_>) -> impl Iterator<Item = Vec<Value<'b>>> {
    const WEIGHT: f64 = 1.0;
    const REVISION: i64 = 1;
    let entities = placed.vouched.entities.iter().map(|(id, words)| (id.as_bytes(), KIND_ENTITY, *words));
    let relations = placed.vouched.relations.iter().map(|id| (id.as_bytes(), KIND_RELATION, None));
    let stored = placed.previous.map(|previous| &previous.contributions);
    let is_stored = move |object: &[u8; 16], kind: i64, words: Option<&str>| {
        let found = stored.and_then(|stored| stored.get(object));
        found.is_some_and(|(of, text)| *of == kind && text.as_deref() == words)
    };
    entities.chain(relations).filter(move |(object, kind, words)| !is_stored(object, *kind, *words)).map(
        move |(object, kind, words)| {
            vec![
                workspace.into(),
                (&placed.memory).into(),
                object.into(),
                kind.into(),
                REVISION.into(),
                words.into(),
                WEIGHT.into(),
            ]
        },
    )
}
