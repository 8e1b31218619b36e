//! `context_set_focus`.

use std::sync::Arc;

use rootset_api::{ContextFocus, ContextSetFocus, FocusInput};
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
    let text = |value: &Option<Option<String>>| value.clone().flatten().unwrap_or_default();
    check_short_text("task_id", &text(&request.task_id), TOPIC_CHARS_MAX)?;
    check_short_text("active_file", &text(&request.active_file), FILE_PATH_CHARS_MAX)?;
    if let Some(Some((first, last))) = request.line_range.filter(|it| it.is_some_and(|(first, last)| first > last)) {
        return Err(ServiceError::invalid(format!("`line_range` begins at {first}, after its end at {last}")));
    }
    for (field, files) in [
        ("recent_files", &request.recent_files),
        ("open_files", &request.open_files),
        ("breakpoints", &request.breakpoints),
    ] {
        let files = files.as_ref().and_then(Option::as_deref).unwrap_or_default();
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

fn over(request: &ContextSetFocus, earlier: FocusInput) -> FocusInput {
    let list = |given: &Option<Option<Vec<String>>>, earlier: Vec<String>| match given {
        Some(given) => given.clone().unwrap_or_default(),
        None => earlier,
    };
    FocusInput {
        task_id: request.task_id.clone().unwrap_or(earlier.task_id),
        active_file: request.active_file.clone().unwrap_or(earlier.active_file),
        line_range: request.line_range.unwrap_or(earlier.line_range),
        recent_files: list(&request.recent_files, earlier.recent_files),
        open_files: list(&request.open_files, earlier.open_files),
        breakpoints: list(&request.breakpoints, earlier.breakpoints),
    }
}
