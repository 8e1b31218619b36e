//! Finds the languages: every file of `src/languages` is one, so that adding a language edits no list.
//!
//! A file that begins with `#![cfg(feature = "…")]` is left out of builds without that feature.

#![allow(clippy::disallowed_methods, reason = "the crate does no I/O; its build reads the crate's own files")]

use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=src/languages");
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("src/languages");
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("the folder of languages exists")
        .map(|entry| entry.expect("its entries are readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    files.sort();
    let (mut modules, mut lists) = (String::new(), String::new());
    for file in files {
        let module = file.file_stem().and_then(|stem| stem.to_str()).expect("a language's file has a plain name");
        let text = fs::read_to_string(&file).expect("a language's file is readable");
        let condition =
            text.lines().find(|line| line.starts_with("#![cfg(")).unwrap_or_default().replacen("#!", "#", 1);
        modules += &format!("    {condition} pub(super) mod {module};\n");
        lists += &format!("    {condition} files::{module}::LANGUAGES,\n");
    }
    let generated = format!(
        "#[path = {folder:?}]\nmod files {{\n{modules}}}\n\nstatic LISTS: &[&[&crate::language::Language]] = &[\n{lists}];\n"
    );
    let out = env::var("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("languages.rs"), generated).expect("OUT_DIR is writable");
}
