//! One token to its terms: itself, the runs of letters and digits in it, the parts of those.
//!
//! The one place that decides which terms a token has. `tokens` writes them into the index, `matching` promises them to
//! it, `snippet` looks for them; so they cannot disagree. Not here: dropping, cutting, joining.

use crate::chars::{fold_into, plain};
use crate::scan::{Kind, Token, camel_breaks, inner_tokens, is_holder, runs};
use crate::stem::Stems;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Term<'a> {
    /// A token, case-folded: the one that is read, then those inside it, each followed by what it is made of.
    Whole { folded: &'a str, kind: Kind },
    /// A run of letters and digits in a token. Always a term: a text that holds the run between separators has its
    /// stem, whatever the run is a part of. Of a token in camel case, it may be the same as the whole.
    Run { stem: &'a str, repeats_whole: bool },
    /// A part of a run in camel case.
    Part { stem: &'a str },
}

/// Reads tokens; holds the buffers that reading needs.
pub(crate) struct TermReader {
    stems: Stems,
    whole: String,
    piece: String,
    inner: Vec<Token>,
}

impl TermReader {
    pub(crate) fn new() -> Self {
        Self { stems: Stems::new(), whole: String::new(), piece: String::new(), inner: Vec::new() }
    }

    /// Calls `receive` with every term of a token of `text`, which must be [`plain`].
    pub(crate) fn read(&mut self, text: &str, token: &Token, mut receive: impl FnMut(Term<'_>)) {
        self.read_token(text, token, &mut receive);
        if matches!(token.kind, Kind::Url | Kind::Path | Kind::Dotted) {
            let mut inner = std::mem::take(&mut self.inner);
            inner_tokens(text, token, &mut inner);
            for token in inner.drain(..) {
                self.read_token(text, &token, &mut receive);
            }
            self.inner = inner;
        }
    }

    /// As [`Self::read`], for a token of a text that was scanned as it is.
    pub(crate) fn read_unnormalised(&mut self, text: &str, token: &Token, receive: impl FnMut(Term<'_>)) {
        let piece = plain(token.of(text));
        self.read(&piece, &Token { start: 0, end: piece.len(), ..*token }, receive);
    }

    fn read_token(&mut self, text: &str, token: &Token, receive: &mut impl FnMut(Term<'_>)) {
        let piece = token.of(text);
        self.whole.clear();
        fold_into(&mut self.whole, piece);
        receive(Term::Whole { folded: &self.whole, kind: token.kind });
        match token.kind {
            Kind::Lone => {}
            Kind::Word | Kind::Camel => {
                let whole = &self.whole;
                self.stems.with_stem(whole, |stem| {
                    receive(Term::Run { stem, repeats_whole: token.kind == Kind::Camel && stem == whole })
                });
            }
            _ if is_holder(text, token) => return,
            _ => {
                for run in runs(&self.whole) {
                    self.stems.with_stem(run, |stem| receive(Term::Run { stem, repeats_whole: false }));
                }
            }
        }
        if token.kind != Kind::Word {
            self.read_parts(piece, receive);
        }
    }

    fn read_parts(&mut self, piece: &str, receive: &mut impl FnMut(Term<'_>)) {
        for run in runs(piece) {
            let mut start = 0;
            for end in camel_breaks(run).chain([run.len()]) {
                if start == 0 && end == run.len() {
                    continue;
                }
                self.piece.clear();
                fold_into(&mut self.piece, &run[start..end]);
                self.stems.with_stem(&self.piece, |stem| receive(Term::Part { stem }));
                start = end;
            }
        }
    }
}
