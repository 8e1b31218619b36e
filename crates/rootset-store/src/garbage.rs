//! Looking for garbage: one snapshot of a workspace turned into values, and the strategies' answer turned into items of a
//! plan. Nothing here changes anything.

use std::collections::{BTreeMap, HashMap, HashSet};

use rootset_gc::drains::{self, RECENT_USE_MS};
use rootset_gc::heap::{Bucket, DerivedKind, Heap, Root};
use rootset_gc::strategies::{EXPIRED, Needs};
use rootset_gc::{Policies, Strategy, strategies};
use rootset_model::plan::{Action, ItemKind, PlanItem};
use rootset_model::{Basis, RetentionPolicy, Timestamp, WorkspaceKey};

use crate::driver::{Column, Row, Transaction};
use crate::error::StoreError;
use crate::statements::garbage as sql;
use crate::{NextLook, Store, Workspace, orphans, retention};

#[derive(Clone, Copy, Debug)]
pub struct GarbageRequest<'a> {
    pub strategies: &'a [&'static Strategy],
    /// The policy of the configuration, in force where the database has none.
    pub configured: RetentionPolicy,
    /// For how long files that left their repository are no garbage yet.
    pub stale_kept_ms: i64,
    pub now: Timestamp,
}

/// What the strategies found in one snapshot.
#[derive(Clone, Debug)]
pub struct Garbage {
    /// Roots newest first, then derived rows.
    pub items: Vec<PlanItem>,
    pub buckets: Vec<BucketFindings>,
    /// Sources with memories among the items.
    pub sources: Vec<SourceGarbage>,
    /// When something may become garbage next, although nobody writes; `None`: at any time.
    pub next_look: Option<NextLook>,
    /// What was seen: equal to a later one when nothing was written in between. `None` when that cannot be told.
    pub marker: Option<String>,
}

/// What retention found among the memories of one source and repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketFindings {
    pub source: String,
    pub repo: Option<String>,
    pub policy: RetentionPolicy,
    pub evaluated: i64,
    pub unclassifiable: i64,
    /// Those whose date has passed or whose policy no longer keeps them.
    pub expired: Vec<[u8; 16]>,
}

/// The garbage of one source, as a drain takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceGarbage {
    pub source: String,
    /// Oldest first, recently used last.
    pub memories: Vec<[u8; 16]>,
    /// Whether the last memory of the source may go, too: every policy that takes part says so.
    pub may_empty: bool,
    /// See [`Policies::shown_of`].
    pub shown: Option<i64>,
    /// See [`Policies::digest_of`].
    pub policies: String,
}

/// What the policies would expire now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    pub memories: i64,
    pub expired: i64,
    /// Of the expired, those that were used lately: a sign that the policy is too strict.
    pub recently_used: i64,
}

/// Living memories of one source and repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketTotals {
    pub source: String,
    pub repo: Option<String>,
    pub memories: i64,
    pub chunks: i64,
}

impl Store {
    /// What the strategies call garbage now.
    pub fn find_garbage(&self, workspace: &Workspace, request: &GarbageRequest<'_>) -> Result<Garbage, StoreError> {
        self.read(workspace, |tx| find(tx, workspace.key, request))
    }

    pub fn bucket_totals(&self, workspace: &Workspace) -> Result<Vec<BucketTotals>, StoreError> {
        self.read(workspace, |tx| {
            tx.rows(&sql::BUCKET_TOTALS, &[workspace.key.into()], |row| {
                let (source, repo) = (row.get(0)?, row.get(1)?);
                Ok(BucketTotals { source, repo, memories: row.get(2)?, chunks: row.get(3)? })
            })
        })
    }
}

pub(crate) fn find(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    request: &GarbageRequest<'_>,
) -> Result<Garbage, StoreError> {
    let policies = retention::load(tx, workspace, request.configured)?;
    let seen = seen(tx, workspace)?;
    let marker = marker_of(seen, &policies);
    let mut extent = None;
    let mut derived = Vec::new();
    for need in strategies::needs_of(request.strategies) {
        match need {
            Needs::MemoriesUnderPolicies if policies.have_rules() => extent = Some(Extent::Every),
            Needs::DatedMemories | Needs::MemoriesUnderPolicies => extent = extent.max(Some(Extent::Dated)),
            Needs::EveryMemory => extent = Some(Extent::Every),
            Needs::OrphanedChunks => orphans::chunks(tx, workspace, &mut derived)?,
            Needs::OrphanedGraph => orphans::graph(tx, workspace, &mut derived)?,
        }
    }
    let (mut roots, buckets) = match extent {
        Some(extent) => read_roots(tx, workspace, &policies, extent, request.now)?,
        None => (Vec::new(), Vec::new()),
    };
    for root in &mut roots {
        root.stale_at = root.stale_at.map(|at| at.saturating_add_ms(request.stale_kept_ms));
    }
    let heap = Heap { roots: &roots, buckets: &buckets, derived: &derived };
    let selection = strategies::select(request.strategies, &heap, request.now);
    let next_date: Option<Timestamp> = match extent {
        Some(Extent::Every) => None,
        _ => tx.scalar(&sql::NEXT_DATE, &[workspace.into(), request.now.into()])?,
    };
    let next_look = (!policies.all().any(rootset_gc::goes_by_uses)).then(|| NextLook {
        at: rootset_gc::next_change(&heap, request.now)
            .into_iter()
            .chain(next_date)
            .min()
            .unwrap_or(Timestamp(i64::MAX)),
        // A write within the same millisecond may come after this look.
        last_write_at: seen.map(|it| Timestamp(it.last_write_at)).filter(|at| *at < request.now),
    });
    Ok(Garbage {
        items: items(&heap, &selection),
        sources: sources(&heap, &selection, &policies, request.now),
        next_look,
        buckets: findings(&heap, &selection),
        marker,
    })
}

/// Every memory that the policies alone would expire.
pub(crate) fn count_expired(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    policies: &Policies,
    now: Timestamp,
) -> Result<Findings, StoreError> {
    let (roots, buckets) = read_roots(tx, workspace, policies, Extent::Every, now)?;
    let classified = rootset_gc::retention::classify(&roots, &buckets, now);
    let was_used = |place: &u32| was_used_lately(&roots[*place as usize], now);
    Ok(Findings {
        memories: roots.len() as i64,
        expired: classified.expired.len() as i64,
        recently_used: classified.expired.iter().filter(|(place, _)| was_used(place)).count() as i64,
    })
}

/// Memories that a final policy no longer allows to be kept, as far as the wall clock can tell: for rows that a restore has
/// just brought, of which the database has seen nothing yet. None while the clock is in doubt.
pub(crate) fn past_final_policies(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    configured: RetentionPolicy,
    now: Timestamp,
) -> Result<Vec<[u8; 16]>, StoreError> {
    let policies = retention::load(tx, workspace, configured)?;
    if !policies.all().any(|policy| policy.is_final && !policy.is_empty()) || tx.observed_time()?.is_in_doubt() {
        return Ok(Vec::new());
    }
    let (mut roots, buckets) = read_roots(tx, workspace, &policies, Extent::Every, now)?;
    for root in &mut roots {
        root.observed_age_ms = i64::MAX;
    }
    let classified = rootset_gc::retention::classify(&roots, &buckets, now);
    let root = |place: u32| &roots[place as usize];
    let is_final = |place: u32| buckets[root(place).bucket as usize].policy.is_final;
    Ok(classified.expired.iter().filter(|(place, _)| is_final(*place)).map(|(place, _)| root(*place).id).collect())
}

pub(crate) fn was_used_lately(root: &Root, now: Timestamp) -> bool {
    root.last_used_at.is_some_and(|at| now.0.saturating_sub(at.0) < RECENT_USE_MS)
}

/// Equal markers mean that no memory was written and no policy changed in between. Uses leave no mark, so that a policy
/// that goes by them is asked anew every time.
pub(crate) fn marker(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    policies: &Policies,
) -> Result<Option<String>, StoreError> {
    Ok(marker_of(seen(tx, workspace)?, policies))
}

fn marker_of(seen: Option<Seen>, policies: &Policies) -> Option<String> {
    if policies.all().any(|policy| policy.basis == Basis::LastUsedAt) {
        return None;
    }
    let configured = serde_json::to_string(&policies.configured).expect("numbers always serialise");
    seen.map(|it| format!("{}/{}/{configured}", it.last_write_at, it.audit_seq))
}

/// What changes with everything that is written in a workspace, uses excepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub last_write_at: i64,
    pub audit_seq: i64,
}

pub(crate) fn seen(tx: &mut dyn Transaction, workspace: WorkspaceKey) -> Result<Option<Seen>, StoreError> {
    tx.row(&sql::MARKER, &[workspace.into()], |row| Ok(Seen { last_write_at: row.get(0)?, audit_seq: row.get(1)? }))
}

/// Which of the living memories are read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Extent {
    /// Those that some date may condemn.
    Dated,
    Every,
}

/// Living memories and the buckets they are in.
pub(crate) fn read_roots(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    policies: &Policies,
    extent: Extent,
    now: Timestamp,
) -> Result<(Vec<Root>, Vec<Bucket>), StoreError> {
    let in_flight: HashSet<[u8; 16]> =
        tx.rows(&sql::IN_FLIGHT, &[workspace.into(), now.into()], |row| row.get(0))?.into_iter().collect();
    let clock = tx.observed_time()?;
    let wants_tags = (!policies.tags.is_empty()).into();
    let mut buckets = Buckets::default();
    let mut roots = Vec::new();
    let mut read = |row: &dyn Row| {
        let id: [u8; 16] = row.get(0)?;
        let repo = text(row, 3)?;
        let tags: Vec<String> = match text(row, 13)? {
            // What cannot be read has no tag with a policy.
            Some(json) => serde_json::from_str(json).unwrap_or_default(),
            None => Vec::new(),
        };
        let tag = policies.deciding_tag(tags.iter().map(String::as_str));
        // Written by a clock that nobody believes: no time says how old it is.
        let is_in_doubt = integer(row, 12)? == Some(1);
        roots.push(Root {
            id,
            version: row.get(1)?,
            bucket: buckets.place(policies, text(row, 2)?.unwrap_or_default(), repo, tag),
            ingested_at: time(row, 4)?.filter(|_| !is_in_doubt),
            observed_age_ms: integer(row, 11)?.map_or(i64::MAX, |at| clock.age_ms(at)),
            last_used_at: time(row, 5)?.filter(|_| !is_in_doubt),
            expires_at: time(row, 6)?,
            superseded_at: time(row, 7)?,
            stale_at: time(row, 8)?,
            source_version: integer(row, 9)?,
            is_pinned: row.get(10)?,
            is_indexed_file: repo.is_some(),
            is_in_flight: in_flight.contains(&id),
        });
        Ok(())
    };
    match extent {
        Extent::Dated => tx.query(&sql::DATED_ROOTS, &[workspace.into(), wants_tags, now.into()], &mut read)?,
        Extent::Every => tx.query(&sql::ALL_ROOTS, &[workspace.into(), wants_tags], &mut read)?,
    }
    Ok((roots, buckets.list))
}

#[derive(Default)]
struct Buckets {
    list: Vec<Bucket>,
    places: HashMap<String, u32>,
    /// The last answer: rows of one bucket tend to stand together.
    key: String,
}

impl Buckets {
    fn place(&mut self, policies: &Policies, source: &str, repo: Option<&str>, tag: Option<&str>) -> u32 {
        self.key.clear();
        self.key.push_str(source);
        for part in [repo, tag] {
            // No source contains a NUL, so that no two buckets share a key.
            self.key.push('\0');
            self.key.push_str(part.unwrap_or_default());
        }
        if let Some(place) = self.places.get(&self.key) {
            return *place;
        }
        let place = self.list.len() as u32;
        let (policy, _) = policies.of(Some(source), repo, tag);
        self.list.push(Bucket { source: source.to_owned(), repo: repo.map(str::to_owned), policy });
        self.places.insert(self.key.clone(), place);
        place
    }
}

fn text(row: &dyn Row, index: usize) -> Result<Option<&str>, StoreError> {
    Ok(match row.column(index)? {
        Column::Text(text) => Some(text),
        _ => None,
    })
}

/// What is no number is no time: the row is kept, and counted as one that cannot be judged.
fn time(row: &dyn Row, index: usize) -> Result<Option<Timestamp>, StoreError> {
    Ok(integer(row, index)?.map(Timestamp))
}

fn integer(row: &dyn Row, index: usize) -> Result<Option<i64>, StoreError> {
    Ok(match row.column(index)? {
        Column::Integer(number) => Some(number),
        _ => None,
    })
}

fn items(heap: &Heap<'_>, selection: &strategies::Selection) -> Vec<PlanItem> {
    let mut items: Vec<PlanItem> = selection
        .roots
        .iter()
        .map(|(place, reason)| {
            let root = &heap.roots[*place as usize];
            PlanItem {
                kind: ItemKind::MEMORY,
                object: root.id,
                revision: 0,
                version: root.version,
                action: Action::Trash,
                reason: *reason,
            }
        })
        .collect();
    // Ids begin with the time of creation.
    items.sort_unstable_by_key(|item| std::cmp::Reverse(item.object));
    items.extend(selection.derived.iter().map(|(place, reason)| {
        let row = &heap.derived[*place as usize];
        let kind = match row.kind {
            DerivedKind::Chunk => ItemKind::CHUNK,
            DerivedKind::Entity => ItemKind::ENTITY,
            DerivedKind::Relation => ItemKind::RELATION,
        };
        PlanItem { kind, object: row.id, revision: 0, version: 0, action: Action::Reclaim, reason: *reason }
    }));
    items
}

/// What a round has to know of each source: which of its memories go first, and whether all of them may.
fn sources(
    heap: &Heap<'_>,
    selection: &strategies::Selection,
    policies: &Policies,
    now: Timestamp,
) -> Vec<SourceGarbage> {
    let mut by_source: BTreeMap<&str, Vec<&Root>> = BTreeMap::new();
    for (place, _) in &selection.roots {
        let root = &heap.roots[*place as usize];
        by_source.entry(&heap.buckets[root.bucket as usize].source).or_default().push(root);
    }
    let of_source = |(source, mut roots): (&str, Vec<&Root>)| {
        roots.sort_by_cached_key(|root| drains::order(root, now));
        let bucket = |root: &Root| &heap.buckets[root.bucket as usize];
        let mut repos: Vec<&str> = roots.iter().filter_map(|root| bucket(root).repo.as_deref()).collect();
        repos.dedup();
        SourceGarbage {
            source: source.to_owned(),
            may_empty: roots.iter().all(|root| bucket(root).policy.may_empty),
            shown: policies.shown_of(source, &repos),
            policies: policies.digest_of(source),
            memories: roots.into_iter().map(|root| root.id).collect(),
        }
    };
    by_source.into_iter().map(of_source).collect()
}

fn findings(heap: &Heap<'_>, selection: &strategies::Selection) -> Vec<BucketFindings> {
    let mut findings: Vec<BucketFindings> = heap
        .buckets
        .iter()
        .map(|bucket| BucketFindings {
            source: bucket.source.clone(),
            repo: bucket.repo.clone(),
            policy: bucket.policy,
            evaluated: 0,
            unclassifiable: 0,
            expired: Vec::new(),
        })
        .collect();
    let bucket_of = |place: u32| heap.roots[place as usize].bucket as usize;
    for root in heap.roots {
        findings[root.bucket as usize].evaluated += 1;
    }
    for place in &selection.unclassifiable {
        findings[bucket_of(*place)].unclassifiable += 1;
    }
    for (place, reason) in &selection.roots {
        if EXPIRED.reasons.contains(reason) {
            findings[bucket_of(*place)].expired.push(heap.roots[*place as usize].id);
        }
    }
    findings
}
