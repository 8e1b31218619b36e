//! Changing a session: additions, new states of segments, lines of the ledger, and the session's own state, all in one
//! transaction and only on top of the version that the caller knows.

use std::collections::HashSet;

use rootset_gc::context::SegmentState;
use rootset_model::{Timestamp, WorkspaceKey};

use super::ledger::LedgerAction;
use super::load::{self, SessionHead, SessionState};
use super::rows::{SegmentRow, packed, state_word};
use crate::driver::{SearchIndex, SearchRow, Transaction, Value};
use crate::error::StoreError;
use crate::memories::stored_list;
use crate::seals::{Seal, seal};
use crate::statements::context as sql;
use crate::workspaces::{self, Draw};
use crate::{Stamp, Store, Workspace};

/// A segment to be added.
#[derive(Clone, Debug)]
pub struct NewSegmentRow {
    /// Its number, version and writer are given by the store.
    pub row: SegmentRow,
    pub text: String,
    /// The caller's own message block, JSON.
    pub raw: Option<String>,
}

/// What becomes of a segment; sets all of these.
#[derive(Clone, Debug)]
pub struct SegmentChange {
    pub segment: i64,
    /// `Active` or `Stashed`.
    pub state: SegmentState,
    pub stashed_at: Option<Timestamp>,
    pub stash_reason: Option<String>,
    pub is_pinned: bool,
    pub pin_reason: Option<String>,
    pub is_invariant: bool,
    pub touched_at: Timestamp,
    pub touched_step: i64,
    pub entered_collection: i64,
    /// Its terms for the stash's full text, needed when it is stashed for the first time.
    pub terms: Option<String>,
}

#[derive(Clone, Debug)]
pub struct NewLedgerEntry {
    /// The segment by its number, or by its place in `added`.
    pub segment: Option<i64>,
    pub added: Option<usize>,
    pub action: LedgerAction,
    pub tokens: u32,
    /// Codes and numbers in words, never content.
    pub reason: String,
}

#[derive(Clone, Debug)]
pub struct SessionChange {
    /// The caller's name for it.
    pub session_id: String,
    /// `None`: the session does not exist yet.
    pub known: Option<SessionHead>,
    pub state: SessionState,
    /// May be stashed at once, where a big addition pushes out its own first ones.
    pub added: Vec<NewSegmentRow>,
    /// Terms of those that are stashed at once, by their place in `added`.
    pub added_terms: Vec<(usize, String)>,
    pub changed: Vec<SegmentChange>,
    pub ledger: Vec<NewLedgerEntry>,
}

/// What a new session begins with.
const FIRST: i64 = 1;

impl Store {
    /// One durable transaction. Answers the new head, and the numbers that were given to the added segments.
    ///
    /// [`StoreError::SessionChanged`] when `known` is not the present head: the caller catches up and tries again.
    pub fn change_session(
        &self,
        workspace: &Workspace,
        change: &SessionChange,
        stamp: Stamp<'_>,
    ) -> Result<(SessionHead, Vec<i64>), StoreError> {
        assert_well_formed(change);
        self.write(workspace, |tx| {
            let writing = Writing::begin(tx, workspace.key, change, stamp)?;
            let numbers = writing.add(tx)?;
            writing.change_segments(tx)?;
            writing.note(tx, &numbers)?;
            writing.index(tx, &numbers)?;
            Ok((writing.head, numbers))
        })
    }
}

/// What no caller may ask for, said before a transaction begins.
fn assert_well_formed(change: &SessionChange) {
    let states = change.added.iter().map(|new| new.row.state).chain(change.changed.iter().map(|it| it.state));
    for state in states {
        assert!(state != SegmentState::Deleted, "segments are deleted by a plan, not by a change of their session");
    }
    let is_added = |place: usize| place < change.added.len();
    assert!(change.added_terms.iter().all(|(place, _)| is_added(*place)), "terms belong to an added segment");
    for line in &change.ledger {
        let is_named = line.segment.is_some() || line.added.is_some_and(is_added);
        assert!(is_named, "a line of the ledger names its segment");
    }
}

struct Writing<'a> {
    workspace: WorkspaceKey,
    change: &'a SessionChange,
    stamp: Stamp<'a>,
    /// As it will be.
    head: SessionHead,
    first_segment: i64,
    /// Of the changed segments, those that full text has already.
    indexed: HashSet<i64>,
}

impl<'a> Writing<'a> {
    /// Compares the head, draws numbers, and writes the session's own row.
    fn begin(
        tx: &mut dyn Transaction,
        workspace: WorkspaceKey,
        change: &'a SessionChange,
        stamp: Stamp<'a>,
    ) -> Result<Self, StoreError> {
        let found = load::find(tx, workspace, &change.session_id)?;
        let focus_before = found.as_ref().map_or(0, |it| it.state.focus.len());
        let present = found.map(|it| it.head);
        if present.is_none() {
            load::refuse_trashed(tx, workspace, &change.session_id)?;
        }
        if present != change.known {
            return Err(StoreError::SessionChanged { session_id: change.session_id.clone() });
        }
        let added: i64 = change.added.iter().map(|new| bytes_of(new) + Packed::of(&new.row).bytes()).sum();
        let bytes = added + change.state.focus.len() as i64 - focus_before as i64;
        // What frees room, or only moves segments, is not held up by a quota that is used up.
        if bytes > 0 {
            workspaces::check_quota(tx, workspace, Draw { bytes, ..Draw::default() })?;
        }
        let parameters = [
            workspace.into(),
            i64::from(present.is_none()).into(),
            (change.added.len() as i64).into(),
            bytes.into(),
            stamp.now.into(),
        ];
        let drawn: Option<(i64, i64)> = tx.row(&sql::DRAW, &parameters, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (session, first_segment) = drawn.ok_or(StoreError::MissingRow { statement: sql::DRAW.name })?;
        let head = match present {
            Some(head) => SessionHead { version: head.version + 1, ..head },
            None => SessionHead { session, version: FIRST, epoch: FIRST },
        };
        let terms: Vec<i64> = change.changed.iter().filter(|it| it.terms.is_some()).map(|it| it.segment).collect();
        let indexed = if terms.is_empty() {
            HashSet::new()
        } else {
            tx.rows(&sql::INDEXED_AMONG, &[workspace.into(), terms.as_slice().into()], |row| row.get(0))?
                .into_iter()
                .collect()
        };
        let writing = Self { workspace, change, stamp, head, first_segment, indexed };
        writing.write_session(tx, present.is_none())?;
        Ok(writing)
    }

    fn write_session(&self, tx: &mut dyn Transaction, is_new: bool) -> Result<(), StoreError> {
        let (head, state) = (self.head, &self.change.state);
        if is_new {
            let parameters = [
                self.workspace.into(),
                head.session.into(),
                (&self.change.session_id).into(),
                head.version.into(),
                head.epoch.into(),
                (&state.settings).into(),
                (&state.focus).into(),
                state.collections.into(),
                state.next_step.into(),
                self.stamp.now.into(),
                self.stamp.actor.into(),
            ];
            return tx.execute(&sql::INSERT_SESSION, &parameters).map(drop);
        }
        let parameters = [
            self.workspace.into(),
            head.session.into(),
            head.version.into(),
            (&state.settings).into(),
            (&state.focus).into(),
            state.collections.into(),
            state.next_step.into(),
            self.stamp.now.into(),
        ];
        tx.execute(&sql::UPDATE_SESSION, &parameters).map(drop)
    }

    /// Numbers of the added segments.
    fn add(&self, tx: &mut dyn Transaction) -> Result<Vec<i64>, StoreError> {
        let added = &self.change.added;
        let numbers: Vec<i64> = (self.first_segment..).take(added.len()).collect();
        let packed: Vec<Packed> = added.iter().map(|it| Packed::of(&it.row)).collect();
        let placed = || added.iter().zip(&packed).zip(&numbers);
        let seals: Vec<Seal> = placed().map(|((new, packed), number)| self.seal(new, packed, *number)).collect();
        let rows: Vec<_> =
            placed().zip(&seals).map(|(((new, packed), number), seal)| self.row(new, packed, *number, seal)).collect();
        tx.execute_many(&sql::INSERT_SEGMENT, &rows)?;
        let text_seals: Vec<Seal> = added
            .iter()
            .zip(&numbers)
            .map(|(new, number)| seal(&[(*number).into(), (&new.text).into(), new.raw.as_ref().into()]))
            .collect();
        let texts: Vec<_> = added
            .iter()
            .zip(numbers.iter().zip(&text_seals))
            .map(|(new, (number, seal))| {
                let (text, raw) = ((&new.text).into(), new.raw.as_ref().into());
                vec![self.workspace.into(), (*number).into(), text, raw, seal.into()]
            })
            .collect();
        tx.execute_many(&sql::INSERT_TEXT, &texts)?;
        Ok(numbers)
    }

    fn seal(&self, new: &NewSegmentRow, packed: &Packed, number: i64) -> Seal {
        let row = &new.row;
        seal(&[
            number.into(),
            (&row.segment_id).into(),
            row.segment_type.as_str().into(),
            row.role.as_ref().into(),
            row.tool_call_id.as_ref().into(),
            i64::from(row.tokens).into(),
            row.created_at.into(),
            row.created_step.into(),
            row.file_path.as_ref().into(),
            row.lines.map(|lines| i64::from(lines.first)).into(),
            row.lines.map(|lines| i64::from(lines.last)).into(),
            packed.tags.as_ref().into(),
            row.topic_id.as_ref().into(),
            row.task_id.as_ref().into(),
            packed.references.as_ref().into(),
            row.reply_to.as_ref().into(),
            row.derived_from.as_ref().into(),
            packed.names.as_slice().into(),
            (&row.text_hash).into(),
            row.text_chars.into(),
            bytes_of(new).into(),
            self.stamp.actor.into(),
        ])
    }

    fn row<'b>(&'b self, new: &'b NewSegmentRow, packed: &'b Packed, number: i64, seal: &'b Seal) -> Vec<Value<'b>> {
        let row = &new.row;
        vec![
            self.workspace.into(),
            self.head.session.into(),
            number.into(),
            (&row.segment_id).into(),
            row.segment_type.as_str().into(),
            row.role.as_ref().into(),
            row.tool_call_id.as_ref().into(),
            i64::from(row.tokens).into(),
            row.created_at.into(),
            row.created_step.into(),
            row.touched_at.into(),
            row.touched_step.into(),
            row.is_pinned.into(),
            row.pin_reason.as_ref().into(),
            row.is_invariant.into(),
            row.file_path.as_ref().into(),
            row.lines.map(|lines| i64::from(lines.first)).into(),
            row.lines.map(|lines| i64::from(lines.last)).into(),
            packed.tags.as_ref().into(),
            row.topic_id.as_ref().into(),
            row.task_id.as_ref().into(),
            packed.references.as_ref().into(),
            row.reply_to.as_ref().into(),
            row.derived_from.as_ref().into(),
            packed.names.as_slice().into(),
            (&row.text_hash).into(),
            row.text_chars.into(),
            bytes_of(new).into(),
            state_word(row.state).into(),
            row.stashed_at.into(),
            row.stash_reason.as_ref().into(),
            (row.state == SegmentState::Stashed).into(),
            row.entered_collection.into(),
            self.head.version.into(),
            self.stamp.actor.into(),
            seal.into(),
        ]
    }

    fn change_segments(&self, tx: &mut dyn Transaction) -> Result<(), StoreError> {
        let rows: Vec<_> = self
            .change
            .changed
            .iter()
            .map(|it| {
                vec![
                    self.workspace.into(),
                    self.head.session.into(),
                    it.segment.into(),
                    state_word(it.state).into(),
                    it.stashed_at.into(),
                    it.stash_reason.as_ref().into(),
                    it.is_pinned.into(),
                    it.pin_reason.as_ref().into(),
                    it.is_invariant.into(),
                    it.touched_at.into(),
                    it.touched_step.into(),
                    it.entered_collection.into(),
                    self.head.version.into(),
                ]
            })
            .collect();
        let mut written = HashSet::new();
        tx.query_many(&sql::UPDATE_SEGMENT, &rows, &mut |row| {
            written.insert(row.get::<i64>(0)?);
            Ok(())
        })?;
        match self.change.changed.iter().find(|change| !written.contains(&change.segment)) {
            Some(change) => Err(StoreError::SegmentNotFound { segment: change.segment }),
            None => Ok(()),
        }
    }

    fn note(&self, tx: &mut dyn Transaction, numbers: &[i64]) -> Result<(), StoreError> {
        if self.change.ledger.is_empty() {
            return Ok(());
        }
        let last: i64 = tx.scalar(&sql::LAST_LEDGER_SEQ, &[self.workspace.into(), self.head.session.into()])?;
        let mut rows = Vec::with_capacity(self.change.ledger.len());
        for (seq, entry) in (last + 1..).zip(&self.change.ledger) {
            let added = || entry.added.and_then(|place| numbers.get(place).copied());
            let segment = entry.segment.or_else(added);
            rows.push(vec![
                self.workspace.into(),
                self.head.session.into(),
                seq.into(),
                self.stamp.now.into(),
                self.stamp.actor.into(),
                segment.expect("a line of the ledger names its segment").into(),
                entry.action.as_str().into(),
                i64::from(entry.tokens).into(),
                (&entry.reason).into(),
            ]);
        }
        tx.execute_many(&sql::INSERT_LEDGER, &rows).map(drop)
    }

    /// What is stashed for the first time becomes searchable.
    fn index(&self, tx: &mut dyn Transaction, numbers: &[i64]) -> Result<(), StoreError> {
        let row = |key: i64, terms: &String| SearchRow { key, head: String::new(), body: terms.clone() };
        let is_stashed = |place: &usize| self.change.added[*place].row.state == SegmentState::Stashed;
        let added = self.change.added_terms.iter().filter(|(place, _)| is_stashed(place));
        let is_new = |it: &&SegmentChange| it.state == SegmentState::Stashed && !self.indexed.contains(&it.segment);
        let changed = self.change.changed.iter().filter(is_new);
        let rows = added
            .map(|(place, terms)| row(numbers[*place], terms))
            .chain(changed.filter_map(|it| it.terms.as_ref().map(|terms| row(it.segment, terms))))
            .collect();
        tx.search_insert(self.workspace, SearchIndex::Stash, rows)
    }
}

/// Lists of a row in the form in which they are stored.
struct Packed {
    tags: Option<String>,
    references: Option<String>,
    names: Vec<u8>,
}

impl Packed {
    fn of(row: &SegmentRow) -> Self {
        Self { tags: stored_list(&row.tags), references: stored_list(&row.references), names: packed(&row.names) }
    }

    /// What they count against a quota. `g_bytes` of conditions.sql counts the same.
    fn bytes(&self) -> i64 {
        [&self.tags, &self.references].into_iter().flatten().map(String::len).sum::<usize>() as i64
    }
}

fn bytes_of(new: &NewSegmentRow) -> i64 {
    (new.text.len() + new.raw.as_ref().map_or(0, String::len)) as i64
}
