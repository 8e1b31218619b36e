//! Stored plans and their previews. A plan holds ids, versions and codes; names and topics are looked up when shown.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use rootset_gc::{Blocked, PlanFacts, SourceShare, Strategy, strategies};
use rootset_model::limits::{PLAN_ITEMS_SHOWN, PLAN_LIFETIME_MS, PLANS_WAITING_MAX};
use rootset_model::plan::{Action, ItemKind, PlanItem, Reason};
use rootset_model::{Counts, Cut, DrainId, Limits, MemoryId, PlanId, RunId, Timestamp, WorkspaceKey};
use serde::{Deserialize, Serialize};

use crate::driver::{Row, Transaction, Value};
use crate::error::StoreError;
use crate::kinds::{self, Descriptions, Planned};
use crate::runs::NAMED_AS_RECLAIMED;
use crate::statements::housekeeping as housekeeping_sql;
use crate::statements::plans as sql;
use crate::statements::stats as stats_sql;
use crate::{Stamp, Store, Workspace, graph};

/// What a policy or a caller wants gone.
#[derive(Clone, Debug)]
pub struct NewPlan {
    pub id: PlanId,
    /// Codes and numbers, never the words that were asked for.
    pub policy: String,
    /// Newest first.
    pub items: Vec<PlanItem>,
    pub erases: bool,
    pub include_pinned: bool,
    /// The caller named the items; limits do not apply.
    pub is_named: bool,
    /// What the strategies have seen, see [`crate::Garbage::marker`].
    pub marker: Option<String>,
}

/// What would go if the plan were applied now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanTotals {
    /// Roots, the derived rows that follow them, and bytes of text.
    #[serde(flatten)]
    pub counts: Counts,
    /// Derived rows that nothing vouches for any more.
    pub reclaim: Counts,
}

/// Kinds that the totals of every plan name.
const NAMED_BY_PLANS: [&str; 8] =
    ["memories", "chunks", "entities", "relations", "revisions", "segments", "sessions", "bytes"];

impl Default for PlanTotals {
    fn default() -> Self {
        Self { counts: Counts::zero(&NAMED_BY_PLANS), reclaim: Counts::zero(&NAMED_AS_RECLAIMED) }
    }
}

/// As stored beside the plan: what an apply wants to know without counting again.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct StoredTotals {
    #[serde(flatten)]
    totals: PlanTotals,
    marker: Option<String>,
}

#[derive(Clone, Debug)]
pub struct PlanView {
    pub id: PlanId,
    pub digest: [u8; 32],
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub erases: bool,
    /// A run of it was begun.
    pub is_applied: bool,
    pub totals: PlanTotals,
    /// Living memories in the plan as a share of the workspace's.
    pub fraction: f64,
    pub items: Vec<ItemView>,
    pub items_total: i64,
    pub blocked: Vec<Blocked>,
    /// What only comes near, with the first page.
    pub maybe: Vec<ItemView>,
    /// Memories that can be cut instead of removed.
    pub can_be_cut: HashSet<MemoryId>,
}

#[derive(Clone, Debug)]
pub struct ItemView {
    pub item: PlanItem,
    pub id: String,
    pub name: Option<String>,
    pub topic: Option<String>,
    pub file_path: Option<String>,
    pub created_at: Option<Timestamp>,
    /// Of an indexed file.
    pub lines: Option<i64>,
    pub chunk_count: Option<i64>,
}

/// A plan as stored.
pub(crate) struct StoredPlan {
    pub id: PlanId,
    pub digest: [u8; 32],
    pub policy: String,
    pub erases: bool,
    pub include_pinned: bool,
    pub is_named: bool,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub totals: PlanTotals,
    pub marker: Option<String>,
    pub run: Option<RunId>,
}

/// Codes by which a plan was made.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PlanPolicy {
    pub operation: Option<String>,
    pub strategies: Vec<&'static Strategy>,
    /// The drain that its run is a round of.
    pub drain: Option<DrainId>,
    pub searched: Option<Searched>,
    #[serde(flatten)]
    pub offers: Offers,
}

/// What a reviewer may choose besides a plan's items: ids, versions and places, never text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Offers {
    /// What comes near what was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub maybe: Vec<OfferedItem>,
    /// Memories that may be cut instead of removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<OfferedCut>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedItem {
    pub memory: MemoryId,
    pub version: i64,
    /// The word of a [`Reason`].
    pub reason: String,
}

/// Where one text of a memory is cut. It holds for this revision of this version, and for no other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedCut {
    pub memory: MemoryId,
    pub version: i64,
    pub revision: i64,
    /// Of the content, in hexadecimal digits.
    pub hash: String,
    pub cut: Cut,
    /// Earlier revisions that match, and go as well.
    pub earlier: Vec<i64>,
}

/// What a reviewer wants of one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Remove,
    Redact,
    Keep,
}

/// What a forget was about, as its plan keeps it: numbers, codes and a keyed hash, never the words that were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Searched {
    /// See [`Store::keyed_hash`].
    pub asked: String,
    pub kinds: Vec<String>,
    pub kinds_left_out: Vec<String>,
    pub matched: usize,
    pub kept_pinned: usize,
}

impl StoredPlan {
    pub fn policy(&self) -> PlanPolicy {
        serde_json::from_str(&self.policy).unwrap_or_default()
    }

    pub fn facts(&self) -> PlanFacts {
        PlanFacts { created_at: self.created_at, include_pinned: self.include_pinned, is_named: self.is_named }
    }
}

impl Store {
    /// Stores a plan and answers its preview. Nothing else changes.
    pub fn store_plan(
        &self,
        workspace: &Workspace,
        plan: &NewPlan,
        limits: &Limits,
        stamp: Stamp<'_>,
    ) -> Result<PlanView, StoreError> {
        self.write_to_free_room(workspace, |tx| {
            insert(tx, workspace.key, plan, stamp)?;
            view(tx, workspace.key, plan.id, limits, 0, PLAN_ITEMS_SHOWN as i64)
        })
    }

    /// What the forget searched for that made the plan; `None` of other plans, and of those of earlier versions.
    pub fn searched(&self, workspace: &Workspace, plan: PlanId) -> Result<Option<Searched>, StoreError> {
        self.read(workspace, |tx| Ok(find(tx, workspace.key, plan)?.policy().searched))
    }

    /// Of these ids, as previews show them, those that the plan holds.
    pub fn planned_among(
        &self,
        workspace: &Workspace,
        plan: PlanId,
        references: &[String],
    ) -> Result<HashSet<String>, StoreError> {
        let wanted: HashSet<&str> = references.iter().map(String::as_str).collect();
        let (items, offers) = self.read(workspace, |tx| {
            let offers = find(tx, workspace.key, plan)?.policy().offers;
            Ok((items(tx, workspace.key, plan, 0, i64::MAX)?, offers))
        })?;
        let planned = items.into_iter().flat_map(|(_, item)| {
            [MemoryId(item.object).to_string(), kinds::shown_id(item.kind, item.object, item.revision)]
        });
        let ids = planned.chain(offers.maybe.iter().map(|it| it.memory.to_string()));
        Ok(ids.filter(|id| wanted.contains(id.as_str())).collect())
    }

    /// One page of a plan's items.
    pub fn plan(
        &self,
        workspace: &Workspace,
        plan: PlanId,
        limits: &Limits,
        offset: i64,
        limit: i64,
    ) -> Result<PlanView, StoreError> {
        self.read(workspace, |tx| view(tx, workspace.key, plan, limits, offset, limit))
    }
}

/// What a digest is about: equal plans of two databases have equal digests, whatever keys those hash by.
fn without_search(policy: &str) -> Cow<'_, str> {
    let Ok(mut fields) = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(policy) else {
        return Cow::Borrowed(policy);
    };
    match fields.remove("searched") {
        Some(_) => Cow::Owned(serde_json::Value::Object(fields).to_string()),
        None => Cow::Borrowed(policy),
    }
}

/// With their items.
pub(crate) fn delete(tx: &mut dyn Transaction, workspace: WorkspaceKey, plans: &[[u8; 16]]) -> Result<(), StoreError> {
    let key = [workspace.into(), plans.into()];
    tx.execute(&housekeeping_sql::DELETE_ITEMS_OF_PLANS, &key)?;
    tx.execute(&housekeeping_sql::DELETE_PLANS, &key)?;
    Ok(())
}

pub(crate) fn insert(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    plan: &NewPlan,
    stamp: Stamp<'_>,
) -> Result<(), StoreError> {
    let digest = rootset_gc::digest(&without_search(&plan.policy), &plan.items);
    let expires_at = stamp.now.saturating_add_ms(PLAN_LIFETIME_MS);
    tx.execute(
        &sql::INSERT,
        &[
            workspace.into(),
            (&plan.id).into(),
            (&digest).into(),
            (&plan.policy).into(),
            plan.erases.into(),
            plan.include_pinned.into(),
            plan.is_named.into(),
            stamp.actor.into(),
            stamp.now.into(),
            expires_at.into(),
            "{}".into(),
        ],
    )?;
    insert_items(tx, workspace, plan.id, &plan.items)?;
    let surplus: Vec<[u8; 16]> =
        tx.rows(&sql::SURPLUS, &[workspace.into(), PLANS_WAITING_MAX.into()], |row| row.get(0))?;
    if !surplus.is_empty() {
        delete(tx, workspace, &surplus)?;
    }
    set_totals(tx, workspace, plan)
}

fn set_totals(tx: &mut dyn Transaction, workspace: WorkspaceKey, plan: &NewPlan) -> Result<(), StoreError> {
    let totals = StoredTotals { totals: count(tx, workspace, plan)?, marker: plan.marker.clone() };
    let json = serde_json::to_string(&totals).expect("numbers and texts always serialise");
    tx.execute(&sql::SET_TOTALS, &[workspace.into(), (&plan.id).into(), (&json).into()]).map(drop)
}

fn insert_items(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    plan: PlanId,
    items: &[PlanItem],
) -> Result<(), StoreError> {
    let rows: Vec<_> = items
        .iter()
        .enumerate()
        .map(|(position, item)| {
            vec![
                workspace.into(),
                (&plan).into(),
                (position as i64).into(),
                item.kind.as_str().into(),
                (&item.object).into(),
                item.revision.into(),
                item.version.into(),
                item.action.as_str().into(),
                item.reason.as_str().into(),
            ]
        })
        .collect();
    tx.execute_many(&sql::INSERT_ITEM, &rows)?;
    Ok(())
}

fn count(tx: &mut dyn Transaction, workspace: WorkspaceKey, plan: &NewPlan) -> Result<PlanTotals, StoreError> {
    let mut totals = PlanTotals::default();
    for (kind, items) in kinds::by_kind(&plan.items) {
        kind.count_planned(tx, &Planned { workspace, plan: plan.id }, &items, &mut totals)?;
    }
    let key = [workspace.into(), (&plan.id).into()];
    tx.query(&crate::statements::graph::OBJECTS_LOST_BY_PLAN, &key, &mut |row| {
        totals.counts.add(graph::counted_as(row.get(0)?), row.get(1)?);
        Ok(())
    })?;
    Ok(totals)
}

pub(crate) fn find(tx: &mut dyn Transaction, workspace: WorkspaceKey, id: PlanId) -> Result<StoredPlan, StoreError> {
    tx.row(&sql::BY_ID, &[workspace.into(), (&id).into()], |row| {
        let stored: StoredTotals = serde_json::from_str(&row.get::<String>(8)?).unwrap_or_default();
        Ok(StoredPlan {
            id,
            digest: row.get(0)?,
            policy: row.get(1)?,
            erases: row.get(2)?,
            include_pinned: row.get(3)?,
            is_named: row.get(4)?,
            created_at: row.get(6)?,
            expires_at: row.get(7)?,
            totals: stored.totals,
            marker: stored.marker,
            run: row.get(9)?,
        })
    })?
    .ok_or_else(|| StoreError::PlanNotFound(id.to_string()))
}

pub(crate) fn items(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    plan: PlanId,
    from: i64,
    limit: i64,
) -> Result<Vec<(i64, PlanItem)>, StoreError> {
    tx.rows(&sql::ITEMS, &[workspace.into(), (&plan).into(), from.into(), limit.into()], read_item)
}

fn read_item(row: &dyn Row) -> Result<(i64, PlanItem), StoreError> {
    let word = |index| row.get::<String>(index);
    let item = PlanItem {
        kind: kinds::stored_name(&word(1)?)?,
        object: row.get(2)?,
        revision: row.get(3)?,
        version: row.get(4)?,
        action: Action::from_stored(&word(5)?).ok_or(StoreError::UnreadableValue("the action of a plan's item"))?,
        reason: strategies::stored_reason(&word(6)?)
            .ok_or(StoreError::UnreadableValue("the reason of a plan's item"))?,
    };
    Ok((row.get(0)?, item))
}

/// Per source: memories in the plan, and memories that live. Counted without visiting every memory.
fn shares(tx: &mut dyn Transaction, workspace: WorkspaceKey, plan: PlanId) -> Result<Vec<SourceShare>, StoreError> {
    let mut counted = |statement, parameters: &[Value<'_>]| -> Result<BTreeMap<String, i64>, StoreError> {
        Ok(tx.rows(statement, parameters, |row| Ok((row.get(0)?, row.get(1)?)))?.into_iter().collect())
    };
    let planned = counted(&sql::PLANNED_BY_SOURCE, &[workspace.into(), (&plan).into()])?;
    let stored = counted(&stats_sql::MEMORIES_BY_SOURCE, &[workspace.into()])?;
    let trashed = counted(&stats_sql::TRASHED_BY_SOURCE, &[workspace.into()])?;
    Ok(stored
        .into_iter()
        .map(|(source, memories)| SourceShare {
            in_plan: planned.get(&source).copied().unwrap_or(0),
            total: memories - trashed.get(&source).copied().unwrap_or(0),
            source,
        })
        .collect())
}

/// Limits that the plan breaks now, less what the reviewer keeps; none for items the caller named.
pub(crate) fn blocked(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    plan: &StoredPlan,
    excluded: &[[u8; 16]],
    limits: &Limits,
) -> Result<Vec<Blocked>, StoreError> {
    if plan.is_named {
        return Ok(Vec::new());
    }
    let mut shares = shares(tx, workspace, plan.id)?;
    if !excluded.is_empty() {
        tx.query(&sql::LIVING_BY_SOURCE, &[workspace.into(), excluded.into()], &mut |row| {
            let source: String = row.get(0)?;
            let count: i64 = row.get(1)?;
            shares.iter_mut().filter(|share| share.source == source).for_each(|share| share.in_plan -= count);
            Ok(())
        })?;
    }
    Ok(rootset_gc::blocked(&shares, limits))
}

fn view(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    id: PlanId,
    limits: &Limits,
    offset: i64,
    limit: i64,
) -> Result<PlanView, StoreError> {
    let plan = find(tx, workspace, id)?;
    let page: Vec<PlanItem> = items(tx, workspace, id, offset, limit)?.into_iter().map(|(_, item)| item).collect();
    let items_total = tx.scalar(&sql::ITEM_COUNT, &[workspace.into(), (&id).into()])?;
    let shares = shares(tx, workspace, id)?;
    let all: i64 = shares.iter().map(|share| share.total).sum();
    let taken: i64 = shares.iter().map(|share| share.in_plan).sum();
    let fraction = if all == 0 { 0.0 } else { taken as f64 / all as f64 };
    let offers = plan.policy().offers;
    let maybe: Vec<PlanItem> = offers.maybe.iter().filter_map(|it| offered_item(it, plan.erases)).collect();
    Ok(PlanView {
        id,
        digest: plan.digest,
        created_at: plan.created_at,
        expires_at: plan.expires_at,
        erases: plan.erases,
        is_applied: plan.run.is_some(),
        totals: plan.totals,
        fraction,
        items: describe(tx, workspace, &page)?,
        maybe: if offset == 0 { describe(tx, workspace, &maybe)? } else { Vec::new() },
        can_be_cut: offers.cuts.iter().map(|it| it.memory).collect(),
        items_total,
        blocked: if plan.is_named { Vec::new() } else { rootset_gc::blocked(&shares, limits) },
    })
}

fn offered_item(offered: &OfferedItem, erases: bool) -> Option<PlanItem> {
    let reason = strategies::stored_reason(&offered.reason)?;
    Some(PlanItem {
        kind: ItemKind::MEMORY,
        object: offered.memory.0,
        revision: 0,
        version: offered.version,
        action: if erases { Action::Erase } else { Action::Trash },
        reason,
    })
}

/// Makes of a stored plan what its reviewer chose, before anything is confirmed. Only what the preview showed can be
/// chosen; the plan keeps the preview's digest.
pub(crate) fn choose(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    plan: &StoredPlan,
    choices: &[(String, Choice)],
) -> Result<(), StoreError> {
    let policy = plan.policy();
    let before: Vec<PlanItem> = items(tx, workspace, plan.id, 0, i64::MAX)?.into_iter().map(|(_, item)| item).collect();
    let mut after = before.clone();
    for (reference, choice) in choices {
        let unknown = || StoreError::NotInPlan { reference: reference.clone() };
        let is_it = |item: &PlanItem| {
            MemoryId(item.object).to_string() == *reference
                || kinds::shown_id(item.kind, item.object, item.revision) == *reference
        };
        let offered = policy.offers.maybe.iter().find(|it| it.memory.to_string() == *reference);
        let planned = before.iter().find(|item| is_it(item)).copied();
        let cut = policy.offers.cuts.iter().find(|it| it.memory.to_string() == *reference);
        match (choice, planned, offered) {
            (_, None, None) => return Err(unknown()),
            (Choice::Keep, ..) => after.retain(|item| !is_it(item)),
            (Choice::Remove, None, Some(offered)) => after.extend(offered_item(offered, plan.erases)),
            (Choice::Remove, Some(planned), _) => {
                // A memory that was to be cut goes as a whole, with all its revisions.
                if let Some(cut) = cut.filter(|_| planned.kind == ItemKind::REVISION) {
                    after.retain(|item| item.object != planned.object);
                    after.push(PlanItem {
                        kind: ItemKind::MEMORY,
                        revision: 0,
                        version: cut.version,
                        reason: Reason::MATCHED,
                        ..planned
                    });
                }
            }
            (Choice::Redact, Some(planned), _) => {
                let cut = cut.ok_or_else(|| StoreError::CannotBeCut { reference: reference.clone() })?;
                if planned.kind == ItemKind::MEMORY {
                    after.retain(|item| item.object != planned.object);
                    after.extend(cut_items(cut, planned.action));
                }
            }
            (Choice::Redact, None, Some(_)) => return Err(StoreError::CannotBeCut { reference: reference.clone() }),
        }
    }
    // What is cut goes last, see `ForgetSelection`.
    after.sort_by_key(|item| item.reason == Reason::REDACTED);
    let kept: HashSet<&PlanItem> = after.iter().collect();
    if after.len() == before.len() && before.iter().all(|item| kept.contains(item)) {
        return Ok(());
    }
    tx.execute(&housekeeping_sql::DELETE_ITEMS_OF_PLANS, &[workspace.into(), (&[plan.id.0][..]).into()])?;
    insert_items(tx, workspace, plan.id, &after)?;
    let chosen = NewPlan {
        id: plan.id,
        policy: String::new(),
        items: after,
        erases: plan.erases,
        include_pinned: plan.include_pinned,
        is_named: plan.is_named,
        marker: plan.marker.clone(),
    };
    set_totals(tx, workspace, &chosen)
}

/// The earlier revisions that match, and the text that is cut.
fn cut_items(cut: &OfferedCut, action: Action) -> Vec<PlanItem> {
    let item = |revision, reason| PlanItem {
        kind: ItemKind::REVISION,
        object: cut.memory.0,
        revision,
        version: cut.version,
        action,
        reason,
    };
    let earlier = cut.earlier.iter().map(|revision| item(*revision, Reason::MATCHED));
    earlier.chain([item(cut.revision, Reason::REDACTED)]).collect()
}

/// Names and topics of items.
fn describe(
    tx: &mut dyn Transaction,
    workspace: WorkspaceKey,
    items: &[PlanItem],
) -> Result<Vec<ItemView>, StoreError> {
    let mut found = Descriptions::new();
    for (kind, items) in kinds::by_kind(items) {
        kind.describe(tx, workspace, &items, &mut found)?;
    }
    let view = |item: &PlanItem| {
        let words = found.get(&item.object).cloned().unwrap_or_default();
        ItemView {
            item: *item,
            id: kinds::shown_id(item.kind, item.object, item.revision),
            name: words.name,
            topic: words.topic,
            file_path: words.file_path,
            created_at: words.created_at,
            lines: words.lines,
            // Of a revision alone nobody knows the chunks.
            chunk_count: words.chunk_count.filter(|_| item.revision == 0),
        }
    };
    Ok(items.iter().map(view).collect())
}
