//! Cuts text without symbols, or with none that could be read, into chunks at blank lines and headings.

use rootset_model::code::{CodeChunk, Outline, References, Symbol, SymbolKind};

use crate::chunks::split;
use crate::language::{file_name, mappings};
use crate::limits::{TEXT_CHUNK_BYTES_MAX, TEXT_CHUNK_LINES, TEXT_CHUNK_LINES_MAX};
use crate::reader::Source;
use crate::text::is_blank;

/// Chunks of forty to sixty lines. Only a manifest has a symbol, itself, by which it is found, and says something of
/// names.
pub fn outline_as_text(source: &Source<'_>) -> Outline {
    let text = &source.text[..crate::text::floor_boundary(source.text, u32::MAX as usize)];
    let mut chunks = Vec::new();
    let mut push = |start: usize, end: usize| {
        let end = start + text[start..end].trim_end().len();
        split(text, start, end, TEXT_CHUNK_BYTES_MAX, |start, end| {
            chunks.push(CodeChunk { symbol: None, start: start as u32, end: end as u32 });
        });
    };
    let (mut start, mut at, mut lines) = (0, 0, 0);
    let mut after_blank = false;
    for line in text.split_inclusive('\n') {
        let full = lines >= TEXT_CHUNK_LINES_MAX || at - start + line.len() > TEXT_CHUNK_BYTES_MAX;
        let at_break = after_blank || is_heading(line);
        let ripe = lines >= TEXT_CHUNK_LINES || at - start > TEXT_CHUNK_BYTES_MAX * 3 / 4;
        if lines > 0 && (full || ripe && at_break) {
            push(start, at);
            (start, lines) = (at, 0);
        }
        after_blank = is_blank(line);
        // Blank lines before a chunk are no part of it.
        if lines == 0 && after_blank {
            start = at + line.len();
        } else {
            lines += 1;
        }
        at += line.len();
    }
    push(start, at);
    let Some(mappings) = mappings(source) else { return Outline { chunks, ..Outline::default() } };
    let manifest = Symbol {
        name: file_name(source.path).to_owned(),
        qualified_name: source.path.to_owned(),
        kind: SymbolKind::Module,
        parent: None,
        start: 0,
        end: text.len() as u32,
        first_line: 1,
        last_line: text.lines().count().max(1) as u32,
        signature: String::new(),
    };
    let references = References { mappings, ..References::default() };
    Outline { symbols: vec![manifest], chunks, references }
}

/// Of Markdown, and of configuration files with `[sections]`.
fn is_heading(line: &str) -> bool {
    line.starts_with('#') && line.trim_start_matches('#').starts_with(' ') || line.starts_with('[')
}
