//! A request with its secrets replaced: written as JSON, gone through, and read again.

use std::collections::HashMap;

use rootset_api::{ErrorCode, Request};
use rootset_text::secrets::SecretScan;
use serde_json::{Map, Value};

use super::Step;
use super::fields::{self, Use};
use crate::error::ServiceError;

/// Only for requests in which something was found: writing and reading one takes longer than looking at it.
pub(super) fn redacted<R: Request>(request: &R, scan: SecretScan) -> Result<R, ServiceError> {
    let unwritable = |_| ServiceError::new(ErrorCode::Internal, "the request cannot be written as JSON");
    let mut value = serde_json::to_value(request).map_err(unwritable)?;
    redact_value(R::NAME, &mut value, scan, Vec::new());
    Ok(R::parse(value)?)
}

/// The same for JSON of the caller's own, in which everything is text.
pub(crate) fn redact_free_value(value: &mut Value, scan: SecretScan) {
    redact_value("", value, scan, vec![Step::Field("metadata".into())]);
}

/// Replaces secrets in the strings and names of a value. Fields whose values are not text were refused before, or are only looked
/// up and stay.
fn redact_value(operation: &str, value: &mut Value, scan: SecretScan, path: Vec<Step>) {
    // Values nest as deep as the parser allows; a stack of our own keeps ours flat.
    let mut open: Vec<(&mut Value, Vec<Step>)> = vec![(value, path)];
    while let Some((value, path)) = open.pop() {
        match value {
            Value::String(text) if fields::use_of(operation, &path) == Use::Text => {
                let clean = scan.redact_field(fields::nearest_name(&path).unwrap_or_default(), text);
                if clean.count > 0 {
                    *text = clean.text.into_owned();
                }
            }
            Value::Array(items) => open.extend(items.iter_mut().enumerate().map(|(index, item)| {
                let step = Step::Index(index);
                (item, path.iter().cloned().chain([step]).collect())
            })),
            Value::Object(members) => {
                redact_names(members, scan);
                open.extend(members.iter_mut().map(|(name, value)| {
                    let step = Step::Field(name.clone().into());
                    (value, path.iter().cloned().chain([step]).collect())
                }));
            }
            _ => {}
        }
    }
}

/// Names with a secret in them get another one; two that would be the same are told apart by a number.
fn redact_names(fields: &mut Map<String, Value>, scan: SecretScan) {
    if fields.keys().all(|name| scan.find(name).is_empty()) {
        return;
    }
    let mut numbers: HashMap<String, usize> = HashMap::new();
    for (name, value) in std::mem::take(fields) {
        let clean = scan.redact(&name).text.into_owned();
        let mut free = clean.clone();
        while fields.contains_key(&free) {
            let number = numbers.entry(clean.clone()).or_insert(1);
            *number += 1;
            free = format!("{clean} {number}");
        }
        fields.insert(free, value);
    }
}
