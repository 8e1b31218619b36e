//! Tests that walk every statement: look-ups use indexes, whatever the data.
//!
//! Here the plans of SQLite; those of PostgreSQL, and what a sharded one can route, in the modules below.

#[cfg(feature = "postgres")]
mod postgres;
mod routing;

use std::collections::BTreeMap;

use crate::driver::Statement;
use crate::statements;

/// Statements that read a whole workspace or table on purpose, with the reason.
const SCANS_ALLOWED: &[(&str, &str)] = &[
    ("audit.chain", "doctor reads a chain from its beginning"),
    ("code.files", "a scan compares every file of its repository"),
    ("code.repos", "repositories are few; their files are counted"),
    ("context.all_segments", "purge of a whole workspace, in batches"),
    ("context.forget_by_filters", "a forget by filters looks at every segment"),
    ("context.forget_by_words", "only what was stashed is in an index"),
    ("context.session_count", "a list counts what it pages through"),
    ("doctor.broken_contexts", "doctor"),
    ("doctor.chunk_keys", "doctor"),
    ("doctor.code_chunk_keys", "doctor"),
    ("doctor.code_without_file", "doctor"),
    ("doctor.delete_stray_files", "doctor"),
    ("doctor.delete_stray_references", "doctor"),
    ("doctor.delete_stray_symbols", "doctor"),
    ("doctor.delete_stray_lines", "doctor"),
    ("doctor.delete_stray_texts", "doctor"),
    ("doctor.files_without_memory", "doctor"),
    ("doctor.indexed_segments", "doctor"),
    ("doctor.forget_extraction", "doctor"),
    ("doctor.incomplete_files", "doctor"),
    ("doctor.restore_files", "doctor"),
    ("doctor.chunks_without_memory", "doctor"),
    ("doctor.contributions_without_memory", "doctor"),
    ("doctor.contributions_without_object", "doctor"),
    ("doctor.counters", "doctor"),
    ("doctor.entity_numbers", "doctor"),
    ("doctor.memories_without_chunks", "doctor"),
    ("doctor.memories_without_revision", "doctor"),
    ("doctor.objects_without_contributor", "doctor"),
    ("doctor.pending_without_job", "doctor"),
    ("doctor.broken_memories", "doctor"),
    ("doctor.delete_stray_originals", "doctor"),
    ("doctor.delete_stray_vectors", "doctor"),
    ("doctor.duplicates", "doctor"),
    ("doctor.pending_without_a_job", "doctor"),
    ("doctor.recount_sources", "doctor"),
    ("doctor.recount_workspace", "doctor"),
    ("doctor.runs_without_audit", "doctor"),
    ("doctor.trash_without_run", "doctor"),
    ("doctor.relations_with_unvouched_ends", "doctor"),
    ("doctor.relations_without_ends", "doctor"),
    ("doctor.rows_without_workspace", "doctor"),
    ("doctor.untracked_without_object", "doctor"),
    ("doctor.vectors_without_chunk", "doctor"),
    ("forget.by_filters", "a forget by filters looks at every memory"),
    ("forget.earlier_revisions", "earlier revisions are in no index"),
    ("forget.with_unindexed_words", "metadata and tags are in no index"),
    ("garbage.all_roots", "retention ranks every memory of its bucket"),
    ("garbage.bucket_totals", "a report counts every memory"),
    ("garbage.chunk_owners", "orphans are found by comparing whole indexes"),
    ("garbage.contributors", "orphans are found by comparing whole indexes"),
    ("garbage.entity_ids", "orphans are found by comparing whole indexes"),
    ("garbage.memory_ids", "orphans are found by comparing whole indexes"),
    ("garbage.relation_ids", "orphans are found by comparing whole indexes"),
    ("garbage.untracked_objects", "orphans are found by comparing whole indexes"),
    ("garbage.dated_roots", "only stale files are in that index"),
    ("graph.all_entities", "export"),
    ("graph.all_relations", "export"),
    ("graph.all_untracked_entities", "forget looks at every imported row"),
    ("housekeeping.old_plans", "plans are few: once a day they are all looked at"),
    ("memories.list_count", "a list counts what it pages through"),
    ("memories.list_by_uses_ascending", "uses are not indexed: written often, ordered by seldom"),
    ("memories.list_by_uses_descending", "uses are not indexed: written often, ordered by seldom"),
    ("purge.all_memories", "purge of a whole workspace, in batches"),
    ("retention.all", "one row per policy"),
    ("stats.memories_by_source", "one row per source"),
    ("stats.pending_by_source", "counts"),
    ("stats.trashed_by_source", "counts"),
    ("stats.row_counts", "counts"),
    ("status.chunk_count", "counts"),
    ("status.context_counts", "counts"),
    ("status.counts", "counts"),
    ("symbols.filtered_chunks", "files are few beside the chunks that were found in vain"),
    ("tokens.any_living", "tokens are few; asked when a server starts"),
    ("tokens.count", "a list counts what it pages through"),
    ("tokens.list", "tokens are few, newest first"),
    ("vectors.chunks_without", "a change of model visits every chunk once"),
    ("workspaces.activity", "counts what is in the trash"),
    ("workspaces.all", "housekeeping visits every workspace"),
    ("workspaces.keys", "doctor visits every workspace"),
    ("workspaces.last_write_at", "asked when a scheduler starts, and before a database is rebuilt"),
    ("workspaces.list", "lists every workspace"),
    ("workspaces.names", "suggests the nearest name"),
];

/// Statements that delete everything of a workspace: there is nothing to look up.
const WHOLE_WORKSPACE: &[&str] = &[
    "purge.delete_entities",
    "purge.delete_jobs",
    "purge.delete_plan_items",
    "purge.delete_plans",
    "purge.delete_relations",
    "purge.delete_sources",
    "purge.delete_untracked",
    "retention.delete_all",
    "workspaces.delete",
];

/// Ordered pages walk an index of the workspace and stop at their limit.
const ORDERED_PAGES: &[&str] = &[
    "context.ledger",
    "context.list_sessions",
    "context.stash_page",
    "memories.list_by_created_ascending",
    "memories.list_by_created_descending",
    "memories.list_by_updated_ascending",
    "memories.list_by_updated_descending",
    "memories.recent_pinned",
    "memories.recent_unpinned",
    "runs.recent_stashes",
    "runs.recent_undoable",
    "runs.trash",
    "runs.trash_count",
    "status.last_runs",
];

fn connection() -> (tempfile::TempDir, rusqlite::Connection) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("x.db");
    crate::Store::open_sqlite(&path).expect("a new database");
    let connection = rusqlite::Connection::open(path).expect("the same file");
    rusqlite::vtab::array::load_module(&connection).expect("the module loads");
    (folder, connection)
}

fn plan_of(connection: &rusqlite::Connection, statement: &Statement) -> Vec<String> {
    let mut explain = connection
        .prepare(&format!("EXPLAIN QUERY PLAN {}", statement.sqlite))
        .unwrap_or_else(|error| panic!("{}: {error}", statement.name));
    let count = explain.parameter_count();
    let rows = explain
        .query_map(rusqlite::params_from_iter(vec![rusqlite::types::Null; count]), |row| row.get::<_, String>(3))
        .expect("a plan");
    rows.collect::<Result<_, _>>().expect("a plan")
}

/// A table is read whole, or all of it that belongs to one workspace.
fn is_scan(step: &str) -> bool {
    let is_list = step.contains("rarray");
    let is_derived_table = ["SCAN o", "SCAN t", "SCAN (", "SCAN CONSTANT"].iter().any(|it| step.starts_with(it));
    let scans = step.starts_with("SCAN") && !is_list && !is_derived_table;
    scans || step.ends_with("(workspace=?)")
}

#[test]
fn lookups_never_scan_a_table_or_a_workspace() {
    let (_folder, connection) = connection();
    let mut offenders: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for statement in statements::ALL {
        // Backups read whole workspaces, restores empty and count them.
        let allowed = statement.name.starts_with("backup.")
            || SCANS_ALLOWED.iter().any(|(name, _)| *name == statement.name)
            || WHOLE_WORKSPACE.contains(&statement.name)
            || ORDERED_PAGES.contains(&statement.name);
        let scans: Vec<String> = plan_of(&connection, statement).into_iter().filter(|step| is_scan(step)).collect();
        if !allowed && !scans.is_empty() {
            offenders.insert(statement.name, scans);
        }
    }
    assert!(offenders.is_empty(), "statements that scan: {offenders:#?}");
}

#[test]
fn ordered_pages_walk_an_index_instead_of_sorting() {
    let (_folder, connection) = connection();
    let walks = |name: &&&str| name.starts_with("memories.") || name.starts_with("context.");
    for name in ORDERED_PAGES.iter().filter(walks) {
        let statement = statements::ALL.iter().find(|it| it.name == *name).expect("a statement of that name");
        let plan = plan_of(&connection, statement);
        assert!(!plan.iter().any(|step| step.contains("USE TEMP B-TREE FOR ORDER BY")), "{name}: {plan:#?}");
    }
}

#[test]
fn a_scan_learns_what_is_away_without_looking_at_every_file() {
    let (_folder, connection) = connection();
    for statement in [&statements::code::AWAY, &statements::code::STALE_COUNT] {
        let plan = plan_of(&connection, statement);
        let is_covered = plan.iter().any(|step| step.contains("USING COVERING INDEX memories_away"));
        assert!(is_covered && plan.len() == 1, "{}: {plan:#?}", statement.name);
    }
}

#[test]
fn a_session_is_read_in_one_stretch_and_caught_up_with_by_its_versions() {
    let (_folder, connection) = connection();
    for (statement, wanted) in [
        (&statements::context::SEGMENTS, "SEARCH segments USING PRIMARY KEY (workspace=? AND session=?)"),
        (
            &statements::context::SEGMENTS_SINCE,
            "SEARCH segments USING INDEX segments_version (workspace=? AND session=? AND version>?)",
        ),
    ] {
        assert_eq!(plan_of(&connection, statement), [wanted], "{}", statement.name);
    }
    let counts = plan_of(&connection, &statements::context::COUNTS_OF_SESSIONS);
    assert!(counts[0].contains("USING COVERING INDEX segments_version"), "{counts:#?}");
}

#[test]
fn every_exception_names_a_statement_that_exists() {
    let all: Vec<&str> = statements::ALL.iter().map(|it| it.name).collect();
    let exceptions = SCANS_ALLOWED.iter().map(|(name, _)| name).chain(WHOLE_WORKSPACE).chain(ORDERED_PAGES);
    for name in exceptions {
        assert!(all.contains(name), "{name}");
    }
}
