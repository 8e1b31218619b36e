//! Memories with their revisions and chunks, as rows of a backup.

use rootset_model::{Extraction, PinnedBy};

use super::{CHANNEL, COUNT, FLAG, Kind, Rows, TRUST, Table, is_json, needed, optional};
use crate::other_names::OtherName;
use crate::statements::backup as sql;

pub(crate) static MEMORY_TABLES: &[Table] = &[
    stored!(
        "memories",
        READ_MEMORIES,
        INSERT_MEMORIES,
        Some(&sql::DELETE_MEMORIES),
        [
            needed("memory", Kind::Id),
            needed("sequence", COUNT),
            optional("name", Kind::Text),
            needed("source", Kind::Text),
            optional("repo", Kind::Text),
            optional("file_path", Kind::Text),
            needed("written_by", Kind::Text),
            needed("status", Kind::Checked(is_status)),
            optional("last_error", Kind::Text),
            needed("attempts", COUNT),
            needed("version", COUNT),
            needed("revision", COUNT),
            optional("pending_revision", COUNT),
            optional("source_version", Kind::Integer),
            optional("doc_hash", Kind::Bytes),
            optional("metadata", Kind::Checked(is_json::<serde_json::Map<String, serde_json::Value>>)),
            optional("tags", Kind::Checked(is_json::<Vec<String>>)),
            needed("created_at", Kind::Integer),
            needed("updated_at", Kind::Integer),
            needed("ingested_at", Kind::Integer),
            optional("expires_at", Kind::Integer),
            needed("pinned", FLAG),
            optional("pin_reason", Kind::Text),
            optional("superseded_by", Kind::Id),
            optional("superseded_at", Kind::Integer),
            optional("supersede_reason", Kind::Text),
            optional("trashed_run", Kind::Id),
            optional("trashed_at", Kind::Integer),
            optional("stale_at", Kind::Integer),
            optional("is_stamp_in_doubt", FLAG),
            optional("seal", Kind::Id),
            optional("channel", CHANNEL),
            optional("trust", TRUST),
            optional("pinned_by", Kind::Checked(is_pinned_by)),
            optional("pinned_actor", Kind::Text),
            optional("place", Kind::Integer),
            optional("occurred_from", Kind::Integer),
            optional("occurred_until", Kind::Integer),
        ]
    ),
    stored!(
        "revisions",
        READ_REVISIONS,
        INSERT_REVISIONS,
        Some(&sql::DELETE_REVISIONS),
        [
            needed("memory", Kind::Id),
            needed("revision", COUNT),
            needed("topic", Kind::Text),
            needed("context", Kind::Text),
            needed("decisions", Kind::Checked(is_json::<Vec<String>>)),
            needed("rationale", Kind::Checked(is_json::<Vec<String>>)),
            needed("bytes", COUNT),
            needed("created_at", Kind::Integer),
            optional("extractor", Kind::Text),
            optional("extractor_version", Kind::Integer),
            optional("extraction", Kind::Checked(is_json::<Extraction>)),
            optional("trashed_run", Kind::Id),
            optional("trashed_at", Kind::Integer),
            optional("seal", Kind::Id),
            optional("channel", CHANNEL),
            optional("trust", TRUST),
            optional("written_by", Kind::Text),
        ]
    ),
    stored!(
        "chunks",
        READ_CHUNKS,
        INSERT_CHUNKS,
        Some(&sql::DELETE_CHUNKS),
        [
            needed("chunk", COUNT),
            needed("memory", Kind::Id),
            needed("ordinal", COUNT),
            needed("part", Kind::Count(2)),
            needed("start", COUNT),
            needed("length", COUNT),
            needed("is_question", FLAG),
            optional("symbol", COUNT),
        ]
    ),
    stored!(
        "memory_tags",
        READ_MEMORY_TAGS,
        INSERT_MEMORY_TAGS,
        Some(&sql::DELETE_MEMORY_TAGS),
        [needed("tag", Kind::Text), needed("memory", Kind::Id),]
    ),
    stored!(
        "memory_names",
        READ_MEMORY_NAMES,
        INSERT_MEMORY_NAMES,
        Some(&sql::DELETE_MEMORY_NAMES),
        [needed("memory", Kind::Id), needed("kind", Kind::Checked(is_kind_of_name)), needed("name", Kind::Text),]
    ),
    stored!(
        "uses",
        READ_USES,
        INSERT_USES,
        Some(&sql::DELETE_USES),
        [needed("memory", Kind::Id), needed("use_count", COUNT), needed("last_used_at", Kind::Integer),]
    ),
    stored!(
        "shown",
        READ_SHOWN,
        INSERT_SHOWN,
        Some(&sql::DELETE_SHOWN),
        [needed("memory", Kind::Id), needed("shown_count", COUNT), needed("last_shown_at", Kind::Integer),]
    ),
];

fn is_kind_of_name(text: &str) -> bool {
    OtherName::from_word(text).is_some()
}

fn is_pinned_by(text: &str) -> bool {
    PinnedBy::from_word(text).is_some()
}

fn is_status(text: &str) -> bool {
    matches!(text, "pending" | "complete")
}
