//! `context_get`.

use std::sync::Arc;

use rootset_api::{ContextGet, ContextView};
use rootset_gc::context::{Population, SegmentState};

use crate::caller::Caller;
use crate::context::{message_format, render_messages, segment_answer, segment_placeholder, usage_answer};
use crate::error::ServiceError;
use crate::operation::Operation;
use crate::service::Service;

impl Operation for ContextGet {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ContextView, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let placeholders = self.placeholders.unwrap_or(false);
        service.read_session(&workspace, &self.session_id, |live| {
            let active = live.in_order(Population::Active);
            let numbers: Vec<i64> = active.iter().map(|segment| live.row(*segment).segment).collect();
            let texts = service.store.segment_texts(&workspace, &numbers)?;
            let usage = usage_answer(live, &live.settings(&service.settings.context)?);
            let session_id = self.session_id.clone();
            if let Some(format) = message_format(self.format.unwrap_or_default()) {
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
                        segments.extend(texts.next().map(|text| segment_answer(live, segment, text)));
                    }
                    _ => segments.push(segment_placeholder(live, segment)),
                }
            }
            Ok(ContextView { session_id, segments: Some(segments), system: None, messages: None, usage })
        })
    }
}
