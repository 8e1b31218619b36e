//! Answers from a current index: what a question brings up to date, for whom, and what it says where it could not.

use std::sync::Arc;

use rootset_api::Effect;
use rootset_service::{Caller, CurrentWorkspace, FrontEnd, Rights, Settings, WorkingFolder};
use serde_json::{Value, json};

use crate::harness::array;
use crate::place::{Place, SLUG, counts};

/// So long that a test never gives up before the look is over.
const PATIENCE_MS: u64 = 60_000;
/// Between two questions of a test: more than the two seconds in which a repository is looked at once.
const LATER_MS: i64 = 5_000;

fn settings(freshen_ms: u64) -> Settings {
    let mut settings = Settings::default();
    settings.code.freshen_ms = freshen_ms;
    settings
}

/// Questions of this place look at the tree first.
fn looking(mut place: Place) -> Place {
    place.world.service = place.world.process_with(settings(PATIENCE_MS));
    place
}

fn last_run(place: &Place) -> i64 {
    place.world.sql().scalar::<i64>("SELECT run FROM repos WHERE repo = ?1", &[SLUG.into()]).unwrap()
}

#[track_caller]
fn search(place: &Place, query: &str) -> Value {
    place.world.call("search_code", json!({ "query": query }))
}

#[test]
fn a_question_is_answered_from_the_tree_as_it_is() {
    let place = looking(Place::indexed());
    place.write("orders.py", "def reserve_table(guest):\n    return guest\n");
    place.write("new.py", "from orders import reserve_table\n\ndef welcome():\n    return reserve_table(1)\n");
    place.remove("billing.py");
    let answer = search(&place, "reserve_table");
    assert_eq!(answer["results"][0]["qualified_name"], "orders.reserve_table", "{answer}");
    assert!(answer.get("changed_files").is_none() && answer.get("indexing").is_none(), "{answer}");
    assert_eq!(place.callers("reserve_table").len(), 1);
    assert_eq!(place.symbol_names("orders.cancel_order"), [""; 0]);
    assert_eq!(place.stale(), ["billing.py"]);
    // Exactly what a run would have done.
    assert_eq!(counts(&place.index())[1..], [0, 4, 0]);
}

#[test]
fn every_question_about_code_looks_first() {
    for (operation, field) in [
        ("get_symbol", "qualified_name"),
        ("find_references", "symbol"),
        ("get_callers", "qualified_name"),
        ("get_callees", "qualified_name"),
    ] {
        let place = looking(Place::indexed());
        place.write("fresh.py", "def brand_new():\n    return 1\n");
        let answer = place.world.call(operation, json!({field: "brand_new"}));
        assert_eq!(answer["known"], true, "{operation}: {answer}");
    }
}

#[test]
fn a_look_that_finds_nothing_new_writes_nothing() {
    let place = looking(Place::indexed());
    place.let_time_pass();
    let run = last_run(&place);
    search(&place, "marmalade");
    assert_eq!(last_run(&place), run);
    place.write("billing.py", "def charge(item):\n    return 0\n");
    place.world.advance_ms(LATER_MS);
    search(&place, "marmalade");
    assert_eq!(last_run(&place), run + 1);
}

#[test]
fn a_repository_is_looked_at_once_in_two_seconds() {
    let place = looking(Place::indexed());
    search(&place, "marmalade");
    place.write("fresh.py", "def brand_new():\n    return 1\n");
    assert_eq!(place.found("brand_new"), [""; 0], "one look serves questions in a row");
    place.world.advance_ms(LATER_MS);
    assert_eq!(place.found("brand_new"), ["fresh.py"]);
}

#[test]
fn a_narrower_scope_stays_as_narrow_as_it_was() {
    let place = Place::new();
    place.index_with(json!({"languages": ["python"], "include_tests": false}));
    let place = looking(place);
    place.write("fresh.py", "def brand_new():\n    return 1\n");
    place.write("tests/test_fresh.py", "def test_brand_new():\n    return 1\n");
    place.write("src/lib.rs", "fn brand_new() {}\n");
    assert_eq!(place.found("brand_new"), ["fresh.py"]);
    assert_eq!(place.served(), ["billing.py", "fresh.py", "orders.py"]);
}

#[test]
fn who_may_not_write_indexes_nothing_and_hears_which_files_changed() {
    let mut place = looking(Place::indexed());
    place.world.caller.rights = Rights { scopes: Some([Effect::Read].into()), ..Rights::default() };
    place.write("orders.py", "def reserve_table(guest):\n    return guest\n");
    let answer = search(&place, "cancel_order");
    assert_eq!(answer["changed_files"], json!(["orders.py"]), "{answer}");
    assert_eq!(answer["results"][0]["file_path"], "orders.py");
    let symbol = place.world.call("get_symbol", json!({"qualified_name": "charge"}));
    assert!(symbol.get("changed_files").is_none(), "only files of the answer count: {symbol}");
    place.remove("orders.py");
    let symbol = place.world.call("get_symbol", json!({"qualified_name": "cancel_order"}));
    assert_eq!(symbol["changed_files"], json!(["orders.py"]), "{symbol}");
    assert_eq!(last_run(&place), 1);
}

#[test]
fn a_question_indexes_no_folder_that_its_caller_may_not_index() {
    let rights_elsewhere = Rights { roots: Some(vec!["/nowhere".to_owned()]), ..Rights::default() };
    for (front_end, roots, rights, is_looked_at) in [
        (FrontEnd::Http, false, Rights::default(), false),
        (FrontEnd::Mcp, false, Rights::default(), false),
        (FrontEnd::Http, true, rights_elsewhere, false),
        (FrontEnd::Http, true, Rights::default(), true),
        (FrontEnd::Mcp, true, Rights::default(), true),
    ] {
        let mut place = Place::indexed();
        let mut settings = settings(PATIENCE_MS);
        settings.code.roots = roots.then(|| vec![place.root()]);
        place.world.service = place.world.process_with(settings);
        place.world.caller = Caller { rights, ..Caller::new(front_end, "somebody", "home") };
        place.write("orders.py", "def reserve_table(guest):\n    return guest\n");
        let answer = search(&place, "cancel_order reserve_table");
        let names: Vec<&Value> = array(&answer["results"]).iter().map(|it| &it["qualified_name"]).collect();
        assert_eq!(names.contains(&&json!("orders.reserve_table")), is_looked_at, "{front_end:?}: {answer}");
        // Nobody learns through a server what happens outside the folders that it may index.
        assert!(answer.get("changed_files").is_none(), "{front_end:?}: {answer}");
    }
}

#[test]
fn what_is_not_finished_in_time_is_said_and_goes_on() {
    let mut place = Place::indexed();
    place.world.service = place.world.process_with(settings(1));
    place.write("orders.py", "def cancel_order(guest):\n    return guest\n");
    for number in 0..200 {
        place.write(&format!("f{number}.py"), format!("def function_{number}():\n    return {number}\n").repeat(20));
    }
    let answer = search(&place, "cancel_order");
    assert_eq!(answer["indexing"], json!([SLUG]), "{answer}");
    assert_eq!(answer["changed_files"], json!(["orders.py"]), "{answer}");
    place.world.service.finish().unwrap();
    place.world.advance_ms(LATER_MS);
    assert_eq!(place.served().len(), 204);
    assert_eq!(counts(&place.index())[1], 0);
}

#[test]
fn a_tree_that_lost_most_of_its_files_keeps_them_and_answers_say_so() {
    let place = looking(Place::indexed());
    for path in ["orders.py", "billing.py", "README.md"] {
        place.remove(path);
    }
    let answer = search(&place, "cancel_order");
    assert_eq!(answer["results"][0]["qualified_name"], "orders.cancel_order", "{answer}");
    assert!(array(&answer["changed_files"]).contains(&json!("orders.py")), "{answer}");
    place.assert_nothing_stale();
}

/// A project that nobody indexed, and an agent that works in it.
fn new_project(roots: bool) -> Place {
    let mut place = Place::new();
    place.write("rootset.toml", "");
    let mut settings = settings(PATIENCE_MS);
    settings.code.roots = roots.then(|| vec![place.root()]);
    place.world.service = place.world.process_with(settings);
    let workspace = CurrentWorkspace::Around(WorkingFolder::new(place.root()));
    place.world.caller = Caller::new(FrontEnd::Mcp, "agent", workspace);
    place
}

#[test]
fn the_first_question_indexes_a_project_below_an_allowed_root() {
    let place = new_project(true);
    let answer = search(&place, "cancel_order");
    assert_eq!(answer["results"][0]["qualified_name"], "orders.cancel_order", "{answer}");
    let listed = place.world.call("list_repos", json!({}));
    assert_eq!(listed["repos"][0]["repo"], SLUG, "{listed}");
    assert_eq!(counts(&place.index())[1], 0);
}

#[test]
fn the_first_question_indexes_nothing_where_nobody_allowed_it() {
    let mut place = new_project(false);
    assert_eq!(search(&place, "cancel_order")["results"], json!([]));
    // Not at a terminal either: the folder was not named.
    place.world.caller.front_end = FrontEnd::CommandLine;
    place.world.advance_ms(LATER_MS);
    assert_eq!(search(&place, "cancel_order")["results"], json!([]));
    let mut place = new_project(true);
    place.world.caller.rights = Rights { scopes: Some([Effect::Read].into()), ..Rights::default() };
    // The workspace of the project has to be there already: who only reads makes none.
    let writer = Caller { rights: Rights::default(), ..place.world.caller.clone() };
    let reader = std::mem::replace(&mut place.world.caller, writer);
    place.world.call("add_memory", json!({"context": "A note."}));
    place.world.caller = reader;
    assert_eq!(search(&place, "cancel_order")["results"], json!([]));
    assert_eq!(place.world.call("list_repos", json!({}))["repos"], json!([]));
}

#[test]
fn a_part_that_was_indexed_alone_stays_alone() {
    let place = new_project(true);
    place.world.call("index_codebase", json!({"path": place.file("src").to_str().unwrap()}));
    place.world.advance_ms(LATER_MS);
    assert_eq!(search(&place, "cancel_order")["results"], json!([]));
    assert_eq!(array(&place.world.call("list_repos", json!({}))["repos"]).len(), 1);
}

#[test]
fn questions_at_once_share_one_look() {
    let place = looking(Place::indexed());
    place.write("fresh.py", "def brand_new():\n    return 1\n");
    let (service, caller) = (place.world.service.clone(), place.world.caller.clone());
    let before = last_run(&place);
    std::thread::scope(|threads| {
        for _ in 0..4 {
            let (service, caller) = (Arc::clone(&service), caller.clone());
            threads.spawn(move || {
                let answer = service.call(&caller, "search_code", json!({"query": "brand_new"})).unwrap();
                assert_eq!(answer["results"][0]["file_path"], "fresh.py", "{answer}");
            });
        }
    });
    assert_eq!(last_run(&place), before + 1);
}
