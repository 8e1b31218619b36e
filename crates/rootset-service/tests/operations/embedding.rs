//! Vectors that follow their memories: what is added is complete at once, and its vector comes when the model has time.

use std::sync::{Arc, Mutex};

use rootset_model::Timestamp;
use rootset_provider::{Embedder, ProviderError};
use serde_json::{Value, json};

use crate::harness::{HOUR_MS, World};

/// A slow model, as far as the service can see: nothing waits for it. It knows two things: animals and machines.
#[derive(Debug)]
struct Moody {
    id: &'static str,
    is_down: Mutex<bool>,
    asked: Mutex<Vec<String>>,
}

impl Moody {
    fn new(id: &'static str) -> Arc<Self> {
        Arc::new(Self { id, is_down: Mutex::new(false), asked: Mutex::default() })
    }

    fn down(is_down: bool) -> Arc<Self> {
        let moody = Self::new("moody:1");
        moody.set_down(is_down);
        moody
    }

    fn set_down(&self, is_down: bool) {
        *self.is_down.lock().unwrap() = is_down;
    }

    fn times_asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Embedder for Moody {
    fn id(&self) -> &str {
        self.id
    }

    fn is_local(&self) -> bool {
        false
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ProviderError> {
        self.asked.lock().unwrap().extend(texts.iter().map(|text| (*text).to_owned()));
        if *self.is_down.lock().unwrap() {
            return Err(ProviderError::TimedOut { host: "moody".into(), limit_ms: 1 });
        }
        let is_animal = |text: &&str| ["walrus", "penguin", "creature"].iter().any(|word| text.contains(word));
        Ok(texts.iter().map(|text| if is_animal(text) { vec![1.0, 0.0] } else { vec![0.0, 1.0] }).collect())
    }
}

fn embed_all(world: &World) {
    while world.service.embed_some().unwrap() {}
}

fn vectors(world: &World) -> Value {
    world.call("gc_status", json!({}))["vectors"].clone()
}

#[test]
fn an_add_is_complete_without_its_vector_which_follows() {
    let embedder = Moody::new("moody:1");
    let world = World::with_embedder(embedder.clone());
    let added = world.call("add_memory", json!({"name": "note", "context": "SharedThing uses walrus."}));
    assert_eq!((&added["status"], &added["errors"]), (&json!("complete"), &json!([])));
    assert!(added["entities_created"].as_i64().unwrap() > 0, "{added}");
    assert_eq!(embedder.times_asked(), 0, "no add waits for a model");
    assert_eq!(world.found("walrus"), ["note"], "its words find it at once");
    assert_eq!(vectors(&world)["embedded"], 0);
    embed_all(&world);
    let status = vectors(&world);
    assert_eq!(
        (&status["embedder"], &status["chunks"], &status["embedded"]),
        (&json!("moody:1"), &json!(1), &json!(1))
    );
    assert!(status.get("last_error").is_none(), "{status}");
    assert_eq!(world.found("creature"), ["note"], "and now its meaning does");
    assert!(!world.service.embed_some().unwrap(), "there is nothing left to do");
    world.assert_doctor_is_content();
}

#[test]
fn a_batch_and_an_update_are_owed_their_vectors_too() {
    let embedder = Moody::new("moody:1");
    let world = World::with_embedder(embedder.clone());
    let many: Vec<Value> = (0..70).map(|number| json!({"context": format!("machine number {number}")})).collect();
    world.call("add_memories", json!({ "memories": many }));
    world.call("add_memory", json!({"name": "note", "topic": "t", "context": "a machine"}));
    embed_all(&world);
    assert_eq!(vectors(&world)["embedded"], 71);
    assert_eq!(embedder.times_asked(), 71, "each once");
    world.call("update_memory", json!({"memory_id": "note", "context": "a penguin"}));
    assert_eq!(vectors(&world)["embedded"], 70);
    embed_all(&world);
    assert_eq!(vectors(&world)["embedded"], 71);
    assert_eq!(world.found("creature").first().map(String::as_str), Some("note"));
}

#[test]
fn a_model_that_fails_stops_nothing_and_is_asked_again_later() {
    let embedder = Moody::down(true);
    let world = World::with_embedder(embedder.clone());
    let added = world.call("add_memory", json!({"name": "note", "context": "SharedThing uses walrus."}));
    assert_eq!((&added["status"], &added["errors"]), (&json!("complete"), &json!([])));
    assert!(!world.service.embed_some().unwrap());
    assert_eq!(world.found("walrus"), ["note"], "search goes on with words");
    let status = vectors(&world);
    assert!(status["last_error"].as_str().unwrap().contains("did not answer within"), "{status}");
    let asked = embedder.times_asked();
    assert!(!world.service.embed_some().unwrap(), "not before the back-off is over");
    assert_eq!(embedder.times_asked(), asked);
    embedder.set_down(false);
    world.advance_ms(HOUR_MS);
    embed_all(&world);
    let status = vectors(&world);
    assert_eq!((&status["embedded"], status.get("last_error")), (&json!(1), None));
    assert_eq!(world.found("creature"), ["note"]);
}

#[test]
fn two_processes_do_not_make_the_same_vectors() {
    let embedder = Moody::new("moody:1");
    let world = World::with_embedder(embedder.clone());
    world.call("add_memory", json!({"context": "a walrus"}));
    let space = "moody:1";
    let now = Timestamp(world.now_ms());
    let store = world.store();
    let first = store.claim_vectors(space, now, HOUR_MS).unwrap().expect("one memory is owed its vectors");
    assert!(store.claim_vectors(space, now, HOUR_MS).unwrap().is_none());
    store.settle_vectors(space, &first, vec![vec![1.0, 0.0]], now).unwrap();
    assert_eq!(vectors(&world)["embedded"], 1);
}

#[test]
fn what_was_changed_or_erased_while_its_vectors_were_made_gets_none_of_them() {
    let embedder = Moody::new("moody:1");
    let world = World::with_embedder(embedder.clone());
    world.call("add_memory", json!({"name": "kept", "topic": "t", "context": "a walrus"}));
    world.call("add_memory", json!({"name": "erased", "topic": "t", "context": "a machine"}));
    let (now, store) = (Timestamp(world.now_ms()), world.store());
    let claimed = store.claim_vectors("moody:1", now, HOUR_MS).unwrap().expect("two memories are owed their vectors");
    assert_eq!(claimed.chunks.len(), 2);
    world.call("update_memory", json!({"memory_id": "kept", "context": "a penguin"}));
    let run = world.delete("erased");
    world.call("gc_purge", json!({"run_id": run, "confirm": true}));
    store.settle_vectors("moody:1", &claimed, vec![vec![0.0, 1.0]; 2], now).unwrap();
    let status = vectors(&world);
    assert_eq!((&status["chunks"], &status["embedded"]), (&json!(1), &json!(0)));
    world.assert_doctor_is_content();
    embed_all(&world);
    assert_eq!(vectors(&world)["embedded"], 1, "the new text is owed its own");
    assert_eq!(world.found("creature"), ["kept"]);
    world.assert_doctor_is_content();
}

#[test]
fn another_model_makes_all_vectors_again_in_steps_that_another_process_can_go_on_with() {
    let mut world = World::with_embedder(Moody::new("moody:1"));
    let many: Vec<Value> = (0..100).map(|number| json!({"context": format!("machine number {number}")})).collect();
    world.call("add_memories", json!({ "memories": many }));
    embed_all(&world);
    world.restart(|service| service.with_embedder(Moody::new("moody:2")));
    assert_eq!(vectors(&world)["embedded"], 0);
    assert!(world.service.embed_some().unwrap());
    let status = vectors(&world);
    assert_eq!((&status["chunks"], &status["embedded"]), (&json!(100), &json!(64)));
    let second = Moody::new("moody:2");
    world.restart(|service| service.with_embedder(second.clone()));
    embed_all(&world);
    assert_eq!(vectors(&world)["embedded"], 100);
    assert_eq!(second.times_asked(), 36, "only what was left");
}

#[test]
fn a_process_that_ends_makes_the_vectors_that_it_owes() {
    let embedder = Moody::new("moody:1");
    let world = World::with_embedder(embedder.clone());
    world.service.finish().unwrap();
    assert_eq!(embedder.times_asked(), 0);
    world.call("add_memory", json!({"context": "a walrus"}));
    world.service.finish().unwrap();
    assert_eq!(vectors(&world)["embedded"], 1);
}
