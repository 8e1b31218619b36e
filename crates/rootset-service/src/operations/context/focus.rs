//! `context_set_focus`.

use std::sync::Arc;

use rootset_api::{ContextFocus, ContextSetFocus, FocusField, FocusInput};
use rootset_model::limits::{FOCUS_FILES_MAX, TOPIC_CHARS_MAX};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::check_short_text;
use crate::operation::Operation;
use crate::service::Service;

const FILE_PATH_CHARS_MAX: usize = 4_096;

impl Operation for ContextSetFocus {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ContextFocus, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        check(&self)?;
        service.edit_session(caller, &workspace, &self.session_id, |edit| {
            let focus = over(&self, edit.live.focus.clone());
            if focus != edit.live.focus {
                edit.live.focus = focus.clone();
                edit.change_state();
            }
            Ok(ContextFocus { session_id: self.session_id.clone(), focus })
        })
    }
}

fn check(request: &ContextSetFocus) -> Result<(), ServiceError> {
    check_short_text("task_id", request.task_id.as_deref().unwrap_or_default(), TOPIC_CHARS_MAX)?;
    check_short_text("active_file", request.active_file.as_deref().unwrap_or_default(), FILE_PATH_CHARS_MAX)?;
    if let Some((first, last)) = request.line_range.filter(|(first, last)| first > last) {
        return Err(ServiceError::invalid(format!("`line_range` begins at {first}, after its end at {last}")));
    }
    for (field, files) in [
        ("recent_files", &request.recent_files),
        ("open_files", &request.open_files),
        ("breakpoints", &request.breakpoints),
    ] {
        let files = files.as_deref().unwrap_or_default();
        if files.len() > FOCUS_FILES_MAX {
            let count = files.len();
            return Err(ServiceError::invalid(format!("`{field}` has {count} items, more than {FOCUS_FILES_MAX}")));
        }
        for file in files {
            check_short_text(field, file, FILE_PATH_CHARS_MAX)?;
        }
    }
    Ok(())
}

/// What is given wins over what is cleared.
fn over(request: &ContextSetFocus, earlier: FocusInput) -> FocusInput {
    let cleared = request.clear.as_deref().unwrap_or_default();
    let kept = |field: FocusField| !cleared.contains(&field);
    let list = |given: &Option<Vec<String>>, earlier: Vec<String>, field: FocusField| match given {
        Some(given) => given.clone(),
        None if kept(field) => earlier,
        None => Vec::new(),
    };
    let text = |given: &Option<String>, earlier: Option<String>, field: FocusField| {
        given.clone().or(earlier.filter(|_| kept(field)))
    };
    FocusInput {
        task_id: text(&request.task_id, earlier.task_id, FocusField::TaskId),
        active_file: text(&request.active_file, earlier.active_file, FocusField::ActiveFile),
        line_range: request.line_range.or(earlier.line_range.filter(|_| kept(FocusField::LineRange))),
        recent_files: list(&request.recent_files, earlier.recent_files, FocusField::RecentFiles),
        open_files: list(&request.open_files, earlier.open_files, FocusField::OpenFiles),
        breakpoints: list(&request.breakpoints, earlier.breakpoints, FocusField::Breakpoints),
    }
}
