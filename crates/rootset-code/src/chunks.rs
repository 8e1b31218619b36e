//! Cuts a file's text into chunks: one per symbol that is no value, without those inside it, and what is left between.
//!
//! Invariant: chunks follow each other without overlapping, and every byte that is not blank is in one.

use rootset_model::code::{CodeChunk, Symbol};

use crate::limits::CODE_CHUNK_BYTES_MAX;
use crate::text::{floor_boundary, is_blank, line_blanks_start};

/// `nesting` names for every symbol the one it is written in.
pub(crate) fn code_chunks(text: &str, symbols: &[Symbol], nesting: &[u32]) -> Vec<CodeChunk> {
    let mut cutter = Cutter { text, chunks: Vec::with_capacity(symbols.len() + symbols.len() / 4 + 1), at: 0 };
    let mut innermost = 0_u32;
    // Values are searched with what they are written in.
    for (place, symbol) in symbols.iter().enumerate().skip(1).filter(|(_, symbol)| !symbol.kind.is_value()) {
        while innermost != nesting[place] {
            cutter.cut(innermost, symbols[innermost as usize].end);
            innermost = nesting[innermost as usize];
        }
        cutter.cut(innermost, symbol.start);
        innermost = place as u32;
    }
    loop {
        cutter.cut(innermost, symbols[innermost as usize].end);
        if innermost == 0 {
            return cutter.chunks;
        }
        innermost = nesting[innermost as usize];
    }
}

struct Cutter<'a> {
    text: &'a str,
    chunks: Vec<CodeChunk>,
    at: usize,
}

/// A longer head of a block is worth a chunk of its own.
const BLOCK_HEAD_BYTES_MAX: usize = 256;

impl Cutter<'_> {
    /// What lies between the last cut and `end` belongs to `symbol`.
    fn cut(&mut self, symbol: u32, end: u32) {
        let end = end as usize;
        let piece = &self.text[self.at..end];
        let start = self.at + (piece.len() - piece.trim_start().len());
        let piece = piece.trim();
        let from = std::mem::replace(&mut self.at, end);
        if is_blank(piece) {
            return;
        }
        // The head of a block that is no symbol belongs to what it opens.
        let head = if symbol == 0 && end < self.text.len() { block_head_bytes(piece) } else { 0 };
        if head > 0 {
            self.at = start + piece.len() - head;
        }
        let piece = piece[..piece.len() - head].trim_end();
        if piece.is_empty() {
            return;
        }
        let end = start + piece.len();
        match self.chunks.last_mut() {
            Some(last) if only_closes(piece) && end - last.start as usize <= CODE_CHUNK_BYTES_MAX => {
                last.end = end as u32;
            }
            _ => {
                // With its indentation, so that it reads as it was written.
                let start = line_blanks_start(self.text, start).map_or(start, |line| line.max(from));
                split(self.text, start, end, CODE_CHUNK_BYTES_MAX, |start, end| {
                    self.chunks.push(CodeChunk { symbol: Some(symbol), start: start as u32, end: end as u32 });
                });
            }
        }
    }
}

/// How many bytes at the end of a piece open a block: `impl A for B {`, `namespace a {`. Whatever holds a call is more.
fn block_head_bytes(piece: &str) -> usize {
    if !piece.ends_with('{') {
        return 0;
    }
    let mut start = piece.len();
    for line in piece.rsplit('\n') {
        let written = line.trim_end();
        let is_head = start == piece.len() || !written.is_empty() && !written.ends_with([';', '}']);
        if !is_head {
            break;
        }
        // With the line end behind it, except behind the last.
        start = start.saturating_sub(line.len() + usize::from(start < piece.len()));
        if piece.len() - start > BLOCK_HEAD_BYTES_MAX {
            return 0;
        }
    }
    if piece[start..].contains('(') { 0 } else { piece.len() - start }
}

/// Whether a piece holds nothing but the end of what is around the symbols before it.
fn only_closes(piece: &str) -> bool {
    // `}  // namespace a`
    let mut words = piece.lines().flat_map(|line| line.split("//").next().unwrap_or(line).split_whitespace());
    piece.len() <= 128
        && !piece.trim_start().starts_with("//")
        && words.all(|word| {
            word == "end" || word.bytes().all(|byte| matches!(byte, b'}' | b')' | b']' | b';' | b',' | b'>'))
        })
}

/// Cuts a range into pieces of at most `bytes_max`, at line ends where there are any, and gives those that are not blank.
pub(crate) fn split(text: &str, start: usize, end: usize, bytes_max: usize, mut give: impl FnMut(usize, usize)) {
    let mut from = start;
    while from < end {
        let mut to = end;
        if end - from > bytes_max {
            let bound = floor_boundary(text, from + bytes_max);
            to = text.as_bytes()[from..bound].iter().rposition(|byte| *byte == b'\n').map_or(bound, |at| from + at + 1);
        }
        if !is_blank(&text[from..to]) {
            give(from, to);
        }
        from = to;
    }
}
