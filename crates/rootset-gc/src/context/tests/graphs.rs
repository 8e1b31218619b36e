use super::{analysis, candidates, facts, pair, pinned, refer, world};
use crate::context::{
    Marks, NewSegment, Population, ReferenceKind, SegmentIndex, SegmentType, Window, mark, path_from_root,
    retained_tokens,
};
use rootset_model::Timestamp;

fn marked(window: &Window, roots: &[u32]) -> (Marks, Vec<u32>) {
    let roots: Vec<SegmentIndex> = roots.iter().copied().map(SegmentIndex).collect();
    let marks = mark(window.graph(), &roots, Population::Active);
    let reached = (0..window.graph().len() as u32).filter(|index| marks.is_reachable(SegmentIndex(*index))).collect();
    (marks, reached)
}

fn messages(count: usize) -> Window {
    world(std::iter::repeat_n(facts(SegmentType::Message), count)).0
}

#[test]
fn what_roots_refer_to_is_reachable_and_the_rest_is_not() {
    let mut window = messages(7);
    refer(&mut window, &[(1, 2), (1, 3), (2, 4), (5, 6)]);
    let (marks, reached) = marked(&window, &[1]);
    assert_eq!(reached, [1, 2, 3, 4]);
    assert_eq!(marks.count(), 4);
}

#[test]
fn marking_a_cycle_ends() {
    let mut window = messages(5);
    refer(&mut window, &[(1, 2), (2, 3), (3, 2)]);
    assert_eq!(marked(&window, &[1]).1, [1, 2, 3]);
}

#[test]
fn a_chain_of_a_hundred_thousand_needs_no_stack() {
    let mut window = messages(100_000);
    for index in 1..100_000 {
        refer(&mut window, &[(index, index - 1)]);
    }
    let last = SegmentIndex(99_999);
    assert_eq!(marked(&window, &[last.0]).0.count(), 100_000);
    assert_eq!(retained_tokens(&window, &[last])[last.0 as usize], 100 * 100_000);
    let path = path_from_root(window.graph(), &[last], SegmentIndex(0)).expect("it is at the end of the chain");
    assert_eq!(path.len(), 100_000);
}

#[test]
fn what_has_left_the_window_is_not_passed_through() {
    let mut window = messages(3);
    refer(&mut window, &[(0, 1), (1, 2)]);
    window.stash(SegmentIndex(1), Timestamp(0));
    assert_eq!(marked(&window, &[0]).1, [0]);
    let marks = mark(window.graph(), &[SegmentIndex(0)], Population::ActiveAndStashed);
    assert_eq!(marks.count(), 3);
}

#[test]
fn a_hub_makes_nobody_reach_anybody() {
    let mut window = Window::default();
    let all = [pinned(SegmentType::Note), facts(SegmentType::Log), facts(SegmentType::Log)];
    let segments: Vec<SegmentIndex> = (1..)
        .zip(all)
        .map(|(id, facts)| window.add(&NewSegment { hubs: &[7, 7], ..NewSegment::new(id, facts) }).segment)
        .collect();
    let analysis = analysis(&window);
    assert_eq!(candidates(&analysis), [1, 2]);
    assert!(analysis.candidates.iter().all(|candidate| !candidate.is_reachable));
    assert_eq!(window.graph().companions(segments[1]), 2);
    window.stash(segments[0], Timestamp(0));
    assert_eq!(window.graph().companions(segments[1]), 1);
    assert_eq!(window.graph().companions(segments[0]), 2);
}

#[test]
fn one_reference_counts_once_and_the_strongest_kind_stays() {
    let mut window = messages(2);
    let (earlier, later) = (SegmentIndex(0), SegmentIndex(1));
    window.refer(later, earlier, ReferenceKind::Implicit);
    window.refer(later, earlier, ReferenceKind::Explicit);
    window.refer(later, earlier, ReferenceKind::Implicit);
    window.refer(later, later, ReferenceKind::Explicit);
    let references: Vec<_> = window.graph().references_of(later).collect();
    assert_eq!(references, [(earlier, ReferenceKind::Explicit)]);
    assert_eq!(window.graph().refcount(earlier), 1);
    pair(&mut window, 1, 0);
    assert_eq!((window.graph().refcount(earlier), window.graph().refcount_from_others(earlier)), (1, 0));
    assert_eq!((window.graph().refcount(later), window.graph().refcount_from_others(later)), (1, 0));
}

#[test]
fn references_of_segments_that_left_do_not_count_until_they_are_back() {
    let mut window = messages(2);
    refer(&mut window, &[(1, 0)]);
    window.stash(SegmentIndex(1), Timestamp(0));
    assert_eq!(window.graph().refcount(SegmentIndex(0)), 0);
    assert_eq!(window.tokens(), 100);
    window.stash(SegmentIndex(1), Timestamp(0));
    window.restore(SegmentIndex(1), super::NOW);
    assert_eq!(window.graph().refcount(SegmentIndex(0)), 1);
    assert_eq!(window.tokens(), 200);
    // Told while the referrer is away, a reference counts from its return on.
    window.stash(SegmentIndex(0), Timestamp(0));
    refer(&mut window, &[(0, 1)]);
    assert_eq!(window.graph().refcount(SegmentIndex(1)), 0);
    window.restore(SegmentIndex(0), super::NOW);
    assert_eq!(window.graph().refcount(SegmentIndex(1)), 1);
}

#[test]
fn the_path_that_keeps_a_segment_is_a_shortest_one_from_a_root() {
    let mut window = messages(6);
    refer(&mut window, &[(0, 1), (1, 2), (2, 3), (4, 3)]);
    let path = |roots: &[u32], to| {
        let roots: Vec<SegmentIndex> = roots.iter().copied().map(SegmentIndex).collect();
        path_from_root(window.graph(), &roots, SegmentIndex(to))
    };
    assert_eq!(path(&[0], 3), Some([0, 1, 2, 3].map(SegmentIndex).to_vec()));
    assert_eq!(path(&[0, 4], 3), Some([4, 3].map(SegmentIndex).to_vec()));
    assert_eq!(path(&[4], 4), Some(vec![SegmentIndex(4)]));
    assert_eq!(path(&[0], 5), None);
}

#[test]
fn retained_tokens_are_those_of_what_only_one_segment_keeps() {
    let mut window = messages(6);
    // Two ways to 3, one way to 4; 5 is out of reach.
    refer(&mut window, &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (5, 4)]);
    assert_eq!(retained_tokens(&window, &[SegmentIndex(0)]), [500, 100, 100, 200, 100, 0]);
    assert_eq!(retained_tokens(&window, &[SegmentIndex(0), SegmentIndex(3)]), [300, 100, 100, 200, 100, 0]);
    assert_eq!(retained_tokens(&window, &[]), [0; 6]);
}
