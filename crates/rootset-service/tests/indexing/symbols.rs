//! Symbols of all kinds: what `get_symbol` says of them, the outline of a file, and who uses a value.

use serde_json::{Value, json};

use crate::harness::{array, text_of};
use crate::place::Place;

/// Kinds and names of what a name stands for.
fn kinds(place: &Place, name: &str) -> Vec<(String, String)> {
    let answer = place.world.call("get_symbol", json!({ "qualified_name": name }));
    array(&answer["results"]).iter().map(|it| (text_of(&it["kind"]), text_of(&it["qualified_name"]))).collect()
}

/// Users and lines, certain ones alone.
fn users(place: &Place, name: &str) -> Vec<(String, i64)> {
    let answer = place.world.call("find_references", json!({ "symbol": name, "kind": "values" }));
    assert_eq!(answer["known"], true, "{name}: {answer}");
    let results = array(&answer["results"]);
    let certain = results.iter().filter(|it| it["certainty"] == "certain");
    certain.map(|it| (text_of(&it["qualified_name"]), it["line"].as_i64().unwrap())).collect()
}

#[test]
fn every_language_has_symbols_that_are_no_functions() {
    let place = Place::with([
        (
            "limits.py",
            "MAX_SIZE = 10\ncounter = 0\n\n\nclass Box:\n    width = 1\n\n    def __init__(self):\n        self.depth = 2\n        local = 3\n",
        ),
        ("color.py", "from enum import Enum\n\n\nclass Color(Enum):\n    RED = 1\n"),
        (
            "web/state.ts",
            "export const LIMIT = 5;\nexport type Names = string[];\nenum Mode { Dark, Light }\ninterface Shape { area: number }\nclass Panel { title = 'x'; constructor(private readonly owner: Shape) {} }\n",
        ),
        ("old.js", "exports.timeout = 3000;\nvar state = {};\nfunction f() { var inner = 1; }\n"),
        ("go.mod", "module acme.org/shop\n"),
        (
            "shop/cart.go",
            "package shop\n\nconst TaxRate = 7\n\nvar Default = New()\n\ntype Names = []string\n\ntype Cart struct {\n\tTotal int\n}\n\nfunc New() *Cart { x := 1; _ = x; return nil }\n",
        ),
        (
            "crates/gauge/src/lib.rs",
            "pub const DEPTH: u32 = 3;\nstatic COUNT: u32 = 0;\npub type Width = u32;\npub enum Unit { Metre, Foot }\npub struct Gauge { pub needle: u32 }\nmacro_rules! measure { () => { 1 } }\n",
        ),
        (
            "Till.java",
            "package till;\n\npublic class Till {\n    public static final int OPEN = 1;\n    private int coins;\n\n    enum State { IDLE, BUSY }\n}\n",
        ),
        (
            "list.c",
            "#define CAPACITY 10\n#define SQUARE(x) ((x) * (x))\ntypedef unsigned char byte_t;\nstatic int used;\nenum mode { FAST, SLOW };\nstruct node { int value; };\nint length(int n) { int local = n; return local; }\n",
        ),
        (
            "shape.cpp",
            "#include <vector>\nusing Points = std::vector<int>;\nclass Shape {\n public:\n  int sides_;\n};\nconst int kCorners = 4;\n",
        ),
        (
            "Order.cs",
            "namespace Shop;\npublic class Order { private int quantity; public string Name { get; set; } }\npublic enum Level { Low, High }\n",
        ),
        (
            "Mail.php",
            "<?php\nnamespace App;\nclass Mail { const PORT = 25; private $sender; }\nenum Suit { case Hearts; }\n",
        ),
        ("shelf.rb", "class Shelf\n  ROWS = 3\n  attr_reader :books\nend\n"),
        ("release.sh", "TARGET=main\nbuild() { local inner=1; }\n"),
    ]);
    place.index();
    for (name, kind, full) in [
        ("MAX_SIZE", "constant", "limits.MAX_SIZE"),
        ("counter", "variable", "limits.counter"),
        ("width", "field", "limits.Box.width"),
        ("depth", "field", "limits.Box.depth"),
        ("RED", "enum_member", "color.Color.RED"),
        ("LIMIT", "constant", "web.state.LIMIT"),
        ("web.state.Names", "type_alias", "web.state.Names"),
        ("Dark", "enum_member", "web.state.Mode.Dark"),
        ("area", "property", "web.state.Shape.area"),
        ("title", "field", "web.state.Panel.title"),
        ("owner", "field", "web.state.Panel.owner"),
        ("timeout", "variable", "old.timeout"),
        ("state", "variable", "old.state"),
        ("TaxRate", "constant", "shop.TaxRate"),
        ("Default", "variable", "shop.Default"),
        ("shop.Names", "type_alias", "shop.Names"),
        ("Total", "field", "shop.Cart.Total"),
        ("DEPTH", "constant", "gauge::DEPTH"),
        ("COUNT", "variable", "gauge::COUNT"),
        ("Width", "type_alias", "gauge::Width"),
        ("Metre", "enum_member", "gauge::Unit::Metre"),
        ("needle", "field", "gauge::Gauge::needle"),
        ("measure", "macro", "gauge::measure"),
        ("OPEN", "constant", "till.Till.OPEN"),
        ("coins", "field", "till.Till.coins"),
        ("BUSY", "enum_member", "till.Till.State.BUSY"),
        ("CAPACITY", "constant", "CAPACITY"),
        ("SQUARE", "macro", "SQUARE"),
        ("byte_t", "type_alias", "byte_t"),
        ("used", "variable", "used"),
        ("SLOW", "enum_member", "mode::SLOW"),
        ("value", "field", "node::value"),
        ("Points", "type_alias", "Points"),
        ("sides_", "field", "Shape::sides_"),
        ("kCorners", "constant", "kCorners"),
        ("quantity", "field", "Shop.Order.quantity"),
        ("Name", "property", "Shop.Order.Name"),
        ("High", "enum_member", "Shop.Level.High"),
        ("PORT", "constant", "App\\Mail\\PORT"),
        ("sender", "property", "App\\Mail\\sender"),
        ("Hearts", "enum_member", "App\\Suit\\Hearts"),
        ("ROWS", "constant", "Shelf::ROWS"),
        ("books", "property", "Shelf::books"),
        ("TARGET", "constant", "TARGET"),
    ] {
        let found = kinds(&place, name);
        assert!(found.contains(&(kind.to_owned(), full.to_owned())), "{name}: {found:?}");
    }
    for local in ["local", "inner", "x", "n"] {
        assert_eq!(kinds(&place, local), [], "what a function declares is its own: {local}");
    }
}

#[test]
fn the_exact_name_comes_first_and_code_before_fields() {
    let place = Place::with([("a.py", "class Job:\n    retry = 1\n"), ("retry.py", "def retry():\n    return 1\n")]);
    place.index();
    let names: Vec<String> = kinds(&place, "retry").into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(names, ["module", "function", "field"]);
}

#[test]
fn a_symbol_is_shown_by_its_first_lines_and_in_full_when_asked() {
    let place = Place::new();
    let body: String = (0..40).map(|number| format!("    step({number})\n")).collect();
    place.write("long.py", format!("def run():\n{body}"));
    place.index();
    let shown = |full: Value| {
        let answer = place.world.call("get_symbol", json!({ "qualified_name": "run", "full": full }));
        let result = answer["results"][0].clone();
        assert_eq!(result["signature"], "def run()");
        (text_of(&result["text"]).lines().count(), result["full_length"].is_null())
    };
    assert_eq!(shown(json!(false)), (12, false));
    assert_eq!(shown(json!(true)), (41, true));
}

#[test]
fn an_outline_has_signatures_and_no_bodies() {
    let place = Place::with([(
        "src/shop/cart.py",
        "RATE = 2\n\n\nclass Cart:\n    def total(self, tax: int) -> int:\n        return 1\n",
    )]);
    place.index();
    for path in ["src/shop/cart.py", "./src/shop/cart.py", &format!("{}/src/shop/cart.py", crate::place::SLUG)] {
        let answer = place.world.call("get_symbol", json!({ "file_path": path }));
        let lines: Vec<String> = array(&answer["results"])
            .iter()
            .map(|it| format!("{} {} {}", it["lines"][0], text_of(&it["kind"]), text_of(&it["signature"])))
            .collect();
        let expected = ["1 constant RATE = 2", "4 class class Cart", "5 method def total(self, tax: int) -> int"];
        assert_eq!(lines, expected, "{path}");
        assert!(array(&answer["results"]).iter().all(|it| it["text"].is_null()), "{answer}");
    }
    let unknown = place.world.call("get_symbol", json!({ "file_path": "shop/cart.py" }));
    assert_eq!((&unknown["known"], &unknown["nearest"]), (&json!(false), &json!(["src/shop/cart.py"])));
}

#[test]
fn an_outline_that_has_no_room_goes_on_at_an_offset() {
    let place = Place::new();
    let many: String =
        (0..400).map(|number| format!("def function_number_{number}(argument):\n    pass\n\n\n")).collect();
    place.write("many.py", many);
    place.index();
    let (mut seen, mut pages) = (0, 0);
    loop {
        let answer = place.world.call("get_symbol", json!({ "file_path": "many.py", "offset": seen }));
        assert!(answer.to_string().len() < 40_000);
        assert_eq!(answer["total"], 400);
        let shown = array(&answer["results"]).len();
        if shown == 0 {
            break;
        }
        (seen, pages) = (seen + shown, pages + 1);
    }
    assert!(seen == 400 && pages > 1, "{seen} in {pages} pages");
}

#[test]
fn a_symbol_that_does_not_exist_is_unknown_with_names_like_it() {
    let place = Place::with([("a.py", "def retry_later():\n    pass\n")]);
    place.index();
    let answer = place.world.call("get_symbol", json!({ "qualified_name": "retry_latr" }));
    assert_eq!((&answer["known"], &answer["results"]), (&json!(false), &json!([])), "{answer}");
    let refused = place.world.refuses("get_symbol", json!({})).to_string();
    assert!(refused.contains("file_path"), "{refused}");
}

#[test]
fn values_are_followed_to_their_users() {
    let place = Place::with([
        ("limits.py", "MAX = 10\n\n\ndef own():\n    return MAX\n\n\ndef hidden():\n    MAX = 3\n    return MAX\n"),
        (
            "a.py",
            "from limits import MAX as LIMIT\n\n\ndef imported():\n    # MAX in a comment, 'MAX' in a string\n    return LIMIT\n",
        ),
        (
            "b.py",
            "import limits\n\n\ndef through_module():\n    return limits.MAX\n\n\ndef other():\n    return unknown.MAX\n",
        ),
        ("tasks.py", "def job():\n    pass\n\n\ndef plan(run):\n    run(job)\n    job()\n    run(name=job)\n"),
        (
            "store.py",
            "class Store:\n    def __init__(self):\n        self.depth = 1\n\n    def read(self):\n        return self.depth\n\n\ndef look(store: Store):\n    return store.depth\n",
        ),
    ]);
    place.index();
    let own = |users: &[(&str, i64)]| users.iter().map(|(name, line)| ((*name).to_owned(), *line)).collect::<Vec<_>>();
    assert_eq!(
        users(&place, "limits.MAX"),
        own(&[("a.imported", 6), ("b.through_module", 5), ("limits.own", 5)]),
        "not its definition, a local of that name, a comment or an import"
    );
    assert_eq!(users(&place, "tasks.job"), own(&[("tasks.plan", 6), ("tasks.plan", 8)]), "a call is no value");
    assert_eq!(users(&place, "Store.depth"), own(&[("store.Store.read", 6), ("store.look", 10)]));
}

#[test]
fn values_do_not_change_whom_a_call_reaches() {
    let place = Place::with([
        ("a.py", "class Timer:\n    start = 0\n\n\ndef start():\n    pass\n\n\ndef go():\n    start()\n"),
        ("b.js", "const run = () => 1;\nconst settings = { run: 1 };\nfunction f() { run(); }\n"),
    ]);
    place.index();
    let callers = |name: &str| place.world.call("get_callers", json!({ "qualified_name": name }))["total"].clone();
    assert_eq!((callers("a.start"), callers("b.run")), (json!(1), json!(1)));
}

#[test]
fn a_search_for_the_name_of_a_constant_finds_its_definition_first() {
    let place = Place::with([
        (
            "use.py",
            "from limits import MAX_ROOMS\n\n\ndef check(rooms):\n    return rooms < MAX_ROOMS and MAX_ROOMS > 1\n",
        ),
        ("limits.py", "import os\n\nFLOORS = 3\nMAX_ROOMS = 10\n"),
    ]);
    place.index();
    for query in ["MAX_ROOMS", "`limits.MAX_ROOMS`"] {
        let answer = place.world.call("search_code", json!({ "query": query }));
        let first = &answer["results"][0];
        assert_eq!(
            (&first["qualified_name"], &first["lines"]),
            (&json!("limits.MAX_ROOMS"), &json!([4, 4])),
            "{answer}"
        );
    }
    let limited = place.world.call("search_code", json!({ "query": "MAX_ROOMS", "limit": 1 }));
    assert_eq!(array(&limited["results"]).len(), 1);
}
