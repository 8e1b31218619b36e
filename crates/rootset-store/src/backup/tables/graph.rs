//! The graph, who contributes to it and what imports brought, as rows of a backup.

use super::{COUNT, FLAG, Kind, Rows, Table, needed, optional};
use crate::statements::{backup as sql, purge};

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
