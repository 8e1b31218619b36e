//! `context_set_focus`.

use std::sync::Arc;

use rootset_model::limits::{FOCUS_FILES_MAX, TOPIC_CHARS_MAX};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::rust::double_option;

use crate::caller::Caller;
use crate::context::FocusInput;
use crate::error::ServiceError;
use crate::operation::{Effect, Operation};
use crate::service::Service;
use crate::shared::check_short_text;

const FILE_PATH_CHARS_MAX: usize = 4_096;

/// Tell what the agent works on: the task's segments and those of the active file stay. Fields left out stay as they are, `null` clears.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ContextSetFocus {
    /// Workspace of the session; absent: the current one.
    workspace_id: Option<String>,
    session_id: String,
    /// Segments with this `task_id` stay.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    task_id: Option<Option<String>>,
    /// Segments that show this file stay.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    active_file: Option<Option<String>>,
    /// First and last line the agent looks at.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    line_range: Option<Option<(u32, u32)>>,
    /// Edited lately: dearer, but no roots.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    recent_files: Option<Option<Vec<String>>>,
    /// Open in an editor: dearer, but no roots.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    open_files: Option<Option<Vec<String>>>,
    /// Files with breakpoints, `path` or `path:line`: dearer, but no roots.
    #[serde(default, deserialize_with = "double_option::deserialize")]
    breakpoints: Option<Option<Vec<String>>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ContextFocus {
    pub session_id: String,
    #[serde(flatten)]
    pub focus: FocusInput,
}

impl Operation for ContextSetFocus {
    const NAME: &'static str = "context_set_focus";
    const EFFECT: Effect = Effect::Write;
    const IS_IDEMPOTENT: bool = true;
    const NULL_CLEARS: bool = true;
    type Response = ContextFocus;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ContextFocus, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        self.check()?;
        service.edit_session(caller, &workspace, &self.session_id, |edit| {
            let focus = self.over(edit.live.focus.clone());
            if focus != edit.live.focus {
                edit.live.focus = focus.clone();
                edit.change_state();
            }
            Ok(ContextFocus { session_id: self.session_id.clone(), focus })
        })
    }
}

impl ContextSetFocus {
    fn check(&self) -> Result<(), ServiceError> {
        let text = |value: &Option<Option<String>>| value.clone().flatten().unwrap_or_default();
        check_short_text("task_id", &text(&self.task_id), TOPIC_CHARS_MAX)?;
        check_short_text("active_file", &text(&self.active_file), FILE_PATH_CHARS_MAX)?;
        if let Some(Some((first, last))) = self.line_range.filter(|it| it.is_some_and(|(first, last)| first > last)) {
            return Err(ServiceError::invalid(format!("`line_range` begins at {first}, after its end at {last}")));
        }
        for (field, files) in
            [("recent_files", &self.recent_files), ("open_files", &self.open_files), ("breakpoints", &self.breakpoints)]
        {
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

    fn over(&self, earlier: FocusInput) -> FocusInput {
        let list = |given: &Option<Option<Vec<String>>>, earlier: Vec<String>| match given {
            Some(given) => given.clone().unwrap_or_default(),
            None => earlier,
        };
        FocusInput {
            task_id: self.task_id.clone().unwrap_or(earlier.task_id),
            active_file: self.active_file.clone().unwrap_or(earlier.active_file),
            line_range: self.line_range.unwrap_or(earlier.line_range),
            recent_files: list(&self.recent_files, earlier.recent_files),
            open_files: list(&self.open_files, earlier.open_files),
            breakpoints: list(&self.breakpoints, earlier.breakpoints),
        }
    }
}
