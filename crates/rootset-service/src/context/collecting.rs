//! What has to leave after an addition: nothing, a piece of the oldest part, or everything down to the target.

use rootset_api::{ContextMode, Ran};
use rootset_gc::context::{Analysis, Region, SegmentIndex, Target, WindowPlan, analyse, plan};
use rootset_gc::{PlanFacts, RootState, recheck};
use rootset_model::SegmentKey;
use rootset_model::plan::{Action, ItemKind, PlanItem};
use rootset_store::LedgerAction;

use super::edit::Edit;
use super::reports::Analysed;
use super::settings::ContextSettings;

/// A collection, before it is told.
#[derive(Debug)]
pub struct Collected {
    pub ran: Ran,
    pub stashed: Vec<(SegmentIndex, String)>,
    pub tokens_freed: u64,
    /// In the mode `advise`.
    pub advice: Option<Analysed>,
}

impl Collected {
    fn nothing() -> Self {
        Self { ran: Ran::None, stashed: Vec::new(), tokens_freed: 0, advice: None }
    }
}

/// Above the soft limit as much as brings the window so far below it that the next collection is some way off: each
/// change in the middle of a prompt costs its cached prefix.
pub fn collect_if_full(edit: &mut Edit<'_>, settings: &ContextSettings) -> Collected {
    let used = edit.live.calibrated(edit.live.window().tokens());
    let soft = settings.tokens_at(settings.soft_percent);
    let (ran, wanted, region) = if used > settings.tokens_at(settings.hard_percent) {
        (Ran::Full, settings.tokens_at(settings.target_percent), Region::Anywhere)
    } else if used > soft {
        (Ran::Step, soft.saturating_sub(settings.tokens_at(settings.min_free_percent)), Region::Oldest)
    } else {
        return Collected::nothing();
    };
    let tokens = edit.live.counted(used.saturating_sub(wanted));
    let target = Target { tokens, stash_retention_ms: None, region };
    let plan = plan(edit.live.window(), &analysis(edit, settings), target);
    if settings.mode == ContextMode::Advise {
        return Collected { advice: Some(Analysed { plan, target_tokens: tokens }), ..Collected::nothing() };
    }
    let stashed = stash_items(edit, &plan);
    edit.live.window_mut().count_collection();
    edit.change_state();
    Collected { ran, stashed, tokens_freed: plan.freed_tokens, advice: None }
}

/// The window as it is now.
pub fn analysis(edit: &Edit<'_>, settings: &ContextSettings) -> Analysis {
    let live = &*edit.live;
    analyse(live.window(), &live.focus(settings), live.now(edit.at), &settings.scoring)
}

/// Asked again, as in every run: only what may still leave does.
pub fn stash_items(edit: &mut Edit<'_>, plan: &WindowPlan) -> Vec<(SegmentIndex, String)> {
    let facts = PlanFacts { created_at: edit.at, include_pinned: false, is_named: false };
    let mut stashed = Vec::new();
    for item in plan.items.iter().filter(|item| item.action == Action::Stash) {
        let row = edit.live.row(item.segment);
        let state = RootState { is_pinned: row.is_pinned, ..RootState::plain(row.version) };
        let planned = PlanItem {
            kind: ItemKind::SEGMENT,
            object: SegmentKey(row.segment).object(),
            revision: 0,
            version: row.version,
            action: item.action,
            reason: item.reason.in_plan(),
        };
        if recheck(&facts, &planned, Some(&state)).is_none() {
            let reason = item.reason.to_string();
            edit.stash(item.segment, &reason, LedgerAction::Stash);
            stashed.push((item.segment, reason));
        }
    }
    stashed
}
