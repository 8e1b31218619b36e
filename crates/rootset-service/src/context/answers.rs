//! Pieces of answers that several context operations share.

use rootset_gc::context::{Generation, SegmentIndex, SegmentState, SegmentType};
use rootset_model::Timestamp;
use rootset_store::SegmentText;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use super::live::LiveSession;
use super::settings::ContextSettings;
use crate::error::ServiceError;

/// How full the window is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct UsageAnswer {
    pub tokens: u64,
    pub budget_tokens: u64,
    /// Of the budget less what is reserved.
    pub percent: f64,
    /// More is in the window than the budget allows, and nothing may leave.
    pub over_limit: bool,
}

impl UsageAnswer {
    pub fn of(live: &LiveSession, settings: &ContextSettings) -> Self {
        let tokens = live.calibrated(live.window().tokens());
        let percent = tokens as f64 / settings.available() as f64 * 100.0;
        Self {
            tokens,
            budget_tokens: settings.budget_tokens,
            percent: (percent * 10.0).round() / 10.0,
            over_limit: tokens > settings.available(),
        }
    }
}

/// Why one of several ids was left alone.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SegmentError {
    pub segment_id: String,
    pub code: String,
    pub message: String,
}

impl SegmentError {
    pub fn new(segment_id: &str, error: &ServiceError) -> Self {
        Self { segment_id: segment_id.to_owned(), code: error.code.as_str().to_owned(), message: error.message.clone() }
    }
}

/// What should leave, and what that costs.
#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlanAnswer {
    /// Handle for `context_gc_prune`.
    pub plan_id: Option<String>,
    pub expires_at: Option<Timestamp>,
    pub target_tokens: u64,
    pub tokens_freed: u64,
    /// Tokens of the target that roots and pins keep.
    pub shortfall: u64,
    pub stash_segments: Vec<String>,
    /// Stashed for longer than the stash's retention, and out of reach.
    pub delete_segments: Vec<String>,
    /// Reachable, cold and long: `context_compress` with a summary frees more than it loses.
    pub compress_candidates: Vec<String>,
    /// Tokens that a provider's cache of the prompt loses.
    pub cache_tokens_lost: u64,
    pub reason: String,
}

/// A segment with all that is known of it; also the form of an export.
#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SegmentAnswer {
    pub segment_id: String,
    #[serde(rename = "type")]
    pub segment_type: SegmentType,
    pub text: String,
    pub role: Option<String>,
    pub tool_call_id: Option<String>,
    pub raw: Option<Value>,
    pub tokens: Option<u32>,
    pub state: Option<SegmentState>,
    /// Set instead of a text where a segment was stashed.
    pub placeholder: Option<String>,
    pub created_at: Option<Timestamp>,
    pub last_touched_at: Option<Timestamp>,
    pub created_step: Option<u64>,
    pub last_touched_step: Option<u64>,
    #[serde(default)]
    pub pinned: bool,
    pub pin_reason: Option<String>,
    #[serde(default)]
    pub invariant: bool,
    pub generation: Option<Generation>,
    pub gc_survival_count: Option<u32>,
    /// Incoming references from active segments.
    pub refcount: Option<u32>,
    pub file_path: Option<String>,
    pub line_range: Option<(u32, u32)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    pub topic_id: Option<String>,
    pub task_id: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    pub reply_to: Option<String>,
    pub derived_from: Option<String>,
    pub stashed_at: Option<Timestamp>,
    pub stash_reason: Option<String>,
}

impl SegmentAnswer {
    pub fn of(live: &LiveSession, segment: SegmentIndex, text: &SegmentText) -> Self {
        let (row, window) = (live.row(segment), live.window());
        let facts = window.facts(segment);
        let is_active = window.graph().state(segment) == SegmentState::Active;
        Self {
            segment_id: row.segment_id.clone(),
            segment_type: row.segment_type,
            text: text.text.clone(),
            role: row.role.clone(),
            tool_call_id: row.tool_call_id.clone(),
            raw: text.raw.as_deref().and_then(|raw| serde_json::from_str(raw).ok()),
            tokens: Some(row.tokens),
            state: Some(window.graph().state(segment)),
            placeholder: None,
            created_at: Some(row.created_at),
            last_touched_at: Some(facts.last_touched_at),
            created_step: Some(facts.created_step),
            last_touched_step: Some(facts.last_touched_step),
            pinned: row.is_pinned,
            pin_reason: row.pin_reason.clone(),
            invariant: row.is_invariant,
            generation: Some(window.generation(segment)),
            gc_survival_count: Some(window.survival_count(segment)),
            refcount: Some(window.graph().refcount(segment)),
            file_path: row.file_path.clone(),
            line_range: row.lines.map(|lines| (lines.first, lines.last)),
            tags: row.tags.clone(),
            topic_id: row.topic_id.clone(),
            task_id: row.task_id.clone(),
            references: row.references.clone(),
            reply_to: row.reply_to.clone(),
            derived_from: row.derived_from.clone(),
            stashed_at: row.stashed_at,
            stash_reason: row.stash_reason.clone().filter(|_| !is_active),
        }
    }

    /// One line in the place of something that was stashed.
    pub fn placeholder(live: &LiveSession, segment: SegmentIndex) -> Self {
        let row = live.row(segment);
        let nothing = SegmentText { segment: row.segment, text: String::new(), raw: None };
        Self { placeholder: Some(placeholder_line(live, &[segment])), ..Self::of(live, segment, &nothing) }
    }
}

/// What stands in a rendered context where segments were.
pub fn placeholder_line(live: &LiveSession, segments: &[SegmentIndex]) -> String {
    let tokens: u64 = segments.iter().map(|segment| u64::from(live.row(*segment).tokens)).sum();
    let ids: Vec<&str> = segments.iter().take(3).map(|segment| live.row(*segment).segment_id.as_str()).collect();
    let more = match segments.len() - ids.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("[stashed: {}{more}, {} tokens; context_restore brings it back]", ids.join(", "), grouped(tokens))
}

/// 12480 as 12,480.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
