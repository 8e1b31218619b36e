//! Rootset's own decisions: the window, the analysis and the plan that every front end uses, with the shipped weights. They
//! see texts, roles, types, files and lines of what was added so far, and never what is needed.
//!
//! Two things differ from a real session, so that figures compare with the other policies: a call and its result may
//! part, and room is made for every step instead of rarely and much. Where roots alone are more than the budget, the oldest leave.

use std::collections::BTreeMap;

use rootset_gc::context::{
    Author, Facts, Focus, LOOSE, Lines, NewSegment, Now, Scoring, SegmentIndex, Target, Window, analyse, plan,
};
use rootset_model::Timestamp;
use rootset_model::plan::Action;
use rootset_text::names::{each_name, each_number, name_hash};

use super::replay::{LAST_SEGMENTS, Policy, ReplayedSession};
use super::transcript::{Role, Segment};

/// What is read out of the texts of a session, once for all budgets.
#[derive(Debug)]
pub struct ReadSession<'s> {
    session: &'s ReplayedSession<'s>,
    names: Vec<Vec<u64>>,
}

impl<'s> ReadSession<'s> {
    pub fn new(session: &'s ReplayedSession<'s>) -> Self {
        let names = session.transcript.segments.iter().map(|segment| names_of(&segment.text)).collect();
        Self { session, names }
    }
}

/// As the service reads them.
fn names_of(text: &str) -> Vec<u64> {
    let mut names = Vec::new();
    each_name(text, |name| names.push(name_hash(name)));
    each_number(text, |number| names.push(name_hash(number) | LOOSE));
    names.sort_unstable();
    names.dedup();
    names
}

pub struct Rootset<'r> {
    read: &'r ReadSession<'r>,
    files: BTreeMap<&'r str, u64>,
    window: Window,
    focus: Focus,
}

impl<'r> Rootset<'r> {
    pub fn new(read: &'r ReadSession<'r>) -> Self {
        let focus = Focus { last_segments: LAST_SEGMENTS, ..Focus::default() };
        Self { read, files: BTreeMap::new(), window: Window::default(), focus }
    }

    fn facts(&mut self, place: usize, segment: &'r Segment) -> Facts {
        let tokens = u32::try_from(self.read.session.tokens[place]).unwrap_or(u32::MAX);
        let next_file = self.files.len() as u64;
        Facts {
            author: author(segment.role),
            entered_collection: self.window.collections(),
            file: segment.file_path.as_deref().map(|path| *self.files.entry(path).or_insert(next_file)),
            lines: segment.line_range.map(|(first, last)| Lines { first, last }),
            ..Facts::new(segment.segment_type, tokens, now(place))
        }
    }
}

impl Policy for Rootset<'_> {
    fn added(&mut self, place: usize) {
        let segment = &self.read.session.transcript.segments[place];
        let facts = self.facts(place, segment);
        let names = &self.read.names[place];
        self.window.add(&NewSegment { names, ..NewSegment::new(place as u64, facts) });
    }

    fn choose(&mut self, step: usize, may_leave: &[usize], excess_tokens: u64) -> Vec<usize> {
        let now = now(step);
        let analysis = analyse(&self.window, &self.focus, now, &Scoring::default());
        let plan = plan(&self.window, &analysis, Target::tokens(excess_tokens));
        let stashed = plan.items.iter().filter(|item| item.action == Action::Stash).map(|item| item.segment);
        let mut stashed: Vec<SegmentIndex> = stashed.collect();
        if stashed.is_empty() {
            stashed.extend(self.window.index_of(may_leave[0] as u64));
        }
        stashed.iter().for_each(|segment| self.window.stash(*segment, now.at));
        self.window.count_collection();
        stashed.iter().map(|segment| segment.0 as usize).collect()
    }
}

fn author(role: Role) -> Author {
    match role {
        Role::System => Author::System,
        Role::Task => Author::User,
        Role::Assistant => Author::Assistant,
        Role::Tool => Author::Tool,
    }
}

/// Transcripts tell no times: steps are all that passes.
fn now(place: usize) -> Now {
    Now { step: place as u64, at: Timestamp(0) }
}
