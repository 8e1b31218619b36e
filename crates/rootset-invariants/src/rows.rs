//! I6, I7, I8: rows of a database at rest, and what it serves.

use std::collections::{BTreeMap, BTreeSet};

use rootset_gc::invariants::{Broken, I6, I7, I8};

/// A row's workspace and id.
pub type Key = (i64, [u8; 16]);

/// Everything that the invariants speak of, in no form that any store would use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    pub workspaces: BTreeSet<i64>,
    pub memories: BTreeMap<Key, MemoryRow>,
    /// The memory that each chunk belongs to.
    pub chunks: BTreeMap<Key, [u8; 16]>,
    pub entities: BTreeSet<Key>,
    /// Source and target: entities with their workspaces, which must be the relation's.
    pub relations: BTreeMap<Key, (Key, Key)>,
    /// Entity or relation, and the memory that vouches for it.
    pub contributions: BTreeSet<(Key, [u8; 16])>,
    /// Entities and relations that an import vouches for.
    pub untracked: BTreeSet<Key>,
    /// As answered for every entity and relation.
    pub refcounts: BTreeMap<Key, i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryRow {
    pub is_trashed: bool,
    /// Neither superseded by a living memory, nor expired, nor stale.
    pub is_current: bool,
}

/// Ids of memories that answers name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// By get, and by lists of every lifecycle but the trash.
    pub listed: BTreeSet<Key>,
    pub searched: BTreeSet<Key>,
    /// In full text and vectors.
    pub indexed: BTreeSet<Key>,
}

/// I6.
pub fn rows_belong_to_one_workspace(rows: &Rows) -> Result<(), Broken> {
    let keys = rows.memories.keys().chain(rows.chunks.keys()).chain(&rows.entities).chain(rows.relations.keys());
    let mut keys = keys.chain(&rows.untracked).chain(rows.contributions.iter().map(|(object, _)| object));
    I6.holds_without(keys.find(|(workspace, _)| !rows.workspaces.contains(workspace)))?;
    I6.holds_without(rows.relations.iter().find(|((workspace, _), (source, target))| {
        [source, target].into_iter().any(|end| end.0 != *workspace || !rows.entities.contains(end))
    }))?;
    I6.holds_without(
        rows.chunks.iter().find(|((workspace, _), memory)| !rows.memories.contains_key(&(*workspace, **memory))),
    )
}

/// I7.
pub fn refcounts_are_right(rows: &Rows) -> Result<(), Broken> {
    let exists = |object: &Key| rows.entities.contains(object) || rows.relations.contains_key(object);
    let memory_of = |object: &Key, memory: &[u8; 16]| rows.memories.get(&(object.0, *memory));
    let mut contributions = rows.contributions.iter();
    I7.holds_without(contributions.find(|(object, memory)| !exists(object) || memory_of(object, memory).is_none()))?;
    // A memory that vouches for a relation vouches for both its ends: no edge outlives what it joins.
    let mut of_relations = rows.contributions.iter().filter_map(|it| Some((it, rows.relations.get(&it.0)?)));
    I7.holds_without(of_relations.find(|((_, memory), (source, target))| {
        [source, target].into_iter().any(|end| !rows.contributions.contains(&(*end, *memory)))
    }))?;
    let mut counted: BTreeMap<Key, i64> = BTreeMap::new();
    for (object, memory) in &rows.contributions {
        let is_living = memory_of(object, memory).is_some_and(|memory| !memory.is_trashed);
        *counted.entry(*object).or_default() += i64::from(is_living);
    }
    let mut objects = rows.entities.iter().chain(rows.relations.keys());
    // Gone for good is what neither a memory, living or in the trash, nor an import vouches for.
    I7.holds_without(
        objects.clone().find(|object| !counted.contains_key(*object) && !rows.untracked.contains(*object)),
    )?;
    I7.holds_without(
        objects.find(|object| {
            rows.refcounts.get(*object).copied() != Some(counted.get(*object).copied().unwrap_or_default())
        }),
    )
}

/// I8.
pub fn what_is_served_is_live(rows: &Rows, served: &Served) -> Result<(), Broken> {
    let ids_where = |is_wanted: fn(&MemoryRow) -> bool| -> BTreeSet<Key> {
        rows.memories.iter().filter(|(_, row)| is_wanted(row)).map(|(key, _)| *key).collect()
    };
    let live = ids_where(|row| !row.is_trashed);
    let current = ids_where(|row| !row.is_trashed && row.is_current);
    let stored = ids_where(|_| true);
    for (expected, found) in [(live, &served.listed), (current, &served.searched), (stored, &served.indexed)] {
        I8.holds_without(expected.symmetric_difference(found).next())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: Key = (1, [1; 16]);
    const TRASHED: Key = (1, [2; 16]);
    const CHUNK: Key = (1, [3; 16]);
    const SOURCE: Key = (1, [4; 16]);
    const TARGET: Key = (1, [5; 16]);
    const RELATION: Key = (1, [6; 16]);

    /// Two memories, one of them in the trash, that both speak of one entity; the first also relates it to another.
    fn rows() -> Rows {
        let row = |is_trashed| MemoryRow { is_trashed, is_current: true };
        let contributions = [(SOURCE, MEMORY.1), (TARGET, MEMORY.1), (RELATION, MEMORY.1), (SOURCE, TRASHED.1)];
        Rows {
            workspaces: [1].into(),
            memories: [(MEMORY, row(false)), (TRASHED, row(true))].into(),
            chunks: [(CHUNK, MEMORY.1)].into(),
            entities: [SOURCE, TARGET].into(),
            relations: [(RELATION, (SOURCE, TARGET))].into(),
            contributions: contributions.into(),
            untracked: BTreeSet::new(),
            refcounts: [(SOURCE, 1), (TARGET, 1), (RELATION, 1)].into(),
        }
    }

    fn check<T>(change: impl FnOnce(&mut Rows) -> T) -> Result<(), &'static str> {
        let mut rows = rows();
        change(&mut rows);
        rows_belong_to_one_workspace(&rows).and_then(|()| refcounts_are_right(&rows)).map_err(|it| it.invariant.id)
    }

    #[test]
    fn rows_and_ends_of_edges_are_in_one_workspace() {
        assert_eq!(check(|_| ()), Ok(()));
        assert_eq!(check(|rows| rows.workspaces.clear()), Err("I6"));
        assert_eq!(check(|rows| rows.relations.insert(RELATION, (SOURCE, (2, [5; 16])))), Err("I6"));
        assert_eq!(check(|rows| rows.entities.remove(&TARGET)), Err("I6"));
        assert_eq!(check(|rows| rows.chunks.insert(CHUNK, [9; 16])), Err("I6"));
    }

    #[test]
    fn refcounts_count_the_living_and_contributions_do_not_dangle() {
        assert_eq!(check(|rows| rows.refcounts.insert(SOURCE, 2)), Err("I7"));
        assert_eq!(check(|rows| rows.refcounts.remove(&RELATION)), Err("I7"));
        assert_eq!(check(|rows| rows.contributions.insert((SOURCE, [9; 16]))), Err("I7"));
        assert_eq!(check(|rows| rows.contributions.insert(((1, [9; 16]), MEMORY.1))), Err("I7"));
        assert_eq!(check(|rows| rows.contributions.remove(&(TARGET, MEMORY.1))), Err("I7"));
        let orphan = (1, [7; 16]);
        let plant = |rows: &mut Rows| {
            rows.entities.insert(orphan);
            rows.refcounts.insert(orphan, 0);
        };
        assert_eq!(check(plant), Err("I7"));
        assert_eq!(check(|rows| (plant(rows), rows.untracked.insert(orphan))), Ok(()));
    }

    #[test]
    fn answers_name_what_is_live_and_searches_what_is_current() {
        let rows = rows();
        let served = Served { listed: [MEMORY].into(), searched: [MEMORY].into(), indexed: [MEMORY, TRASHED].into() };
        assert_eq!(what_is_served_is_live(&rows, &served), Ok(()));
        let lacking = Served { indexed: [MEMORY].into(), ..served.clone() };
        assert!(what_is_served_is_live(&rows, &lacking).is_err());
        let leaking = Served { listed: [MEMORY, TRASHED].into(), ..served.clone() };
        assert!(what_is_served_is_live(&rows, &leaking).is_err());
        let mut stale = rows;
        stale.memories.insert(MEMORY, MemoryRow { is_trashed: false, is_current: false });
        assert!(what_is_served_is_live(&stale, &served).is_err());
    }
}
