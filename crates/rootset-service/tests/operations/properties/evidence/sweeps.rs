//! I1–I5: what a sweep took, by the states in which it found everything; and what a plan condemns.

use std::collections::{BTreeMap, BTreeSet};

use rootset_gc::PlanFacts;
use rootset_gc::RootState;
use rootset_gc::heap::{Bucket, Derived, DerivedKind, Heap, Root};
use rootset_gc::invariants::sweep::Swept;
use rootset_gc::strategies::{Selection, stored_reason};
use rootset_invariants::selection;
use rootset_model::plan::{Action, ItemKind, PlanItem, Reason};
use rootset_model::{Basis, ChunkKey, PlanId, RetentionPolicy, RunId, Timestamp};
use rootset_testing::{SqlError, SqlRow};

use super::failed;
use crate::harness::DAY_MS;
use crate::model::Policy;
use crate::properties::simulation::{Outcome, Simulation};
use crate::properties::steps::{CODE_SOURCE, REPO, SOURCES};

/// Every object of a workspace that a plan could name: kind, id, revision.
pub type States = BTreeMap<(ItemKind, [u8; 16], i64), RootState>;

impl Simulation {
    pub fn states(&self, at: usize) -> States {
        let key = self.key(at);
        let mut states = States::new();
        let memories = "
            SELECT m.memory, m.version, m.trashed_run IS NOT NULL, m.pinned, u.last_used_at,
                   m.repo IS NOT NULL AND m.stale_at IS NOT NULL, s.memory IS NOT NULL
            FROM memories m
            LEFT JOIN uses u ON u.workspace = m.workspace AND u.memory = m.memory
            LEFT JOIN memories s ON s.workspace = m.workspace AND s.memory = m.superseded_by AND s.trashed_run IS NULL
            WHERE m.workspace = ?1";
        states.extend(self.all(memories, &[key.into()], |row| {
            let state = RootState {
                is_trashed: row.get(2)?,
                is_pinned: row.get(3)?,
                last_used_at: row.get::<Option<i64>>(4)?.map(Timestamp),
                is_stale: row.get(5)?,
                is_superseded: row.get(6)?,
                ..RootState::plain(row.get(1)?)
            };
            Ok(((ItemKind::MEMORY, row.get(0)?, 0), state))
        }));
        let revisions = "
            SELECT r.memory, r.revision, m.version, r.trashed_run IS NOT NULL OR m.trashed_run IS NOT NULL, m.pinned
            FROM revisions r JOIN memories m ON m.workspace = r.workspace AND m.memory = r.memory
            WHERE r.workspace = ?1";
        states.extend(self.all(revisions, &[key.into()], |row| {
            let state = RootState { is_trashed: row.get(3)?, is_pinned: row.get(4)?, ..RootState::plain(row.get(2)?) };
            Ok(((ItemKind::REVISION, row.get(0)?, row.get(1)?), state))
        }));
        let untracked = "SELECT kind, object, MIN(CASE WHEN trashed_run IS NULL THEN 0 ELSE 1 END) FROM untracked WHERE workspace = ?1 GROUP BY 1, 2";
        states.extend(self.all(untracked, &[key.into()], |row| {
            let kind = if row.get::<i64>(0)? == 0 { ItemKind::ENTITY } else { ItemKind::RELATION };
            Ok(((kind, row.get(1)?, 0), RootState { is_trashed: row.get(2)?, ..RootState::plain(0) }))
        }));
        for row in self.derived(at) {
            if row.contributors == 0 && !row.is_untracked {
                let state = RootState { is_orphaned: true, ..RootState::plain(0) };
                states.insert((kind_of(row.kind), row.id, 0), state);
            }
        }
        states
    }

    /// I1, I2 and I3 of a run that just ended.
    pub fn check_sweep(&self, at: usize, before: &States, run: &str) -> Outcome {
        let key = self.key(at);
        let run = run.parse::<RunId>().unwrap().0;
        let statement = "
            SELECT p.plan, p.created_at, p.include_pinned, p.is_named FROM plans p
            JOIN runs r ON r.workspace = p.workspace AND r.plan = p.plan WHERE r.workspace = ?1 AND r.run = ?2";
        let (plan, facts) = self
            .sql
            .row(statement, &[key.into(), (&run).into()], |row| {
                let created_at = Timestamp(row.get(1)?);
                let facts = PlanFacts { created_at, include_pinned: row.get(2)?, is_named: row.get(3)? };
                Ok((row.get::<[u8; 16]>(0)?, facts))
            })
            .unwrap()
            .expect("a run has a plan");
        let planned = self.planned(at, plan);
        let taken = self.taken_by(at, run);
        let after = self.states(at);
        // Taken is what bears the run's mark, or was there before and is not any more.
        let swept: Vec<(PlanItem, RootState)> = before
            .iter()
            .filter(|(object, _)| taken.contains(*object) || !after.contains_key(*object))
            .filter(|((kind, id, _), _)| *kind != ItemKind::REVISION || after.contains_key(&(ItemKind::MEMORY, *id, 0)))
            .map(|((kind, object, revision), state)| {
                let is_it = |item: &&PlanItem| (item.kind, item.object, item.revision) == (*kind, *object, *revision);
                let unplanned = PlanItem {
                    kind: *kind,
                    object: *object,
                    revision: *revision,
                    version: -1,
                    action: Action::Trash,
                    reason: Reason::NAMED,
                };
                (planned.iter().find(is_it).copied().unwrap_or(unplanned), *state)
            })
            .collect();
        Swept { plan: &facts, planned: &planned, swept: &swept }.check().map_err(failed)
    }

    fn taken_by(&self, at: usize, run: [u8; 16]) -> BTreeSet<(ItemKind, [u8; 16], i64)> {
        let statement = "
            SELECT 0, memory, 0 FROM memories WHERE workspace = ?1 AND trashed_run = ?2
            UNION ALL SELECT 1, memory, revision FROM revisions WHERE workspace = ?1 AND trashed_run = ?2
            UNION ALL SELECT 2 + kind, object, 0 FROM untracked WHERE workspace = ?1 AND trashed_run = ?2";
        let kinds = [ItemKind::MEMORY, ItemKind::REVISION, ItemKind::ENTITY, ItemKind::RELATION];
        let taken = self.all(statement, &[self.key(at).into(), (&run).into()], |row| {
            Ok((kinds[row.get::<u32>(0)? as usize], row.get(1)?, row.get(2)?))
        });
        taken.into_iter().collect()
    }

    fn planned(&self, at: usize, plan: [u8; 16]) -> Vec<PlanItem> {
        let statement = "
            SELECT kind, object, revision, version, action, reason FROM plan_items
            WHERE workspace = ?1 AND plan = ?2 ORDER BY position";
        let word = |row: &SqlRow, index| row.get::<String>(index);
        self.all(statement, &[self.key(at).into(), (&plan).into()], |row| {
            Ok(PlanItem {
                kind: ItemKind::new(&word(row, 0)?),
                object: row.get(1)?,
                revision: row.get(2)?,
                version: row.get(3)?,
                action: Action::from_stored(&word(row, 4)?).unwrap(),
                reason: stored_reason(&word(row, 5)?).unwrap(),
            })
        })
    }

    /// I4 and I5 of a plan that was just made.
    pub fn check_selection(&self, at: usize, plan: &str) -> Outcome {
        let now = Timestamp(self.world.now_ms());
        let buckets = self.buckets(at);
        let (roots, derived) = (self.roots(at, &buckets), self.derived(at));
        let heap = Heap { roots: &roots, buckets: &buckets, derived: &derived };
        let mut selected = Selection::default();
        for item in self.planned(at, plan.parse::<PlanId>().unwrap().0) {
            if item.action == Action::Reclaim {
                let is_it = |row: &Derived| (kind_of(row.kind), row.id) == (item.kind, item.object);
                let place = derived.iter().position(is_it).expect("a plan names what is there");
                selected.derived.push((place as u32, item.reason));
            } else {
                let place = roots.iter().position(|root| root.id == item.object);
                selected.roots.push((place.expect("a plan names the living") as u32, item.reason));
            }
        }
        selection::only_orphans_are_condemned(&heap, &selected).map_err(failed)?;
        selection::expiry_has_a_date_and_an_order(&heap, &selected, now).map_err(failed)
    }

    fn buckets(&self, at: usize) -> Vec<Bucket> {
        let names = [(SOURCES[0], None), (SOURCES[1], None), (CODE_SOURCE, Some(REPO))];
        let bucket = |(source, repo): (&'static str, Option<&'static str>)| Bucket {
            source: source.to_owned(),
            repo: repo.map(str::to_owned),
            policy: in_milliseconds(&self.models[at].policy_of(Some(source), repo)),
        };
        names.into_iter().map(bucket).collect()
    }

    fn roots(&self, at: usize, buckets: &[Bucket]) -> Vec<Root> {
        let statement = "
            SELECT m.memory, m.version, m.source, m.ingested_at, u.last_used_at, m.expires_at,
                   CASE WHEN s.memory IS NULL THEN NULL ELSE m.superseded_at END, m.stale_at, m.source_version,
                   m.pinned, m.repo IS NOT NULL
            FROM memories m
            LEFT JOIN uses u ON u.workspace = m.workspace AND u.memory = m.memory
            LEFT JOIN memories s ON s.workspace = m.workspace AND s.memory = m.superseded_by AND s.trashed_run IS NULL
            WHERE m.workspace = ?1 AND m.trashed_run IS NULL";
        self.all(statement, &[self.key(at).into()], |row| {
            let source: String = row.get(2)?;
            let time = |index| Ok::<_, SqlError>(row.get::<Option<i64>>(index)?.map(Timestamp));
            Ok(Root {
                id: row.get(0)?,
                version: row.get(1)?,
                bucket: buckets.iter().position(|bucket| bucket.source == source).unwrap() as u32,
                ingested_at: time(3)?,
                last_used_at: time(4)?,
                expires_at: time(5)?,
                superseded_at: time(6)?,
                stale_at: time(7)?,
                source_version: row.get(8)?,
                is_pinned: row.get(9)?,
                is_indexed_file: row.get(10)?,
                is_in_flight: false,
                observed_age_ms: i64::MAX,
            })
        })
    }

    fn derived(&self, at: usize) -> Vec<Derived> {
        let statement = "
            SELECT o.kind, o.object,
                   (SELECT COUNT(*) FROM contributions c JOIN memories m
                      ON m.workspace = c.workspace AND m.memory = c.memory
                    WHERE c.workspace = ?1 AND c.object = o.object),
                   CASE WHEN EXISTS (SELECT 1 FROM untracked u WHERE u.workspace = ?1 AND u.object = o.object)
                        THEN 1 ELSE 0 END, 0
            FROM (SELECT 1 AS kind, entity AS object FROM entities WHERE workspace = ?1
                  UNION ALL SELECT 2, relation FROM relations WHERE workspace = ?1) o
            UNION ALL
            SELECT 0, NULL, (SELECT COUNT(*) FROM memories m
                             WHERE m.workspace = ch.workspace AND m.memory = ch.memory), 0, ch.chunk
            FROM chunks ch WHERE ch.workspace = ?1";
        let kinds = [DerivedKind::Chunk, DerivedKind::Entity, DerivedKind::Relation];
        self.all(statement, &[self.key(at).into()], |row| {
            let kind = kinds[row.get::<u32>(0)? as usize];
            let id = match kind {
                DerivedKind::Chunk => ChunkKey(row.get(4)?).external().into_bytes(),
                DerivedKind::Entity | DerivedKind::Relation => row.get(1)?,
            };
            Ok(Derived { kind, id, contributors: row.get(2)?, is_untracked: row.get(3)? })
        })
    }
}

fn kind_of(kind: DerivedKind) -> ItemKind {
    match kind {
        DerivedKind::Chunk => ItemKind::CHUNK,
        DerivedKind::Entity => ItemKind::ENTITY,
        DerivedKind::Relation => ItemKind::RELATION,
    }
}

fn in_milliseconds(policy: &Policy) -> RetentionPolicy {
    RetentionPolicy {
        max_age_ms: policy.max_age.map(|days| days * DAY_MS),
        max_count: policy.max_count,
        max_version_gap: policy.max_version_gap,
        min_keep: policy.min_keep,
        keep_within_ms: policy.keep_within * DAY_MS,
        basis: if policy.is_by_use { Basis::LastUsedAt } else { Basis::IngestedAt },
        ..RetentionPolicy::default()
    }
}
