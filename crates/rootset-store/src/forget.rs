//! What a `forget` would take: roots that match words and filters. Selects only; the protocol deletes.

use std::collections::HashSet;

use rootset_model::plan::{Action, ItemKind, PlanItem, Reason};
use rootset_model::{MemoryId, SegmentKey, Timestamp, WorkspaceKey};

use crate::driver::{Combine, SearchIndex, SearchQuery, Transaction};
use crate::error::StoreError;
use crate::memories::{read_content, read_list};
use crate::statements::forget as sql;
use crate::statements::graph as graph_sql;
use crate::{Store, Workspace, context, search};

#[derive(Clone, Debug, Default)]
pub struct ForgetFilters {
    pub source: Option<String>,
    pub written_by: Option<String>,
    pub tags: Vec<String>,
    pub created_after: Option<Timestamp>,
    pub created_before: Option<Timestamp>,
}

impl ForgetFilters {
    pub fn is_empty(&self) -> bool {
        self.source.is_none()
            && self.written_by.is_none()
            && self.tags.is_empty()
            && self.created_after.is_none()
            && self.created_before.is_none()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForgetKinds {
    /// But for those of indexed files.
    pub memories: bool,
    pub revisions: bool,
    pub entities: bool,
    /// Memories of indexed files.
    pub code: bool,
    /// Of context sessions.
    pub segments: bool,
}

/// The words of a request: how to find candidates, and how to be sure.
#[derive(Clone, Copy)]
pub struct ForgetWords<'a> {
    /// Terms that every match holds; may be empty, then everything is read.
    pub terms: &'a [String],
    pub matches: &'a dyn Fn(&[&str]) -> bool,
}

impl std::fmt::Debug for ForgetWords<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ForgetWords").field("terms", &self.terms.len()).finish_non_exhaustive()
    }
}

#[derive(Clone, Debug, Default)]
pub struct ForgetSelection {
    /// Newest first.
    pub items: Vec<PlanItem>,
    /// Everything that matched, pinned ones included.
    pub matched: usize,
    /// Ids as previews show them.
    pub kept_pinned: Vec<String>,
}

/// Memories whose words are read at a time.
const TEXTS_READ_MAX: usize = 256;
/// Chunks that hold a term; beyond it the term is no help and everything is read.
const MATCHES_MAX: usize = 200_000;

impl Store {
    pub fn select_for_forget(
        &self,
        workspace: &Workspace,
        filters: &ForgetFilters,
        words: Option<ForgetWords<'_>>,
        kinds: ForgetKinds,
        include_pinned: bool,
        erases: bool,
    ) -> Result<ForgetSelection, StoreError> {
        let action = if erases { Action::Erase } else { Action::Trash };
        self.read(workspace, |tx| {
            let mut selector = Selector { workspace: workspace.key, action, include_pinned, found: Default::default() };
            let memories = filtered(tx, workspace.key, filters, kinds.code, erases)?;
            let is_wanted = |it: &&Filtered| if it.is_file { kinds.code } else { kinds.memories };
            let wanted: Vec<Filtered> = memories.iter().filter(is_wanted).copied().collect();
            match words {
                None => wanted.iter().for_each(|it| selector.memory(it)),
                Some(words) => selector.memories_with(tx, &wanted, words)?,
            }
            if let (Some(words), true) = (words, kinds.revisions) {
                selector.revisions_with(tx, &memories, words)?;
            }
            if let (Some(words), true, true) = (words, kinds.entities, filters.is_empty()) {
                selector.entities_with(tx, words)?;
            }
            if kinds.segments {
                selector.segments_with(tx, filters, words)?;
            }
            Ok(std::mem::take(&mut selector.found))
        })
    }
}

#[derive(Clone, Copy)]
struct Filtered {
    id: [u8; 16],
    version: i64,
    is_pinned: bool,
    /// Of the code index.
    is_file: bool,
}

fn filtered(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    filters: &ForgetFilters,
    with_code: bool,
    with_trash: bool,
) -> Result<Vec<Filtered>, StoreError> {
    let parameters = [
        workspace.into(),
        filters.source.as_ref().into(),
        filters.written_by.as_ref().into(),
        (filters.tags.len() as i64).into(),
        filters.tags.as_slice().into(),
        filters.created_after.into(),
        filters.created_before.into(),
        with_code.into(),
        with_trash.into(),
    ];
    tx.rows(&sql::BY_FILTERS, &parameters, |row| {
        Ok(Filtered { id: row.get(0)?, version: row.get(1)?, is_pinned: row.get(2)?, is_file: row.get(3)? })
    })
}

struct Selector {
    workspace: WorkspaceKey,
    action: Action,
    include_pinned: bool,
    found: ForgetSelection,
}

impl Selector {
    /// An erasure takes what is in the trash too; for anything else the trash is where it should be.
    fn takes_trash(&self) -> bool {
        self.action == Action::Erase
    }

    fn push(&mut self, kind: ItemKind, object: [u8; 16], revision: i64, version: i64) {
        let item = PlanItem { kind, object, revision, version, action: self.action, reason: Reason::MATCHED };
        self.found.items.push(item);
    }

    fn memory(&mut self, memory: &Filtered) {
        self.found.matched += 1;
        if memory.is_pinned && !self.include_pinned {
            self.found.kept_pinned.push(MemoryId(memory.id).to_string());
        } else {
            self.push(ItemKind::MEMORY, memory.id, 0, memory.version);
        }
    }

    fn memories_with(
        &mut self,
        tx: &mut dyn Transaction,
        memories: &[Filtered],
        words: ForgetWords<'_>,
    ) -> Result<(), StoreError> {
        let likely = match memories.iter().all(|it| it.is_file) {
            true => None,
            false => likely_memories(tx, self.workspace, words.terms)?,
        };
        // Terms of code are others than those of notes: files are all read, which nobody asks for every day.
        let candidates: Vec<[u8; 16]> = memories
            .iter()
            .filter(|it| it.is_file || likely.as_ref().is_none_or(|likely| likely.contains(&it.id)))
            .map(|it| it.id)
            .collect();
        let mut matching: HashSet<[u8; 16]> = HashSet::new();
        for page in candidates.chunks(TEXTS_READ_MAX) {
            tx.query(&sql::TEXTS, &[self.workspace.into(), page.into()], &mut |row| {
                let tags: Option<String> = row.get(4)?;
                let tags = read_list(tags.as_deref())?;
                let metadata: Option<String> = row.get(5)?;
                let content = read_content(row, 6)?;
                let mut fields: Vec<&str> = vec![&content.topic, &content.context];
                fields.extend(content.decisions.iter().chain(&content.rationale).chain(&tags).map(String::as_str));
                fields.extend(metadata.as_deref());
                if (words.matches)(&fields) {
                    matching.insert(row.get(0)?);
                }
                Ok(())
            })?;
        }
        memories.iter().filter(|it| matching.contains(&it.id)).for_each(|it| self.memory(it));
        Ok(())
    }

    /// Earlier revisions of memories that do not go themselves.
    fn revisions_with(
        &mut self,
        tx: &mut dyn Transaction,
        memories: &[Filtered],
        words: ForgetWords<'_>,
    ) -> Result<(), StoreError> {
        let allowed: HashSet<[u8; 16]> = memories.iter().map(|it| it.id).collect();
        let going: HashSet<[u8; 16]> = self.found.items.iter().map(|item| item.object).collect();
        let mut found: Vec<([u8; 16], i64, i64, bool)> = Vec::new();
        tx.query(&sql::EARLIER_REVISIONS, &[self.workspace.into(), self.takes_trash().into()], &mut |row| {
            let memory: [u8; 16] = row.get(0)?;
            if !allowed.contains(&memory) || going.contains(&memory) {
                return Ok(());
            }
            let content = read_content(row, 4)?;
            let mut fields: Vec<&str> = vec![&content.topic, &content.context];
            fields.extend(content.decisions.iter().chain(&content.rationale).map(String::as_str));
            if (words.matches)(&fields) {
                found.push((memory, row.get(1)?, row.get(2)?, row.get(3)?));
            }
            Ok(())
        })?;
        for (memory, revision, version, is_pinned) in found {
            self.found.matched += 1;
            if is_pinned && !self.include_pinned {
                self.found.kept_pinned.push(MemoryId(memory).to_string());
            } else {
                self.push(ItemKind::REVISION, memory, revision, version);
            }
        }
        Ok(())
    }

    fn segments_with(
        &mut self,
        tx: &mut dyn Transaction,
        filters: &ForgetFilters,
        words: Option<ForgetWords<'_>>,
    ) -> Result<(), StoreError> {
        let found = context::forget::select(tx, self.workspace, filters, words, self.takes_trash())?;
        self.found.matched += found.len();
        for it in found {
            let key = SegmentKey(it.segment);
            if it.is_pinned && !self.include_pinned {
                self.found.kept_pinned.push(key.external().to_string());
            } else {
                self.push(ItemKind::SEGMENT, key.object(), 0, it.version);
            }
        }
        Ok(())
    }

    /// Untracked entities by their own words, with the untracked relations that would dangle without them.
    fn entities_with(&mut self, tx: &mut dyn Transaction, words: ForgetWords<'_>) -> Result<(), StoreError> {
        let mut entities: Vec<[u8; 16]> = Vec::new();
        let parameters = [self.workspace.into(), self.takes_trash().into()];
        tx.query(&graph_sql::ALL_UNTRACKED_ENTITIES, &parameters, &mut |row| {
            let id: [u8; 16] = row.get(0)?;
            let (name, description): (String, Option<String>) = (row.get(1)?, row.get(3)?);
            let fields: Vec<&str> = std::iter::once(name.as_str()).chain(description.as_deref()).collect();
            if entities.last() != Some(&id) && (words.matches)(&fields) {
                entities.push(id);
            }
            Ok(())
        })?;
        if entities.is_empty() {
            return Ok(());
        }
        self.found.matched += entities.len();
        for id in &entities {
            self.push(ItemKind::ENTITY, *id, 0, 0);
        }
        let parameters = [self.workspace.into(), entities.as_slice().into(), self.takes_trash().into()];
        let relations: Vec<[u8; 16]> =
            tx.rows(&graph_sql::UNTRACKED_RELATIONS_TOUCHING, &parameters, |row| row.get(0))?;
        for id in relations {
            self.push(ItemKind::RELATION, id, 0, 0);
        }
        Ok(())
    }
}

/// Memories that hold the rarest of the terms, and those with words outside the full-text index. `None`: read them all.
fn likely_memories(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    terms: &[String],
) -> Result<Option<HashSet<[u8; 16]>>, StoreError> {
    let statistics = tx.search_statistics(workspace, SearchIndex::Memories, terms)?;
    let Some((rarest, _)) = terms.iter().zip(&statistics.frequencies).min_by_key(|(_, frequency)| **frequency) else {
        return Ok(None);
    };
    let query = SearchQuery {
        terms: std::slice::from_ref(rarest),
        combine: Combine::All,
        limit: MATCHES_MAX,
        rows_per_term_max: usize::MAX,
    };
    let found = tx.search_match(workspace, SearchIndex::Memories, &query)?;
    if found.len() == MATCHES_MAX {
        return Ok(None);
    }
    let keys: Vec<i64> = found.into_iter().map(|(key, _)| key).collect();
    let mut likely: HashSet<[u8; 16]> = search::memories_of_chunks(tx, workspace, &keys)?.into_iter().collect();
    likely.extend(tx.rows(&sql::WITH_UNINDEXED_WORDS, &[workspace.into()], |row| row.get::<[u8; 16]>(0))?);
    Ok(Some(likely))
}
