//! Settings of a session: defaults, what is allowed, what is kept.

use serde_json::json;

use super::Session;
use crate::harness::World;

#[test]
fn defaults_are_those_of_the_documentation() {
    let session = Session { world: World::new(), id: "session" };
    let settings = session.call("context_gc_configure", json!({}));
    for (name, value) in [
        ("budget_tokens", json!(200_000)),
        ("reserved_tokens", json!(0)),
        ("soft_percent", json!(70)),
        ("target_percent", json!(50)),
        ("hard_percent", json!(90)),
        ("min_free_percent", json!(10)),
        ("mode", json!("auto")),
        ("recent_segments", json!(10)),
        ("decision_window", json!("1h")),
        ("tokenizer", json!("o200k")),
    ] {
        let same = match (&settings[name], &value) {
            (found, expected) if found.is_number() => found.as_f64() == expected.as_f64(),
            (found, expected) => found == expected,
        };
        assert!(same, "{name}: {settings}");
    }
    for name in ["half_life_steps", "half_life", "weights"] {
        assert!(settings.get(name).is_some(), "{name}: {settings}");
    }
}

#[test]
fn what_is_set_is_in_force_and_the_rest_stays() {
    let session = Session { world: World::new(), id: "session" };
    session.call("context_gc_configure", json!({"budget_tokens": 5_000, "mode": "advise"}));
    let settings = session.call("context_gc_configure", json!({"soft_percent": 60, "half_life": "2h"}));
    assert_eq!((&settings["budget_tokens"], &settings["mode"]), (&json!(5_000), &json!("advise")));
    assert_eq!((settings["soft_percent"].as_f64(), &settings["half_life"]), (Some(60.0), &json!("2h")));
    assert_eq!(settings["hard_percent"].as_f64(), Some(90.0));
}

#[test]
fn bad_values_are_refused_by_name_value_and_limit() {
    let session = Session { world: World::new(), id: "session" };
    let before = session.call("context_gc_configure", json!({}));
    for (request, parts) in [
        (json!({"budget_tokens": 0}), vec!["budget_tokens", "0"]),
        (json!({"budget_tokens": -5}), vec!["budget_tokens"]),
        (json!({"soft_percent": 101}), vec!["soft_percent", "101", "100"]),
        (json!({"hard_percent": 140}), vec!["hard_percent", "140", "100"]),
        (json!({"min_free_percent": 101}), vec!["min_free_percent", "101"]),
        (json!({"soft_percent": 95}), vec!["soft_percent", "95", "hard_percent", "90"]),
        (json!({"target_percent": 80}), vec!["target_percent", "80", "soft_percent", "70"]),
        (json!({"reserved_tokens": 200_000}), vec!["reserved_tokens", "200000", "budget_tokens"]),
        (json!({"mode": "sometimes"}), vec!["mode", "sometimes", "auto", "advise"]),
        (json!({"tokenizer": "words"}), vec!["tokenizer", "words", "o200k", "cl100k", "chars/4"]),
        (json!({"decision_window": "soon"}), vec!["decision_window", "soon"]),
        (json!({"half_life": "never"}), vec!["half_life", "never"]),
        (json!({"half_life_steps": 0}), vec!["half_life_steps", "0"]),
        (json!({"weights": {"idle": -1.0}}), vec!["idle", "-1"]),
        (json!({"weights": {"idel": 1.0}}), vec!["idel"]),
        (json!({"budget": 5}), vec!["budget"]),
    ] {
        let error = session.refuses("context_gc_configure", request);
        let said = error.to_json().to_string();
        assert!(parts.iter().all(|part| said.contains(part)), "{parts:?}: {said}");
    }
    assert_eq!(session.call("context_gc_configure", json!({})), before);
}

#[test]
fn each_tokenizer_counts_in_its_own_way() {
    let tokens = |tokenizer: &str| {
        let session = Session { world: World::new(), id: "session" };
        session.call("context_gc_configure", json!({ "tokenizer": tokenizer }));
        let added = session.add("one", "note", "hello world hello world", json!({}));
        added["usage"]["tokens"].as_u64().unwrap()
    };
    assert_eq!(tokens("o200k"), 4);
    assert_eq!(tokens("cl100k"), 4);
    assert_eq!(tokens("chars/4"), 5);
}

#[test]
fn a_smaller_budget_is_kept_from_the_next_addition_on() {
    let session = Session::new();
    for place in 0..20 {
        session.add_log(&format!("log-{place}"), 100);
    }
    session.call("context_gc_configure", json!({"budget_tokens": 1_000}));
    let added = session.add_log("one-more", 10);
    assert!(added["usage"]["tokens"].as_u64().unwrap() <= 500, "{added}");
    assert_eq!(added["gc"]["ran"], "full");
}
