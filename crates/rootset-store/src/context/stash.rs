//! Searching the stash: living stashed segments of all living sessions of a workspace.

use std::collections::HashMap;

use rootset_gc::context::SegmentType;
use rootset_model::limits::PREVIEW_CHARS_MAX;
use rootset_model::{Timestamp, WorkspaceKey};

use super::rows::stored_type;
use crate::driver::{Combine, Row, SearchIndex, SearchQuery, Transaction, Value};
use crate::error::StoreError;
use crate::memories::read_list;
use crate::statements::context as sql;
use crate::{Store, Workspace};

#[derive(Clone, Debug, Default)]
pub struct StashFilters {
    pub session_id: Option<String>,
    pub segment_type: Option<SegmentType>,
    pub file_path: Option<String>,
    /// All of them.
    pub tags: Vec<String>,
    pub created_after: Option<Timestamp>,
    pub created_before: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StashHit {
    pub segment: i64,
    pub segment_id: String,
    pub session_id: String,
    pub segment_type: SegmentType,
    /// The first characters of its text.
    pub preview: String,
    pub text_chars: i64,
    pub tokens: u32,
    pub stashed_at: Timestamp,
    pub reason: Option<String>,
}

/// Segments that full text may find: filters, states and the trash are asked after it.
const MATCHES_MAX: usize = 20_000;
/// Found segments that are looked at in one go, best first, until there are enough.
const MATCHES_READ: usize = 500;
const PAGE_ROWS: usize = 500;

impl Store {
    /// `terms` are index terms of the words looked for: the more and the rarer of them a segment holds, the better, and
    /// newer ones first among equals. Without terms: what was stashed last.
    pub fn search_stash(
        &self,
        workspace: &Workspace,
        terms: &[String],
        filters: &StashFilters,
        limit: usize,
    ) -> Result<Vec<StashHit>, StoreError> {
        self.read(workspace, |tx| {
            let mut hits = if terms.is_empty() {
                newest(tx, workspace.key, filters, limit)?
            } else {
                matching(tx, workspace.key, terms, filters, limit)?
            };
            hits.truncate(limit);
            preview(tx, workspace.key, &mut hits)?;
            Ok(hits)
        })
    }

    /// The texts of those of these segments that are stashed in a living session, in the order of the numbers.
    pub fn stashed_texts(&self, workspace: &Workspace, segments: &[i64]) -> Result<Vec<(i64, String)>, StoreError> {
        if segments.is_empty() {
            return Ok(Vec::new());
        }
        self.read(workspace, |tx| {
            let mut hits = Vec::new();
            let filters = StashFilters::default();
            let parameters = parameters(workspace.key, segments.into(), &filters);
            read_hits(tx, &sql::STASH_AMONG, &parameters, &filters, &mut hits)?;
            let living: Vec<i64> = hits.iter().map(|hit| hit.segment).collect();
            let parameters = [workspace.key.into(), living.as_slice().into(), TEXT_CHARS_MAX.into()];
            let mut texts: HashMap<i64, String> =
                tx.rows(&sql::PREVIEWS, &parameters, |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect();
            Ok(segments.iter().filter_map(|segment| Some((*segment, texts.remove(segment)?))).collect())
        })
    }
}

/// More than a segment may have.
const TEXT_CHARS_MAX: i64 = i32::MAX as i64;

fn matching(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    terms: &[String],
    filters: &StashFilters,
    limit: usize,
) -> Result<Vec<StashHit>, StoreError> {
    let query = SearchQuery { terms, combine: Combine::Any, limit: MATCHES_MAX, rows_per_term_max: usize::MAX };
    let found = tx.search_match(workspace, SearchIndex::Stash, &query)?;
    let scores: HashMap<i64, f64> = found.iter().copied().collect();
    let keys: Vec<i64> = found.into_iter().map(|(key, _)| key).collect();
    let mut hits: Vec<StashHit> = Vec::new();
    for some in keys.chunks(MATCHES_READ) {
        let parameters = parameters(workspace, some.into(), filters);
        read_hits(tx, &sql::STASH_AMONG, &parameters, filters, &mut hits)?;
        if hits.len() >= limit {
            break;
        }
    }
    hits.sort_by(|a, b| {
        let by_score = scores[&b.segment].total_cmp(&scores[&a.segment]);
        by_score.then(b.stashed_at.cmp(&a.stashed_at)).then(b.segment.cmp(&a.segment))
    });
    Ok(hits)
}

fn newest(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    filters: &StashFilters,
    limit: usize,
) -> Result<Vec<StashHit>, StoreError> {
    let mut hits: Vec<StashHit> = Vec::new();
    let mut before = (i64::MAX, i64::MAX);
    loop {
        let mut parameters = parameters(workspace, before.0.into(), filters).to_vec();
        parameters.extend([Value::Integer(before.1), Value::Integer(PAGE_ROWS as i64)]);
        match read_hits(tx, &sql::STASH_PAGE, &parameters, filters, &mut hits)? {
            Some(last) if hits.len() < limit => before = last,
            _ => return Ok(hits),
        }
    }
}

/// The session and its fellows are `?3` to `?7` of both statements.
fn parameters<'a>(workspace: WorkspaceKey, second: Value<'a>, filters: &'a StashFilters) -> [Value<'a>; 7] {
    [
        workspace.into(),
        second,
        filters.session_id.as_ref().into(),
        filters.segment_type.map(SegmentType::as_str).into(),
        filters.file_path.as_ref().into(),
        filters.created_after.into(),
        filters.created_before.into(),
    ]
}

/// Keeps the rows that pass the filter of tags, too; answers where the last row of all stands.
fn read_hits(
    tx: &mut dyn Transaction,
    statement: &crate::driver::Statement,
    parameters: &[Value<'_>],
    filters: &StashFilters,
    hits: &mut Vec<StashHit>,
) -> Result<Option<(i64, i64)>, StoreError> {
    let mut last = None;
    tx.query(statement, parameters, &mut |row| {
        let hit = read_hit(row)?;
        last = Some((hit.stashed_at.0, hit.segment));
        let tags: Option<String> = row.get(8)?;
        let tags = read_list(tags.as_deref())?;
        if filters.tags.iter().all(|tag| tags.contains(tag)) {
            hits.push(hit);
        }
        Ok(())
    })?;
    Ok(last)
}

fn read_hit(row: &dyn Row) -> Result<StashHit, StoreError> {
    Ok(StashHit {
        segment: row.get(0)?,
        segment_id: row.get(1)?,
        session_id: row.get(2)?,
        segment_type: stored_type(&row.get::<String>(3)?)?,
        preview: String::new(),
        text_chars: row.get(4)?,
        tokens: row.get(5)?,
        stashed_at: row.get(6)?,
        reason: row.get(7)?,
    })
}

fn preview(tx: &mut dyn Transaction, workspace: WorkspaceKey, hits: &mut [StashHit]) -> Result<(), StoreError> {
    let segments: Vec<i64> = hits.iter().map(|hit| hit.segment).collect();
    let parameters = [workspace.into(), segments.as_slice().into(), (PREVIEW_CHARS_MAX as i64).into()];
    let mut previews: HashMap<i64, String> = HashMap::new();
    tx.query(&sql::PREVIEWS, &parameters, &mut |row| {
        previews.insert(row.get(0)?, row.get(1)?);
        Ok(())
    })?;
    for hit in hits {
        hit.preview = previews.remove(&hit.segment).unwrap_or_default();
    }
    Ok(())
}
