//! What must not leave: each kind of root alone, and what hangs on them.

use serde_json::{Value, json};

use super::Session;

const MINUTE_MS: i64 = 60_000;

/// Whether a segment with these properties may leave, with enough behind it.
fn may_leave(kind: &str, more: Value, focus: Value) -> bool {
    let session = Session::new();
    session.add("target", kind, "so it is", more);
    session.add_bystanders(3);
    if focus != json!({}) {
        session.call("context_set_focus", focus);
    }
    assert!(session.is_candidate("bystander-0"), "nothing at all may leave");
    session.is_candidate("target")
}

#[test]
fn each_kind_of_root_keeps_its_segments() {
    assert!(may_leave("log", json!({}), json!({})));
    assert!(!may_leave("log", json!({"pinned": true}), json!({})));
    assert!(!may_leave("log", json!({"invariant": true}), json!({})));
    assert!(!may_leave("message", json!({"role": "system"}), json!({})));
    let task = || json!({"task_id": "task-1"});
    assert!(!may_leave("log", task(), task()));
    assert!(may_leave("log", task(), json!({"task_id": "task-2"})));
    let file = || json!({"file_path": "src/main.rs", "line_range": [10, 20]});
    assert!(!may_leave("code", file(), json!({"active_file": "src/main.rs"})));
    assert!(!may_leave("code", file(), json!({"active_file": "src/main.rs", "line_range": [15, 30]})));
    assert!(may_leave("code", file(), json!({"active_file": "src/lib.rs"})));
    assert!(!may_leave("decision", json!({}), json!({})));
}

#[test]
fn all_kinds_of_roots_together_are_counted_by_kind() {
    let session = Session::new();
    session.add("pinned", "log", "so it is", json!({"pinned": true}));
    session.add("invariant", "log", "so it is", json!({"invariant": true}));
    session.add("system", "message", "so it is", json!({"role": "system"}));
    session.add("task", "log", "so it is", json!({"task_id": "task-1"}));
    session.add("file", "code", "so it is", json!({"file_path": "src/main.rs", "line_range": [1, 9]}));
    session.add("decision", "decision", "so it is", json!({}));
    session.add("free", "log", "so it is", json!({}));
    session.add("last", "log", "so it is", json!({}));
    session.call("context_set_focus", json!({"task_id": "task-1", "active_file": "src/main.rs"}));
    assert_eq!(session.candidate_ids(), ["free"]);
    let analysis = session.call("context_gc_analyze", json!({}));
    let counted: u64 = analysis["roots"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert!(counted >= 7, "{analysis}");
    assert!(analysis["roots"].as_object().unwrap().len() >= 5, "{analysis}");
}

#[test]
fn the_tenth_from_the_end_is_a_root_and_the_eleventh_is_not() {
    let session = Session::with(json!({"budget_tokens": 1_000_000, "recent_segments": 10}));
    for number in 1..=12 {
        session.add_log(&format!("s{number}"), 5);
    }
    let mut candidates = session.candidate_ids();
    candidates.sort();
    assert_eq!(candidates, ["s1", "s2"]);
}

#[test]
fn a_decision_is_a_root_for_an_hour() {
    let session = Session::new();
    session.add("decision", "decision", "so it is", json!({}));
    session.add_bystanders(2);
    session.world.advance_ms(59 * MINUTE_MS);
    assert!(!session.is_candidate("decision"));
    session.world.advance_ms(2 * MINUTE_MS);
    assert!(session.is_candidate("decision"));
    session.call("context_gc_configure", json!({"decision_window": "2h"}));
    assert!(!session.is_candidate("decision"));
}

#[test]
fn what_a_pinned_segment_refers_to_is_reachable_and_cycles_end() {
    let session = Session::new();
    session.add("one", "note", "so it is", json!({"references": ["two"], "pinned": true}));
    session.add("two", "note", "so it is", json!({"references": ["three"]}));
    session.add("three", "note", "so it is", json!({"references": ["two"]}));
    session.add("four", "note", "so it is", json!({"references": ["three"]}));
    session.add_bystanders(1);
    let reachable = |id: &str| session.candidate(id)["reachable"].as_bool().unwrap();
    assert!(!session.is_candidate("one"));
    assert!(reachable("two") && reachable("three"));
    assert!(!reachable("four"));
}

#[test]
fn unreachable_segments_leave_before_reachable_ones() {
    let session = Session::new();
    session.add("kept", "log", "so it is", json!({}));
    session.add("loose", "decision", "so it is", json!({}));
    session.add("root", "note", "so it is", json!({"references": ["kept"], "pinned": true}));
    session.add_bystanders(1);
    session.world.advance_ms(2 * 60 * MINUTE_MS);
    assert_eq!(session.candidate_ids(), ["loose", "kept"]);
}

#[test]
fn a_shared_tag_does_not_make_everything_reachable() {
    let session = Session::new();
    let tagged = || json!({"tags": ["all"], "topic_id": "everything"});
    for number in 0..4 {
        session.add(&format!("t{number}"), "log", "so it is", tagged());
    }
    session.add("root", "log", "so it is", json!({"tags": ["all"], "topic_id": "everything", "pinned": true}));
    session.add_bystanders(1);
    for candidate in session.candidates() {
        assert_eq!(candidate["reachable"], false, "{candidate}");
    }
    assert_eq!(session.candidates().len(), 4);
}

#[test]
fn the_other_half_of_a_pair_is_as_safe_as_the_first() {
    for pinned in ["call", "result"] {
        let session = Session::new();
        session.add("call", "message", "ls", json!({"role": "assistant", "tool_call_id": "t1"}));
        session.add("result", "log", "src", json!({"role": "tool", "tool_call_id": "t1"}));
        session.add_bystanders(2);
        assert!(session.is_candidate("call") || session.is_candidate("result"));
        session.call("context_gc_pin", json!({"segment_ids": [pinned], "reason": "needed"}));
        assert!(!session.is_candidate("call") && !session.is_candidate("result"), "{pinned}");
    }
}

#[test]
fn with_no_roots_nothing_is_a_candidate() {
    let session = Session::with(json!({"budget_tokens": 1_000_000, "recent_segments": 0}));
    session.add_bystanders(5);
    let analysis = session.call("context_gc_analyze", json!({"target_tokens": 3}));
    assert_eq!(analysis["candidates"], json!([]));
    let plan = &analysis["plan"];
    assert_eq!(
        (&plan["stash_segments"], &plan["tokens_freed"], &plan["shortfall"]),
        (&json!([]), &json!(0), &json!(3))
    );
    assert!(plan["reason"].as_str().is_some_and(|reason| reason.contains("root")), "{plan}");
}

#[test]
fn a_focus_is_replaced_where_it_is_given_anew_and_kept_over_a_restart() {
    let mut session = Session::new();
    session.add("one", "log", "so it is", json!({"task_id": "task-1"}));
    session.add("two", "log", "so it is", json!({"task_id": "task-2"}));
    session.add_bystanders(1);
    session.call("context_set_focus", json!({"task_id": "task-1"}));
    assert_eq!(session.candidate_ids(), ["two"]);
    session.call("context_set_focus", json!({"task_id": "task-2"}));
    assert_eq!(session.candidate_ids(), ["one"]);
    session.world.restart(|service| service);
    assert_eq!(session.candidate_ids(), ["one"]);
}

#[test]
fn pins_have_reasons_and_can_be_taken_off() {
    let session = Session::new();
    session.add_log("one", 5);
    session.add_bystanders(1);
    session.call("context_gc_pin", json!({"segment_ids": ["one"], "reason": "the customer's own words"}));
    assert_eq!(session.segment("one")["pinned"], true);
    let explained = session.call("context_explain", json!({"segment_id": "one"}));
    assert!(explained.to_string().contains("the customer's own words"), "{explained}");
    assert!(!session.is_candidate("one"));
    let mixed = session.call("context_gc_unpin", json!({"segment_ids": ["one", "nobody"]}));
    assert_eq!(super::segment_ids(crate::harness::array(&mixed["errors"])), ["nobody"]);
    assert!(session.is_candidate("one"));
    assert_ne!(session.segment("one")["pinned"], true);
}
