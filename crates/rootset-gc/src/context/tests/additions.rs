use super::{NOW, add, facts, world};
use crate::context::{
    Author, Facts, Lines, NewSegment, Now, Recall, RecallCause, ReferenceKind, SegmentIndex, SegmentState, SegmentType,
    Window,
};
use rootset_model::Timestamp;

fn view(file: u64, first: u32, last: u32) -> Facts {
    Facts { file: Some(file), lines: Some(Lines { first, last }), ..facts(SegmentType::Code) }
}

fn references(window: &Window, segment: SegmentIndex) -> Vec<(u32, ReferenceKind)> {
    window.graph().references_of(segment).map(|(to, kind)| (to.0, kind)).collect()
}

fn implicit(window: &Window, segment: SegmentIndex) -> Vec<u32> {
    let references = references(window, segment).into_iter();
    references.filter(|(_, kind)| *kind == ReferenceKind::Implicit).map(|(to, _)| to).collect()
}

#[test]
fn references_to_ids_that_are_still_to_come_bind_when_they_arrive() {
    let mut window = Window::default();
    let early = window.add(&NewSegment { references: &[7, 7, 1], ..NewSegment::new(1, facts(SegmentType::Note)) });
    assert_eq!(window.index_of(7), None);
    assert!(references(&window, early.segment).is_empty(), "nobody refers to himself");
    let late = window.add(&NewSegment::new(7, facts(SegmentType::Note))).segment;
    assert_eq!(window.index_of(7), Some(late));
    assert_eq!(references(&window, early.segment), [(late.0, ReferenceKind::Explicit)]);
    assert_eq!(window.graph().refcount(late), 1);
}

#[test]
fn additions_touch_whom_they_refer_to_and_never_lower_recency() {
    let at = |step| Now { step, at: Timestamp(step as i64 * 10) };
    let mut window = Window::default();
    let note = |id, step| NewSegment::new(id, Facts::new(SegmentType::Note, 1, at(step)));
    let first = window.add(&note(1, 1)).segment;
    let touched = |window: &Window| (window.facts(first).last_touched_step, window.facts(first).last_touched_at.0);
    window.stash(first, NOW.at);
    window.add(&NewSegment { references: &[1], ..note(2, 5) });
    assert_eq!(touched(&window), (5, 50), "whatever its state");
    window.add(&NewSegment { references: &[1], ..note(3, 2) });
    assert_eq!(touched(&window), (5, 50));
    window.touch(first, at(4));
    assert_eq!(touched(&window), (5, 50));
    window.touch(first, at(9));
    assert_eq!(touched(&window), (9, 90));
}

#[test]
fn a_call_and_its_results_are_paired_and_an_id_used_again_is_another_call() {
    let mut window = Window::default();
    let mut say = |id, author, call| {
        let facts = Facts { author, ..facts(SegmentType::Message) };
        window.add(&NewSegment { pair: Some(call), ..NewSegment::new(id, facts) }).segment
    };
    let (call, result, second) = (say(1, Author::Assistant, 5), say(2, Author::Tool, 5), say(3, Author::Tool, 5));
    let (again, again_result) = (say(4, Author::Assistant, 5), say(5, Author::Tool, 5));
    let (early_result, late_call) = (say(6, Author::Tool, 6), say(7, Author::Assistant, 6));
    let pairs = |segment| window.graph().pair_group(segment, crate::context::Population::Active);
    assert_eq!(pairs(second), [call, result, second]);
    assert_eq!(pairs(again), [again, again_result]);
    assert_eq!(pairs(late_call), [early_result, late_call]);
}

#[test]
fn a_view_refers_to_earlier_views_of_the_same_lines() {
    let whole_file = Facts { lines: None, ..view(1, 0, 0) };
    let about = Facts { segment_type: SegmentType::Note, ..view(1, 1, 10) };
    let (mut window, _) = world([view(1, 1, 10), view(1, 50, 60), view(2, 1, 10), whole_file, about]);
    let newer = add(&mut window, view(1, 10, 20), &[]);
    assert_eq!(implicit(&window, newer), [3, 0]);
    let about_again = add(&mut window, about, &[]);
    assert!(implicit(&window, about_again).is_empty(), "a note about a file does not show it");
}

#[test]
fn who_names_something_refers_to_who_introduced_it_unless_everybody_names_it() {
    let mut window = Window::default();
    let first = add(&mut window, facts(SegmentType::Code), &[1, 2]);
    let second = add(&mut window, facts(SegmentType::Code), &[2, 3, 3]);
    window.delete(first);
    let third = add(&mut window, facts(SegmentType::Code), &[3, 2, 1, 9]);
    assert_eq!(implicit(&window, third), [second.0, first.0], "states do not matter");
    // Seven more make ten mentions: the ninth still refers, the tenth does not.
    let more: Vec<SegmentIndex> = (0..7).map(|_| add(&mut window, facts(SegmentType::Code), &[2])).collect();
    assert_eq!(implicit(&window, more[5]), [first.0]);
    assert!(implicit(&window, more[6]).is_empty());
}

#[test]
fn the_references_of_one_addition_are_bounded_and_the_most_recent_ones_stay() {
    let (mut window, _) = world(std::iter::repeat_n(view(1, 1, 10), 10_000));
    let names: Vec<u64> = (0..100).collect();
    for name in &names {
        add(&mut window, facts(SegmentType::Log), &[*name]);
    }
    let all = add(&mut window, view(1, 1, 10), &names);
    assert_eq!(implicit(&window, all).len(), 32);
    assert!(implicit(&window, all).iter().all(|to| *to >= 10_100 - 32));
    let view = add(&mut window, view(1, 1, 10), &[]);
    assert_eq!(implicit(&window, view).len(), 32);
}

#[test]
fn newer_active_views_supersede_an_older_one_when_together_they_show_all_its_lines() {
    let (mut window, all) = world([view(1, 5, 9), view(1, 1, 6), view(1, 7, 20), view(2, 5, 9)]);
    let superseded = |window: &Window| all.iter().map(|it| window.is_superseded(*it)).collect::<Vec<_>>();
    assert_eq!(superseded(&window), [true, false, false, false]);
    window.stash(all[1], NOW.at);
    assert_eq!(superseded(&window), [false; 4]);
    window.restore(all[1], NOW);
    assert_eq!(superseded(&window), [true, false, false, false]);
    let inverted = add(&mut window, view(2, 9, 5), &[]);
    assert!(!window.is_superseded(inverted) && !window.is_superseded(all[3]));
}

#[test]
fn what_is_stashed_and_named_again_is_recalled() {
    let mut window = Window::default();
    let code = |id| NewSegment::new(id, facts(SegmentType::Code));
    let both = window.add(&NewSegment { names: &[1, 2], ..code(10) }).segment;
    let one = window.add(&NewSegment { names: &[3], ..code(11) }).segment;
    let kept = window.add(&NewSegment { names: &[4], ..code(12) }).segment;
    let by_id = window.add(&code(13)).segment;
    for segment in [both, one, by_id] {
        window.stash(segment, NOW.at);
    }
    let asking = NewSegment { names: &[4, 3, 2, 1, 9], references: &[13, 12, 99], ..code(14) };
    let expected = [
        Recall { segment: by_id, because: RecallCause::Reference },
        Recall { segment: both, because: RecallCause::Name(2) },
        Recall { segment: one, because: RecallCause::Name(3) },
    ];
    assert_eq!(window.clone().add(&asking).recalls, expected);
    window.delete(both);
    window.restore(one, NOW);
    assert_eq!(window.clone().add(&asking).recalls, expected[..1]);
    window.set_state(by_id, SegmentState::Active, None);
    window.stash(kept, NOW.at);
    let recalled = window.add(&asking).recalls;
    assert_eq!(recalled, [Recall { segment: kept, because: RecallCause::Reference }]);
}

#[test]
fn a_hundred_recalls_are_cut_to_twenty() {
    let mut window = Window::default();
    let names: Vec<u64> = (0..100).collect();
    for name in &names {
        let segment = add(&mut window, facts(SegmentType::Log), &[*name]);
        window.stash(segment, NOW.at);
    }
    let recalls = window.add(&NewSegment { names: &names, ..NewSegment::new(1, facts(SegmentType::Log)) }).recalls;
    let segments: Vec<u32> = recalls.iter().map(|it| it.segment.0).collect();
    assert_eq!(segments, (80..100).rev().collect::<Vec<u32>>());
}

#[test]
fn survivals_count_from_when_a_segment_entered() {
    let (mut window, all) = world([facts(SegmentType::Log), facts(SegmentType::Log)]);
    for _ in 0..3 {
        window.count_collection();
    }
    window.stash(all[1], NOW.at);
    assert_eq!(all.iter().map(|it| window.survival_count(*it)).collect::<Vec<_>>(), [3, 0]);
    window.restore(all[1], NOW);
    window.count_collection();
    assert_eq!(all.iter().map(|it| window.survival_count(*it)).collect::<Vec<_>>(), [4, 1]);
    assert_eq!(window.facts(all[1]).entered_collection, 3);
}
