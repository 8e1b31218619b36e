//! What becomes of a field's value: which are stored as text, which are names, and which are only looked up.
//!
//! A field that is not listed is text. A test puts a secret in every string field of every writing operation and looks for it in
//! the database, so a field listed here by mistake is found.

use super::strings::Step;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Stored: a secret in it can be replaced.
    Text,
    /// Stored, and others refer to it: a secret in it cannot be replaced without changing what it names.
    Identifier,
    /// Compared with what is stored, and not stored itself.
    LookedUp,
}

/// Operations that store nothing that they are given: what is to be forgotten may be the secret itself.
const SEARCHES: &[&str] = &["forget"];

const LOOKED_UP: &[&str] = &[
    "memory_id",
    "memory_ids",
    "by",
    "supersedes",
    "plan_id",
    "run_id",
    "drain_id",
    "token_id",
    "exclude",
    "confirm_phrase",
    "backup_id",
];

const IDENTIFIERS: &[&str] = &[
    "name",
    "key",
    "workspace_id",
    "workspaces",
    "new_workspace_id",
    "session_id",
    "from_session_id",
    "segment_id",
    "segment_ids",
    "references",
    "reply_to",
    "derived_from",
    "tool_call_id",
    "source",
    "source_id",
    "target",
    "target_id",
    "entity_id",
    "relation_id",
    "relation",
    "type",
    "class",
    "repo",
    "tag",
    "path",
    "file_path",
];

/// Lists that go back to their caller untouched. What is stored of them passes the same rules where it is stored.
const RETURNED: &[(&str, &[&str])] = &[("context_fit", &["messages", "system", "tools"])];

/// Fields that hold JSON of the caller's own: the names in it are not ours.
const FREE: &[&str] = &["metadata", "raw", "messages"];

pub(super) fn use_of(operation: &str, path: &[Step]) -> Use {
    if SEARCHES.contains(&operation) {
        return Use::LookedUp;
    }
    let is_returned = |(name, fields): &(&str, &[&str])| {
        *name == operation && matches!(path.first(), Some(Step::Field(field)) if fields.contains(&field.as_ref()))
    };
    if RETURNED.iter().any(is_returned) {
        return Use::LookedUp;
    }
    let is_free = path.iter().any(|step| matches!(step, Step::Field(name) if FREE.contains(&name.as_ref())));
    match nearest_name(path) {
        _ if is_free => Use::Text,
        Some(name) if LOOKED_UP.contains(&name) => Use::LookedUp,
        Some(name) if IDENTIFIERS.contains(&name) => Use::Identifier,
        _ => Use::Text,
    }
}

/// The name of the field that holds a value, or the list that it is in.
pub(super) fn nearest_name(path: &[Step]) -> Option<&str> {
    path.iter().rev().find_map(|step| match step {
        Step::Field(name) => Some(name.as_ref()),
        Step::Index(_) | Step::Key => None,
    })
}

/// As people write it: `memories[3].tags[0]`. Names that the caller made up may be secrets, so those are not shown.
pub(super) fn shown(path: &[Step]) -> String {
    let mut shown = String::new();
    for step in path {
        match step {
            Step::Field(name) => {
                if !shown.is_empty() {
                    shown.push('.');
                }
                shown.push_str(name);
                if FREE.contains(&name.as_ref()) {
                    break;
                }
            }
            Step::Index(index) => shown.push_str(&format!("[{index}]")),
            Step::Key => {}
        }
    }
    shown
}
