//! Searching the stash.

use rootset_gc::context::SegmentType;
use rootset_model::Timestamp;
use rootset_store::{NewSegmentRow, SegmentRow, StashFilters};

use crate::harness::{World, segment};

#[test]
fn only_living_stashed_segments_of_living_sessions_are_found() {
    let world = World::new();
    for id in ["active", "stashed", "restored", "deleted"] {
        world.add_text("one", id, "falcon");
    }
    world.add_text("two", "away", "falcon");
    for id in ["stashed", "restored", "deleted"] {
        world.stash("one", id);
    }
    world.stash("two", "away");
    world.unstash("one", "restored");
    assert_eq!(world.found(&["falcon"]), ["away", "deleted", "stashed"]);
    let run = world.delete("one", &["deleted"]).run.id;
    world.delete_session("two");
    assert_eq!(world.found(&["falcon"]), ["stashed"]);
    assert_eq!(world.found(&[]), ["stashed"]);
    world.store.undo_run(&world.workspace, run, world.stamp()).unwrap();
    assert_eq!(world.found(&["falcon"]), ["deleted", "stashed"]);
    world.stash("one", "restored");
    assert_eq!(world.found(&[]), ["restored", "deleted", "stashed"], "the last stashed first");
}

#[test]
fn what_holds_more_and_rarer_words_comes_first() {
    let world = World::new();
    for (id, text) in [("a", "common rare"), ("b", "common"), ("c", "common"), ("d", "other")] {
        world.add_text("one", id, text);
        world.stash("one", id);
    }
    assert_eq!(world.found(&["common", "rare"]), ["a", "c", "b"]);
    assert_eq!(world.found(&["rare"]), ["a"]);
    assert_eq!(world.found(&["nowhere"]), Vec::<String>::new());
    assert_eq!(world.found(&["rar*", "(", "body:rare"]), Vec::<String>::new(), "words are no syntax");
}

#[test]
fn filters_narrow_both_ways_of_searching() {
    let world = World::new();
    let plain = |id: &str| segment(id, "falcon");
    let with = |id: &str, change: fn(SegmentRow) -> SegmentRow| {
        let new = plain(id);
        NewSegmentRow { row: change(new.row), ..new }
    };
    world.add(
        "one",
        vec![
            with("code", |row| SegmentRow { segment_type: SegmentType::Code, ..row }),
            with("file", |row| SegmentRow { file_path: Some("a.rs".into()), ..row }),
            with("tags", |row| SegmentRow { tags: vec!["x".into(), "y".into()], ..row }),
            with("comma", |row| SegmentRow { tags: vec!["x".into()], ..row }),
            with("late", |row| SegmentRow { created_at: Timestamp(500), ..row }),
        ],
    );
    world.add("two", vec![plain("elsewhere")]);
    for id in ["code", "file", "tags", "comma", "late"] {
        world.stash("one", id);
    }
    world.stash("two", "elsewhere");
    let found = |filters: &StashFilters| {
        let ids = |terms: &[String]| -> Vec<String> {
            let hits = world.store.search_stash(&world.workspace, terms, filters, 100).unwrap();
            hits.into_iter().map(|hit| hit.segment_id).collect()
        };
        let by_words = ids(&["falcon".into()]);
        assert_eq!(by_words, ids(&[]), "{filters:?}");
        by_words
    };
    let none = StashFilters::default;
    assert_eq!(found(&StashFilters { session_id: Some("two".into()), ..none() }), ["elsewhere"]);
    assert_eq!(found(&StashFilters { segment_type: Some(SegmentType::Code), ..none() }), ["code"]);
    assert_eq!(found(&StashFilters { file_path: Some("a.rs".into()), ..none() }), ["file"]);
    assert_eq!(found(&StashFilters { tags: vec!["x".into(), "y".into()], ..none() }), ["tags"]);
    assert_eq!(found(&StashFilters { tags: vec![",".into()], ..none() }), Vec::<String>::new());
    assert_eq!(found(&StashFilters { created_after: Some(Timestamp(1)), ..none() }), ["late"]);
    assert_eq!(found(&StashFilters { created_before: Some(Timestamp(1)), ..none() }).len(), 5);
}

#[test]
fn a_hit_tells_what_it_is_with_the_beginning_of_its_text() {
    let world = World::new();
    world.add_text("one", "a", &"ä".repeat(1_000));
    world.stash("one", "a");
    let hit = world.store.search_stash(&world.workspace, &[], &Default::default(), 1).unwrap().remove(0);
    assert_eq!((hit.preview.chars().count(), hit.text_chars, hit.tokens), (200, 1_000, 10));
    assert_eq!((hit.session_id.as_str(), hit.reason.as_deref()), ("one", Some("unreachable")));
}

#[test]
fn the_newest_of_a_long_stash_are_paged_through_until_enough_pass() {
    let world = World::new();
    let mut added: Vec<NewSegmentRow> = (0..1_200).map(|number| segment(&format!("s{number}"), "x")).collect();
    added[3].row.tags = vec!["rare".into()];
    for new in &mut added {
        new.row.state = rootset_gc::context::SegmentState::Stashed;
        // All at once: the number tells them apart.
        new.row.stashed_at = Some(Timestamp(7));
    }
    let added_terms = (0..added.len()).map(|place| (place, "x".to_owned())).collect();
    let change = rootset_store::SessionChange { added, added_terms, ..crate::harness::nothing("one", None) };
    world.change(&change);
    let filters = StashFilters { tags: vec!["rare".into()], ..StashFilters::default() };
    let hits = world.store.search_stash(&world.workspace, &[], &filters, 5).unwrap();
    assert_eq!(hits.iter().map(|hit| hit.segment_id.as_str()).collect::<Vec<_>>(), ["s3"]);
    let hits = world.store.search_stash(&world.workspace, &["x".into()], &filters, 5).unwrap();
    assert_eq!(hits.iter().map(|hit| hit.segment_id.as_str()).collect::<Vec<_>>(), ["s3"]);
    assert_eq!(world.found(&[]).len(), 100);
}
