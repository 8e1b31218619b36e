//! What answers about references say of themselves: what is sure, what may be, what is counted without being listed.
//!
//! Not here: in which ways languages name what they call (`idioms`).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::text_of;
use crate::idioms::names;
use crate::place::Place;

#[test]
fn what_cannot_be_placed_is_counted() {
    let place = Place::with([
        ("a.py", "class A:\n    def save(self):\n        pass\n"),
        (
            "b.py",
            "def one(thing):\n    thing.save()\n\n\ndef two(a):\n    a.b.c[0].save()\n\n\ndef three():\n    ','.save()\n",
        ),
    ]);
    place.index();
    let answer = place.world.call("get_callers", json!({"qualified_name": "A.save"}));
    assert_eq!((&answer["total"], &answer["unresolved"]), (&json!(0), &json!(2)), "{answer}");
    let answer = place.world.call("get_callees", json!({"qualified_name": "b.two"}));
    assert_eq!((&answer["total"], &answer["unresolved"]), (&json!(0), &json!(1)), "{answer}");
}

/// What is listed, what could not be placed and what is said to lead elsewhere: together all calls of the name.
#[test]
fn every_call_of_a_name_is_listed_or_counted() {
    let place = Place::with([
        (
            "a.py",
            "import json\n\n\nclass Store:\n    def dump(self):\n        pass\n\n\nclass Other:\n    def dump(self):\n        pass\n",
        ),
        (
            "b.py",
            "import json\nfrom a import Store, Other\n\n\ndef one(x: Store):\n    x.dump()\n    json.dump(1)\n\n\ndef two(x: Other):\n    x.dump()\n\n\ndef three(thing):\n    thing[0].dump()\n",
        ),
    ]);
    place.index();
    let answer = place.world.call("get_callers", json!({"qualified_name": "Store.dump"}));
    let counted = ["total", "unresolved", "elsewhere"].map(|count| answer[count].as_u64().unwrap());
    assert_eq!(counted, [2, 0, 2], "{answer}");
}

#[test]
fn an_override_is_possible_where_its_base_is_called() {
    let place = Place::with([
        (
            "a.py",
            "class Base:\n    def render_page(self):\n        pass\n\n    def run(self):\n        self.render_page()\n",
        ),
        ("b.py", "from a import Base\n\n\nclass Below(Base):\n    def render_page(self):\n        pass\n"),
    ]);
    place.index();
    assert_eq!(names(&place, "Below.render_page", "possible"), BTreeSet::from(["a.Base.run".to_owned()]));
    assert_eq!(names(&place, "Below.render_page", "certain"), BTreeSet::new());
    assert_eq!(names(&place, "Base.render_page", "certain"), BTreeSet::from(["a.Base.run".to_owned()]));
}

#[test]
fn an_unknown_symbol_is_said_to_be_unknown() {
    let place = Place::indexed();
    let answer = place.world.call("get_callers", json!({"qualified_name": "billing.chrage"}));
    assert_eq!(answer["known"], false, "{answer}");
    let answer = place.world.call("get_callers", json!({"qualified_name": "cancel_ordr"}));
    assert_eq!(answer["nearest"], json!(["orders.cancel_order"]), "{answer}");
}

fn kinds(place: &Place, fields: Value) -> Vec<(String, String)> {
    let answer = place.world.call("find_references", fields);
    let results = answer["results"].as_array().unwrap();
    assert_eq!(answer["total"], results.len(), "{answer}");
    results.iter().map(|it| (text_of(&it["kind"]), text_of(&it["qualified_name"]))).collect()
}

#[test]
fn references_are_calls_imports_bases_overrides_and_types() {
    let place = Place::with([
        ("store.py", "class Store:\n    def put(self):\n        pass\n"),
        (
            "disk.py",
            "from store import Store\n\n\nclass Disk(Store):\n    spare: Store = None\n\n    def put(self):\n        super().put()\n\n\ndef make() -> Store:\n    return Store()\n",
        ),
        ("test_disk.py", "from disk import make\n\n\ndef test_make():\n    make()\n"),
    ]);
    place.index();
    let of = |kind: &str, name: &str| (kind.to_owned(), name.to_owned());
    assert_eq!(
        kinds(&place, json!({"symbol": "store.Store"})),
        [
            of("calls", "disk.make"),
            of("types", "disk.Disk"),
            of("types", "disk.make"),
            of("bases", "disk.Disk"),
            of("imports", "disk")
        ]
    );
    assert_eq!(kinds(&place, json!({"symbol": "Store.put", "kind": "overrides"})), [of("overrides", "disk.Disk.put")]);
    assert_eq!(
        kinds(&place, json!({"symbol": "Disk.put", "direction": "out"})),
        [of("calls", "store.Store.put"), of("overrides", "store.Store.put")]
    );
    assert_eq!(
        kinds(&place, json!({"symbol": "Disk", "kind": "bases", "direction": "out"})),
        [of("bases", "store.Store")]
    );
    let reached = place.world.call("find_references", json!({"symbol": "Store", "depth": 2, "kind": "calls"}));
    let files: Vec<_> = reached["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (text_of(&it["file_path"]), it["is_test"] == true, it["steps"].clone()))
        .collect();
    assert_eq!(
        files,
        [("disk.py".to_owned(), false, json!(1)), ("test_disk.py".to_owned(), true, json!(2))],
        "{reached}"
    );
    place.world.refuses("find_references", json!({"symbol": "Store", "depth": 2, "direction": "out"}));
}

#[test]
fn a_changed_manifest_changes_what_names_lead_to() {
    let place = Place::with([
        ("go.mod", "module example.com/old\n"),
        ("store/store.go", "package store\n\nfunc Open() {}\n"),
        ("main.go", "package main\n\nimport \"example.com/new/store\"\n\nfunc main() { store.Open() }\n"),
    ]);
    // Manifests are read whatever languages are asked for.
    place.index_with(json!({"languages": ["go"]}));
    assert_eq!(names(&place, "store.Open", "certain"), BTreeSet::new());
    place.let_time_pass();
    place.write("go.mod", "module example.com/new\n");
    let answer = place.index_with(json!({"languages": ["go"]}));
    assert_eq!(answer["files_indexed"], 1, "{answer}");
    assert_eq!(names(&place, "store.Open", "certain"), BTreeSet::from(["main.main".to_owned()]));
}

#[test]
fn answers_come_in_pages_with_a_total() {
    let place = Place::with([("target.py", "def target():\n    pass\n")]);
    for number in 0..7 {
        place.write(
            &format!("u{number}.py"),
            format!("from target import target\n\n\ndef use_{number}():\n    target()\n"),
        );
    }
    place.index();
    let page = place.world.call("get_callers", json!({"qualified_name": "target.target", "limit": 3, "offset": 6}));
    assert_eq!(
        (&page["total"], &page["returned"], &page["offset"], &page["limit"]),
        (&json!(7), &json!(1), &json!(6), &json!(3))
    );
    assert_eq!(page["results"][0]["qualified_name"], "u6.use_6", "{page}");
}

#[test]
fn a_call_of_what_a_function_made_may_reach_that_function() {
    let place = Place::with([
        ("made.js", "function maker(x) { return function inner() { return x; }; }\nmodule.exports = { maker };\n"),
        (
            "use.js",
            "const made = require('./made');\nvar alias = made.maker;\nfunction near() { const run = made.maker(1); run(); }\nfunction far() { const go = alias(2); go(); }\n",
        ),
    ]);
    place.index();
    let answer = place.world.call("get_callers", json!({"qualified_name": "made.maker"}));
    let possible = answer["results"].as_array().unwrap().iter().filter(|it| it["certainty"] == "possible");
    let possible: Vec<String> = possible.map(|it| text_of(&it["qualified_name"])).collect();
    assert_eq!(possible, ["use.near", "use.far"], "{answer}");
    assert_eq!(names(&place, "made.maker", "certain"), BTreeSet::from(["use.near".to_owned(), "use.far".to_owned()]));
}

#[test]
fn a_symbol_is_found_under_the_name_by_which_others_import_it() {
    let place = Place::with([
        ("web/__init__.py", "from web.request import Request as Request\n"),
        ("web/request.py", "class Request:\n    pass\n"),
        ("form.py", "from web import Request\n\n\nclass Form(Request):\n    pass\n"),
    ]);
    place.index();
    let answer = place.world.call("find_references", json!({"symbol": "web.Request", "kind": "bases"}));
    assert_eq!(answer["results"][0]["qualified_name"], "form.Form", "{answer}");
    let unknown = place.world.call("find_references", json!({"symbol": "web.Nothing", "kind": "bases"}));
    assert_eq!(unknown["known"], false, "{unknown}");
}

#[test]
fn what_has_all_methods_of_a_go_interface_possibly_implements_it() {
    let place = Place::with([
        ("go.mod", "module example.com/app\n"),
        (
            "match.go",
            "package app\n\ntype Hello struct{}\n\ntype Matcher interface {\n\tMatch(*Hello) bool\n\tName() string\n}\n",
        ),
        (
            "kinds/kinds.go",
            "package kinds\n\nimport \"example.com/app\"\n\n// ByHost is commented.\ntype ByHost struct{}\n\nfunc (b ByHost) Match(hello *app.Hello) bool { return true }\n\nfunc (b ByHost) Name() string { return \"\" }\n\ntype Nameless struct{}\n\nfunc (n Nameless) Match(hello *app.Hello) bool { return true }\n\ntype OfText struct{}\n\nfunc (t OfText) Match(text string) bool { return true }\n\nfunc (t OfText) Name() string { return \"\" }\n\ntype Around struct {\n\tByHost\n}\n\nfunc (a Around) Match(hello *app.Hello) bool { return false }\n",
        ),
    ]);
    place.index();
    let names = |symbol: &str, kind: &str| {
        let answer = place.world.call("find_references", json!({"symbol": symbol, "kind": kind}));
        let results = answer["results"].as_array().unwrap().iter();
        results
            .map(|it| format!("{} {}", it["qualified_name"].as_str().unwrap(), it["certainty"].as_str().unwrap()))
            .collect::<BTreeSet<_>>()
    };
    let set = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<BTreeSet<_>>();
    let methods = set(&["kinds.ByHost.Match possible", "kinds.Around.Match possible"]);
    assert_eq!(names("Matcher.Match", "overrides"), methods);
    assert_eq!(names("app.Matcher", "bases"), set(&["kinds.ByHost possible", "kinds.Around possible"]));
    let answer = place.world.call("find_references", json!({"symbol": "app.Matcher", "kind": "bases"}));
    assert_eq!(answer["results"][0]["line"], 6, "behind its comment: {answer}");
}

#[test]
fn of_two_symbols_the_one_that_is_written_like_the_question_comes_first() {
    let place = Place::with([
        ("go.mod", "module example.com/app\n"),
        (
            "address.go",
            "package app\n\ntype Address struct{}\n\nfunc (a Address) listen() int { return listen(listen(1)) }\n\nfunc listen(x int) int { return x }\n\nfunc (a Address) Listen() int { return 0 }\n",
        ),
    ]);
    place.index();
    for wanted in ["Address.Listen", "Address.listen"] {
        let answer = place.world.call("search_code", json!({"query": wanted}));
        let first = answer["results"][0]["qualified_name"].as_str().unwrap();
        assert!(first.ends_with(wanted), "{answer}");
    }
}
