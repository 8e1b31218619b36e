//! Every language and text format that is read. A language is one file below and one line in [`ALL`].

mod bash;
mod c;
mod cpp;
mod csharp;
mod ecmascript;
mod go;
mod java;
mod php;
mod python;
mod ruby;
mod rust;
mod text_formats;

use crate::grammar::Grammar;
use crate::language::Language;
use crate::reader::Source;

pub(crate) static ALL: &[&Language] = &[
    &python::PYTHON,
    &ecmascript::JAVASCRIPT,
    &ecmascript::TYPESCRIPT,
    &ecmascript::TSX,
    &rust::RUST,
    &go::GO,
    &java::JAVA,
    &c::C,
    &cpp::CPP,
    &csharp::CSHARP,
    &ruby::RUBY,
    &php::PHP,
    &bash::BASH,
    &text_formats::MARKDOWN,
    &text_formats::TEXT,
    &text_formats::TOML,
    &text_formats::YAML,
    &text_formats::JSON,
    &text_formats::XML,
    &text_formats::HTML,
    &text_formats::CSS,
    &text_formats::SQL,
    &text_formats::INI,
    &text_formats::MAKEFILE,
    &text_formats::DOCKERFILE,
    &text_formats::CMAKE,
    &text_formats::PROTOBUF,
    &text_formats::GRAPHQL,
    &text_formats::TERRAFORM,
    &text_formats::OTHER_CODE,
];

/// The grammar to read a text with. A header may be of either of two languages, which its name does not tell.
pub(crate) fn grammar_for(language: &'static Language, source: &Source<'_>) -> Option<&'static Grammar> {
    if *language == c::C && c::is_cpp_header(source) { cpp::CPP.grammar } else { language.grammar }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The engine: whatever is not below `languages/`.
    const ENGINE: [&str; 11] = [
        include_str!("chunks.rs"),
        include_str!("finish.rs"),
        include_str!("grammar.rs"),
        include_str!("parse.rs"),
        include_str!("plain.rs"),
        include_str!("reader.rs"),
        include_str!("signature.rs"),
        include_str!("terms.rs"),
        include_str!("terms/split.rs"),
        include_str!("terms/table.rs"),
        include_str!("walk.rs"),
    ];

    #[test]
    fn a_language_is_one_file_and_one_line_and_the_engine_knows_none() {
        let this = include_str!("languages.rs");
        for language in ALL.iter().filter(|language| language.is_code()) {
            let line = |line: &&str| {
                line.trim_start().starts_with('&')
                    && line.ends_with(&format!("::{},", language.name.to_ascii_uppercase()))
            };
            assert_eq!(this.lines().filter(line).count(), 1, "{}", language.name);
            // A single letter is in quotes for many reasons.
            if language.name.len() == 1 {
                continue;
            }
            let quoted = format!("\"{}\"", language.name);
            assert!(ENGINE.iter().all(|source| !source.contains(&quoted)), "{}", language.name);
        }
        assert!(ENGINE.iter().all(|source| !source.contains("tree_sitter_")));
    }
}
