//! Schemas of requests and answers, without the parts that neither a model nor a program can use.
//!
//! Every reader of a schema pays for every word of it: agents read the whole list of tools before their first
//! question. The draft, Rust's names of types, widths of numbers and `null` (which means absent) say nothing here.

use rootset_model::moment::WRITTEN_AS;
use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value, json};

use crate::detail::Detail;

/// A schema and, apart from it, what it is about.
#[derive(Debug)]
pub(crate) struct Described {
    pub description: String,
    pub schema: Value,
    /// The same without the fields that are marked [`RARE`].
    pub essential: Value,
}

/// Marks a field that only the profile `full` shows a model: it is for programs, for people, or for what a hint leads to.
/// Never part of a schema that anybody reads.
pub(crate) const RARE: &str = "x-rare";

impl Described {
    pub fn with_detail(mut self) -> Self {
        fields_of(&mut self.schema).insert(Detail::FIELD.to_owned(), Detail::field_schema());
        self
    }

    /// What is an answer of either form. The root stays a plain object, because some clients take nothing else.
    pub fn or(mut self, mut other: Self) -> Self {
        let ours = required_of(&self.schema);
        let both: Vec<Value> = required_of(&other.schema).into_iter().filter(|it| ours.contains(it)).collect();
        let others = std::mem::take(fields_of(&mut other.schema));
        let fields = fields_of(&mut self.schema);
        for (name, theirs) in others {
            match fields.get_mut(&name) {
                None => drop(fields.insert(name, theirs)),
                Some(schema) if is_same(schema, &theirs) => {}
                Some(schema) => *schema = json!({"anyOf": [schema.take(), theirs]}),
            }
        }
        self.schema["required"] = both.into();
        self
    }
}

/// Whether they allow the same; what they say about it may differ.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let said = |fields: &Map<String, Value>| fields.get("description").is_some_and(Value::is_string);
            let length = |fields: &Map<String, Value>| fields.len() - usize::from(said(fields));
            let mut rules = one.iter().filter(|(name, value)| *name != "description" || !value.is_string());
            length(one) == length(other)
                && rules.all(|(name, rule)| other.get(name).is_some_and(|it| is_same(rule, it)))
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        _ => one == other,
    }
}

fn fields_of(schema: &mut Value) -> &mut Map<String, Value> {
    if !schema["properties"].is_object() {
        schema["properties"] = json!({});
    }
    schema["properties"].as_object_mut().expect("it was made an object just now")
}

fn required_of(schema: &Value) -> Vec<Value> {
    schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default()
}

/// Words to choose from, each of which says what it is.
fn only_words(field: &mut Value) {
    let words_of = |it: &Value| -> Option<Vec<Value>> {
        let one = it.get("const").map(|word| vec![word.clone()]);
        one.or_else(|| it.get("enum")?.as_array().cloned())
    };
    let choices = field.get("oneOf").and_then(Value::as_array);
    let words: Option<Vec<Vec<Value>>> = choices.and_then(|choices| choices.iter().map(words_of).collect());
    if let (Some(words), Some(field)) = (words, field.as_object_mut()) {
        field.shift_remove("oneOf");
        field.insert("type".to_owned(), "string".into());
        field.insert("enum".to_owned(), words.concat().into());
    }
}

/// A field as a model needs it: what lies inside says what it may be, and the field itself what for.
fn plainly(field: &mut Value) {
    only_words(field);
    // Times are also taken as numbers; whoever writes one by hand writes text.
    if field.get("type").and_then(Value::as_array).is_some_and(|types| types.iter().any(|it| it == "string")) {
        field["type"] = "string".into();
    }
    for inner in ["items", "additionalProperties"] {
        if let Some(inner) = field.get_mut(inner).filter(|inner| inner.is_object()) {
            only_words(inner);
            if let Some(fields) = inner.as_object_mut().filter(|fields| !fields.contains_key("properties")) {
                fields.shift_remove("description");
            }
        }
    }
}

fn rare_fields(schema: &Value) -> Vec<String> {
    let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    fields.filter(|(_, field)| field.get(RARE).is_some()).map(|(name, _)| name.clone()).collect()
}

fn essential(schema: &Value, rare: &[String]) -> Value {
    let mut essential = schema.clone();
    if let Some(fields) = essential.get_mut("properties").and_then(Value::as_object_mut) {
        fields.retain(|name, _| !rare.contains(name));
        fields.values_mut().for_each(plainly);
    }
    essential
}

pub(crate) fn described<T: JsonSchema>(contract: Contract) -> Described {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.contract = contract;
    });
    let mut schema: Value = settings.into_generator().into_root_schema_for::<T>().into();
    let rare = rare_fields(&schema);
    simplify(&mut schema);
    let fields = schema.as_object_mut();
    let description = fields.and_then(|fields| fields.shift_remove("description"));
    let essential = essential(&schema, &rare);
    let description = description.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
    Described { description, schema, essential }
}

/// Widths and signs of numbers; `uuid` and `date-time` tell more than that and stay.
const FORMATS_OF_NUMBERS: [&str; 10] =
    ["double", "float", "int8", "int16", "int32", "int64", "uint", "uint8", "uint32", "uint64"];

fn simplify(schema: &mut Value) {
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        let Value::Object(fields) = schema else { continue };
        fields.shift_remove("$schema");
        fields.shift_remove("title");
        fields.shift_remove(RARE);
        let is_width = |format: &str| FORMATS_OF_NUMBERS.contains(&format);
        if fields.get("format").and_then(Value::as_str).is_some_and(is_width) {
            fields.shift_remove("format");
        }
        if let Some(Value::String(description)) = fields.get_mut("description") {
            // Where a comment was wrapped in its source means nothing to a reader of the schema.
            *description = description.replace('\n', " ");
        }
        if let Some(Value::String(written_as)) = fields.shift_remove(WRITTEN_AS) {
            say_how_it_is_written(fields, &written_as);
        }
        without_null(fields);
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

/// A time can be written in several ways: the field's description ends with them.
fn say_how_it_is_written(fields: &mut Map<String, Value>, written_as: &str) {
    let own = fields.get("description").and_then(Value::as_str).unwrap_or_default();
    let described = match own.strip_suffix('.').unwrap_or(own) {
        "" => format!("A {written_as}."),
        own => format!("{own}: a {written_as}."),
    };
    fields.insert("description".to_owned(), described.into());
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
        simplify(&mut schema);
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
    fn times_say_how_they_are_written() {
        let time = |more: Value| {
            let mut field = json!({"type": ["string", "integer", "null"], WRITTEN_AS: "date or age"});
            field.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            field
        };
        let mut schema =
            json!({"properties": {"a": time(json!({})), "b": time(json!({"description": "The first day."}))}});
        simplify(&mut schema);
        assert_eq!(schema["properties"]["a"], json!({"type": ["string", "integer"], "description": "A date or age."}));
        assert_eq!(schema["properties"]["b"]["description"], "The first day: a date or age.");
    }

    #[test]
    fn rare_fields_are_for_those_who_read_everything() {
        let item = json!({"properties": {"seed": {"type": "string", RARE: true}}});
        let mut schema = json!({"properties": {"texts": {"items": item}, "seed": {"type": "string", RARE: true}}});
        let rare = rare_fields(&schema);
        simplify(&mut schema);
        let texts = json!({"items": {"properties": {"seed": {"type": "string"}}}});
        assert_eq!(essential(&schema, &rare), json!({"properties": {"texts": texts}}));
        assert_eq!(schema, json!({"properties": {"texts": texts, "seed": {"type": "string"}}}));
    }

    #[test]
    fn choices_lose_their_explanations_where_a_model_reads_them() {
        let choice = json!({"description": "D", "oneOf": [{"type": "string", "enum": ["all"]}, {"const": "one", "description": "x"}]});
        let schema = json!({"properties": {"kind": choice}});
        let essential = essential(&schema, &[]);
        assert_eq!(
            essential["properties"]["kind"],
            json!({"description": "D", "type": "string", "enum": ["all", "one"]})
        );
        assert!(schema["properties"]["kind"]["oneOf"].is_array());
        let each =
            json!({"description": "D", "additionalProperties": {"description": "inner", "oneOf": [{"const": "one"}]}});
        let schema = json!({"properties": {"actions": each}});
        let inner = json!({"type": "string", "enum": ["one"]});
        assert_eq!(
            super::essential(&schema, &[])["properties"]["actions"],
            json!({"description": "D", "additionalProperties": inner})
        );
    }

    #[test]
    fn an_answer_of_either_form_is_described_with_both() {
        let described = |schema: Value| Described { description: String::new(), essential: schema.clone(), schema };
        let full = described(
            json!({"type": "object", "properties": {"id": {"type": "string"}, "n": {"type": "integer"}}, "required": ["id", "n"]}),
        );
        let brief = described(
            json!({"type": "object", "properties": {"n": {"type": "string"}, "text": {"type": "string"}}, "required": ["n"]}),
        );
        let wanted = json!({
            "type": "object",
            "properties": {
                "id": {"type": "string"}, "n": {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "text": {"type": "string"},
            },
            "required": ["n"],
        });
        assert_eq!(full.or(brief).schema, wanted);
    }
}
