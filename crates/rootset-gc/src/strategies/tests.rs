//! What holds of the list as a whole, and the rows that the strategies' own tests are about. What holds of every
//! selection is in `tests/`, over random heaps.

use std::collections::BTreeSet;

use super::*;
use crate::heap::{Bucket, Derived, Root};
use crate::recheck::RootState;
use rootset_model::RetentionPolicy;
use rootset_model::limits::SUPERSEDED_KEPT_MS;

/// 2027-01-15T08:00:00Z.
pub const NOW: Timestamp = Timestamp(1_800_000_000_000);
/// Long enough ago for everything that waits.
pub const LONG_AGO: Option<Timestamp> = Some(Timestamp(NOW.0 - SUPERSEDED_KEPT_MS - 1));

pub fn at(ms_before_now: i64) -> Option<Timestamp> {
    Some(Timestamp(NOW.0 - ms_before_now))
}

pub fn memory(id: u8) -> Root {
    Root::written(id, Timestamp(NOW.0 - 1))
}

/// Places and reasons of what a strategy takes of memories that are all in one bucket.
pub fn selected(strategy: &'static Strategy, roots: &[Root], policy: RetentionPolicy) -> Vec<(u32, &'static str)> {
    let buckets = [Bucket { source: "user".into(), repo: None, policy }];
    let selection = select(&[strategy], &Heap { roots, buckets: &buckets, derived: &[] }, NOW);
    selection.roots.into_iter().map(|(place, reason)| (place, reason.as_str())).collect()
}

#[test]
fn names_and_sentences_are_there_and_names_are_unique() {
    let names: BTreeSet<&str> = StrategyChoice::every().into_iter().map(StrategyChoice::word).collect();
    assert_eq!(names.len(), ALL.len() + 1);
    for strategy in ALL {
        assert!(strategy.about.ends_with('.') && !strategy.reasons.is_empty(), "{strategy:?}");
        assert_eq!(Strategy::find(strategy.name), Some(*strategy));
    }
}

#[test]
fn a_strategy_selects_the_whole_of_its_example_by_reasons_of_its_own() {
    for strategy in ALL {
        let Example { memories, policy, orphans } = (strategy.example)(NOW);
        let derived: Vec<Derived> = orphans.into_iter().map(|kind| Derived::orphan(kind, [1; 16])).collect();
        let buckets = [Bucket { source: "user".into(), repo: None, policy }];
        let selection = select(&[strategy], &Heap { roots: &memories, buckets: &buckets, derived: &derived }, NOW);
        let of_example = (memories.len(), derived.len());
        assert_ne!(of_example, (0, 0), "{strategy:?} shows nothing");
        assert_eq!((selection.roots.len(), selection.derived.len()), of_example, "{strategy:?}");
        for (_, reason) in selection.roots.iter().chain(&selection.derived) {
            assert!(strategy.reasons.contains(reason), "{strategy:?}: {reason:?}");
        }
    }
}

/// The word is all that is stored: it must lead back to one sentence and to one re-check.
#[test]
fn a_stored_word_leads_to_its_reason_and_to_the_re_check_of_whoever_gave_it() {
    let states = [false, true].map(|is_garbage| RootState {
        is_stale: is_garbage,
        is_superseded: is_garbage,
        is_orphaned: is_garbage,
        ..RootState::plain(1)
    });
    for strategy in ALL {
        for reason in strategy.reasons {
            assert_eq!(stored_reason(reason.as_str()), Some(*reason));
            let owner = of_reason(*reason).expect("the strategy is in the list");
            for state in &states {
                assert_eq!((owner.still_holds)(state), (strategy.still_holds)(state), "{strategy:?} and {owner:?}");
            }
        }
    }
    for reason in Reason::WITHOUT_STRATEGY {
        assert_eq!((stored_reason(reason.as_str()), of_reason(*reason)), (Some(*reason), None));
    }
    assert_eq!(stored_reason("a word of a later version"), None);
}

/// Words of released strategies: plans that are stored name them.
#[test]
fn names_and_words_that_are_stored_stay_as_they_are() {
    let expected: [(&str, &[&str]); 5] = [
        ("stale_code", &["stale"]),
        ("expired", &["expires_at", "too_old", "too_many", "too_far_behind", "period_over"]),
        ("superseded", &["superseded"]),
        ("orphaned_chunks", &["orphaned"]),
        ("orphaned_entities", &["orphaned"]),
    ];
    for (name, words) in expected {
        let strategy = Strategy::find(name).expect("a released strategy stays");
        assert_eq!(strategy.reasons.iter().map(|reason| reason.as_str()).collect::<Vec<_>>(), words);
    }
    let of_callers = Reason::WITHOUT_STRATEGY.iter().map(|reason| reason.as_str());
    let expected = [
        "named",
        "matched",
        "redacted",
        "near_other_words",
        "near_several",
        "near_first_name",
        "near_last_name",
        "near_address",
        "near_longer_name",
        "near_other_case",
        "near_other_day",
        "near_scattered",
        "near_some_words",
        "near_kept",
        "near_tangled",
        "near_redacted",
        "near_chain",
        "erase_previous",
        "past_history",
        "unreachable",
        "cold",
        "stashed_long",
    ];
    assert_eq!(of_callers.collect::<Vec<_>>(), expected);
}

#[test]
fn an_object_of_several_strategies_is_named_once_by_the_first() {
    let everything =
        Root { is_indexed_file: true, stale_at: at(1), expires_at: at(1), superseded_at: LONG_AGO, ..memory(1) };
    let buckets = [Bucket { source: "code".into(), repo: None, policy: RetentionPolicy::default() }];
    let heap = Heap { roots: &[everything], buckets: &buckets, derived: &[] };
    let selected = |strategies: &[&Strategy]| {
        let selection = select(strategies, &heap, NOW);
        selection.roots.into_iter().map(|(place, reason)| (place, reason.as_str())).collect::<Vec<_>>()
    };
    assert_eq!(selected(ALL), [(0, "stale")]);
    assert_eq!(selected(&[&superseded::SUPERSEDED, &EXPIRED]), [(0, "expires_at")]);
    assert_eq!(select(&[], &heap, NOW), Selection::default());
}

#[test]
fn strategies_of_one_need_are_read_for_once() {
    assert_eq!(needs_of(&[&superseded::SUPERSEDED, &STALE_CODE]), [Needs::DatedMemories]);
    assert_eq!(needs_of(&[]), []);
}
