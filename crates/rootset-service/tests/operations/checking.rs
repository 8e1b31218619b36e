//! `doctor`: content after everything, and not when somebody changed rows behind our back.

use std::collections::BTreeSet;

use rootset_gc::invariants::INVARIANTS;
use rootset_store::driver::SearchIndex;
use rootset_testing::TestEngine;
use serde_json::json;

use crate::harness::{World, array, names, text_of};

fn busy_world() -> World {
    let world = World::new();
    world.add_named("a", "SharedThing uses OneThing.");
    world.add_named("b", "SharedThing uses TwoThing.");
    world.add_named("c", "Something else.");
    world.call("update_memory", json!({"memory_id": "a", "context": "SharedThing uses ThreeThing."}));
    world.call("supersede_memory", json!({"memory_id": "c", "by": "b"}));
    world.call("import_graph", json!({"entities": [{"name": "FourThing"}], "relations": []}));
    let run = world.delete("b");
    world.call("gc_undo", json!({ "run_id": run }));
    world
}

#[test]
fn checks_that_are_about_an_invariant_are_named_by_one_of_the_list() {
    let checks = World::new().call("doctor", json!({}));
    let ids = array(&checks["checks"]).iter().map(|check| text_of(&check["id"]));
    let named: BTreeSet<String> = ids.filter_map(|id| Some(id.split_once('.')?.0.to_owned())).collect();
    let known = INVARIANTS.iter().map(|invariant| invariant.id.to_owned()).chain(["report".to_owned()]).collect();
    assert!(named.len() > 6 && named.is_subset(&known), "{named:?}");
}

#[test]
fn after_everything_that_operations_do_all_checks_hold() {
    let world = busy_world();
    let run = world.delete("a");
    world.call("gc_undo", json!({ "run_id": run }));
    world.delete("b");
    world.call("gc_purge", json!({"older_than": "0", "confirm": true}));
    world.call("update_memory", json!({"memory_id": "a", "context": "short", "erase_previous": true}));
    world.assert_doctor_is_content();
    let before = world.dump("home");
    world.call("doctor", json!({"repair": true}));
    assert_eq!(world.dump("home"), before, "there was nothing to repair");
}

#[test]
fn a_planted_trigger_is_reported_and_on_sqlite_does_nothing() {
    let world = busy_world();
    world.delete("a");
    let (plant, planted) = match TestEngine::chosen() {
        TestEngine::Sqlite => (
            "CREATE VIEW peek AS SELECT 1;
             CREATE TRIGGER spy AFTER INSERT ON memories BEGIN DELETE FROM audit; END",
            vec!["the trigger `spy` on `memories` is not Rootset's", "the view `peek` is not Rootset's"],
        ),
        TestEngine::Postgres => (
            "CREATE FUNCTION spy() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
             CREATE TRIGGER spy BEFORE INSERT ON memories FOR EACH ROW EXECUTE FUNCTION spy();
             CREATE RULE peek AS ON DELETE TO memories DO INSTEAD NOTHING",
            vec!["the rule `peek` on `memories` is not Rootset's", "the trigger `spy` on `memories` is not Rootset's"],
        ),
    };
    world.sql().execute_batch(plant).unwrap();
    let report = world.call("doctor", json!({}));
    let engine = array(&report["checks"]).iter().find(|check| check["id"] == "engine").unwrap();
    assert_eq!((&engine["ok"], &engine["found"]), (&json!(false), &json!(planted)));
    let audited = || world.call("list_audit", json!({}))["total"].as_i64().unwrap();
    let before = audited();
    world.call("add_memory", json!({"context": "What the trigger waits for."}));
    assert_eq!((audited(), before > 0), (before, true));
}

#[test]
fn rows_planted_behind_our_back_are_reported() {
    let memory = "(SELECT memory FROM memories WHERE name = 'a')";
    let plant = |sql: String| {
        let world = busy_world();
        world.sql().execute_batch(&sql).unwrap();
        world.complaints()
    };
    let orphan = "INSERT INTO entities VALUES (1, x'0102030405060708090a0b0c0d0e0f10', 9999, 'n', 't', 'n', 1, 0, 0)";
    let found = plant(orphan.to_owned());
    assert!(found.contains(&"I7.orphans".to_owned()), "{found:?}");
    for (sql, check) in [
        (
            format!("INSERT INTO contributions VALUES (1, {memory}, x'{}', 0, 1, NULL, 1.0)", "ab".repeat(16)),
            "I7.objects",
        ),
        (
            format!(
                "INSERT INTO contributions SELECT 1, x'{}', entity, 0, 1, NULL, 1.0 FROM entities LIMIT 1",
                "cd".repeat(16)
            ),
            "I7.memories",
        ),
        (format!("INSERT INTO chunks VALUES (1, 9999, x'{}', 0, 0, 0, 1, 0, NULL)", "ee".repeat(16)), "I8.memories"),
        ("DELETE FROM chunks".to_owned(), "I8.chunks"),
        ("DELETE FROM entities WHERE name = 'SharedThing'".to_owned(), "I6.ends"),
        ("DELETE FROM revisions WHERE revision = 2".to_owned(), "I8.revisions"),
        ("UPDATE memories SET status = 'pending' WHERE name = 'a'".to_owned(), "jobs"),
        ("UPDATE workspaces SET memory_count = memory_count + 1 WHERE workspace = 1".to_owned(), "counters"),
        (format!("UPDATE contributions SET workspace = 77 WHERE memory = {memory}"), "I6.workspaces"),
        (
            format!(
                "INSERT INTO untracked VALUES (1, x'{}', x'{}', 0, NULL, 0, NULL, NULL)",
                "ab".repeat(16),
                "ac".repeat(16)
            ),
            "I4.untracked",
        ),
        ("DELETE FROM contributions WHERE kind = 0".to_owned(), "I7.unvouched"),
        (format!("INSERT INTO vector_originals VALUES (1, 7777, x'{}')", "00".repeat(8)), "I8.vectors"),
        ("UPDATE audit SET actor = 'somebody else' WHERE seq = (SELECT MIN(seq) FROM audit)".to_owned(), "I11.audit"),
        ("UPDATE audit SET origin = 'http 192.0.2.1' WHERE chain = 1 AND seq = 1".to_owned(), "I11.audit"),
        (
            "DELETE FROM audit WHERE seq = (SELECT MIN(seq) FROM audit WHERE chain = 1) AND chain = 1".to_owned(),
            "I11.audit",
        ),
    ] {
        // What belongs to no workspace is nobody's under row-level security: no operation gets to see it.
        if check == "I6.workspaces" && !TestEngine::chosen().has_files() {
            continue;
        }
        let found = plant(sql.clone());
        assert!(found.contains(&check.to_owned()), "{sql}: {found:?}");
    }
}

#[test]
fn missing_and_superfluous_search_rows_are_reported_and_repaired() {
    let world = busy_world();
    let found = || world.listed(json!({"query": "ThreeThing"}));
    assert_eq!(found(), ["a"]);
    let sql = world.sql();
    for (index, newest) in [
        (SearchIndex::Memories, "SELECT MAX(chunk) FROM chunks"),
        (SearchIndex::Entities, "SELECT MAX(number) FROM entities"),
    ] {
        let newest: i64 = sql.scalar(newest, &[]).unwrap();
        sql.delete_search_rows(1, index, |key| key == newest).unwrap();
    }
    sql.insert_search_row(1, SearchIndex::Memories, 8888, "ghost").unwrap();
    assert_eq!(world.complaints(), ["I8.search_missing", "I8.search_superfluous"]);
    assert_eq!(found(), Vec::<String>::new());
    let repaired = world.call("doctor", json!({"repair": true}));
    assert_eq!(repaired["ok"], true);
    assert_eq!(found(), ["a"]);
    world.assert_doctor_is_content();
}

#[test]
fn statistics_count_what_is_there() {
    let world = busy_world();
    world.delete("b");
    let stats = world.call("get_stats", json!({}));
    let counts = &stats["counts"];
    assert_eq!((&counts["memories"], &counts["live"], &counts["trashed"]), (&json!(3), &json!(2), &json!(1)));
    assert_eq!(stats["by_source"]["user"], json!({"live": 2, "trashed": 1, "pending": 0}));
    assert_eq!((&stats["engine"], &stats["embedder"]), (&json!(world.engine_name()), &json!("none")));
    assert_eq!(text_of(&stats["workspace_id"]), "home");
    assert!(stats["sizes"]["database_bytes"].as_i64().unwrap() > 0);
}

#[test]
fn repair_rebuilds_whatever_is_derived() {
    let world = busy_world();
    world.delete("b");
    let before = world.dump("home");
    for sql in [
        "DELETE FROM chunks",
        "DELETE FROM contributions; DELETE FROM relations; DELETE FROM entities WHERE name <> 'FourThing'; DELETE FROM chunks",
        "DELETE FROM entities WHERE name = 'SharedThing'",
        "UPDATE workspaces SET memory_count = 99, content_bytes = 1; DELETE FROM sources",
        "",
    ] {
        world.sql().execute_batch(sql).unwrap();
        if sql.is_empty() {
            for index in [SearchIndex::Memories, SearchIndex::Entities] {
                world.sql().delete_search_rows(1, index, |_| true).unwrap();
            }
        }
        assert!(!world.complaints().is_empty(), "{sql}");
        world.call("doctor", json!({"repair": true}));
        world.assert_doctor_is_content();
        let graph = |dump: &serde_json::Value| (names(&dump["graph"]["entities"]), dump["counts"].clone());
        assert_eq!(graph(&world.dump("home")), graph(&before), "{sql}");
    }
    let found = world.found("OneThing ThreeThing SharedThing");
    assert_eq!(found.first().map(String::as_str), Some("a"), "full text is back");
}

#[test]
fn an_altered_audit_row_breaks_the_chain_where_it_stands() {
    let world = busy_world();
    world.delete("a");
    let count: i64 = world.sql().scalar("SELECT COUNT(*) FROM audit WHERE chain = 1", &[]).unwrap();
    for seq in 1..=count {
        let connection = world.sql();
        let actor: String =
            connection.scalar("SELECT actor FROM audit WHERE chain = 1 AND seq = ?1", &[seq.into()]).unwrap();
        connection.execute("UPDATE audit SET actor = 'somebody' WHERE chain = 1 AND seq = ?1", &[seq.into()]).unwrap();
        let answer = world.call("doctor", json!({}));
        let broken: Vec<&serde_json::Value> =
            crate::harness::array(&answer["checks"]).iter().filter(|check| check["ok"] == false).collect();
        assert_eq!(broken.len(), 1, "{broken:?}");
        assert_eq!(broken[0]["id"], "I11.audit");
        assert_eq!(broken[0]["found"], json!([format!("chain 1 breaks at entry {seq}")]));
        connection
            .execute("UPDATE audit SET actor = ?2 WHERE chain = 1 AND seq = ?1", &[seq.into(), (&actor).into()])
            .unwrap();
    }
    world.assert_doctor_is_content();
}

#[test]
fn entities_that_look_like_duplicates_are_reported_and_no_fault() {
    let world = World::new();
    let entities = json!([{"name": "Red Fox", "type": "animal"}, {"name": "red-fox", "type": "project"}]);
    world.call("import_graph", json!({"entities": entities, "relations": []}));
    let answer = world.call("doctor", json!({}));
    assert_eq!(answer["ok"], true);
    let report = crate::harness::array(&answer["checks"]).iter().find(|it| it["id"] == "report.duplicates").unwrap();
    let found = text_of(&report["found"][0]);
    assert!(found.contains("Red Fox (animal)") && found.contains("red-fox (project)"), "{found}");
}
