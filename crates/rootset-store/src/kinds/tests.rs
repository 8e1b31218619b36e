//! What has to hold of every kind in the list, whichever that is.

use std::collections::HashSet;

use rootset_gc::Skip;
use rootset_model::plan::{Action, ItemKind, PlanItem, Reason};
use rootset_model::{ErasureId, Limits, PlanId, RetentionPolicy, RunId, Timestamp};

use super::{KINDS, Kind};
use crate::statements::{doctor, housekeeping, runs};
use crate::{ApplyOptions, NewPlan, NewWorkspace, PurgeTarget, Stamp, Store};

const STAMP: Stamp<'static> = Stamp { now: Timestamp(1_000), actor: "test", origin: None, way: None };

#[test]
fn every_word_belongs_to_one_kind_of_root_or_to_derived_rows() {
    for is_derived in [false, true] {
        let mut seen = HashSet::new();
        for kind in KINDS.iter().filter(|kind| kind.is_derived() == is_derived) {
            assert!(!kind.names().is_empty());
            assert!(kind.names().iter().all(|name| seen.insert(*name)), "{:?} twice", kind.names());
        }
    }
}

#[test]
fn an_item_of_any_kind_that_is_gone_is_planned_shown_skipped_and_harms_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_sqlite(&folder.path().join("x.db")).unwrap();
    let new = NewWorkspace { id: "empty".into(), ..NewWorkspace::default() };
    let workspace = store.create_workspace(&new, STAMP).unwrap();
    // The workspace is there: it is the one that the plan is about.
    let kinds = KINDS.iter().filter(|kind| !kind.names().contains(&ItemKind::WORKSPACE));
    let of_kind = |kind: &&dyn Kind| {
        let action = if kind.is_derived() { Action::Reclaim } else { Action::Trash };
        let item = |name: &ItemKind| PlanItem {
            kind: *name,
            object: [0xEE; 16],
            revision: 0,
            version: 1,
            action,
            reason: Reason::MATCHED,
        };
        kind.names().iter().map(item).collect::<Vec<_>>()
    };
    let plan = NewPlan {
        id: PlanId([1; 16]),
        policy: "{}".into(),
        items: kinds.flat_map(of_kind).collect(),
        erases: false,
        include_pinned: false,
        is_named: false,
        marker: None,
    };
    let preview = store.store_plan(&workspace, &plan, &Limits::default(), STAMP).unwrap();
    assert_eq!(preview.items.len(), plan.items.len());
    let options = ApplyOptions {
        exclude: &[],
        allow_large: false,
        confirm: false,
        limits: &Limits::default(),
        grace_ms: 1_000_000,
        run: RunId([2; 16]),
        erasure: ErasureId([3; 16]),
        configured: RetentionPolicy::default(),
        time_limit_ms: None,
        clock: &|| STAMP.now,
        terms: &|_| String::new(),
        choices: &[],
        remains: &Default::default(),
    };
    let applied = store.apply_plan(&workspace, plan.id, &options, STAMP.actor).unwrap();
    assert!(applied.run.counts.taken.is_nothing() && applied.run.counts.reclaimed.is_nothing());
    assert_eq!(applied.skipped.count, plan.items.len() as i64);
    assert!(applied.skipped.first.iter().all(|(_, reason)| *reason == Skip::Gone));
    let receipt = store.purge(&workspace, PurgeTarget::Run(applied.run.id), ErasureId([4; 16]), STAMP).unwrap();
    assert!(receipt.rows.is_nothing());
    assert!(store.undo_run(&workspace, applied.run.id, STAMP).unwrap().restored.is_nothing());
    assert!(store.check().unwrap().iter().all(crate::Check::is_ok));
}

#[test]
fn every_table_with_a_trash_is_in_the_statements_that_ask_about_all_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    Store::open_sqlite(&path).unwrap();
    let connection = rusqlite::Connection::open(path).unwrap();
    let mut with_trash = connection
        .prepare(
            "SELECT t.name FROM sqlite_schema t, pragma_table_info(t.name) c
             WHERE t.type = 'table' AND c.name = 'trashed_run' AND t.name <> 'workspaces'",
        )
        .unwrap();
    let tables: Vec<String> = with_trash.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(tables.len() >= 5, "{tables:?}");
    for statement in
        [&runs::RUNS_WITH_TRASH_BEFORE, &runs::TRASH, &housekeeping::RUNS_PAST_GRACE, &doctor::TRASH_WITHOUT_RUN]
    {
        for table in &tables {
            assert!(statement.sqlite.contains(&format!("FROM {table}")), "{} forgets {table}", statement.name);
        }
    }
}
