//! The surface of the operations, as a file: any change of a name, an effect, a description or a schema shows in review.

use rootset_service::catalogue;
use serde_json::{Value, json};

#[test]
fn the_surface_changes_only_on_purpose() {
    let surface: Vec<Value> = catalogue()
        .iter()
        .map(|operation| {
            json!({
                "name": operation.name,
                "effect": operation.effect,
                "is_idempotent": operation.is_idempotent,
                "is_open_world": operation.is_open_world,
                "description": operation.description(),
                "input": without_frame(operation.input_schema()),
                "output": without_frame(operation.output_schema()),
            })
        })
        .collect();
    insta::assert_json_snapshot!("surface", surface);
}

/// The draft, the Rust name and the description, which stands above, say nothing about the fields.
fn without_frame(mut schema: Value) -> Value {
    let fields = schema.as_object_mut().unwrap();
    for frame in ["$schema", "title", "description"] {
        fields.remove(frame);
    }
    schema
}

#[test]
fn every_operation_and_every_field_is_described_or_speaks_for_itself() {
    let mut names: Vec<&str> = catalogue().iter().map(|operation| operation.name).collect();
    for operation in catalogue() {
        assert!(!operation.description().is_empty(), "{}", operation.name);
        assert_eq!(operation.input_schema()["type"], "object", "{}", operation.name);
        assert_eq!(operation.output_schema()["type"], "object", "{}", operation.name);
    }
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count, "names are unique");
}
