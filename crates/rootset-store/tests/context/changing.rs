//! Changing and reading sessions.

use rootset_gc::context::{Lines, SegmentState, SegmentType};
use rootset_model::Timestamp;
use rootset_store::{
    LedgerAction, NewLedgerEntry, NewSegmentRow, SegmentChange, SegmentRow, SessionChange, SessionHead, SessionState,
    StoreError,
};

use crate::harness::{World, nothing, segment, state, unchanged};

#[test]
fn everything_about_a_segment_comes_back_as_it_was_given() {
    let world = World::new();
    let plain = segment("a", "fn main() {}");
    let row = SegmentRow {
        segment_type: SegmentType::Code,
        role: Some("assistant".into()),
        tool_call_id: Some("call_1".into()),
        tokens: u32::MAX,
        created_at: Timestamp(5),
        created_step: 6,
        touched_at: Timestamp(7),
        touched_step: 8,
        is_pinned: true,
        pin_reason: Some("why not".into()),
        is_invariant: true,
        file_path: Some("src/main.rs".into()),
        lines: Some(Lines { first: 1, last: 9 }),
        tags: vec!["x".into(), "y, z".into()],
        topic_id: Some("topic".into()),
        task_id: Some("task".into()),
        references: vec!["b".into()],
        reply_to: Some("c".into()),
        derived_from: Some("d".into()),
        names: vec![0, 7, u64::MAX],
        stash_reason: Some("cold".into()),
        stashed_at: Some(Timestamp(9)),
        state: SegmentState::Stashed,
        entered_collection: 3,
        ..plain.row
    };
    let raw = Some(r#"{"type":"tool_use"}"#.to_owned());
    let added = vec![NewSegmentRow { row: row.clone(), text: plain.text, raw: raw.clone() }, segment("b", "")];
    let change = SessionChange {
        state: SessionState { settings: r#"{"a":1}"#.into(), focus: "{}".into(), collections: 4, next_step: 2 },
        added,
        added_terms: vec![(0, "main".into())],
        ..nothing("one", None)
    };
    let (head, numbers) = world.change(&change);
    let loaded = world.load("one");
    assert_eq!((loaded.head, &loaded.state), (head, &change.state));
    assert_eq!((loaded.created_at, loaded.updated_at), (Timestamp(1_001), Timestamp(1_001)));
    let wanted = SegmentRow { segment: numbers[0], version: 1, written_by: "test".into(), ..row };
    assert_eq!(loaded.segments[0], wanted);
    assert_eq!(loaded.segments[1].segment_id, "b");
    let texts = world.store.segment_texts(&world.workspace, &[numbers[1], numbers[0], 99]).unwrap();
    let texts: Vec<_> = texts.into_iter().map(|it| (it.segment, it.text, it.raw)).collect();
    assert_eq!(texts, [(numbers[1], String::new(), None), (numbers[0], "fn main() {}".into(), raw)]);
    assert_eq!(world.found(&["main"]), ["a"]);
    assert_eq!(world.broken(), Vec::<&str>::new());
}

#[test]
fn whoever_knows_a_version_reads_only_what_changed_since() {
    let world = World::new();
    world.add("one", vec![segment("a", "1"), segment("b", "2"), segment("c", "3")]);
    let known = world.head("one");
    let since = |known| world.store.load_session(&world.workspace, "one", known).unwrap().unwrap();
    assert_eq!(since(known).segments, []);
    world.pin("one", "c");
    world.pin("one", "a");
    world.add_text("one", "d", "4");
    let ids: Vec<_> = since(known).segments.into_iter().map(|it| it.segment_id).collect();
    assert_eq!(ids, ["a", "c", "d"], "in the order of addition");
    let elsewhere = known.map(|known| SessionHead { epoch: known.epoch + 1, ..known });
    assert_eq!(since(elsewhere).segments.len(), 4);
    assert_eq!(since(known.map(|known| SessionHead { session: 77, ..known })).segments.len(), 4);
    assert_eq!(since(None).segments.len(), 4);
}

#[test]
fn a_change_on_top_of_an_old_version_is_refused_and_changes_nothing() {
    let world = World::new();
    world.add_text("one", "a", "1");
    let old = world.head("one");
    // Another process.
    let other = world.database.open();
    let workspace = other.workspace("home").unwrap();
    let theirs = SessionChange { added: vec![segment("b", "2")], ..nothing("one", old) };
    other.change_session(&workspace, &theirs, world.stamp()).unwrap();
    let mine = SessionChange { added: vec![segment("c", "3")], ..nothing("one", old) };
    let refused = world.store.change_session(&world.workspace, &mine, world.stamp());
    assert!(matches!(refused, Err(StoreError::SessionChanged { .. })), "{refused:?}");
    let refused = world.store.change_session(&world.workspace, &nothing("one", None), world.stamp());
    assert!(matches!(refused, Err(StoreError::SessionChanged { .. })), "{refused:?}");
    let refused = world.store.change_session(&world.workspace, &nothing("two", old), world.stamp());
    assert!(matches!(refused, Err(StoreError::SessionChanged { .. })), "{refused:?}");
    let caught_up = world.store.load_session(&world.workspace, "one", old).unwrap().unwrap();
    assert_eq!(caught_up.segments.len(), 1);
    world.change(&SessionChange { known: Some(caught_up.head), ..mine });
    let ids: Vec<_> = world.load("one").segments.into_iter().map(|it| it.segment_id).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert_eq!(world.head("two"), None);
}

#[test]
fn a_change_of_what_is_not_there_leaves_nothing_behind() {
    let world = World::new();
    world.add_text("one", "a", "1");
    let known = world.head("one");
    let foreign = SegmentChange { segment: 99, ..unchanged(&world.row("one", "a")) };
    let change = SessionChange { added: vec![segment("b", "2")], changed: vec![foreign], ..nothing("one", known) };
    let refused = world.store.change_session(&world.workspace, &change, world.stamp());
    assert!(matches!(refused, Err(StoreError::SegmentNotFound { segment: 99 })), "{refused:?}");
    let twice = SessionChange { added: vec![segment("a", "other")], ..nothing("one", known) };
    assert!(world.store.change_session(&world.workspace, &twice, world.stamp()).is_err());
    assert_eq!((world.head("one"), world.count("segment_texts")), (known, 1));
    assert_eq!(world.broken(), Vec::<&str>::new());
}

#[test]
fn the_ledger_is_told_newest_first_and_names_what_was_added_with_it() {
    let world = World::new();
    let numbers = world.add("one", vec![segment("a", "1")]);
    let line = |segment, added, action| NewLedgerEntry { segment, added, action, tokens: 7, reason: "cold".into() };
    let change = SessionChange {
        added: vec![segment("b", "2")],
        ledger: vec![line(Some(numbers[0]), None, LedgerAction::Restore), line(None, Some(0), LedgerAction::Compress)],
        ..nothing("one", world.head("one"))
    };
    let (head, _) = world.change(&change);
    world.stash("one", "a");
    let page = |offset, limit| {
        let (lines, total) = world.store.ledger(&world.workspace, head.session, offset, limit).unwrap();
        let lines: Vec<_> = lines.into_iter().map(|it| (it.seq, it.segment_id.unwrap(), it.action)).collect();
        (lines, total)
    };
    let all = vec![
        (3, "a".to_owned(), LedgerAction::Stash),
        (2, "b".to_owned(), LedgerAction::Compress),
        (1, "a".to_owned(), LedgerAction::Restore),
    ];
    assert_eq!(page(0, 10), (all.clone(), 3));
    assert_eq!(page(1, 1), (all[1..2].to_vec(), 3));
}

#[test]
fn sessions_are_listed_by_their_last_update_with_what_is_in_their_windows() {
    let world = World::new();
    world.add("one", vec![segment("a", "1"), segment("b", "2"), segment("c", "3")]);
    world.add_text("two", "a", "1");
    world.add_text("three", "a", "1");
    world.stash("one", "a");
    world.delete("one", &["b"]);
    world.delete_session("three");
    let (views, total) = world.store.list_sessions(&world.workspace, 0, 10).unwrap();
    let views: Vec<_> = views.into_iter().map(|it| (it.session_id, it.segments, it.stashed, it.tokens)).collect();
    assert_eq!(views, [("one".to_owned(), 1, 1, 10), ("two".to_owned(), 1, 0, 10)]);
    assert_eq!(total, 2);
    let (page, _) = world.store.list_sessions(&world.workspace, 1, 1).unwrap();
    assert_eq!(page[0].session_id, "two");
}

#[test]
fn numbers_are_never_given_twice() {
    let world = World::new();
    let first = world.add("one", vec![segment("a", "1"), segment("b", "2")]);
    let session = world.head("one").unwrap().session;
    world.purge(world.delete_session("one"));
    let again = world.add("one", vec![segment("a", "1")]);
    assert!(again[0] > first[1], "{first:?} {again:?}");
    assert!(world.head("one").unwrap().session > session);
}

#[test]
fn segments_and_the_focus_count_towards_the_quota_of_bytes() {
    let world = World::new();
    let new = rootset_store::NewWorkspace { id: "small".into(), quota_bytes: Some(7), ..Default::default() };
    let small = world.store.create_workspace(&new, world.stamp()).unwrap();
    let change = |text| SessionChange { added: vec![segment("a", text)], ..nothing("one", None) };
    let refused = world.store.change_session(&small, &change("123456"), world.stamp());
    assert!(matches!(refused, Err(StoreError::QuotaExceeded { unit: "bytes", limit: 7 })), "{refused:?}");
    world.store.change_session(&small, &change("12345"), world.stamp()).unwrap();
    let focus = "{}".len() as i64;
    assert_eq!(world.store.stats(&small).unwrap().content_bytes, 5 + focus);
    // What is no larger than before is let through, although nothing is left.
    let known = world.store.load_session(&small, "one", None).unwrap().map(|it| it.head);
    world.store.change_session(&small, &nothing("one", known), world.stamp()).unwrap();
}

#[test]
fn a_session_of_one_workspace_is_none_of_anothers() {
    let world = World::new();
    world.add_text("one", "a", "secret of the first");
    world.stash("one", "a");
    let new = rootset_store::NewWorkspace { id: "other".into(), ..Default::default() };
    let other = world.store.create_workspace(&new, world.stamp()).unwrap();
    assert_eq!(world.store.load_session(&other, "one", None).unwrap(), None);
    let numbers = [world.row("one", "a").segment];
    assert_eq!(world.store.segment_texts(&other, &numbers).unwrap(), []);
    assert_eq!(world.store.search_stash(&other, &["secret".into()], &Default::default(), 10).unwrap(), []);
    let session = world.head("one").unwrap().session;
    assert_eq!(world.store.ledger(&other, session, 0, 10).unwrap().1, 0);
    let change = SessionChange { state: state(), ..nothing("one", None) };
    world.store.change_session(&other, &change, world.stamp()).unwrap();
    assert_eq!(world.load("one").segments.len(), 1);
}
