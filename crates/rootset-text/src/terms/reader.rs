//! One piece to its terms: itself, the runs of letters and digits in it, the parts of those.
//!
//! The one place that decides which terms a piece has. `terms` writes them into the index, `matching` promises them to
//! it, `snippet` looks for them; so they cannot disagree. Not here: dropping, cutting, joining.

use crate::chars::{fold_into, plain};
use crate::scan::{Kind, Piece, camel_breaks, inner_pieces, is_holder, runs};
use crate::stem::Stems;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Term<'a> {
    /// A piece, case-folded: the one that is read, then those inside it, each followed by what it is made of.
    Whole { folded: &'a str, kind: Kind },
    /// A run of letters and digits in a piece. Always a term: a text that holds the run between separators has its
    /// stem, whatever the run is a part of. Of a piece in camel case, it may be the same as the whole.
    Run { stem: &'a str, repeats_whole: bool },
    /// A part of a run in camel case.
    Part { stem: &'a str },
}

/// Reads pieces; holds the buffers that reading needs.
pub(crate) struct TermReader {
    stems: Stems,
    whole: String,
    part: String,
    inner: Vec<Piece>,
}

impl TermReader {
    pub(crate) fn new() -> Self {
        Self { stems: Stems::new(), whole: String::new(), part: String::new(), inner: Vec::new() }
    }

    /// Calls `receive` with every term of a piece of `text`, which must be [`plain`].
    pub(crate) fn read(&mut self, text: &str, piece: &Piece, mut receive: impl FnMut(Term<'_>)) {
        self.read_piece(text, piece, &mut receive);
        if matches!(piece.kind, Kind::Url | Kind::Path | Kind::Dotted) {
            let mut inner = std::mem::take(&mut self.inner);
            inner_pieces(text, piece, &mut inner);
            for piece in inner.drain(..) {
                self.read_piece(text, &piece, &mut receive);
            }
            self.inner = inner;
        }
    }

    /// As [`Self::read`], for a piece of a text that was scanned as it is.
    pub(crate) fn read_unnormalised(&mut self, text: &str, piece: &Piece, receive: impl FnMut(Term<'_>)) {
        let written = plain(piece.of(text));
        self.read(&written, &Piece { start: 0, end: written.len(), ..*piece }, receive);
    }

    fn read_piece(&mut self, text: &str, piece: &Piece, receive: &mut impl FnMut(Term<'_>)) {
        let written = piece.of(text);
        self.whole.clear();
        fold_into(&mut self.whole, written);
        receive(Term::Whole { folded: &self.whole, kind: piece.kind });
        match piece.kind {
            Kind::Lone => {}
            Kind::Word | Kind::Camel => {
                let whole = &self.whole;
                self.stems.with_stem(whole, |stem| {
                    receive(Term::Run { stem, repeats_whole: piece.kind == Kind::Camel && stem == whole })
                });
            }
            _ if is_holder(text, piece) => return,
            _ => {
                for run in runs(&self.whole) {
                    self.stems.with_stem(run, |stem| receive(Term::Run { stem, repeats_whole: false }));
                }
            }
        }
        if piece.kind != Kind::Word {
            self.read_parts(written, receive);
        }
    }

    fn read_parts(&mut self, written: &str, receive: &mut impl FnMut(Term<'_>)) {
        for run in runs(written) {
            let mut start = 0;
            for end in camel_breaks(run).chain([run.len()]) {
                if start == 0 && end == run.len() {
                    continue;
                }
                self.part.clear();
                fold_into(&mut self.part, &run[start..end]);
                self.stems.with_stem(&self.part, |stem| receive(Term::Part { stem }));
                start = end;
            }
        }
    }
}
