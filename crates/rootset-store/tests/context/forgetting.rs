//! What a forget selects among segments.

use rootset_model::plan::ItemKind;
use rootset_model::{SegmentKey, Timestamp};
use rootset_store::{
    ForgetFilters, ForgetRequest, ForgetSelection, ForgetText, ForgetVerdict, ForgetWords, NewSegmentRow, SegmentRow,
};

use crate::harness::{World, segment};

struct Asked<'a> {
    word: Option<&'a str>,
    filters: ForgetFilters,
    include_pinned: bool,
    erases: bool,
}

fn word(word: &str) -> Asked<'_> {
    Asked { word: Some(word), filters: ForgetFilters::default(), include_pinned: false, erases: false }
}

fn filters<'a>(filters: ForgetFilters) -> Asked<'a> {
    Asked { word: None, filters, include_pinned: false, erases: false }
}

fn select(world: &World, asked: &Asked<'_>) -> ForgetSelection {
    let judge = |text: &ForgetText<'_>| match text.more.iter().any(|it| it.contains(asked.word.unwrap_or_default())) {
        true => ForgetVerdict::Matched,
        false => ForgetVerdict::No,
    };
    let words = asked.word.map(|_| ForgetWords { probes: &[], near: &[], judge: &judge });
    let Asked { filters, include_pinned, erases, .. } = asked;
    let (kinds, include_pinned, erases) = (&["segments"], *include_pinned, *erases);
    let request = ForgetRequest { filters, words, kinds, include_pinned, erases };
    world.store.select_for_forget(&world.workspace, &request).unwrap()
}

/// Ids of what would go, newest first.
fn found(world: &World, asked: &Asked<'_>) -> Vec<String> {
    let names: std::collections::HashMap<i64, String> = ["one", "two"]
        .into_iter()
        .filter_map(|session| world.try_load(session).ok().flatten())
        .flat_map(|loaded| loaded.segments)
        .map(|row| (row.segment, row.segment_id))
        .collect();
    let selection = select(world, asked);
    assert!(selection.items.iter().all(|item| item.kind == ItemKind::SEGMENT));
    let numbers = selection.items.iter().map(|item| SegmentKey::from_object(item.object).unwrap().0);
    numbers.map(|number| names[&number].clone()).collect()
}

fn with(id: &str, text: &str, change: fn(SegmentRow) -> SegmentRow) -> NewSegmentRow {
    let new = segment(id, text);
    NewSegmentRow { row: change(new.row), ..new }
}

#[test]
fn words_are_looked_for_in_everything_that_the_caller_wrote() {
    let world = World::new();
    let raw = NewSegmentRow { raw: Some(r#"{"input":"falcon"}"#.into()), ..segment("raw", "x") };
    world.add(
        "one",
        vec![
            segment("text", "a falcon"),
            segment("falcon-id", "x"),
            with("path", "x", |row| SegmentRow { file_path: Some("src/falcon.rs".into()), ..row }),
            with("tag", "x", |row| SegmentRow { tags: vec!["falcon".into()], ..row }),
            with("topic", "x", |row| SegmentRow { topic_id: Some("falcon".into()), ..row }),
            raw,
            segment("other", "an owl"),
        ],
    );
    world.add("two", vec![segment("stashed", "a falcon")]);
    world.stash("two", "stashed");
    let all = ["stashed", "raw", "topic", "tag", "path", "falcon-id", "text"];
    assert_eq!(found(&world, &word("falcon")), all);
    world.delete("one", &["text"]);
    assert_eq!(found(&world, &word("falcon")), all[..6]);
    let erasing = Asked { erases: true, ..word("falcon") };
    assert_eq!(found(&world, &erasing), all, "the trash is no refuge from an erasure");
}

#[test]
fn filters_select_segments_and_a_source_none() {
    let world = World::new();
    world.add(
        "one",
        vec![
            with("tagged", "x", |row| SegmentRow { tags: vec!["t".into(), "u".into()], ..row }),
            with("late", "x", |row| SegmentRow { created_at: Timestamp(50), ..row }),
        ],
    );
    let none = ForgetFilters::default;
    assert_eq!(found(&world, &filters(ForgetFilters { tags: vec!["t".into()], ..none() })), ["tagged"]);
    assert_eq!(found(&world, &filters(ForgetFilters { created_after: Some(Timestamp(9)), ..none() })), ["late"]);
    assert_eq!(found(&world, &filters(ForgetFilters { created_before: Some(Timestamp(9)), ..none() })), ["tagged"]);
    assert_eq!(found(&world, &filters(ForgetFilters { written_by: Some("test".into()), ..none() })).len(), 2);
    assert!(found(&world, &filters(ForgetFilters { written_by: Some("who".into()), ..none() })).is_empty());
    assert!(found(&world, &filters(ForgetFilters { source: Some("user".into()), ..none() })).is_empty());
}

#[test]
fn the_halves_of_a_tool_call_go_together_and_a_pin_holds_both() {
    let world = World::new();
    let call = |row: SegmentRow| SegmentRow { tool_call_id: Some("call".into()), ..row };
    world.add("one", vec![with("asks", "a falcon", call), with("answers", "x", call), segment("alone", "a falcon")]);
    // The same id in another session is another call.
    world.add("two", vec![with("stranger", "x", call)]);
    assert_eq!(found(&world, &word("falcon")), ["alone", "answers", "asks"]);
    world.pin("one", "answers");
    assert_eq!(found(&world, &word("falcon")), ["alone"]);
    let selection = select(&world, &word("falcon"));
    assert_eq!((selection.matched, selection.kept_pinned.len()), (3, 2));
    let pinned = Asked { include_pinned: true, ..word("falcon") };
    assert_eq!(found(&world, &pinned), ["alone", "answers", "asks"]);
}
