//! Names people and agents give: of memories and of workspaces.

use thiserror::Error;
use uuid::Uuid;

use crate::limits::{NAME_CHARS_MAX, WORKSPACE_ID_CHARS_MAX};

/// The source of indexed files: only the code index writes it.
pub const CODE_SOURCE: &str = "code_indexer";

/// The workspace that always exists, and that is meant where nothing else decides.
pub const HOME_WORKSPACE: &str = "home";
/// What [`HOME_WORKSPACE`] was called before; it still means it.
const OLD_HOME_WORKSPACE: &str = "default";
/// Names that no workspace made for a project gets: each has a meaning of its own.
pub const RESERVED_WORKSPACES: [&str; 4] = [HOME_WORKSPACE, OLD_HOME_WORKSPACE, "personal", "auto"];

/// The id of the workspace that a name means: an old name goes on meaning what it meant.
pub fn meant_workspace(id: &str) -> &str {
    if id == OLD_HOME_WORKSPACE { HOME_WORKSPACE } else { id }
}

/// Actors of the audit trail that are neither tokens nor clients, and the person: nobody may sign as one of them.
pub const RESERVED_ACTORS: [&str; 7] = ["cli", "housekeeping", "rootset", "scheduler", "unknown", "user", "worker"];

/// Whether a name could be taken for one of [`RESERVED_ACTORS`], whatever its case and whatever is around it.
pub fn is_reserved_actor(name: &str) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    RESERVED_ACTORS.iter().any(|reserved| plain.eq_ignore_ascii_case(reserved))
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum NameError {
    #[error("`{0}` is not a valid name: up to {NAME_CHARS_MAX} of a-z 0-9 . _ / -, beginning with a letter or digit")]
    Malformed(String),
    #[error("`{0}` looks like a UUID, which only ids may do")]
    ShapedLikeId(String),
    #[error(
        "`{0}` is not a valid workspace id: up to {WORKSPACE_ID_CHARS_MAX} of a-z 0-9 _ -, beginning with a letter or digit"
    )]
    MalformedWorkspace(String),
}

/// Checks `^[a-z0-9][a-z0-9._/-]{0,127}$`, and that nobody can mistake the name for an id.
pub fn check_memory_name(name: &str) -> Result<(), NameError> {
    if !is_made_of(name, NAME_CHARS_MAX, b"._/-") {
        return Err(NameError::Malformed(shown(name)));
    }
    if Uuid::try_parse(name).is_ok() {
        return Err(NameError::ShapedLikeId(name.to_owned()));
    }
    Ok(())
}

/// Checks `^[a-z0-9][a-z0-9_-]{0,63}$`.
pub fn check_workspace_id(id: &str) -> Result<(), NameError> {
    if is_made_of(id, WORKSPACE_ID_CHARS_MAX, b"_-") { Ok(()) } else { Err(NameError::MalformedWorkspace(shown(id))) }
}

fn is_made_of(text: &str, chars_max: usize, punctuation: &[u8]) -> bool {
    let bytes = text.as_bytes();
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=chars_max).contains(&bytes.len())
        && plain(bytes[0])
        && bytes.iter().all(|&byte| plain(byte) || punctuation.contains(&byte))
}

fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_names_follow_the_pattern_and_are_never_uuids() {
        for good in ["a", "deploy-checklist", "docs/api.v2_x", "0"] {
            assert_eq!(check_memory_name(good), Ok(()), "{good}");
        }
        for bad in ["", "-a", "Upper", "with space", "ünï", &"x".repeat(129)] {
            assert!(matches!(check_memory_name(bad), Err(NameError::Malformed(_))), "{bad}");
        }
        for id in ["018f2f3e-9c4b-7cc1-a1f0-000000000001", "018f2f3e9c4b7cc1a1f0000000000001"] {
            assert!(matches!(check_memory_name(id), Err(NameError::ShapedLikeId(_))), "{id}");
        }
    }

    #[test]
    fn workspace_ids_have_no_dots_or_slashes() {
        assert_eq!(check_workspace_id("default"), Ok(()));
        for bad in ["", "a.b", "a/b", "_x", &"x".repeat(65)] {
            assert!(check_workspace_id(bad).is_err(), "{bad}");
        }
    }
}
