//! Notes and code beside each other: notes that cite what vanished are reported and never touched, and neither is found
//! in the other's searches.

use serde_json::{Value, json};

use crate::harness::{array, text_of};
use crate::place::{ORDERS, Place};

fn cited(answer: &Value) -> Vec<(String, String)> {
    let citations = array(&answer["dangling_citations"]).iter();
    let mut cited: Vec<(String, String)> =
        citations.map(|it| (text_of(&it["name"]), it["cites"].to_string())).collect();
    cited.sort();
    cited
}

#[test]
fn a_note_that_cites_a_vanished_symbol_or_path_is_reported_and_not_touched() {
    let place = Place::indexed();
    let world = &place.world;
    world.add_named("by-symbol", "Refunds go through orders.cancel_order, never by hand.");
    world.add_named("by-path", "The rounding rule is in src/lib.rs.");
    world.add_named("by-neither", "Oranges are sold by weight.");
    world.add_named("by-other", "See orders.place_order for the start.");
    let before = ["by-symbol", "by-path", "by-neither", "by-other"].map(|name| world.look(name));
    place.write("orders.py", ORDERS.replace("def cancel_order(item):\n    return None\n\n\n", ""));
    place.remove("src/lib.rs");
    let answer = place.index();
    let found = cited(&answer);
    assert_eq!(found.iter().map(|it| it.0.as_str()).collect::<Vec<_>>(), ["by-path", "by-symbol"], "{answer}");
    assert!(found[0].1.contains("src/lib.rs"), "{answer}");
    assert!(found[1].1.contains("cancel_order"), "{answer}");
    let ids: Vec<&Value> = array(&answer["dangling_citations"]).iter().map(|it| &it["memory_id"]).collect();
    assert!(ids.iter().all(|id| id.is_string()), "{answer}");
    assert_eq!(["by-symbol", "by-path", "by-neither", "by-other"].map(|name| world.look(name)), before);
    let plan = world.call("prune_memory", json!({}));
    assert_eq!(plan["items_total"], 1, "the file alone: {plan}");
}

#[test]
fn a_symbol_that_moved_or_is_defined_elsewhere_is_not_dangling() {
    let place = Place::indexed();
    place.world.add_named("note", "Money comes back by refund, see billing.py.");
    place.write("copy.py", "def refund(item):\n    return item\n");
    let answer = place.index();
    assert_eq!(cited(&answer), []);
    place.write("billing.py", "def charge(item):\n    return item\n");
    let answer = place.index();
    assert_eq!(cited(&answer), [], "`refund` is still there, in copy.py: {answer}");
}

#[test]
fn a_run_that_removes_nothing_reports_no_citation() {
    let place = Place::indexed();
    place.world.add_named("note", "There never was a nowhere.py nor an orders.vanished function.");
    assert_eq!(cited(&place.index()), []);
}

#[test]
fn code_is_not_found_among_notes_nor_notes_among_code() {
    let place = Place::indexed();
    for number in 0..30 {
        place.write(&format!("many/f{number}.py"), format!("def marmalade_{number}():\n    return 'marmalade'\n"));
    }
    place.index();
    place.world.add_named("note", "Marmalade is made of oranges by place_order.");
    assert_eq!(place.world.found("marmalade"), ["note"]);
    assert_eq!(place.world.found("place_order"), ["note"]);
    assert_eq!(place.world.listed(json!({})), ["note"]);
    assert_eq!(place.world.call("list_memories", json!({}))["total"], 1);
    let results = place.world.call("search_code", json!({"query": "marmalade oranges", "limit": 100}));
    assert!(!results.to_string().contains("is made of"), "{results}");
    let entities = place.world.call("search_memory", json!({"query": "place_order", "mode": "entities"}));
    assert!(!entities.to_string().contains("orders.place_order"), "{entities}");
}

#[test]
fn forgetting_takes_code_only_on_request() {
    let place = Place::indexed();
    place.world.add_named("note", "Marmalade.");
    let plan = place.world.call("forget", json!({"query": "marmalade"}));
    assert_eq!(plan["matched"], 1, "{plan}");
    let plan = place.world.call("forget", json!({"query": "marmalade", "kinds": ["code"]}));
    assert_eq!((&plan["matched"], &plan["items"][0]["file_path"]), (&json!(1), &json!("orders.py")), "{plan}");
    assert_eq!(plan["maybe"][0]["file_path"], "README.md", "it sells oranges, too: {plan}");
}

#[test]
fn explaining_a_file_says_that_the_last_scan_holds_it() {
    let place = Place::indexed();
    let memory = place.id_of("billing.py");
    let explained = place.world.call("gc_explain", json!({ "id": memory }));
    assert_eq!(explained["alive"], true, "{explained}");
    place.remove("billing.py");
    place.index();
    let explained = place.world.call("gc_explain", json!({ "id": memory }));
    assert!(explained.to_string().contains("stale") || explained["alive"] == false, "{explained}");
}
