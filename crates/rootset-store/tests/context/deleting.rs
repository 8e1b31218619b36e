//! Deleting what is named, undoing it, plans of an analysis.

use rootset_gc::Skip;
use rootset_gc::context::SegmentState::{Active, Deleted, Stashed};
use rootset_model::plan::{Action, ItemKind, PlanItem, Reason};
use rootset_model::{Limits, PlanId, RetentionPolicy, SegmentKey, Timestamp};
use rootset_store::{ApplyOptions, LedgerAction, NewPlan, NewSegmentRow, SegmentItem, SegmentRow, StoreError};

use crate::harness::{World, nothing, segment};

#[test]
fn a_deleted_segment_is_gone_from_its_window_and_an_undo_brings_it_back_to_its_place() {
    let world = World::new();
    world.add("one", vec![segment("a", "1"), segment("b", "2"), segment("c", "3")]);
    world.stash("one", "c");
    let known = world.load("one").head;
    let deletion = world.delete("one", &["b", "c"]);
    assert_eq!((deletion.deleted.len(), deletion.skipped.len()), (2, 0));
    assert_eq!((deletion.run.counts.taken.get("segments"), deletion.run.operation.as_str()), (2, "context_gc_prune"));
    let states = |b, c| [("a".to_owned(), Active), ("b".to_owned(), b), ("c".to_owned(), c)];
    assert_eq!(world.states("one"), states(Deleted, Deleted));
    let changed = world.store.load_session(&world.workspace, "one", Some(known)).unwrap().unwrap();
    assert_eq!(changed.segments.iter().map(|row| row.state).collect::<Vec<_>>(), [Deleted, Deleted]);
    assert_eq!(changed.head.epoch, known.epoch);

    let (lines, total) = world.store.ledger(&world.workspace, known.session, 0, 10).unwrap();
    let lines: Vec<_> = lines.iter().map(|it| (it.seq, it.action, it.segment_id.as_deref().unwrap())).collect();
    let wanted = [(3, LedgerAction::Delete, "c"), (2, LedgerAction::Delete, "b"), (1, LedgerAction::Stash, "c")];
    assert_eq!((lines.as_slice(), total), (wanted.as_slice(), 3));

    let undone = world.store.undo_run(&world.workspace, deletion.run.id, world.stamp()).unwrap();
    assert_eq!((undone.restored.get("segments"), undone.conflicts.len()), (2, 0));
    assert_eq!(world.states("one"), states(Active, Stashed));
    let head = world.load("one").head;
    assert!(head.epoch > known.epoch && head.version > changed.head.version, "{head:?}");
    let again = world.store.undo_run(&world.workspace, deletion.run.id, world.stamp());
    assert!(matches!(again, Err(StoreError::RunNotUndoable { .. })), "{again:?}");
    assert_eq!(world.broken(), Vec::<&str>::new());
}

#[test]
fn what_is_pinned_gone_or_changed_is_skipped_and_the_rest_goes() {
    let world = World::new();
    let call = |id: &str, pinned| {
        let new = segment(id, "x");
        let row = SegmentRow { tool_call_id: Some("call".into()), is_pinned: pinned, ..new.row };
        NewSegmentRow { row, ..new }
    };
    world.add("one", vec![segment("good", "1"), segment("changed", "2"), call("half", false), call("pinned", true)]);
    let loaded = world.load("one");
    let item = |segment, version| (segment, version, Action::Trash, Reason::NAMED);
    let mut named: Vec<SegmentItem> = loaded.segments.iter().map(|row| item(row.segment, row.version)).collect();
    named[1].1 -= 1;
    named.push(item(99, 1));
    named.push(named[0]);
    let deletion = world.try_prune(loaded.head, &named, world.ids()).unwrap();
    assert_eq!(deletion.deleted, [named[0].0]);
    let reasons: Vec<Skip> = deletion.skipped.iter().map(|(_, skip)| *skip).collect();
    assert_eq!(reasons, [Skip::Changed, Skip::Pinned, Skip::Pinned, Skip::Gone], "a pin holds the other half, too");
}

#[test]
fn a_deletion_on_top_of_an_old_version_is_refused() {
    let world = World::new();
    world.add_text("one", "a", "1");
    let old = world.load("one");
    world.add_text("one", "b", "2");
    let named = [(old.segments[0].segment, old.segments[0].version, Action::Trash, Reason::NAMED)];
    let refused = world.try_prune(old.head, &named, world.ids());
    assert!(matches!(refused, Err(StoreError::SessionChanged { .. })), "{refused:?}");
    assert_eq!((world.count("runs"), world.count("plans")), (0, 0));
}

#[test]
fn a_deleted_session_keeps_its_name_until_it_is_purged_or_comes_back() {
    let world = World::new();
    world.add("one", vec![segment("a", "1"), segment("b", "2")]);
    world.pin("one", "a");
    world.stash("one", "b");
    let before = world.load("one");
    let run = world.delete_session("one");
    let is_trashed = |error: Option<StoreError>| matches!(error, Some(StoreError::SessionTrashed { .. }));
    assert!(is_trashed(world.try_load("one").err()));
    let change = world.store.change_session(&world.workspace, &nothing("one", None), world.stamp());
    assert!(is_trashed(change.err()));
    let change = world.store.change_session(&world.workspace, &nothing("one", Some(before.head)), world.stamp());
    assert!(is_trashed(change.err()));
    let again = world.store.delete_session(&world.workspace, "one", world.ids(), 1_000, world.stamp());
    assert!(is_trashed(again.err()));
    let unknown = world.store.delete_session(&world.workspace, "two", world.ids(), 1_000, world.stamp());
    assert!(matches!(unknown, Err(StoreError::SessionNotFound(name)) if name == "two"));
    let undone = world.store.undo_run(&world.workspace, run, world.stamp()).unwrap();
    assert_eq!(undone.restored.get("sessions"), 1);
    let after = world.load("one");
    assert_eq!(after.segments, before.segments);
    assert!(after.head.epoch > before.head.epoch && after.head.version > before.head.version);
    world.purge(world.delete_session("one"));
    assert_eq!(world.try_load("one").unwrap(), None);
    assert_eq!(world.broken(), Vec::<&str>::new());
}

#[test]
fn the_trash_names_segments_and_sessions_and_explains_them() {
    let world = World::new();
    world.add("one", vec![segment("a", "1"), segment("b", "2")]);
    world.add_text("two", "c", "3");
    let living = world.row("one", "b");
    world.stash("one", "b");
    world.delete("one", &["a"]);
    world.delete_session("two");
    let (items, total) = world.store.list_trash(&world.workspace, 0, 10).unwrap();
    let shown: Vec<_> =
        items.iter().map(|it| (it.kind.as_str(), it.name.as_deref().unwrap(), it.topic.as_deref())).collect();
    assert_eq!((shown.as_slice(), total), ([("session", "two", None), ("segment", "a", Some("one"))].as_slice(), 2));
    let explain = |id: &str| {
        let policy = RetentionPolicy::default();
        let found = world.store.explain(&world.workspace, id, policy, Timestamp(world.now.get())).unwrap();
        (found.kind, found.is_alive, found.reason)
    };
    let (kind, is_alive, reason) = explain(&items[0].id);
    assert_eq!((kind, is_alive), ("session", false));
    assert!(reason.contains("context_delete_session of test"), "{reason}");
    let (kind, is_alive, reason) = explain(&items[1].id);
    assert_eq!((kind, is_alive), ("segment", false));
    assert!(reason.contains("context_gc_prune of test"), "{reason}");
    let (kind, is_alive, reason) = explain(&SegmentKey(living.segment).external().to_string());
    assert_eq!((kind, is_alive), ("segment", true));
    assert!(reason.contains("stash"), "{reason}");
    let (status, stats) = (
        world.store.status(&world.workspace, 10, Timestamp(world.now.get())).unwrap(),
        world.store.stats(&world.workspace).unwrap(),
    );
    assert_eq!((status.live.get("sessions"), status.live.get("segments")), (1, 1));
    let trashed = (status.trashed.get("sessions"), status.trashed.get("segments"));
    assert_eq!((trashed, status.trash_bytes), ((1, 1), 2));
    assert_eq!(status.oldest_trash_at, Some(items[1].trashed_at));
    assert_eq!((stats.sessions, stats.segments, stats.stashed), (2, 3, 1));
}

fn item(row: &SegmentRow, action: Action, reason: Reason) -> PlanItem {
    let object = SegmentKey(row.segment).object();
    PlanItem { kind: ItemKind::SEGMENT, object, revision: 0, version: row.version, action, reason }
}

fn plan(world: &World, items: Vec<PlanItem>) -> NewPlan {
    let session = world.load("one").head.session;
    NewPlan {
        id: PlanId(world.id()),
        policy: format!(r#"{{"operation":"context_gc_analyze","session":{session}}}"#),
        items,
        erases: false,
        include_pinned: false,
        is_named: false,
        marker: None,
    }
}

#[test]
fn a_plan_of_an_analysis_is_kept_shown_and_applied_in_one_run() {
    let world = World::new();
    world.add("one", vec![segment("a", "12"), segment("b", "2")]);
    let (a, b) = (world.row("one", "a"), world.row("one", "b"));
    let new = plan(&world, vec![item(&a, Action::Stash, Reason::COLD), item(&b, Action::Trash, Reason::STASHED_LONG)]);
    let stamp = world.stamp();
    let expires_at = world.store.store_segment_plan(&world.workspace, &new, stamp).unwrap();
    let (session, items) = world.store.segment_plan(&world.workspace, new.id, stamp.now).unwrap();
    assert_eq!(session, world.load("one").head.session);
    let wanted = [
        (a.segment, a.version, Action::Stash, Reason::COLD),
        (b.segment, b.version, Action::Trash, Reason::STASHED_LONG),
    ];
    assert_eq!(items, wanted);
    let late = world.store.segment_plan(&world.workspace, new.id, Timestamp(expires_at.0 + 1));
    assert!(matches!(late, Err(StoreError::PlanExpired { .. })), "{late:?}");
    let unknown = world.store.segment_plan(&world.workspace, PlanId([0; 16]), stamp.now);
    assert!(matches!(unknown, Err(StoreError::PlanNotFound(_))), "{unknown:?}");

    let view = world.store.plan(&world.workspace, new.id, &Limits::default(), 0, 10).unwrap();
    let shown: Vec<_> =
        view.items.iter().map(|it| (it.name.as_deref().unwrap(), it.topic.as_deref().unwrap())).collect();
    assert_eq!(shown, [("a", "one"), ("b", "one")]);
    assert_eq!((view.totals.counts.get("segments"), view.totals.counts.get("bytes")), (2, 3));
    let applied = apply(&world, new.id).unwrap().run;
    assert_eq!(applied.counts.taken.in_words(), "1 segment, 1 stashed");
    assert_eq!((world.count("runs"), applied.undo_until.is_some()), (1, true));
    assert_eq!(world.row("one", "a").state, Stashed);
    assert_eq!(world.store.stashing_runs(&world.workspace, 10).unwrap().len(), 1);
    assert_eq!(world.store.undoable_runs(&world.workspace, 10).unwrap().len(), 1);
}

#[test]
fn a_stash_is_a_run_that_undo_takes_back_and_no_grace_ends() {
    let world = World::new();
    world.add("one", vec![segment("a", "zebra"), segment("b", "2")]);
    let pruned = world.prune("one", &["a"], Action::Stash);
    assert_eq!((pruned.stashed.len(), pruned.deleted.len()), (1, 0));
    assert_eq!((pruned.run.counts.taken.in_words().as_str(), pruned.run.undo_until), ("1 stashed", None));
    assert_eq!(world.found(&["zebra"]), ["a"]);
    assert!(world.store.undoable_runs(&world.workspace, 10).unwrap().is_empty(), "it is no deletion");
    assert_eq!(world.store.stashing_runs(&world.workspace, 10).unwrap()[0].id, pruned.run.id);
    let before = world.load("one").head;

    let undone = world.store.undo_run(&world.workspace, pruned.run.id, world.stamp()).unwrap();
    assert_eq!(undone.restored.in_words(), "1 segment");
    assert_eq!(world.row("one", "a").state, Active);
    assert!(world.load("one").head.epoch > before.epoch, "a window in memory is loaded again");
    assert!(world.found(&["zebra"]).is_empty());
    assert!(world.store.stashing_runs(&world.workspace, 10).unwrap().is_empty());
}

#[test]
fn what_was_restored_and_stashed_again_since_is_not_the_first_runs_to_undo() {
    let world = World::new();
    world.add("one", vec![segment("a", "1"), segment("b", "2")]);
    let first = world.prune("one", &["a"], Action::Stash).run.id;
    world.store.undo_run(&world.workspace, first, world.stamp()).unwrap();
    let second = world.prune("one", &["a"], Action::Stash);
    let refused = world.store.undo_run(&world.workspace, first, world.stamp());
    assert!(matches!(refused, Err(StoreError::RunNotUndoable { .. })), "{refused:?}");
    assert_eq!(world.row("one", "a").state, Stashed);
    world.store.undo_run(&world.workspace, second.run.id, world.stamp()).unwrap();
    assert_eq!(world.row("one", "a").state, Active);
}

fn apply(world: &World, plan: PlanId) -> Result<rootset_store::Applied, StoreError> {
    let ids = world.ids();
    let clock = || Timestamp(world.now.get());
    let options = ApplyOptions {
        exclude: &[],
        allow_large: false,
        confirm: false,
        limits: &Limits::default(),
        grace_ms: 1_000,
        run: ids.run,
        erasure: ids.erasure,
        configured: RetentionPolicy::default(),
        time_limit_ms: None,
        clock: &clock,
        terms: &str::to_lowercase,
        choices: &[],
        remains: &Default::default(),
    };
    world.store.apply_plan(&world.workspace, plan, &options, "test")
}
