//! One change of a session: made in memory first, then written as a whole. Nothing here talks to the store.

use std::collections::BTreeSet;

use rootset_gc::context::{Added, SegmentIndex, SegmentState};
use rootset_model::Timestamp;
use rootset_store::{
    LedgerAction, NewLedgerEntry, NewSegmentRow, SegmentChange, SegmentRow, SegmentText, SessionChange,
};
use rootset_text::terms::index_terms;

use super::incoming::Incoming;
use super::live::LiveSession;

#[derive(Debug)]
struct AddedContent {
    text: String,
    raw: Option<String>,
    names: Vec<u64>,
}

#[derive(Debug)]
pub struct Edit<'a> {
    pub live: &'a mut LiveSession,
    pub at: Timestamp,
    first_added: usize,
    /// What the rows in memory do not hold of what was added, in order.
    contents: Vec<AddedContent>,
    changed: BTreeSet<SegmentIndex>,
    /// Stashed for the first time: their words have to become searchable.
    to_index: BTreeSet<SegmentIndex>,
    ledger: Vec<(SegmentIndex, LedgerAction, String)>,
    is_state_changed: bool,
}

impl<'a> Edit<'a> {
    pub fn new(live: &'a mut LiveSession, at: Timestamp) -> Self {
        let first_added = live.len();
        Self {
            live,
            at,
            first_added,
            contents: Vec::new(),
            changed: BTreeSet::new(),
            to_index: BTreeSet::new(),
            ledger: Vec::new(),
            is_state_changed: false,
        }
    }

    /// Adds an active segment at the end, or in the place that `created_step` names.
    pub fn add(&mut self, incoming: Incoming, place: Option<i64>) -> Added {
        let step = self.live.next_step;
        self.live.next_step += 1;
        let mut row: SegmentRow = incoming.row;
        // The store gives the number; until then it is higher than any other.
        row.segment = i64::MAX;
        row.created_step = place.unwrap_or(step);
        row.touched_step = row.touched_step.max(row.created_step);
        row.entered_collection = self.live.window().collections().into();
        row.state = SegmentState::Active;
        self.contents.push(AddedContent { text: incoming.text, raw: incoming.raw, names: row.names.clone() });
        self.live.push(row)
    }

    /// Out of the window; nothing is lost.
    pub fn stash(&mut self, segment: SegmentIndex, reason: &str, action: LedgerAction) {
        self.live.window_mut().stash(segment, self.at);
        let at = self.at;
        let row = self.live.row_mut(segment);
        // A reason stays when a segment is restored: its words are searchable from the first time on.
        if row.stash_reason.is_none() {
            self.to_index.insert(segment);
        }
        row.state = SegmentState::Stashed;
        row.stashed_at = Some(at);
        row.stash_reason = Some(reason.to_owned());
        self.changed.insert(segment);
        self.ledger.push((segment, action, reason.to_owned()));
    }

    /// Back into its place.
    pub fn restore(&mut self, segment: SegmentIndex, reason: &str) {
        let now = self.live.now(self.at);
        self.live.window_mut().restore(segment, now);
        let entered = self.live.window().collections().into();
        let row = self.live.row_mut(segment);
        row.state = SegmentState::Active;
        row.stashed_at = None;
        row.entered_collection = entered;
        self.touched(segment);
        self.ledger.push((segment, LedgerAction::Restore, reason.to_owned()));
    }

    pub fn set_pinned(&mut self, segment: SegmentIndex, is_pinned: bool, reason: Option<&str>) {
        self.live.window_mut().set_pinned(segment, is_pinned);
        let row = self.live.row_mut(segment);
        row.is_pinned = is_pinned;
        row.pin_reason = reason.map(str::to_owned);
        if is_pinned {
            let now = self.live.now(self.at);
            self.live.window_mut().touch(segment, now);
            self.touched(segment);
        } else {
            self.changed.insert(segment);
        }
    }

    fn touched(&mut self, segment: SegmentIndex) {
        let (step, at) = (self.live.next_step - 1, self.at);
        let row = self.live.row_mut(segment);
        row.touched_step = row.touched_step.max(step);
        row.touched_at = at;
        self.changed.insert(segment);
    }

    /// Settings, focus or the count of collections changed.
    pub fn change_state(&mut self) {
        self.is_state_changed = true;
    }

    pub fn added(&self) -> usize {
        self.contents.len()
    }

    /// The text of a segment that this edit added.
    pub fn added_text(&self, segment: SegmentIndex) -> Option<&str> {
        let place = (segment.0 as usize).checked_sub(self.first_added)?;
        self.contents.get(place).map(|content| content.text.as_str())
    }

    pub fn is_empty(&self) -> bool {
        self.contents.is_empty() && self.changed.is_empty() && !self.is_state_changed
    }

    /// Stored segments whose words are wanted by [`Self::into_change`].
    pub fn texts_wanted(&self) -> Vec<i64> {
        let stored = self.to_index.iter().filter(|segment| !self.is_added(**segment));
        stored.map(|segment| self.live.row(*segment).segment).collect()
    }

    fn is_added(&self, segment: SegmentIndex) -> bool {
        segment.0 as usize >= self.first_added
    }

    /// What is written; the session in memory must be dropped if that fails.
    pub fn into_change(self, texts: &[SegmentText]) -> (SessionChange, usize) {
        let live = &*self.live;
        let terms_of = |segment: &SegmentIndex| {
            let number = live.row(*segment).segment;
            self.to_index.contains(segment).then(|| {
                texts.iter().find(|text| text.segment == number).map_or_else(String::new, |it| index_terms(&it.text))
            })
        };
        let changed = self.changed.iter().filter(|segment| !self.is_added(**segment)).map(|segment| {
            let row = live.row(*segment);
            SegmentChange {
                segment: row.segment,
                state: row.state,
                stashed_at: row.stashed_at,
                stash_reason: row.stash_reason.clone(),
                is_pinned: row.is_pinned,
                pin_reason: row.pin_reason.clone(),
                is_invariant: row.is_invariant,
                touched_at: row.touched_at,
                touched_step: row.touched_step,
                entered_collection: row.entered_collection,
                terms: terms_of(segment),
            }
        });
        let changed: Vec<SegmentChange> = changed.collect();
        let place = |segment: SegmentIndex| (segment.0 as usize).checked_sub(self.first_added);
        let added_terms = self
            .to_index
            .iter()
            .filter_map(|segment| place(*segment))
            .map(|place| (place, index_terms(&self.contents[place].text)))
            .collect();
        let ledger = self
            .ledger
            .into_iter()
            .map(|(segment, action, reason)| NewLedgerEntry {
                segment: place(segment).is_none().then(|| live.row(segment).segment),
                added: place(segment),
                action,
                tokens: live.row(segment).tokens,
                reason,
            })
            .collect();
        let rows = (self.first_added..).map(|place| SegmentIndex(place as u32));
        let added = self.contents.into_iter().zip(rows).map(|(content, segment)| NewSegmentRow {
            row: SegmentRow { names: content.names, ..live.row(segment).clone() },
            text: content.text,
            raw: content.raw,
        });
        let change = SessionChange {
            session_id: live.session_id.clone(),
            known: live.head,
            state: live.state(),
            added: added.collect(),
            added_terms,
            changed,
            ledger,
        };
        (change, self.first_added)
    }
}
