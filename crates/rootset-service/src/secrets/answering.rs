//! What the border did, in the answer: `redacted`, of the item it was in where the answer has one per item, and `warnings`.

use serde_json::{Value, json};

use super::Notes;

pub(crate) fn add_to(answer: &mut Value, notes: &Notes) {
    for item in &notes.redacted {
        let of_item = item.and_then(|index| answer.get_mut("results")?.get_mut(index)?.get_mut("redacted"));
        match of_item {
            Some(count) => add_one(count),
            None => {
                if let Value::Object(fields) = answer {
                    add_one(fields.entry("redacted").or_insert(json!(0)));
                }
            }
        }
    }
    if let Value::Object(fields) = answer
        && !notes.warnings.is_empty()
    {
        let warnings = fields.entry("warnings").or_insert(json!([]));
        if let Value::Array(warnings) = warnings {
            warnings.extend(notes.warnings.iter().map(|it| json!(it)));
        }
    }
}

fn add_one(count: &mut Value) {
    *count = json!(count.as_u64().unwrap_or(0) + 1);
}
