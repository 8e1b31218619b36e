//! What Rootset reads out of source text: symbols, the chunks that are searched, references as written, search terms.
//!
//! Not here: files, walking trees of them, storage, resolving whom a call reaches. Every public function is total and
//! pure: any text is valid input, equal input gives equal output, and work is bounded by steps that are counted, never
//! by a clock.
//!
//! One engine for all languages: [`Reader`] parses, `walk` goes over the tree once and asks the language's rules
//! (`languages/*.rs`, functions over node kinds) what a node is, `outline` and `chunks` make the [`Outline`] of what was
//! found. Adding a language is one file there (CONTRIBUTING.md).
//!
//! [`Outline`]: rootset_model::code::Outline

mod chain;
mod chunks;
mod grammar;
mod language;
mod languages;
mod limits;
mod outline;
mod parse;
mod paths;
mod reader;
mod refuse;
mod shape;
mod signature;
mod stems;
mod terms;
mod text;
mod text_formats;
mod text_outline;
mod walk;

pub use language::{
    Language, Naming, Sees, is_manifest, is_read_alike, language_named, language_of, languages, languages_meant_by,
    manifest_names, needs_first_line,
};
pub use parse::GaveUp;
pub use paths::is_test;
pub use reader::{Reader, Source};
pub use refuse::{NotSource, is_generated, refuse};
pub use shape::method_shape;
pub use terms::{ChunkTerms, around_name_term, identifier_term, name_parts, own_name_term, query_terms, term_counts};
pub use text_outline::outline_as_text;

/// Raised whenever the same text could give other symbols, chunks, references or terms: files are then read again.
pub const EXTRACTOR_VERSION: i64 = 5;
