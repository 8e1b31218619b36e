//! Physical removal, and what remains of it.

use std::sync::Arc;

use rootset_model::{ErasureId, Timestamp};
use rootset_store::driver::SearchIndex;
use rootset_store::{NewSegmentRow, PurgeTarget};
use rootset_testing::TestEngine;

use crate::harness::{World, segment};

const SECRET: &str = "a sentence about the purple heron that nobody else will ever write";

fn secret(id: &str) -> NewSegmentRow {
    NewSegmentRow { raw: Some(format!(r#"{{"content":"{SECRET} in raw"}}"#)), ..segment(id, SECRET) }
}

/// What a purge says that left nothing: only files of our own can be searched.
fn nothing_remains() -> Option<bool> {
    TestEngine::chosen().has_files().then_some(false)
}

/// Whether the words are anywhere in the database.
fn remains(world: &World, words: &str) -> bool {
    !world.database.places_with(words.as_bytes()).is_empty()
}

#[test]
fn a_purge_takes_text_raw_and_full_text_and_leaves_lines_without_content() {
    let world = World::new();
    world.add("one", vec![secret("goes"), segment("stays", "something else")]);
    world.stash("one", "goes");
    let before = world.load("one").head;
    let run = world.delete("one", &["goes"]).run.id;
    assert!(remains(&world, SECRET) && remains(&world, "heron"));
    let receipt = world.purge(run);
    assert_eq!((receipt.rows.get("segments"), receipt.rows.get("sessions")), (1, 0));
    assert_eq!((receipt.text_remains, receipt.log_is_clean), (nothing_remains(), true));
    assert!(receipt.rows.get("bytes") > SECRET.len() as i64);
    assert!(!remains(&world, "purple heron") && !remains(&world, "heron") && !remains(&world, "goes"));
    let after = world.load("one");
    assert_eq!(after.segments.len(), 1);
    assert!(after.head.epoch > before.epoch && after.head.version > before.version);
    let (lines, total) = world.store.ledger(&world.workspace, before.session, 0, 10).unwrap();
    assert_eq!(total, 2);
    assert!(lines.iter().all(|line| line.segment_id.is_none()), "{lines:?}");
    let undo = world.store.undo_run(&world.workspace, run, world.stamp());
    assert!(undo.is_err(), "{undo:?}");
    // The id is free again, the number is not.
    world.add_text("one", "goes", "another");
    assert_eq!(world.broken(), Vec::<&str>::new());
}

#[test]
fn a_purged_session_leaves_no_row_and_no_line() {
    let world = World::new();
    world.add("one", vec![secret("a"), secret("b")]);
    world.stash("one", "a");
    world.delete("one", &["b"]);
    let receipt = world.purge(world.delete_session("one"));
    assert_eq!(
        (receipt.rows.get("segments"), receipt.rows.get("sessions"), receipt.text_remains),
        (2, 1, nothing_remains())
    );
    for table in ["sessions", "segments", "segment_texts", "ledger"] {
        assert_eq!(world.count(table), 0, "{table}");
    }
    assert_eq!(world.sql().search_rows(1, SearchIndex::Stash).unwrap(), []);
    assert!(!remains(&world, "heron"));
    assert_eq!(world.store.stats(&world.workspace).unwrap().content_bytes, 0);
    assert_eq!(world.broken(), Vec::<&str>::new());
}

#[test]
fn trash_is_purged_by_its_age() {
    let mut world = World::new();
    world.add("one", vec![segment("a", "1"), segment("b", "2")]);
    world.add_text("two", "c", "3");
    world.delete("one", &["a"]);
    world.delete_session("two");
    let time = Timestamp(world.now.get());
    world.delete("one", &["b"]);
    let target = PurgeTarget::TrashedBefore(time);
    let receipt = world.store.purge(&world.workspace, target, ErasureId([9; 16]), world.stamp()).unwrap();
    assert_eq!((receipt.rows.get("segments"), receipt.rows.get("sessions")), (2, 1));
    assert_eq!(world.count("segments"), 1);
    let later = Timestamp(world.now.get() + 10_000_000);
    world.store.set_wall(Arc::new(move || later));
    let due = world.store.trash_past_grace(0, later).unwrap();
    assert_eq!(due.len(), 1, "housekeeping knows of segments, too");
}

#[test]
fn a_purge_of_many_segments_goes_in_batches_and_leaves_nothing() {
    let world = World::new();
    let added: Vec<NewSegmentRow> = (0..1_300)
        .map(|number| {
            let mut new = segment(&format!("s{number}"), &format!("{SECRET} number {number}"));
            new.row.state = rootset_gc::context::SegmentState::Stashed;
            new.row.stashed_at = Some(Timestamp(1));
            new
        })
        .collect();
    let added_terms = added.iter().enumerate().map(|(place, new)| (place, new.text.clone())).collect();
    let change = rootset_store::SessionChange { added, added_terms, ..crate::harness::nothing("one", None) };
    world.change(&change);
    let receipt = world.purge(world.delete_session("one"));
    assert_eq!(
        (receipt.rows.get("segments"), receipt.rows.get("sessions"), receipt.text_remains),
        (1_300, 1, nothing_remains())
    );
    assert!(!remains(&world, "heron"));
    assert_eq!(world.broken(), Vec::<&str>::new());
}

#[test]
fn a_purged_workspace_takes_its_sessions_along() {
    let mut world = World::new();
    world.add("one", vec![secret("a")]);
    world.stash("one", "a");
    world.add_text("two", "b", "2");
    let run = world.store.delete_workspace(&world.workspace, world.ids(), 1_000, world.stamp()).unwrap().id;
    world.workspace = world.store.workspace_or_trashed("home").unwrap();
    let receipt = world.purge(run);
    assert_eq!((receipt.rows.get("segments"), receipt.rows.get("sessions"), receipt.rows.get("workspaces")), (2, 2, 1));
    for table in ["sessions", "segments", "segment_texts", "ledger"] {
        assert_eq!(world.count(table), 0, "{table}");
    }
    assert!(!remains(&world, "heron"));
    assert_eq!(world.broken(), Vec::<&str>::new());
}
