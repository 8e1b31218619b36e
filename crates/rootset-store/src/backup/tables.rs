//! What a backup is made of: every table with its columns, in the order in which rows can be inserted.
//!
//! One list feeds the writer, the reader, the check of archives and the restore. What is not in it is not restored: audit,
//! plans, jobs and tokens belong to the database, counters and sums are computed again from the rows.

use rootset_model::code::SymbolKind;
use rootset_model::{Extraction, RetentionPolicy};

use crate::code::references;
use crate::context::LedgerAction;
use crate::context::rows::{are_names, stored_state, stored_type};
use crate::driver::{SearchIndex, Statement};
use crate::kinds::KINDS;
use crate::purge::Receipt;
use crate::runs::RunCounts;
use crate::statements::{backup as sql, purge};

/// A table of an archive, one file of a bundle.
#[derive(Debug)]
pub(crate) struct Table {
    pub name: &'static str,
    pub columns: &'static [Column],
    pub rows: Rows,
}

/// Where the rows of a table are kept.
#[derive(Debug)]
pub(crate) enum Rows {
    /// The workspaces themselves: their numbers are drawn, not restored.
    Workspaces,
    Stored {
        read: &'static Statement,
        insert: &'static Statement,
        delete: Option<&'static Statement>,
    },
    /// Full text, which every engine keeps in its own way.
    Search(SearchIndex),
}

#[derive(Debug)]
pub(crate) struct Column {
    pub name: &'static str,
    pub kind: Kind,
    pub is_optional: bool,
}

/// What a column holds, and so how it is written and what is refused.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// Sixteen bytes, written like a UUID.
    Id,
    /// Bytes, written in base64.
    Bytes,
    /// A time or another number of any sign.
    Integer,
    /// A number from zero to this.
    Count(i64),
    Real,
    Text,
    /// Text that the program has to understand later.
    Checked(fn(&str) -> bool),
    /// Bytes that the program has to understand later, written in base64.
    CheckedBytes(fn(&[u8]) -> bool),
}

/// More than any counter reaches, less than what arithmetic on it could overflow.
const COUNT_MAX: i64 = 1 << 53;
pub(crate) const COUNT: Kind = Kind::Count(COUNT_MAX);
const FLAG: Kind = Kind::Count(1);
const NUMBER_OF_32_BITS: Kind = Kind::Count(u32::MAX as i64);

pub(crate) const fn needed(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, is_optional: false }
}

pub(crate) const fn optional(name: &'static str, kind: Kind) -> Column {
    Column { name, kind, is_optional: true }
}

macro_rules! stored {
    ($name:literal, $read:ident, $insert:ident, $delete:expr, [$($column:expr,)*]) => {
        Table {
            name: $name,
            columns: &[$($column,)*],
            rows: Rows::Stored { read: &sql::$read, insert: &sql::$insert, delete: $delete },
        }
    };
}

pub(crate) const WORKSPACE_NUMBER: &str = "workspace";

pub(crate) static WORKSPACES: Table = Table {
    name: "workspaces",
    columns: &[
        needed("workspace_id", Kind::Checked(is_workspace_id)),
        optional("name", Kind::Text),
        optional("description", Kind::Text),
        optional("quota_memories", COUNT),
        optional("quota_bytes", COUNT),
        needed("created_at", Kind::Integer),
        needed("last_write_at", Kind::Integer),
        optional("trashed_run", Kind::Id),
        optional("trashed_at", Kind::Integer),
        // The number it had, for the case that it comes back to the same database.
        needed(WORKSPACE_NUMBER, COUNT),
    ],
    rows: Rows::Workspaces,
};

/// What every kind of root refers to.
static RUN_TABLES: &[Table] = &[stored!(
    "runs",
    READ_RUNS,
    INSERT_RUNS,
    None,
    [
        needed("run", Kind::Id),
        needed("operation", Kind::Text),
        optional("plan", Kind::Id),
        needed("actor", Kind::Text),
        needed("started_at", Kind::Integer),
        optional("finished_at", Kind::Integer),
        needed("cursor", COUNT),
        needed("counts", Kind::Checked(is_json::<RunCounts>)),
        optional("undo_until", Kind::Integer),
        optional("undone_at", Kind::Integer),
        optional("purged_at", Kind::Integer),
        optional("erasure", Kind::Id),
        optional("receipt", Kind::Checked(is_json::<Receipt>)),
    ]
)];

/// Memories with their revisions and chunks.
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
        "uses",
        READ_USES,
        INSERT_USES,
        Some(&sql::DELETE_USES),
        [needed("memory", Kind::Id), needed("use_count", COUNT), needed("last_used_at", Kind::Integer),]
    ),
];

/// The graph, who contributes to it, and what imports brought.
pub(crate) static GRAPH_TABLES: &[Table] = &[
    stored!(
        "entities",
        READ_ENTITIES,
        INSERT_ENTITIES,
        Some(&purge::DELETE_ENTITIES),
        [
            needed("entity", Kind::Id),
            needed("number", COUNT),
            needed("name", Kind::Text),
            needed("type", Kind::Text),
            needed("normal_name", Kind::Text),
            needed("normaliser", COUNT),
            needed("created_at", Kind::Integer),
            optional("is_symbol", FLAG),
        ]
    ),
    stored!(
        "relations",
        READ_RELATIONS,
        INSERT_RELATIONS,
        Some(&purge::DELETE_RELATIONS),
        [
            needed("relation", Kind::Id),
            needed("source", Kind::Id),
            needed("verb", Kind::Text),
            needed("target", Kind::Id),
            needed("normaliser", COUNT),
            needed("created_at", Kind::Integer),
        ]
    ),
    stored!(
        "contributions",
        READ_CONTRIBUTIONS,
        INSERT_CONTRIBUTIONS,
        Some(&sql::DELETE_CONTRIBUTIONS),
        [
            needed("memory", Kind::Id),
            needed("object", Kind::Id),
            needed("kind", FLAG),
            needed("revision", COUNT),
            optional("text", Kind::Text),
            needed("weight", Kind::Real),
        ]
    ),
    stored!(
        "untracked",
        READ_UNTRACKED,
        INSERT_UNTRACKED,
        Some(&purge::DELETE_UNTRACKED),
        [
            needed("object", Kind::Id),
            needed("run", Kind::Id),
            needed("kind", FLAG),
            optional("description", Kind::Text),
            needed("created_at", Kind::Integer),
            optional("trashed_run", Kind::Id),
            optional("trashed_at", Kind::Integer),
        ]
    ),
];

/// Sessions, their segments and ledgers.
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

/// What is derived from chunks, and the code index. Their numbers are drawn beyond those of all roots.
pub(crate) static CHUNK_TABLES: &[Table] = &[
    stored!(
        "vectors",
        READ_VECTORS,
        INSERT_VECTORS,
        Some(&sql::DELETE_VECTORS),
        [
            needed("chunk", COUNT),
            needed("space", Kind::Text),
            needed("scale", Kind::Real),
            needed("codes", Kind::Bytes),
        ]
    ),
    stored!(
        "vector_originals",
        READ_VECTOR_ORIGINALS,
        INSERT_VECTOR_ORIGINALS,
        Some(&sql::DELETE_VECTOR_ORIGINALS),
        [needed("chunk", COUNT), needed("vector", Kind::Bytes),]
    ),
    stored!(
        "repos",
        READ_REPOS,
        INSERT_REPOS,
        Some(&sql::DELETE_REPOS),
        [
            needed("repo", Kind::Text),
            needed("root", Kind::Text),
            needed("run", COUNT),
            optional("run_id", Kind::Id),
            optional("run_at", Kind::Integer),
            optional("scope", Kind::Text),
            needed("trusted_at", Kind::Integer),
            needed("created_at", Kind::Integer),
        ]
    ),
    stored!(
        "files",
        READ_FILES,
        INSERT_FILES,
        Some(&sql::DELETE_FILES),
        [
            needed("repo", Kind::Text),
            needed("path", Kind::Text),
            needed("memory", Kind::Id),
            needed("size", COUNT),
            needed("modified_ns", Kind::Integer),
            needed("changed_ns", Kind::Integer),
            needed("inode", Kind::Integer),
            needed("content_hash", Kind::Id),
            needed("extractor", Kind::Integer),
            needed("language", Kind::Text),
            needed("is_test", FLAG),
            needed("is_mounted", FLAG),
            needed("lines", COUNT),
            needed("functions", COUNT),
            needed("classes", COUNT),
        ]
    ),
    stored!(
        "symbols",
        READ_SYMBOLS,
        INSERT_SYMBOLS,
        Some(&sql::DELETE_SYMBOLS),
        [
            needed("memory", Kind::Id),
            needed("ordinal", COUNT),
            needed("name", Kind::Text),
            needed("qualified_name", Kind::Text),
            needed("kind", Kind::Checked(is_symbol_kind)),
            optional("parent", COUNT),
            needed("first_line", COUNT),
            needed("last_line", COUNT),
            needed("start", COUNT),
            needed("length", COUNT),
            needed("signature", Kind::Text),
        ]
    ),
    stored!(
        "code_references",
        READ_CODE_REFERENCES,
        INSERT_CODE_REFERENCES,
        Some(&sql::DELETE_CODE_REFERENCES),
        [needed("memory", Kind::Id), needed("packed", Kind::CheckedBytes(references::is_readable)),]
    ),
];

/// What belongs to a workspace as a whole.
pub(crate) static LAST_TABLES: &[Table] = &[
    stored!(
        "retention",
        READ_RETENTION,
        INSERT_RETENTION,
        Some(&sql::DELETE_RETENTION),
        [
            needed("scope", Kind::Text),
            needed("target", Kind::Text),
            needed("policy", Kind::Checked(is_json::<RetentionPolicy>)),
            needed("set_by", Kind::Text),
            needed("set_at", Kind::Integer),
        ]
    ),
    // The ledger is merged, never emptied.
    stored!(
        "erasures",
        READ_ERASURES,
        INSERT_ERASURES,
        None,
        [
            needed("erasure", Kind::Id),
            needed("at", Kind::Integer),
            needed("actor", Kind::Text),
            needed("cause", Kind::Text),
            optional("run", Kind::Id),
        ]
    ),
    stored!(
        "erased_contents",
        READ_ERASED_CONTENTS,
        INSERT_ERASED_CONTENTS,
        None,
        [needed("content_hash", Kind::Bytes), needed("memory", Kind::Id), needed("erasure", Kind::Id),]
    ),
    Table { name: "search_memories", columns: SEARCH_COLUMNS, rows: Rows::Search(SearchIndex::Memories) },
    Table { name: "search_entities", columns: SEARCH_COLUMNS, rows: Rows::Search(SearchIndex::Entities) },
    Table { name: "search_code", columns: SEARCH_COLUMNS, rows: Rows::Search(SearchIndex::Code) },
    Table { name: "search_stash", columns: SEARCH_COLUMNS, rows: Rows::Search(SearchIndex::Stash) },
];

const SEARCH_COLUMNS: &[Column] = &[needed("key", COUNT), needed("head", Kind::Text), needed("body", Kind::Text)];

/// All tables but the workspaces, each after those it refers to.
pub(crate) fn in_workspace() -> impl DoubleEndedIterator<Item = &'static Table> {
    let of_kinds = KINDS.iter().flat_map(|kind| kind.tables());
    RUN_TABLES.iter().chain(of_kinds).chain(LAST_TABLES)
}

/// Workspaces first, then everything in them.
pub(crate) fn all() -> impl Iterator<Item = &'static Table> {
    std::iter::once(&WORKSPACES).chain(in_workspace())
}

pub(crate) fn by_name(name: &str) -> Option<&'static Table> {
    all().find(|table| table.name == name)
}

fn is_workspace_id(text: &str) -> bool {
    rootset_model::names::check_workspace_id(text).is_ok()
}

fn is_status(text: &str) -> bool {
    matches!(text, "pending" | "complete")
}

fn is_symbol_kind(text: &str) -> bool {
    SymbolKind::from_stored(text).is_some()
}

fn is_segment_type(text: &str) -> bool {
    stored_type(text).is_ok()
}

fn is_segment_state(text: &str) -> bool {
    stored_state(text).is_ok()
}

fn is_ledger_action(text: &str) -> bool {
    LedgerAction::from_stored(text).is_some()
}

fn is_json<T: serde::de::DeserializeOwned>(text: &str) -> bool {
    serde_json::from_str::<T>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns that are no part of a backup, with the reason.
    const LEFT_OUT: [(&str, &str); 8] = [
        ("workspaces.next_number", "counters only ever grow"),
        ("workspaces.next_chunk", "counters only ever grow"),
        ("workspaces.next_session", "counters only ever grow"),
        ("workspaces.next_segment", "counters only ever grow"),
        ("workspaces.memory_count", "counted anew"),
        ("workspaces.content_bytes", "counted anew"),
        ("vectors.number", "drawn anew"),
        ("*.workspace", "named, not numbered"),
    ];
    /// What belongs to the database and not to what it remembers; tokens, because a restore must not revive a revoked one.
    const TABLES_LEFT_OUT: [&str; 10] =
        ["audit", "counters", "jobs", "kept_counters", "meta", "plan_items", "plans", "run_skips", "sources", "tokens"];

    #[test]
    fn every_column_of_the_schema_is_in_a_backup_or_left_out_for_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        crate::Store::open_sqlite(&path).unwrap();
        let connection = rusqlite::Connection::open(path).unwrap();
        let mut names = connection
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
            .unwrap();
        let names: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        for name in names.iter().filter(|name| !TABLES_LEFT_OUT.contains(&name.as_str())) {
            let table = by_name(name).unwrap_or_else(|| panic!("`{name}` is in no backup"));
            let mut columns = connection.prepare(&format!("SELECT name FROM pragma_table_info('{name}')")).unwrap();
            let columns: Vec<String> = columns.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
            let is_left_out = |column: &str| {
                let known = [format!("{name}.{column}"), format!("*.{column}")];
                let is_named = LEFT_OUT.iter().any(|(left_out, _)| known.iter().any(|it| it == left_out));
                is_named && format!("{name}.{column}") != "workspaces.workspace"
            };
            let wanted: Vec<&str> = columns.iter().map(String::as_str).filter(|it| !is_left_out(it)).collect();
            let mut held: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
            let mut sorted = wanted.clone();
            sorted.sort_unstable();
            held.sort_unstable();
            assert_eq!(held, sorted, "{name}");
        }
    }
}
