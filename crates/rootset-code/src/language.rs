//! What a language is to the rest of Rootset, and which language a file is written in: told by its name or, for scripts,
//! by its first line.

use rootset_model::code::Mapping;

use crate::grammar::Grammar;
use crate::languages::all;
use crate::reader::Source;
use crate::text_formats::OTHER_CODE;

/// Everything about a language that is not a rule of its [`Grammar`]. The file of a language fills in what differs from
/// [`Language::PLAIN`].
pub struct Language {
    /// As in requests and answers: `python`, `tsx`, `markdown`.
    pub(crate) name: &'static str,
    /// Other words for it in requests. Languages may share one: `ts` means TypeScript and TSX.
    pub(crate) aliases: &'static [&'static str],
    /// Without the dot, in lower case.
    pub(crate) extensions: &'static [&'static str],
    /// Whole names of files, in lower case.
    pub(crate) file_names: &'static [&'static str],
    /// Programs that a first line `#!…` may name.
    pub(crate) interpreters: &'static [&'static str],
    /// Files that its package managers generate, whole names in lower case: never indexed.
    pub(crate) lock_files: &'static [&'static str],
    /// Whether a file name, given as stem and extension, is a test's. Folders such as `tests/` hold tests in every
    /// language.
    pub(crate) is_test: fn(&str, &str) -> bool,
    /// The first of the languages whose files call each other; `None`: its files call only their own language.
    pub(crate) family: Option<&'static str>,
    pub(crate) sees: Sees,
    /// How its files name what is in others.
    pub(crate) naming: Naming,
    /// Receivers of a call that mean the object or type that the call stands in.
    pub(crate) own_receivers: &'static [&'static str],
    /// Receivers that mean what the type around extends, never the type itself.
    pub(crate) base_receivers: &'static [&'static str],
    /// Whether a bare name may be a member of the type around, inherited ones included.
    pub(crate) has_implicit_members: bool,
    /// What a module gives when it is called or imported as a whole.
    pub(crate) default_member: Option<&'static str>,
    /// Methods that answer what they were called on, or what it holds.
    pub(crate) passing: &'static [&'static str],
    /// What a type is asked for a value of it, where that is a method that nobody writes.
    pub(crate) constructor: Option<&'static str>,
    /// Files with this extension may be in another language, whose rules for names hold for this one's too.
    pub(crate) shares: Option<(&'static str, &'static Language)>,
    /// The files that say where imported names lie, and what they say.
    pub(crate) manifests: &'static [&'static str],
    pub(crate) mappings: fn(&Source<'_>) -> Vec<Mapping>,
    /// `None` for formats that are read as text.
    pub(crate) grammar: Option<&'static Grammar>,
    /// The language that a file is really written in, where its name cannot tell and its text can.
    pub(crate) told_by_text: fn(&Source<'_>) -> Option<&'static Language>,
}

/// How a language names what is in other files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// One namespace for all that is linked.
    Global,
    /// Namespaces and packages, wherever the files are.
    Namespaces,
    /// A file is a module, found by its path.
    Modules,
    /// A folder is a package, found by its path.
    Folders,
    /// A file is a module of a crate.
    Crates,
}

/// Whose names a file can use without importing them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sees {
    /// Nobody's but its own.
    File,
    /// Those of the files in its folder: they are one package.
    Folder,
    /// Those of every file: there is one namespace.
    Repository,
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
    /// A text format without any names, for languages to begin with.
    pub(crate) const PLAIN: Self = Self {
        name: "",
        aliases: &[],
        extensions: &[],
        file_names: &[],
        interpreters: &[],
        lock_files: &[],
        is_test: |_, _| false,
        family: None,
        sees: Sees::File,
        naming: Naming::Global,
        own_receivers: &[],
        base_receivers: &[],
        has_implicit_members: false,
        default_member: None,
        passing: &[],
        constructor: None,
        shares: None,
        manifests: &[],
        mappings: |_| Vec::new(),
        grammar: None,
        told_by_text: |_| None,
    };

    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether it has symbols; else it is a text format.
    pub fn is_code(&self) -> bool {
        self.grammar.is_some()
    }

    /// Languages whose files call each other have the same.
    pub fn family(&self) -> &'static str {
        self.family.unwrap_or(self.name)
    }

    pub fn sees(&self) -> Sees {
        self.sees
    }

    pub fn naming(&self) -> Naming {
        self.naming
    }

    /// Whether the receiver of a call means the object or type that it stands in.
    pub fn is_own_receiver(&self, receiver: &str) -> bool {
        self.own_receivers.contains(&receiver)
    }

    /// Whether it means what the type around extends.
    pub fn is_base_receiver(&self, receiver: &str) -> bool {
        self.base_receivers.contains(&receiver)
    }

    pub fn has_implicit_members(&self) -> bool {
        self.has_implicit_members
    }

    pub fn default_member(&self) -> Option<&'static str> {
        self.default_member
    }

    /// The language by whose rules names in a file are looked up.
    pub fn of_names_in(&'static self, path: &str) -> &'static Self {
        match self.shares {
            Some((extension, other)) if path.rsplit_once('.').is_some_and(|(_, it)| it == extension) => other,
            _ => self,
        }
    }

    pub fn is_constructor(&self, method: &str) -> bool {
        self.constructor == Some(method)
    }

    pub fn passes(&self, method: &str) -> bool {
        self.passing.contains(&method)
    }

    /// What the file at a path, with or without its extension, is called as a module.
    pub fn module_at(&self, repo: &str, path: &str) -> String {
        let source = Source { repo, path, text: "" };
        self.grammar.map_or_else(String::new, |grammar| (grammar.module)(&source).qualified)
    }
}

pub fn languages() -> impl Iterator<Item = &'static Language> {
    all()
}

/// By its own name.
pub fn language_named(name: &str) -> Option<&'static Language> {
    all().find(|language| language.name == name)
}

/// Whatever a word in a request, in lower case, means: several languages where one is a dialect of the other.
pub fn languages_meant_by(word: &str) -> impl Iterator<Item = &'static Language> {
    all().filter(move |language| language.name == word || language.aliases.contains(&word))
}

/// The names of files that say where imported names lie.
pub fn manifest_names() -> impl Iterator<Item = &'static str> {
    all().flat_map(|language| language.manifests.iter().copied())
}

/// Whether the file says where imported names lie, whatever it is written in.
pub fn is_manifest(path: &str) -> bool {
    manifest_names().any(|name| name == file_name(path))
}

/// What a manifest says; `None` for other files.
pub(crate) fn mappings(source: &Source<'_>) -> Option<Vec<Mapping>> {
    let mut of = all().filter(|language| language.manifests.contains(&file_name(source.path))).peekable();
    of.peek()?;
    let mut mappings: Vec<Mapping> = Vec::new();
    for language in of {
        for mapping in (language.mappings)(source) {
            if !mappings.contains(&mapping) {
                mappings.push(mapping);
            }
        }
    }
    Some(mappings)
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

/// Whether a file that was read in this language would be read in it again. `false` for one that was read as text while
/// its language had no grammar.
pub fn is_read_alike(path: &str, language: &str) -> bool {
    language != OTHER_CODE.name || language_of(path, "").is_none_or(|now| *now == OTHER_CODE)
}

/// Whether [`language_of`] looks at the first line of this file.
pub fn needs_first_line(path: &str) -> bool {
    let file = file_name(path).to_ascii_lowercase();
    by_name(&file).is_none() && !has_extension(&file)
}

pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, file)| file)
}

/// A name that begins with a dot has no extension: `.bashrc`.
fn has_extension(file: &str) -> bool {
    file.trim_start_matches('.').contains('.')
}

fn by_name(file: &str) -> Option<&'static Language> {
    if let Some(language) = all().find(|language| language.file_names.contains(&file)) {
        return Some(language);
    }
    // `LICENSE-MIT`, `README.fr`, `Dockerfile.dev`
    let stem = file.split(['.', '-']).next().unwrap_or(file);
    let extension = file.rsplit_once('.').map(|(_, extension)| extension);
    match extension.and_then(by_extension) {
        Some(language) => Some(language),
        None if matches!(stem, "license" | "licence" | "copying" | "readme" | "dockerfile" | "makefile") => {
            all().find(|language| language.file_names.contains(&stem))
        }
        None => None,
    }
}

pub(crate) fn by_extension(extension: &str) -> Option<&'static Language> {
    all().find(|language| language.extensions.contains(&extension))
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
    all().find(|language| language.interpreters.contains(&program))
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
        // Whatever has no grammar yet is left to the last one.
        let languages: Vec<&Language> = languages().filter(|language| **language != OTHER_CODE).collect();
        for (place, language) in languages.iter().enumerate() {
            for other in &languages[..place] {
                assert_ne!(language.name, other.name);
                for of in
                    [|it: &Language| it.extensions, |it: &Language| it.file_names, |it: &Language| it.interpreters]
                {
                    assert!(of(language).iter().all(|it| !of(other).contains(it)), "{language:?} {other:?}");
                }
            }
        }
    }

    #[test]
    fn a_language_may_have_other_names_in_requests() {
        let meant = |word| languages_meant_by(word).map(Language::name).collect::<Vec<_>>();
        assert_eq!(meant("c#"), ["csharp"]);
        assert_eq!(meant("typescript"), ["typescript", "tsx"]);
        assert_eq!(meant("tsx"), ["tsx"]);
        assert_eq!(meant("python3"), [""; 0]);
    }
}
