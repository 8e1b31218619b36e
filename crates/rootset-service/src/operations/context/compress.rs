//! `context_compress`.

use std::sync::Arc;

use rootset_api::{ContextCompress, ContextCompressed, SegmentInput};
use rootset_gc::context::{Population, SegmentState, SegmentType};
use rootset_store::{LedgerAction, SegmentRow};

use crate::caller::Caller;
use crate::context::{Arrival, Edit, Incoming, usage_answer};
use crate::error::ServiceError;
use crate::operation::Operation;
use crate::service::Service;

impl Operation for ContextCompress {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ContextCompressed, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        if self.summary.trim().is_empty() {
            return Err(ServiceError::invalid("`summary` is blank"));
        }
        service.edit_session(caller, &workspace, &self.session_id, |edit| {
            let settings = edit.live.settings(&service.settings.context)?;
            let original = edit.live.find(&self.segment_id)?;
            if edit.live.window().graph().state(original) != SegmentState::Active {
                return Err(ServiceError::conflict(format!("the segment `{}` is stashed", self.segment_id))
                    .with_hint("restore it first with `context_restore`"));
            }
            let next_id = || summary_id(edit, &self.segment_id);
            let arrival = Arrival { tokenizer: settings.tokenizer, at: edit.at, next_id: &next_id };
            let mut incoming = Incoming::from_input(blank_summary(&self.summary), &arrival)?;
            // Half a tool call would make the message list invalid: the summary stands for both.
            let group = edit.live.with_pairs(original, Population::Active);
            let tokens_before: u64 = group.iter().map(|segment| u64::from(edit.live.row(*segment).tokens)).sum();
            if u64::from(incoming.row.tokens) >= tokens_before {
                return Err(ServiceError::invalid(format!(
                    "`summary` has {} tokens, not fewer than the {tokens_before} it would replace",
                    incoming.row.tokens
                )));
            }
            let facts = *edit.live.window().facts(original);
            inherit(&mut incoming.row, edit.live.row(original));
            (incoming.row.is_pinned, incoming.row.pin_reason) = group
                .iter()
                .map(|segment| edit.live.row(*segment))
                .find(|row| row.is_pinned)
                .map_or((false, None), |row| (true, row.pin_reason.clone()));
            incoming.row.touched_step = i64::try_from(facts.last_touched_step).unwrap_or(0);
            incoming.row.touched_at = facts.last_touched_at;
            let place = edit.live.place(group[0]).0;
            let tokens_after = incoming.row.tokens.into();
            let segment_id = incoming.row.segment_id.clone();
            edit.add(incoming, Some(place));
            for segment in group {
                edit.stash(segment, "compressed into a summary", LedgerAction::Compress);
            }
            let usage = usage_answer(edit.live, &settings);
            Ok(ContextCompressed { segment_id, tokens_before, tokens_after, usage })
        })
    }
}

fn blank_summary(text: &str) -> SegmentInput {
    SegmentInput {
        segment_id: None,
        segment_type: SegmentType::Summary,
        text: text.to_owned(),
        role: None,
        tool_call_id: None,
        raw: None,
        file_path: None,
        line_range: None,
        tags: None,
        topic_id: None,
        task_id: None,
        references: None,
        reply_to: None,
        derived_from: None,
        pinned: None,
        invariant: None,
    }
}

/// What the original was to others, the summary is now. A tool's answer is told as something the user handed over.
fn inherit(summary: &mut SegmentRow, original: &SegmentRow) {
    summary.role = original.role.clone().map(|role| if role == "tool" { "user".to_owned() } else { role });
    summary.references.clone_from(&original.references);
    summary.reply_to.clone_from(&original.reply_to);
    summary.derived_from = Some(original.segment_id.clone());
    summary.file_path.clone_from(&original.file_path);
    summary.lines = original.lines;
    summary.tags.clone_from(&original.tags);
    summary.task_id.clone_from(&original.task_id);
    summary.topic_id.clone_from(&original.topic_id);
    summary.is_invariant = original.is_invariant;
    summary.created_at = original.created_at;
}

/// Readable, and free: `ID.summary`, `ID.summary2` and so on.
fn summary_id(edit: &Edit<'_>, segment_id: &str) -> String {
    let base: String = segment_id.chars().take(200).collect();
    let numbered = (2..).map(|number| format!("{base}.summary{number}"));
    let mut names = std::iter::once(format!("{base}.summary")).chain(numbered);
    names.find(|name| edit.live.index_of(name).is_none()).expect("some number is free")
}
