//! Which folder is which repository, and that repositories do not touch each other.

use serde_json::{Value, json};

use crate::harness::array;
use crate::place::{ORDERS, Place, SLUG, counts, request, write};

fn repos(place: &Place) -> Vec<(String, String)> {
    let listed = place.world.call("list_repos", json!({}));
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    array(&listed["repos"]).iter().map(|it| (text(&it["repo"]), text(&it["root"]))).collect()
}

fn slugs(place: &Place) -> Vec<String> {
    repos(place).into_iter().map(|(slug, _)| slug).collect()
}

#[test]
fn indexing_a_second_repository_makes_nothing_of_the_first_stale() {
    let place = Place::indexed();
    let other = place.beside("cafe");
    write(&other.join("menu.py"), "def menu():\n    pass\n");
    let answer = place.world.call("index_codebase", request(&other, json!({})));
    assert_eq!((&answer["repo"], &answer["stale_memories"]), (&json!("cafe"), &json!(0)), "{answer}");
    assert_eq!(place.served().len(), 5);
    // What is stale in one is not counted by the other.
    place.remove("billing.py");
    assert_eq!(place.index()["stale_memories"], 1);
    let answer = place.world.call("index_codebase", request(&other, json!({})));
    assert_eq!((&answer["stale_memories"], &answer["files_unchanged"]), (&json!(0), &json!(1)), "{answer}");
}

#[test]
fn equal_files_of_two_repositories_are_memories_of_their_own() {
    let place = Place::with([("LICENSE", "Do as you please.\n"), ("pkg/__init__.py", "")]);
    let other = place.beside("cafe");
    write(&other.join("LICENSE"), "Do as you please.\n");
    write(&other.join("pkg/__init__.py"), "");
    place.index();
    place.world.call("index_codebase", request(&other, json!({})));
    assert_eq!(place.served(), ["cafe:LICENSE", "cafe:pkg/__init__.py", "LICENSE", "pkg/__init__.py"]);
    let sql = "SELECT memory FROM memories WHERE repo = 'cafe' AND file_path = 'LICENSE'";
    let id: rootset_model::MemoryId = place.world.sql().scalar(sql, &[]).unwrap();
    place.world.delete(&id.to_string());
    assert_eq!(place.served(), ["cafe:pkg/__init__.py", "LICENSE", "pkg/__init__.py"]);
    std::fs::remove_file(other.join("LICENSE")).unwrap();
    place.world.call("index_codebase", request(&other, json!({})));
    assert_eq!(place.served(), ["cafe:pkg/__init__.py", "LICENSE", "pkg/__init__.py"]);
    assert_eq!(counts(&place.index()), [2, 0, 2, 0]);
    place.world.assert_doctor_is_content();
}

#[test]
fn another_folder_of_the_same_name_gets_its_parents_name_too() {
    let place = Place::indexed();
    let other = place.beside("old").join(SLUG);
    write(&other.join("menu.py"), "def menu():\n    pass\n");
    let answer = place.world.call("index_codebase", request(&other, json!({})));
    assert_eq!(answer["repo"], "old-shop", "{answer}");
    assert_eq!(slugs(&place), ["old-shop", SLUG]);
    place.assert_nothing_stale();
    // Both remember who they are.
    let again = place.world.call("index_codebase", request(&other, json!({})));
    assert_eq!((&again["repo"], &again["files_unchanged"]), (&json!("old-shop"), &json!(1)), "{again}");
    assert_eq!(place.index()["repo"], SLUG);
}

#[test]
fn a_given_slug_stays_with_its_folder() {
    let place = Place::new();
    let answer = place.index_with(json!({"repo": "market"}));
    assert_eq!(answer["repo"], "market");
    // Without a slug, the folder is the repository that it was.
    let answer = place.index();
    assert_eq!((&answer["repo"], counts(&answer)), (&json!("market"), [4, 0, 4, 0]), "{answer}");
    assert_eq!(slugs(&place), ["market"]);
    let other = place.beside("cafe");
    write(&other.join("menu.py"), "def menu():\n    pass\n");
    let (code, error) = place.world.fails("index_codebase", request(&other, json!({"repo": "market"})));
    assert_eq!(code, "conflict", "{error}");
    assert!(error.to_json().to_string().contains("rebind"), "{error}");
    place.assert_nothing_stale();
    assert_eq!(place.served().len(), 4);
}

#[test]
fn a_folder_is_the_same_however_its_path_is_written() {
    let place = Place::indexed();
    let link = place.beside("link");
    std::os::unix::fs::symlink(place.root(), &link).unwrap();
    for path in [place.root().join("."), place.root().join("src/.."), link] {
        let answer = place.world.call("index_codebase", request(&path, json!({})));
        assert_eq!((&answer["repo"], counts(&answer)), (&json!(SLUG), [4, 0, 4, 0]), "{answer}");
    }
    assert_eq!(slugs(&place), [SLUG]);
}

#[test]
fn a_slug_is_pointed_at_another_folder_on_the_command_line_only() {
    let mut place = Place::indexed();
    let moved = place.beside("moved");
    std::fs::rename(place.root(), &moved).unwrap();
    let asked = request(&moved, json!({"repo": SLUG, "rebind": true}));
    for front_end in [rootset_service::FrontEnd::Mcp, rootset_service::FrontEnd::Http] {
        place.world.caller.front_end = front_end;
        let (code, error) = place.world.fails("index_codebase", asked.clone());
        assert!(["forbidden", "invalid_argument"].contains(&code), "{error}");
    }
    place.world.caller.front_end = rootset_service::FrontEnd::CommandLine;
    let memory = place.id_of("orders.py");
    let answer = place.world.call("index_codebase", asked);
    assert_eq!((&answer["repo"], &answer["files_seen"]), (&json!(SLUG), &json!(4)), "{answer}");
    assert_eq!(place.id_of("orders.py"), memory);
    place.assert_nothing_stale();
    assert_eq!(repos(&place), [(SLUG.to_owned(), moved.canonicalize().unwrap().to_str().unwrap().to_owned())]);
}

#[test]
fn the_same_folder_in_two_workspaces_is_two_repositories() {
    let place = Place::indexed();
    place.world.call("create_workspace", json!({"workspace_id": "second"}));
    let before = place.world.dump("home");
    let answer = place.index_with(json!({"workspace_id": "second"}));
    assert_eq!(counts(&answer), [4, 4, 0, 0], "{answer}");
    place.remove("billing.py");
    let answer = place.index_with(json!({"workspace_id": "second"}));
    assert_eq!(answer["stale_memories"], 1);
    assert_eq!(place.world.dump("home"), before);
    place.assert_nothing_stale();
    place.write("billing.py", ORDERS);
}

#[test]
fn folders_inside_each_other_are_repositories_of_their_own() {
    let place = Place::indexed();
    let inner = place.world.call("index_codebase", request(&place.file("src"), json!({})));
    assert_eq!((&inner["repo"], &inner["files_indexed"]), (&json!("src"), &json!(1)), "{inner}");
    assert_eq!(place.served(), ["README.md", "billing.py", "orders.py", "src/lib.rs", "src:lib.rs"]);
    std::fs::remove_dir_all(place.file("src")).unwrap();
    place.index();
    assert_eq!(place.stale(), ["src/lib.rs"], "the inner one was not scanned");
}
