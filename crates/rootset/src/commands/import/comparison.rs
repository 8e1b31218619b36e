//! What a file would add to a workspace, and what is there already.

use std::collections::{HashMap, HashSet};

use rootset_api::{ExportGraph, GetMemory, LifecycleFilter, ListMemories, MemoryOrder};
use rootset_model::identity::normalise;
use rootset_model::{EntityId, MemoryId};
use rootset_service::ServiceError;

use super::server_memory::{Entity, Graph, Relation, SOURCE};
use crate::program::Program;

/// The largest page that lists answer.
const PAGE: i64 = 100;
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
    pub fn make(graph: &'a Graph, program: &Program) -> Result<Self, ServiceError> {
        let mut comparison = Self {
            types: graph.entities.iter().map(|it| (it.name.as_str(), it.entity_type.as_str())).collect(),
            ..Self::default()
        };
        comparison.compare_memories(graph, program)?;
        comparison.compare_graph(graph, program)?;
        Ok(comparison)
    }

    pub fn is_empty(&self) -> bool {
        self.new.is_empty() && self.changed.is_empty() && self.entities.is_empty() && self.relations.is_empty()
    }

    fn compare_memories(&mut self, graph: &'a Graph, program: &Program) -> Result<(), ServiceError> {
        let live = ids_by_topic(LifecycleFilter::Live, program)?;
        let trashed = ids_by_topic(LifecycleFilter::Trashed, program)?;
        for entity in graph.entities.iter().filter(|it| it.text().is_some()) {
            match live.get(&entity.name) {
                Some(&id) => self.compare_memory(entity, id, program)?,
                None if trashed.contains_key(&entity.name) => self.removed.push(entity),
                None => self.new.push(entity),
            }
        }
        Ok(())
    }

    fn compare_memory(&mut self, entity: &'a Entity, id: MemoryId, program: &Program) -> Result<(), ServiceError> {
        let memory = program.run(GetMemory { memory_id: id.to_string(), ..GetMemory::default() })?;
        let digest = memory.metadata.as_ref().and_then(|fields| fields.get(DIGEST_FIELD)?.as_str());
        if digest == Some(&entity.digest()) {
            self.unchanged += 1;
        } else if memory.revision > 1 {
            self.edited.push(entity);
        } else {
            self.changed.push(Changed { entity, replaces: id.to_string() });
        }
        Ok(())
    }

    /// A row that only memories vouch for is not there yet: the import would outlive them.
    fn compare_graph(&mut self, graph: &'a Graph, program: &Program) -> Result<(), ServiceError> {
        let there = program.run(ExportGraph::default())?;
        let is_imported = |origin: &str| origin == "untracked";
        let entities = there.entities.iter().flatten().filter(|it| is_imported(&it.origin));
        let entities: HashSet<&str> = entities.map(|it| it.entity_id.as_str()).collect();
        let relations = there.relations.iter().flatten().filter(|it| is_imported(&it.origin));
        let relations: HashSet<[String; 3]> =
            relations.map(|it| [&it.source, &it.relation, &it.target].map(|name| normalise(name))).collect();
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
fn ids_by_topic(lifecycle: LifecycleFilter, program: &Program) -> Result<HashMap<String, MemoryId>, ServiceError> {
    let mut found = HashMap::new();
    let mut offset = 0;
    loop {
        let page = program.run(ListMemories {
            source: Some(SOURCE.to_owned()),
            lifecycle: Some(lifecycle),
            order_by: Some(MemoryOrder::CreatedAt),
            offset: Some(offset),
            limit: Some(PAGE),
            ..ListMemories::default()
        })?;
        let shown = page.memories.len() as i64;
        for memory in page.memories {
            found.entry(memory.topic).or_insert(memory.memory_id);
        }
        if shown < PAGE {
            return Ok(found);
        }
        offset += shown;
    }
}
