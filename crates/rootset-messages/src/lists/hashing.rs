//! Whether two messages are the same: by a hash of their canonical JSON, in which the order of fields says nothing.

use serde_json::Value;

enum Open<'a> {
    Value(&'a Value),
    Key(&'a str),
    End,
}

/// The same for messages that are equal as JSON, whatever the order of their fields.
pub fn message_hash(message: &Value) -> u64 {
    let mut hasher = blake3::Hasher::new();
    let mut text = |kind: u8, bytes: &[u8]| {
        hasher.update(&[kind]);
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    // Callers of a library may bring values that nest deeper than any parser allows.
    let mut open = vec![Open::Value(message)];
    while let Some(next) = open.pop() {
        match next {
            Open::End => text(b'e', &[]),
            Open::Key(key) => text(b'k', key.as_bytes()),
            Open::Value(Value::Null) => text(b'0', &[]),
            Open::Value(Value::Bool(is)) => text(b'b', &[u8::from(*is)]),
            Open::Value(Value::Number(number)) => text(b'n', number.to_string().as_bytes()),
            Open::Value(Value::String(string)) => text(b's', string.as_bytes()),
            Open::Value(Value::Array(items)) => {
                text(b'a', &[]);
                open.push(Open::End);
                open.extend(items.iter().rev().map(Open::Value));
            }
            Open::Value(Value::Object(fields)) => {
                text(b'o', &[]);
                open.push(Open::End);
                let mut sorted: Vec<(&String, &Value)> = fields.iter().collect();
                sorted.sort_unstable_by(|a, b| b.0.cmp(a.0));
                open.extend(sorted.into_iter().flat_map(|(key, value)| [Open::Value(value), Open::Key(key)]));
            }
        }
    }
    let mut first = [0; 8];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(first)
}
