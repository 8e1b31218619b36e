//! Adding what a comparison found to be missing.

use rootset_model::limits::{BATCH_MEMORIES_MAX, IMPORT_ROWS_MAX, TAG_CHARS_MAX};
use rootset_service::ServiceError;
use serde_json::{Value, json};

use super::comparison::{Comparison, DIGEST_FIELD};
use super::server_memory::{Entity, SOURCE};
use crate::render::{count, flag, list, text};
use crate::session::Session;

#[derive(Debug, Default)]
pub struct Applied {
    pub created: usize,
    pub entities: i64,
    pub relations: i64,
    /// Name and reason of memories that were refused.
    pub failed: Vec<(String, String)>,
    /// Handles to take the graph out again.
    pub runs: Vec<String>,
}

pub fn apply(comparison: &Comparison<'_>, session: &Session) -> Result<Applied, ServiceError> {
    let mut applied = Applied::default();
    let new = comparison.new.iter().map(|&entity| (entity, None));
    let changed = comparison.changed.iter().map(|it| (it.entity, Some(it.replaces.as_str())));
    let memories: Vec<(&Entity, Option<&str>)> = new.chain(changed).collect();
    for batch in memories.chunks(BATCH_MEMORIES_MAX) {
        let request: Vec<Value> = batch.iter().map(|(entity, replaces)| memory(entity, *replaces)).collect();
        let answer = session.call("add_memories", json!({ "memories": request }))?;
        for ((entity, _), result) in batch.iter().zip(list(&answer, "results")) {
            match result.get("error") {
                Some(error) => applied.failed.push((entity.name.clone(), text(error, "message").to_owned())),
                None => applied.created += usize::from(flag(result, "created")),
            }
        }
    }
    for batch in graph(comparison).chunks(IMPORT_ROWS_MAX) {
        let (entities, relations): (Vec<&Value>, Vec<&Value>) = batch.iter().partition(|row| row.get("name").is_some());
        let request = json!({"entities": entities, "relations": relations});
        let answer = session.call("import_graph", request)?;
        applied.runs.push(text(&answer, "run_id").to_owned());
        applied.entities += count(&answer, "entities");
        applied.relations += count(&answer, "relations");
    }
    Ok(applied)
}

fn memory(entity: &Entity, replaces: Option<&str>) -> Value {
    let is_tag = entity.entity_type.chars().count() <= TAG_CHARS_MAX;
    json!({
        "topic": entity.name,
        "context": entity.text(),
        "tags": is_tag.then(|| vec![&entity.entity_type]),
        "source": SOURCE,
        "metadata": {DIGEST_FIELD: entity.digest()},
        "supersedes": replaces.map(|id| vec![id]),
    })
}

/// Without descriptions: an observation lives in its memory alone, and is gone when that is forgotten.
fn graph(comparison: &Comparison<'_>) -> Vec<Value> {
    let entities = comparison.entities.iter().map(|it| json!({"name": it.name, "type": it.entity_type}));
    let type_of = |name: &str| comparison.types.get(name);
    let relations = comparison.relations.iter().map(|it| {
        json!({
            "source": it.source, "source_type": type_of(&it.source),
            "relation": it.relation,
            "target": it.target, "target_type": type_of(&it.target),
        })
    });
    entities.chain(relations).collect()
}
