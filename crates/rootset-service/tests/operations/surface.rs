//! The surface of the operations, as a file: any change of a name, an effect, a description or a schema shows in review.

use rootset_api::{OperationInfo, Profile, catalogue};
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
                "is_database_wide": operation.is_database_wide,
                "needs_person": operation.irreversible.iter().map(|it| it.argument.unwrap_or("always")).collect::<Vec<_>>(),
                "profiles": operation.profiles,
                "description": operation.description(),
                "input": operation.input_schema(),
                "shown_to_models": operation.essential_schema()["properties"].as_object().map(|fields| fields.keys().cloned().collect::<Vec<_>>()),
                "output": operation.output_schema(),
            })
        })
        .collect();
    insta::assert_json_snapshot!("surface", surface);
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

/// What a model reads of a tool before its first question. Output schemas are for programs.
fn tokens_of(operation: &OperationInfo) -> usize {
    let tool = json!({
        "name": operation.name,
        "description": operation.description(),
        "inputSchema": operation.essential_schema(),
    });
    tiktoken_rs::o200k_base_singleton().encode_ordinary(&tool.to_string()).len()
}

#[test]
fn the_tools_of_the_core_profile_are_few_and_cost_a_model_less_than_3000_tokens() {
    let core: Vec<(&str, usize)> =
        catalogue().iter().filter(|it| it.is_in(Profile::Core)).map(|it| (it.name, tokens_of(it))).collect();
    let total: usize = core.iter().map(|(_, tokens)| tokens).sum();
    assert!(total < 3_000, "{total}: {core:?}");
    assert!(core.len() <= 12, "{core:?}");
}

#[test]
fn descriptions_are_one_short_sentence_or_two() {
    const CHARS_MAX: usize = 200;
    for operation in catalogue() {
        let description = operation.description();
        assert!(description.chars().count() <= CHARS_MAX, "{}: {description}", operation.name);
        assert!(description.ends_with('.'), "{}: {description}", operation.name);
    }
}

#[test]
fn the_core_profile_is_the_one_that_clients_were_promised() {
    let mut core: Vec<&str> = catalogue().iter().filter(|it| it.is_in(Profile::Core)).map(|it| it.name).collect();
    core.sort_unstable();
    let promised = [
        "add_memory",
        "context_recall",
        "find_references",
        "forget",
        "gc_apply",
        "gc_undo",
        "get_memory",
        "get_symbol",
        "prune_memory",
        "search_code",
        "search_memory",
        "update_memory",
    ];
    assert_eq!(core, promised);
    assert!(catalogue().iter().all(|it| it.is_in(Profile::Full)));
    let is_of_contexts = |it: &OperationInfo| it.name.starts_with("context_");
    assert!(catalogue().iter().all(|it| it.is_in(Profile::Context) == is_of_contexts(it)));
}

#[test]
fn schemas_hold_nothing_that_says_nothing() {
    for operation in catalogue() {
        for (which, schema) in [("input", operation.input_schema()), ("output", operation.output_schema())] {
            let fields = schema.as_object().unwrap();
            for noise in ["$schema", "title", "description"] {
                assert!(!fields.contains_key(noise), "{} of {}: {noise}", which, operation.name);
            }
            let text = schema.to_string();
            assert!(!text.contains("\"int64\""), "{} of {}: {text}", which, operation.name);
            // It means absent and needs no word.
            assert!(!text.contains("\"null\"") && !text.contains("x-rare"), "{} of {}: {text}", which, operation.name);
        }
    }
}
