//! Errors as callers see them: a code from a closed list, a message that names the thing, and what to do next.

use serde_json::{Value, json};

/// The closed list. One table maps a code to an exit status and an HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    InvalidArgument,
    NotFound,
    Conflict,
    ConfirmationRequired,
    PlanExpired,
    LimitExceeded,
    UpgradeRequired,
    Unauthorized,
    Forbidden,
    Busy,
    Internal,
}

impl ErrorCode {
    /// Code, HTTP status, exit status: 1 is the caller's, 2 is ours.
    const TABLE: [(Self, &'static str, u16, u8); 11] = [
        (Self::InvalidArgument, "invalid_argument", 400, 1),
        (Self::NotFound, "not_found", 404, 1),
        (Self::Conflict, "conflict", 409, 1),
        (Self::ConfirmationRequired, "confirmation_required", 428, 1),
        (Self::PlanExpired, "plan_expired", 410, 1),
        (Self::LimitExceeded, "limit_exceeded", 422, 1),
        (Self::UpgradeRequired, "upgrade_required", 426, 1),
        (Self::Unauthorized, "unauthorized", 401, 1),
        (Self::Forbidden, "forbidden", 403, 1),
        (Self::Busy, "busy", 503, 2),
        (Self::Internal, "internal", 500, 2),
    ];

    fn row(self) -> &'static (Self, &'static str, u16, u8) {
        Self::TABLE.iter().find(|row| row.0 == self).expect("every code has its row")
    }

    pub fn as_str(self) -> &'static str {
        self.row().1
    }

    pub fn http_status(self) -> u16 {
        self.row().2
    }

    pub fn exit_status(self) -> u8 {
        self.row().3
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    pub code: ErrorCode,
    pub message: String,
    pub hint: Option<String>,
    pub details: Option<Value>,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.message)
    }
}

impl std::error::Error for Error {}

impl Error {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None, details: None }
    }

    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidArgument, message)
    }

    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Conflict, message)
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// The call to make next is about the workspace that this one named, and leaves out what was not given.
    pub fn about_workspace(mut self, workspace: Option<&str>) -> Self {
        let next = self.details.as_mut().and_then(|details| details.pointer_mut("/next/arguments"));
        if let Some(Value::Object(arguments)) = next {
            arguments.retain(|_, value| !value.is_null());
            if let Some(workspace) = workspace.filter(|it| !it.is_empty()) {
                arguments.entry("workspace_id").or_insert_with(|| workspace.into());
            }
        }
        self
    }

    /// Messages repeat what they were given, and may have been given anything: what is shown of it has an end.
    pub fn bounded(mut self) -> Self {
        for text in [Some(&mut self.message), self.hint.as_mut()].into_iter().flatten() {
            if let Some((end, _)) = text.char_indices().nth(MESSAGE_CHARS_MAX) {
                text.truncate(end);
                text.push('…');
            }
        }
        self
    }

    /// `{"error": {"code", "message", "hint"?, "details"?}}`.
    pub fn to_json(&self) -> Value {
        let mut error = json!({"code": self.code.as_str(), "message": self.message});
        if let Some(hint) = &self.hint {
            error["hint"] = hint.clone().into();
        }
        if let Some(details) = &self.details {
            error["details"] = details.clone();
        }
        json!({ "error": error })
    }
}

/// More than any message of ours has by itself.
const MESSAGE_CHARS_MAX: usize = 1_000;
