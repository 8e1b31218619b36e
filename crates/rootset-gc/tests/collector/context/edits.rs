//! Random edits, carried out on a window and on the naive one. Numbers are small, so that everything meets everything.

use proptest::prelude::*;
use rootset_gc::context::{
    Facts, Focus, Generation, Hub, Now, ReferenceKind, SegmentIndex, SegmentState, SegmentType, Window,
};
use rootset_model::Timestamp;

use super::naive::Naive;

pub const NOW: Now = Now { step: 100, at: Timestamp(100) };
pub const HUBS: u32 = 3;
pub const KEYS: u64 = 8;

#[derive(Clone, Debug)]
pub enum Edit {
    Add { facts: Facts, keys: Vec<u64> },
    Refer { from: u32, to: u32, kind: ReferenceKind },
    Join { segment: u32, hub: u32 },
    Touch { segment: u32, now: Now },
    Stash { segment: u32, at: Timestamp },
    Restore { segment: u32, now: Now },
    Delete { segment: u32 },
}

pub fn edits(most: usize) -> impl Strategy<Value = Vec<Edit>> {
    let segment = || any::<u32>();
    let kind = prop_oneof![
        4 => Just(ReferenceKind::Explicit),
        4 => Just(ReferenceKind::Implicit),
        1 => Just(ReferenceKind::Pair),
    ];
    let edit = prop_oneof![
        6 => (facts(), prop::collection::vec(0..KEYS, 0..5)).prop_map(|(facts, keys)| Edit::Add { facts, keys }),
        10 => (segment(), segment(), kind).prop_map(|(from, to, kind)| Edit::Refer { from, to, kind }),
        1 => (segment(), 0..HUBS).prop_map(|(segment, hub)| Edit::Join { segment, hub }),
        1 => (segment(), now()).prop_map(|(segment, now)| Edit::Touch { segment, now }),
        3 => (segment(), 0..100_i64).prop_map(|(segment, at)| Edit::Stash { segment, at: Timestamp(at) }),
        2 => (segment(), now()).prop_map(|(segment, now)| Edit::Restore { segment, now }),
        1 => segment().prop_map(|segment| Edit::Delete { segment }),
    ];
    prop::collection::vec(edit, 0..=most)
}

/// Some of it after [`NOW`].
fn now() -> impl Strategy<Value = Now> {
    (0..120_u64, -20..120_i64).prop_map(|(step, at)| Now { step, at: Timestamp(at) })
}

fn facts() -> impl Strategy<Value = Facts> {
    let rarely = || prop::bool::weighted(0.05);
    let flags = (rarely(), rarely(), rarely(), prop::bool::ANY, prop::bool::ANY);
    let name = || proptest::option::weighted(0.5, 0..3_u64);
    let segment_type = prop::sample::select(SegmentType::ALL.to_vec());
    (segment_type, 0..50_u32, now(), flags, 0..3_u32, name(), name()).prop_map(
        |(segment_type, tokens, now, flags, survival_count, task, file)| Facts {
            is_system: flags.0,
            is_invariant: flags.1,
            is_pinned: flags.2,
            is_superseded: flags.3,
            generation: if flags.4 { Generation::Old } else { Generation::Young },
            survival_count,
            task,
            file,
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
    let mut window = Window::default();
    let mut naive = Naive::default();
    for _ in 0..HUBS {
        window.add_hub();
    }
    for edit in edits {
        let count = naive.states.len() as u32;
        if count > 0 || matches!(edit, Edit::Add { .. }) {
            apply(edit, &mut window, &mut naive, |number| SegmentIndex(number % count));
        }
    }
    (window, naive)
}

fn apply(edit: &Edit, window: &mut Window, naive: &mut Naive, pick: impl Fn(u32) -> SegmentIndex) {
    match edit {
        Edit::Add { facts, keys } => {
            window.add(*facts, keys);
            naive.add(*facts, keys);
        }
        Edit::Refer { from, to, kind } => {
            window.refer(pick(*from), pick(*to), *kind);
            naive.references.push((pick(*from), pick(*to), *kind));
        }
        Edit::Join { segment, hub } => {
            window.join(pick(*segment), Hub(*hub));
            naive.members.insert((pick(*segment), *hub));
        }
        Edit::Touch { segment, now } => {
            window.touch(pick(*segment), *now);
            naive.touch(pick(*segment), *now);
        }
        Edit::Stash { segment, at } => {
            window.stash(pick(*segment), *at);
            naive.states[pick(*segment).0 as usize] = SegmentState::Stashed;
        }
        Edit::Restore { segment, now } => {
            window.restore(pick(*segment), *now);
            naive.states[pick(*segment).0 as usize] = SegmentState::Active;
            naive.facts[pick(*segment).0 as usize].survival_count = 0;
            naive.touch(pick(*segment), *now);
        }
        Edit::Delete { segment } => {
            window.delete(pick(*segment));
            naive.states[pick(*segment).0 as usize] = SegmentState::Deleted;
        }
    }
}
