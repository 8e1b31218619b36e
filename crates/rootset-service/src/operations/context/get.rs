//! `context_get`.

use std::sync::Arc;

use rootset_gc::context::{Population, SegmentState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_with::skip_serializing_none;

use crate::caller::Caller;
use crate::context::{RenderFormat, SegmentAnswer, UsageAnswer, render_messages};
use crate::error::ServiceError;
use crate::operation::{Effect, Operation};
use crate::service::Service;

/// The live context in order: as segments, or as the message list of an API with every tool call next to its result.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ContextGet {
    /// Workspace of the session; absent: the current one.
    workspace_id: Option<String>,
    session_id: String,
    /// `segments` (default), `anthropic` or `openai`.
    format: Option<RenderFormat>,
    /// One line in the place of what was stashed (false).
    placeholders: Option<bool>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct ContextView {
    pub session_id: String,
    pub segments: Option<Vec<SegmentAnswer>>,
    /// The system prompt, where the format has it beside the messages.
    pub system: Option<Value>,
    pub messages: Option<Vec<Value>>,
    pub usage: UsageAnswer,
}

impl Operation for ContextGet {
    const NAME: &'static str = "context_get";
    const EFFECT: Effect = Effect::Read;
    const IS_IDEMPOTENT: bool = true;
    type Response = ContextView;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ContextView, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let placeholders = self.placeholders.unwrap_or(false);
        service.read_session(&workspace, &self.session_id, |live| {
            let active = live.in_order(Population::Active);
            let numbers: Vec<i64> = active.iter().map(|segment| live.row(*segment).segment).collect();
            let texts = service.store.segment_texts(&workspace, &numbers)?;
            let usage = UsageAnswer::of(live, &live.settings(&service.settings.context)?);
            let session_id = self.session_id.clone();
            if let Some(format) = self.format.unwrap_or_default().messages() {
                let rendered = render_messages(live, &texts, format, placeholders);
                return Ok(ContextView {
                    session_id,
                    segments: None,
                    system: rendered.system,
                    messages: Some(rendered.messages),
                    usage,
                });
            }
            let population = if placeholders { Population::ActiveAndStashed } else { Population::Active };
            let mut texts = texts.iter();
            let mut segments = Vec::new();
            for segment in live.in_order(population) {
                match live.window().graph().state(segment) {
                    SegmentState::Active => {
                        segments.extend(texts.next().map(|text| SegmentAnswer::of(live, segment, text)));
                    }
                    _ => segments.push(SegmentAnswer::placeholder(live, segment)),
                }
            }
            Ok(ContextView { session_id, segments: Some(segments), system: None, messages: None, usage })
        })
    }
}
