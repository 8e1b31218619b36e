//! What a file would add to a workspace, and what is there already.

use std::collections::{HashMap, HashSet};

use rootset_model::EntityId;
use rootset_model::identity::normalise;
use rootset_service::ServiceError;
use serde_json::{Value, json};

use super::server_memory::{Entity, Graph, Relation, SOURCE};
use crate::render::{count, list, text};
use crate::session::Session;

/// The largest page that lists answer.
const PAGE: usize = 100;
/// Where a memory keeps what it was made of.
pub const DIGEST_FIELD: &str = "digest";

#[derive(Debug, Default)]
pub struct Comparison<'a> {
    pub new: Vec<&'a Entity>,
    /// There, as an earlier import left it, and the file says more by now.
    pub changed: Vec<Changed<'a>>,
    /// There, and edited here since: the edit counts.
    pub edited: Vec<&'a Entity>,
    /// Removed here: an import does not bring it back.
    pub removed: Vec<&'a Entity>,
    pub unchanged: usize,
    /// Rows of the graph that no import has brought.
    pub entities: Vec<&'a Entity>,
    pub relations: Vec<&'a Relation>,
    /// The type of every entity of the file, by name: relations name their ends by both.
    pub types: HashMap<&'a str, &'a str>,
}

#[derive(Debug)]
pub struct Changed<'a> {
    pub entity: &'a Entity,
    /// Id of the memory that the new text replaces.
    pub replaces: String,
}

impl<'a> Comparison<'a> {
    pub fn make(graph: &'a Graph, session: &Session) -> Result<Self, ServiceError> {
        let mut comparison = Self {
            types: graph.entities.iter().map(|it| (it.name.as_str(), it.entity_type.as_str())).collect(),
            ..Self::default()
        };
        comparison.compare_memories(graph, session)?;
        comparison.compare_graph(graph, session)?;
        Ok(comparison)
    }

    pub fn is_empty(&self) -> bool {
        self.new.is_empty() && self.changed.is_empty() && self.entities.is_empty() && self.relations.is_empty()
    }

    fn compare_memories(&mut self, graph: &'a Graph, session: &Session) -> Result<(), ServiceError> {
        let live = ids_by_topic("live", session)?;
        let trashed = ids_by_topic("trashed", session)?;
        for entity in graph.entities.iter().filter(|it| it.text().is_some()) {
            match live.get(&entity.name) {
                Some(id) => self.compare_memory(entity, id, session)?,
                None if trashed.contains_key(&entity.name) => self.removed.push(entity),
                None => self.new.push(entity),
            }
        }
        Ok(())
    }

    fn compare_memory(&mut self, entity: &'a Entity, id: &str, session: &Session) -> Result<(), ServiceError> {
        let memory = session.call("get_memory", json!({"memory_id": id}))?;
        if text(&memory["metadata"], DIGEST_FIELD) == entity.digest() {
            self.unchanged += 1;
        } else if count(&memory, "revision") > 1 {
            self.edited.push(entity);
        } else {
            self.changed.push(Changed { entity, replaces: id.to_owned() });
        }
        Ok(())
    }

    /// A row that only memories vouch for is not there yet: the import would outlive them.
    fn compare_graph(&mut self, graph: &'a Graph, session: &Session) -> Result<(), ServiceError> {
        let there = session.call("export_graph", json!({"format": "json"}))?;
        let is_imported = |row: &&Value| text(row, "origin") == "untracked";
        let entities: HashSet<&str> =
            list(&there, "entities").iter().filter(is_imported).map(|it| text(it, "entity_id")).collect();
        let relations: HashSet<[String; 3]> = list(&there, "relations")
            .iter()
            .filter(is_imported)
            .map(|it| ["source", "relation", "target"].map(|field| normalise(text(it, field))))
            .collect();
        let is_entity_there =
            |it: &Entity| entities.contains(EntityId::derive(&it.name, &it.entity_type).to_string().as_str());
        self.entities = graph.entities.iter().filter(|it| !is_entity_there(it)).collect();
        let mut seen = relations;
        let key = |it: &Relation| [&it.source, &it.relation, &it.target].map(|name| normalise(name));
        self.relations = graph.relations.iter().filter(|it| seen.insert(key(it))).collect();
        Ok(())
    }
}

/// The memories of earlier imports.
fn ids_by_topic(lifecycle: &str, session: &Session) -> Result<HashMap<String, String>, ServiceError> {
    let mut found = HashMap::new();
    let mut offset = 0;
    loop {
        let request = json!({
            "source": SOURCE, "lifecycle": lifecycle, "order_by": "created_at", "offset": offset, "limit": PAGE,
        });
        let answer = session.call("list_memories", request)?;
        let page = list(&answer, "memories");
        offset += page.len();
        for memory in page {
            found.entry(text(memory, "topic").to_owned()).or_insert_with(|| text(memory, "memory_id").to_owned());
        }
        if page.len() < PAGE {
            return Ok(found);
        }
    }
}
