use super::{DAY_MS, NOW, add, analysis, facts, no_focus, refer, world};
use crate::context::{
    Author, Facts, Focus, Generation, Lines, NewSegment, Now, Parts, Scoring, SegmentIndex, SegmentType, Weights,
    Window, parts,
};
use rootset_model::Timestamp;

fn score(window: &Window, segment: SegmentIndex) -> f64 {
    parts_of(window, segment, NOW).score()
}

fn parts_of(window: &Window, segment: SegmentIndex, now: Now) -> Parts {
    parts(window, &no_focus(), segment, now, &Scoring::default())
}

#[track_caller]
fn assert_first_leaves_first<const N: usize>(twins_and_others: [Facts; N]) {
    let (window, segments) = world(twins_and_others);
    let (first, second) = (score(&window, segments[0]), score(&window, segments[1]));
    assert!(first > second, "{first} is not above {second}");
}

#[test]
fn types_leave_in_their_order_when_equally_idle() {
    let order = [
        SegmentType::Log,
        SegmentType::Code,
        SegmentType::Message,
        SegmentType::Note,
        SegmentType::Summary,
        SegmentType::Decision,
    ];
    for pair in order.windows(2) {
        assert_first_leaves_first([facts(pair[0]), facts(pair[1])]);
    }
}

#[test]
fn a_referenced_segment_scores_below_an_unreferenced_twin() {
    let (mut window, segments) = world([facts(SegmentType::Code), facts(SegmentType::Code), facts(SegmentType::Log)]);
    refer(&mut window, &[(2, 1)]);
    assert!(score(&window, segments[0]) > score(&window, segments[1]));
}

#[test]
fn a_member_of_a_living_hub_scores_below_a_twin_without_and_above_one_that_is_referred_to() {
    let mut window = Window::default();
    let hubs = |id| if id < 2 { &[][..] } else { &[7] };
    let add = |id| {
        let segment = NewSegment { hubs: hubs(id), ..NewSegment::new(id, facts(SegmentType::Code)) };
        window.add(&segment).segment
    };
    let segments: Vec<SegmentIndex> = (0..20).map(add).collect();
    refer(&mut window, &[(19, 1)]);
    assert!(score(&window, segments[0]) > score(&window, segments[2]));
    assert!(score(&window, segments[2]) > score(&window, segments[1]));
}

#[test]
fn a_survivor_scores_below_a_newcomer_and_an_old_one_below_both() {
    let entered = |entered_collection| Facts { entered_collection, ..facts(SegmentType::Code) };
    let (mut window, segments) = world([entered(2), entered(1), entered(0)]);
    window.count_collection();
    window.count_collection();
    let generations = [Generation::Young, Generation::Young, Generation::Old];
    assert_eq!([0, 1, 2].map(|it| window.survival_count(segments[it])), [0, 1, 2]);
    assert_eq!([0, 1, 2].map(|it| window.generation(segments[it])), generations);
    let scores = [0, 1, 2].map(|it| score(&window, segments[it]));
    assert!(scores[0] > scores[1] && scores[1] > scores[2], "{scores:?}");
}

#[test]
fn the_only_holder_of_an_identifier_scores_below_a_twin_whose_words_are_held_elsewhere() {
    let mut window = Window::default();
    let sole = add(&mut window, facts(SegmentType::Code), &[1, 2]);
    let shared = add(&mut window, facts(SegmentType::Code), &[2, 3]);
    let third = add(&mut window, facts(SegmentType::Code), &[3]);
    assert_eq!([sole, shared, third].map(|it| window.holders().sole_count(it)), [1, 0, 0]);
    assert!(score(&window, shared) > score(&window, sole));
    // When the others leave, it is the last holder; when they return, it is not.
    window.stash(third, NOW.at);
    assert_eq!(window.holders().sole_count(shared), 1);
    window.stash(sole, NOW.at);
    assert_eq!([sole, shared, third].map(|it| window.holders().sole_count(it)), [0, 2, 0]);
    window.restore(sole, NOW);
    assert_eq!([sole, shared, third].map(|it| window.holders().sole_count(it)), [1, 1, 0]);
    assert_eq!(window.holders().introduced_by(2), Some(sole));
    assert_eq!((window.holders().active_count(3), window.holders().active_count(9)), (1, 0));
    assert_eq!(window.holders().holders_of(3).collect::<Vec<_>>(), [shared, third]);
}

#[test]
fn superseded_big_and_idle_segments_leave_before_their_twins() {
    let twin = facts(SegmentType::Code);
    let view = |file| Facts { file: Some(file), lines: Some(Lines { first: 5, last: 9 }), ..twin };
    let cover = |first, last| Facts { lines: Some(Lines { first, last }), created_step: 2, ..view(1) };
    assert_first_leaves_first([view(1), view(2), cover(1, 7), cover(8, 20)]);
    assert_first_leaves_first([Facts { tokens: 5_000, ..twin }, twin]);
    assert_first_leaves_first([twin, Facts { last_touched_step: 990, ..twin }]);
    assert_first_leaves_first([twin, Facts { last_touched_at: NOW.at, ..twin }]);
}

#[test]
fn a_segment_of_an_open_file_scores_below_one_of_another_file() {
    let of_file = |file| Facts { file: Some(file), ..facts(SegmentType::Code) };
    let (window, segments) = world([of_file(1), of_file(2)]);
    let focus = Focus { warm_files: vec![2, 3], ..no_focus() };
    let score = |segment| parts(&window, &focus, segment, NOW, &Scoring::default()).score();
    assert!(score(segments[0]) > score(segments[1]));
}

#[test]
fn scores_stay_within_zero_and_one_at_any_age() {
    let ages = [i64::MIN, -100 * 365 * DAY_MS, -1, 0, 1, 100 * 365 * DAY_MS, i64::MAX];
    for segment_type in SegmentType::ALL {
        for (at, step) in ages.into_iter().flat_map(|at| [0, 1, 500, u64::MAX].map(|step| (at, step))) {
            let touched = Facts {
                last_touched_at: Timestamp(at),
                last_touched_step: step,
                tokens: u32::MAX,
                ..facts(segment_type)
            };
            let (window, segments) = world([touched]);
            for now in [NOW, Now { step: 0, at: Timestamp(i64::MIN) }, Now { step: u64::MAX, at: Timestamp(i64::MAX) }]
            {
                let parts = parts_of(&window, segments[0], now);
                let score = parts.score();
                assert!((0.0..=1.0).contains(&score), "{score}");
                assert!(parts.named().iter().all(|(_, part)| (0.0..=1.0).contains(part)), "{parts:?}");
            }
        }
    }
}

#[test]
fn what_was_touched_in_the_future_is_not_idle() {
    let touched =
        Facts { last_touched_step: 2_000, last_touched_at: Timestamp(NOW.at.0 + DAY_MS), ..facts(SegmentType::Log) };
    let (window, segments) = world([touched]);
    assert_eq!(parts_of(&window, segments[0], NOW).idle, 0.0);
}

const NOTHING: Weights = Weights {
    idle: 0.0,
    segment_type: 0.0,
    references: 0.0,
    generation: 0.0,
    superseded: 0.0,
    sole_holder: 0.0,
    view: 0.0,
    size: 0.0,
    focus: 0.0,
    words: 0.0,
};

#[test]
fn weights_that_are_no_weights_count_as_none_and_huge_ones_stay_finite() {
    let mut window = Window::default();
    let segment = add(&mut window, Facts { file: Some(1), ..facts(SegmentType::Decision) }, &[1, 2]);
    let score = |weights| {
        let scoring = Scoring { weights, half_life_steps: 0, half_life_ms: i64::MIN };
        parts(&window, &no_focus(), segment, NOW, &scoring).score()
    };
    let bad = Weights { idle: f64::NAN, segment_type: -1.0, sole_holder: f64::NEG_INFINITY, ..NOTHING };
    assert_eq!((score(NOTHING), score(bad)), (1.0, 1.0));
    let huge = [f64::INFINITY, f64::MAX].map(|it| Weights {
        idle: it,
        segment_type: it,
        references: it,
        generation: it,
        superseded: it,
        sole_holder: it,
        view: it,
        size: it,
        focus: it,
        words: it,
    });
    for weights in huge {
        assert!((0.0..=1.0).contains(&score(weights)), "{}", score(weights));
    }
}

#[test]
fn each_weight_turns_its_part_off() {
    let view = |file, step| Facts {
        file: Some(file),
        lines: Some(Lines { first: 1, last: 9 }),
        ..Facts::new(SegmentType::Code, 100, Now { step, at: NOW.at })
    };
    let mut window = Window::default();
    let plain = add(&mut window, facts(SegmentType::Log), &[]);
    let superseded = add(&mut window, view(1, 990), &[]);
    let decision = add(&mut window, Facts { tokens: 900, ..facts(SegmentType::Decision) }, &[1, 2]);
    let shown = add(&mut window, Facts { entered_collection: 3, ..view(1, 991) }, &[]);
    window.set_collections(3);
    refer(&mut window, &[(0, 2)]);
    let focus = Focus { warm_files: vec![1], ..no_focus() };
    let score =
        |segment, weights| parts(&window, &focus, segment, NOW, &Scoring { weights, ..Scoring::default() }).score();
    let of = |weights| [plain, superseded, decision, shown].map(|it| score(it, weights));
    let with_idle = Weights { idle: 1.0, ..NOTHING };
    let base = of(with_idle);
    let differs = |weights: Weights| {
        let changed = of(weights);
        [0, 1, 2, 3].map(|place| changed[place] != base[place])
    };
    assert_eq!(of(NOTHING), [1.0; 4]);
    assert_eq!(differs(Weights { segment_type: 1.0, ..with_idle }), [false, true, true, true]);
    assert_eq!(differs(Weights { references: 1.0, ..with_idle }), [false, true, true, false]);
    assert_eq!(differs(Weights { generation: 1.0, ..with_idle }), [true, true, true, false]);
    assert_eq!(differs(Weights { superseded: 1.0, ..with_idle }), [true, false, true, true]);
    assert_eq!(differs(Weights { sole_holder: 1.0, ..with_idle }), [false, false, true, false]);
    assert_eq!(differs(Weights { view: 1.0, ..with_idle }), [false, false, false, true]);
    assert_eq!(differs(Weights { size: 1.0, ..with_idle }), [true; 4]);
    assert_eq!(differs(Weights { focus: 1.0, ..with_idle }), [false, true, false, true]);
    assert_eq!(differs(Weights { words: 1.0, ..with_idle }), [false, true, false, true]);
}

#[test]
fn what_the_assistant_uses_is_dearer_and_what_everybody_names_is_worth_nothing() {
    let mut window = Window::default();
    let said = |author| Facts { author, ..facts(SegmentType::Message) };
    let unused = add(&mut window, said(Author::Tool), &[1]);
    let used = add(&mut window, said(Author::Tool), &[2]);
    let reused = add(&mut window, said(Author::Tool), &[3]);
    let common = add(&mut window, said(Author::Tool), &[4]);
    let nothing = add(&mut window, said(Author::Tool), &[]);
    for (name, times) in [(2, 1), (3, 2), (4, 8)] {
        for _ in 0..times {
            let using = add(&mut window, said(Author::Assistant), &[name]);
            window.delete(using);
        }
    }
    let scores = [common, unused, used, reused].map(|it| parts_of(&window, it, NOW).sole_holder);
    assert!(scores.is_sorted_by(|a, b| a > b), "{scores:?}");
    assert_eq!(scores[0], parts_of(&window, nothing, NOW).sole_holder);
}

#[test]
fn names_and_views_from_before_the_user_asked_are_worth_less() {
    let at = |step| Now { step, at: NOW.at };
    let view = |file, step| Facts { file: Some(file), ..Facts::new(SegmentType::Code, 100, at(step)) };
    let mut window = Window::default();
    let earlier = add(&mut window, view(1, 900), &[1]);
    let ask = Facts { author: Author::User, ..Facts::new(SegmentType::Message, 10, at(901)) };
    add(&mut window, ask, &[]);
    let other = add(&mut window, view(2, 902), &[2]);
    let latest = add(&mut window, view(3, 902), &[3]);
    let parts = |window: &Window, segment| parts_of(window, segment, NOW);
    assert_eq!(parts(&window, earlier).view, 1.0);
    assert!(parts(&window, other).view > parts(&window, latest).view);
    assert!(parts(&window, earlier).sole_holder > parts(&window, other).sole_holder + 0.01);
    // A summary in the place of what was asked does not ask again.
    add(&mut window, Facts { segment_type: SegmentType::Summary, ..ask }, &[]);
    assert!(parts(&window, latest).view < 1.0);
    // Who is brought back belongs to the present.
    window.stash(earlier, NOW.at);
    window.restore(earlier, at(950));
    assert!(parts(&window, earlier).view < 1.0);
    assert!(parts(&window, earlier).sole_holder < parts(&window, other).sole_holder);
}

#[test]
fn the_assistants_fresh_words_are_dearer_than_a_results_and_only_while_they_are_asked_for() {
    let at = |step| Now { step, at: NOW.at };
    let said = |author, step| Facts { author, ..Facts::new(SegmentType::Message, 100, at(step)) };
    let mut window = Window::default();
    let earlier = add(&mut window, said(Author::Assistant, 989), &[]);
    add(&mut window, said(Author::User, 990), &[]);
    let result = add(&mut window, said(Author::Tool, 991), &[]);
    let own = add(&mut window, said(Author::Assistant, 991), &[]);
    let words = [earlier, result, own].map(|segment| parts_of(&window, segment, NOW).words);
    assert!(words[0] == 1.0 && words.is_sorted_by(|a, b| a > b), "{words:?}");
    // By its length: a long script is no dearer and no cheaper per token than a short one.
    let long = add(&mut window, Facts { tokens: 5_000, ..said(Author::Assistant, 991) }, &[]);
    let short = add(&mut window, said(Author::Assistant, 991), &[]);
    let alone = Scoring { weights: Weights { words: 1.0, size: 1.0, ..NOTHING }, ..Scoring::default() };
    let [long, short] = [long, short].map(|segment| parts(&window, &no_focus(), segment, NOW, &alone).score());
    assert!((long - short).abs() < 1e-12, "{long} {short}");
}

#[test]
fn ties_break_by_older_first() {
    let log = |step| Facts { created_step: step, ..facts(SegmentType::Log) };
    let (window, _) = world([super::pinned(SegmentType::Note), log(3), log(2), log(3), facts(SegmentType::Decision)]);
    let ranked: Vec<u32> = analysis(&window).first_candidates(4).iter().map(|it| it.segment.0).collect();
    assert_eq!(ranked, [2, 1, 3, 4]);
    let first: Vec<u32> = analysis(&window).first_candidates(2).iter().map(|it| it.segment.0).collect();
    assert_eq!(first, [2, 1]);
}

#[test]
fn settings_that_are_not_given_are_the_shipped_ones_and_unknown_ones_are_refused() {
    let given: Scoring = serde_json::from_str(r#"{"weights": {"type": 0.5}, "half_life_steps": 8}"#).unwrap();
    let weights = Weights { segment_type: 0.5, ..Weights::default() };
    assert_eq!(given, Scoring { weights, half_life_steps: 8, ..Scoring::default() });
    assert!(serde_json::from_str::<Weights>(r#"{"segment_type": 1}"#).is_err());
    // Parts and weights have the same names.
    let told: Vec<String> = match serde_json::to_value(Weights::default()).unwrap() {
        serde_json::Value::Object(weights) => weights.into_iter().map(|(name, _)| name).collect(),
        other => panic!("{other} is no object"),
    };
    let (window, segments) = world([facts(SegmentType::Log)]);
    assert_eq!(parts_of(&window, segments[0], NOW).named().map(|(name, _)| name).to_vec(), told);
}
