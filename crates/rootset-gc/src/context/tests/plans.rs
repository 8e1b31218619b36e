use super::{DAY_MS, NOW, add, analysis, facts, pair, pinned, refer, world};
use crate::context::{
    EmptyPlan, Facts, Region, SegmentIndex, SegmentType, Target, Window, WindowPlan, plan as plan_for,
};
use rootset_model::Timestamp;
use rootset_model::plan::Action;

fn planned(window: &Window, tokens: u64) -> WindowPlan {
    plan_for(window, &analysis(window), Target::tokens(tokens))
}

fn segments(plan: &WindowPlan, action: Action) -> Vec<u32> {
    plan.items.iter().filter(|item| item.action == action).map(|item| item.segment.0).collect()
}

fn log(tokens: u32) -> Facts {
    Facts { tokens, ..facts(SegmentType::Log) }
}

#[test]
fn a_target_of_200_is_met_by_the_least_loss() {
    let (window, _) = world([pinned(SegmentType::Note), log(100), log(150), log(200)]);
    let plan = planned(&window, 200);
    assert_eq!(segments(&plan, Action::Stash), [3]);
    assert_eq!((plan.freed_tokens, plan.shortfall, plan.empty), (200, 0, None));
    // A decision of the right size is worth more than two logs.
    let decision = Facts { tokens: 200, ..facts(SegmentType::Decision) };
    let (window, _) = world([pinned(SegmentType::Note), log(100), log(150), decision]);
    assert_eq!(segments(&planned(&window, 200), Action::Stash), [1, 2]);
}

#[test]
fn a_target_beyond_what_may_leave_tells_the_shortfall() {
    let (window, _) = world([pinned(SegmentType::Note), log(100), log(150)]);
    let plan = planned(&window, 1_000);
    assert_eq!(segments(&plan, Action::Stash), [1, 2]);
    assert_eq!((plan.freed_tokens, plan.shortfall, plan.empty), (250, 750, None));
}

#[test]
fn plans_that_stash_nothing_say_why() {
    let (window, _) = world([pinned(SegmentType::Note), log(100)]);
    let plan = planned(&window, 0);
    assert_eq!((plan.items.len(), plan.shortfall, plan.empty), (0, 0, Some(EmptyPlan::NothingAsked)));
    let (window, _) = world([log(100)]);
    let plan = planned(&window, 50);
    assert_eq!((plan.items.len(), plan.shortfall, plan.empty), (0, 50, Some(EmptyPlan::NoRoots)));
    let (window, _) = world([pinned(SegmentType::Note)]);
    let plan = planned(&window, 50);
    assert_eq!((plan.items.len(), plan.shortfall, plan.empty), (0, 50, Some(EmptyPlan::OnlyRoots)));
}

#[test]
fn an_unreachable_segment_leaves_before_a_reachable_twin_and_a_decision_after_a_cold_log() {
    let decision = Facts { tokens: 100, ..facts(SegmentType::Decision) };
    let (mut window, _) = world([pinned(SegmentType::Note), log(100), log(100), decision]);
    refer(&mut window, &[(0, 1)]);
    assert_eq!(segments(&planned(&window, 100), Action::Stash), [2]);
    assert_eq!(segments(&planned(&window, 101), Action::Stash), [2, 1]);
    let plan = planned(&window, 300);
    let told: Vec<(u32, String)> = plan.items.iter().map(|item| (item.segment.0, item.reason.to_string())).collect();
    let told: Vec<(u32, &str)> = told.iter().map(|(segment, reason)| (*segment, reason.as_str())).collect();
    assert_eq!(
        told,
        [
            (2, "unreachable from any root, log, idle 999 steps, no references"),
            (3, "unreachable from any root, decision, idle 999 steps, no references"),
            (1, "reachable but cold, log, idle 999 steps, 1 reference"),
        ]
    );
}

#[test]
fn a_call_and_its_results_leave_together() {
    let (mut window, _) = world([pinned(SegmentType::Note), log(10), log(50), log(60), log(90)]);
    pair(&mut window, 1, 2);
    pair(&mut window, 1, 3);
    let plan = planned(&window, 100);
    assert_eq!((segments(&plan, Action::Stash), plan.freed_tokens), (vec![1, 2, 3], 120));
    let plan = planned(&window, 121);
    assert_eq!((segments(&plan, Action::Stash), plan.freed_tokens), (vec![1, 2, 3, 4], 210));
}

#[test]
fn a_call_with_fifty_thousand_results_is_one_unit_and_is_found_in_one_pass() {
    let (mut window, _) = world(std::iter::once(pinned(SegmentType::Note)).chain((0..50_000).map(|_| log(1))));
    for result in 2..=50_000 {
        pair(&mut window, 1, result);
    }
    let plan = planned(&window, 1);
    assert_eq!((plan.items.len(), plan.freed_tokens), (50_000, 50_000));
}

#[test]
fn only_what_is_unreachable_and_was_stashed_for_long_is_proposed_for_deletion() {
    let (mut window, all) = world([
        pinned(SegmentType::Note),
        log(100),
        log(100),
        log(100),
        log(100),
        pinned(SegmentType::Log),
        log(100),
        log(100),
    ]);
    // 3 is referred to by a root, 4 by something stashed that a root refers to, 6 by a pin that is stashed.
    refer(&mut window, &[(0, 3), (3, 4), (5, 6)]);
    for (index, days) in [(1, 31), (2, 29), (3, 31), (4, 31), (5, 31), (6, 31)] {
        window.stash(all[index], Timestamp(NOW.at.0 - days * DAY_MS));
    }
    let plan = planned(&window, 100);
    assert_eq!(segments(&plan, Action::Trash), [1]);
    assert_eq!(segments(&plan, Action::Stash), [7]);
    assert_eq!(plan.freed_tokens, 100);
    let reason = plan.items[1].reason.to_string();
    assert_eq!(reason, "unreachable from any root, log, idle 999 steps, no references, stashed for 31 days");
    let never = Target { stash_retention_ms: None, ..Target::tokens(100) };
    assert!(segments(&plan_for(&window, &analysis(&window), never), Action::Trash).is_empty());
}

#[test]
fn a_pair_is_deleted_together_or_not_at_all() {
    let (mut window, all) = world([pinned(SegmentType::Note), log(1), log(1), log(1)]);
    pair(&mut window, 1, 2);
    window.stash(all[1], Timestamp(0));
    window.stash(all[2], Timestamp(NOW.at.0 - DAY_MS));
    assert!(segments(&planned(&window, 1), Action::Trash).is_empty());
    window.stash(all[2], Timestamp(0));
    assert_eq!(segments(&planned(&window, 1), Action::Trash), [1, 2]);
}

#[test]
fn what_frees_nothing_is_not_in_the_plan() {
    let (window, _) = world([pinned(SegmentType::Note), log(0), log(5)]);
    assert_eq!(segments(&planned(&window, 100), Action::Stash), [2]);
    assert_eq!(planned(&window, 100).items[0].segment, SegmentIndex(2));
}

#[test]
fn of_two_segments_that_say_the_same_one_stays() {
    let mut window = Window::default();
    add(&mut window, pinned(SegmentType::Note), &[]);
    let twins: Vec<u32> = (0..2).map(|_| add(&mut window, log(100), &[1, 2, 3]).0).collect();
    for name in 0..20 {
        add(&mut window, log(100), &[100 + name]);
    }
    // Both look dispensable; when the first has left, the second is dearer than the others.
    let plan = planned(&window, 200);
    let leaving = segments(&plan, Action::Stash);
    assert_eq!(leaving.iter().filter(|it| twins.contains(it)).count(), 1, "{leaving:?}");
}

#[test]
fn a_pair_that_alone_holds_a_name_is_as_dear_as_a_sole_holder() {
    let mut window = Window::default();
    add(&mut window, pinned(SegmentType::Note), &[]);
    let call = add(&mut window, log(50), &[1]);
    let result = add(&mut window, log(50), &[1]);
    pair(&mut window, call.0, result.0);
    let others: Vec<u32> = (0..20).map(|_| add(&mut window, log(100), &[]).0).collect();
    let plan = planned(&window, 2_000);
    assert_eq!(segments(&plan, Action::Stash), others);
}

#[test]
fn room_is_made_in_the_older_half_if_that_suffices() {
    let steps = |segments: Vec<Facts>| {
        let segments = (1..).zip(segments);
        segments.map(|(step, facts)| Facts { created_step: step, ..facts }).collect::<Vec<_>>()
    };
    let note = Facts { tokens: 100, ..facts(SegmentType::Note) };
    let (window, _) = world(steps(vec![pinned(SegmentType::Note), note, note, log(100), log(100), log(100)]));
    let planned = |tokens, region| {
        let plan = plan_for(&window, &analysis(&window), Target { region, ..Target::tokens(tokens) });
        (segments(&plan, Action::Stash), plan.cache_tokens_lost)
    };
    assert_eq!(planned(200, Region::Anywhere), (vec![3, 4], 100));
    assert_eq!(planned(200, Region::Oldest), (vec![1, 2], 300));
    assert_eq!(planned(201, Region::Oldest), (vec![3, 4, 5], 0));
    assert_eq!(planned(0, Region::Oldest), (vec![], 0));
}

#[test]
fn long_and_cold_segments_that_are_reachable_and_stay_are_proposed_for_compression() {
    let summary = Facts { tokens: 700, ..facts(SegmentType::Summary) };
    let fresh = Facts { last_touched_step: NOW.step, ..log(800) };
    let (mut window, _) = world([pinned(SegmentType::Note), log(500), log(600), log(499), summary, fresh, log(900)]);
    refer(&mut window, &[(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)]);
    let compress = |tokens| planned(&window, tokens).compress.into_iter().map(|it| it.0).collect::<Vec<_>>();
    assert_eq!(compress(0), [2, 1]);
    assert_eq!(compress(900), [2, 1]);
    assert!(compress(10_000).is_empty());
}
