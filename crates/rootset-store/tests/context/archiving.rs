//! Sessions in backups: there and back, into another workspace, without what was purged since.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rootset_model::{RetentionPolicy, RunId, Timestamp};
use rootset_store::{
    Backup, BackupKind, Configured, FreshTrash, LedgerUse, NewBackup, NewWorkspace, PersonalOf, RestoreTarget,
    Restored, Restoring, SegmentRow, StoreError, Workspace, salvage,
};

use rootset_testing::TestEngine;

use crate::harness::{World, segment};

/// These tests are about what the database itself knows.
fn restore_into(world: &World, backup: &Backup, target: RestoreTarget<'_>) -> Result<Restored, StoreError> {
    let (ledger, trash) = (LedgerUse::Without, FreshTrash { run: RunId([0xF0; 16]), grace_ms: 1 });
    let room = folder(world);
    world.store.restore_backup(
        backup,
        Restoring { target, ledger, trash, configured: Configured(&|_| RetentionPolicy::default()), room: &room },
        world.stamp(),
    )
}

/// Those that the engine makes.
fn kinds() -> &'static [BackupKind] {
    match TestEngine::chosen() {
        TestEngine::Sqlite => &[BackupKind::Snapshot, BackupKind::Jsonl],
        TestEngine::Postgres => &[BackupKind::Jsonl],
    }
}

fn folder(world: &World) -> PathBuf {
    world.database.folder().join("backups")
}

fn back_up(world: &World, kind: BackupKind) -> Backup {
    let id = format!("20270115-080000-{}", world.id()[0]);
    let new = NewBackup { id: &id, kind, workspace: None };
    world.store.create_backup(&folder(world), &new, world.stamp()).expect("a backup")
}

fn restore(world: &World, backup: &Backup) -> i64 {
    let restored = restore_into(world, backup, RestoreTarget::Database).expect("a restore");
    restored.replayed_erasures
}

fn filled() -> World {
    let world = World::new();
    world.add("one", vec![segment("a", "falcon"), segment("b", "owl"), segment("c", "kite")]);
    world.stash("one", "a");
    world.pin("one", "b");
    world.add_text("two", "d", "heron");
    world.stash("two", "d");
    world
}

/// Rows and words of a session.
fn contents(world: &World, workspace: &Workspace, session: &str) -> Vec<(SegmentRow, String)> {
    let Ok(Some(loaded)) = world.store.load_session(workspace, session, None) else { return Vec::new() };
    let numbers: Vec<i64> = loaded.segments.iter().map(|row| row.segment).collect();
    let texts = world.store.segment_texts(workspace, &numbers).expect("a read");
    loaded.segments.into_iter().zip(texts.into_iter().map(|it| it.text)).collect()
}

fn all(world: &World) -> BTreeMap<&'static str, Vec<(SegmentRow, String)>> {
    ["one", "two"].into_iter().map(|session| (session, contents(world, &world.workspace, session))).collect()
}

#[test]
fn sessions_come_back_as_they_were_under_a_new_epoch() {
    for &kind in kinds() {
        let world = filled();
        let (before, head) = (all(&world), world.head("one").unwrap());
        let backup = back_up(&world, kind);
        world.stash("one", "b");
        let last = world.add_text("one", "e", "later");
        world.delete_session("two");
        assert_eq!(restore(&world, &backup), 0);
        assert_eq!(all(&world), before, "{kind:?}");
        let restored = world.head("one").unwrap();
        assert_eq!((restored.session, restored.version), (head.session, head.version));
        assert!(restored.epoch > head.epoch);
        assert_eq!(world.found(&["falcon"]), ["a"]);
        assert_eq!(world.store.ledger(&world.workspace, head.session, 0, 10).unwrap().1, 1);
        restore(&world, &backup);
        assert!(world.head("one").unwrap().epoch > restored.epoch, "every restore is an epoch of its own");
        assert!(world.add_text("one", "f", "again") > last, "numbers are given once");
        assert_eq!(world.broken(), Vec::<&str>::new());
    }
}

#[test]
fn what_was_purged_since_does_not_come_back() {
    for &kind in kinds() {
        let world = filled();
        let backup = back_up(&world, kind);
        world.purge(world.delete("one", &["a"]).run.id);
        world.purge(world.delete_session("two"));
        assert_eq!(restore(&world, &backup), 3, "a segment, a session and the segment in it");
        let ids: Vec<String> =
            contents(&world, &world.workspace, "one").into_iter().map(|it| it.0.segment_id).collect();
        assert_eq!(ids, ["b", "c"]);
        assert_eq!(world.try_load("two").unwrap(), None);
        assert_eq!(world.found(&["falcon"]), Vec::<String>::new());
        assert_eq!(world.broken(), Vec::<&str>::new());
    }
}

#[test]
fn a_restore_into_another_workspace_knows_the_purges_of_the_first_and_not_its_own() {
    let world = filled();
    let new = NewWorkspace { id: "other".into(), ..NewWorkspace::default() };
    let other = world.store.create_workspace(&new, world.stamp()).unwrap();
    // The other workspace purged segments of its own, which have the numbers of these.
    let change = rootset_store::SessionChange {
        added: vec![segment("x", "1"), segment("y", "2"), segment("z", "3")],
        ..crate::harness::nothing("one", None)
    };
    world.store.change_session(&other, &change, world.stamp()).unwrap();
    let run = world.store.delete_session(&other, "one", world.ids(), 1_000, world.stamp()).unwrap().id;
    let target = rootset_store::PurgeTarget::Run(run);
    world.store.purge(&other, target, rootset_model::ErasureId(world.id()), world.stamp()).unwrap();
    let backup = back_up(&world, BackupKind::Jsonl);
    world.purge(world.delete("one", &["c"]).run.id);
    let target = RestoreTarget::Workspace { id: "home", into: "other", bound: None, personal: PersonalOf::Everybody };
    let restored = restore_into(&world, &backup, target).unwrap();
    assert_eq!(restored.replayed_erasures, 1);
    let ids = |session| -> Vec<String> {
        contents(&world, &other, session).into_iter().map(|(row, _)| row.segment_id).collect()
    };
    assert_eq!((ids("one"), ids("two")), (vec!["a".to_owned(), "b".into()], vec!["d".to_owned()]));
    assert_eq!(world.broken(), Vec::<&str>::new());
}

#[test]
fn a_sqlite_file_that_was_salvaged_brings_sessions_back_and_finds_them_after_a_repair() {
    let world = filled();
    let deleted = world.delete("one", &["c"]).run.id;
    let before = all(&world);
    let salvaged = salvage(
        world.database.location().path().expect("a file"),
        &folder(&world),
        "20270115-080000-salvage",
        Timestamp(1),
    )
    .unwrap();
    assert_eq!((salvaged.damages, salvaged.incomplete), (0, 0));
    let fresh = World::new();
    restore_into(&fresh, &salvaged.backup, RestoreTarget::Database).unwrap();
    assert_eq!(all(&fresh), before);
    assert_eq!(fresh.broken(), ["I8.search_missing"]);
    let missing = fresh.store.unindexed_texts().unwrap();
    fresh.store.repair_search(&missing).unwrap();
    assert_eq!((fresh.broken(), fresh.found(&["heron"])), (Vec::new(), vec!["d".to_owned()]));
    assert_eq!(fresh.store.undo_run(&fresh.workspace, deleted, fresh.stamp()).unwrap().restored.get("segments"), 1);
}

#[test]
fn a_backup_of_a_session_without_its_texts_is_refused() {
    let world = filled();
    world.sql().execute_batch("DELETE FROM segment_texts WHERE segment = 1").unwrap();
    let backup = back_up(&world, BackupKind::Jsonl);
    let refused = restore_into(&world, &backup, RestoreTarget::Database).unwrap_err();
    assert!(refused.to_string().contains("I8.segments"), "{refused}");
}

#[test]
fn the_largest_block_of_a_segment_fits_a_line_of_a_bundle() {
    let world = World::new();
    let raw = format!("\"{}\"", "\\\\".repeat(9 << 20));
    let large = rootset_store::NewSegmentRow { raw: Some(raw.clone()), ..segment("a", "falcon") };
    world.add("one", vec![large]);
    let backup = back_up(&world, BackupKind::Jsonl);
    assert_eq!(restore(&world, &backup), 0);
    let texts = world.store.segment_texts(&world.workspace, &[1]).unwrap();
    assert!(texts[0].raw.as_ref() == Some(&raw));
}
