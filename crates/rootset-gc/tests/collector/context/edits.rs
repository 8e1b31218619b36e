//! Random edits, carried out on a window and on the naive one. Numbers are small, so that everything meets everything.

use proptest::prelude::*;
use rootset_gc::context::{
    Author, Facts, Focus, Lines, NewSegment, Now, Recall, SegmentIndex, SegmentState, SegmentType, Window,
};
use rootset_model::Timestamp;

use super::naive::Naive;

pub const NOW: Now = Now { step: 100, at: Timestamp(100) };
pub const NAMES: u64 = 8;
const IDS: u64 = 30;
const CALLS: u64 = 4;
const HUBS: u64 = 3;
const FILES: u64 = 3;

/// What a [`NewSegment`] says, owned.
#[derive(Clone, Debug)]
pub struct Told {
    pub id: u64,
    pub facts: Facts,
    pub names: Vec<u64>,
    pub pair: Option<u64>,
    pub references: Vec<u64>,
    pub hubs: Vec<u64>,
}

impl Told {
    pub fn segment(&self) -> NewSegment<'_> {
        NewSegment {
            id: self.id,
            facts: self.facts,
            names: &self.names,
            pair: self.pair,
            references: &self.references,
            hubs: &self.hubs,
        }
    }
}

#[derive(Clone, Debug)]
pub enum Edit {
    Add(Told),
    Touch { segment: u32, now: Now },
    Pin { segment: u32, is_pinned: bool },
    Stash { segment: u32, at: Timestamp },
    Restore { segment: u32, now: Now },
    Delete { segment: u32 },
    Collect,
}

pub fn edits(most: usize) -> impl Strategy<Value = Vec<Edit>> {
    let segment = || any::<u32>();
    let edit = prop_oneof![
        12 => told().prop_map(Edit::Add),
        1 => (segment(), now()).prop_map(|(segment, now)| Edit::Touch { segment, now }),
        1 => (segment(), any::<bool>()).prop_map(|(segment, is_pinned)| Edit::Pin { segment, is_pinned }),
        5 => (segment(), 0..100_i64).prop_map(|(segment, at)| Edit::Stash { segment, at: Timestamp(at) }),
        3 => (segment(), now()).prop_map(|(segment, now)| Edit::Restore { segment, now }),
        1 => segment().prop_map(|segment| Edit::Delete { segment }),
        1 => Just(Edit::Collect),
    ];
    prop::collection::vec(edit, 0..=most)
}

fn told() -> impl Strategy<Value = Told> {
    let few = |most: u64, count: usize| prop::collection::vec(0..most, 0..count);
    let pair = proptest::option::weighted(0.2, 0..CALLS);
    (0..IDS, facts(), few(NAMES, 4), pair, few(IDS, 3), few(HUBS, 2))
        .prop_map(|(id, facts, names, pair, references, hubs)| Told { id, facts, names, pair, references, hubs })
}

/// Some of it after [`NOW`].
fn now() -> impl Strategy<Value = Now> {
    (0..120_u64, -20..120_i64).prop_map(|(step, at)| Now { step, at: Timestamp(at) })
}

fn facts() -> impl Strategy<Value = Facts> {
    let rarely = || prop::bool::weighted(0.05);
    let author = prop_oneof![
        1 => Just(Author::System),
        2 => Just(Author::User),
        10 => Just(Author::Assistant),
        8 => Just(Author::Tool),
        4 => Just(Author::Other),
    ];
    let lines = proptest::option::weighted(0.9, (0..8_u32, 0..4_u32));
    let lines = lines.prop_map(|it| it.map(|(first, more)| Lines { first, last: first + more }));
    let segment_type = prop::sample::select(SegmentType::ALL.to_vec());
    let task = proptest::option::weighted(0.3, 0..3_u64);
    let file = proptest::option::weighted(0.5, 0..FILES);
    (segment_type, author, 0..50_u32, now(), (rarely(), rarely()), 0..3_u32, task, file, lines).prop_map(
        |(segment_type, author, tokens, now, (is_invariant, is_pinned), entered_collection, task, file, lines)| Facts {
            author,
            is_invariant,
            is_pinned,
            entered_collection,
            task,
            file,
            lines,
            ..Facts::new(segment_type, tokens, now)
        },
    )
}

pub fn focus() -> impl Strategy<Value = Focus> {
    let name = || proptest::option::weighted(0.3, 0..3_u64);
    (name(), name(), prop::collection::vec(0..3_u64, 0..2), 0..4_usize).prop_map(
        |(task, file, warm_files, last_segments)| Focus {
            task,
            file,
            warm_files,
            last_segments,
            recent_decisions_ms: 10,
            ..Focus::default()
        },
    )
}

/// Both windows after the edits; numbers of segments are taken modulo those there are.
pub fn windows(edits: &[Edit]) -> (Window, Naive) {
    let (window, naive, _) = windows_and_recalls(edits);
    (window, naive)
}

/// What an addition recalled, beside what the naive window would have.
#[derive(Debug)]
pub struct Recalled {
    pub recalls: Vec<Recall>,
    pub expected: Vec<SegmentIndex>,
}

pub fn windows_and_recalls(edits: &[Edit]) -> (Window, Naive, Vec<Recalled>) {
    let mut window = Window::default();
    let mut naive = Naive::default();
    let mut recalls = Vec::new();
    for edit in edits {
        let count = naive.states.len() as u32;
        if let Edit::Add(told) = edit {
            let expected = naive.recalls(told);
            recalls.push(Recalled { recalls: window.add(&told.segment()).recalls, expected });
            naive.add(told);
        } else if count > 0 {
            apply(edit, &mut window, &mut naive, |number| SegmentIndex(number % count));
        }
    }
    naive.recount();
    (window, naive, recalls)
}

fn apply(edit: &Edit, window: &mut Window, naive: &mut Naive, pick: impl Fn(u32) -> SegmentIndex) {
    match edit {
        Edit::Add(_) => unreachable!("additions need no other segment"),
        Edit::Touch { segment, now } => {
            window.touch(pick(*segment), *now);
            naive.touch(pick(*segment), *now);
        }
        Edit::Pin { segment, is_pinned } => {
            window.set_pinned(pick(*segment), *is_pinned);
            naive.facts[pick(*segment).0 as usize].is_pinned = *is_pinned;
        }
        Edit::Stash { segment, at } => {
            window.stash(pick(*segment), *at);
            naive.states[pick(*segment).0 as usize] = SegmentState::Stashed;
            naive.facts[pick(*segment).0 as usize].stashed_at = Some(*at);
        }
        Edit::Restore { segment, now } => {
            window.restore(pick(*segment), *now);
            naive.states[pick(*segment).0 as usize] = SegmentState::Active;
            naive.facts[pick(*segment).0 as usize].stashed_at = None;
            naive.facts[pick(*segment).0 as usize].entered_collection = naive.collections;
            naive.touch(pick(*segment), *now);
        }
        Edit::Delete { segment } => {
            window.delete(pick(*segment));
            naive.states[pick(*segment).0 as usize] = SegmentState::Deleted;
        }
        Edit::Collect => {
            window.count_collection();
            naive.collections += 1;
        }
    }
}

/// The window as it is loaded: every addition again, then what is stored about each segment.
pub fn replayed(naive: &Naive) -> Window {
    let mut window = Window::default();
    for told in &naive.told {
        window.add(&told.segment());
    }
    window.set_collections(naive.collections);
    for segment in naive.all() {
        let stored = &naive.facts[segment.0 as usize];
        window.set_state(segment, naive.states[segment.0 as usize], stored.stashed_at);
        window.set_pinned(segment, stored.is_pinned);
        window.set_entered_collection(segment, stored.entered_collection);
        window.touch(segment, naive.last_explicit_touch(segment));
    }
    window
}
