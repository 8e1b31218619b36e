//! Pieces of answers that several context operations share.

use rootset_api::{SegmentAnswer, SegmentError, UsageAnswer};
use rootset_gc::context::{SegmentIndex, SegmentState};
use rootset_store::SegmentText;

use super::live::LiveSession;
use super::settings::ContextSettings;
use crate::error::ServiceError;

pub fn usage_answer(live: &LiveSession, settings: &ContextSettings) -> UsageAnswer {
    let tokens = live.calibrated(live.window().tokens());
    let percent = tokens as f64 / settings.available() as f64 * 100.0;
    UsageAnswer {
        tokens,
        budget_tokens: settings.budget_tokens,
        percent: (percent * 10.0).round() / 10.0,
        over_limit: tokens > settings.available(),
    }
}

pub fn segment_error(segment_id: &str, error: &ServiceError) -> SegmentError {
    SegmentError {
        segment_id: segment_id.to_owned(),
        code: error.code.as_str().to_owned(),
        message: error.message.clone(),
    }
}

pub fn segment_answer(live: &LiveSession, segment: SegmentIndex, text: &SegmentText) -> SegmentAnswer {
    let (row, window) = (live.row(segment), live.window());
    let facts = window.facts(segment);
    let is_active = window.graph().state(segment) == SegmentState::Active;
    SegmentAnswer {
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
pub fn segment_placeholder(live: &LiveSession, segment: SegmentIndex) -> SegmentAnswer {
    let row = live.row(segment);
    let nothing = SegmentText { segment: row.segment, text: String::new(), raw: None };
    SegmentAnswer { placeholder: Some(placeholder_line(live, &[segment])), ..segment_answer(live, segment, &nothing) }
}

/// What stands in a rendered context where segments were.
pub fn placeholder_line(live: &LiveSession, segments: &[SegmentIndex]) -> String {
    let tokens: u64 = segments.iter().map(|segment| u64::from(live.row(*segment).tokens)).sum();
    let ids: Vec<&str> = segments.iter().take(3).map(|segment| live.row(*segment).segment_id.as_str()).collect();
    let more = match segments.len() - ids.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("[stashed: {}{more}, {} tokens; context_restore restores it]", ids.join(", "), grouped(tokens))
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
