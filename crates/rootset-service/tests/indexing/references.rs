//! Who calls whom, as far as it can be told.

use serde_json::{Value, json};

use crate::harness::text_of;
use crate::place::{BILLING, ORDERS, Place, qualified_names, request, write};

fn certain(results: &[Value]) -> Vec<String> {
    let certain = results.iter().filter(|it| it["ambiguous"] != true);
    certain.map(|it| text_of(&it["qualified_name"])).collect()
}

#[test]
fn callers_are_found_in_the_same_file_and_through_imports() {
    let place = Place::indexed();
    let callers = place.callers("billing.charge");
    assert_eq!(certain(&callers), ["orders.place_order"], "{callers:?}");
    assert_eq!(callers[0]["file_path"], "orders.py");
    let line = 1 + ORDERS.lines().position(|line| line.contains("return charge")).unwrap();
    assert_eq!(callers[0]["line"], line, "{callers:?}");
    assert_eq!(certain(&place.callers("billing.refund")), ["billing.charge"]);
    assert_eq!(certain(&place.callers("orders.place_order")), ["orders.Basket.add_item"]);
    assert_eq!(certain(&place.callers("shop::measure")), ["shop::Shelf::put"]);
    assert_eq!(place.callers("orders.cancel_order"), [json!(null); 0]);
}

#[test]
fn callees_are_found_in_the_same_file_and_through_imports() {
    let place = Place::indexed();
    assert_eq!(certain(&place.callees("orders.place_order")), ["billing.charge"]);
    assert_eq!(certain(&place.callees("orders.Basket.add_item")), ["orders.place_order"]);
    assert_eq!(certain(&place.callees("billing.charge")), ["billing.refund"]);
    assert_eq!(certain(&place.callees("Shelf::put")), ["shop::measure"]);
}

#[test]
fn callers_in_unchanged_files_survive_the_re_index_of_their_target() {
    let place = Place::indexed();
    place.let_time_pass();
    place.write("billing.py", BILLING.replace("Takes money", "Takes all the money"));
    let answer = place.index();
    assert_eq!(answer["files_indexed"], 1, "{answer}");
    assert_eq!(certain(&place.callers("billing.charge")), ["orders.place_order"]);
    // The target vanishes and returns: the caller was never touched.
    place.write("billing.py", "def other():\n    pass\n");
    place.index();
    assert_eq!(certain(&place.callers("billing.charge")), [""; 0]);
    place.write("billing.py", BILLING);
    place.index();
    assert_eq!(certain(&place.callers("billing.charge")), ["orders.place_order"]);
    // It moves: the import no longer leads there, and nobody invents that it does.
    place.rename("billing.py", "elsewhere.py");
    place.index();
    let callers = place.callers("elsewhere.charge");
    assert_eq!(certain(&callers), [""; 0], "{callers:?}");
}

#[test]
fn a_new_symbol_is_reached_by_calls_that_were_there_before() {
    let place = Place::new();
    place.write("early.py", "from late import arrive\n\n\ndef wait():\n    return arrive()\n");
    place.index();
    place.write("late.py", "def arrive():\n    return 1\n");
    let answer = place.index();
    assert_eq!(answer["files_indexed"], 1, "{answer}");
    assert_eq!(certain(&place.callers("late.arrive")), ["early.wait"]);
    assert_eq!(certain(&place.callees("early.wait")), ["late.arrive"]);
}

#[test]
fn a_call_that_may_reach_several_is_marked_and_never_invented() {
    let place = Place::with([
        ("a/one.py", "class One:\n    def save(self):\n        pass\n"),
        ("b/two.py", "class Two:\n    def save(self):\n        pass\n"),
        ("c/user.py", "def use(thing):\n    return thing.save()\n"),
        ("kept.py", "x = 1\n"),
    ]);
    place.index();
    for target in ["a.one.One.save", "b.two.Two.save"] {
        let callers = place.callers(target);
        assert!(callers.iter().all(|it| it["ambiguous"] == true), "{callers:?}");
        assert!(qualified_names(&callers).iter().all(|it| it == "c.user.use"), "{callers:?}");
    }
    let callees = place.callees("c.user.use");
    assert!(callees.iter().all(|it| it["ambiguous"] == true), "{callees:?}");
}

#[test]
fn a_call_of_what_nobody_defines_reaches_nothing() {
    let place = Place::with([
        ("lone.py", "import os\n\n\ndef lone():\n    return os.getcwd() + vanish()\n"),
        ("b.py", "x = 1\n"),
    ]);
    place.index();
    assert_eq!(certain(&place.callees("lone.lone")), [""; 0]);
}

#[test]
fn calls_do_not_cross_repositories_when_a_repository_is_named() {
    let place = Place::indexed();
    let other = place.beside("cafe");
    write(&other.join("billing.py"), BILLING);
    write(&other.join("waiter.py"), "from billing import charge\n\n\ndef serve():\n    return charge(1)\n");
    place.world.call("index_codebase", request(&other, json!({})));
    let names = |repo: &str| {
        let answer = place.world.call("get_callers", json!({"qualified_name": "billing.charge", "repo": repo}));
        let mut names = qualified_names(answer["results"].as_array().unwrap());
        names.sort();
        names
    };
    assert_eq!(names("shop"), ["orders.place_order"]);
    assert_eq!(names("cafe"), ["waiter.serve"]);
}

#[test]
fn callers_are_limited() {
    let place = Place::with([("target.py", "def target():\n    pass\n")]);
    for number in 0..130 {
        place.write(
            &format!("u{number:03}.py"),
            format!("from target import target\n\n\ndef use_{number}():\n    target()\n"),
        );
    }
    place.index();
    assert_eq!(place.callers("target.target").len(), 50);
    for (limit, expected) in [(7, 7), (100, 100), (500, 100)] {
        let request = json!({"qualified_name": "target.target", "limit": limit});
        assert_eq!(place.world.call("get_callers", request)["results"].as_array().unwrap().len(), expected);
    }
}

#[test]
fn stale_and_trashed_files_call_nobody() {
    let place = Place::indexed();
    let run = place.world.delete(&place.id_of("orders.py"));
    assert_eq!(certain(&place.callers("billing.charge")), [""; 0]);
    place.world.call("gc_undo", json!({ "run_id": run }));
    assert_eq!(certain(&place.callers("billing.charge")), ["orders.place_order"]);
    place.remove("orders.py");
    place.index();
    assert_eq!(certain(&place.callers("billing.charge")), [""; 0]);
}
