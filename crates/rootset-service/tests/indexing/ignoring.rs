//! Files that a repository says not to look at.

use serde_json::json;

use crate::place::{Place, write};

#[test]
fn ignored_files_are_not_indexed_with_or_without_git() {
    let place = Place::new();
    place.write(".gitignore", "build/\n*.log.md\n!kept.log.md\n");
    place.write(".rootsetignore", "fixtures\n");
    place.write("build/made.py", "def made():\n    pass\n");
    place.write("noise.log.md", "# noise\n");
    place.write("kept.log.md", "# kept\n");
    place.write("tests/fixtures/sample.py", "def sample():\n    pass\n");
    place.write("src/.gitignore", "local.rs\n");
    place.write("src/local.rs", "fn local() {}\n");
    place.index();
    let unwanted = ["build/made.py", "noise.log.md", "tests/fixtures/sample.py", "src/local.rs"];
    let served = place.served();
    assert!(unwanted.iter().all(|path| !served.contains(&(*path).to_owned())), "{served:?}");
    assert!(served.contains(&"kept.log.md".to_owned()) && served.contains(&"orders.py".to_owned()), "{served:?}");
}

#[test]
fn a_file_that_becomes_ignored_leaves_the_index_and_returns_with_the_rule_gone() {
    let place = Place::indexed();
    let memory = place.id_of("billing.py");
    place.write(".gitignore", "billing.*\n");
    let answer = place.index();
    assert_eq!((&answer["files_removed"], &answer["stale_memories"]), (&json!(1), &json!(1)), "{answer}");
    assert_eq!(place.stale(), ["billing.py"]);
    place.remove(".gitignore");
    let answer = place.index();
    assert_eq!(answer["stale_memories"], place.stale().len(), "{answer}");
    assert!(place.served().contains(&"billing.py".to_owned()));
    assert_eq!(place.id_of("billing.py"), memory);
}

#[test]
fn rules_above_the_root_count_inside_one_repository_only() {
    let place = Place::new();
    // A stray file beside the project: nobody's rule.
    write(&place.beside(".gitignore"), "*.py\n");
    place.index();
    assert!(place.served().contains(&"orders.py".to_owned()), "{:?}", place.served());
    // A folder inside a repository follows its rules.
    place.write(".gitignore", "*.rs\n");
    std::fs::create_dir(place.file(".git")).unwrap();
    place.write("src/extra.py", "def extra():\n    pass\n");
    place.world.call("index_codebase", json!({"path": place.file("src").to_str().unwrap(), "repo": "inner"}));
    let inner: Vec<String> = place.served().into_iter().filter(|path| path.starts_with("inner:")).collect();
    assert_eq!(inner, ["inner:extra.py"]);
}

#[test]
fn the_history_and_the_packages_of_others_are_never_entered() {
    let place = Place::new();
    for path in [".git/hooks/sample.py", "node_modules/left/index.js", "src/__pycache__/x.py", ".hg/store.py"] {
        place.write(path, "x = 1\n");
    }
    place.index();
    assert_eq!(place.served(), ["README.md", "billing.py", "orders.py", "src/lib.rs"]);
}

#[test]
fn the_operator_leaves_paths_out_too() {
    let mut place = Place::indexed();
    let mut settings = rootset_service::Settings::default();
    settings.code.exclude = vec!["src/".into(), "*.md".into()];
    place.world.service = place.world.process_with(settings);
    place.index();
    assert_eq!(place.served(), ["billing.py", "orders.py"]);
    assert_eq!(place.stale(), ["README.md", "src/lib.rs"]);
}

#[test]
fn every_pattern_of_a_very_long_ignore_file_counts() {
    let place = Place::new();
    let patterns: String = (0..50_000).map(|it| format!("/a{}/x_{it}/b*c{it}/\nmade_{it}_*.py\n", it % 7)).collect();
    place.write(".gitignore", ["*.md\n", &patterns, "!README.md\n"].concat());
    place.write("a4/x_123/bzc123/ignored.py", "def ignored():\n    pass\n");
    place.write("a4/x_124/bzc123/kept.py", "def kept():\n    pass\n");
    place.write("src/made_49999_now.py", "def made():\n    pass\n");
    place.write("src/NOTES.md", "# Notes\n");
    place.index();
    let code: Vec<String> = place.served().into_iter().filter(|path| path != ".gitignore").collect();
    assert_eq!(code, ["README.md", "a4/x_124/bzc123/kept.py", "billing.py", "orders.py", "src/lib.rs"]);
    // Below the root, too, where it is met on the way.
    place.write(".gitignore", "*.md\n");
    place.write("src/.gitignore", &patterns);
    place.index();
    let code: Vec<String> = place.served().into_iter().filter(|path| !path.ends_with(".gitignore")).collect();
    let expected = ["a4/x_123/bzc123/ignored.py", "a4/x_124/bzc123/kept.py", "billing.py", "orders.py", "src/lib.rs"];
    assert_eq!(code, expected);
}
