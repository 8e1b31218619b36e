//! `context_import` and `context_export`.

use std::io::Read;
use std::sync::Arc;

use rootset_api::{
    ContextExport, ContextExported, ContextImport, ContextImported, ExportedPart, ImportFormat, SegmentAnswer,
    SegmentInput, SkippedLineAnswer, SkippedLines, UsageAnswer,
};
use rootset_gc::context::{Population, SegmentState};
use rootset_messages::{Draft, Format, SkippedLine};
use rootset_model::json;
use rootset_model::limits::{SEGMENTS_PER_IMPORT_MAX, SKIPPED_SHOWN};
use rootset_store::LedgerAction;
use serde_json::Value;

use super::add::add_all;
use crate::caller::Caller;
use crate::context::{Arrival, Edit, Incoming, grouped, segment_answer, usage_answer};
use crate::error::ServiceError;
use crate::operation::Operation;
use crate::service::Service;

/// A file of messages is held in memory while it is read.
const FILE_BYTES_MAX: u64 = 512 << 20;

impl Operation for ContextImport {
    fn with_files(self, caller: &Caller) -> Result<Self, ServiceError> {
        let Some(path) = &self.path else { return Ok(self) };
        if self.messages.is_some() {
            return Err(ServiceError::invalid("either `messages` or `path` is required"));
        }
        caller.need_command_line("path", "send `messages`")?;
        let messages = Some(read_file(&self, path)?);
        Ok(Self { messages, ..self })
    }

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ContextImported, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let (source, skipped) = source(&self)?;
        if source.len() > SEGMENTS_PER_IMPORT_MAX {
            return Err(ServiceError::invalid(format!(
                "the import has {} segments, more than {SEGMENTS_PER_IMPORT_MAX}",
                source.len()
            )));
        }
        service.edit_session(caller, &workspace, &self.session_id, |edit| {
            let settings = edit.live.settings(&service.settings.context)?;
            let next_id = || service.next_segment_id();
            let arrival = Arrival { tokenizer: settings.tokenizer, at: edit.at, next_id: &next_id };
            let incoming = source.prepared(&arrival)?;
            let additions = add_all(edit, incoming)?;
            let added: Vec<_> = additions.iter().map(|it| it.added.as_ref().map(|added| added.segment)).collect();
            source.stash_again(edit, &added);
            let count = edit.added();
            let usage = usage_answer(edit.live, &settings);
            Ok(ContextImported {
                session_id: self.session_id.clone(),
                segments_added: count,
                segments_unchanged: additions.len() - count,
                skipped: skipped_answer(&skipped),
                usage,
                message: message(count, &usage),
            })
        })
    }
}

fn skipped_answer(skipped: &[SkippedLine]) -> SkippedLines {
    let first = skipped.iter().take(SKIPPED_SHOWN);
    SkippedLines {
        count: skipped.len(),
        first: first.map(|it| SkippedLineAnswer { line: it.line, reason: it.reason.clone() }).collect(),
    }
}

fn message(count: usize, usage: &UsageAnswer) -> String {
    let over =
        if usage.over_limit { "; more than the budget: `context_gc_analyze` shows what could leave" } else { "" };
    let noun = if count == 1 { "segment" } else { "segments" };
    let (count, tokens) = (grouped(count as u64), grouped(usage.tokens));
    format!("imported {count} {noun}, now {tokens} tokens, {:.0} %{over}", usage.percent)
}

/// What an import brings, read once.
enum Source {
    Drafts(Vec<Draft>),
    Export(Vec<SegmentAnswer>),
}

fn source(request: &ContextImport) -> Result<(Source, Vec<SkippedLine>), ServiceError> {
    let Some(messages) = request.messages.clone() else {
        return Err(ServiceError::invalid("either `messages` or `path` is required"));
    };
    let source = request.path.as_deref().map_or_else(|| "`messages`".to_owned(), |path| format!("`{path}`"));
    let unreadable = |error: &dyn std::fmt::Display| {
        ServiceError::invalid(format!("{source} cannot be imported: {error}")).with_hint("nothing was changed")
    };
    let outcome = match (request.format, &messages) {
        (ImportFormat::Rootset, _) => {
            let segments = exported(messages).map_err(|error| unreadable(&error))?;
            return Ok((Source::Export(segments), Vec::new()));
        }
        (ImportFormat::ClaudeCode, Value::String(lines)) => rootset_messages::read_claude_code(lines),
        (ImportFormat::ClaudeCode, _) => rootset_messages::read(Format::ClaudeCode, &messages),
        (ImportFormat::Anthropic, _) => rootset_messages::read(Format::Anthropic, &messages),
        (ImportFormat::OpenAi, _) => rootset_messages::read(Format::OpenAi, &messages),
    };
    let outcome = outcome.map_err(|error| unreadable(&error))?;
    let mut drafts = outcome.drafts;
    // Places are names, shorter than any file's own: agents and people have to say them. A list that has grown since
    // can be imported again.
    for (place, draft) in drafts.iter_mut().enumerate() {
        draft.segment_id = Some(format!("m{}", place + 1));
    }
    Ok((Source::Drafts(drafts), outcome.skipped))
}

fn read_file(request: &ContextImport, path: &str) -> Result<Value, ServiceError> {
    let unreadable = |error: &dyn std::fmt::Display| {
        ServiceError::invalid(format!("`{path}` cannot be read: {error}")).with_hint("nothing was changed")
    };
    let file = std::fs::File::open(path).map_err(|error| unreadable(&error))?;
    let mut text = String::new();
    let read = file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(|error| unreadable(&error))?;
    if read as u64 > FILE_BYTES_MAX {
        return Err(ServiceError::invalid(format!("`{path}` has more than {FILE_BYTES_MAX} bytes")));
    }
    match request.format {
        ImportFormat::ClaudeCode => Ok(Value::String(text)),
        _ => serde_json::from_str(&text).map_err(|error| unreadable(&format!("it {}", json::fault(&error)))),
    }
}

fn exported(messages: Value) -> Result<Vec<SegmentAnswer>, String> {
    let segments = match messages {
        Value::Object(mut fields) => fields.remove("segments").ok_or("the field `segments` is required")?,
        Value::String(text) => {
            return exported(serde_json::from_str(&text).map_err(|error| format!("the text {}", json::fault(&error)))?);
        }
        list => list,
    };
    rootset_api::read(&segments)
}

impl Source {
    fn len(&self) -> usize {
        match self {
            Self::Drafts(drafts) => drafts.len(),
            Self::Export(segments) => segments.len(),
        }
    }

    fn prepared(&self, arrival: &Arrival<'_>) -> Result<Vec<Incoming>, ServiceError> {
        match self {
            Self::Drafts(drafts) => drafts.iter().map(|draft| Incoming::from_draft(draft.clone(), arrival)).collect(),
            Self::Export(segments) => segments.iter().map(|segment| from_export(segment, arrival)).collect(),
        }
    }

    /// What was stashed when it was exported is stashed again.
    fn stash_again(&self, edit: &mut Edit<'_>, added: &[Option<rootset_gc::context::SegmentIndex>]) {
        let Self::Export(segments) = self else { return };
        for (segment, added) in segments.iter().zip(added) {
            if let (Some(SegmentState::Stashed), Some(added)) = (segment.state, added) {
                edit.stash(*added, "stashed when it was exported", LedgerAction::Stash);
            }
        }
    }
}

fn from_export(segment: &SegmentAnswer, arrival: &Arrival<'_>) -> Result<Incoming, ServiceError> {
    let input = SegmentInput {
        segment_id: Some(segment.segment_id.clone()),
        segment_type: segment.segment_type,
        text: segment.text.clone(),
        role: segment.role.clone(),
        tool_call_id: segment.tool_call_id.clone(),
        raw: segment.raw.clone(),
        file_path: segment.file_path.clone(),
        line_range: segment.line_range,
        tags: Some(segment.tags.clone()),
        topic_id: segment.topic_id.clone(),
        task_id: segment.task_id.clone(),
        references: Some(segment.references.clone()),
        reply_to: segment.reply_to.clone(),
        derived_from: segment.derived_from.clone(),
        pinned: Some(segment.pinned),
        invariant: Some(segment.invariant),
    };
    let mut incoming = Incoming::from_input(input, arrival)?;
    let row = &mut incoming.row;
    row.tokens = segment.tokens.unwrap_or(row.tokens);
    row.created_at = segment.created_at.unwrap_or(row.created_at);
    row.touched_at = segment.last_touched_at.unwrap_or(row.created_at);
    row.pin_reason.clone_from(&segment.pin_reason);
    Ok(incoming)
}

impl Operation for ContextExport {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ContextExported, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let include = self.include.unwrap_or_default();
        service.read_session(&workspace, &self.session_id, |live| {
            let state_of = |segment| live.window().graph().state(segment);
            let mut segments = live.in_order(Population::ActiveAndStashed);
            segments.retain(|segment| match include {
                ExportedPart::Session => state_of(*segment) == SegmentState::Active,
                ExportedPart::Stash => state_of(*segment) == SegmentState::Stashed,
                ExportedPart::Both => true,
            });
            let numbers: Vec<i64> = segments.iter().map(|segment| live.row(*segment).segment).collect();
            let texts = service.store.segment_texts(&workspace, &numbers)?;
            let segments = segments.iter().zip(&texts).map(|(segment, text)| segment_answer(live, *segment, text));
            Ok(ContextExported { session_id: self.session_id.clone(), segments: segments.collect() })
        })
    }
}
