//! Entities, relations and who vouches for them. A derived row is visible exactly while it is untracked or at least one
//! living memory contributes to it; nothing here deletes, visibility follows from contributions.

mod contribute;

use std::collections::{HashMap, HashSet};

use rootset_model::identity::normalise;
use rootset_model::limits::DESCRIPTION_CHARS_MAX;
use rootset_model::{EntityId, MemoryId, RelationId, RunId, Timestamp, Trust, WorkspaceKey};

use crate::driver::{Row, Transaction, Value};
use crate::error::StoreError;
use crate::statements::graph as sql;
use crate::workspaces::{self, Draw};
use crate::{Stamp, Store, Workspace, audit, runs};
pub(crate) use contribute::{Contribution, Created, contribute, contribute_all, relation_row};
use contribute::{NamedEntity, insert_entities, insert_relations};

pub(crate) const KIND_ENTITY: i64 = 0;
pub(crate) const KIND_RELATION: i64 = 1;

/// Under which word a graph row of a stored kind is counted.
pub(crate) fn counted_as(kind: i64) -> &'static str {
    if kind == KIND_ENTITY { "entities" } else { "relations" }
}

/// Contributions shown in a description: the newest ones say it all.
const DESCRIPTION_CONTRIBUTIONS_MAX: usize = 5;
/// Memories listed with an entity; its refcount says how many there are.
const ENTITY_MEMORIES_MAX: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityView {
    pub id: EntityId,
    pub name: String,
    pub entity_type: String,
    pub description: String,
    pub is_untracked: bool,
    /// All current memories that speak of it are quarantined.
    pub is_quarantined: bool,
    /// Living memories that contribute.
    pub refcount: i64,
    /// Newest update first, at most a hundred; `is_current` is false for superseded and expired ones.
    pub memories: Vec<Contributor>,
    pub created_at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contributor {
    pub memory: MemoryId,
    pub is_current: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationView {
    pub id: RelationId,
    pub source: EntityId,
    pub relation: String,
    pub target: EntityId,
    pub is_untracked: bool,
}

impl RelationView {
    fn read(row: &dyn Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.get(0)?,
            source: row.get(1)?,
            relation: row.get(2)?,
            target: row.get(3)?,
            is_untracked: row.get(4)?,
        })
    }
}

/// A graph row brought from elsewhere.
#[derive(Clone, Debug)]
pub struct ImportedEntity {
    pub name: String,
    pub entity_type: String,
    pub description: Option<String>,
    /// Terms of the name, for the full-text index.
    pub terms: String,
}

#[derive(Clone, Debug)]
pub struct ImportedRelation {
    pub source: EntityId,
    pub relation: String,
    pub target: EntityId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Imported {
    pub run: RunId,
    pub entities: usize,
    pub relations: usize,
}

impl Store {
    /// A visible entity by id or by name.
    pub fn entity(
        &self,
        workspace: &Workspace,
        reference: &str,
        now: Timestamp,
    ) -> Result<(EntityView, Vec<RelationView>), StoreError> {
        self.read(workspace, |tx| {
            let found = find_entity(tx, workspace.key, reference)?;
            let ids = [found.id.0];
            let view = describe(tx, workspace.key, vec![found], now)?.remove(0);
            let relations = touching(tx, workspace.key, &ids, i64::MAX)?;
            Ok((view, relations))
        })
    }

    /// Everything within `depth` relations of an entity, nearest first, at most `limit` entities.
    pub fn related(
        &self,
        workspace: &Workspace,
        reference: &str,
        depth: usize,
        limit: usize,
        now: Timestamp,
    ) -> Result<(Vec<EntityView>, Vec<RelationView>), StoreError> {
        self.read(workspace, |tx| {
            let start = find_entity(tx, workspace.key, reference)?;
            let (ids, relations) = walk(tx, workspace.key, start.id, depth, limit)?;
            let found = visible_by_ids(tx, workspace.key, &ids)?;
            let mut views = describe(tx, workspace.key, found, now)?;
            let place: HashMap<[u8; 16], usize> = ids.iter().enumerate().map(|(place, id)| (*id, place)).collect();
            views.sort_by_key(|view| place.get(&view.id.0).copied());
            Ok((views, relations))
        })
    }

    /// Entities by id, where visible; for showing the ends of relations.
    pub fn entities(
        &self,
        workspace: &Workspace,
        ids: &[EntityId],
        now: Timestamp,
    ) -> Result<Vec<EntityView>, StoreError> {
        let ids: Vec<[u8; 16]> = ids.iter().map(|id| id.0).collect();
        self.read(workspace, |tx| {
            let found = visible_by_ids(tx, workspace.key, &ids)?;
            describe(tx, workspace.key, found, now)
        })
    }

    /// The whole visible graph of a workspace.
    pub fn export_graph(
        &self,
        workspace: &Workspace,
        now: Timestamp,
    ) -> Result<(Vec<EntityView>, Vec<RelationView>), StoreError> {
        self.read(workspace, |tx| {
            let found = tx.rows(&sql::ALL_ENTITIES, &[workspace.key.into()], FoundEntity::read)?;
            let relations = tx.rows(&sql::ALL_RELATIONS, &[workspace.key.into()], RelationView::read)?;
            Ok((describe(tx, workspace.key, found, now)?, relations))
        })
    }

    /// Brings untracked rows in, as a run that can be undone.
    pub fn import_graph(
        &self,
        workspace: &Workspace,
        entities: &[ImportedEntity],
        relations: &[ImportedRelation],
        run: RunId,
        grace_ms: i64,
        stamp: Stamp<'_>,
    ) -> Result<Imported, StoreError> {
        self.write(workspace, |tx| {
            let draw = Draw { numbers: entities.len(), bytes: imported_bytes(entities, relations), ..Draw::default() };
            let drawn = workspaces::draw(tx, workspace.key, draw, stamp.now)?;
            let named: Vec<NamedEntity<'_>> = (drawn.first_number..)
                .zip(entities)
                .map(|(number, it)| NamedEntity {
                    id: EntityId::derive(&it.name, &it.entity_type),
                    number,
                    name: &it.name,
                    entity_type: &it.entity_type,
                    terms: &it.terms,
                })
                .collect();
            insert_entities(tx, workspace.key, &named.iter().collect::<Vec<_>>(), stamp.now)?;
            let ends: Vec<_> = relations
                .iter()
                .map(|it| {
                    (RelationId::derive(it.source, &it.relation, it.target), it.source, it.relation.as_str(), it.target)
                })
                .collect();
            insert_relations(tx, workspace.key, &ends, stamp.now)?;
            let ids: Vec<RelationId> = ends.iter().map(|(id, ..)| *id).collect();
            let entity_marks = named
                .iter()
                .zip(entities)
                .map(|(it, imported)| (it.id.as_bytes(), KIND_ENTITY, imported.description.as_ref()));
            let marks = entity_marks.chain(ids.iter().map(|id| (id.as_bytes(), KIND_RELATION, None)));
            let rows: Vec<Vec<Value<'_>>> = marks
                .map(|(object, kind, description)| {
                    vec![
                        workspace.key.into(),
                        object.into(),
                        (&run).into(),
                        kind.into(),
                        description.into(),
                        stamp.now.into(),
                    ]
                })
                .collect();
            tx.execute_many(&sql::INSERT_UNTRACKED, &rows)?;
            let imported = Imported { run, entities: named.len(), relations: ids.len() };
            runs::record_import(tx, workspace.key, &imported, grace_ms, stamp)?;
            let counts = format!(r#"{{"entities":{},"relations":{}}}"#, imported.entities, imported.relations);
            let entry =
                audit::Entry { operation: "import_graph", counts: Some(counts), run: Some(run), ..Default::default() };
            audit::append(tx, workspace.key, stamp, &entry)?;
            Ok(imported)
        })
    }
}

/// What rows count that a quota counts, each once. `u_bytes` of conditions.sql counts the same.
fn imported_bytes(entities: &[ImportedEntity], relations: &[ImportedRelation]) -> i64 {
    const ROW_BYTES: usize = 256;
    let mut counted: HashSet<[u8; 16]> = HashSet::new();
    let entities = entities.iter().map(|it| {
        let description = it.description.as_ref().map_or(0, String::len);
        (EntityId::derive(&it.name, &it.entity_type).0, ROW_BYTES + description)
    });
    let relations = relations.iter().map(|it| (RelationId::derive(it.source, &it.relation, it.target).0, ROW_BYTES));
    let bytes: usize = entities.chain(relations).filter(|(id, _)| counted.insert(*id)).map(|(_, bytes)| bytes).sum();
    bytes as i64
}

pub(crate) fn visible_among(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    objects: &[[u8; 16]],
) -> Result<HashSet<[u8; 16]>, StoreError> {
    if objects.is_empty() {
        return Ok(HashSet::new());
    }
    let visible = tx.rows(&sql::VISIBLE_OBJECTS, &[workspace.into(), objects.into()], |row| row.get(0))?;
    Ok(visible.into_iter().collect())
}

/// Objects that some memories contribute to, with their kinds.
pub(crate) fn contributed_by(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    memories: &[[u8; 16]],
) -> Result<HashMap<[u8; 16], i64>, StoreError> {
    let rows =
        tx.rows(&sql::CONTRIBUTED_OBJECTS, &[workspace.into(), memories.into()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.into_iter().collect())
}

/// An entity row before its description is put together.
pub(crate) struct FoundEntity {
    pub id: EntityId,
    pub number: i64,
    pub name: String,
    pub entity_type: String,
    pub created_at: Timestamp,
    pub is_untracked: bool,
}

impl FoundEntity {
    pub fn read(row: &dyn Row) -> Result<Self, StoreError> {
        Ok(Self {
            id: row.get(0)?,
            number: row.get(1)?,
            name: row.get(2)?,
            entity_type: row.get(3)?,
            created_at: row.get(4)?,
            is_untracked: row.get(5)?,
        })
    }
}

fn find_entity(tx: &mut dyn Transaction, workspace: WorkspaceKey, reference: &str) -> Result<FoundEntity, StoreError> {
    let not_found = || StoreError::EntityNotFound(reference.to_owned());
    if let Ok(id) = reference.parse::<EntityId>() {
        let found = tx.row(&sql::ENTITY_BY_ID, &[workspace.into(), (&id).into()], FoundEntity::read)?;
        return found.ok_or_else(not_found);
    }
    let normal_name = normalise(reference);
    let mut found = tx.rows(&sql::ENTITIES_BY_NAME, &[workspace.into(), (&normal_name).into()], FoundEntity::read)?;
    match found.len() {
        0 => Err(not_found()),
        1 => Ok(found.remove(0)),
        _ => Err(StoreError::EntityAmbiguous {
            name: reference.to_owned(),
            candidates: found.into_iter().map(|it| (it.id.to_string(), it.entity_type)).collect(),
        }),
    }
}

fn visible_by_ids(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    ids: &[[u8; 16]],
) -> Result<Vec<FoundEntity>, StoreError> {
    tx.rows(&sql::ENTITIES_BY_IDS, &[workspace.into(), ids.into()], FoundEntity::read)
}

fn touching(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    entities: &[[u8; 16]],
    limit: i64,
) -> Result<Vec<RelationView>, StoreError> {
    tx.rows(&sql::RELATIONS_TOUCHING, &[workspace.into(), entities.into(), limit.into()], RelationView::read)
}

/// Relations read per step of a walk: a hub of a hundred thousand must not fill the memory.
const WALK_RELATIONS_MAX: i64 = 2_000;

fn walk(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    start: EntityId,
    depth: usize,
    limit: usize,
) -> Result<(Vec<[u8; 16]>, Vec<RelationView>), StoreError> {
    let mut reached = HashSet::from([start.0]);
    let mut ordered = Vec::new();
    let mut relations: Vec<RelationView> = Vec::new();
    let mut frontier = vec![start.0];
    for _ in 0..depth {
        let mut next = Vec::new();
        for relation in touching(tx, workspace, &frontier, WALK_RELATIONS_MAX)? {
            for end in [relation.source.0, relation.target.0] {
                if reached.len() <= limit && reached.insert(end) {
                    ordered.push(end);
                    next.push(end);
                }
            }
            let is_inside = reached.contains(&relation.source.0) && reached.contains(&relation.target.0);
            if is_inside && !relations.iter().any(|it| it.id == relation.id) {
                relations.push(relation);
            }
        }
        if next.is_empty() {
            break;
        }
        frontier = next;
    }
    Ok((ordered, relations))
}

/// Adds refcounts, memories and descriptions in two queries, however many entities there are. Descriptions are built
/// from current memories only, so that the words of a deleted or superseded one are gone at once. Those of quarantined
/// memories are left out: a description does not say whose words it is made of.
pub(crate) fn describe(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    found: Vec<FoundEntity>,
    now: Timestamp,
) -> Result<Vec<EntityView>, StoreError> {
    let mut views: Vec<EntityView> = found
        .into_iter()
        .map(|it| EntityView {
            id: it.id,
            name: it.name,
            entity_type: it.entity_type,
            description: String::new(),
            is_untracked: it.is_untracked,
            is_quarantined: false,
            refcount: 0,
            memories: Vec::new(),
            created_at: it.created_at,
        })
        .collect();
    let ids: Vec<[u8; 16]> = views.iter().map(|view| view.id.0).collect();
    let place: HashMap<[u8; 16], usize> = ids.iter().enumerate().map(|(place, id)| (*id, place)).collect();
    let mut texts: Vec<Vec<String>> = vec![Vec::new(); views.len()];
    // Of each entity: current memories that are quarantined, and that are not.
    let mut speakers: Vec<(usize, usize)> = vec![(0, 0); views.len()];
    tx.query(&sql::UNTRACKED_DESCRIPTIONS, &[workspace.into(), ids.as_slice().into()], &mut |row| {
        let text: String = row.get(1)?;
        if let Some(&place) = place.get(&row.get::<[u8; 16]>(0)?) {
            add_text(&mut texts[place], text);
        }
        Ok(())
    })?;
    tx.query(&sql::CONTRIBUTORS, &[workspace.into(), now.into(), ids.as_slice().into()], &mut |row| {
        let Some(&place) = place.get(&row.get::<[u8; 16]>(0)?) else { return Ok(()) };
        let view = &mut views[place];
        view.refcount += 1;
        let is_current: bool = row.get(3)?;
        if view.memories.len() < ENTITY_MEMORIES_MAX {
            view.memories.push(Contributor { memory: row.get(1)?, is_current });
        }
        if !is_current {
            return Ok(());
        }
        if row.get::<Trust>(4)?.is_quarantined() {
            speakers[place].0 += 1;
            return Ok(());
        }
        speakers[place].1 += 1;
        if let Some(text) = row.get::<Option<String>>(2)? {
            add_text(&mut texts[place], text);
        }
        Ok(())
    })?;
    for ((view, texts), (quarantined, others)) in views.iter_mut().zip(texts).zip(speakers) {
        view.description = texts.join(" ");
        view.is_quarantined = quarantined > 0 && others == 0 && !view.is_untracked;
    }
    Ok(views)
}

/// A description is never longer than one that may be imported: what goes out can come in again.
fn add_text(texts: &mut Vec<String>, text: String) {
    let chars: usize = texts.iter().map(|it| it.chars().count() + 1).sum::<usize>() + text.chars().count();
    if texts.len() < DESCRIPTION_CONTRIBUTIONS_MAX && chars <= DESCRIPTION_CHARS_MAX && !texts.contains(&text) {
        texts.push(text);
    }
}
