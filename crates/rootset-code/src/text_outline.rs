//! Cuts text without symbols, or with none that could be read, into chunks at blank lines and headings.

use rootset_model::code::{CodeChunk, Outline};

use crate::chunks::split;
use crate::limits::{TEXT_CHUNK_BYTES_MAX, TEXT_CHUNK_LINES, TEXT_CHUNK_LINES_MAX};
use crate::reader::Source;
use crate::text::is_blank;

/// No symbols and no references; chunks of forty to sixty lines.
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
    Outline { chunks, ..Outline::default() }
}

/// Of Markdown, and of configuration files with `[sections]`.
fn is_heading(line: &str) -> bool {
    line.starts_with('#') && line.trim_start_matches('#').starts_with(' ') || line.starts_with('[')
}
