//! Plans, runs and undo for a model.

use std::collections::BTreeMap;

use rootset_gc::Blocked;
use rootset_model::slug::is_made_from;
use rootset_model::{Counts, Day, DrainId, PlanId, RunId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use super::{BriefDeleted, some};
use crate::collector::{
    AppliedPart, AppliedPlan, ConflictAnswer, PlanAnswer, PlanItemAnswer, PlanPart, PruneAnswer, ReceiptAnswer,
    RunAnswer, SkippedAnswer, UndoAnswer, UndonePart,
};
use crate::search::ForgetAnswer;

/// What goes along with a root is of no concern to who decides about the root.
const DERIVED: [&str; 4] = ["chunks", "entities", "relations", "bytes"];

pub(super) fn roots(counts: &Counts) -> Counts {
    counts.without(&DERIVED).naming(&[])
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BriefPlan {
    pub plan_id: PlanId,
    /// The items, newest first.
    pub items: Vec<BriefItem>,
    /// What may be meant, too; kept without an action.
    pub maybe: Option<Vec<BriefItem>>,
    /// The number of items, if not all are shown.
    pub items_total: Option<i64>,
    /// Set if applying the plan removes permanently.
    pub purge: Option<bool>,
    /// The limits that prevent applying the plan.
    pub blocked: Option<Vec<Blocked>>,
    pub parts: Option<Vec<PlanPart>>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BriefItem {
    /// The name; the id of what has none.
    pub name: String,
    /// The kind of the item, if it is no memory.
    pub kind: Option<String>,
    /// The topic of a memory, where somebody gave one.
    pub topic: Option<String>,
    pub file_path: Option<String>,
    pub date: Option<Day>,
    /// What applying does, if not `trash`.
    pub action: Option<String>,
    pub reason: Option<String>,
    /// What would stay of a memory that is redacted.
    pub rest: Option<String>,
}

impl From<PlanAnswer> for BriefPlan {
    fn from(full: PlanAnswer) -> Self {
        let is_cut = full.items_total > full.items.len() as i64;
        Self {
            plan_id: full.plan_id,
            items: full.items.into_iter().map(BriefItem::from).collect(),
            maybe: full.maybe.map(|maybe| maybe.into_iter().map(BriefItem::from).collect()),
            items_total: is_cut.then_some(full.items_total),
            purge: full.purge.then_some(true),
            blocked: some(full.blocked),
            parts: full.parts,
        }
    }
}

impl From<PlanItemAnswer> for BriefItem {
    fn from(full: PlanItemAnswer) -> Self {
        let is_in_name = |topic: &String| full.name.as_deref().is_some_and(|name| is_made_from(name, topic));
        let kind = full.kind.as_str();
        Self {
            topic: full.topic.clone().filter(|topic| !is_in_name(topic)),
            kind: (kind != "memory").then(|| kind.to_owned()),
            name: full.name.unwrap_or(full.id),
            file_path: full.file_path,
            date: full.created_at.map(Day),
            action: Some(full.action).filter(|action| action != "trash"),
            reason: Some(full.reason),
            rest: full.rest,
        }
    }
}

/// A plan, or what went to the trash because it was named.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BriefForget {
    #[serde(flatten)]
    pub plan: Option<BriefPlan>,
    #[serde(flatten)]
    pub deleted: Option<BriefDeleted>,
    /// The number of matches that are kept because they are pinned.
    pub kept_pinned: Option<usize>,
    /// The number of matches in personal memory, which this plan leaves alone: call again with `memory_of: "personal"`.
    pub matched_personal: Option<usize>,
}

impl From<ForgetAnswer> for BriefForget {
    fn from(full: ForgetAnswer) -> Self {
        let mut plan = full.plan.map(BriefPlan::from);
        // They are in the plan because they match.
        for item in plan.iter_mut().flat_map(|plan| &mut plan.items) {
            item.reason = None;
        }
        Self {
            plan,
            deleted: full.deleted.map(BriefDeleted::from),
            kept_pinned: Some(full.kept_pinned.len()).filter(|kept| *kept > 0),
            matched_personal: full.matched_personal,
        }
    }
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BriefPrune {
    #[serde(flatten)]
    pub plan: Option<BriefPlan>,
    #[serde(flatten)]
    pub applied: Option<BriefApplied>,
    pub message: Option<String>,
}

impl From<PruneAnswer> for BriefPrune {
    fn from(full: PruneAnswer) -> Self {
        let holds_something = |plan: &PlanAnswer| plan.items_total > 0 || plan.totals.reclaim.is_some();
        Self {
            message: full.applied.is_none().then_some(full.message),
            plan: full.plan.filter(holds_something).map(BriefPlan::from),
            applied: full.applied.map(BriefApplied::from),
        }
    }
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BriefApplied {
    /// The id to give to `gc_undo`.
    pub run_id: RunId,
    #[schemars(with = "BTreeMap<String, i64>")]
    pub trashed: Counts,
    pub skipped: Option<SkippedAnswer>,
    /// The last day on which it can be undone; absent if it cannot.
    pub undo_until: Option<Day>,
    pub undone: Option<bool>,
    /// Set if the time limit or a failure stopped the run; apply the plan again to continue.
    pub unfinished: Option<bool>,
    pub receipt: Option<ReceiptAnswer>,
    pub parts: Option<Vec<AppliedPart>>,
    pub warnings: Option<Vec<String>>,
}

impl From<AppliedPlan> for BriefApplied {
    fn from(full: AppliedPlan) -> Self {
        Self {
            run_id: full.run_id,
            trashed: roots(&full.trashed),
            skipped: Some(full.skipped).filter(|skipped| skipped.count > 0),
            undo_until: full.undo_until.map(Day),
            undone: full.undone,
            unfinished: full.unfinished,
            receipt: full.receipt,
            parts: full.parts,
            warnings: full.warnings,
        }
    }
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BriefUndo {
    #[schemars(with = "Option<BTreeMap<String, i64>>")]
    pub restored: Option<Counts>,
    pub conflicts: Option<Vec<ConflictAnswer>>,
    /// The runs that can be undone, newest first.
    pub runs: Option<Vec<BriefRun>>,
    pub parts: Option<Vec<UndonePart>>,
    pub unfinished: Option<bool>,
    pub warnings: Option<Vec<String>>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BriefRun {
    pub run_id: RunId,
    pub operation: String,
    /// What it took: the first names.
    pub names: Option<Vec<String>>,
    #[schemars(with = "BTreeMap<String, i64>")]
    pub trashed: Counts,
    pub by: String,
    pub date: Day,
    pub undo_until: Option<Day>,
    pub drain_id: Option<DrainId>,
}

impl From<UndoAnswer> for BriefUndo {
    fn from(full: UndoAnswer) -> Self {
        Self {
            restored: full.restored.map(|restored| restored.naming(&[])),
            conflicts: full.conflicts.and_then(some),
            runs: full.runs.map(|runs| runs.into_iter().map(BriefRun::from).collect()),
            parts: full.parts,
            unfinished: full.unfinished,
            warnings: full.warnings,
        }
    }
}

impl From<RunAnswer> for BriefRun {
    fn from(full: RunAnswer) -> Self {
        Self {
            run_id: full.run_id,
            operation: full.operation,
            names: full.names.and_then(some),
            trashed: roots(&full.trashed),
            by: full.actor,
            date: Day(full.at),
            undo_until: full.undo_until.map(Day),
            drain_id: full.drain_id,
        }
    }
}
