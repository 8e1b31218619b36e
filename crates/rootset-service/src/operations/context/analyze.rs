//! `context_gc_analyze`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use rootset_gc::context::{
    Analysis, Place, Population, RootKind, SegmentIndex, Target, analyse, parts, plan, retained_tokens,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::caller::Caller;
use crate::context::{Analysed, LiveSession, PlanAnswer, UsageAnswer};
use crate::error::ServiceError;
use crate::operation::{Effect, Operation};
use crate::service::Service;
use crate::shared::{clamped, not_negative};

const CANDIDATES_DEFAULT: i64 = 20;
const CANDIDATES_MAX: i64 = 1_000;

/// Say where the tokens of a session are, what may leave and why, and make a plan. Nothing changes.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ContextGcAnalyze {
    /// Workspace of the session; absent: the current one.
    workspace_id: Option<String>,
    session_id: String,
    /// How many tokens should become free; absent: what brings the window down to its target.
    target_tokens: Option<i64>,
    /// How many candidates to list (20).
    max_candidates: Option<i64>,
    /// With scores and their parts (true).
    include_scores: Option<bool>,
    /// How many of those to list that keep most others within reach (0).
    max_retainers: Option<i64>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct ContextAnalysis {
    pub usage: UsageAnswer,
    /// How many segments must stay, by what keeps them.
    pub roots: BTreeMap<String, u64>,
    /// What may leave, in the order in which it should.
    pub candidates: Vec<CandidateAnswer>,
    /// How many there are in all.
    pub candidates_total: usize,
    pub plan: PlanAnswer,
    /// Where asked for: the most retained tokens first.
    pub retainers: Option<Vec<RetainerAnswer>>,
    /// Tokens in the window, by type.
    pub tokens_by_type: BTreeMap<String, u64>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct RetainerAnswer {
    pub segment_id: String,
    #[serde(rename = "type")]
    pub segment_type: String,
    pub tokens: u32,
    /// Its own tokens and those of all that would be out of reach without it.
    pub retained_tokens: u64,
    /// What keeps it, where it is a root.
    pub root: Option<String>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct CandidateAnswer {
    pub segment_id: String,
    #[serde(rename = "type")]
    pub segment_type: String,
    pub tokens: u32,
    /// From 0 to 1; higher leaves first.
    pub score: Option<f64>,
    /// What the score is made of; each from 0 to 1, higher is more dispensable.
    pub parts: Option<BTreeMap<String, f64>>,
    /// Whether a root leads to it.
    pub reachable: bool,
    pub reason: String,
}

impl Operation for ContextGcAnalyze {
    const NAME: &'static str = "context_gc_analyze";
    const EFFECT: Effect = Effect::Write;
    const IS_IDEMPOTENT: bool = false;
    type Response = ContextAnalysis;

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
                place: Place::Anywhere,
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
                usage: UsageAnswer::of(live, &settings),
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
