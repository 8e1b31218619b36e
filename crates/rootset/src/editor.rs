//! A person's own editor on a text.

use std::io::Write;
use std::process::Command;

use rootset_api::ErrorCode;
use rootset_service::ServiceError;

use crate::input;

/// The text after the editor was closed.
pub fn edit(text: &str) -> Result<String, ServiceError> {
    let failed = |what: &str, error: &std::io::Error| {
        ServiceError::new(ErrorCode::Internal, format!("cannot {what} the file for the editor: {error}"))
    };
    // Readable by nobody else, and gone when this function ends.
    let mut file = tempfile::Builder::new()
        .prefix("rootset-")
        .suffix(".md")
        .tempfile()
        .map_err(|error| failed("create", &error))?;
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(|error| failed("write", &error))?;
    let editor = editor();
    // By way of a shell, as everybody does: the variable may hold arguments.
    let status = Command::new("sh")
        .args(["-c", &format!("{editor} \"$1\""), "sh"])
        .arg(file.path())
        .status()
        .map_err(|error| ServiceError::invalid(format!("cannot start the editor `{editor}`: {error}")))?;
    if !status.success() {
        return Err(ServiceError::invalid(format!("the editor `{editor}` ended with an error; nothing was changed"))
            .with_hint("set `EDITOR` to the editor you use"));
    }
    input::read_file(file.path())
}

fn editor() -> String {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".to_owned())
}
