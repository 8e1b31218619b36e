//! The file of @modelcontextprotocol/server-memory: one JSON object per line, an entity or a relation.

use std::collections::HashMap;

use rootset_model::json;
use rootset_model::limits::EXTRACTED_NAME_CHARS_MAX;
use serde::Deserialize;

/// What memories from such a file say they come from.
pub const SOURCE: &str = "server-memory";
/// The type of an entity that has none.
const TYPE_DEFAULT: &str = "term";

#[derive(Debug, Default)]
pub struct Graph {
    /// Each name once, in the order of the file.
    pub entities: Vec<Entity>,
    pub relations: Vec<Relation>,
    pub problems: Vec<Problem>,
}

#[derive(Debug)]
pub struct Entity {
    pub name: String,
    pub entity_type: String,
    pub observations: Vec<String>,
}

#[derive(Debug)]
pub struct Relation {
    pub source: String,
    pub relation: String,
    pub target: String,
}

/// A line that cannot be brought.
#[derive(Debug)]
pub struct Problem {
    pub line: usize,
    pub what: String,
}

/// Fields that others added to theirs are theirs: they are passed over.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Line {
    Entity {
        name: String,
        #[serde(rename = "entityType", default)]
        entity_type: String,
        #[serde(default)]
        observations: Vec<String>,
    },
    Relation {
        from: String,
        to: String,
        #[serde(rename = "relationType")]
        relation_type: String,
    },
}

impl Graph {
    pub fn is_empty(&self) -> bool {
        self.entities.is_empty() && self.relations.is_empty()
    }
}

impl Entity {
    /// What there is to remember of it; nothing when nobody observed anything.
    pub fn text(&self) -> Option<String> {
        (!self.observations.is_empty()).then(|| self.observations.join("\n"))
    }

    /// Tells whether the file says something else about it by now.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in [&self.name, &self.entity_type].into_iter().chain(&self.observations) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }
}

pub fn parse(text: &str) -> Graph {
    let mut graph = Graph::default();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        if let Err(what) = take(line, &mut graph, &mut places) {
            graph.problems.push(Problem { line: number + 1, what });
        }
    }
    graph
}

fn take(line: &str, graph: &mut Graph, places: &mut HashMap<String, usize>) -> Result<(), String> {
    match serde_json::from_str(line).map_err(|error| why_not(&error))? {
        Line::Entity { name, entity_type, observations } => {
            let name = checked("name", &name)?;
            let entity_type = match entity_type.trim() {
                "" => TYPE_DEFAULT.to_owned(),
                given => checked("entityType", given)?,
            };
            let place = *places.entry(name.clone()).or_insert_with(|| {
                graph.entities.push(Entity { name, entity_type, observations: Vec::new() });
                graph.entities.len() - 1
            });
            let known = &mut graph.entities[place].observations;
            for observation in observations {
                let observation = observation.trim();
                if !observation.is_empty() && !known.iter().any(|it| it == observation) {
                    known.push(observation.to_owned());
                }
            }
        }
        Line::Relation { from, to, relation_type } => graph.relations.push(Relation {
            source: checked("from", &from)?,
            target: checked("to", &to)?,
            relation: checked("relationType", &relation_type)?,
        }),
    }
    Ok(())
}

fn why_not(error: &serde_json::Error) -> String {
    if error.is_data() {
        return "it is neither an entity with `name` nor a relation with `from`, `to` and `relationType`".to_owned();
    }
    format!("it {}", json::fault_in_line(error))
}

/// One name that is too long must not keep the whole graph out.
fn checked(field: &str, name: &str) -> Result<String, String> {
    let name = name.trim();
    let length = name.chars().count();
    if length == 0 || length > EXTRACTED_NAME_CHARS_MAX || name.contains('\0') {
        return Err(format!("`{field}` has {length} characters; allowed: 1 to {EXTRACTED_NAME_CHARS_MAX}"));
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_and_relations_are_read_and_bad_lines_are_named() {
        let graph = parse(concat!(
            "\u{feff}{\"type\":\"entity\",\"name\":\" Alice \",\"entityType\":\"person\",\"observations\":[\"likes tea\",\" \"]}\n",
            "\n",
            "not JSON\n",
            "{\"type\":\"entity\",\"name\":\"Alice\",\"observations\":[\"likes tea\",\"lives in Oslo\"],\"createdAt\":1}\n",
            "{\"type\":\"relation\",\"from\":\"Alice\",\"to\":\"Acme\",\"relationType\":\"works at\"}\n",
            "{\"type\":\"relation\",\"from\":\"\",\"to\":\"Acme\",\"relationType\":\"works at\"}\n",
            "{\"type\":\"ghost\"}\n",
        ));
        assert_eq!(graph.entities.len(), 1);
        assert_eq!(graph.entities[0].text().as_deref(), Some("likes tea\nlives in Oslo"));
        assert_eq!(graph.entities[0].entity_type, "person");
        assert_eq!(graph.relations.len(), 1);
        let lines: Vec<usize> = graph.problems.iter().map(|it| it.line).collect();
        assert_eq!(lines, [3, 6, 7]);
        assert_eq!(graph.problems[0].what, "it is not JSON, at column 2");
        assert!(graph.problems[2].what.starts_with("it is neither an entity"), "{}", graph.problems[2].what);
    }

    #[test]
    fn digest_tells_one_text_from_another() {
        let entity = |observations: &[&str]| Entity {
            name: "a".to_owned(),
            entity_type: "b".to_owned(),
            observations: observations.iter().map(|&it| it.to_owned()).collect(),
        };
        assert_eq!(entity(&["x", "y"]).digest(), entity(&["x", "y"]).digest());
        assert_ne!(entity(&["x", "y"]).digest(), entity(&["xy"]).digest());
    }
}
