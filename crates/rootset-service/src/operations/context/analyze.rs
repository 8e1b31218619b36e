//! `context_gc_analyze`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use rootset_api::{CandidateAnswer, ContextAnalysis, ContextGcAnalyze, RetainerAnswer};
use rootset_gc::context::{
    Analysis, Population, Region, RootKind, SegmentIndex, Target, analyse, parts, plan, retained_tokens,
};

use crate::caller::Caller;
use crate::context::{Analysed, LiveSession, usage_answer};
use crate::error::ServiceError;
use crate::fields::{clamped, not_negative};
use crate::operation::Operation;
use crate::service::Service;

const CANDIDATES_DEFAULT: i64 = 20;
const CANDIDATES_MAX: i64 = 1_000;

impl Operation for ContextGcAnalyze {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ContextAnalysis, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let count = clamped("max_candidates", self.max_candidates, CANDIDATES_DEFAULT, CANDIDATES_MAX)? as usize;
        let target = self.target_tokens.map(|target| not_negative("target_tokens", Some(target))).transpose()?;
        let retainers = not_negative("max_retainers", self.max_retainers)?.min(CANDIDATES_MAX) as usize;
        let with_scores = self.include_scores.unwrap_or(true);
        service.read_session(&workspace, &self.session_id, |live| {
            let settings = live.settings(&service.settings.context)?;
            let window = live.window();
            let focus = live.focus(&settings);
            let now = live.now(service.now());
            let analysis = analyse(window, &focus, now, &settings.scoring);
            let used = live.calibrated(window.tokens());
            let wanted = match target {
                Some(tokens) => tokens.unsigned_abs(),
                None => used.saturating_sub(settings.tokens_at(settings.target_percent)),
            };
            let target = Target {
                tokens: live.counted(wanted),
                stash_retention_ms: Some(settings.stash_retention_ms),
                region: Region::Anywhere,
            };
            let analysed = Analysed { plan: plan(window, &analysis, target), target_tokens: target.tokens };
            let stored = service.store_window_plan(caller, &workspace, live, &analysed.plan)?;
            let candidates = analysis.first_candidates(count).into_iter().map(|candidate| {
                let parts = parts(window, &focus, candidate.segment, now, &settings.scoring).named();
                let row = live.row(candidate.segment);
                CandidateAnswer {
                    segment_id: row.segment_id.clone(),
                    segment_type: row.segment_type.as_str().to_owned(),
                    tokens: candidate.tokens,
                    score: with_scores.then(|| rounded(candidate.score)),
                    parts: with_scores
                        .then(|| parts.into_iter().map(|(name, part)| (name.to_owned(), rounded(part))).collect()),
                    reachable: candidate.is_reachable,
                    reason: candidate.reason(window, now).to_string(),
                }
            });
            let mut roots: BTreeMap<String, u64> = BTreeMap::new();
            for root in analysis.roots.segments() {
                let kind = analysis.roots.kind(*root).map_or("root", root_word);
                *roots.entry(kind.to_owned()).or_default() += 1;
            }
            Ok(ContextAnalysis {
                usage: usage_answer(live, &settings),
                roots,
                candidates: candidates.collect(),
                candidates_total: analysis.candidates.len(),
                plan: analysed.answer(live, stored),
                retainers: (retainers > 0).then(|| top_retainers(live, &analysis, retainers)),
                tokens_by_type: tokens_by_type(live),
            })
        })
    }
}

fn top_retainers(live: &LiveSession, analysis: &Analysis, count: usize) -> Vec<RetainerAnswer> {
    let retained = retained_tokens(live.window(), analysis.roots.segments());
    let mut segments: Vec<SegmentIndex> = live.window().graph().segments(Population::Active).collect();
    segments.sort_by_key(|segment| (Reverse(retained[segment.0 as usize]), *segment));
    let top = segments.into_iter().take(count).filter(|segment| retained[segment.0 as usize] > 0);
    top.map(|segment| RetainerAnswer {
        segment_id: live.row(segment).segment_id.clone(),
        segment_type: live.row(segment).segment_type.as_str().to_owned(),
        tokens: live.row(segment).tokens,
        retained_tokens: retained[segment.0 as usize],
        root: analysis.roots.kind(segment).map(|kind| root_word(kind).to_owned()),
    })
    .collect()
}

fn tokens_by_type(live: &LiveSession) -> BTreeMap<String, u64> {
    let mut tokens: BTreeMap<String, u64> = BTreeMap::new();
    for segment in live.window().graph().segments(Population::Active) {
        let row = live.row(segment);
        *tokens.entry(row.segment_type.as_str().to_owned()).or_default() += u64::from(row.tokens);
    }
    tokens
}

pub fn root_word(kind: RootKind) -> &'static str {
    match kind {
        RootKind::System => "system",
        RootKind::Invariant => "invariant",
        RootKind::Pinned => "pinned",
        RootKind::Instruction => "instruction",
        RootKind::Task => "task",
        RootKind::ActiveLines => "active_lines",
        RootKind::ActiveFile => "active_file",
        RootKind::RecentDecision => "decision",
        RootKind::Last => "recent",
        RootKind::Paired => "paired",
    }
}

/// Four digits tell candidates apart; more is noise in an answer.
fn rounded(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}
