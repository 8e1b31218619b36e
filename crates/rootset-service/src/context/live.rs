//! A session in memory: its window, and the rows behind it. A cache of the database, kept up to date by [`LiveSession::catch_up`].

use rootset_api::{ErrorCode, FocusInput};
use rootset_gc::context::{
    Added, Author, Facts, Focus, NewSegment, Now, Population, SegmentIndex, SegmentState, SegmentType, Window,
};
use rootset_model::Timestamp;
use rootset_store::{LoadedSession, SegmentRow, SessionChange, SessionHead, SessionState};
use rootset_text::names::name_hash;

use super::settings::{ContextSettings, SettingsChange, focus_of};
use crate::error::ServiceError;

#[derive(Debug, Default)]
pub struct LiveSession {
    pub session_id: String,
    /// `None`: nothing of it is stored yet.
    pub head: Option<SessionHead>,
    pub changes: SettingsChange,
    pub focus: FocusInput,
    pub next_step: i64,
    window: Window,
    /// By index in the window; names are in the window alone.
    rows: Vec<SegmentRow>,
}

impl LiveSession {
    pub fn new(session_id: &str) -> Self {
        Self { session_id: session_id.to_owned(), ..Self::default() }
    }

    /// What another process wrote since, or all of it.
    pub fn catch_up(&mut self, loaded: LoadedSession) -> Result<(), ServiceError> {
        let follows = self.head.is_some_and(|it| (it.session, it.epoch) == (loaded.head.session, loaded.head.epoch));
        if !follows {
            *self = Self::new(&loaded.session_id);
        }
        if self.head == Some(loaded.head) {
            return Ok(());
        }
        self.read_state(&loaded.state)?;
        for row in loaded.segments {
            match self.index_of_number(row.segment) {
                Some(index) => self.replace(index, row),
                None => self.insert(row),
            }
        }
        self.head = Some(loaded.head);
        Ok(())
    }

    fn read_state(&mut self, state: &SessionState) -> Result<(), ServiceError> {
        let unreadable = |_| ServiceError::new(ErrorCode::Internal, "the settings of the session cannot be read");
        self.changes = serde_json::from_str(&state.settings).map_err(unreadable)?;
        self.focus = serde_json::from_str(&state.focus).map_err(unreadable)?;
        self.next_step = state.next_step;
        self.window.set_collections(u32::try_from(state.collections).unwrap_or(u32::MAX));
        Ok(())
    }

    pub fn state(&self) -> SessionState {
        let json = "settings and focus are plain data";
        SessionState {
            settings: serde_json::to_string(&self.changes).expect(json),
            focus: serde_json::to_string(&self.focus).expect(json),
            collections: self.window.collections().into(),
            next_step: self.next_step,
        }
    }

    fn insert(&mut self, row: SegmentRow) {
        let (state, stashed_at) = (row.state, row.stashed_at);
        let added = self.push(row);
        if state != SegmentState::Active {
            self.window.set_state(added.segment, state, stashed_at);
        }
    }

    /// Adds a row to the window, active whatever it says; its names move there.
    pub fn push(&mut self, mut row: SegmentRow) -> Added {
        let names = std::mem::take(&mut row.names);
        let references: Vec<u64> =
            row.references.iter().chain(&row.reply_to).chain(&row.derived_from).map(|id| name_hash(id)).collect();
        let hubs: Vec<u64> = row.topic_id.iter().chain(&row.tags).map(|hub| name_hash(hub)).collect();
        let added = self.window.add(&NewSegment {
            id: name_hash(&row.segment_id),
            facts: facts_of(&row),
            names: &names,
            pair: row.tool_call_id.as_deref().map(name_hash),
            references: &references,
            hubs: &hubs,
        });
        let original = row.derived_from.as_deref().filter(|_| row.segment_type == SegmentType::Summary);
        if let Some(original) = original.and_then(|id| self.index_of(id)) {
            self.window.inherit_referrers(added.segment, original);
        }
        self.rows.push(row);
        added
    }

    fn replace(&mut self, index: SegmentIndex, mut row: SegmentRow) {
        row.names = Vec::new();
        self.window.set_state(index, row.state, row.stashed_at);
        self.window.set_pinned(index, row.is_pinned);
        self.window.set_invariant(index, row.is_invariant);
        self.window.set_entered_collection(index, collection_of(&row));
        self.window.touch(index, Now { step: step_of(row.touched_step), at: row.touched_at });
        self.rows[index.0 as usize] = row;
    }

    /// The store has taken a change: numbers and versions as it gave them.
    pub fn written(&mut self, head: SessionHead, first_added: usize, numbers: &[i64], change: &SessionChange) {
        for changed in &change.changed {
            if let Some(index) = self.index_of_number(changed.segment) {
                self.row_mut(index).version = head.version;
            }
        }
        for (row, number) in self.rows[first_added..].iter_mut().zip(numbers) {
            (row.segment, row.version) = (*number, head.version);
        }
        self.head = Some(head);
    }

    pub fn window(&self) -> &Window {
        &self.window
    }

    pub fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    pub fn row(&self, index: SegmentIndex) -> &SegmentRow {
        &self.rows[index.0 as usize]
    }

    pub fn row_mut(&mut self, index: SegmentIndex) -> &mut SegmentRow {
        &mut self.rows[index.0 as usize]
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whatever its state.
    pub fn index_of(&self, segment_id: &str) -> Option<SegmentIndex> {
        let index = self.window.index_of(name_hash(segment_id))?;
        (self.row(index).segment_id == segment_id).then_some(index)
    }

    /// Active or stashed; what is deleted is in the trash and nowhere else.
    pub fn find(&self, segment_id: &str) -> Result<SegmentIndex, ServiceError> {
        match self.index_of(segment_id) {
            Some(index) if self.window.graph().state(index) != SegmentState::Deleted => Ok(index),
            Some(_) => Err(self.unknown(segment_id).with_hint("it was deleted; `gc_undo` restores it")),
            None => Err(self.unknown(segment_id)),
        }
    }

    fn unknown(&self, segment_id: &str) -> ServiceError {
        let shown: String = segment_id.chars().take(80).collect();
        ServiceError::new(ErrorCode::NotFound, format!("no segment `{shown}` in the session `{}`", self.session_id))
    }

    /// Numbers rise in the order of addition.
    pub fn index_of_number(&self, number: i64) -> Option<SegmentIndex> {
        let place = self.rows.binary_search_by_key(&number, |row| row.segment).ok()?;
        Some(SegmentIndex(u32::try_from(place).expect("the window has limited them")))
    }

    /// In the order of the window, which is not always that of addition: summaries stand where the original stood.
    pub fn in_order(&self, population: Population) -> Vec<SegmentIndex> {
        let mut segments: Vec<SegmentIndex> = self.window.graph().segments(population).collect();
        segments.sort_by_key(|segment| self.place(*segment));
        segments
    }

    pub fn place(&self, segment: SegmentIndex) -> (i64, SegmentIndex) {
        (self.row(segment).created_step, segment)
    }

    /// The segment and the other halves of its pair, in order of addition.
    pub fn with_pairs(&self, segment: SegmentIndex, population: Population) -> Vec<SegmentIndex> {
        self.window.graph().pair_group(segment, population)
    }

    pub fn settings(&self, defaults: &ContextSettings) -> Result<ContextSettings, ServiceError> {
        self.changes.applied_to(defaults)
    }

    pub fn focus(&self, settings: &ContextSettings) -> Focus {
        focus_of(&self.focus, settings)
    }

    pub fn now(&self, at: Timestamp) -> Now {
        Now { step: step_of(self.next_step - 1), at }
    }

    /// What the provider would count for this many tokens counted here.
    pub fn calibrated(&self, tokens: u64) -> u64 {
        (tokens as f64 * self.changes.calibration.unwrap_or(1.0)).round() as u64
    }

    /// How many tokens counted here have to go so that the provider counts so many fewer.
    pub fn counted(&self, calibrated: u64) -> u64 {
        (calibrated as f64 / self.changes.calibration.unwrap_or(1.0)).ceil() as u64
    }
}

fn facts_of(row: &SegmentRow) -> Facts {
    let created = Now { step: step_of(row.created_step), at: row.created_at };
    Facts {
        author: author_of(row),
        last_touched_step: step_of(row.touched_step),
        last_touched_at: row.touched_at,
        is_pinned: row.is_pinned,
        is_invariant: row.is_invariant,
        entered_collection: collection_of(row),
        task: row.task_id.as_deref().map(name_hash),
        file: row.file_path.as_deref().map(name_hash),
        lines: row.lines,
        ..Facts::new(row.segment_type, row.tokens, created)
    }
}

fn author_of(row: &SegmentRow) -> Author {
    match row.role.as_deref() {
        Some("system" | "developer") => Author::System,
        Some("tool" | "function") => Author::Tool,
        // Some formats let the user hand over what a tool answered, and say something beside it.
        Some("user" | "human") if row.tool_call_id.is_some() && row.segment_type != SegmentType::Message => {
            Author::Tool
        }
        Some("user" | "human") => Author::User,
        Some("assistant" | "model") => Author::Assistant,
        _ => Author::Other,
    }
}

fn collection_of(row: &SegmentRow) -> u32 {
    u32::try_from(row.entered_collection).unwrap_or(0)
}

fn step_of(step: i64) -> u64 {
    u64::try_from(step).unwrap_or(0)
}
