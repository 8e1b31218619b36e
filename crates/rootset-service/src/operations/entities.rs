//! `get_entity` and `get_related`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rootset_api::{EntityAnswer, EntityWithRelations, GetEntity, GetRelated, RelatedAnswer, RelationAnswer};
use rootset_model::EntityId;
use rootset_model::limits::{LIST_LIMIT_MAX, RELATED_DEPTH_DEFAULT, RELATED_DEPTH_MAX, RELATED_LIMIT_DEFAULT};
use rootset_store::{EntityView, RelationView, Workspace};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::clamped;
use crate::operation::Operation;
use crate::service::Service;

/// Relations shown with one entity.
const RELATIONS_MAX: usize = 100;

impl Operation for GetEntity {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<EntityWithRelations, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let (entity, mut relations) = service.store.entity(&workspace, &self.entity_id, service.now())?;
        relations.truncate(RELATIONS_MAX);
        let relations = named(service, &workspace, std::slice::from_ref(&entity), &relations)?;
        Ok(EntityWithRelations { entity: entity_answer(entity), relations })
    }
}

impl Operation for GetRelated {
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
        Ok(RelatedAnswer { entities: entities.into_iter().map(entity_answer).collect(), relations })
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
    Ok(relations.iter().map(|relation| relation_answer(relation, |id| names.get(&id).cloned())).collect())
}

pub fn entity_answer(view: EntityView) -> EntityAnswer {
    EntityAnswer {
        entity_id: view.id.to_string(),
        quarantined: view.is_quarantined.then_some(true),
        name: view.name,
        entity_type: view.entity_type,
        description: view.description,
        origin: origin(view.is_untracked).to_owned(),
        refcount: view.refcount,
        memory_ids: view.memories.into_iter().map(|it| it.memory).collect(),
    }
}

pub fn origin(is_untracked: bool) -> &'static str {
    if is_untracked { "untracked" } else { "derived" }
}

/// `name_of` answers the name of an end; its id stands in where the name is not at hand.
fn relation_answer(view: &RelationView, name_of: impl Fn(rootset_model::EntityId) -> Option<String>) -> RelationAnswer {
    let name = |id: rootset_model::EntityId| name_of(id).unwrap_or_else(|| id.to_string());
    RelationAnswer {
        relation_id: view.id.to_string(),
        source: name(view.source),
        source_id: view.source.to_string(),
        relation: view.relation.clone(),
        target: name(view.target),
        target_id: view.target.to_string(),
        origin: origin(view.is_untracked).to_owned(),
    }
}
