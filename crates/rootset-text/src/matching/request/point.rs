//! Where a request comes to the point, and where the point ends. Not here: what is there.

use crate::chars::fold;
use crate::matching::noise::{is_leading, is_trailing, is_turning};
use crate::matching::text::is_name_like;
use crate::matching::wrapping::{is_becoming, is_told, is_wrapping};
use crate::scan::{Kind, Piece};
use crate::words::is_stop;

/// How many pieces only lead up to the point: `forget everything about`, and the like. All of them when there is none.
pub(super) fn point(plain: &str, pieces: &[Piece]) -> usize {
    let is_wrapped = is_wrapped(plain, pieces);
    let mut point = 0;
    for (index, piece) in pieces.iter().enumerate() {
        let word = fold(piece.of(plain));
        if piece.kind == Kind::Word && is_turning(&word) {
            point = index + 1;
        } else if piece.kind != Kind::Word
            || !(is_leading(&word) || is_wrapped && is_wrapping(&word))
            || is_name_inside(plain, piece, index)
        {
            // Without a turning word, what leads is still no part of the point where it is only a verb or a quantity.
            return if point == 0 { leading_verbs(plain, &pieces[..index]) } else { point };
        }
    }
    pieces.len()
}

/// A capital in the middle of a request: `forget Will`.
fn is_name_inside(plain: &str, piece: &Piece, index: usize) -> bool {
    index > 0
        && piece.kind == Kind::Word
        && is_name_like(piece.of(plain))
        && piece.of(plain).len() > 1
        && plain.is_ascii()
}

/// Whether a request is one of many words: it begins with politeness, or says that nothing should be left.
pub(super) fn is_wrapped(plain: &str, pieces: &[Piece]) -> bool {
    let words = pieces.iter().map(|piece| piece.of(plain)).filter(|word| !is_stop(&fold(word)));
    // `erased` alone is what is looked for.
    if words.clone().all(|word| is_wrapping(&fold(word))) {
        return false;
    }
    // `Alice asked to be forgotten, so …`
    let is_name = |word: &str| is_name_like(word) && !is_leading(&fold(word)) && !is_wrapping(&fold(word));
    let first = words.skip_while(|word| is_name(word)).map(fold).next();
    first.is_some_and(|word| {
        is_wrapping(&word)
            || is_told(&word)
            || word == "nothing"
            || ["any", "every"].iter().any(|it| word.starts_with(it))
    })
}

fn leading_verbs(plain: &str, pieces: &[Piece]) -> usize {
    pieces.iter().take_while(|piece| is_leading(&fold(piece.of(plain)))).count()
}

/// The end of the point: what follows only rounds the request off.
pub(super) fn end(plain: &str, pieces: &[Piece], from: usize, is_wrapped: bool) -> usize {
    let mut to = pieces.len();
    while to > from + 1 {
        let piece = &pieces[to - 1];
        let written = piece.of(plain);
        if is_wrapped && piece.kind == Kind::Word && is_becoming(&fold(written)) {
            to -= 1;
            continue;
        }
        let is_quoted = plain[piece.end..].starts_with(['"', '`', '”']);
        let is_name = is_name_like(written) && !is_trailing(&fold(written));
        if piece.kind != Kind::Word || is_name || is_quoted || !is_trailing(&fold(written)) {
            break;
        }
        to -= 1;
    }
    to
}
