//! What an extractor found in a content: the value that is validated, stored per revision and turned into graph rows.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::ids::{EntityId, RelationId};
use crate::limits::{
    EXTRACTED_DESCRIPTION_CHARS_MAX, EXTRACTED_ENTITIES_MAX, EXTRACTED_NAME_CHARS_MAX, EXTRACTED_RELATIONS_MAX,
};

/// Entities and relations of one content. Relations point into `entities` by index.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Extraction {
    pub entities: Vec<ExtractedEntity>,
    pub relations: Vec<ExtractedRelation>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExtractedEntity {
    /// As written in the text.
    pub name: String,
    /// One lower-case word: person, file, url, version, …
    pub entity_type: String,
    /// This content's words about the entity.
    pub description: String,
    pub weight: f32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExtractedRelation {
    pub source: usize,
    /// The verb: uses, depends_on, part_of, replaced, related_to, …
    pub relation: String,
    pub target: usize,
    pub weight: f32,
}

impl Extraction {
    /// The same facts within the limits, each entity and each relation once: names cut, duplicates merged into their
    /// first occurrence, relations that point nowhere or at themselves dropped.
    pub fn canonical(self) -> Self {
        let mut by_id: HashMap<EntityId, usize> = HashMap::new();
        let mut entities: Vec<ExtractedEntity> = Vec::new();
        let mut ids: Vec<EntityId> = Vec::new();
        let mut moved_to: Vec<Option<usize>> = Vec::with_capacity(self.entities.len());
        for entity in self.entities {
            let name = cut(entity.name.trim(), EXTRACTED_NAME_CHARS_MAX);
            let entity_type = cut(entity.entity_type.trim(), EXTRACTED_NAME_CHARS_MAX).to_lowercase();
            let id = EntityId::derive(&name, &entity_type);
            if let Some(&first) = by_id.get(&id) {
                entities[first].weight += entity.weight;
                moved_to.push(Some(first));
            } else if name.is_empty() || entities.len() == EXTRACTED_ENTITIES_MAX {
                moved_to.push(None);
            } else {
                by_id.insert(id, entities.len());
                ids.push(id);
                moved_to.push(Some(entities.len()));
                let description = cut(entity.description.trim(), EXTRACTED_DESCRIPTION_CHARS_MAX);
                entities.push(ExtractedEntity { name, entity_type, description, weight: entity.weight });
            }
        }
        let mut seen: HashMap<RelationId, usize> = HashMap::new();
        let mut relations: Vec<ExtractedRelation> = Vec::new();
        for relation in self.relations {
            let end = |index: usize| moved_to.get(index).copied().flatten();
            let (Some(source), Some(target)) = (end(relation.source), end(relation.target)) else { continue };
            let verb = cut(relation.relation.trim(), EXTRACTED_NAME_CHARS_MAX);
            if source == target || verb.is_empty() {
                continue;
            }
            let id = RelationId::derive(ids[source], &verb, ids[target]);
            if let Some(&first) = seen.get(&id) {
                relations[first].weight += relation.weight;
            } else if relations.len() < EXTRACTED_RELATIONS_MAX {
                seen.insert(id, relations.len());
                relations.push(ExtractedRelation { source, relation: verb, target, weight: relation.weight });
            }
        }
        Self { entities, relations }
    }
}

fn cut(text: &str, chars_max: usize) -> String {
    text.chars().take(chars_max).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(name: &str) -> ExtractedEntity {
        ExtractedEntity { name: name.into(), entity_type: "term".into(), description: String::new(), weight: 1.0 }
    }

    fn relation(source: usize, target: usize) -> ExtractedRelation {
        ExtractedRelation { source, relation: "uses".into(), target, weight: 1.0 }
    }

    #[test]
    fn duplicates_merge_and_relations_follow_their_ends() {
        let raw = Extraction {
            entities: vec![entity("Redis"), entity("redis "), entity("  "), entity("App")],
            relations: vec![relation(3, 0), relation(3, 1), relation(0, 1), relation(2, 0), relation(9, 0)],
        };
        let canonical = raw.canonical();
        assert_eq!(canonical.entities.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["Redis", "App"]);
        assert_eq!(canonical.relations, [ExtractedRelation { weight: 2.0, ..relation(1, 0) }]);
        assert_eq!(canonical.clone().canonical(), canonical);
    }
}
