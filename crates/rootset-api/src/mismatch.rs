//! Why a value does not fit its schema, in the words of a request: field, value and what is allowed. Serde's own
//! messages speak of Rust's types, so they are never shown.
//!
//! This only explains a refusal. What is refused is decided by the types.

use serde_json::{Map, Value};

use crate::parsing::canonical;

/// Longer values say no more about what is wrong with them.
const SHOWN_CHARS_MAX: usize = 80;

/// The first thing in `value` that its schema does not allow; `None` where the schema has nothing to say.
pub(crate) fn mismatch(value: &Value, schema: &Value) -> Option<String> {
    let mut open = vec![(String::new(), value, schema)];
    while let Some((path, value, schema)) = open.pop() {
        if !fits(value, schema) {
            let allowed = allowed(schema);
            return Some(format!("{} must be {allowed}, not `{}`", named(&path), shown(value)));
        }
        match value {
            Value::Object(fields) => {
                if let Some(missing) = missing_field(fields, schema) {
                    return Some(format!("`{}` is required", joined(&path, missing)));
                }
                // What is popped first was pushed last.
                open.extend(fields.iter().rev().filter_map(|(name, value)| {
                    let schema = field_schema(name, value, schema)?;
                    Some((joined(&path, name), value, schema))
                }));
            }
            Value::Array(items) => {
                let item_schema =
                    |at: usize| schema.get("prefixItems").map_or(schema.get("items"), |them| them.get(at));
                open.extend(items.iter().enumerate().rev().filter_map(|(at, item)| {
                    let schema = item_schema(at)?;
                    Some((format!("{path}[{at}]"), item, schema))
                }));
            }
            _ => {}
        }
    }
    None
}

/// How the messages begin that serde makes up itself; all others are those of our own types.
const SERDE_BEGINNINGS: [&str; 8] = [
    "invalid type",
    "invalid value",
    "invalid length",
    "unknown variant",
    "unknown field",
    "missing field",
    "duplicate field",
    "data did not match any variant",
];

/// Why a value was refused that its schema allows: a type's own reason, else only that it was.
pub(crate) fn refused(value: &Value, path: &str, reason: &str) -> String {
    let is_serde = SERDE_BEGINNINGS.iter().any(|beginning| reason.starts_with(beginning));
    match (is_serde, path) {
        (false, "") => reason.to_owned(),
        (false, path) => format!("`{path}`: {reason}"),
        (true, path) => format!("{} cannot be `{}`", named(path), shown(at(value, path).unwrap_or(value))),
    }
}

/// The value at a path such as `segments[0].line_range`.
fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    let mut parts = path.split(['.', '[']).map(|part| part.trim_end_matches(']')).filter(|part| !part.is_empty());
    parts.try_fold(value, |value, part| match value {
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        other => other.get(part),
    })
}

/// Why a typed word is none of those that a schema lists.
pub(crate) fn not_a_word(option: &str, text: &str, schema: &Value) -> String {
    let text: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    format!("`{option}` must be {}, not `{text}`", allowed(schema))
}

fn joined(path: &str, name: &str) -> String {
    let name: String = name.chars().take(SHOWN_CHARS_MAX).collect();
    if path.is_empty() { name } else { format!("{path}.{name}") }
}

fn named(path: &str) -> String {
    if path.is_empty() { "the value".to_owned() } else { format!("`{path}`") }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn missing_field<'a>(fields: &Map<String, Value>, schema: &'a Value) -> Option<&'a str> {
    let properties = schema.get("properties")?.as_object()?;
    let required = schema.get("required")?.as_array()?.iter().filter_map(Value::as_str);
    let is_given = |name: &str| fields.keys().any(|given| canonical(given, properties) == name);
    required.into_iter().find(|name| !is_given(name))
}

/// The schema of a field that is there: `null` in a field that may be left out means that it is left out.
fn field_schema<'a>(name: &str, value: &Value, schema: &'a Value) -> Option<&'a Value> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return schema.get("additionalProperties");
    };
    let name = canonical(name, properties);
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = required.is_some_and(|names| names.iter().any(|it| it == name));
    if value.is_null() && !is_required { None } else { properties.get(name) }
}

/// Looks at the value itself, not at what it holds.
fn fits(value: &Value, schema: &Value) -> bool {
    if let Some(choices) = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(key)?.as_array()) {
        return choices.iter().any(|schema| fits(value, schema));
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        return words.contains(value);
    }
    if let Some(word) = schema.get("const") {
        return word == value;
    }
    let types = types(schema);
    let length = value.as_array().map(|items| items.len() as u64);
    let has_length = |key: &str| schema.get(key).and_then(Value::as_u64).is_none_or(|it| length == Some(it));
    // Times and durations can be written in two ways, and say better themselves how.
    types.is_empty()
        || types.len() > 1 && !types.contains(&"null")
        || types.iter().any(|it| is_of(value, it)) && {
            length.is_none() || has_length("minItems") && has_length("maxItems")
        }
}

fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(only)) => vec![only],
        Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn is_of(value: &Value, schema_type: &str) -> bool {
    match schema_type {
        "string" => value.is_string(),
        "integer" => value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

fn allowed(schema: &Value) -> String {
    let words = words(schema);
    if !words.is_empty() {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        return if let [only] = words.as_slice() { only.clone() } else { format!("one of {}", words.join(", ")) };
    }
    let described = types(schema).into_iter().map(|it| match it {
        "string" => "a string".to_owned(),
        "integer" => "a whole number".to_owned(),
        "number" => "a number".to_owned(),
        "boolean" => "`true` or `false`".to_owned(),
        "array" => match schema.get("maxItems") {
            Some(length) => format!("a list of {length}"),
            None => "a list".to_owned(),
        },
        "object" => "an object".to_owned(),
        other => format!("`{other}`"),
    });
    described.collect::<Vec<String>>().join(" or ")
}

/// The words that an enumeration takes, however it is written.
fn words(schema: &Value) -> Vec<&str> {
    let list = |key: &str| schema.get(key).and_then(Value::as_array).into_iter().flatten();
    let own = list("enum").chain(schema.get("const")).filter_map(Value::as_str);
    let nested = list("oneOf").chain(list("anyOf"));
    // One level is all there is: an enumeration does not hold another.
    let nested =
        nested.flat_map(|it| it.get("enum").and_then(Value::as_array).into_iter().flatten().chain(it.get("const")));
    own.chain(nested.filter_map(Value::as_str)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn it_names_field_value_and_what_is_allowed() {
        let schema = json!({
            "type": "object", "required": ["text"],
            "properties": {
                "text": {"type": "string"}, "limit": {"type": "integer"}, "pinned": {"type": ["boolean", "null"]},
                "mode": {"type": "string", "enum": ["memories", "entities"]},
                "tags": {"type": "array", "items": {"type": "string"}},
                "line_range": {"type": "array", "prefixItems": [{"type": "integer"}], "minItems": 2, "maxItems": 2},
                "tokenizer": {"oneOf": [{"enum": ["o200k"]}, {"const": "chars/4"}]},
                "quota": {"type": "object", "properties": {"bytes": {"type": "integer"}}},
                "at": {"type": ["string", "integer"]},
            },
        });
        for (field, wrong, message) in [
            ("limit", json!("x"), "`limit` must be a whole number, not `\"x\"`"),
            ("limit", json!(u64::MAX), "`limit` must be a whole number, not `18446744073709551615`"),
            ("pinned", json!(1), "`pinned` must be `true` or `false` or `null`, not `1`"),
            ("mode", json!("nodes"), "`mode` must be one of `memories`, `entities`, not `\"nodes\"`"),
            ("tags", json!(["a", null]), "`tags[1]` must be a string, not `null`"),
            ("line_range", json!([1]), "`line_range` must be a list of 2, not `[1]`"),
            ("tokenizer", json!({}), "`tokenizer` must be one of `o200k`, `chars/4`, not `{}`"),
            ("quota", json!({"bytes": true}), "`quota.bytes` must be a whole number, not `true`"),
        ] {
            let request = json!({"content": "given under another name", field: wrong});
            assert_eq!(mismatch(&request, &schema).as_deref(), Some(message));
        }
        assert_eq!(mismatch(&json!({"limit": null}), &schema).as_deref(), Some("`text` is required"));
        assert_eq!(mismatch(&json!({"context": "x", "mode": null, "at": []}), &schema), None);
    }

    #[test]
    fn a_refusal_is_in_the_words_of_our_types_or_names_the_value() {
        let value = json!({"segments": [{"line_range": [-1, 2]}]});
        let path = "segments[0].line_range[0]";
        let (own, serde) = ("`soon` is not a time", "invalid value: integer `-1`, expected u32");
        assert_eq!(refused(&value, path, own), "`segments[0].line_range[0]`: `soon` is not a time");
        assert_eq!(refused(&value, "", own), "`soon` is not a time");
        assert_eq!(refused(&value, path, serde), "`segments[0].line_range[0]` cannot be `-1`");
        assert_eq!(refused(&json!(7), "", serde), "the value cannot be `7`");
    }
}
