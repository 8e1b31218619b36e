//! For tests that make up files: the readers of the files that people and other programs write, without a program around
//! them. Nothing here is an interface for anybody else.

use crate::commands::import;
use crate::configuration::Configuration;

/// Reads the text of a `rootset.toml`, with neither environment nor flags; the error is what a person would be told.
pub fn configuration(text: &str) -> Result<(), String> {
    Configuration::of_text(text).map(drop).map_err(|error| error.to_string())
}

/// Reads the file of @modelcontextprotocol/server-memory.
pub fn server_memory(text: &str) -> ServerMemory {
    let graph = import::server_memory::parse(text);
    ServerMemory {
        names: graph.entities.iter().map(|entity| entity.name.clone()).collect(),
        texts: graph.entities.iter().filter_map(import::server_memory::Entity::text).collect(),
        relations: graph.relations.len(),
        problem_lines: graph.problems.iter().map(|problem| problem.line).collect(),
    }
}

/// What was understood of it.
#[derive(Debug)]
pub struct ServerMemory {
    pub names: Vec<String>,
    pub texts: Vec<String>,
    pub relations: usize,
    /// Counted from one.
    pub problem_lines: Vec<usize>,
}
