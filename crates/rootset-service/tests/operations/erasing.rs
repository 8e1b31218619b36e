//! Erasing: afterwards there is no text, no term, no vector, in no file; and what was erased does not come back by itself.

use std::sync::Arc;

use rootset_provider::{Embedder, ProviderError};
use rootset_service::scheduler::Scheduler;
use rootset_service::{FrontEnd, GcSettings, Housekeeper, ServiceError, Settings};
use rootset_testing::Sql;
use serde_json::{Value, json};

use crate::harness::{DAY_MS, World, array, text_of};

/// Words that occur nowhere else.
const WORDS: [&str; 3] = ["zyxwaardvark", "quuxflamingo", "vorpalmonkey"];
const ENTITY: &str = "PrivateThingQzqjvkx";
/// What the full-text index keeps of them beside [`NEIGHBOURS`]: terms are stored without what they share with the term
/// before, and the stemmer may cut their ends.
const TAILS: [&str; 4] = ["rdvar", "lamin", "monk", "zqjvk"];
/// Terms before and after in the order of the alphabet, so that pages and beginnings are shared.
const NEIGHBOURS: [&str; 6] = ["zyxwa", "zyxwaa", "quuxf", "quuxfz", "privatething", "vorpal"];

fn text() -> String {
    format!("The {} met {ENTITY} on {}.", WORDS[0], WORDS[1])
}

fn needles() -> Vec<Vec<u8>> {
    let whole = WORDS.map(str::to_owned).into_iter().chain([ENTITY.to_owned(), ENTITY.to_lowercase()]);
    whole.chain(TAILS.map(str::to_owned)).map(String::into_bytes).collect()
}

#[track_caller]
fn assert_is_nowhere(world: &World) {
    for needle in needles() {
        assert_eq!(world.places_with(&needle), Vec::<String>::new(), "`{}`", String::from_utf8_lossy(&needle));
    }
}

#[track_caller]
fn assert_is_somewhere(world: &World) {
    assert!(!world.places_with(WORDS[0].as_bytes()).is_empty());
}

fn with_neighbours(world: &World) {
    for word in NEIGHBOURS {
        world.add(&format!("{word} and nothing else"));
    }
}

#[test]
fn a_purge_removes_what_was_shown_or_nothing() {
    let world = World::new();
    world.add_named("one", "The first note.");
    world.add_named("two", "The second note.");
    world.delete("one");
    let ask = || world.fails("gc_purge", json!({"older_than": "0"})).1;
    let agreed_to = |question: ServiceError| question.0.details.unwrap()["next"]["arguments"].take();
    let question = ask();
    assert!(question.message.contains("1 memory"), "{question:?}");
    assert_eq!(question.details.as_ref().unwrap()["counts"]["memories"], 1);
    let agreed = agreed_to(question);
    world.delete("two");
    let before = world.dump("home");
    let (code, error) = world.fails("gc_purge", agreed);
    assert_eq!(code, "conflict");
    assert!(error.message.contains("2 memories"), "{error:?}");
    assert_eq!(world.dump("home"), before);
    let purged = world.call("gc_purge", agreed_to(ask()));
    assert_eq!(purged["purged"]["memories"], 2);
}

#[test]
fn the_tails_are_what_the_index_of_sqlite_keeps_of_the_words() {
    let world = World::new();
    let texts = NEIGHBOURS.into_iter().map(str::to_owned).chain([format!("{} {}", text(), WORDS[2])]);
    let memories: Vec<Value> = texts.map(|text| json!({ "context": text })).collect();
    // In one transaction, so that all terms are in one segment of the index.
    world.call("add_memories", json!({ "memories": memories }));
    let sql = world.sql();
    let blocks: Vec<Vec<u8>> = sql.rows("SELECT block FROM search_memories_1_data", &[], |row| row.get(0)).unwrap();
    let index = blocks.concat();
    let holds = |needle: &str| aho_corasick::AhoCorasick::new([needle]).unwrap().is_match(&index);
    for tail in TAILS {
        assert!(holds(tail), "`{tail}` would not be found if a purge left it behind");
    }
    for word in WORDS.into_iter().map(str::to_owned).chain([ENTITY.to_lowercase()]) {
        assert!(!holds(&word), "`{word}` is whole in the index: its tail proves nothing");
    }
}

#[test]
fn a_purge_leaves_nothing_of_the_text_in_any_file() {
    let world = World::new();
    with_neighbours(&world);
    let secret = json!({"name": "secret", "context": text(), "tags": [WORDS[2]], "metadata": {"k": WORDS[2]}, "decisions": [WORDS[2]]});
    world.call("add_memory", secret);
    world.call("search_memory", json!({"query": WORDS[0]}));
    assert_is_somewhere(&world);
    let run = world.delete("secret");
    let (code, error) = world.fails("gc_purge", json!({ "run_id": run }));
    assert_eq!(code, "confirmation_required");
    assert_eq!(error.0.details.unwrap()["next"]["arguments"]["confirm"], true);
    let purged = world.call("gc_purge", json!({"run_id": run, "confirm": true}));
    assert_eq!(purged["purged"]["memories"], 1);
    assert_eq!((&purged["wal_clean"], &purged["receipt"]["byte_scan"]), (&json!(true), &json!(World::clean_scan())));
    // The name is still in the trash's place only if somebody kept it.
    assert_is_nowhere(&world);
    assert_eq!(world.call("list_trash", json!({}))["total"], 0);
    assert_eq!(world.fails("gc_undo", json!({ "run_id": run })).0, "conflict");
    assert_eq!(world.fails("gc_undo", json!({"memory_id": "secret"})).0, "not_found");
    world.assert_doctor_is_content();
}

#[test]
fn through_mcp_only_a_person_confirms_what_cannot_be_undone() {
    let mut world = World::new();
    with_neighbours(&world);
    world.add_named("secret", &text());
    world.add_named("kept", &format!("{} as well", WORDS[0]));
    world.caller.front_end = FrontEnd::Mcp;
    let plan = world.call("forget", json!({"query": WORDS[0], "purge": true}))["plan_id"].clone();
    let request = json!({"plan_id": plan, "exclude": ["kept"], "allow_large": true, "confirm": true});
    let backup = json!({"backup_id": world.call("backup_create", json!({}))["backup_id"], "confirm": true});
    let calls = [
        ("gc_apply", request),
        ("gc_purge", json!({"older_than": "0", "confirm": true})),
        ("defrag", json!({"confirm": true})),
        ("backup_restore", backup),
    ];
    for (operation, request) in &calls {
        let (code, error) = world.fails(operation, request.clone());
        assert_eq!(code, "confirmation_required", "{operation}");
        let mut details = error.0.details.unwrap();
        assert_eq!(details["needs_person"], true, "{operation}: {details}");
        // What a purge would remove is part of the question.
        details["next"]["arguments"].as_object_mut().unwrap().remove("set");
        assert_eq!(&details["next"], &json!({"operation": operation, "arguments": request}), "{operation}");
    }
    world.caller.is_confirmed_by_person = true;
    let applied = world.call(calls[0].0, calls[0].1.clone());
    assert_eq!(applied["trashed"]["memories"], 1, "{applied}");
    assert_eq!(world.fails("get_memory", json!({"memory_id": "secret"})).0, "not_found");
    assert_eq!(world.look("kept")["name"], "kept");
}

#[test]
fn an_erasure_leaves_nothing_also_not_of_earlier_revisions_and_imports() {
    let world = World::new();
    with_neighbours(&world);
    world.add_named("secret", &text());
    world.add_named("revised", &format!("{} in the past", WORDS[2]));
    world.call("update_memory", json!({"memory_id": "revised", "topic": "harmless", "context": "harmless"}));
    let entity = json!({"name": WORDS[1], "description": format!("{} again", WORDS[0])});
    world.call("import_graph", json!({"entities": [entity], "relations": []}));
    for word in WORDS {
        let plan = world.call("forget", json!({"query": word, "purge": true}));
        assert_eq!(plan["purge"], true);
        let (code, _) = world.fails("gc_apply", json!({"plan_id": plan["plan_id"], "allow_large": true}));
        assert_eq!(code, "confirmation_required");
        let request = json!({"plan_id": plan["plan_id"], "confirm": true, "allow_large": true});
        let applied = world.call("gc_apply", request);
        let scan = applied["receipt"]["byte_scan"].as_str().unwrap();
        assert!(scan == "clean" || scan == World::clean_scan(), "{applied}");
        assert!(applied.get("undo_until").is_none());
    }
    assert_is_nowhere(&world);
    assert_eq!(world.call("list_trash", json!({}))["total"], 0);
    assert_eq!(world.look("revised")["context"], "harmless");
    world.assert_doctor_is_content();
}

#[test]
fn an_erasing_forget_also_takes_what_is_in_the_trash_already() {
    let world = World::new();
    with_neighbours(&world);
    world.add_named("secret", &text());
    world.delete("secret");
    let plan = world.call("forget", json!({"query": WORDS[0]}));
    assert_eq!(plan["matched"], 0, "without purge the trash is trash already");
    let plan = world.call("forget", json!({"query": WORDS[0], "purge": true}));
    assert_eq!(plan["matched"], 1, "{plan}");
    world.call("gc_apply", json!({"plan_id": plan["plan_id"], "confirm": true, "allow_large": true}));
    assert_is_nowhere(&world);
    world.assert_doctor_is_content();
}

#[test]
fn erased_content_comes_back_only_on_request_and_with_a_new_id() {
    let world = World::new();
    for by_forget in [true, false] {
        let text = format!("erased by forget: {by_forget}");
        let id = world.add(&text);
        if by_forget {
            let plan = world.call("forget", json!({"query": "erased", "purge": true}));
            world.call("gc_apply", json!({"plan_id": plan["plan_id"], "confirm": true, "allow_large": true}));
        } else {
            let run = world.delete(&id);
            world.call("gc_purge", json!({"run_id": run, "confirm": true}));
        }
        let erased_at = rootset_model::Timestamp(world.now_ms()).to_string();
        let (code, error) = world.fails("add_memory", json!({ "context": text }));
        assert_eq!(code, "conflict");
        assert!(error.message.contains(&erased_at), "{error}");
        let again = world.call("add_memory", json!({"context": text, "restore": true}));
        assert_eq!(again["created"], true);
        assert_ne!(text_of(&again["memory_id"]), id);
        world.delete(&text_of(&again["memory_id"]));
        world.call("gc_purge", json!({"older_than": "0", "confirm": true}));
    }
}

#[test]
fn erase_previous_removes_the_old_text_physically() {
    let world = World::new();
    with_neighbours(&world);
    world.add_named("note", &text());
    world.call("update_memory", json!({"memory_id": "note", "topic": "t", "context": format!("{} only", WORDS[2])}));
    assert_is_somewhere(&world);
    let request = json!({"memory_id": "note", "context": "nothing private", "erase_previous": true});
    let answer = world.call("update_memory", request);
    assert_eq!(answer["revision"], 3);
    assert_is_nowhere(&world);
    for revision in [1, 2] {
        assert_eq!(world.fails("get_memory", json!({"memory_id": "note", "revision": revision})).0, "not_found");
    }
    assert_eq!(world.look("note")["context"], "nothing private");
    let (code, _) = world.fails("add_memory", json!({ "context": text() }));
    assert_eq!(code, "conflict", "what somebody erased does not come back by itself");
    world.assert_doctor_is_content();
}

#[test]
fn erase_previous_works_without_a_new_text_and_for_a_pinned_memory() {
    let world = World::new();
    with_neighbours(&world);
    world.call("add_memory", json!({"name": "note", "context": text(), "pinned": true}));
    world.call("update_memory", json!({"memory_id": "note", "topic": "t", "context": "nothing private"}));
    assert_is_somewhere(&world);
    world.call("update_memory", json!({"memory_id": "note", "erase_previous": true}));
    assert_is_nowhere(&world);
    assert_eq!(world.look("note")["pinned"], true);
    world.assert_doctor_is_content();
}

#[test]
fn erase_previous_takes_revisions_that_were_in_the_trash() {
    let world = World::new();
    with_neighbours(&world);
    world.add_named("note", &text());
    world.call("update_memory", json!({"memory_id": "note", "topic": "t", "context": "nothing private"}));
    let plan = world.call("forget", json!({"query": WORDS[0]}));
    assert_eq!(world.call("gc_apply", json!({"plan_id": plan["plan_id"]}))["trashed"]["revisions"], 1);
    world.call("update_memory", json!({"memory_id": "note", "erase_previous": true}));
    assert_is_nowhere(&world);
    assert_eq!(world.call("list_trash", json!({}))["total"], 0);
    world.assert_doctor_is_content();
}

#[test]
fn erase_previous_takes_a_topic_and_a_name_made_from_the_old_text() {
    let world = World::new();
    with_neighbours(&world);
    let id = world.add(&text());
    assert!(text_of(&world.look(&id)["name"]).contains(WORDS[0]));
    let request = json!({"memory_id": id, "context": "nothing private", "erase_previous": true});
    let answer = world.call("update_memory", request);
    assert_eq!((answer["name"].clone(), answer["revision"].clone()), (json!("nothing-private"), json!(2)));
    assert_eq!(answer["receipt"]["rows"]["revisions"], 1);
    assert_eq!(answer["receipt"]["byte_scan"], World::clean_scan());
    assert_eq!(world.look("nothing-private")["topic"], "nothing private");
    assert_is_nowhere(&world);
    assert_eq!(world.found(WORDS[0]), Vec::<String>::new());
    world.assert_doctor_is_content();
}

#[test]
fn erase_previous_takes_a_topic_that_an_earlier_text_left_behind() {
    let world = World::new();
    with_neighbours(&world);
    let id = world.add(&text());
    let topic = text_of(&world.look(&id)["topic"]);
    world.call("update_memory", json!({"memory_id": id, "topic": topic, "context": "nothing private"}));
    world.call("update_memory", json!({"memory_id": id, "context": "nothing private any more"}));
    assert_eq!(world.look(&id)["topic"], topic);
    world.call("update_memory", json!({"memory_id": id, "erase_previous": true}));
    assert_eq!(world.look(&id)["topic"], "nothing private any more");
    assert_is_nowhere(&world);
}

#[test]
fn forgetting_an_earlier_text_for_good_takes_the_name_made_from_it() {
    let world = World::new();
    with_neighbours(&world);
    let id = world.add(&text());
    let old = text_of(&world.look(&id)["name"]);
    world.call("update_memory", json!({"memory_id": id, "context": "nothing private"}));
    assert!(old.contains(WORDS[0]) && world.look(&old)["name"] == "nothing-private");
    let plan = world.call("forget", json!({"query": WORDS[0], "purge": true}));
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"], "confirm": true}));
    assert_eq!(applied["receipt"]["byte_scan"], World::clean_scan());
    assert_eq!(world.look(&id)["name"], "nothing-private");
    assert_is_nowhere(&world);
}

#[test]
fn a_receipt_does_not_take_what_stays_for_what_was_erased() {
    let world = World::new();
    let id = world.add("The address of the server is 10.0.0.1 and its password is hunter2, written down here.");
    let kept = "The address of the server is 10.0.0.1 and its password is elsewhere, written down here.";
    let request = json!({"memory_id": id, "context": kept, "erase_previous": true});
    assert_eq!(world.call("update_memory", request)["receipt"]["byte_scan"], World::clean_scan());
}

/// Vectors whose bytes can be told from everything else in the file.
#[derive(Debug)]
struct MarkedEmbedder;

const SECRET_DIRECTION: [f32; 4] = [0.123_456_7, -0.654_321_1, 0.333_777_3, 0.665_421_2];

impl Embedder for MarkedEmbedder {
    fn id(&self) -> &str {
        "marked"
    }

    fn is_local(&self) -> bool {
        true
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ProviderError> {
        let vector = |text: &&str| {
            if text.contains(WORDS[0]) {
                SECRET_DIRECTION.repeat(4)
            } else {
                (0..16).map(|place| if place == text.len() % 16 { 1.0 } else { 0.0 }).collect()
            }
        };
        Ok(texts.iter().map(vector).collect())
    }
}

/// The bytes of the youngest vector, as it was computed and as a search loads it.
fn youngest_vector(world: &World) -> [Vec<u8>; 2] {
    let sql = world.sql();
    [("vector_originals", "vector"), ("vectors", "codes")].map(|(table, column)| {
        let statement = format!("SELECT {column} FROM {table} ORDER BY chunk DESC LIMIT 1");
        sql.scalar(&statement, &[]).unwrap()
    })
}

#[track_caller]
fn assert_vector_is_nowhere(world: &World, [original, codes]: &[Vec<u8>; 2]) {
    for part in [&original[..], &original[..16], codes] {
        assert_eq!(world.places_with(part), Vec::<String>::new());
    }
}

#[test]
fn a_purge_takes_the_vectors_bytes_too() {
    let world = World::with_embedder(Arc::new(MarkedEmbedder));
    with_neighbours(&world);
    world.add_named("secret", &text());
    let found = world.call("search_memory", json!({"query": WORDS[0]}));
    assert_eq!(found["results"][0]["name"], "secret");
    assert_eq!(found["signals"], json!(["lexical", "graph", "vectors"]));
    let vector = youngest_vector(&world);
    assert!(vector.iter().all(|bytes| !world.places_with(bytes).is_empty()));
    let run = world.delete("secret");
    assert_eq!(world.call("gc_purge", json!({"run_id": run, "confirm": true}))["wal_clean"], true);
    assert_vector_is_nowhere(&world, &vector);
    assert_is_nowhere(&world);
    let found = world.call("search_memory", json!({"query": WORDS[0]}));
    assert!(array(&found["results"]).iter().all(|it| it["name"] != "secret"));
    world.assert_doctor_is_content();
}

#[test]
fn erase_previous_takes_the_vectors_of_the_old_text() {
    let world = World::with_embedder(Arc::new(MarkedEmbedder));
    with_neighbours(&world);
    world.add_named("note", &text());
    let vector = youngest_vector(&world);
    let request = json!({"memory_id": "note", "topic": "t", "context": "nothing private", "erase_previous": true});
    world.call("update_memory", request);
    assert_vector_is_nowhere(&world, &vector);
    assert_is_nowhere(&world);
}

/// A world with a secret, its vector, and a reader that looked at it and has not finished.
fn world_with_reader() -> (World, [Vec<u8>; 2], Sql) {
    let world = World::with_embedder(Arc::new(MarkedEmbedder));
    with_neighbours(&world);
    world.add_named("secret", &text());
    let vector = youngest_vector(&world);
    let reader = world.sql();
    reader.execute_batch("BEGIN; SELECT COUNT(*) FROM memories;").unwrap();
    (world, vector, reader)
}

#[track_caller]
fn assert_waits_for_the_reader(world: &World, purged: &Value) {
    assert_eq!(purged["wal_clean"], false, "{purged}");
    assert_ne!(purged["receipt"]["byte_scan"], "clean", "{purged}");
    assert_is_somewhere(world);
}

/// What each of these does once the reader has ended leaves nothing in any file.
#[test]
fn what_a_reader_held_in_the_log_of_sqlite_goes_when_the_process_ends_keeps_house_ticks_or_purges_again() {
    type Retry = fn(&World);
    let retries: [(&str, Retry); 4] = [
        ("finish", |world| world.service.finish().unwrap()),
        ("another process keeps house", |world| {
            let other = world.second_process();
            assert!(other.housekeep(Housekeeper::Writer).unwrap().is_some());
        }),
        ("tick", |world| {
            let enabled = GcSettings { enabled: true, ..GcSettings::default() };
            let scheduler = Scheduler::new(world.process_with(Settings { gc: enabled, ..Settings::default() }));
            scheduler.tick().unwrap();
        }),
        ("purge", |world| {
            let purged = world.call("gc_purge", json!({"older_than": 0, "confirm": true}));
            assert_eq!(purged["wal_clean"], true);
        }),
    ];
    for (name, retry) in retries {
        let (world, vector, reader) = world_with_reader();
        let run = world.delete("secret");
        let purged = world.call("gc_purge", json!({"run_id": run, "confirm": true}));
        assert_waits_for_the_reader(&world, &purged);
        if name == "finish" {
            retry(&world);
            assert_is_somewhere(&world);
        }
        drop(reader);
        retry(&world);
        println!("{name}");
        assert_vector_is_nowhere(&world, &vector);
        assert_is_nowhere(&world);
    }
}

#[test]
fn an_erasure_and_erase_previous_that_met_a_reader_of_sqlite_are_finished_later() {
    let (world, vector, reader) = world_with_reader();
    let request = json!({"memory_id": "secret", "topic": "t", "context": "nothing private", "erase_previous": true});
    world.call("update_memory", request);
    assert_is_somewhere(&world);
    drop(reader);
    world.service.finish().unwrap();
    assert_vector_is_nowhere(&world, &vector);
    world.call("update_memory", json!({"memory_id": "secret", "name": "renamed"}));
    assert_is_nowhere(&world);

    let (world, vector, reader) = world_with_reader();
    let plan = world.call("forget", json!({"query": WORDS[0], "purge": true}));
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"], "confirm": true}));
    assert_ne!(applied["receipt"]["byte_scan"], "clean", "{applied}");
    drop(reader);
    world.service.finish().unwrap();
    assert_vector_is_nowhere(&world, &vector);
    assert_is_nowhere(&world);
}

#[test]
fn older_than_purges_only_what_has_been_in_the_trash_for_long_enough() {
    let world = World::new();
    world.add_named("old", "one");
    world.add_named("young", "two");
    world.delete("old");
    world.advance_ms(8 * DAY_MS);
    world.delete("young");
    let purged = world.call("gc_purge", json!({"older_than": "7d", "confirm": true}));
    assert_eq!(purged["purged"]["memories"], 1);
    assert_eq!(world.call("list_trash", json!({}))["items"][0]["name"], "young");
    let again = world.call("gc_purge", json!({"older_than": 604_800_000, "confirm": true}));
    assert_eq!(again["purged"], json!({"memories": 0}));
    for bad in [json!("soon"), json!(-1), json!(1.5), json!(true)] {
        let error = world.refuses("gc_purge", json!({"older_than": bad, "confirm": true}));
        assert!(error.message.contains("older_than"), "{error}");
    }
    world.refuses("gc_purge", json!({"confirm": true}));
}

#[test]
fn a_second_apply_of_an_erasure_answers_the_first_outcome() {
    let world = World::new();
    with_neighbours(&world);
    world.add("falcon");
    let plan = world.call("forget", json!({"query": "falcon", "purge": true}));
    let request = json!({"plan_id": plan["plan_id"], "confirm": true});
    let without_receipt = |mut answer: Value| {
        answer.as_object_mut().unwrap().remove("receipt");
        answer
    };
    let first = without_receipt(world.call("gc_apply", request.clone()));
    assert_eq!(without_receipt(world.call("gc_apply", request)), first);
    assert_eq!(world.fails("gc_undo", json!({"run_id": first["run_id"]})).0, "conflict");
}

#[test]
fn an_erasing_forget_also_takes_trashed_revisions_and_imports_that_were_undone() {
    let world = World::new();
    with_neighbours(&world);
    world.add_named("note", &text());
    world.call("update_memory", json!({"memory_id": "note", "topic": "t", "context": "nothing private"}));
    let import = json!({"entities": [{"name": WORDS[0], "description": WORDS[1]}], "relations": []});
    let import = world.call("import_graph", import);
    world.call("gc_undo", json!({"run_id": import["run_id"]}));
    let plan = world.call("forget", json!({"query": WORDS[0], "kinds": ["revisions"]}));
    world.call("gc_apply", json!({"plan_id": plan["plan_id"]}));
    assert_eq!(world.call("list_trash", json!({}))["total"], 2);
    let plan = world.call("forget", json!({"query": WORDS[0], "purge": true}));
    assert_eq!(plan["matched"], 2, "{plan}");
    let applied = world.call("gc_apply", json!({"plan_id": plan["plan_id"], "confirm": true}));
    assert_eq!(applied["receipt"]["rows"]["untracked"], 1, "{applied}");
    assert_is_nowhere(&world);
    assert_eq!(world.call("list_trash", json!({}))["total"], 0);
    world.assert_doctor_is_content();
}
