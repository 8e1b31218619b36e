//! Trees are what they say they are.

#![allow(clippy::unwrap_used, reason = "clippy's own exception for tests does not reach the helpers of a test binary")]

use std::collections::BTreeMap;
use std::path::Path;

use rootset_testing::temporary_folder;
use rootset_trees::Tree;

/// Files and links below a folder, with their contents.
fn on_disk(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_symlink() {
                found.insert(name, std::fs::read_link(path).unwrap().into_os_string().into_encoded_bytes());
            } else {
                found.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    found
}

#[test]
fn equal_seeds_make_equal_trees_and_equal_changes() {
    for seed in 0..20 {
        let (one, other) = (temporary_folder(), temporary_folder());
        let mut trees = [one.path(), other.path()].map(|root| Tree::create(root, seed).unwrap());
        for _ in 0..30 {
            let said = trees.each_mut().map(|tree| tree.step().unwrap());
            assert_eq!(said[0], said[1], "seed {seed}");
            assert_eq!(on_disk(one.path()), on_disk(other.path()), "seed {seed}: {}", said[0]);
        }
    }
}

#[test]
fn every_kind_of_change_happens() {
    let folder = temporary_folder();
    let mut tree = Tree::create(folder.path(), 1).unwrap();
    let said: Vec<String> = (0..400).map(|_| tree.step().unwrap()).collect();
    let said = said.join("; ");
    let kinds = [
        "edit a body",
        "add a function",
        "remove a function",
        "rename a function",
        "reverse the functions",
        "move",
        "copy",
        "swap",
        "delete",
        "back",
        "go back",
        "touch",
        "look at",
        "ignore",
        "a folder",
        "a link",
        "old time",
        "write",
    ];
    for kind in kinds {
        assert!(said.contains(kind), "`{kind}` never happens");
    }
}
