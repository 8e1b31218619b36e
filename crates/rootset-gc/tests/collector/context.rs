//! Windows after random edits against one that remembers everything and recounts it each time.

mod edits;
mod naive;

use std::collections::BTreeSet;

use proptest::prelude::*;
use rootset_gc::context::{
    Facts, NewSegment, Population, Region, Scoring, SegmentIndex, SegmentType, Target, Window, analyse, find_roots,
    mark, parts, path_from_root, plan, retained_tokens,
};
use rootset_model::plan::Action;

use edits::{NAMES, NOW, edits, focus, replayed, windows, windows_and_recalls};
use rootset_properties::for_a_while;

#[test]
fn counts_and_holders_are_those_of_a_recount() {
    for_a_while(|config| {
        proptest!(config, |(edits in edits(60))| {
            let (window, naive) = windows(&edits);
            for segment in naive.all() {
                prop_assert_eq!(window.graph().state(segment), naive.states[segment.0 as usize]);
                prop_assert_eq!(window.graph().refcount(segment), naive.refcount(segment));
                prop_assert_eq!(window.graph().refcount_from_others(segment), naive.refcount_from_others(segment));
                prop_assert_eq!(window.graph().companions(segment), naive.companions(segment));
                prop_assert_eq!(window.holders().sole_count(segment), naive.sole_count(segment));
                prop_assert_eq!(window.facts(segment), &naive.facts[segment.0 as usize]);
                prop_assert_eq!(window.survival_count(segment), naive.survival_count(segment));
                prop_assert_eq!(window.is_superseded(segment), naive.is_superseded(segment));
                let references: BTreeSet<_> = window.graph().references_of(segment).collect();
                prop_assert_eq!(references, naive.references_of(segment));
                let referrers: Vec<_> = window.graph().referrers_of(segment).collect();
                let distinct: BTreeSet<_> = referrers.iter().copied().collect();
                prop_assert_eq!(distinct.len(), referrers.len());
                prop_assert_eq!(distinct, naive.referrers_of(segment));
            }
            for key in 0..NAMES {
                let holders: Vec<_> = naive.holders_of(key);
                prop_assert_eq!(window.holders().introduced_by(key), holders.first().copied());
                prop_assert_eq!(window.holders().active_count(key), naive.active_holders(key));
                let mut held_by: Vec<_> = window.holders().holders_of(key).collect();
                held_by.sort_unstable();
                prop_assert_eq!(held_by, holders);
            }
            prop_assert_eq!(window.tokens(), naive.tokens_of(|segment| naive.is_active(segment)));
        })
    });
}

#[test]
fn additions_recall_what_is_stashed_and_named() {
    for_a_while(|config| {
        proptest!(config, |(edits in edits(60))| {
            let (_, _, recalls) = windows_and_recalls(&edits);
            for recalled in recalls {
                let segments: Vec<SegmentIndex> = recalled.recalls.iter().map(|it| it.segment).collect();
                prop_assert_eq!(segments, recalled.expected);
            }
        })
    });
}

#[test]
fn a_window_loaded_from_what_is_stored_is_the_one_that_lived() {
    for_a_while(|config| {
        proptest!(config, |(edits in edits(60), focus in focus())| {
            let (window, naive) = windows(&edits);
            let loaded = replayed(&naive);
            prop_assert_eq!((loaded.tokens(), loaded.collections()), (window.tokens(), window.collections()));
            for segment in naive.all() {
                prop_assert_eq!(loaded.facts(segment), window.facts(segment));
                prop_assert_eq!(loaded.graph().state(segment), window.graph().state(segment));
                prop_assert_eq!(loaded.graph().refcount(segment), window.graph().refcount(segment));
                let references = |window: &Window| window.graph().references_of(segment).collect::<Vec<_>>();
                prop_assert_eq!(references(&loaded), references(&window));
                prop_assert_eq!(loaded.graph().companions(segment), window.graph().companions(segment));
                prop_assert_eq!(loaded.survival_count(segment), window.survival_count(segment));
            }
            for told in &naive.told {
                prop_assert_eq!(loaded.index_of(told.id), window.index_of(told.id));
            }
            let analysis = |window: &Window| analyse(window, &focus, NOW, &Scoring::default());
            prop_assert_eq!(analysis(&loaded), analysis(&window));
        })
    });
}

#[test]
fn marks_are_what_a_fixed_point_reaches_and_every_path_is_one() {
    for_a_while(|config| {
        proptest!(config, |(edits in edits(60), focus in focus())| {
            let (window, naive) = windows(&edits);
            for population in [Population::Active, Population::ActiveAndStashed] {
                let roots = find_roots(&window, &focus, NOW, population);
                let marks = mark(window.graph(), roots.segments(), population);
                let reached = naive.reached(roots.segments(), population, None);
                let marked: BTreeSet<_> = naive.all().filter(|segment| marks.is_reachable(*segment)).collect();
                prop_assert_eq!(marks.count(), marked.len());
                prop_assert_eq!(&marked, &reached);
            }
            let roots = find_roots(&window, &focus, NOW, Population::Active);
            let reached = naive.reached(roots.segments(), Population::Active, None);
            for segment in naive.all() {
                let path = path_from_root(window.graph(), roots.segments(), segment);
                prop_assert_eq!(path.is_some(), reached.contains(&segment));
                let Some(path) = path else { continue };
                prop_assert!(roots.contains(path[0]) && path.last() == Some(&segment));
                for step in path.windows(2) {
                    let refers = naive.references_of(step[0]).iter().any(|(other, _)| *other == step[1]);
                    prop_assert!(refers && naive.is_active(step[1]));
                }
            }
        })
    });
}

#[test]
fn retained_tokens_are_what_is_lost_when_a_segment_is_taken_out() {
    for_a_while(|config| {
        proptest!(config, |(edits in edits(80), focus in focus())| {
            let (window, naive) = windows(&edits);
            let roots = find_roots(&window, &focus, NOW, Population::Active);
            let retained = retained_tokens(&window, roots.segments());
            let reached = naive.reached(roots.segments(), Population::Active, None);
            for segment in naive.all() {
                let without = naive.reached(roots.segments(), Population::Active, Some(segment));
                let lost = naive.tokens_of(|it| reached.contains(&it) && !without.contains(&it));
                prop_assert_eq!(retained[segment.0 as usize], lost, "{:?}", segment);
            }
        })
    });
}

/// Larger and denser than edits make them: long ways, many ways, cycles across each other.
#[test]
fn retained_tokens_of_larger_graphs_are_what_is_lost_when_a_segment_is_stashed() {
    let sizes = (20..150_u32, 1..4_usize);
    let graphs = sizes.prop_flat_map(|(count, each)| {
        let reference = (0..count, 0..count);
        (Just(count), prop::collection::vec(reference, count as usize * each), prop::collection::vec(0..count, 1..4))
    });
    for_a_while(|config| {
        proptest!(config, |((count, references, roots) in &graphs)| {
            let mut window = Window::default();
            for tokens in 1..=count {
                let id = u64::from(tokens) - 1;
                let named = references.iter().filter(|(from, _)| u64::from(*from) == id);
                let named: Vec<u64> = named.map(|(_, to)| u64::from(*to)).collect();
                let facts = Facts::new(SegmentType::Message, tokens, NOW);
                window.add(&NewSegment { references: &named, ..NewSegment::new(id, facts) });
            }
            let roots: Vec<SegmentIndex> = roots.into_iter().map(SegmentIndex).collect();
            let reachable_tokens = |window: &Window| {
                let marks = mark(window.graph(), &roots, Population::Active);
                let reached = (0..count).map(SegmentIndex).filter(|segment| marks.is_reachable(*segment));
                reached.map(|segment| u64::from(window.facts(segment).tokens)).sum::<u64>()
            };
            let all = reachable_tokens(&window);
            let retained = retained_tokens(&window, &roots);
            for segment in (0..count).map(SegmentIndex) {
                window.stash(segment, NOW.at);
                prop_assert_eq!(retained[segment.0 as usize], all - reachable_tokens(&window), "{:?}", segment);
                window.restore(segment, NOW);
            }
        })
    });
}

#[test]
fn scores_are_bounded_and_follow_from_recounted_facts() {
    for_a_while(|config| {
        proptest!(config, |(edits in edits(60), focus in focus())| {
            let (window, naive) = windows(&edits);
            let scoring = Scoring::default();
            for segment in naive.all().filter(|segment| naive.is_active(*segment)) {
                let parts = parts(&window, &focus, segment, NOW, &scoring);
                prop_assert!(parts.named().iter().all(|(_, part)| (0.0..=1.0).contains(part)), "{:?}", parts);
                let score = parts.score();
                let expected = naive.score(segment, &focus);
                prop_assert!((score - expected).abs() < 1e-9, "{} instead of {}: {:?}", score, expected, parts);
            }
        })
    });
}

#[test]
fn plans_free_enough_keep_roots_and_pairs_and_name_nobody_in_vain() {
    for_a_while(|config| {
        proptest!(config, |(edits in edits(60), focus in focus(), tokens in 0..400_u64, oldest: bool)| {
            let (window, naive) = windows(&edits);
            let analysis = analyse(&window, &focus, NOW, &Scoring::default());
            let plan = plan(&window, &analysis, Target { stash_retention_ms: Some(50), region: if oldest { Region::Oldest } else { Region::Anywhere }, tokens });
            let chosen = |action| plan.items.iter().filter(move |item| item.action == action).map(|item| item.segment);
            let stashed: BTreeSet<SegmentIndex> = chosen(Action::Stash).collect();
            let deleted: BTreeSet<SegmentIndex> = chosen(Action::Trash).collect();
            prop_assert_eq!(stashed.len() + deleted.len(), plan.items.len());
            prop_assert!(naive.instructions().is_disjoint(&stashed), "an instruction of the user leaves");
            prop_assert_eq!(plan.freed_tokens, naive.tokens_of(|segment| stashed.contains(&segment)));
            prop_assert_eq!(plan.shortfall, tokens.saturating_sub(plan.freed_tokens));
            prop_assert_eq!(plan.empty.is_some(), stashed.is_empty());
            if plan.shortfall > 0 {
                let may_leave = |segment| naive.is_active(segment) && !analysis.roots.contains(segment);
                let most = if analysis.roots.is_empty() { 0 } else { naive.tokens_of(may_leave) };
                prop_assert_eq!(plan.freed_tokens, most);
            }
            for segment in &stashed {
                prop_assert!(naive.is_active(*segment) && !analysis.roots.contains(*segment));
                let group = window.graph().pair_group(*segment, Population::Active);
                prop_assert!(group.iter().all(|member| stashed.contains(member)), "{:?} is torn", group);
                let of_group = naive.tokens_of(|it| group.contains(&it));
                prop_assert!(plan.freed_tokens - of_group < tokens, "{:?} is needless", group);
            }
            let place = |segment: SegmentIndex| (window.facts(segment).created_step, segment);
            let first = stashed.iter().map(|segment| place(*segment)).min();
            let stays_behind = |it| naive.is_active(it) && !stashed.contains(&it) && first.is_some_and(|at| place(it) > at);
            prop_assert_eq!(plan.cache_tokens_lost, naive.tokens_of(stays_behind));
            let everything = Population::ActiveAndStashed;
            let roots = find_roots(&window, &focus, NOW, everything);
            let reached = naive.reached(roots.segments(), everything, None);
            for segment in &deleted {
                prop_assert!(!naive.is_active(*segment) && !reached.contains(segment));
                prop_assert!(window.facts(*segment).stashed_at.is_some_and(|since| NOW.at.0 - since.0 > 50));
            }
        })
    });
}
