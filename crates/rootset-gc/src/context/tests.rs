//! The cases that must hold, one by one, on windows of a few segments.

mod additions;
mod graphs;
mod plans;
mod roots;
mod scores;

use rootset_model::Timestamp;

use super::{
    Analysis, Facts, Focus, NewSegment, Now, ReferenceKind, Scoring, SegmentIndex, SegmentType, Window, analyse,
};

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;

/// Long after everything that [`world`] adds.
const NOW: Now = Now { step: 1_000, at: Timestamp(1_000 * DAY_MS) };

/// A focus that makes nothing a root.
fn no_focus() -> Focus {
    Focus { last_segments: 0, ..Focus::default() }
}

/// Idle for long, 100 tokens.
fn facts(segment_type: SegmentType) -> Facts {
    Facts::new(segment_type, 100, Now { step: 1, at: Timestamp(0) })
}

fn pinned(segment_type: SegmentType) -> Facts {
    Facts { is_pinned: true, ..facts(segment_type) }
}

fn world(segments: impl IntoIterator<Item = Facts>) -> (Window, Vec<SegmentIndex>) {
    let mut window = Window::default();
    let segments = segments.into_iter().map(|facts| add(&mut window, facts, &[])).collect();
    (window, segments)
}

/// Under an id that nobody names.
fn add(window: &mut Window, facts: Facts, names: &[u64]) -> SegmentIndex {
    let id = 1_000_000 + window.graph().len() as u64;
    window.add(&NewSegment { names, ..NewSegment::new(id, facts) }).segment
}

fn refer(window: &mut Window, references: &[(u32, u32)]) {
    for (from, to) in references {
        window.refer(SegmentIndex(*from), SegmentIndex(*to), ReferenceKind::Explicit);
    }
}

fn pair(window: &mut Window, one: u32, other: u32) {
    window.refer(SegmentIndex(one), SegmentIndex(other), ReferenceKind::Pair);
}

fn analysis(window: &Window) -> Analysis {
    analyse(window, &no_focus(), NOW, &Scoring::default())
}

fn candidates(analysis: &Analysis) -> Vec<u32> {
    analysis.candidates.iter().map(|candidate| candidate.segment.0).collect()
}
