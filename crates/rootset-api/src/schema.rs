//! Schemas of requests and answers, without the parts that neither a model nor a program can use.
//!
//! Every reader of a schema pays for every word of it: agents read the whole list of tools before their first
//! question. The draft, Rust's names of types, widths of numbers and `null` (which means absent) say nothing here.

use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value};

/// A schema and, apart from it, what it is about.
#[derive(Debug)]
pub(crate) struct Described {
    pub description: String,
    pub schema: Value,
}

/// What `null` says in a request or answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nulls {
    /// The same as leaving the field out: not worth a word.
    AreAbsent,
    /// It clears the field, so schemas have to tell where it is allowed.
    Clear,
}

pub(crate) fn described<T: JsonSchema>(contract: Contract, nulls: Nulls) -> Described {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.contract = contract;
    });
    let mut schema: Value = settings.into_generator().into_root_schema_for::<T>().into();
    simplify(&mut schema, nulls);
    let fields = schema.as_object_mut();
    let description = fields.and_then(|fields| fields.shift_remove("description"));
    Described { description: description.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned(), schema }
}

/// Widths and signs of numbers; `uuid` and `date-time` tell more than that and stay.
const FORMATS_OF_NUMBERS: [&str; 10] =
    ["double", "float", "int8", "int16", "int32", "int64", "uint", "uint8", "uint32", "uint64"];

fn simplify(schema: &mut Value, nulls: Nulls) {
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        let Value::Object(fields) = schema else { continue };
        fields.shift_remove("$schema");
        fields.shift_remove("title");
        let is_width = |format: &str| FORMATS_OF_NUMBERS.contains(&format);
        if fields.get("format").and_then(Value::as_str).is_some_and(is_width) {
            fields.shift_remove("format");
        }
        if let Some(Value::String(description)) = fields.get_mut("description") {
            // Where a comment was wrapped in its source means nothing to a reader of the schema.
            *description = description.replace('\n', " ");
        }
        if nulls == Nulls::AreAbsent {
            without_null(fields);
        }
        // Only what holds schemas: a field may be named `title`, and an example may look like anything.
        for (key, value) in fields.iter_mut() {
            match (key.as_str(), value) {
                ("properties" | "patternProperties", Value::Object(schemas)) => open.extend(schemas.values_mut()),
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => open.extend(schemas),
                ("items" | "additionalProperties" | "not", schema) => open.push(schema),
                _ => {}
            }
        }
    }
}

/// `T or null` becomes `T`, in each of the three ways in which that is written.
fn without_null(fields: &mut Map<String, Value>) {
    if fields.get("default").is_some_and(Value::is_null) {
        fields.shift_remove("default");
    }
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|it| it != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            fields.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = fields.get_mut("enum") {
        values.retain(|it| !it.is_null());
    }
    if let Some(Value::Array(schemas)) = fields.get_mut("anyOf") {
        schemas.retain(|it| it.get("type").is_none_or(|kind| kind != "null"));
        if let [Value::Object(_)] = schemas.as_slice() {
            let Some(Value::Array(mut schemas)) = fields.shift_remove("anyOf") else { return };
            if let Some(Value::Object(only)) = schemas.pop() {
                // The field's own description says more than that of its type.
                for (key, value) in only {
                    fields.entry(key).or_insert(value);
                }
            }
            without_null_of_type(fields);
        }
    }
}

/// What was merged in may itself allow `null`.
fn without_null_of_type(fields: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = fields.get_mut("type") {
        types.retain(|it| it != "null");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_is_left_that_says_nothing() {
        let mut schema = json!({
            "$schema": "x", "title": "T", "type": "object", "description": "one\ntwo",
            "properties": {
                "title": {"type": ["string", "null"], "title": "t", "default": null},
                "count": {"type": ["integer", "null"], "format": "int64", "minimum": 0},
                "id": {"type": "string", "format": "uuid"},
                "kind": {"description": "own", "anyOf": [{"description": "type's", "enum": ["a"]}, {"type": "null"}]},
                "either": {"anyOf": [{"type": "string"}, {"type": "integer", "format": "int64"}, {"type": "null"}]},
            },
        });
        simplify(&mut schema, Nulls::AreAbsent);
        let wanted = json!({
            "type": "object", "description": "one two",
            "properties": {
                "title": {"type": "string"},
                "count": {"type": "integer", "minimum": 0},
                "id": {"type": "string", "format": "uuid"},
                "kind": {"description": "own", "enum": ["a"]},
                "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            },
        });
        assert_eq!(schema, wanted);
    }

    #[test]
    fn null_stays_where_it_clears() {
        let mut schema = json!({"type": "object", "properties": {"name": {"type": ["string", "null"]}}});
        let before = schema.clone();
        simplify(&mut schema, Nulls::Clear);
        assert_eq!(schema, before);
    }
}
