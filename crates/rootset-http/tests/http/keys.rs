//! `Idempotency-Key` and request ids.

use serde_json::json;

use crate::harness::Served;

#[test]
fn same_key_and_body_get_the_same_answer_once_done() {
    let served = Served::new();
    let add = |text: &str| {
        served.post_as(&served.tokens.admin, "add_memory", &json!({"context": text}), &[("idempotency-key", "one")])
    };
    let (first, again) = (add("falcons fly"), add("falcons fly"));
    assert_eq!((first.status, first.json()["created"].clone()), (200, json!(true)), "{first:?}");
    assert_eq!(again.text, first.text, "not `created: false`, which the operation itself would answer");
    assert_eq!((first.header("idempotency-replayed"), again.header("idempotency-replayed")), ("", "true"));
    let other = add("herons wade");
    assert_eq!((other.status, other.code().as_str()), (409, "conflict"));
    assert_eq!(served.world.call("list_memories", json!({}))["total"], 1);
}

#[test]
fn keys_belong_to_one_token_and_one_operation() {
    let served = Served::new();
    let key = [("idempotency-key", "one")];
    let request = json!({"context": "falcons fly", "workspace_id": "mine"});
    let first = served.post_as(&served.tokens.admin, "add_memory", &request, &key);
    let of_another = served.post_as(
        &served.tokens.of_one_workspace,
        "add_memory",
        &json!({"context": "x", "workspace_id": "mine"}),
        &key,
    );
    assert_eq!((first.status, of_another.status), (200, 200), "{of_another:?}");
    let other_operation = served.post_as(&served.tokens.admin, "set_retention", &json!({"max_count": 5}), &key);
    assert_eq!(other_operation.status, 200, "{other_operation:?}");
    let stranger = served.post_as("wrong", "add_memory", &request, &key);
    assert_eq!(stranger.status, 401);
}

#[test]
fn refusals_are_repeated_too_and_bad_keys_refused() {
    let served = Served::new();
    let bad = json!({"nonsense": 1});
    let send = |key: &str| served.post_as(&served.tokens.admin, "add_memory", &bad, &[("idempotency-key", key)]);
    let (first, again) = (send("one"), send("one"));
    assert_eq!((first.status, again.status), (400, 400));
    assert_eq!(again.header("idempotency-replayed"), "true");
    for key in ["x".repeat(256), "two words".to_owned()] {
        let refused = send(&key);
        assert_eq!((refused.status, refused.code().as_str()), (400, "invalid_argument"), "{key}");
        assert!(refused.text.contains("Idempotency-Key"), "{refused:?}");
    }
}

#[test]
fn requests_under_one_key_at_the_same_time_run_once() {
    let served = Served::new();
    let answers: Vec<_> = std::thread::scope(|scope| {
        let senders: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let request = json!({"context": "falcons fly"});
                    served.post_as(&served.tokens.admin, "add_memory", &request, &[("idempotency-key", "one")]).text
                })
            })
            .collect();
        senders.into_iter().map(|sender| sender.join().expect("an answer")).collect()
    });
    assert!(answers.iter().all(|answer| *answer == answers[0] && answer.contains("\"created\":true")), "{answers:?}");
}

#[test]
fn request_ids_are_answered() {
    let served = Served::new();
    let given = served.post_as(&served.tokens.admin, "list_memories", &json!({}), &[("x-request-id", "trace-7")]);
    assert_eq!(given.header("x-request-id"), "trace-7");
    let made = served.get("/nothing", None);
    assert_eq!(made.header("x-request-id").len(), 36, "{made:?}");
}
