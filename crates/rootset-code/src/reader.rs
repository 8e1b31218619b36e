//! Reads files one after the other with the same parser and buffers.

use std::collections::BTreeSet;

use rootset_model::code::{Call, CodeChunk, Outline};
use tree_sitter::Parser;

use crate::language::Language;
use crate::outline::outline_of;
use crate::parse::{GaveUp, parse};
use crate::terms::{ChunkTerms, TermWriter};
use crate::walk::walk;

/// A file as it is read.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The repository's slug: what a crate or package is called that its own path does not name.
    pub repo: &'a str,
    /// Relative to the repository, with `/`.
    pub path: &'a str,
    pub text: &'a str,
}

/// One per thread. What it answers depends on its arguments alone, never on what it read before.
#[derive(Default)]
pub struct Reader {
    parser: Option<Parser>,
    terms: TermWriter,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Reader").finish_non_exhaustive()
    }
}

impl Reader {
    pub fn new() -> Self {
        Self::default()
    }

    /// The error says that the parser gave up: the file is then to be read as text.
    pub fn outline(&mut self, language: &'static Language, source: &Source<'_>) -> Result<Outline, GaveUp> {
        self.outline_while(language, source, &mut || true)
    }

    /// The same, as long as the caller says to go on: only the caller has a clock.
    pub fn outline_while(
        &mut self,
        language: &'static Language,
        source: &Source<'_>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Outline, GaveUp> {
        Ok(self.read(language, source, &BTreeSet::new(), go_on)?.0)
    }

    /// Where these names are used without being called, each with the symbol that it stands in, as a call.
    pub fn uses(
        &mut self,
        language: &'static Language,
        source: &Source<'_>,
        names: &BTreeSet<String>,
    ) -> Result<Vec<Call>, GaveUp> {
        Ok(self.read(language, source, names, &mut || true)?.1)
    }

    fn read(
        &mut self,
        language: &'static Language,
        source: &Source<'_>,
        looked_for: &BTreeSet<String>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(Outline, Vec<Call>), GaveUp> {
        let language = (language.told_by_text)(source).unwrap_or(language);
        let grammar = language.grammar.ok_or(GaveUp::NoGrammar)?;
        let parser = self.parser.get_or_insert_with(Parser::new);
        let tree = if grammar.narrows && !source.text.is_ascii() {
            parse(parser, grammar.table(), &narrowed(source.text), go_on)?
        } else {
            let masked = (grammar.masks)(source.text);
            parse(parser, grammar.table(), masked.as_deref().unwrap_or(source.text), go_on)?
        };
        Ok(outline_of(source, walk(grammar, source, &tree, looked_for)?))
    }

    /// What the full-text index holds of one chunk of the outline.
    pub fn chunk_terms(&mut self, source: &Source<'_>, outline: &Outline, chunk: &CodeChunk) -> ChunkTerms {
        self.terms.chunk_terms(source, outline, chunk)
    }
}

fn narrowed(text: &str) -> String {
    text.bytes().map(|byte| if byte.is_ascii() { char::from(byte) } else { '_' }).collect()
}
