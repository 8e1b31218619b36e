//! When something leaves by itself: seldom and much above the soft limit, down to the target above the hard one.

use serde_json::{Value, json};

use super::{Session, filler, segment_ids};
use crate::harness::{array, text_of};

/// 1,000 tokens: soft at 700, hard at 900, target 500, at least 100 at a time.
fn thousand() -> Session {
    Session::with(json!({
        "budget_tokens": 1_000, "soft_percent": 70, "target_percent": 50, "hard_percent": 90, "min_free_percent": 10,
    }))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("`{value}` is no number"))
}

#[test]
fn nothing_leaves_up_to_the_soft_limit() {
    let session = thousand();
    for place in 0..7 {
        let added = session.add_log(&format!("log-{place}"), 100);
        assert_eq!(added["gc"]["ran"], "none", "{added}");
        assert_eq!(added["usage"]["percent"].as_f64(), Some(10.0 * f64::from(place + 1)));
    }
}

#[test]
fn above_the_soft_limit_one_step_frees_the_least_that_is_worth_it() {
    let session = thousand();
    for place in 0..14 {
        session.add_log(&format!("log-{place}"), 50);
    }
    let added = session.add_log("one-more", 50);
    let gc = &added["gc"];
    assert_eq!(gc["ran"], "step", "{added}");
    let freed = number(&gc["tokens_freed"]);
    assert!((100..=250).contains(&freed), "{added}");
    assert_eq!(number(&added["usage"]["tokens"]), 750 - freed);
    let stashed: u64 = array(&gc["stashed"]).iter().map(|it| number(&it["tokens"])).sum();
    assert_eq!(stashed, freed);
    assert!(array(&gc["stashed"]).iter().all(|it| !text_of(&it["reason"]).is_empty()));
    let message = text_of(&added["message"]);
    assert!(message.contains("freed") && message.contains(&freed.to_string()), "{message}");
    // The next addition has room again.
    assert_eq!(session.add_log("and-another", 50)["gc"]["ran"], "none");
}

#[test]
fn above_the_hard_limit_everything_down_to_the_target_leaves() {
    let session = thousand();
    for place in 0..8 {
        session.add_log(&format!("log-{place}"), 80);
    }
    let added = session.add_log("flood", 300);
    assert_eq!(added["gc"]["ran"], "full", "{added}");
    assert!(number(&added["usage"]["tokens"]) <= 500, "{added}");
    assert_eq!(number(&added["gc"]["tokens_freed"]), 940 - number(&added["usage"]["tokens"]));
    assert!(session.ids().contains(&"flood".to_owned()));
    let first = text_of(&added["first_changed_segment_id"]);
    let left = segment_ids(array(&added["gc"]["stashed"]));
    let stayed = session.ids();
    assert!(left.contains(&first) || stayed.contains(&first), "{added}");
}

#[test]
fn the_oldest_leave_first_among_equals() {
    let session = thousand();
    for place in 0..14 {
        session.add_log(&format!("log-{place:02}"), 50);
    }
    let added = session.add_log("one-more", 50);
    let mut left = segment_ids(array(&added["gc"]["stashed"]));
    left.sort();
    let expected: Vec<String> = (0..left.len()).map(|place| format!("log-{place:02}")).collect();
    assert_eq!(left, expected);
}

#[test]
fn an_addition_that_nothing_can_make_room_for_is_accepted_and_says_so() {
    let session = Session::with(json!({"budget_tokens": 100}));
    let added = session.add("rules", "note", &filler(150), json!({"pinned": true}));
    assert_eq!(added["usage"]["over_limit"], true, "{added}");
    assert_eq!(added["usage"]["percent"].as_f64(), Some(150.0));
    assert_eq!(session.ids(), ["rules"]);
    let message = text_of(&added["message"]);
    assert!(message.contains("150"), "{message}");
}

#[test]
fn only_logs_and_no_focus_stay_under_the_budget_for_ever() {
    let session = thousand();
    for place in 0..120 {
        let added = session.add_log(&format!("log-{place}"), 50);
        assert!(number(&added["usage"]["tokens"]) <= 900, "{added}");
        assert_eq!(added["usage"]["over_limit"], false);
    }
    assert!(session.ids().contains(&"log-119".to_owned()));
}

#[test]
fn one_addition_larger_than_the_budget_leaves_its_last_segments() {
    let session = thousand();
    let segments: Vec<Value> =
        (0..30).map(|place| json!({"segment_id": format!("s{place}"), "type": "log", "text": filler(50)})).collect();
    let added = session.call("context_add", json!({ "segments": segments }));
    assert!(number(&added["usage"]["tokens"]) <= 900, "{added}");
    assert_eq!(array(&added["segment_ids"]).len(), 30);
    assert!(session.ids().contains(&"s29".to_owned()));
}

#[test]
fn advice_is_a_plan_and_nothing_leaves() {
    let session = thousand();
    session.call("context_gc_configure", json!({"mode": "advise"}));
    for place in 0..9 {
        session.add_log(&format!("log-{place}"), 100);
    }
    let added = session.add_log("one-more", 50);
    assert_eq!((&added["gc"]["stashed"], &added["gc"]["tokens_freed"]), (&json!([]), &json!(0)));
    assert_eq!(session.ids().len(), 10);
    let plan = &added["gc"]["plan"];
    assert!(number(&plan["tokens_freed"]) >= 450, "{added}");
    let pruned = session.call("context_gc_prune", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(pruned["tokens_freed"], plan["tokens_freed"]);
    assert!(session.tokens() <= 500);
}

#[test]
fn reserved_tokens_make_it_run_earlier() {
    let ran = |reserved: u64| {
        let session = thousand();
        session.call("context_gc_configure", json!({ "reserved_tokens": reserved }));
        (0..9).any(|place| session.add_log(&format!("log-{place}"), 50)["gc"]["ran"] != "none")
    };
    assert!(!ran(0));
    assert!(ran(500));
}

#[test]
fn naming_what_was_stashed_brings_a_hint() {
    let session = Session::new();
    session.add("design", "note", "the retry budget lives in compute_backoff_window", json!({}));
    session.add_bystanders(2);
    session.prune(&["design"]);
    let quiet = session.add("other", "message", "what about the weather", json!({"role": "user"}));
    assert_eq!(quiet["recall_hints"], json!([]));
    let added = session.add("question", "message", "why does compute_backoff_window wait", json!({"role": "user"}));
    let hints = array(&added["recall_hints"]);
    assert_eq!(segment_ids(hints), ["design"]);
    assert!(text_of(&hints[0]["because"]).contains("compute_backoff_window"), "{added}");
    let by_id = session.add("reply", "message", "as said", json!({"reply_to": "design"}));
    assert_eq!(segment_ids(array(&by_id["recall_hints"])), ["design"]);
}

#[test]
fn a_name_that_is_still_in_the_window_needs_no_hint() {
    let session = Session::new();
    session.add("design", "note", "the retry budget lives in compute_backoff_window", json!({}));
    session.add("again", "note", "compute_backoff_window is right", json!({"pinned": true}));
    session.add_bystanders(2);
    session.prune(&["design"]);
    let added = session.add("question", "message", "why does compute_backoff_window wait", json!({"role": "user"}));
    assert_eq!(added["recall_hints"], json!([]));
}
