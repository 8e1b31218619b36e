//! Every language and text format that is read. A language is one file of the folder `languages/`, found by `build.rs`;
//! the file's `LANGUAGES` names it and the dialects that share its rules.

include!(concat!(env!("OUT_DIR"), "/languages.rs"));

use crate::language::Language;
use crate::text_formats::FORMATS;

/// Languages in the order of their files, then text formats: where two claim a name, the first has it.
pub(crate) fn all() -> impl Iterator<Item = &'static Language> {
    LISTS.iter().copied().chain([FORMATS]).flatten().copied()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "reads the sources of this crate")]

    use std::path::{Path, PathBuf};

    use super::*;

    #[test]
    fn no_file_outside_the_folder_of_languages_knows_a_language() {
        for file in engine_files() {
            let source = std::fs::read_to_string(&file).unwrap();
            let engine = source.split("#[cfg(test)]").next().unwrap_or_default();
            assert!(!engine.contains("tree_sitter_"), "{}", file.display());
            // A single letter is in quotes for many reasons.
            for language in all().filter(|language| language.is_code() && language.name.len() > 1) {
                let quoted = format!("\"{}\"", language.name);
                assert!(!engine.contains(&quoted), "{}: {}", file.display(), language.name);
            }
        }
    }

    /// The sources of this crate that are not below `languages/`. Text formats are apart: among them are the endings of
    /// languages that had no grammar yet.
    fn engine_files() -> Vec<PathBuf> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut files = Vec::new();
        let mut open = vec![source.clone()];
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path == source.join("languages") || path == source.join("text_formats.rs") {
                    continue;
                }
                if path.is_dir() { &mut open } else { &mut files }.push(path);
            }
        }
        files
    }
}
