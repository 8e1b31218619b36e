//! What a `forget` finds among memories, those of indexed files included, by words and filters. Selects only.

use std::collections::HashSet;

use rootset_model::plan::ItemKind;
use rootset_model::{MemoryId, WorkspaceKey};

use crate::driver::{Combine, SearchIndex, SearchQuery, Transaction};
use crate::error::StoreError;
use crate::forget::{ForgetKind, ForgetMatch, ForgetRequest, ForgetSelection, ForgetWords};
use crate::kinds::Id;
use crate::memories::{read_content, read_list};
use crate::search;
use crate::statements::forget as sql;

/// Memories whose words are read at a time.
const TEXTS_READ_MAX: usize = 256;
/// Chunks that hold a term; beyond it the term is no help and everything is read.
const MATCHES_MAX: usize = 200_000;

pub(super) const WORDS: &[ForgetKind] = &[NOTES, CODE];
const NOTES: ForgetKind = ForgetKind { word: "memories", is_on_request: false };
/// Memories of indexed files.
const CODE: ForgetKind = ForgetKind { word: "code", is_on_request: true };

pub(super) fn select(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    request: &ForgetRequest<'_>,
    found: &mut ForgetSelection,
) -> Result<(), StoreError> {
    let mut memories = filtered(tx, workspace, request)?;
    memories.retain(|it| request.wants(if it.is_file { &CODE } else { &NOTES }));
    if let Some(words) = request.words {
        let matching = matching(tx, workspace, &memories, words)?;
        memories.retain(|it| matching.contains(&it.id));
    }
    for Filtered { id, version, is_pinned, .. } in memories {
        let memory = ForgetMatch { kind: ItemKind::MEMORY, object: id, revision: 0, version, is_pinned };
        found.matched(request, memory, MemoryId(id));
    }
    Ok(())
}

/// A memory that the filters let through.
pub(in crate::kinds) struct Filtered {
    pub id: Id,
    version: i64,
    is_pinned: bool,
    /// Of the code index.
    is_file: bool,
}

pub(in crate::kinds) fn filtered(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    request: &ForgetRequest<'_>,
) -> Result<Vec<Filtered>, StoreError> {
    let filters = request.filters;
    let parameters = [
        workspace.into(),
        filters.source.as_ref().into(),
        filters.written_by.as_ref().into(),
        (filters.tags.len() as i64).into(),
        filters.tags.as_slice().into(),
        filters.created_after.into(),
        filters.created_before.into(),
        request.wants(&CODE).into(),
        request.takes_trash().into(),
    ];
    tx.rows(&sql::BY_FILTERS, &parameters, |row| {
        Ok(Filtered { id: row.get(0)?, version: row.get(1)?, is_pinned: row.get(2)?, is_file: row.get(3)? })
    })
}

/// Those of the memories that hold the words.
fn matching(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memories: &[Filtered],
    words: ForgetWords<'_>,
) -> Result<HashSet<Id>, StoreError> {
    let likely = if memories.iter().all(|it| it.is_file) { None } else { likely(tx, workspace, words.terms)? };
    // Terms of code are others than those of notes: files are all read, which nobody asks for every day.
    let candidates: Vec<Id> = memories
        .iter()
        .filter(|it| it.is_file || likely.as_ref().is_none_or(|likely| likely.contains(&it.id)))
        .map(|it| it.id)
        .collect();
    let mut matching = HashSet::new();
    for page in candidates.chunks(TEXTS_READ_MAX) {
        tx.query(&sql::TEXTS, &[workspace.into(), page.into()], &mut |row| {
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
    Ok(matching)
}

/// Memories that hold the rarest of the terms, and those with words outside the full-text index. `None`: read them all.
fn likely(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    terms: &[String],
) -> Result<Option<HashSet<Id>>, StoreError> {
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
    let mut likely: HashSet<Id> = search::memories_of_chunks(tx, workspace, &keys)?.into_iter().collect();
    likely.extend(tx.rows(&sql::WITH_UNINDEXED_WORDS, &[workspace.into()], |row| row.get::<Id>(0))?);
    Ok(Some(likely))
}
