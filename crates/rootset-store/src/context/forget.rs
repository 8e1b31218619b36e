//! What a `forget` finds among segments: in the window or in the stash, by words and filters. Selects only.

use std::collections::{HashMap, HashSet};

use rootset_model::WorkspaceKey;

use crate::driver::{Row, Transaction};
use crate::error::StoreError;
use crate::forget::{ForgetRequest, ForgetWords};
use crate::memories::read_list;
use crate::statements::context as sql;

/// A segment that goes, or that a pin keeps.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub segment: i64,
    session: i64,
    pub version: i64,
    /// Itself, or the other half of its tool call.
    pub is_pinned: bool,
    tool_call_id: Option<String>,
}

impl Found {
    fn read(row: &dyn Row) -> Result<Self, StoreError> {
        Ok(Self {
            segment: row.get(0)?,
            session: row.get(1)?,
            version: row.get(2)?,
            is_pinned: row.get(3)?,
            tool_call_id: row.get(4)?,
        })
    }

    fn call(&self) -> Option<(i64, &str)> {
        self.tool_call_id.as_deref().map(|id| (self.session, id))
    }
}

/// Segments that match, newest first; the halves of a tool call go together, and a pin on one of them holds both.
pub(crate) fn select(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    request: &ForgetRequest<'_>,
) -> Result<Vec<Found>, StoreError> {
    // Only memories have a source.
    if request.filters.source.is_some() {
        return Ok(Vec::new());
    }
    let mut found = matching(tx, workspace, request)?;
    complete_calls(tx, workspace, &mut found, request.takes_trash())?;
    found.sort_unstable_by_key(|it| std::cmp::Reverse(it.segment));
    Ok(found)
}

fn matching(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    request: &ForgetRequest<'_>,
) -> Result<Vec<Found>, StoreError> {
    let ForgetRequest { filters, words, .. } = *request;
    let parameters = [
        workspace.into(),
        request.takes_trash().into(),
        filters.written_by.as_ref().into(),
        filters.created_after.into(),
        filters.created_before.into(),
    ];
    let statement = if words.is_some() { &sql::FORGET_BY_WORDS } else { &sql::FORGET_BY_FILTERS };
    let mut found = Vec::new();
    tx.query(statement, &parameters, &mut |row| {
        let tags: Option<String> = row.get(5)?;
        let tags = read_list(tags.as_deref())?;
        let has_tags = filters.tags.iter().all(|tag| tags.contains(tag));
        if has_tags && words.map_or(Ok(true), |words| holds(row, &tags, words))? {
            found.push(Found::read(row)?);
        }
        Ok(())
    })?;
    Ok(found)
}

/// Whether the words are in any of what the caller wrote: a word that only the raw message holds is stored, too.
fn holds(row: &dyn Row, tags: &[String], words: ForgetWords<'_>) -> Result<bool, StoreError> {
    let mut fields: Vec<String> = vec![row.get(6)?, row.get(10)?];
    for optional in [7, 8, 9, 11] {
        fields.extend(row.get::<Option<String>>(optional)?);
    }
    let fields: Vec<&str> = fields.iter().chain(tags).map(String::as_str).collect();
    Ok(words.matches([0; 16], &fields))
}

fn complete_calls(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    found: &mut Vec<Found>,
    with_trash: bool,
) -> Result<(), StoreError> {
    let sessions: HashSet<i64> = found.iter().filter_map(Found::call).map(|(session, _)| session).collect();
    if sessions.is_empty() {
        return Ok(());
    }
    let sessions: Vec<i64> = sessions.into_iter().collect();
    let parameters = [workspace.into(), sessions.as_slice().into(), with_trash.into()];
    let halves = tx.rows(&sql::TOOL_HALVES, &parameters, Found::read)?;
    let wanted: HashSet<(i64, &str)> = found.iter().filter_map(Found::call).collect();
    let halves: Vec<Found> =
        halves.iter().filter(|it| it.call().is_some_and(|call| wanted.contains(&call))).cloned().collect();
    let mut is_pinned: HashMap<(i64, String), bool> = HashMap::new();
    for half in &halves {
        if let Some((session, id)) = half.call() {
            *is_pinned.entry((session, id.to_owned())).or_default() |= half.is_pinned;
        }
    }
    let known: HashSet<i64> = found.iter().map(|it| it.segment).collect();
    found.extend(halves.into_iter().filter(|half| !known.contains(&half.segment)));
    for one in found {
        let call = one.call().map(|(session, id)| (session, id.to_owned()));
        one.is_pinned |= call.and_then(|call| is_pinned.get(&call).copied()).unwrap_or(false);
    }
    Ok(())
}
