//! Workspaces, what every kind of root refers to, and what belongs to a workspace as a whole, as rows of a backup.

use rootset_model::RetentionPolicy;

use super::{CHANNEL, COUNT, Column, FLAG, Kind, Rows, TRUST, Table, is_json, needed, optional};
use crate::driver::SearchIndex;
use crate::purge::Receipt;
use crate::runs::RunCounts;
use crate::statements::backup as sql;

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
        optional("class", Kind::Text),
        optional("person", Kind::Text),
        // The number it had, for the case that it comes back to the same database.
        needed("workspace", COUNT),
    ],
    rows: Rows::Workspaces,
};

/// What every kind of root refers to.
pub(super) static RUN_TABLES: &[Table] = &[stored!(
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
        optional("is_stamp_in_doubt", FLAG),
        optional("drain", Kind::Id),
        optional("channel", CHANNEL),
        optional("trust", TRUST),
    ]
)];

/// What belongs to a workspace as a whole.
pub(super) static LAST_TABLES: &[Table] = &[
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
            optional("shown", COUNT),
        ]
    ),
    stored!(
        "drains",
        READ_DRAINS,
        INSERT_DRAINS,
        Some(&sql::DELETE_DRAINS),
        [
            needed("drain", Kind::Id),
            needed("source", Kind::Text),
            needed("state", Kind::Checked(is_drain_state)),
            needed("policies", Kind::Text),
            needed("found", COUNT),
            needed("total", COUNT),
            needed("announced_at", Kind::Integer),
            needed("begins_at", Kind::Integer),
            optional("ended_at", Kind::Integer),
        ]
    ),
    // What is known of folders is merged: a folder that was linked since the backup stays linked.
    stored!(
        "projects",
        READ_PROJECTS,
        INSERT_PROJECTS,
        None,
        [
            needed("place", Kind::Text),
            needed("path", Kind::Text),
            optional("remote", Kind::Text),
            optional("root_commit", Kind::Text),
            needed("is_linked", FLAG),
            optional("declared", Kind::Checked(is_workspace_id)),
            optional("related", Kind::Checked(is_workspace_id)),
            optional("related_by", Kind::Checked(is_relation)),
            needed("looked_at", Kind::Integer),
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
            optional("class", Kind::Checked(is_ledger_class)),
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

fn is_workspace_id(text: &str) -> bool {
    rootset_model::names::check_workspace_id(text).is_ok()
}

fn is_relation(text: &str) -> bool {
    crate::projects::RelatedBy::from_stored(text).is_some()
}

fn is_drain_state(text: &str) -> bool {
    rootset_gc::drains::DrainState::from_stored(text).is_some()
}

fn is_ledger_class(text: &str) -> bool {
    matches!(text, "erased" | "removed")
}
