//! A database of its own, a clock that moves only when told, ids in a row, and segments with as little in them as possible.

use std::cell::Cell;
use std::sync::Arc;

use rootset_gc::context::{SegmentState, SegmentType};
use rootset_model::plan::{Action, Reason};
use rootset_model::{ErasureId, PlanId, RunId, Timestamp};
use rootset_store::{
    EraseIds, LedgerAction, LoadedSession, NewLedgerEntry, NewSegmentRow, NewWorkspace, Pruned, Pruning, PurgeTarget,
    Receipt, SegmentChange, SegmentItem, SegmentRow, SessionChange, SessionHead, SessionState, Stamp, Store,
    StoreError, Workspace,
};
use rootset_testing::{Sql, TestDatabase};

pub const GRACE_MS: i64 = 1_000_000;

pub struct World {
    pub database: TestDatabase,
    pub store: Store,
    pub workspace: Workspace,
    pub now: Cell<i64>,
    next: Cell<u8>,
}

pub fn state() -> SessionState {
    SessionState { settings: "{}".into(), focus: "{}".into(), collections: 0, next_step: 0 }
}

/// An active segment.
pub fn segment(id: &str, text: &str) -> NewSegmentRow {
    let row = SegmentRow {
        segment: 0,
        segment_id: id.into(),
        segment_type: SegmentType::Message,
        role: None,
        tool_call_id: None,
        tokens: 10,
        created_at: Timestamp(0),
        created_step: 0,
        touched_at: Timestamp(0),
        touched_step: 0,
        is_pinned: false,
        pin_reason: None,
        is_invariant: false,
        file_path: None,
        lines: None,
        tags: Vec::new(),
        topic_id: None,
        task_id: None,
        references: Vec::new(),
        reply_to: None,
        derived_from: None,
        names: vec![1, u64::MAX],
        text_hash: hash(text),
        text_chars: text.chars().count() as i64,
        state: SegmentState::Active,
        stashed_at: None,
        stash_reason: None,
        entered_collection: 0,
        version: 0,
        written_by: String::new(),
    };
    NewSegmentRow { row, text: text.into(), raw: None }
}

fn hash(text: &str) -> [u8; 16] {
    let mut hash = [0; 16];
    for (place, byte) in text.bytes().enumerate() {
        hash[place % 16] ^= byte.rotate_left((place / 16 % 8) as u32);
    }
    hash
}

/// The row as it is, for a change of one of its fields.
pub fn unchanged(row: &SegmentRow) -> SegmentChange {
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
        terms: None,
    }
}

pub fn nothing(session: &str, known: Option<SessionHead>) -> SessionChange {
    SessionChange {
        session_id: session.into(),
        known,
        state: state(),
        added: Vec::new(),
        added_terms: Vec::new(),
        changed: Vec::new(),
        ledger: Vec::new(),
    }
}

impl World {
    pub fn new() -> Self {
        let database = TestDatabase::new();
        let mut store = database.open();
        store.set_wall(Arc::new(|| Timestamp(1)));
        let world_stamp = Stamp::new(Timestamp(1), "test");
        let new = NewWorkspace { id: "home".into(), ..NewWorkspace::default() };
        let workspace = store.create_workspace(&new, world_stamp).expect("a workspace");
        Self { database, store, workspace, now: 1_000.into(), next: 0.into() }
    }

    pub fn stamp(&self) -> Stamp<'static> {
        self.now.set(self.now.get() + 1);
        Stamp::new(Timestamp(self.now.get()), "test")
    }

    pub fn id(&self) -> [u8; 16] {
        self.next.set(self.next.get() + 1);
        [self.next.get(); 16]
    }

    pub fn ids(&self) -> EraseIds {
        EraseIds { plan: PlanId(self.id()), run: RunId(self.id()), erasure: ErasureId(self.id()) }
    }

    pub fn sql(&self) -> Sql {
        self.database.sql()
    }

    pub fn count(&self, table: &str) -> i64 {
        self.sql().scalar(&format!("SELECT COUNT(*) FROM {table}"), &[]).expect("a count")
    }

    pub fn try_load(&self, session: &str) -> Result<Option<LoadedSession>, StoreError> {
        self.store.load_session(&self.workspace, session, None)
    }

    pub fn load(&self, session: &str) -> LoadedSession {
        self.try_load(session).expect("a read").expect("a session")
    }

    pub fn head(&self, session: &str) -> Option<SessionHead> {
        self.try_load(session).expect("a read").map(|it| it.head)
    }

    pub fn change(&self, change: &SessionChange) -> (SessionHead, Vec<i64>) {
        self.store.change_session(&self.workspace, change, self.stamp()).expect("a change")
    }

    /// Adds segments on top of what there is; their numbers.
    pub fn add(&self, session: &str, added: Vec<NewSegmentRow>) -> Vec<i64> {
        self.change(&SessionChange { added, ..nothing(session, self.head(session)) }).1
    }

    pub fn add_text(&self, session: &str, id: &str, text: &str) -> i64 {
        self.add(session, vec![segment(id, text)])[0]
    }

    pub fn row(&self, session: &str, id: &str) -> SegmentRow {
        let loaded = self.load(session);
        loaded.segments.into_iter().find(|it| it.segment_id == id).expect("a segment of that id")
    }

    /// Stashes a segment, with its words as terms and a line in the ledger.
    pub fn stash(&self, session: &str, id: &str) {
        let row = self.row(session, id);
        let text = self.store.segment_texts(&self.workspace, &[row.segment]).expect("a read").remove(0).text;
        let now = self.now.get() + 1;
        let changed = SegmentChange {
            state: SegmentState::Stashed,
            stashed_at: Some(Timestamp(now)),
            stash_reason: Some("unreachable".into()),
            terms: Some(text.to_lowercase()),
            ..unchanged(&row)
        };
        let line = NewLedgerEntry {
            segment: Some(row.segment),
            added: None,
            action: LedgerAction::Stash,
            tokens: row.tokens,
            reason: "unreachable".into(),
        };
        let change =
            SessionChange { changed: vec![changed], ledger: vec![line], ..nothing(session, self.head(session)) };
        self.change(&change);
    }

    pub fn unstash(&self, session: &str, id: &str) {
        let row = self.row(session, id);
        let changed =
            SegmentChange { state: SegmentState::Active, stashed_at: None, stash_reason: None, ..unchanged(&row) };
        self.change(&SessionChange { changed: vec![changed], ..nothing(session, self.head(session)) });
    }

    pub fn pin(&self, session: &str, id: &str) {
        let changed = SegmentChange { is_pinned: true, ..unchanged(&self.row(session, id)) };
        self.change(&SessionChange { changed: vec![changed], ..nothing(session, self.head(session)) });
    }

    pub fn delete(&self, session: &str, ids: &[&str]) -> Pruned {
        self.prune(session, ids, Action::Trash)
    }

    pub fn prune(&self, session: &str, ids: &[&str], action: Action) -> Pruned {
        let loaded = self.load(session);
        let items: Vec<SegmentItem> = ids
            .iter()
            .map(|id| loaded.segments.iter().find(|it| it.segment_id == *id).expect("a segment of that id"))
            .map(|row| (row.segment, row.version, action, Reason::NAMED))
            .collect();
        self.try_prune(loaded.head, &items, self.ids()).expect("a run")
    }

    /// The words of a text are its terms.
    pub fn try_prune(&self, session: SessionHead, items: &[SegmentItem], ids: EraseIds) -> Result<Pruned, StoreError> {
        let pruning = Pruning { session, items, terms: &str::to_lowercase, ids, grace_ms: GRACE_MS };
        self.store.prune_segments(&self.workspace, &pruning, self.stamp())
    }

    pub fn delete_session(&self, session: &str) -> RunId {
        let run = self.store.delete_session(&self.workspace, session, self.ids(), GRACE_MS, self.stamp());
        run.expect("a deletion").id
    }

    pub fn purge(&self, run: RunId) -> Receipt {
        let erasure = ErasureId(self.id());
        self.store.purge(&self.workspace, PurgeTarget::Run(run), erasure, self.stamp()).expect("a purge")
    }

    pub fn found(&self, terms: &[&str]) -> Vec<String> {
        let terms: Vec<String> = terms.iter().map(ToString::to_string).collect();
        let hits = self.store.search_stash(&self.workspace, &terms, &Default::default(), 100).expect("a search");
        hits.into_iter().map(|hit| hit.segment_id).collect()
    }

    /// Ids of a session's segments, with their states.
    pub fn states(&self, session: &str) -> Vec<(String, SegmentState)> {
        self.load(session).segments.into_iter().map(|row| (row.segment_id, row.state)).collect()
    }

    /// Checks that do not hold.
    pub fn broken(&self) -> Vec<&'static str> {
        let checks = self.store.check().expect("checks");
        checks.into_iter().filter(|check| !check.is_ok()).map(|check| check.id).collect()
    }
}
