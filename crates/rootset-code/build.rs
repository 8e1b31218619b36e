//! Finds the languages: every file of `src/languages` is one, so that adding a language edits no list.
//!
//! A file that begins with `#![cfg(feature = "…")]` is left out of builds without that feature.

#![allow(clippy::disallowed_methods, reason = "the crate does no I/O; its build reads the crate's own files")]

use std::path::{Component, Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=src/languages");
    let folder = path_of("CARGO_MANIFEST_DIR").join("src/languages");
    let out = path_of("OUT_DIR");
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
        "#[path = {:?}]\nmod files {{\n{modules}}}\n\nstatic LISTS: &[&[&crate::language::Language]] = &[\n{lists}];\n",
        relative(&out, &folder)
    );
    fs::write(out.join("languages.rs"), generated).expect("OUT_DIR is writable");
}

fn path_of(variable: &str) -> PathBuf {
    PathBuf::from(env::var_os(variable).expect("cargo sets it"))
}

/// The way from one folder to another, so that a checkout can be moved or copied together with its target folder.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}
