//! Entities and relations for a model: names instead of ids.

use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use super::{BriefEntity, some};
use crate::graph::{EntityAnswer, EntityWithRelations, RelatedAnswer, RelationAnswer};

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BriefRelation {
    pub source: String,
    pub relation: String,
    pub target: String,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BriefEntityWithRelations {
    #[serde(flatten)]
    pub entity: BriefEntity,
    pub relations: Option<Vec<BriefRelation>>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BriefRelated {
    /// The related entities, nearest first.
    pub entities: Vec<BriefEntity>,
    pub relations: Option<Vec<BriefRelation>>,
}

impl From<RelationAnswer> for BriefRelation {
    fn from(full: RelationAnswer) -> Self {
        Self { source: full.source, relation: full.relation, target: full.target }
    }
}

impl From<EntityAnswer> for BriefEntity {
    fn from(full: EntityAnswer) -> Self {
        Self {
            name: full.name,
            entity_type: full.entity_type,
            description: full.description,
            quarantined: full.quarantined,
        }
    }
}

fn relations(full: Vec<RelationAnswer>) -> Option<Vec<BriefRelation>> {
    some(full.into_iter().map(BriefRelation::from).collect())
}

impl From<EntityWithRelations> for BriefEntityWithRelations {
    fn from(full: EntityWithRelations) -> Self {
        Self { entity: full.entity.into(), relations: relations(full.relations) }
    }
}

impl From<RelatedAnswer> for BriefRelated {
    fn from(full: RelatedAnswer) -> Self {
        let entities = full.entities.into_iter().map(BriefEntity::from).collect();
        Self { entities, relations: relations(full.relations) }
    }
}
