//! Tests that walk every statement: look-ups use indexes, whatever the data.
//!
//! Here the plans of SQLite; those of PostgreSQL, and that no statement mixes workspaces, in the modules below.

#[cfg(feature = "postgres")]
mod postgres;
mod sealing;
mod tied;

use std::collections::BTreeMap;

use crate::backup::tables::{self, Rows};
use crate::driver::Statement;
use crate::statements;

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

/// Whether a statement says why it scans, or is of those that do so by their nature.
fn may_scan(statement: &Statement) -> bool {
    let of_tables = tables::in_workspace().filter_map(|table| match &table.rows {
        Rows::Stored { read, delete, .. } => Some([Some(*read), *delete]),
        _ => None,
    });
    // Backups read whole workspaces, restores empty and count them.
    statement.name.starts_with("backup.")
        || of_tables.flatten().flatten().any(|it| it.name == statement.name)
        || statement.scans.is_some()
        || WHOLE_WORKSPACE.contains(&statement.name)
        || ORDERED_PAGES.contains(&statement.name)
}

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
        let allowed = may_scan(statement);
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
    for name in WHOLE_WORKSPACE.iter().chain(ORDERED_PAGES) {
        assert!(all.contains(name), "{name}");
    }
}
