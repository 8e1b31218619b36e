//! Requests of all operations: lines of an operation's name and its JSON, carried out one after the other.

use serde_json::Value;

use crate::world::with_world;

/// Enough to make something, change it, and remove it again.
const REQUESTS_MAX: usize = 8;

pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let requests: Vec<(&str, Value)> = text.lines().filter_map(request).take(REQUESTS_MAX).collect();
    if requests.is_empty() {
        return;
    }
    with_world(|world| {
        for (operation, request) in requests {
            // What is refused is refused; the world itself says what an answer must not be.
            let _ = world.call(operation, request);
        }
    });
}

fn request(line: &str) -> Option<(&str, Value)> {
    let (operation, json) = line.split_once(' ')?;
    Some((operation, serde_json::from_str(json).ok()?))
}
