//! `context_search_stash` and `context_restore`.

use std::sync::Arc;

use rootset_api::{ContextRestore, ContextRestored, ContextSearchStash, StashResult, StashResults};
use rootset_gc::context::{Population, SegmentState};
use rootset_model::limits::{SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX, SEGMENTS_NAMED_MAX};
use rootset_store::StashFilters;
use rootset_text::terms;

use super::add::add_all;
use crate::caller::Caller;
use crate::context::{check_session_id, copy_from_session, segment_error, usage_answer};
use crate::error::ServiceError;
use crate::fields::{check_query, checked_tags, clamped};
use crate::operation::Operation;
use crate::service::Service;

impl Operation for ContextSearchStash {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<StashResults, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let query = self.query.unwrap_or_default();
        check_query(&query)?;
        let limit = clamped("limit", self.limit, SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX)? as usize;
        check_session_id(&self.session_id)?;
        let everywhere = self.all_sessions.unwrap_or(false);
        if !everywhere {
            service.read_session(&workspace, &self.session_id, |_| Ok(()))?;
        }
        let now = service.now();
        let filters = StashFilters {
            session_id: (!everywhere).then_some(self.session_id),
            segment_type: self.segment_type,
            file_path: self.file_path,
            tags: checked_tags(self.tags.as_deref().unwrap_or_default())?,
            created_after: self.created_after.map(|it| it.at(now)),
            created_before: self.created_before.map(|it| it.at(now)),
        };
        let terms: Vec<String> = terms::query_terms(&query).into_iter().map(|term| term.term).collect();
        // Words that no index holds, such as punctuation alone, are not the same as no words.
        if terms.is_empty() && !query.trim().is_empty() {
            return Ok(StashResults { results: Vec::new() });
        }
        let hits = service.store.search_stash(&workspace, &terms, &filters, limit)?;
        let results = hits.into_iter().map(|hit| StashResult {
            segment_id: hit.segment_id,
            session_id: hit.session_id,
            segment_type: hit.segment_type,
            preview: hit.preview,
            full_length: hit.text_chars,
            tokens: hit.tokens,
            stashed_at: hit.stashed_at,
            reason: hit.reason,
        });
        Ok(StashResults { results: results.collect() })
    }
}

impl Operation for ContextRestore {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ContextRestored, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        if self.segment_ids.is_empty() || self.segment_ids.len() > SEGMENTS_NAMED_MAX {
            return Err(ServiceError::invalid(format!(
                "`segment_ids` has {} items; allowed: 1 to {SEGMENTS_NAMED_MAX}",
                self.segment_ids.len()
            )));
        }
        let from = self.from_session_id.as_deref().filter(|from| *from != self.session_id);
        if let Some(from) = from {
            let copies = copy_from_session(service, &workspace, from, &self.segment_ids)?;
            return service.edit_session(caller, &workspace, &self.session_id, |edit| {
                let (mut restored, mut errors) = (Vec::new(), Vec::new());
                for (segment_id, copy) in &copies {
                    let added = copy.clone().and_then(|copy| add_all(edit, vec![copy]));
                    match added {
                        Ok(_) => restored.push(segment_id.clone()),
                        Err(error) => errors.push(segment_error(segment_id, &error)),
                    }
                }
                let settings = edit.live.settings(&service.settings.context)?;
                Ok(ContextRestored { restored, errors, usage: usage_answer(edit.live, &settings) })
            });
        }
        service.edit_session(caller, &workspace, &self.session_id, |edit| {
            let (mut restored, mut errors) = (Vec::new(), Vec::new());
            for segment_id in &self.segment_ids {
                match edit.live.find(segment_id) {
                    Err(error) => errors.push(segment_error(segment_id, &error)),
                    Ok(segment) => {
                        for member in edit.live.with_pairs(segment, Population::ActiveAndStashed) {
                            if edit.live.window().graph().state(member) == SegmentState::Stashed {
                                edit.restore(member, "restored by the caller");
                            }
                            let id = edit.live.row(member).segment_id.clone();
                            if !restored.contains(&id) {
                                restored.push(id);
                            }
                        }
                    }
                }
            }
            let settings = edit.live.settings(&service.settings.context)?;
            Ok(ContextRestored { restored, errors, usage: usage_answer(edit.live, &settings) })
        })
    }
}
