//! From JSON to a request: unknown fields are errors that suggest the nearest name, wrong types name their field.

use schemars::JsonSchema;
use schemars::generate::Contract;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::Error;
use crate::mismatch::{mismatch, not_a_word, refused};
use crate::schema;

/// Other names under which a field is accepted.
const ALIASES: [(&str, &str); 2] = [("context", "text"), ("content", "text")];
/// Requests nest no deeper than this; a deeper one is an attack or a mistake.
const DEPTH_MAX: usize = 64;

pub(crate) fn parse<T: DeserializeOwned>(mut request: Value, schema: &Value) -> Result<T, Error> {
    if request.is_null() {
        request = Value::Object(Map::new());
    }
    let Value::Object(fields) = &mut request else {
        return Err(Error::invalid("a request is a JSON object"));
    };
    fields.retain(|_, value| !value.is_null());
    check_fields(&request, schema)?;
    explained(&request, || schema.clone()).map_err(Error::invalid)
}

/// The error names the field, the value and what is allowed.
pub fn read<T: DeserializeOwned + JsonSchema>(value: &Value) -> Result<T, String> {
    explained(value, schema_of::<T>)
}

/// A word that somebody typed for an option. The error names the option, the word and the words that are allowed.
pub fn word<T: DeserializeOwned + JsonSchema>(option: &str, text: &str) -> Result<T, String> {
    let word = Value::String(text.to_owned());
    serde_json::from_value(word).map_err(|_| not_a_word(option, text, &schema_of::<T>()))
}

fn schema_of<T: JsonSchema>() -> Value {
    schema::described::<T>(Contract::Deserialize).schema
}

/// The value as the type, or why it is not one: by the schema, which is only made then, else by who refused it.
fn explained<T: DeserializeOwned>(value: &Value, schema: impl FnOnce() -> Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error: serde_path_to_error::Error<serde_json::Error>| {
        mismatch(value, &schema()).unwrap_or_else(|| {
            let path = error.path().to_string();
            refused(value, if path == "." || path == "?" { "" } else { &path }, &error.into_inner().to_string())
        })
    })
}

/// Walks request and schema side by side, without recursion.
fn check_fields(request: &Value, schema: &Value) -> Result<(), Error> {
    let no_properties = Map::new();
    let mut open = vec![(request, schema, 0)];
    while let Some((value, schema, depth)) = open.pop() {
        if depth > DEPTH_MAX {
            return Err(Error::invalid(format!("the request nests deeper than {DEPTH_MAX} levels")));
        }
        match value {
            Value::Object(fields) => {
                let properties = schema.get("properties").and_then(Value::as_object);
                // An operation without fields has no properties either, and still knows no others.
                let properties = properties.or((depth == 0).then_some(&no_properties));
                for (name, value) in fields {
                    let schema = match properties {
                        Some(known) => known.get(canonical(name, known)).ok_or_else(|| unknown_field(name, known))?,
                        None => &Value::Null,
                    };
                    open.push((value, schema, depth + 1));
                }
            }
            Value::Array(items) => {
                let schema = schema.get("items").unwrap_or(&Value::Null);
                open.extend(items.iter().map(|item| (item, schema, depth + 1)));
            }
            _ => {}
        }
    }
    Ok(())
}

pub(crate) fn canonical<'a>(name: &'a str, properties: &Map<String, Value>) -> &'a str {
    let alias = ALIASES.iter().find(|(alias, field)| *alias == name && properties.contains_key(*field));
    match alias {
        Some((_, field)) if !properties.contains_key(name) => field,
        _ => name,
    }
}

fn unknown_field(name: &str, properties: &Map<String, Value>) -> Error {
    let shown: String = name.chars().take(80).collect();
    let error = Error::invalid(format!("unknown field `{shown}`"));
    let all: Vec<&str> = properties.keys().map(String::as_str).collect();
    let others = ALIASES.iter().filter(|(_, field)| properties.contains_key(*field)).map(|(alias, _)| *alias);
    match nearest(name, all.iter().copied().chain(others), 1).first() {
        Some(near) => error.with_hint(format!("did you mean `{near}`?")),
        None => error.with_hint(format!("allowed: {}", all.join(", "))),
    }
}

/// The names most like `name`, best first; only those that are alike at all.
pub fn nearest<'a>(name: &str, all: impl Iterator<Item = &'a str>, limit: usize) -> Vec<&'a str> {
    const ALIKE_MIN: f64 = 0.75;
    /// Comparing takes the product of both lengths; no name of ours is half as long.
    const NAME_BYTES_MAX: usize = 256;
    if name.len() > NAME_BYTES_MAX {
        return Vec::new();
    }
    let mut scored: Vec<(f64, &str)> =
        all.map(|other| (strsim::jaro_winkler(name, other), other)).filter(|(score, _)| *score >= ALIKE_MIN).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.into_iter().take(limit).map(|(_, other)| other).collect()
}

/// The places of the names with a word most like one of the query's, best first; only those that are alike at all.
pub fn nearest_words<'a>(query: &str, names: impl Iterator<Item = &'a str>, limit: usize) -> Vec<usize> {
    const ALIKE_MIN: f64 = 0.8;
    /// Shorter words are like many others.
    const WORD_CHARS_MIN: usize = 3;
    /// Each is compared with every word of every name.
    const WORDS_MAX: usize = 16;
    let words_of = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= WORD_CHARS_MIN);
        words.take(WORDS_MAX).map(str::to_lowercase).collect()
    };
    let asked = words_of(query);
    let likeness = |name: &str| {
        let words = words_of(name);
        let pairs = asked.iter().flat_map(|ours| words.iter().map(move |theirs| strsim::jaro_winkler(ours, theirs)));
        pairs.fold(0.0, f64::max)
    };
    let mut scored: Vec<(f64, usize)> = names
        .enumerate()
        .map(|(place, name)| (likeness(name), place))
        .filter(|(score, _)| *score >= ALIKE_MIN)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.into_iter().take(limit).map(|(_, place)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_the_name_with_the_word() {
        let names = ["deploys-on-fridays", "the-office-in-lyon", "retry-policy"];
        assert_eq!(nearest_words("when do we depoly?", names.into_iter(), 5), [0]);
        assert_eq!(nearest_words("ofice of the team", names.into_iter(), 5), [1]);
        assert!(nearest_words("zeppelins", names.into_iter(), 5).is_empty());
        assert!(nearest_words("", names.into_iter(), 5).is_empty());
    }
}
