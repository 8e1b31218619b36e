//! Who leaves first, seen through the list of candidates.

use serde_json::json;

use super::Session;
use crate::harness::{DAY_MS, HOUR_MS, text_of};

/// Scores of two segments that differ in one thing, with enough behind them.
#[track_caller]
fn scores(session: &Session, first: &str, second: &str) -> (f64, f64) {
    let score = |id: &str| session.candidate(id)["score"].as_f64().unwrap();
    (score(first), score(second))
}

#[test]
fn an_idle_log_leaves_before_an_idle_decision() {
    let session = Session::new();
    session.add("decision", "decision", "so it is", json!({}));
    session.add("log", "log", "so it is", json!({}));
    session.add_bystanders(20);
    session.world.advance_ms(2 * HOUR_MS);
    let (log, decision) = scores(&session, "log", "decision");
    assert!(log > decision, "{log} {decision}");
}

#[test]
fn a_referenced_segment_is_dearer_than_its_twin() {
    let session = Session::new();
    session.add("lonely", "note", "so it is", json!({}));
    session.add("wanted", "note", "so it is", json!({}));
    session.add("wants", "note", "and so on", json!({"references": ["wanted"]}));
    session.add_bystanders(5);
    let (lonely, wanted) = scores(&session, "lonely", "wanted");
    assert!(lonely > wanted, "{lonely} {wanted}");
}

#[test]
fn the_only_holder_of_a_name_is_dearer_than_one_whose_names_are_held_elsewhere() {
    let session = Session::new();
    // The copy comes first: what names it later refers to it, and not the other way round.
    session.add("copy", "note", "look: parse_footer_line is it", json!({"pinned": true}));
    session.add("shared", "note", "see parse_footer_line for it", json!({}));
    session.add("sole", "note", "see parse_header_line for it", json!({}));
    session.add_bystanders(5);
    let (shared, sole) = scores(&session, "shared", "sole");
    assert!(shared > sole, "{shared} {sole}");
}

#[test]
fn scores_are_between_nought_and_one_at_any_age() {
    let session = Session::new();
    for kind in ["log", "code", "message", "note", "summary", "decision"] {
        session.add(kind, kind, "see parse_header_line for it", json!({}));
    }
    session.add_bystanders(3);
    // The last one sets the clock to before everything was written.
    for days in [0, 1, 400, 4_000, -8_000] {
        session.world.set_clock_ahead_ms(days * DAY_MS);
        let candidates = session.candidates();
        assert!(!candidates.is_empty());
        for candidate in candidates {
            let score = candidate["score"].as_f64().unwrap();
            assert!((0.0..=1.0).contains(&score), "{candidate}");
            for (part, value) in candidate["parts"].as_object().unwrap() {
                assert!((0.0..=1.0).contains(&value.as_f64().unwrap()), "{part}: {candidate}");
            }
        }
    }
}

#[test]
fn a_candidate_says_why_in_words() {
    let session = Session::new();
    session.add_log("old", 10);
    session.add_bystanders(40);
    let candidate = session.candidate("old");
    let reason = text_of(&candidate["reason"]);
    for words in ["unreachable", "log", "40", "no references"] {
        assert!(reason.contains(words), "`{words}` is not in `{reason}`");
    }
    assert_eq!((&candidate["type"], &candidate["tokens"]), (&json!("log"), &json!(10)));
}

#[test]
fn what_survives_collections_becomes_old_and_safer() {
    let session = Session::with(json!({"budget_tokens": 1_000, "min_free_percent": 5}));
    session.add("survivor", "decision", "so it is", json!({"pinned": true}));
    let mut collections = 0;
    for number in 0..60 {
        let added = session.add_log(&format!("log-{number}"), 50);
        collections += u32::from(added["gc"]["ran"] != "none");
    }
    assert!(collections >= 3, "{collections}");
    let survivor = session.segment("survivor");
    assert_eq!(survivor["generation"], "old");
    assert!(survivor["gc_survival_count"].as_u64().unwrap() >= 2, "{survivor}");
    session.add("newcomer", "decision", "so it is", json!({}));
    session.add_log("last", 1);
    assert_eq!(session.segment("newcomer")["generation"], "young");
    session.call("context_gc_unpin", json!({"segment_ids": ["survivor"]}));
    session.world.advance_ms(2 * HOUR_MS);
    let part = |id: &str| session.candidate(id)["parts"]["generation"].as_f64().unwrap();
    assert!(part("newcomer") > part("survivor"));
}

#[test]
fn scores_are_left_out_where_nobody_wants_them() {
    let session = Session::new();
    session.add_bystanders(3);
    let analysis = session.call("context_gc_analyze", json!({"include_scores": false, "max_candidates": 1}));
    let candidates = crate::harness::array(&analysis["candidates"]);
    assert_eq!(candidates.len(), 1);
    assert!(candidates[0].get("score").is_none() && candidates[0].get("parts").is_none(), "{analysis}");
}
