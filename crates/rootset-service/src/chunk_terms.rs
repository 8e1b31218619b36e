//! The terms of one chunk of code without its file: they depend on its text, its path and its symbol's names alone.

use rootset_code::{Reader, Source};
use rootset_model::code::{CodeChunk, Outline, Symbol, SymbolKind};

/// What a scan writes of such a chunk, as head and body; `symbol` is a name and a qualified name.
pub fn chunk_terms(reader: &mut Reader, path: &str, symbol: Option<(&str, &str)>, text: &str) -> (String, String) {
    let source = Source { repo: "", path, text };
    let symbols = symbol.iter().map(|(name, qualified_name)| Symbol {
        name: (*name).to_owned(),
        qualified_name: (*qualified_name).to_owned(),
        kind: SymbolKind::Module,
        parent: None,
        start: 0,
        end: 0,
        first_line: 1,
        last_line: 1,
        signature: String::new(),
    });
    let outline = Outline { symbols: symbols.collect(), ..Outline::default() };
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let chunk = CodeChunk { symbol: symbol.is_some().then_some(0), start: 0, end };
    let terms = reader.chunk_terms(&source, &outline, &chunk);
    (terms.head, terms.body)
}
