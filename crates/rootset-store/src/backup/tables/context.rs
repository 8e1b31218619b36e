//! Context sessions, their segments and ledgers, as rows of a backup.

use super::{COUNT, FLAG, Kind, NUMBER_OF_32_BITS, Rows, Table, is_json, needed, optional};
use crate::context::LedgerAction;
use crate::context::rows::{are_names, stored_state, stored_type};
use crate::statements::backup as sql;

pub(crate) static CONTEXT_TABLES: &[Table] = &[
    stored!(
        "sessions",
        READ_SESSIONS,
        INSERT_SESSIONS,
        Some(&sql::DELETE_SESSIONS),
        [
            needed("session", COUNT),
            needed("session_id", Kind::Text),
            needed("version", COUNT),
            needed("epoch", COUNT),
            needed("settings", Kind::Checked(is_json::<serde_json::Value>)),
            needed("focus", Kind::Checked(is_json::<serde_json::Value>)),
            needed("collections", COUNT),
            needed("next_step", COUNT),
            needed("created_at", Kind::Integer),
            needed("updated_at", Kind::Integer),
            needed("created_by", Kind::Text),
            optional("trashed_run", Kind::Id),
            optional("trashed_at", Kind::Integer),
        ]
    ),
    stored!(
        "segments",
        READ_SEGMENTS,
        INSERT_SEGMENTS,
        Some(&sql::DELETE_SEGMENTS),
        [
            needed("session", COUNT),
            needed("segment", COUNT),
            needed("segment_id", Kind::Text),
            needed("type", Kind::Checked(is_segment_type)),
            optional("role", Kind::Text),
            optional("tool_call_id", Kind::Text),
            needed("tokens", NUMBER_OF_32_BITS),
            needed("created_at", Kind::Integer),
            needed("created_step", COUNT),
            needed("touched_at", Kind::Integer),
            needed("touched_step", COUNT),
            needed("pinned", FLAG),
            optional("pin_reason", Kind::Text),
            needed("invariant", FLAG),
            optional("file_path", Kind::Text),
            optional("first_line", NUMBER_OF_32_BITS),
            optional("last_line", NUMBER_OF_32_BITS),
            optional("tags", Kind::Checked(is_json::<Vec<String>>)),
            optional("topic_id", Kind::Text),
            optional("task_id", Kind::Text),
            optional("refs", Kind::Checked(is_json::<Vec<String>>)),
            optional("reply_to", Kind::Text),
            optional("derived_from", Kind::Text),
            needed("names", Kind::CheckedBytes(are_names)),
            needed("text_hash", Kind::Id),
            needed("text_chars", COUNT),
            needed("bytes", COUNT),
            needed("state", Kind::Checked(is_segment_state)),
            optional("stashed_at", Kind::Integer),
            optional("stash_reason", Kind::Text),
            needed("is_indexed", FLAG),
            needed("entered_collection", COUNT),
            needed("version", COUNT),
            needed("written_by", Kind::Text),
            optional("trashed_run", Kind::Id),
            optional("trashed_at", Kind::Integer),
            optional("seal", Kind::Id),
        ]
    ),
    stored!(
        "segment_texts",
        READ_SEGMENT_TEXTS,
        INSERT_SEGMENT_TEXTS,
        Some(&sql::DELETE_SEGMENT_TEXTS),
        [
            needed("segment", COUNT),
            needed("text", Kind::Text),
            optional("raw", Kind::Checked(is_json::<serde_json::Value>)),
            optional("seal", Kind::Id),
        ]
    ),
    stored!(
        "ledger",
        READ_LEDGER,
        INSERT_LEDGER,
        Some(&sql::DELETE_LEDGER),
        [
            needed("session", COUNT),
            needed("seq", COUNT),
            needed("at", Kind::Integer),
            needed("actor", Kind::Text),
            needed("segment", COUNT),
            needed("action", Kind::Checked(is_ledger_action)),
            needed("tokens", NUMBER_OF_32_BITS),
            needed("reason", Kind::Text),
        ]
    ),
];

fn is_segment_type(text: &str) -> bool {
    stored_type(text).is_ok()
}

fn is_segment_state(text: &str) -> bool {
    stored_state(text).is_ok()
}

fn is_ledger_action(text: &str) -> bool {
    LedgerAction::from_stored(text).is_some()
}
