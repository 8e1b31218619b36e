//! `get_entity` and `get_related`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rootset_model::EntityId;
use rootset_model::limits::{LIST_LIMIT_MAX, RELATED_DEPTH_DEFAULT, RELATED_DEPTH_MAX, RELATED_LIMIT_DEFAULT};
use rootset_store::{EntityView, RelationView, Workspace};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::{Effect, Operation};
use crate::service::Service;
use crate::shared::{EntityAnswer, RelationAnswer, clamped};

/// Relations shown with one entity.
const RELATIONS_MAX: usize = 100;

/// Read one entity with its relations, by id or name.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GetEntity {
    /// Workspace it is in; absent: the current one.
    workspace_id: Option<String>,
    /// Id or name.
    entity_id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct EntityWithRelations {
    #[serde(flatten)]
    pub entity: EntityAnswer,
    /// At most a hundred.
    pub relations: Vec<RelationAnswer>,
}

impl Operation for GetEntity {
    const NAME: &'static str = "get_entity";
    const EFFECT: Effect = Effect::Read;
    const IS_IDEMPOTENT: bool = true;
    type Response = EntityWithRelations;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<EntityWithRelations, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let (entity, mut relations) = service.store.entity(&workspace, &self.entity_id, service.now())?;
        relations.truncate(RELATIONS_MAX);
        let relations = named(service, &workspace, std::slice::from_ref(&entity), &relations)?;
        Ok(EntityWithRelations { entity: entity.into(), relations })
    }
}

/// Find what an entity is related to, some steps away.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GetRelated {
    /// Workspace it is in; absent: the current one.
    workspace_id: Option<String>,
    /// Id or name.
    entity_id: String,
    /// How many relations away (2, 1 to 5).
    depth: Option<i64>,
    /// How many entities (20, at most 100).
    limit: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct RelatedAnswer {
    /// Nearest first, without the entity itself.
    pub entities: Vec<EntityAnswer>,
    pub relations: Vec<RelationAnswer>,
}

impl Operation for GetRelated {
    const NAME: &'static str = "get_related";
    const EFFECT: Effect = Effect::Read;
    const IS_IDEMPOTENT: bool = true;
    type Response = RelatedAnswer;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<RelatedAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let depth = self.depth.unwrap_or(RELATED_DEPTH_DEFAULT);
        if !(1..=RELATED_DEPTH_MAX).contains(&depth) {
            return Err(ServiceError::invalid(format!("`depth` is {depth}, allowed: 1 to {RELATED_DEPTH_MAX}")));
        }
        let limit = clamped("limit", self.limit, RELATED_LIMIT_DEFAULT, LIST_LIMIT_MAX)? as usize;
        let now = service.now();
        let (entities, relations) = service.store.related(&workspace, &self.entity_id, depth as usize, limit, now)?;
        let relations = named(service, &workspace, &entities, &relations)?;
        Ok(RelatedAnswer { entities: entities.into_iter().map(Into::into).collect(), relations })
    }
}

/// Relations with the names of their ends; ends that are not at hand are fetched in one query.
pub(super) fn named(
    service: &Service,
    workspace: &Workspace,
    known: &[EntityView],
    relations: &[RelationView],
) -> Result<Vec<RelationAnswer>, ServiceError> {
    let mut names: HashMap<EntityId, String> = known.iter().map(|it| (it.id, it.name.clone())).collect();
    let missing: HashSet<EntityId> = relations
        .iter()
        .flat_map(|relation| [relation.source, relation.target])
        .filter(|id| !names.contains_key(id))
        .collect();
    if !missing.is_empty() {
        let missing: Vec<EntityId> = missing.into_iter().collect();
        let fetched = service.store.entities(workspace, &missing, service.now())?;
        names.extend(fetched.into_iter().map(|it| (it.id, it.name)));
    }
    Ok(relations.iter().map(|relation| RelationAnswer::of(relation, |id| names.get(&id).cloned())).collect())
}
