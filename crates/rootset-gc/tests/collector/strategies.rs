//! What holds of every strategy, alone and together: a new one is in these tests as soon as it is in the list.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rootset_gc::heap::{Bucket, Derived, Heap, Root};
use rootset_gc::strategies::{ALL, Example, Selection, select};
use rootset_model::plan::Reason;
use rootset_model::{RetentionPolicy, Timestamp};
use rootset_properties::for_a_while;

use crate::heaps::{NOW, buckets, derived, roots};

/// Stamps of the random heaps are around [`NOW`], which is too early for anything to be superseded for long: this moves
/// them to 2027, but for every other root's supersession.
fn later(mut roots: Vec<Root>) -> (Vec<Root>, Timestamp) {
    let shift = 1_800_000_000_000;
    for (place, root) in roots.iter_mut().enumerate() {
        let moved = [&mut root.ingested_at, &mut root.last_used_at, &mut root.expires_at, &mut root.stale_at];
        for stamp in moved.into_iter().flatten().filter(|stamp| stamp.0 >= 0) {
            stamp.0 += shift;
        }
        if let Some(superseded_at) = root.superseded_at.as_mut().filter(|at| at.0 >= 0 && place % 2 == 0) {
            superseded_at.0 += shift;
        }
    }
    (roots, Timestamp(NOW.0 + shift))
}

type Strategies = Vec<&'static rootset_gc::Strategy>;

fn strategies() -> impl Strategy<Value = Strategies> {
    prop_oneof![
        prop::sample::select(ALL).prop_map(|strategy| vec![strategy]),
        prop::sample::subsequence(ALL, 0..=ALL.len()).prop_shuffle(),
    ]
}

#[derive(Clone, Debug)]
struct Snapshot {
    roots: Vec<Root>,
    buckets: Vec<Bucket>,
    derived: Vec<Derived>,
    now: Timestamp,
}

impl Snapshot {
    fn select(&self, strategies: &[&rootset_gc::Strategy]) -> Selection {
        self.select_at(strategies, self.now)
    }

    fn select_at(&self, strategies: &[&rootset_gc::Strategy], now: Timestamp) -> Selection {
        select(strategies, &Heap { roots: &self.roots, buckets: &self.buckets, derived: &self.derived }, now)
    }

    fn add(&mut self, example: Example) {
        self.buckets[0].policy = example.policy;
        self.roots.extend(example.memories.into_iter().map(|root| Root { id: [0xEE ^ root.id[0]; 16], ..root }));
        let ids = (self.derived.len() as u8..).map(|number| [number; 16]);
        self.derived.extend(example.orphans.into_iter().zip(ids).map(|(kind, id)| Derived::orphan(kind, id)));
    }

    fn ids(&self, selection: &Selection) -> BTreeSet<[u8; 16]> {
        selection.roots.iter().map(|(place, _)| self.roots[*place as usize].id).collect()
    }
}

/// Often with the example of some strategy in it, so that there is garbage to every one.
fn snapshot() -> impl Strategy<Value = Snapshot> {
    let example = proptest::option::of(prop::sample::select(ALL));
    (roots(25), buckets(), derived(10), example).prop_map(|(roots, buckets, derived, example)| {
        let (roots, now) = later(roots);
        let mut snapshot = Snapshot { roots, buckets, derived, now };
        if let Some(strategy) = example {
            snapshot.add((strategy.example)(now));
        }
        snapshot
    })
}

fn places(selected: &[(u32, Reason)]) -> Vec<u32> {
    selected.iter().map(|(place, _)| *place).collect()
}

#[test]
fn the_random_heaps_hold_garbage_of_every_reason() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut found = BTreeSet::new();
    let mut unclassifiable = 0;
    for _ in 0..300 {
        let snapshot = snapshot().new_tree(&mut runner).expect("the generator rejects nothing").current();
        // One by one: together, the first strategy names what the next ones select too.
        for strategy in ALL {
            let selection = snapshot.select(&[strategy]);
            found.extend(selection.roots.iter().chain(&selection.derived).map(|(_, reason)| *reason));
            unclassifiable += selection.unclassifiable.len();
        }
    }
    let expected: BTreeSet<Reason> = ALL.iter().flat_map(|strategy| strategy.reasons).copied().collect();
    assert_eq!(found, expected);
    assert_ne!(unclassifiable, 0);
}

#[test]
fn candidates_are_unique_and_in_order() {
    for_a_while(|config| {
        proptest!(config, |(snapshot in snapshot(), strategies in strategies())| {
            let selection = snapshot.select(&strategies);
            for places in [places(&selection.roots), places(&selection.derived), selection.unclassifiable] {
                prop_assert!(places.is_sorted_by(|a, b| a < b), "{places:?}");
            }
        })
    });
}

#[test]
fn nothing_held_is_ever_selected() {
    for_a_while(|config| {
        proptest!(config, |(snapshot in snapshot(), strategies in strategies())| {
            for (place, _) in snapshot.select(&strategies).roots {
                let root = &snapshot.roots[place as usize];
                prop_assert!(!root.is_pinned && !root.is_in_flight, "{root:?}");
            }
        })
    });
}

#[test]
fn no_strategy_condemns_untracked_rows_or_rows_that_somebody_vouches_for() {
    for_a_while(|config| {
        proptest!(config, |(snapshot in snapshot(), strategies in strategies())| {
            for (place, _) in snapshot.select(&strategies).derived {
                let row = &snapshot.derived[place as usize];
                prop_assert!(!row.is_untracked && row.contributors == 0, "{row:?}");
            }
        })
    });
}

#[test]
fn without_policies_and_dates_nothing_is_selected() {
    for_a_while(|config| {
        proptest!(config, |(mut snapshot in snapshot(), strategies in strategies())| {
            for bucket in &mut snapshot.buckets {
                let RetentionPolicy { min_keep, keep_within_ms, basis, .. } = bucket.policy;
                bucket.policy = RetentionPolicy { min_keep, keep_within_ms, basis, ..RetentionPolicy::default() };
            }
            for root in &mut snapshot.roots {
                (root.expires_at, root.superseded_at, root.stale_at) = (None, None, None);
            }
            prop_assert_eq!(snapshot.select(&strategies).roots, []);
        })
    });
}

#[test]
fn dates_before_all_time_and_after_now_are_no_dates() {
    for_a_while(|config| {
        proptest!(config, |(mut snapshot in snapshot(), strategies in strategies(), is_future: bool)| {
            let doubtful = if is_future { Timestamp(snapshot.now.0 + 1) } else { Timestamp(-1) };
            for root in &mut snapshot.roots {
                let dates = [&mut root.ingested_at, &mut root.expires_at, &mut root.superseded_at, &mut root.stale_at];
                for date in dates {
                    *date = Some(doubtful);
                }
                root.last_used_at = None;
            }
            prop_assert_eq!(snapshot.select(&strategies).roots, []);
        })
    });
}

/// One more reason to keep: a pin, work in progress, a scan that contains the file, a kinder policy.
fn keep_more(snapshot: &mut Snapshot, rule: u8, place: usize) {
    let bucket = place % snapshot.buckets.len();
    let policy = &mut snapshot.buckets[bucket].policy;
    let root = snapshot.roots.get_mut(place);
    match rule {
        0 => policy.min_keep += 1,
        1 => policy.keep_within_ms += 20,
        2 => policy.max_age_ms = None,
        3 => policy.max_count = None,
        4 => policy.max_version_gap = None,
        5 => policy.max_count = policy.max_count.map(|count| count + 1),
        6 => policy.max_age_ms = policy.max_age_ms.map(|age_ms| age_ms + 10),
        7 => root.into_iter().for_each(|root| root.is_pinned = true),
        8 => root.into_iter().for_each(|root| root.is_in_flight = true),
        _ => root.into_iter().for_each(|root| (root.is_indexed_file, root.stale_at) = (true, None)),
    }
}

#[test]
fn adding_a_keep_rule_never_enlarges_a_selection() {
    for_a_while(|config| {
        proptest!(config, |(snapshot in snapshot(), strategies in strategies(), rule in 0..10_u8, place in 0..25_usize)| {
            let mut kinder = snapshot.clone();
            keep_more(&mut kinder, rule, place);
            let (before, after) = (snapshot.select(&strategies), kinder.select(&strategies));
            let added: Vec<_> = snapshot.ids(&after).difference(&snapshot.ids(&before)).copied().collect();
            prop_assert_eq!(added, Vec::<[u8; 16]>::new(), "rule {}", rule);
        })
    });
}

#[test]
fn a_clock_set_back_selects_no_more() {
    for_a_while(|config| {
        proptest!(config, |(snapshot in snapshot(), strategies in strategies(), back in 1..200_i64)| {
            let before = snapshot.ids(&snapshot.select(&strategies));
            let earlier = snapshot.ids(&snapshot.select_at(&strategies, Timestamp(snapshot.now.0 - back)));
            prop_assert!(earlier.is_subset(&before), "{:?}", earlier.difference(&before));
        })
    });
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let shuffled = snapshot().prop_flat_map(|snapshot| {
        let order: Vec<usize> = (0..snapshot.roots.len()).collect();
        (Just(snapshot), Just(order).prop_shuffle())
    });
    for_a_while(|config| {
        proptest!(config, |((snapshot, order) in &shuffled, strategies in strategies())| {
            let mut other = snapshot.clone();
            other.roots = order.iter().map(|place| snapshot.roots[*place]).collect();
            let reasons = |snapshot: &Snapshot| -> BTreeSet<([u8; 16], Reason)> {
                let selection = snapshot.select(&strategies);
                selection.roots.iter().map(|(place, reason)| (snapshot.roots[*place as usize].id, *reason)).collect()
            };
            prop_assert_eq!(reasons(&snapshot), reasons(&other));
        })
    });
}

#[test]
fn strategies_together_select_what_each_selects_alone() {
    for_a_while(|config| {
        proptest!(config, |(snapshot in snapshot(), strategies in strategies())| {
            let together = snapshot.select(&strategies);
            let alone: Vec<Selection> = strategies.iter().map(|strategy| snapshot.select(&[strategy])).collect();
            let union: BTreeSet<[u8; 16]> = alone.iter().flat_map(|selection| snapshot.ids(selection)).collect();
            prop_assert_eq!(snapshot.ids(&together), union);
            let reclaimed: BTreeSet<u32> = alone.iter().flat_map(|selection| places(&selection.derived)).collect();
            prop_assert_eq!(places(&together.derived), Vec::from_iter(reclaimed));
        })
    });
}
