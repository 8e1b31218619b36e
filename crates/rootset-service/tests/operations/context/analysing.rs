//! Plans for a target: enough, not too much, and honest about what cannot be had.

use serde_json::{Value, json};

use super::Session;
use crate::harness::{array, ids};

/// Candidates of 100, 150 and 200 tokens, and a root.
fn three() -> Session {
    let session = Session::new();
    for (id, tokens) in [("s100", 100), ("s150", 150), ("s200", 200)] {
        session.add_log(id, tokens);
    }
    session.add_log("last", 1);
    session
}

fn plan(session: &Session, target: u64) -> Value {
    session.call("context_gc_analyze", json!({ "target_tokens": target }))["plan"].clone()
}

#[test]
fn a_plan_frees_the_target_and_no_needless_big_segment() {
    let session = three();
    let before = session.segments();
    let found = plan(&session, 200);
    let freed = found["tokens_freed"].as_u64().unwrap();
    assert!((200..=250).contains(&freed), "{found}");
    assert_eq!((&found["target_tokens"], &found["shortfall"]), (&json!(200), &json!(0)));
    assert_eq!(found["delete_segments"], json!([]));
    assert!(!array(&found["stash_segments"]).is_empty());
    assert_eq!(session.segments(), before);
    let small = plan(&session, 90);
    assert_eq!(small["tokens_freed"], 100, "{small}");
}

#[test]
fn a_target_beyond_what_may_leave_is_told_as_shortfall() {
    let session = three();
    let found = plan(&session, 1_000);
    assert_eq!((&found["tokens_freed"], &found["shortfall"]), (&json!(450), &json!(550)));
    assert_eq!(ids(&found["stash_segments"]).len(), 3);
}

#[test]
fn a_target_of_nothing_is_an_empty_plan_with_a_reason() {
    let found = plan(&three(), 0);
    assert_eq!((&found["tokens_freed"], &found["stash_segments"]), (&json!(0), &json!([])));
    assert!(found["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{found}");
}

#[test]
fn a_plan_is_carried_out_as_it_was_shown() {
    let session = three();
    let found = plan(&session, 200);
    let tokens = session.tokens();
    let pruned = session.call("context_gc_prune", json!({"plan_id": found["plan_id"]}));
    let sorted = |list: &Value| {
        let mut all = ids(list);
        all.sort();
        all
    };
    assert_eq!(sorted(&pruned["stashed"]), sorted(&found["stash_segments"]));
    assert_eq!((&pruned["deleted"], &pruned["errors"]), (&json!([]), &json!([])));
    assert_eq!(pruned["tokens_freed"], found["tokens_freed"]);
    assert_eq!(pruned["usage_before"]["tokens"], tokens);
    assert_eq!(pruned["usage_after"]["tokens"], tokens - found["tokens_freed"].as_u64().unwrap());
    assert_eq!(session.tokens(), pruned["usage_after"]["tokens"].as_u64().unwrap());
}

#[test]
fn what_was_pinned_after_the_plan_stays() {
    let session = three();
    let found = plan(&session, 450);
    session.call("context_gc_pin", json!({"segment_ids": ["s150"], "reason": "wanted after all"}));
    let pruned = session.call("context_gc_prune", json!({"plan_id": found["plan_id"]}));
    assert_eq!(super::segment_ids(array(&pruned["errors"])), ["s150"]);
    assert_eq!(session.ids(), ["s150", "last"]);
}

#[test]
fn an_unknown_plan_is_not_found() {
    let session = three();
    let other = "01900000-0000-7000-8000-00000000ffff";
    assert_eq!(session.fails("context_gc_prune", json!({ "plan_id": other })).0, "not_found");
}

#[test]
fn what_is_cold_long_and_still_needed_is_proposed_for_compression() {
    let session = Session::new();
    // Worth more than the few bystanders that free as much as is asked for.
    let names: String = (0..1_000).map(|number| format!("value_of_part_{number} ")).collect();
    session.add("long", "log", &names, json!({}));
    session.add("root", "note", "so it is", json!({"references": ["long"], "pinned": true}));
    session.add_bystanders(60);
    session.world.advance_ms(crate::harness::DAY_MS);
    let found = plan(&session, 10);
    assert!(found["compress_candidates"].to_string().contains("long"), "{found}");
}

#[test]
fn a_plan_tells_what_a_cached_prefix_would_lose() {
    let session = three();
    let found = plan(&session, 450);
    // Everything that stays stands behind the first that leaves.
    assert_eq!(found["cache_tokens_lost"], 1, "{found}");
}
