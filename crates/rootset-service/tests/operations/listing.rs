//! Lists: pages that neither overlap nor lose anything, filters, and what is left out unless asked for.

use serde_json::json;

use crate::harness::World;

fn fifteen() -> World {
    let world = World::new();
    for number in 0..15 {
        world.add_named(&format!("note-{number:02}"), &format!("note number {number}"));
    }
    world
}

#[test]
fn pages_follow_each_other_without_overlap() {
    let world = fifteen();
    let first = world.listed(json!({"limit": 5}));
    let second = world.listed(json!({"limit": 5, "offset": 5}));
    let third = world.listed(json!({"limit": 5, "offset": 10}));
    assert_eq!(first, ["note-14", "note-13", "note-12", "note-11", "note-10"]);
    assert_eq!(second, ["note-09", "note-08", "note-07", "note-06", "note-05"]);
    assert_eq!(third.len(), 5);
    assert_eq!(world.listed(json!({"limit": 5, "offset": 15})), Vec::<String>::new());
    let answer = world.call("list_memories", json!({"limit": 5, "offset": 5}));
    assert_eq!((&answer["total"], &answer["offset"], &answer["limit"]), (&json!(15), &json!(5), &json!(5)));
}

#[test]
fn limits_have_a_default_and_a_maximum_and_nothing_is_negative() {
    let world = World::new();
    let many: Vec<_> = (0..120).map(|number| json!({"context": format!("number {number}")})).collect();
    world.call("add_memories", json!({ "memories": many }));
    assert_eq!(world.listed(json!({"limit": 0})).len(), 50);
    assert_eq!(world.listed(json!({})).len(), 50);
    assert_eq!(world.listed(json!({"limit": 500})).len(), 100);
    assert_eq!(world.call("list_memories", json!({"limit": 500}))["limit"], 100);
    assert!(world.refuses("list_memories", json!({"offset": -1})).message.contains("`offset` is -1"));
    assert!(world.refuses("list_memories", json!({"limit": -1})).message.contains("`limit` is -1"));
    assert!(world.refuses("list_trash", json!({"offset": -1})).message.contains("offset"));
    assert!(world.refuses("search_memory", json!({"limit": -3})).message.contains("limit"));
}

#[test]
fn lists_are_ordered_and_filtered_as_asked() {
    let world = World::new();
    world.call("add_memory", json!({"name": "a", "context": "Falcon report", "tags": ["x"], "source": "wiki"}));
    world.call("add_memory", json!({"name": "b", "context": "Falcon plan", "tags": ["x", "y"]}));
    world.add_named("c", "Sparrow plan");
    world.call("update_memory", json!({"memory_id": "a", "pinned": true}));
    assert_eq!(world.listed(json!({})), ["a", "c", "b"]);
    assert_eq!(world.listed(json!({"order_by": "created_at"})), ["c", "b", "a"]);
    assert_eq!(world.listed(json!({"order_by": "created_at", "descending": false})), ["a", "b", "c"]);
    assert_eq!(world.listed(json!({"tags": ["x"]})), ["a", "b"]);
    assert_eq!(world.listed(json!({"tags": ["x", "y"]})), ["b"]);
    assert_eq!(world.listed(json!({"source": "wiki"})), ["a"]);
    assert_eq!(world.listed(json!({"written_by": "nobody"})), Vec::<String>::new());
    assert_eq!(world.listed(json!({"query": "falcon"})), ["a", "b"]);
    assert_eq!(world.listed(json!({"query": "falcon plan"})), ["b"]);
    assert_eq!(world.listed(json!({"status": "pending"})), Vec::<String>::new());
    world.call("get_memory", json!({"memory_id": "b"}));
    world.service.flush_uses().unwrap();
    assert_eq!(world.listed(json!({"order_by": "use_count"}))[0], "b");
}

#[test]
fn each_lifecycle_lists_its_own() {
    let world = World::new();
    for name in ["live", "old", "new", "gone"] {
        world.add_named(name, name);
    }
    world.call("supersede_memory", json!({"memory_id": "old", "by": "new"}));
    world.delete("gone");
    let of = |lifecycle: &str| world.listed(json!({"lifecycle": lifecycle, "order_by": "created_at"}));
    assert_eq!(of("live"), ["new", "live"]);
    assert_eq!(of("superseded"), ["old"]);
    assert_eq!(of("trashed"), ["gone"]);
    assert_eq!(of("all"), ["gone", "new", "old", "live"]);
}

#[test]
fn previews_are_cut_between_characters_and_say_the_full_length() {
    let world = World::new();
    world.add(&"é".repeat(1_000));
    let row = world.call("list_memories", json!({}))["memories"][0].clone();
    assert!(row["preview"].as_str().unwrap().chars().count() <= 200);
    assert_eq!(row["full_length"], 1_000);
}

/// The code index will write such rows; until it does, they are written here as it will.
#[test]
fn thousands_of_indexed_files_do_not_hide_the_notes() {
    let world = World::new();
    let notes: Vec<_> = (0..50)
        .map(|number| json!({"name": format!("note-{number}"), "context": format!("falcon note {number}")}))
        .collect();
    world.call("add_memories", json!({ "memories": notes }));
    let sql = world.sql();
    sql.execute_batch("BEGIN").unwrap();
    for file in 0..5_000_i64 {
        let (id, chunk) = (format!("file{file:012}").into_bytes(), 100_000 + file);
        let path = format!("src/falcon_{file}.rs");
        sql.execute(
            "INSERT INTO memories (workspace, memory, sequence, source, repo, file_path, written_by, status, version,
                     revision, created_at, updated_at, ingested_at)
                 VALUES (1, ?1, ?2, 'code_indexer', 'repo', ?3, 'cli', 'complete', 1, 1, ?4, ?4, ?4)",
            &[id[..].into(), chunk.into(), (&path).into(), (world.now_ms() + 5_000).into()],
        )
        .unwrap();
        sql
            .execute(
                "INSERT INTO revisions (workspace, memory, revision, topic, context, decisions, rationale, bytes, created_at)
                 VALUES (1, ?1, 1, ?2, 'falcon', '[]', '[]', 6, 0)",
                &[id[..].into(), (&path).into()],
            )
            .unwrap();
        sql.execute(
            "INSERT INTO chunks (workspace, chunk, memory, ordinal, part, start, length, is_question)
                 VALUES (1, ?1, ?2, 0, 0, 0, 6, 0)",
            &[chunk.into(), id[..].into()],
        )
        .unwrap();
    }
    sql.execute_batch("UPDATE workspaces SET next_chunk = 200000, next_number = 200000; COMMIT").unwrap();
    world.call("doctor", json!({"repair": true}));

    let listed = world.call("list_memories", json!({"limit": 100}));
    assert_eq!(listed["total"], 50);
    let found = world.found("falcon");
    assert_eq!(found.len(), 50, "{found:?}");
    assert!(found.iter().all(|name| name.starts_with("note-")), "{found:?}");
    assert_eq!(world.found("").len(), 50);
    let asked = world.call("list_memories", json!({"source": "code_indexer"}));
    assert_eq!(asked["total"], 5_000);
    let plan = world.call("forget", json!({"query": "falcon"}));
    assert_eq!(plan["matched"], 50, "indexed files are forgotten on request only");
}

#[test]
fn tags_are_counted_over_living_memories() {
    let world = World::new();
    for (name, tags) in [("a", vec!["x"]), ("b", vec!["x", "y"]), ("c", vec!["y", "z"]), ("d", vec!["x", "gone"])] {
        world.call("add_memory", json!({"name": name, "text": format!("Note {name}."), "tags": tags}));
    }
    world.delete("d");
    let counted = world.call("get_stats", json!({"by": "tags"}))["by_tag"].clone();
    let expected = [("x", 2), ("y", 2), ("z", 1)].map(|(tag, memories)| json!({"tag": tag, "memories": memories}));
    assert_eq!(counted, json!(expected));
    assert_eq!(world.call("get_stats", json!({})).get("by_tag"), None);
    let brief = world.call("get_stats", json!({"by": "tags", "detail": "brief"}));
    assert_eq!(brief, json!({"memories": 3, "trashed": 1, "by_tag": expected}));
}
