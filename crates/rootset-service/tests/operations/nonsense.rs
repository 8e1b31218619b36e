//! Every operation answers something sensible to nonsense: an error that names the field, never a panic, never `internal`.
//!
//! Requests are made from the schemas, so a new operation is asked without a line here.

use rootset_api::{OperationInfo, catalogue};
use rootset_service::{Caller, FrontEnd};
use serde_json::{Map, Value, json};

use crate::harness::World;

/// A request that has all it needs and that no check of fields refuses. It need not find anything.
pub fn plausible(operation: &OperationInfo) -> Value {
    let special = match operation.name {
        "add_memories" => json!({"memories": [{"context": "one"}]}),
        "import_graph" => json!({"entities": [{"name": "OneThing"}], "relations": []}),
        "forget" => json!({"query": "nothing"}),
        "update_memory" => json!({"memory_id": "x", "topic": "x"}),
        "gc_plan" => json!({"strategies": ["all"]}),
        "gc_purge" => json!({"older_than": "0"}),
        "gc_explain" | "get_plan" | "gc_apply" => {
            let id = "018f2f3e-9c4b-7cc1-a1f0-000000000001";
            json!({"id": id, "plan_id": id})
        }
        "context_add" => json!({"session_id": "x", "segments": [{"type": "note", "text": "x"}]}),
        "context_import" => json!({"session_id": "x", "format": "openai", "messages": []}),
        "context_gc_prune" => json!({"session_id": "x", "segment_ids": ["x"]}),
        "index_codebase" => json!({"path": "/nowhere"}),
        "create_token" => json!({"name": "x", "scopes": ["read"], "workspaces": ["*"]}),
        "revoke_token" | "rotate_token" => json!({"name": "x"}),
        _ => json!({}),
    };
    let schema = operation.input_schema();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let mut request = Map::new();
    for field in required.iter().filter_map(Value::as_str) {
        request.insert(field.to_owned(), value_of(&schema["properties"][field]));
    }
    let known = schema["properties"].as_object().cloned().unwrap_or_default();
    let special = special.as_object().cloned().unwrap_or_default();
    request.extend(special.into_iter().filter(|(field, _)| known.contains_key(field)));
    Value::Object(request)
}

/// Something of the type that a schema asks for.
pub fn value_of(schema: &Value) -> Value {
    if let Some(first) = schema.pointer("/enum/0").or(schema.pointer("/oneOf/0/const")).or(schema.get("const")) {
        return first.clone();
    }
    match schema["type"].as_str() {
        Some("string") => json!("x"),
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([value_of(&schema["items"])]),
        Some("object") => json!({}),
        _ => json!("x"),
    }
}

/// Values of other types than a schema allows; none for fields that take anything.
fn wrong_values(schema: &Value) -> Vec<Value> {
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ if schema.get("oneOf").is_some() || schema.get("enum").is_some() => vec!["string"],
        _ => return Vec::new(),
    };
    let all = [
        ("string", json!("nonsense")),
        ("integer", json!(7)),
        ("number", json!(7.5)),
        ("boolean", json!(true)),
        ("array", json!([[[]]])),
        ("object", json!({"nonsense": {"nonsense": 1}})),
    ];
    let is_number = kinds.contains(&"number") || kinds.contains(&"integer");
    let is_right = |kind: &str| kinds.contains(&kind) || is_number && ["integer", "number"].contains(&kind);
    all.into_iter().filter(|(kind, _)| !is_right(kind)).map(|(_, value)| value).collect()
}

fn fields_of(operation: &OperationInfo) -> Map<String, Value> {
    operation.input_schema()["properties"].as_object().cloned().unwrap_or_default()
}

#[test]
fn plausible_requests_are_not_refused_for_their_types() {
    let world = World::new();
    for operation in catalogue() {
        if let Err(error) = world.try_call(operation.name, plausible(operation)) {
            assert_ne!(error.code.as_str(), "internal", "{}: {error}", operation.name);
            let is_about_types = ["` is required", " must be a", " must be one of", "unknown field"];
            let refused = is_about_types.iter().any(|it| error.message.contains(it));
            assert!(!refused, "{}: {error}", operation.name);
        }
    }
    world.assert_doctor_is_content();
}

/// Differs from run to run whatever is asked.
const OF_ONE_RUN: [&str; 13] = [
    "backup_id",
    "bytes_after",
    "bytes_before",
    "content_bytes",
    "database_bytes",
    "disk",
    "elapsed_ms",
    "free_bytes",
    "path",
    "secret",
    "sizes",
    "token",
    "wal_bytes",
];

fn without_accidents(value: Value, folder: &str) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(name, _)| !OF_ONE_RUN.contains(&name.as_str()))
            .map(|(name, value)| (name, without_accidents(value, folder)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.into_iter().map(|item| without_accidents(item, folder)).collect(),
        Value::String(text) => text.replace(folder, "[folder]").into(),
        other => other,
    }
}

/// Some clients fill every field that they know: with `null` where their model said nothing.
#[test]
fn null_means_absent_in_every_field_of_every_operation() {
    let worlds = [World::new(), World::new()];
    for world in &worlds {
        world.call(
            "add_memory",
            json!({"name": "x", "text": "Deploys happen on Fridays.", "topic": "deploys", "tags": ["team"], "decisions": ["Friday"],
                   "rationale": ["quiet"], "metadata": {"a": 1}, "source_version": 3, "pinned": true, "pin_reason": "important"}),
        );
        world.call("context_add", json!({"session_id": "x", "segments": [{"type": "note", "text": "x"}]}));
        world.call(
            "context_set_focus",
            json!({"session_id": "x", "task_id": "t", "active_file": "a.rs", "open_files": ["b.rs"]}),
        );
    }
    let mut nulls = 0;
    for operation in catalogue() {
        let absent = plausible(operation);
        let mut null = absent.clone();
        for field in fields_of(operation).keys().filter(|field| absent.get(field.as_str()).is_none()) {
            null[field] = Value::Null;
            nulls += 1;
        }
        let [without, with] = [(&worlds[0], absent), (&worlds[1], null)].map(|(world, request)| {
            let answer = world.try_call(operation.name, request).unwrap_or_else(|error| error.to_json());
            let memory = world.try_call("get_memory", json!({"memory_id": "x", "plan_id": null})).unwrap_or_default();
            without_accidents(json!([answer, memory]), &world.folder().display().to_string())
        });
        assert_eq!(with, without, "{}", operation.name);
    }
    assert!(nulls > 200, "only {nulls}");
}

#[test]
fn values_of_the_wrong_type_are_refused_by_the_name_of_their_field() {
    let world = World::new();
    let mut asked = 0;
    for operation in catalogue() {
        for (field, schema) in &fields_of(operation) {
            for wrong in wrong_values(schema) {
                let mut request = plausible(operation);
                request[field] = wrong.clone();
                let (code, error) = world.fails(operation.name, request);
                assert_eq!(code, "invalid_argument", "{} {field} {wrong}: {error}", operation.name);
                let said = format!("{} {}", error.0.message, error.0.hint.unwrap_or_default());
                let is_named = said.contains(field.as_str()) || said.contains("nonsense");
                assert!(is_named, "{} {field} {wrong}: {said}", operation.name);
                let serde_says =
                    ["invalid type", "invalid value", "missing field", "unknown variant", "expected ", "at line"];
                let is_ours = serde_says.iter().all(|words| !said.contains(words));
                assert!(is_ours, "{} {field} {wrong}: {said}", operation.name);
                asked += 1;
            }
        }
    }
    assert!(asked > 500, "only {asked}");
    world.assert_doctor_is_content();
}

#[test]
fn numbers_out_of_range_and_wrong_parts_are_refused_in_our_words() {
    let world = World::new();
    let add = |segment: Value| ("context_add", json!({"session_id": "x", "segments": [segment]}));
    let import =
        |messages: Value| ("context_import", json!({"session_id": "x", "format": "rootset", "messages": messages}));
    for ((operation, request), wanted) in [
        (
            add(json!({"type": "note", "text": "x", "line_range": [-1, 2]})),
            "`segments[0].line_range[0]` cannot be `-1`",
        ),
        (add(json!({"type": "verse", "text": "x"})), "`segments[0].type` must be one of `message`"),
        (("add_memory", json!({"context": "x", "expires_at": {}})), "`expires_at`: a time is RFC 3339 text"),
        (import(json!("{")), "`messages` cannot be imported: the text ends too early, at line 1, column 1"),
        (import(json!([{"segment_id": 7}])), "`messages` cannot be imported: `[0].type` is required"),
    ] {
        let error = world.refuses(operation, request);
        assert!(error.message.starts_with(wanted), "{error}");
    }
}

#[test]
fn missing_fields_are_named() {
    let world = World::new();
    for operation in catalogue() {
        let required = operation.input_schema()["required"].as_array().cloned().unwrap_or_default();
        for field in required.iter().filter_map(Value::as_str) {
            let mut request = plausible(operation);
            request.as_object_mut().unwrap().shift_remove(field);
            let error = world.refuses(operation.name, request);
            assert!(error.message.contains(field), "{} {field}: {error}", operation.name);
            assert!(!error.message.contains("missing field"), "{} {field}: {error}", operation.name);
        }
    }
}

#[test]
fn requests_that_are_no_objects_are_refused() {
    let world = World::new();
    for operation in catalogue() {
        for request in [json!([]), json!("text"), json!(7), json!(true), json!([{}])] {
            world.refuses(operation.name, request);
        }
    }
}

#[test]
fn huge_and_odd_texts_are_never_our_fault_and_never_come_back_whole() {
    const ERROR_BYTES_MAX: usize = 16 << 10;
    let world = World::new();
    let texts = ["x".repeat(2 << 20), "é\u{202e}\u{0}".repeat(1_000), "' OR 1=1 --".into(), "../../etc/passwd".into()];
    // A path of the file system is the command line's; this is about everybody else.
    let caller = Caller::new(FrontEnd::Http, "somebody", "home");
    for operation in catalogue() {
        for (field, schema) in &fields_of(operation) {
            for text in &texts {
                let value = match schema["type"].as_str() {
                    Some("array") => json!([text]),
                    Some("object") => json!({ "nonsense": text }),
                    _ => json!(text),
                };
                let mut request = plausible(operation);
                request[field] = value;
                if let Err(error) = world.service.call(&caller, operation.name, request) {
                    let shown: String = text.chars().take(20).collect();
                    assert_ne!(error.code.as_str(), "internal", "{} {field} {shown}: {error}", operation.name);
                    let bytes = error.to_json().to_string().len();
                    assert!(bytes < ERROR_BYTES_MAX, "{} {field} {shown}: {bytes} bytes", operation.name);
                }
            }
        }
    }
    world.assert_doctor_is_content();
}

#[test]
fn names_of_any_length_are_unknown_in_few_words() {
    let world = World::new();
    let long = "context_".repeat(1 << 18);
    let error = world.refuses(&long, json!({}));
    assert!(error.to_json().to_string().len() < 4_096);
    for operation in catalogue() {
        let error = world.refuses(operation.name, json!({ long.as_str(): 1 }));
        assert!(error.to_json().to_string().len() < 4_096, "{}", operation.name);
    }
}

#[test]
fn numbers_at_the_edge_are_never_our_fault() {
    let world = World::new();
    for operation in catalogue() {
        for (field, schema) in &fields_of(operation) {
            if !schema["type"].as_str().is_some_and(|kind| kind == "integer" || kind == "number") {
                continue;
            }
            for number in [json!(i64::MAX), json!(i64::MIN), json!(-1), json!(0), json!(u64::MAX), json!(1e300)] {
                let mut request = plausible(operation);
                request[field] = number.clone();
                if let Err(error) = world.try_call(operation.name, request) {
                    assert_ne!(error.code.as_str(), "internal", "{} {field} {number}: {error}", operation.name);
                }
            }
        }
    }
    world.assert_doctor_is_content();
}

#[test]
fn deep_nesting_is_refused_in_every_field() {
    let world = World::new();
    // No parser of ours lets more than 128 levels through.
    let mut deep = json!(1);
    for level in 0..120 {
        deep = if level % 2 == 0 { json!([deep]) } else { json!({ "n": deep }) };
    }
    for operation in catalogue() {
        for field in fields_of(operation).keys() {
            let mut request = plausible(operation);
            request[field] = deep.clone();
            world.refuses(operation.name, request);
        }
    }
}
