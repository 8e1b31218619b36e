//! Finding entities: by their names, and by the memories that were found.

use std::collections::HashMap;

use rootset_model::{EntityId, WorkspaceKey};

use super::{CANDIDATES, Rank, Ranked, SearchRequest};
use crate::driver::{Combine, SearchIndex, SearchQuery, Transaction};
use crate::error::StoreError;
use crate::graph::{self, EntityView, FoundEntity};
use crate::statements::{graph as graph_sql, search as sql};
use crate::{Store, Workspace};

/// Memories whose entities are offered in entity mode.
const ENTITY_SOURCES: usize = 20;

#[derive(Clone, Debug)]
pub struct EntityHit {
    pub entity: EntityView,
    pub score: f64,
}

impl Store {
    pub fn search_entities(
        &self,
        workspace: &Workspace,
        request: &SearchRequest<'_>,
        rank: Rank<'_>,
    ) -> Result<Vec<EntityHit>, StoreError> {
        self.read(workspace, |tx| {
            let mut ranked = self.ranked(tx, workspace.key, request, rank)?;
            ranked.truncate(ENTITY_SOURCES);
            entity_hits(tx, workspace.key, request, &ranked)
        })
    }
}

/// Entities by name, exact or by words, and those that the best memories speak of.
fn entity_hits(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    request: &SearchRequest<'_>,
    ranked: &[Ranked],
) -> Result<Vec<EntityHit>, StoreError> {
    let mut scores: HashMap<i64, f64> = HashMap::new();
    let query = SearchQuery {
        terms: request.terms,
        combine: Combine::Any,
        limit: CANDIDATES.max(request.limit * 2),
        rows_per_term_max: usize::MAX,
    };
    let by_name = tx.search_match(workspace, SearchIndex::Entities, &query)?;
    let best = by_name.first().map_or(1.0, |(_, score)| score.max(f64::MIN_POSITIVE));
    for (number, score) in by_name {
        *scores.entry(number).or_default() += 1.0 + score / best;
    }
    let exact: Vec<i64> =
        tx.rows(&graph_sql::ENTITY_NUMBERS_BY_NAMES, &[workspace.into(), request.names.into()], |row| row.get(0))?;
    for number in exact {
        *scores.entry(number).or_default() += 2.0;
    }
    for (number, score) in spoken_of(tx, workspace, ranked)? {
        *scores.entry(number).or_default() += score;
    }
    let numbers: Vec<i64> = scores.keys().copied().collect();
    let parameters = [workspace.into(), request.now.into(), numbers.as_slice().into()];
    let mut found = tx.rows(&graph_sql::SEARCHABLE_ENTITIES, &parameters, FoundEntity::read)?;
    let score_of: HashMap<EntityId, f64> =
        found.iter().map(|it| (it.id, scores.get(&it.number).copied().unwrap_or(0.0))).collect();
    found.sort_by(|a, b| score_of[&b.id].total_cmp(&score_of[&a.id]).then(a.id.cmp(&b.id)));
    found.truncate(request.limit);
    let views = graph::describe(tx, workspace, found, request.now)?;
    Ok(views.into_iter().map(|entity| EntityHit { score: score_of[&entity.id], entity }).collect())
}

/// Entities of the best memories, each memory sharing its score among them; below one, so that a name always wins.
fn spoken_of(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    ranked: &[Ranked],
) -> Result<Vec<(i64, f64)>, StoreError> {
    let memories: Vec<[u8; 16]> = ranked.iter().map(|it| it.memory.0).collect();
    let share: HashMap<[u8; 16], f64> =
        ranked.iter().enumerate().map(|(place, it)| (it.memory.0, 0.5 / (place + 1) as f64)).collect();
    let mut by_entity: HashMap<[u8; 16], f64> = HashMap::new();
    tx.query(&sql::ENTITIES_OF_MEMORIES, &[workspace.into(), memories.as_slice().into()], &mut |row| {
        let gained = share.get(&row.get::<[u8; 16]>(1)?).copied().unwrap_or(0.0);
        *by_entity.entry(row.get(0)?).or_default() += gained;
        Ok(())
    })?;
    let ids: Vec<[u8; 16]> = by_entity.keys().copied().collect();
    let found = tx.rows(&graph_sql::ENTITIES_BY_IDS, &[workspace.into(), ids.as_slice().into()], FoundEntity::read)?;
    Ok(found.into_iter().map(|it| (it.number, by_entity[&it.id.0].min(0.99))).collect())
}
