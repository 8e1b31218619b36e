//! `context_explain`.

use std::sync::Arc;

use rootset_api::{ContextExplain, ContextExplained, HistoryEntry};
use rootset_gc::context::{RootKind, SegmentIndex, SegmentState, analyse, path_from_root, retained_tokens};
use rootset_store::{SegmentRow, Workspace};

use super::analyze::root_word;
use crate::caller::Caller;
use crate::context::{LiveSession, segment_ids_of};
use crate::error::ServiceError;
use crate::operation::Operation;
use crate::service::Service;

const HISTORY_MAX: usize = 20;
/// How far back the ledger is read for one segment.
const LEDGER_READ: i64 = 100_000;

impl Operation for ContextExplain {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ContextExplained, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        service.read_session(&workspace, &self.session_id, |live| {
            let mut explained = explain(service, live, &self.segment_id)?;
            explained.history = history(service, &workspace, live, &self.segment_id)?;
            Ok(explained)
        })
    }
}

/// From the session's ledger.
fn history(
    service: &Service,
    workspace: &Workspace,
    live: &LiveSession,
    segment_id: &str,
) -> Result<Vec<HistoryEntry>, ServiceError> {
    let Some(head) = live.head else { return Ok(Vec::new()) };
    let number = live.row(live.find(segment_id)?).segment;
    let (entries, _) = service.store.ledger(workspace, head.session, 0, LEDGER_READ)?;
    let entries = entries.into_iter().filter(|entry| entry.segment == number).take(HISTORY_MAX);
    Ok(entries
        .map(|entry| HistoryEntry {
            at: entry.at,
            actor: entry.actor,
            action: entry.action.as_str().to_owned(),
            reason: entry.reason,
        })
        .collect())
}

fn explain(service: &Service, live: &LiveSession, segment_id: &str) -> Result<ContextExplained, ServiceError> {
    let segment = live.find(segment_id)?;
    let (row, window) = (live.row(segment), live.window());
    let state = window.graph().state(segment);
    if state == SegmentState::Stashed {
        let why = row.stash_reason.clone().unwrap_or_default();
        return Ok(ContextExplained {
            segment_id: segment_id.to_owned(),
            state,
            alive: false,
            path: Vec::new(),
            reason: format!("it is stashed ({why}); `context_restore` restores it"),
            tokens: row.tokens,
            retained_tokens: 0,
            score: None,
            stashed_at: row.stashed_at,
            history: Vec::new(),
        });
    }
    let settings = live.settings(&service.settings.context)?;
    let now = live.now(service.now());
    let analysis = analyse(window, &live.focus(&settings), now, &settings.scoring);
    let path = path_from_root(window.graph(), analysis.roots.segments(), segment).unwrap_or_default();
    let candidate = analysis.candidates.iter().find(|candidate| candidate.segment == segment);
    let reason = match (analysis.roots.kind(segment), path.first(), candidate) {
        (Some(kind), ..) => kept_because(kind, row),
        (None, Some(root), _) => led_to(live, *root, analysis.roots.kind(*root).map_or("root", root_word)),
        (None, None, Some(candidate)) => candidate.reason(window, now).to_string(),
        (None, None, None) => "there are no roots: nothing is a candidate".to_owned(),
    };
    let retained = retained_tokens(window, analysis.roots.segments());
    Ok(ContextExplained {
        segment_id: segment_id.to_owned(),
        state,
        alive: !path.is_empty(),
        path: segment_ids_of(live, path),
        reason,
        tokens: row.tokens,
        // What no root reaches holds itself.
        retained_tokens: retained[segment.0 as usize].max(row.tokens.into()),
        score: candidate.map(|candidate| candidate.score),
        stashed_at: None,
        history: Vec::new(),
    })
}

fn kept_because(kind: RootKind, row: &SegmentRow) -> String {
    let pinned =
        || row.pin_reason.as_ref().map_or_else(|| "it is pinned".to_owned(), |why| format!("it is pinned: {why}"));
    match kind {
        RootKind::System => "it is a system prompt, which always stays".to_owned(),
        RootKind::Invariant => "it is a rule of the session, which always stays".to_owned(),
        RootKind::Pinned => pinned(),
        RootKind::Instruction => {
            "the user said it: it is what is being done, or what the session began with".to_owned()
        }
        RootKind::Task => "it belongs to the current task".to_owned(),
        RootKind::ActiveLines => "it shows lines of the active file that are in focus".to_owned(),
        RootKind::ActiveFile => "it shows the active file".to_owned(),
        RootKind::RecentDecision => "it is a recent decision".to_owned(),
        RootKind::Last => "it is one of the last segments".to_owned(),
        RootKind::Paired => "it is the other half of a tool call that stays".to_owned(),
    }
}

fn led_to(live: &LiveSession, root: SegmentIndex, kind: &str) -> String {
    format!("the root `{}` ({kind}) leads to it", live.row(root).segment_id)
}
