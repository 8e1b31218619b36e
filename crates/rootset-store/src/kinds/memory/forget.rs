//! What a `forget` finds among memories, those of indexed files included, by words and filters. Selects only.

use std::collections::{HashMap, HashSet};

use rootset_model::plan::ItemKind;
use rootset_model::{MemoryId, WorkspaceKey};

use crate::driver::{Combine, SearchIndex, SearchQuery, Transaction};
use crate::error::StoreError;
use crate::forget::{ForgetKind, ForgetMatch, ForgetRequest, ForgetSelection, ForgetText, ForgetVerdict, ForgetWords};
use crate::kinds::Id;
use crate::memories::{read_content, read_list};
use crate::search;
use crate::statements::forget as sql;

/// Memories whose words are read at a time.
const TEXTS_READ_MAX: usize = 256;
/// Chunks that hold a term; beyond it the term is no help and everything is read.
const MATCHES_MAX: usize = 200_000;
/// Chunks that hold a term of what only comes near.
const NEAR_MATCHES_MAX: usize = 500;

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
    let Some(words) = request.words else {
        for it in &memories {
            found.matched(request, it.found(0), MemoryId(it.id));
        }
        return Ok(());
    };
    let judged = judged(tx, workspace, &memories, words)?;
    for it in &memories {
        match judged.get(&it.id) {
            Some((ForgetVerdict::Matched, _)) => found.matched(request, it.found(0), MemoryId(it.id)),
            Some((ForgetVerdict::InPart, revision)) => {
                let text = ForgetMatch { kind: ItemKind::REVISION, ..it.found(*revision) };
                found.matched_in_part(request, text, MemoryId(it.id));
            }
            Some((ForgetVerdict::Maybe(reason), _)) => found.came_near(request, it.found(0), *reason),
            Some((ForgetVerdict::No, _)) | None => {}
        }
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

impl Filtered {
    fn found(&self, revision: i64) -> ForgetMatch {
        let Self { id: object, version, is_pinned, .. } = *self;
        ForgetMatch { kind: ItemKind::MEMORY, object, revision, version, is_pinned }
    }
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

/// What the words make of the memories that may hold them, with the revision that is served.
fn judged(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memories: &[Filtered],
    words: ForgetWords<'_>,
) -> Result<HashMap<Id, (ForgetVerdict, i64)>, StoreError> {
    let likely = if memories.iter().all(|it| it.is_file) { None } else { likely(tx, workspace, words)? };
    // Terms of code are others than those of notes: files are all read, which nobody asks for every day.
    let candidates: Vec<Id> = memories
        .iter()
        .filter(|it| it.is_file || likely.as_ref().is_none_or(|likely| likely.contains(&it.id)))
        .map(|it| it.id)
        .collect();
    let files: HashSet<Id> = memories.iter().filter(|it| it.is_file).map(|it| it.id).collect();
    let mut judged: HashMap<Id, (ForgetVerdict, i64)> = HashMap::new();
    for page in candidates.chunks(TEXTS_READ_MAX) {
        tx.query(&sql::TEXTS, &[workspace.into(), page.into()], &mut |row| {
            let object: Id = row.get(0)?;
            let tags: Option<String> = row.get(4)?;
            let tags = read_list(tags.as_deref())?;
            let metadata: Option<String> = row.get(5)?;
            let content = read_content(row, 6)?;
            let more: Vec<&str> = tags.iter().map(String::as_str).chain(metadata.as_deref()).collect();
            let (revision, is_pending) = (row.get(10)?, row.get::<bool>(11)?);
            let text = ForgetText {
                object,
                revision,
                topic: &content.topic,
                context: &content.context,
                decisions: &content.decisions,
                rationale: &content.rationale,
                more: &more,
            };
            let verdict = match (words.judge)(&text) {
                // A file is what is on the disk, and a text that awaits its extraction is not served yet.
                ForgetVerdict::InPart if files.contains(&object) || is_pending => ForgetVerdict::Matched,
                verdict => verdict,
            };
            let known = judged.entry(object).or_insert((ForgetVerdict::No, revision));
            if rank(verdict) > rank(known.0) {
                *known = (verdict, revision);
            }
            Ok(())
        })?;
    }
    Ok(judged)
}

/// Of two texts of one memory, the one that is more surely meant decides.
fn rank(verdict: ForgetVerdict) -> u8 {
    match verdict {
        ForgetVerdict::No => 0,
        ForgetVerdict::Maybe(_) => 1,
        ForgetVerdict::InPart => 2,
        ForgetVerdict::Matched => 3,
    }
}

/// Memories that hold what some probe asks for, and those with words outside the full-text index. `None`: read them all.
fn likely(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    words: ForgetWords<'_>,
) -> Result<Option<HashSet<Id>>, StoreError> {
    let is_open = |probe: &Vec<Vec<String>>| probe.is_empty();
    if words.probes.is_empty() || words.probes.iter().any(is_open) {
        return Ok(None);
    }
    let mut chunks: HashSet<i64> = HashSet::new();
    for probe in words.probes {
        let Some(found) = found_by(tx, workspace, probe, MATCHES_MAX)? else { return Ok(None) };
        chunks.extend(found);
    }
    for probe in words.near.iter().filter(|probe| !probe.is_empty()) {
        // What so many hold says nothing about what is near.
        chunks.extend(found_by(tx, workspace, probe, NEAR_MATCHES_MAX)?.unwrap_or_default());
    }
    let chunks: Vec<i64> = chunks.into_iter().collect();
    let mut likely: HashSet<Id> = search::memories_of_chunks(tx, workspace, &chunks)?.into_iter().collect();
    likely.extend(tx.rows(&sql::WITH_UNINDEXED_WORDS, &[workspace.into()], |row| row.get::<Id>(0))?);
    Ok(Some(likely))
}

/// Chunks with a term of the rarest list of a probe; `None` where there are too many.
fn found_by(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    probe: &[Vec<String>],
    limit: usize,
) -> Result<Option<Vec<i64>>, StoreError> {
    let all: Vec<String> = probe.iter().flatten().cloned().collect();
    let statistics = tx.search_statistics(workspace, SearchIndex::Memories, &all)?;
    let mut frequencies = statistics.frequencies.iter();
    let mut rarest: Option<(i64, Vec<String>)> = None;
    for list in probe {
        let counted: Vec<(&String, i64)> = list.iter().zip(frequencies.by_ref().copied()).collect();
        let sum = counted.iter().map(|(_, frequency)| frequency).sum();
        if rarest.as_ref().is_none_or(|(least, _)| sum < *least) {
            let present = counted.into_iter().filter(|(_, frequency)| *frequency > 0);
            rarest = Some((sum, present.map(|(term, _)| term.clone()).collect()));
        }
    }
    let Some((sum, terms)) = rarest.filter(|(_, terms)| !terms.is_empty()) else { return Ok(Some(Vec::new())) };
    if sum >= limit as i64 {
        return Ok(None);
    }
    let query = SearchQuery { terms: &terms, combine: Combine::Any, limit, rows_per_term_max: usize::MAX };
    let found = tx.search_match(workspace, SearchIndex::Memories, &query)?;
    Ok(Some(found.into_iter().map(|(key, _)| key).collect()))
}
