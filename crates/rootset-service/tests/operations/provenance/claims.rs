//! Every operation, with every value that its schema names and words that would be a lie, called by an agent that says it is
//! somebody else: nothing in the whole database ever says that a person did it.
//!
//! Requests are made from the schemas and rows are looked at by the names of their columns, so that a new operation or a new
//! table is covered without a line here.

use std::collections::BTreeMap;

use rootset_api::{OperationInfo, catalogue};
use rootset_model::names::RESERVED_ACTORS;
use rootset_service::{Caller, FrontEnd};
use rootset_testing::Sql;
use serde_json::{Map, Value, json};

use super::{agent, call_as};
use crate::harness::World;
use crate::nonsense::plausible;

/// Columns that say who did something, how, and for whom.
const SIGNATURES: [&str; 5] = ["actor", "created_by", "pinned_actor", "set_by", "written_by"];
const CLAIMS: [(&str, &str); 4] =
    [("channel", "cli"), ("pinned_by", "person"), ("source", "user"), ("trust", "person")];
/// What an agent would write to be taken for somebody else, and names of things that are there.
const WORDS: [&str; 7] = ["mine", "theirs", "strange", "user", "cli", "person", "scheduler"];

/// How many rows say so, by table, column and word.
fn claims(sql: &Sql) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for table in sql.tables().unwrap() {
        let rows = sql.rows(&format!("SELECT * FROM {table}"), &[], |row| {
            Ok(row.columns().map(|(name, cell)| (name.to_owned(), format!("{cell:?}"))).collect::<Vec<_>>())
        });
        // Full-text tables are no place for signatures.
        for (column, cell) in rows.into_iter().flatten().flatten() {
            let says = |word: &str| cell.contains(&format!("{word:?}"));
            let is_claim = CLAIMS.iter().any(|(name, word)| column == *name && says(word));
            let is_signature = SIGNATURES.contains(&column.as_str()) && RESERVED_ACTORS.iter().any(|word| says(word));
            if is_claim || is_signature {
                *found.entry(format!("{table}.{column}: {cell}")).or_default() += 1;
            }
        }
    }
    found
}

/// Values that a field might be given: all that its schema names, and words that would be a lie.
fn values(schema: &Value) -> Vec<Value> {
    let mut found: Vec<Value> = schema["enum"].as_array().cloned().unwrap_or_default();
    found.extend(schema.get("const").cloned());
    for alternatives in [&schema["oneOf"], &schema["anyOf"]] {
        found.extend(alternatives.as_array().into_iter().flatten().flat_map(values));
    }
    let kinds = match &schema["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    for kind in kinds {
        match kind {
            "boolean" => found.extend([json!(true), json!(false)]),
            "string" if found.is_empty() => found.extend(WORDS.map(Value::from)),
            "array" => found.extend(values(&schema["items"]).into_iter().map(|item| json!([item]))),
            "object" => found.extend(filled(schema, &Map::new())),
            _ => {}
        }
    }
    found
}

/// An object with each value of each field, one at a time, and one with every switch on.
fn filled(schema: &Value, base: &Map<String, Value>) -> Vec<Value> {
    let fields = schema["properties"].as_object().cloned().unwrap_or_default();
    let mut base = base.clone();
    for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        base.entry(required).or_insert_with(|| json!("It is said again and again."));
    }
    let mut requests = vec![Value::Object(base.clone())];
    for (field, schema) in &fields {
        for value in values(schema) {
            let mut request = base.clone();
            request.insert(field.clone(), value);
            requests.push(Value::Object(request));
        }
    }
    let mut switched_on = base;
    switched_on
        .extend(fields.iter().filter(|(_, it)| it["type"] == "boolean").map(|(field, _)| (field.clone(), json!(true))));
    requests.push(Value::Object(switched_on));
    requests
}

fn requests(operation: &OperationInfo) -> Vec<Value> {
    let schema = operation.input_schema();
    let base = plausible(operation).as_object().cloned().unwrap_or_default();
    let about_each = ["mine", "theirs", "strange", "gone"].map(|name| {
        let mut base = base.clone();
        if base.contains_key("memory_id") {
            base.insert("memory_id".to_owned(), json!(name));
        }
        base
    });
    let bases = if base.contains_key("memory_id") { &about_each[..] } else { &about_each[..1] };
    bases.iter().flat_map(|base| filled(schema, base)).collect()
}

/// A person's memory with a pin, an agent's, one that nobody answers for, and one in the trash.
fn world() -> World {
    let world = World::new();
    world.call("add_memory", json!({"name": "mine", "context": "I said this myself.", "pinned": true}));
    world.call("add_memory", json!({"name": "strange", "context": "A page said this.", "untrusted": true}));
    world.add_named("gone", "I removed this.");
    world.delete("gone");
    call_as(&world, &agent(), "add_memory", json!({"name": "theirs", "context": "An agent said this."}));
    world
}

#[test]
fn nothing_an_agent_asks_for_says_that_a_person_did_it() {
    let mut asked = 0;
    for operation in catalogue() {
        let world = world();
        let before = claims(&world.database.sql());
        assert!(before.keys().any(|it| it.starts_with("memories.trust")), "{before:?}");
        let liars = ["cli", "scheduler"].map(|name| Caller::new(FrontEnd::Mcp, name, "home"));
        for (request, liar) in requests(operation).into_iter().zip(liars.iter().cycle()) {
            asked += 1;
            // Most of it is refused; what matters is what the rest leaves behind.
            let _ = world.service.call(liar, operation.name, request);
        }
        let after = claims(&world.database.sql());
        let more: Vec<_> =
            after.iter().filter(|(claim, count)| before.get(*claim).copied().unwrap_or_default() < **count).collect();
        assert!(more.is_empty(), "{}: {more:?}", operation.name);
    }
    assert!(asked > 500, "{asked} requests try little");
}

/// The same words by a person are what the test looks for: it would notice.
#[test]
fn a_person_who_does_the_same_leaves_such_rows() {
    let world = world();
    let before = claims(&world.database.sql());
    world.call("add_memory", json!({"context": "One more thing.", "pinned": true}));
    let after = claims(&world.database.sql());
    let more =
        |column: &str| after.iter().any(|(claim, count)| claim.starts_with(column) && before.get(claim) < Some(count));
    for column in ["memories.trust", "memories.channel", "memories.pinned_by", "memories.source", "memories.written_by"]
    {
        assert!(more(column), "{column}: {after:?}");
    }
}
