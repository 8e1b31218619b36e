//! Writing what memories vouch for: entities and relations that are new, and the contributions to all of them; many
//! memories at a time.

use std::collections::{HashMap, HashSet};

use rootset_model::identity::{NORMALISER_VERSION, normalise};
use rootset_model::{EntityId, MemoryId, RelationId, Timestamp, WorkspaceKey};

use super::{KIND_ENTITY, KIND_RELATION, visible_among};
use crate::PreparedDerived;
use crate::driver::{SearchIndex, SearchRow, Statement, Transaction, Value};
use crate::error::StoreError;
use crate::statements::graph as sql;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Created {
    pub entities: usize,
    pub relations: usize,
}

/// An entity to be written, with the number that it gets if it is new.
pub(super) struct NamedEntity<'a> {
    pub id: EntityId,
    pub number: i64,
    pub name: &'a str,
    pub entity_type: &'a str,
    pub terms: &'a str,
}

/// What one memory contributes.
#[derive(Debug)]
pub(crate) struct Contribution<'a> {
    pub memory: MemoryId,
    pub revision: i64,
    pub derived: &'a PreparedDerived,
    /// The numbers of its entities follow from here, for those that are new.
    pub first_number: i64,
}

/// What one memory contributes, with the ids of its parts.
struct Parts<'a> {
    entities: Vec<NamedEntity<'a>>,
    relations: Vec<(RelationId, EntityId, &'a str, EntityId)>,
}

impl<'a> Parts<'a> {
    fn of(contribution: &Contribution<'a>) -> Self {
        let extraction = &contribution.derived.extraction;
        let terms = &contribution.derived.entity_terms;
        assert_eq!(terms.len(), extraction.entities.len(), "every entity comes with its terms");
        let entities: Vec<NamedEntity<'_>> = (contribution.first_number..)
            .zip(extraction.entities.iter().zip(terms))
            .map(|(number, (entity, terms))| NamedEntity {
                id: EntityId::derive(&entity.name, &entity.entity_type),
                number,
                name: &entity.name,
                entity_type: &entity.entity_type,
                terms,
            })
            .collect();
        let relations = extraction
            .relations
            .iter()
            .map(|it| {
                let (source, target) = (entities[it.source].id, entities[it.target].id);
                (RelationId::derive(source, &it.relation, target), source, it.relation.as_str(), target)
            })
            .collect();
        Self { entities, relations }
    }
}

/// Writes what a memory contributes and answers how many objects became visible by it.
///
/// `before` is what the same memory contributed until now: those objects were visible and do not count as new.
pub(crate) fn contribute(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    contribution: Contribution<'_>,
    before: &HashMap<[u8; 16], i64>,
    now: Timestamp,
) -> Result<Created, StoreError> {
    let created = contribute_after(tx, workspace, &[contribution], before, now)?;
    Ok(created.into_iter().next().unwrap_or_default())
}

/// The same for new memories, all together: what several of them contribute became visible by the first.
pub(crate) fn contribute_all(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    contributions: &[Contribution<'_>],
    now: Timestamp,
) -> Result<Vec<Created>, StoreError> {
    contribute_after(tx, workspace, contributions, &HashMap::new(), now)
}

fn contribute_after(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    contributions: &[Contribution<'_>],
    before: &HashMap<[u8; 16], i64>,
    now: Timestamp,
) -> Result<Vec<Created>, StoreError> {
    let parts: Vec<Parts<'_>> = contributions.iter().map(Parts::of).collect();
    let entities: Vec<&NamedEntity<'_>> = parts.iter().flat_map(|it| &it.entities).collect();
    let existing = insert_entities(tx, workspace, &entities, now)?;
    let relations: Vec<_> = parts.iter().flat_map(|it| it.relations.iter().copied()).collect();
    let existing_relations = insert_relations(tx, workspace, &relations, now)?;
    // Rows that were there before may be invisible: only the trash vouched for them.
    let mut maybe_visible: Vec<[u8; 16]> = existing.iter().map(|id| id.0).collect();
    maybe_visible.extend(existing_relations.iter().map(|id| id.0));
    let mut visible = visible_among(tx, workspace, &maybe_visible)?;
    visible.extend(before.keys());
    let created = parts
        .iter()
        .map(|it| Created {
            entities: it.entities.iter().filter(|entity| visible.insert(entity.id.0)).count(),
            relations: it.relations.iter().filter(|(id, ..)| visible.insert(id.0)).count(),
        })
        .collect();
    let rows: Vec<Vec<Value<'_>>> =
        contributions.iter().zip(&parts).flat_map(|(it, parts)| contribution_rows(workspace, it, parts)).collect();
    tx.execute_many(&sql::INSERT_CONTRIBUTION, &rows)?;
    Ok(created)
}

/// One row per object that a memory vouches for.
fn contribution_rows<'a>(
    workspace: WorkspaceKey,
    contribution: &'a Contribution<'_>,
    parts: &'a Parts<'_>,
) -> Vec<Vec<Value<'a>>> {
    let extraction = &contribution.derived.extraction;
    let mut seen: HashSet<&[u8; 16]> = HashSet::new();
    let mut rows: Vec<Vec<Value<'_>>> = Vec::with_capacity(parts.entities.len() + parts.relations.len());
    let mut row = |object: &'a [u8; 16], kind: i64, text: Option<&'a String>, weight: f32| {
        if seen.insert(object) {
            rows.push(vec![
                workspace.into(),
                (&contribution.memory).into(),
                object.into(),
                kind.into(),
                contribution.revision.into(),
                text.into(),
                f64::from(weight).into(),
            ]);
        }
    };
    for (entity, extracted) in parts.entities.iter().zip(&extraction.entities) {
        let text = Some(&extracted.description).filter(|it| !it.is_empty());
        row(&entity.id.0, KIND_ENTITY, text, extracted.weight);
    }
    for ((id, ..), extracted) in parts.relations.iter().zip(&extraction.relations) {
        row(&id.0, KIND_RELATION, None, extracted.weight);
    }
    rows
}

/// Answers those that were there already.
pub(super) fn insert_entities(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    entities: &[&NamedEntity<'_>],
    now: Timestamp,
) -> Result<Vec<EntityId>, StoreError> {
    let mut seen = HashSet::new();
    let entities: Vec<&NamedEntity<'_>> = entities.iter().copied().filter(|it| seen.insert(it.id)).collect();
    if entities.is_empty() {
        return Ok(Vec::new());
    }
    let normal_names: Vec<String> = entities.iter().map(|it| normalise(it.name)).collect();
    let rows: Vec<_> = entities
        .iter()
        .zip(&normal_names)
        .map(|(entity, normal_name)| {
            vec![
                workspace.into(),
                (&entity.id).into(),
                entity.number.into(),
                entity.name.into(),
                entity.entity_type.into(),
                normal_name.into(),
                NORMALISER_VERSION.into(),
                now.into(),
            ]
        })
        .collect();
    let new = inserted(tx, &sql::INSERT_ENTITY, &rows)?;
    let mut existing = Vec::new();
    let mut search_rows = Vec::new();
    for entity in entities {
        if new.contains(&entity.id.0) {
            search_rows.push(SearchRow { key: entity.number, head: String::new(), body: entity.terms.to_owned() });
        } else {
            existing.push(entity.id);
        }
    }
    tx.search_insert(workspace, SearchIndex::Entities, search_rows)?;
    Ok(existing)
}

/// Answers those that were there already.
pub(super) fn insert_relations(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    relations: &[(RelationId, EntityId, &str, EntityId)],
    now: Timestamp,
) -> Result<Vec<RelationId>, StoreError> {
    let mut seen = HashSet::new();
    let rows: Vec<_> = relations
        .iter()
        .filter(|(id, ..)| seen.insert(*id))
        .map(|(id, source, verb, target)| relation_row(workspace, id, source, verb, target, now))
        .collect();
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let new = inserted(tx, &sql::INSERT_RELATION, &rows)?;
    Ok(seen.into_iter().filter(|id| !new.contains(&id.0)).collect())
}

/// Runs an insert that passes over what exists; answers the ids of what was new.
fn inserted(
    tx: &mut dyn Transaction,
    statement: &Statement,
    rows: &[Vec<Value<'_>>],
) -> Result<HashSet<[u8; 16]>, StoreError> {
    let mut new = HashSet::new();
    tx.query_many(statement, rows, &mut |row| {
        new.insert(row.get(0)?);
        Ok(())
    })?;
    Ok(new)
}

pub(crate) fn relation_row<'a>(
    workspace: WorkspaceKey,
    id: &'a RelationId,
    source: &'a EntityId,
    verb: &'a str,
    target: &'a EntityId,
    now: Timestamp,
) -> Vec<Value<'a>> {
    let version = NORMALISER_VERSION.into();
    vec![workspace.into(), id.into(), source.into(), verb.into(), target.into(), version, now.into()]
}
