//! A secret in every string field of every writing operation, made from the schemas: a new operation is tried without a line here.

use std::sync::Arc;

use rootset_api::{Effect, OperationInfo, catalogue};
use rootset_service::{SecretPolicy, Service};
use serde_json::{Map, Value, json};

use super::with_policy;
use crate::harness::World;
use crate::nonsense::{plausible, value_of};

/// A place in a request.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Field(String),
    /// The first item of a list.
    Item,
    /// The name of a field of an object that may have any.
    Name,
}

#[derive(Clone, Debug)]
struct Place {
    steps: Vec<(Step, Value)>,
}

/// Every place for a string in requests of a schema.
fn places(schema: &Value, steps: &[(Step, Value)], found: &mut Vec<Place>) {
    let with = |step: Step, schema: &Value| [steps, &[(step, schema.clone())]].concat();
    let is_word = schema.get("enum").is_some() || schema.get("const").is_some() || schema.get("oneOf").is_some();
    let has_type = |wanted: &str| match &schema["type"] {
        Value::String(kind) => kind == wanted,
        Value::Array(kinds) => kinds.iter().any(|kind| kind == wanted),
        _ => false,
    };
    if has_type("string") && !is_word || schema == &json!(true) || schema.get("type").is_none() && !is_word {
        found.push(Place { steps: steps.to_vec() });
    }
    if let Some(properties) = schema["properties"].as_object() {
        for (name, schema) in properties {
            places(schema, &with(Step::Field(name.clone()), schema), found);
        }
    } else if has_type("object") {
        found.push(Place { steps: with(Step::Name, &json!({"type": "string"})) });
        found.push(Place { steps: with(Step::Field("any".to_owned()), &json!({"type": "string"})) });
    }
    if let Some(items) = schema.get("items").filter(|_| has_type("array")) {
        places(items, &with(Step::Item, items), found);
    }
}

/// Puts a secret in its place, with what its neighbours need.
fn put(value: &mut Value, steps: &[(Step, Value)], secret: &str) {
    let Some(((step, schema), rest)) = steps.split_first() else {
        *value = json!(format!("see {secret}"));
        // A name or a word of its own has no spaces.
        if secret.contains('_') {
            *value = json!(secret);
        }
        return;
    };
    match step {
        Step::Field(name) => {
            if !value.is_object() {
                *value = json!({});
            }
            let inner = &mut value[name.as_str()];
            if inner.is_null() && !rest.is_empty() {
                *inner = needed(schema);
            }
            put(inner, rest, secret);
        }
        Step::Item => {
            if value.get(0).is_none() {
                *value = json!([needed(schema)]);
            }
            put(&mut value[0], rest, secret);
        }
        Step::Name => *value = json!({secret: "x"}),
    }
}

/// An object with the fields that its schema requires.
fn needed(schema: &Value) -> Value {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    if schema["properties"].is_null() {
        return Value::Null;
    }
    let fields: Map<String, Value> = required
        .iter()
        .filter_map(Value::as_str)
        .map(|field| (field.to_owned(), value_of(&schema["properties"][field])))
        .collect();
    Value::Object(fields)
}

/// Nobody's token, another one for each place.
fn secret(number: usize) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789";
    let hash = blake3::hash(&number.to_le_bytes());
    let body: String = hash
        .as_bytes()
        .iter()
        .cycle()
        .take(36)
        .enumerate()
        .map(|(place, byte)| char::from(DIGITS[(usize::from(*byte) + place) % DIGITS.len()]))
        .collect();
    format!("{}_{body}", "ghp")
}

struct Tried {
    operation: &'static str,
    place: Place,
    secret: String,
    is_accepted: bool,
    says_redacted: bool,
}

fn try_all(world: &World, service: &Arc<Service>) -> Vec<Tried> {
    world.add_named("x", "A memory that is there.");
    world.call(
        "context_add",
        json!({"session_id": "x", "segments": [{"segment_id": "x", "type": "note", "text": "x"}]}),
    );
    let mut tried = Vec::new();
    // What removes or replaces everything comes last, so that there is something to write to.
    let is_writing = |it: &&OperationInfo| it.effect != Effect::Read && !it.name.starts_with("backup_restore");
    for operation in catalogue().iter().filter(is_writing) {
        let mut all = Vec::new();
        places(operation.input_schema(), &[], &mut all);
        for place in all.into_iter().filter(|it| !it.steps.is_empty()) {
            let secret = secret(tried.len());
            let mut request = base(operation);
            put(&mut request, &place.steps, &secret);
            let answer = service.call(&world.caller, operation.name, request);
            let says_redacted = answer.as_ref().is_ok_and(|answer| answer.to_string().contains("\"redacted\":1"));
            tried.push(Tried { operation: operation.name, place, secret, is_accepted: answer.is_ok(), says_redacted });
        }
    }
    tried
}

fn base(operation: &OperationInfo) -> Value {
    let mut request = plausible(operation);
    if operation.name == "add_memory" {
        // Another text each time, or the second one is a repetition that stores nothing.
        request["context"] = json!("x");
        request["pinned"] = json!(true);
    }
    request
}

#[test]
fn no_secret_is_stored_through_any_field_of_any_operation() {
    let world = World::new();
    let tried = try_all(&world, &world.service);
    let redacted = tried.iter().filter(|it| it.says_redacted).count();
    assert!(tried.len() > 150 && redacted > 20, "{} places, {redacted} redacted", tried.len());
    for it in &tried {
        let middle = &it.secret[10..26];
        for needle in [middle.to_owned(), middle.to_lowercase()] {
            let steps: Vec<&Step> = it.place.steps.iter().map(|(step, _)| step).collect();
            assert_eq!(world.places_with(needle.as_bytes()), [""; 0], "{} {steps:?}", it.operation);
        }
    }
    assert!(tried.iter().any(|it| !it.is_accepted), "names are refused");
    world.assert_doctor_is_content();
}

#[test]
fn without_the_border_the_same_requests_store_secrets() {
    let world = World::new();
    let careless = world.process_with(with_policy(SecretPolicy::Warn, false));
    let tried = try_all(&world, &careless);
    let leaks = |it: &&Tried| !world.places_with(&it.secret.as_bytes()[10..26]).is_empty();
    let leaking: Vec<&str> = tried.iter().filter(leaks).map(|it| it.operation).collect();
    assert!(leaking.len() >= 20, "the test of the border tries too little: {leaking:?}");
}
