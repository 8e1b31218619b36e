//! What a run answers, and what the reading operations say about a project.

use serde_json::json;

use crate::harness::{array, text_of};
use crate::place::{PROJECT, Place, SLUG, counts, request, write};

#[test]
fn a_run_counts_files_symbols_languages_and_lines() {
    let place = Place::new();
    let answer = place.index();
    assert_eq!(counts(&answer), [4, 4, 0, 0], "{answer}");
    assert_eq!(answer["repo"], SLUG);
    assert_eq!(answer["path"], place.root().canonicalize().unwrap().to_str().unwrap());
    assert!(answer["run_id"].is_string(), "{answer}");
    // Methods are functions, structs are classes.
    assert_eq!(answer["functions"], 8, "{answer}");
    assert_eq!(answer["classes"], 2, "{answer}");
    assert_eq!(answer["languages"], json!({"markdown": 1, "python": 2, "rust": 1}), "{answer}");
    let lines: usize = PROJECT.iter().map(|(_, text)| text.lines().count()).sum();
    assert_eq!(answer["total_lines"], lines, "{answer}");
    assert_eq!(answer["stale_memories"], 0);
    assert!(answer["elapsed_ms"].is_i64() && answer["message"].is_string(), "{answer}");
    assert_eq!(answer["skipped"], json!({}), "{answer}");
    assert_eq!(answer["dangling_citations"], json!([]), "{answer}");
    place.world.assert_doctor_is_content();
}

#[test]
fn an_unchanged_run_counts_what_the_tree_holds() {
    let place = Place::new();
    let (first, second) = (place.index(), place.index());
    for field in ["files_seen", "functions", "classes", "languages", "total_lines", "repo", "path", "stale_memories"] {
        assert_eq!(first[field], second[field], "{field}");
    }
    assert_ne!(first["run_id"], second["run_id"]);
}

#[test]
fn a_file_is_a_memory_with_the_path_and_the_run() {
    let place = Place::indexed();
    let memory = place.world.look(&place.id_of("src/lib.rs"));
    assert_eq!(memory["source"], "code_indexer");
    assert_eq!((&memory["repo"], &memory["file_path"]), (&json!(SLUG), &json!("src/lib.rs")));
    assert_eq!(memory["source_version"], 1, "{memory}");
    assert_eq!(memory["status"], "complete");
    assert!(memory.get("doc_hash").is_none() && memory.get("name").is_none(), "{memory}");
    place.write("src/lib.rs", "pub fn other() {}\n");
    place.index();
    let memory = place.world.look(&place.id_of("src/lib.rs"));
    assert_eq!(memory["source_version"], 2, "{memory}");
    assert_eq!(memory["revision"], 1, "no revisions are kept of files: {memory}");
}

#[test]
fn a_search_finds_code_by_words_names_and_parts_of_names() {
    let place = Place::indexed();
    assert_eq!(place.found("cancel_order"), ["orders.py"]);
    assert_eq!(place.found("places marmalade"), ["README.md", "orders.py"]);
    assert_eq!(place.found("raspberry"), ["README.md"]);
    assert!(place.found("basket empty").contains(&"orders.py".to_owned()));
    assert_eq!(place.found("zeppelin"), [""; 0]);
    let answer = place.world.call("search_code", json!({"query": "cancel_order"}));
    let first = &answer["results"][0];
    assert_eq!(first["qualified_name"], "orders.cancel_order", "{answer}");
    assert_eq!((&first["kind"], &first["repo"]), (&json!("function"), &json!(SLUG)));
    assert!(text_of(&first["snippet"]).contains("def cancel_order"), "{answer}");
    assert!(!first["lines"].is_null(), "{answer}");
}

#[test]
fn a_search_is_narrowed_by_repo_and_language_and_limited() {
    let place = Place::indexed();
    let other = place.beside("cafe");
    write(&other.join("menu.py"), "def oranges():\n    return 'oranges'\n");
    place.world.call("index_codebase", request(&other, json!({})));
    let paths = |fields: serde_json::Value| {
        let mut asked = fields;
        asked["query"] = "oranges".into();
        let answer = place.world.call("search_code", asked);
        let mut paths: Vec<String> = array(&answer["results"]).iter().map(|it| text_of(&it["file_path"])).collect();
        paths.sort();
        paths
    };
    assert_eq!(paths(json!({})), ["README.md", "menu.py", "src/lib.rs"]);
    assert_eq!(paths(json!({"repo": "cafe"})), ["menu.py"]);
    assert_eq!(paths(json!({"repo": SLUG})), ["README.md", "src/lib.rs"]);
    assert_eq!(paths(json!({"languages": ["rust", "python"]})), ["menu.py", "src/lib.rs"]);
    assert_eq!(paths(json!({"limit": 1})).len(), 1);
    assert_eq!(place.world.fails("search_code", json!({"query": "x", "repo": "nowhere"})).0, "not_found");
    place.world.refuses("search_code", json!({"query": "x", "languages": ["klingon"]}));
}

#[test]
fn any_text_is_a_valid_query() {
    let place = Place::indexed();
    for query in
        ["\"", "a\"b OR NOT (", "head:charge", "*", "NEAR(a b)", "{}", "💥", "orders.place_order(item)->x", "--"]
    {
        place.world.call("search_code", json!({ "query": query }));
    }
    place.world.refuses("search_code", json!({}));
}

#[test]
fn a_symbol_is_read_by_its_name_or_its_last_parts() {
    let place = Place::indexed();
    let found = place.symbols("orders.Basket.add_item");
    assert_eq!(found.len(), 1, "{found:?}");
    let found = &found[0];
    assert_eq!(found["qualified_name"], "orders.Basket.add_item");
    assert_eq!((&found["kind"], &found["file_path"]), (&json!("method"), &json!("orders.py")));
    assert_eq!(found["signature"], "def add_item(self, item)", "{found}");
    assert_eq!(text_of(&found["text"]).trim(), "def add_item(self, item):\n        return place_order(item)");
    for name in ["Basket.add_item", "add_item"] {
        assert_eq!(place.symbol_names(name), ["orders.Basket.add_item"], "{name}");
    }
    assert_eq!(place.symbol_names("put"), ["shop::Shelf::put"]);
    assert_eq!(place.symbol_names("Shelf::put"), ["shop::Shelf::put"]);
    assert_eq!(place.symbol_names("shop::measure"), ["shop::measure"]);
    // The whole of a class has its methods inside.
    assert!(text_of(&place.symbols("Basket")[0]["text"]).contains("def empty_basket"));
}

#[test]
fn all_symbols_with_a_name_are_answered() {
    let place = Place::new();
    place.write("a.py", "def twin():\n    return 1\n");
    place.write("b.py", "class B:\n    def twin(self):\n        return 2\n");
    place.index();
    assert_eq!(place.symbol_names("twin"), ["a.twin", "b.B.twin"]);
    assert_eq!(place.symbol_names("B.twin"), ["b.B.twin"]);
    assert_eq!(place.symbol_names("nobody"), [""; 0]);
}

#[test]
fn an_answer_about_symbols_is_never_longer_than_a_page() {
    let place = Place::with([]);
    let body = "    x = 'a line of some length, to fill the page'\n".repeat(60);
    for number in 0..60 {
        place.write(&format!("m{number:02}.py"), format!("class Model:\n    pass\n\n\ndef run():\n{body}"));
    }
    place.write("long.py", format!("def only():\n{}", body.repeat(20)));
    place.index();
    for (name, shown_in_full) in [("Model", true), ("run", false), ("only", false)] {
        let answer = place.world.call("get_symbol", json!({ "qualified_name": name }));
        let results = array(&answer["results"]);
        let text: usize = results.iter().map(|it| text_of(&it["text"]).len()).sum();
        assert!(!results.is_empty() && text <= 12_000, "{name}: {text}");
        assert!(results.iter().all(|it| it["full_length"].is_null() == shown_in_full), "{name}");
        assert!(results.iter().all(|it| !text_of(&it["text"]).is_empty()), "{name}");
    }
    let answer = place.world.call("get_symbol", json!({"qualified_name": "run"}));
    assert_eq!(answer["total"], 60, "what has no room is counted");
    assert!(array(&answer["results"]).iter().all(|it| text_of(&it["text"]).lines().count() <= 12));
}

#[test]
fn symbols_are_entities_that_their_files_define() {
    let place = Place::indexed();
    let entity = place.world.entity("orders.Basket");
    assert_eq!((&entity["type"], &entity["refcount"]), (&json!("class"), &json!(1)), "{entity}");
    assert_eq!(entity["memory_ids"], json!([place.id_of("orders.py")]));
    let graph = place.world.call("export_graph", json!({}));
    let relations: Vec<String> = array(&graph["relations"]).iter().map(ToString::to_string).collect();
    let is_said = |verb: &str, end: &str| relations.iter().any(|it| it.contains(verb) && it.contains(end));
    assert!(is_said("defines", "orders.Basket.add_item"), "{graph}");
    assert!(is_said("imports", "billing"), "{graph}");
}

#[test]
fn a_base_is_inherited() {
    let place = Place::with([("shapes.py", "class Shape:\n    pass\n\n\nclass Circle(Shape):\n    pass\n")]);
    place.index();
    let graph = place.world.call("export_graph", json!({})).to_string();
    assert!(graph.contains("inherits"), "{graph}");
    assert_eq!(place.world.entity("shapes.Circle")["type"], "class");
}

#[test]
fn repositories_are_listed_with_root_files_run_and_stale_ones() {
    let place = Place::new();
    assert_eq!(place.world.call("list_repos", json!({}))["repos"], json!([]));
    place.index();
    place.remove("billing.py");
    place.index();
    let listed = place.world.call("list_repos", json!({}));
    let repo = &listed["repos"][0];
    assert_eq!(repo["repo"], SLUG, "{listed}");
    assert_eq!(repo["root"], place.root().canonicalize().unwrap().to_str().unwrap());
    assert_eq!((&repo["files"], &repo["stale_memories"]), (&json!(3), &json!(1)), "{listed}");
    assert!(repo["last_run_at"].is_string(), "{listed}");
}

#[test]
fn requests_that_make_no_sense_are_refused_by_name() {
    let place = Place::indexed();
    for fields in [
        json!({"languages": ["klingon"]}),
        json!({"languages": "python"}),
        json!({"max_file_size": 0}),
        json!({"max_file_size": -1}),
        json!({"repo": "No Slug!"}),
        json!({"accept_missin": true}),
    ] {
        let field = fields.as_object().unwrap().keys().next().unwrap().clone();
        let error = place.world.refuses("index_codebase", place.request(fields));
        assert!(error.to_string().contains(&field) || error.message.contains(&field), "{error}");
    }
    place.world.refuses("index_codebase", json!({}));
    place.world.refuses("index_codebase", json!({"path": ""}));
    let file = json!({"path": place.file("orders.py").to_str().unwrap()});
    place.world.refuses("index_codebase", file);
    place.assert_nothing_stale();
    let (code, _) = place.world.fails("index_codebase", place.request(json!({"workspace_id": "elsewhere"})));
    assert_eq!(code, "not_found");
}
