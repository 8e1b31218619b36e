//! Which language a file is written in, told by its name or, for scripts, by its first line.

use crate::grammar::Grammar;
use crate::languages::ALL;

pub struct Language {
    pub(crate) name: &'static str,
    /// Without the dot, in lower case.
    pub(crate) extensions: &'static [&'static str],
    /// Whole names of files, in lower case.
    pub(crate) file_names: &'static [&'static str],
    /// Programs that a first line `#!…` may name.
    pub(crate) interpreters: &'static [&'static str],
    /// `None` for formats that are read as text.
    pub(crate) grammar: Option<&'static Grammar>,
}

impl std::fmt::Debug for Language {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Language").field(&self.name).finish()
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Language {}

impl Language {
    /// As in requests and answers: `python`, `tsx`, `markdown`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether it has symbols; else it is a text format.
    pub fn is_code(&self) -> bool {
        self.grammar.is_some()
    }
}

pub fn languages() -> impl Iterator<Item = &'static Language> {
    ALL.iter().copied()
}

/// By file name, then by extension; a file without extension by its first line. `None`: a file that is not read.
pub fn language_of(path: &str, first_line: &str) -> Option<&'static Language> {
    let file = file_name(path).to_ascii_lowercase();
    match by_name(&file) {
        Some(language) => Some(language),
        None if has_extension(&file) => None,
        None => by_interpreter(first_line),
    }
}

/// Whether [`language_of`] looks at the first line of this file.
pub fn needs_first_line(path: &str) -> bool {
    let file = file_name(path).to_ascii_lowercase();
    by_name(&file).is_none() && !has_extension(&file)
}

fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, file)| file)
}

/// A name that begins with a dot is no extension: `.bashrc`.
fn has_extension(file: &str) -> bool {
    file.trim_start_matches('.').contains('.')
}

fn by_name(file: &str) -> Option<&'static Language> {
    if let Some(language) = ALL.iter().find(|language| language.file_names.contains(&file)) {
        return Some(language);
    }
    // `LICENSE-MIT`, `README.fr`, `Dockerfile.dev`
    let stem = file.split(['.', '-']).next().unwrap_or(file);
    let extension = file.rsplit_once('.').map(|(_, extension)| extension);
    let known = extension.and_then(|extension| ALL.iter().find(|language| language.extensions.contains(&extension)));
    match known {
        Some(language) => Some(language),
        None if matches!(stem, "license" | "licence" | "copying" | "readme" | "dockerfile" | "makefile") => {
            ALL.iter().find(|language| language.file_names.contains(&stem)).copied()
        }
        None => None,
    }
}

fn by_interpreter(first_line: &str) -> Option<&'static Language> {
    let command = first_line.strip_prefix("#!")?;
    let mut words = command.split_whitespace().map(file_name);
    let program = match words.next()? {
        "env" => words.find(|word| !word.starts_with('-') && !word.contains('='))?,
        program => program,
    };
    // `python3.12`
    let program = program.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
    ALL.iter().find(|language| language.interpreters.contains(&program)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(path: &str, first_line: &str) -> Option<&'static str> {
        language_of(path, first_line).map(Language::name)
    }

    #[test]
    fn a_language_is_told_by_name_extension_or_first_line() {
        for (path, first_line, language) in [
            ("a/b.py", "", Some("python")),
            ("A.PY", "", Some("python")),
            ("x.d.ts", "", Some("typescript")),
            ("x.tsx", "", Some("tsx")),
            ("x.h", "", Some("c")),
            ("x.hpp", "", Some("cpp")),
            ("Makefile", "", Some("makefile")),
            ("docker/Dockerfile.dev", "", Some("dockerfile")),
            ("LICENSE", "", Some("text")),
            ("LICENSE-MIT", "", Some("text")),
            ("README", "", Some("text")),
            ("README.md", "", Some("markdown")),
            ("Gemfile", "", Some("ruby")),
            ("bin/run", "#!/usr/bin/env -S python3.12 -u", Some("python")),
            ("bin/run", "#!/bin/sh", Some("bash")),
            ("bin/run", "#!/usr/bin/env node", Some("javascript")),
            ("bin/run", "hello", None),
            (".bashrc", "", Some("bash")),
            (".gitignore", "", Some("text")),
            ("logo.png", "#!/bin/sh", None),
            ("django.po", "", None),
            ("icon.svg", "", None),
            ("", "", None),
        ] {
            assert_eq!(named(path, first_line), language, "{path}");
        }
    }

    #[test]
    fn the_first_line_is_needed_only_where_the_name_says_nothing() {
        assert!(needs_first_line("bin/run"));
        assert!(needs_first_line(".hidden"));
        assert!(!needs_first_line("a.py"));
        assert!(!needs_first_line("a.png"));
        assert!(!needs_first_line("Makefile"));
    }

    #[test]
    fn no_two_languages_claim_one_name() {
        for (place, language) in ALL.iter().enumerate() {
            for other in &ALL[..place] {
                assert_ne!(language.name, other.name);
                for of in
                    [|it: &Language| it.extensions, |it: &Language| it.file_names, |it: &Language| it.interpreters]
                {
                    assert!(of(language).iter().all(|it| !of(other).contains(it)), "{language:?} {other:?}");
                }
            }
        }
    }
}
