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

use crate::language::Language;

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
