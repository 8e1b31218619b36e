use super::{MINUTE_MS, NOW, add, analysis, candidates, facts, no_focus, pair, pinned, refer, world};
use crate::context::{
    Author, Facts, Focus, Lines, NewSegment, Now, Population, RootKind, Scoring, SegmentIndex, SegmentType, Window,
    analyse, find_roots,
};
use rootset_model::Timestamp;

fn kinds(window: &Window, focus: &Focus) -> Vec<Option<RootKind>> {
    let roots = find_roots(window, focus, NOW, Population::Active);
    (0..window.graph().len() as u32).map(|index| roots.kind(SegmentIndex(index))).collect()
}

fn decided(minutes_ago: i64) -> Facts {
    let at = Timestamp(NOW.at.0 - minutes_ago * MINUTE_MS);
    Facts::new(SegmentType::Decision, 100, Now { step: 1, at })
}

#[test]
fn without_roots_nothing_is_a_candidate() {
    let (window, _) = world([facts(SegmentType::Log), facts(SegmentType::Log)]);
    assert!(candidates(&analysis(&window)).is_empty());
    assert!(analysis(&window).roots.is_empty());
}

#[test]
fn system_and_invariant_segments_are_roots() {
    let system = Facts { author: Author::System, ..facts(SegmentType::Message) };
    let invariant = Facts { is_invariant: true, ..facts(SegmentType::Note) };
    let (window, _) = world([system, invariant, facts(SegmentType::Note)]);
    assert_eq!(kinds(&window, &no_focus()), [Some(RootKind::System), Some(RootKind::Invariant), None]);
}

#[test]
fn segments_of_the_current_task_are_roots() {
    let of_task = |task| Facts { task, ..facts(SegmentType::Message) };
    let (window, _) = world([of_task(Some(7)), of_task(Some(8)), of_task(None)]);
    assert_eq!(kinds(&window, &Focus { task: Some(7), ..no_focus() }), [Some(RootKind::Task), None, None]);
    assert_eq!(kinds(&window, &no_focus()), [None; 3]);
}

#[test]
fn segments_of_the_active_file_are_roots_and_overlapping_ones_come_first() {
    let view = |file, lines: Option<(u32, u32)>| Facts {
        file,
        lines: lines.map(|(first, last)| Lines { first, last }),
        ..facts(SegmentType::Code)
    };
    let (window, segments) = world([
        view(Some(7), Some((50, 60))),
        view(Some(7), Some((1, 10))),
        view(Some(7), None),
        view(Some(8), Some((1, 10))),
        view(None, None),
    ]);
    let file = Focus { file: Some(7), ..no_focus() };
    let all = Some(RootKind::ActiveFile);
    assert_eq!(kinds(&window, &file), [all, all, all, None, None]);
    let lines = Focus { lines: Some(Lines { first: 10, last: 20 }), ..file };
    let overlapping = Some(RootKind::ActiveLines);
    assert_eq!(kinds(&window, &lines), [all, overlapping, overlapping, None, None]);
    let roots = find_roots(&window, &lines, NOW, Population::Active);
    assert_eq!(roots.segments(), [segments[1], segments[2], segments[0]]);
}

#[test]
fn the_tenth_segment_from_the_end_is_a_root_and_the_eleventh_is_not() {
    let steps = (1..=15).map(|step| Facts { created_step: step, ..facts(SegmentType::Log) });
    let (mut window, segments) = world(steps);
    let is_root = |window: &Window| kinds(window, &Focus::default()).iter().map(Option::is_some).collect::<Vec<_>>();
    assert_eq!(is_root(&window), [[false; 5].as_slice(), &[true; 10]].concat());
    // Those that left have no place.
    window.stash(segments[14], NOW.at);
    assert_eq!(is_root(&window), [[false; 4].as_slice(), &[true; 10], &[false]].concat());
    // What stands in the place of an old one is not among the last, however late it was added.
    add(&mut window, Facts { created_step: 2, ..facts(SegmentType::Summary) }, &[]);
    assert_eq!(is_root(&window), [[false; 4].as_slice(), &[true; 10], &[false; 2]].concat());
}

#[test]
fn a_decision_of_59_minutes_is_a_root_and_one_of_61_is_not() {
    let note = Facts { segment_type: SegmentType::Note, ..decided(1) };
    let (window, _) = world([decided(59), decided(61), decided(-5), note]);
    let recent = Some(RootKind::RecentDecision);
    assert_eq!(kinds(&window, &no_focus()), [recent, None, recent, None]);
}

#[test]
fn what_is_paired_with_a_root_is_a_root_through_any_number_of_pairs() {
    let (mut window, _) = world([
        facts(SegmentType::Message),
        facts(SegmentType::Log),
        pinned(SegmentType::Log),
        facts(SegmentType::Log),
    ]);
    pair(&mut window, 0, 1);
    pair(&mut window, 0, 2);
    let paired = Some(RootKind::Paired);
    assert_eq!(kinds(&window, &no_focus()), [paired, paired, Some(RootKind::Pinned), None]);
    assert_eq!(candidates(&analysis(&window)), [3]);
}

#[test]
fn pins_and_what_is_paired_with_them_are_never_candidates_and_what_they_refer_to_is_reachable() {
    let (mut window, _) = world([
        facts(SegmentType::Log),
        pinned(SegmentType::Message),
        facts(SegmentType::Log),
        facts(SegmentType::Log),
    ]);
    pair(&mut window, 1, 2);
    refer(&mut window, &[(1, 0)]);
    let analysis = analysis(&window);
    let reach: Vec<(u32, bool)> = analysis.candidates.iter().map(|it| (it.segment.0, it.is_reachable)).collect();
    assert_eq!(reach, [(0, true), (3, false)]);
}

#[test]
fn all_kinds_of_roots_hold_together() {
    let mut all = vec![
        Facts { author: Author::System, ..facts(SegmentType::Message) },
        Facts { is_invariant: true, ..facts(SegmentType::Note) },
        pinned(SegmentType::Log),
        Facts { task: Some(1), ..facts(SegmentType::Message) },
        Facts { file: Some(2), ..facts(SegmentType::Code) },
        decided(59),
        decided(61),
        facts(SegmentType::Log),
    ];
    all.extend((0..10).map(|step| Facts { created_step: 100 + step, ..facts(SegmentType::Log) }));
    let (window, _) = world(all);
    let focus = Focus { task: Some(1), file: Some(2), ..Focus::default() };
    let analysis = analyse(&window, &focus, NOW, &Scoring::default());
    assert_eq!(candidates(&analysis), [6, 7]);
    assert_eq!(analysis.roots.segments().len(), 16);
}

fn said(author: Author, tokens: u32, step: u64) -> Facts {
    Facts { author, tokens, created_step: step, ..facts(SegmentType::Message) }
}

#[test]
fn what_the_user_said_since_the_last_task_was_finished_is_a_root() {
    let (user, assistant, tool) = (Author::User, Author::Assistant, Author::Tool);
    let mut window = Window::default();
    let mut step = 0;
    let mut add = |window: &mut Window, author, call: Option<u64>| {
        step += 1;
        let new = NewSegment { pair: call, ..NewSegment::new(step, said(author, 100, step)) };
        window.add(&new).segment
    };
    let first = add(&mut window, user, None);
    add(&mut window, assistant, None);
    let task = add(&mut window, user, None);
    let call = add(&mut window, assistant, Some(7));
    let result = add(&mut window, tool, Some(7));
    let correction = add(&mut window, user, None);
    let roots = |window: &Window| find_roots(window, &no_focus(), NOW, Population::Active);
    let instruction = Some(RootKind::Instruction);
    let of = |window: &Window, segment| roots(window).kind(segment);
    assert_eq!([of(&window, task), of(&window, correction)], [instruction; 2]);
    assert_eq!([of(&window, call), of(&window, result)], [None; 2]);
    // As long as it is, the first is more than its part of so small a window.
    assert_eq!(of(&window, first), None);
    for _ in 0..15 {
        add(&mut window, tool, None);
    }
    assert_eq!(of(&window, first), instruction);
    add(&mut window, assistant, None);
    let next = add(&mut window, user, None);
    assert_eq!([of(&window, task), of(&window, correction), of(&window, next)], [None, None, instruction]);
    window.stash(next, NOW.at);
    assert_eq!(of(&window, next), None);
}

#[test]
fn a_pinned_instruction_is_told_as_pinned() {
    let (window, segments) = world([Facts { is_pinned: true, ..said(Author::User, 100, 1) }]);
    assert_eq!(find_roots(&window, &no_focus(), NOW, Population::Active).kind(segments[0]), Some(RootKind::Pinned));
}
