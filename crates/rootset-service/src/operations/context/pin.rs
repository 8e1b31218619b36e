//! `context_gc_pin` and `context_gc_unpin`.

use std::sync::Arc;

use rootset_api::{ContextGcPin, ContextGcUnpin, ContextPinned, ContextUnpinned, SegmentError};
use rootset_model::limits::{REASON_CHARS_MAX, SEGMENTS_NAMED_MAX};

use crate::caller::Caller;
use crate::context::segment_error;
use crate::error::ServiceError;
use crate::fields::check_short_text;
use crate::operation::Operation;
use crate::service::Service;

impl Operation for ContextGcPin {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ContextPinned, ServiceError> {
        let request = Pinning { is_pinned: true, ids: &self.segment_ids, reason: self.reason.as_deref() };
        let (pinned, errors) = request.run(service, caller, self.workspace_id.as_deref(), &self.session_id)?;
        Ok(ContextPinned { pinned, errors })
    }
}

impl Operation for ContextGcUnpin {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ContextUnpinned, ServiceError> {
        check_short_text("reason", self.reason.as_deref().unwrap_or_default(), REASON_CHARS_MAX)?;
        let request = Pinning { is_pinned: false, ids: &self.segment_ids, reason: None };
        let (unpinned, errors) = request.run(service, caller, self.workspace_id.as_deref(), &self.session_id)?;
        Ok(ContextUnpinned { unpinned, errors })
    }
}

struct Pinning<'a> {
    is_pinned: bool,
    ids: &'a [String],
    reason: Option<&'a str>,
}

impl Pinning<'_> {
    fn run(
        &self,
        service: &Arc<Service>,
        caller: &Caller,
        workspace_id: Option<&str>,
        session_id: &str,
    ) -> Result<(Vec<String>, Vec<SegmentError>), ServiceError> {
        let workspace = service.workspace(caller, workspace_id)?;
        check_short_text("reason", self.reason.unwrap_or_default(), REASON_CHARS_MAX)?;
        if self.ids.is_empty() || self.ids.len() > SEGMENTS_NAMED_MAX {
            return Err(ServiceError::invalid(format!(
                "`segment_ids` has {} items; allowed: 1 to {SEGMENTS_NAMED_MAX}",
                self.ids.len()
            )));
        }
        service.edit_session(caller, &workspace, session_id, |edit| {
            let (mut done, mut errors) = (Vec::new(), Vec::new());
            for id in self.ids {
                match edit.live.find(id) {
                    Ok(segment) => {
                        edit.set_pinned(segment, self.is_pinned, self.reason);
                        done.push(id.clone());
                    }
                    Err(error) => errors.push(segment_error(id, &error)),
                }
            }
            Ok((done, errors))
        })
    }
}
