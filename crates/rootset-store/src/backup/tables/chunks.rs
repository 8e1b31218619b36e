//! What is derived from chunks, and the code index, as rows of a backup.

use rootset_model::code::SymbolKind;

use super::{COUNT, FLAG, Kind, Rows, Table, needed, optional};
use crate::code::references;
use crate::statements::backup as sql;

/// Their numbers are drawn beyond those of all roots.
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
            optional("is_generated", FLAG),
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

fn is_symbol_kind(text: &str) -> bool {
    SymbolKind::from_stored(text).is_some()
}
