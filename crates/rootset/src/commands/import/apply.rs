//! Adding what a comparison found to be missing.

use rootset_api::{AddMemories, BatchResult, EntityInput, ImportGraph, MemoryInput, RelationInput};
use rootset_model::RunId;
use rootset_model::limits::{BATCH_MEMORIES_MAX, IMPORT_ROWS_MAX, TAG_CHARS_MAX};
use rootset_service::ServiceError;

use super::comparison::{Comparison, DIGEST_FIELD};
use super::server_memory::{Entity, SOURCE};
use crate::program::Program;

#[derive(Debug, Default)]
pub struct Applied {
    pub created: usize,
    pub entities: usize,
    pub relations: usize,
    /// Name and reason of memories that were refused.
    pub failed: Vec<(String, String)>,
    /// Handles to take the graph out again.
    pub runs: Vec<RunId>,
}

pub fn apply(comparison: &Comparison<'_>, program: &Program) -> Result<Applied, ServiceError> {
    let mut applied = Applied::default();
    let new = comparison.new.iter().map(|&entity| (entity, None));
    let changed = comparison.changed.iter().map(|it| (it.entity, Some(it.replaces.clone())));
    let memories: Vec<(&Entity, Option<String>)> = new.chain(changed).collect();
    for batch in memories.chunks(BATCH_MEMORIES_MAX) {
        let request = batch.iter().map(|(entity, replaces)| memory(entity, replaces.clone())).collect();
        let answer = program.run_importing(AddMemories { workspace_id: None, memory_of: None, memories: request })?;
        for ((entity, _), result) in batch.iter().zip(answer.results) {
            match result {
                BatchResult::Added(added) => applied.created += usize::from(added.created),
                BatchResult::Failed { error } => {
                    let message = error["message"].as_str().unwrap_or_default();
                    applied.failed.push((entity.name.clone(), message.to_owned()));
                }
            }
        }
    }
    for batch in rows(comparison).chunks(IMPORT_ROWS_MAX) {
        let answer = program.run_importing(graph(batch))?;
        applied.runs.push(answer.run_id);
        applied.entities += answer.entities;
        applied.relations += answer.relations;
    }
    Ok(applied)
}

fn memory(entity: &Entity, replaces: Option<String>) -> MemoryInput {
    let is_tag = entity.entity_type.chars().count() <= TAG_CHARS_MAX;
    let digest = (DIGEST_FIELD.to_owned(), entity.digest().into());
    MemoryInput {
        topic: Some(entity.name.clone()),
        context: entity.text().unwrap_or_default(),
        tags: is_tag.then(|| vec![entity.entity_type.clone()]),
        source: Some(SOURCE.to_owned()),
        metadata: Some([digest].into_iter().collect()),
        supersedes: replaces.map(|id| vec![id]),
        ..MemoryInput::default()
    }
}

/// A row of the graph: a request takes so many of both kinds together.
enum Row {
    Entity(EntityInput),
    Relation(RelationInput),
}

/// Without descriptions: an observation lives in its memory alone, and is gone when that is forgotten.
fn rows(comparison: &Comparison<'_>) -> Vec<Row> {
    let entities = comparison.entities.iter().map(|it| {
        let (name, entity_type) = (it.name.clone(), Some(it.entity_type.clone()));
        Row::Entity(EntityInput { name, entity_type, ..EntityInput::default() })
    });
    let type_of = |name: &str| comparison.types.get(name).map(|&it| it.to_owned());
    let relations = comparison.relations.iter().map(|it| {
        Row::Relation(RelationInput {
            source: it.source.clone(),
            source_type: type_of(&it.source),
            relation: it.relation.clone(),
            target: it.target.clone(),
            target_type: type_of(&it.target),
            ..RelationInput::default()
        })
    });
    entities.chain(relations).collect()
}

fn graph(rows: &[Row]) -> ImportGraph {
    let mut graph = ImportGraph::default();
    for row in rows {
        match row {
            Row::Entity(entity) => graph.entities.push(entity.clone()),
            Row::Relation(relation) => graph.relations.push(relation.clone()),
        }
    }
    graph
}
