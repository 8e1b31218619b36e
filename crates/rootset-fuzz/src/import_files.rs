//! Files of other programs that are imported: the graph of server-memory, and a graph as one JSON document.

use std::collections::HashSet;

use rootset_api::{ImportGraph, Request};
use rootset_program::reading;

pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let read = reading::server_memory(text);
    let names: HashSet<&String> = read.names.iter().collect();
    assert_eq!(names.len(), read.names.len(), "a name came twice");
    assert!(read.names.iter().all(|name| !name.trim().is_empty()), "a name without a letter");
    assert!(read.texts.iter().all(|text| !text.trim().is_empty()), "a memory without a text");
    let lines = text.lines().count();
    let is_in_order = read.problem_lines.windows(2).all(|pair| pair[0] < pair[1]);
    assert!(is_in_order && read.problem_lines.iter().all(|line| (1..=lines).contains(line)), "{read:?}");
    assert!(read.names.len() + read.relations + read.problem_lines.len() <= lines, "more than one thing in a line");
    if let Ok(document) = serde_json::from_str(text) {
        let _ = ImportGraph::parse(document);
    }
}
