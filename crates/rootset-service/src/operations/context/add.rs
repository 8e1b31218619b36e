//! `context_add`.

use std::sync::Arc;

use rootset_api::{
    ContextAdd, ContextAdded, GcAnswer, MessageFormat, RecallHint, SegmentInput, StashedAnswer, UsageAnswer,
};
use rootset_gc::context::{Added, RecallCause, SegmentIndex, SegmentState, SegmentType};
use rootset_messages::Format;
use rootset_model::limits::SEGMENTS_PER_ADDITION_MAX;
use serde_json::json;

use crate::caller::Caller;
use crate::context::{Arrival, Collected, Edit, Incoming, collect_if_full, grouped, name_with_hash, usage_answer};
use crate::error::ServiceError;
use crate::operation::Operation;
use crate::service::Service;

/// How many hints an answer gives.
const HINTS_MAX: usize = 20;

impl Operation for ContextAdd {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ContextAdded, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let observed = self.observed_input_tokens;
        if let Some(observed) = observed.filter(|it| *it <= 0) {
            return Err(ServiceError::invalid(format!("`observed_input_tokens` is {observed}; it must be above 0")));
        }
        let brought = brought(&self)?;
        let mut advice = None;
        let mut answer = service.edit_session(caller, &workspace, &self.session_id, |edit| {
            let settings = edit.live.settings(&service.settings.context)?;
            let next_id = || service.next_segment_id();
            let arrival = Arrival { tokenizer: settings.tokenizer, at: edit.at, next_id: &next_id };
            let mut incoming = brought.prepared(&arrival)?;
            incoming.iter_mut().for_each(|one| take_file_of_call(edit, one));
            calibrate(edit, observed);
            let additions = add_all(edit, incoming)?;
            let recall_hints = recall_hints(edit, &additions);
            let collected = collect_if_full(edit, &settings);
            let usage = usage_answer(edit.live, &settings);
            let answer = ContextAdded {
                segment_ids: additions.iter().map(|addition| addition.segment_id.clone()).collect(),
                usage,
                first_changed_segment_id: first_changed(edit, &collected),
                recall_hints,
                message: message(edit.added(), edit.live.calibrated(collected.tokens_freed), &usage),
                gc: gc_answer(edit, &collected),
            };
            advice = collected.advice;
            Ok(answer)
        })?;
        if let Some(analysed) = advice {
            answer.gc.plan = Some(service.read_session(&workspace, &self.session_id, |live| {
                let stored = service.store_window_plan(caller, &workspace, live, &analysed.plan)?;
                Ok(analysed.answer(live, stored))
            })?);
        }
        Ok(answer)
    }
}

/// What the caller brings, read once.
enum Brought {
    Segments(Vec<SegmentInput>),
    Drafts(Vec<rootset_messages::Draft>),
}

fn brought(request: &ContextAdd) -> Result<Brought, ServiceError> {
    let brought = match (&request.segments, &request.messages, request.format) {
        (Some(segments), None, None) => Brought::Segments(segments.clone()),
        (None, Some(messages), Some(format)) => {
            let format = match format {
                MessageFormat::Anthropic => Format::Anthropic,
                MessageFormat::OpenAi => Format::OpenAi,
            };
            let outcome = rootset_messages::read(format, messages);
            Brought::Drafts(outcome.map_err(|error| ServiceError::invalid(format!("`messages`: {error}")))?.drafts)
        }
        (None, Some(_), None) => {
            return Err(ServiceError::invalid("`messages` needs a `format`: `anthropic` or `openai`"));
        }
        (None, None, _) => return Err(ServiceError::invalid("`segments` or `messages` is required")),
        _ => return Err(ServiceError::invalid("give either `segments`, or `messages` with `format`, not both")),
    };
    let count = match &brought {
        Brought::Segments(segments) => segments.len(),
        Brought::Drafts(drafts) => drafts.len(),
    };
    if count == 0 {
        return Err(ServiceError::invalid("`segments` and `messages` are empty"));
    }
    if count > SEGMENTS_PER_ADDITION_MAX {
        return Err(ServiceError::invalid(format!(
            "`segments` has {count} items, more than {SEGMENTS_PER_ADDITION_MAX}"
        ))
        .with_hint("add them in several calls, or import a whole session with `context_import`"));
    }
    Ok(brought)
}

impl Brought {
    fn prepared(&self, arrival: &Arrival<'_>) -> Result<Vec<Incoming>, ServiceError> {
        match self {
            Self::Segments(segments) => {
                segments.iter().map(|input| Incoming::from_input(input.clone(), arrival)).collect()
            }
            Self::Drafts(drafts) => drafts.iter().map(|draft| Incoming::from_draft(draft.clone(), arrival)).collect(),
        }
    }
}

/// One segment of an addition; `added` is `None` when it was there already.
pub struct Addition {
    pub segment_id: String,
    pub added: Option<Added>,
}

/// All or none: what contradicts is found before anything changes.
pub fn add_all(edit: &mut Edit<'_>, incoming: Vec<Incoming>) -> Result<Vec<Addition>, ServiceError> {
    let mut new_texts: std::collections::HashMap<&str, [u8; 16]> = std::collections::HashMap::new();
    for one in &incoming {
        let known = edit.live.index_of(&one.row.segment_id).map(|index| (index, edit.live.row(index).text_hash));
        if let Some((index, _)) = known.filter(|(index, _)| is_deleted(edit, *index)) {
            return Err(deleted(edit, index));
        }
        let hash = known.map(|(_, hash)| hash).or_else(|| new_texts.get(one.row.segment_id.as_str()).copied());
        match hash {
            Some(hash) if hash != one.row.text_hash => return Err(other_text(&one.row.segment_id)),
            Some(_) => {}
            None => {
                new_texts.insert(&one.row.segment_id, one.row.text_hash);
            }
        }
    }
    Ok(incoming
        .into_iter()
        .map(|one| {
            let segment_id = one.row.segment_id.clone();
            let added = edit.live.index_of(&segment_id).is_none().then(|| edit.add(one, None));
            Addition { segment_id, added }
        })
        .collect())
}

fn is_deleted(edit: &Edit<'_>, segment: SegmentIndex) -> bool {
    edit.live.window().graph().state(segment) == SegmentState::Deleted
}

fn deleted(edit: &Edit<'_>, segment: SegmentIndex) -> ServiceError {
    let segment_id = &edit.live.row(segment).segment_id;
    ServiceError::conflict(format!("the segment `{segment_id}` was deleted and is in the trash"))
        .with_hint("restore it with `gc_undo`, or use another `segment_id`")
        .with_details(json!({"segment_id": segment_id}))
}

fn other_text(segment_id: &str) -> ServiceError {
    ServiceError::conflict(format!("the segment `{segment_id}` exists with another text"))
        .with_hint("segments cannot change; use another `segment_id`")
        .with_details(json!({"segment_id": segment_id}))
}

/// A tool's answer that comes in a later call shows the file that the tool was asked for.
fn take_file_of_call(edit: &Edit<'_>, incoming: &mut Incoming) {
    const LOOKED_AT: u32 = 256;
    let row = &mut incoming.row;
    if row.tool_call_id.is_none() || row.file_path.is_some() || row.segment_type != SegmentType::Log {
        return;
    }
    let end = u32::try_from(edit.live.len()).unwrap_or(u32::MAX);
    let earlier = (end.saturating_sub(LOOKED_AT)..end).rev().map(|index| edit.live.row(SegmentIndex(index)));
    let mut calls = earlier.filter(|it| it.tool_call_id == row.tool_call_id && it.file_path.is_some());
    if let Some(call) = calls.next() {
        row.segment_type = SegmentType::Code;
        row.file_path.clone_from(&call.file_path);
        row.lines = call.lines;
    }
}

/// A provider counts more than the segments hold, its own words around them; but not ten times as many.
fn calibrate(edit: &mut Edit<'_>, observed: Option<i64>) {
    const CALIBRATION: std::ops::RangeInclusive<f64> = 0.25..=4.0;
    let counted = edit.live.window().tokens();
    if let (Some(observed), true) = (observed, counted > 0) {
        let ratio = (observed as f64 / counted as f64).clamp(*CALIBRATION.start(), *CALIBRATION.end());
        edit.live.changes.calibration = Some(ratio);
        edit.change_state();
    }
}

/// What is stashed and the additions name.
pub fn recall_hints(edit: &Edit<'_>, additions: &[Addition]) -> Vec<RecallHint> {
    let mut hints: Vec<RecallHint> = Vec::new();
    for added in additions.iter().filter_map(|addition| addition.added.as_ref()) {
        let text = edit.added_text(added.segment).unwrap_or_default();
        for recall in &added.recalls {
            let segment_id = &edit.live.row(recall.segment).segment_id;
            let because = match recall.because {
                RecallCause::Reference => "a new segment refers to it".to_owned(),
                RecallCause::Name(hash) => match name_with_hash(text, hash) {
                    Some(name) => format!("`{name}` is named, and only the stash holds it"),
                    None => continue,
                },
            };
            if hints.len() < HINTS_MAX && !hints.iter().any(|hint| hint.segment_id == *segment_id) {
                hints.push(RecallHint { segment_id: segment_id.clone(), because });
            }
        }
    }
    hints
}

/// The first segment, in the order of the window, from which on the prompt is not what it was.
fn first_changed(edit: &Edit<'_>, collected: &Collected) -> Option<String> {
    let first = collected.stashed.iter().map(|(segment, _)| edit.live.place(*segment)).min()?;
    let graph = edit.live.window().graph();
    let active = graph.segments(rootset_gc::context::Population::Active).map(|segment| edit.live.place(segment));
    let (_, segment) = active.filter(|place| *place >= first).min()?;
    Some(edit.live.row(segment).segment_id.clone())
}

fn gc_answer(edit: &Edit<'_>, collected: &Collected) -> GcAnswer {
    let stashed = collected.stashed.iter().map(|(segment, reason)| StashedAnswer {
        segment_id: edit.live.row(*segment).segment_id.clone(),
        tokens: edit.live.row(*segment).tokens,
        reason: reason.clone(),
    });
    GcAnswer {
        ran: collected.ran,
        stashed: stashed.collect(),
        tokens_freed: edit.live.calibrated(collected.tokens_freed),
        plan: None,
    }
}

fn message(added: usize, freed: u64, usage: &UsageAnswer) -> String {
    let added = match added {
        1 => "added 1 segment".to_owned(),
        count => format!("added {count} segments"),
    };
    let freed = if freed > 0 { format!(", freed {} tokens", grouped(freed)) } else { String::new() };
    let over = if usage.over_limit { "; over the limit, and nothing may leave" } else { "" };
    format!("{added}{freed}, now {:.0} %{over}", usage.percent)
}
