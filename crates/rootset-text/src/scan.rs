//! Text to pieces: words, identifiers of several shapes, and characters that stand alone, each with its place.
//!
//! A piece is the longest thing that reads as one: `alice@acme.io`, `src/lib.rs`, `TKT-100`, `getUserName`. Marks
//! around it (quotes, brackets, the full stop after it) are not part of it. Pieces that hold others ([`Kind::Url`],
//! [`Kind::Path`], [`Kind::Dotted`]) are taken apart by [`inner_pieces`]; the rest are made of runs of letters and
//! digits, see [`runs`].
//!
//! Invariants: pieces are ordered and do not overlap, begin and end between characters, hold at least one word
//! character, and are the same for equal text wherever it stands between separators. Not here: folding and stemming.

mod scanner;

use crate::chars::{is_lone, is_word};
use scanner::{Scanner, is_joiner, is_separator};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Letters and digits only.
    Word,
    /// One character of an unspaced script, or an emoji.
    Lone,
    /// `getUserName`, `PostgreSQL`.
    Camel,
    /// `snake_case`, `SCREAMING_CASE`.
    Snake,
    /// `foo.bar`, `lib.rs`, `std::vec`.
    Dotted,
    /// `3.5`.
    Number,
    /// `v1.2`, `1.2.3`, `10.0.0.1`.
    Version,
    /// `TKT-100`, `utf-8`: a word, a hyphen, a number.
    Issue,
    /// `well-known`, `2024-05-07`: words joined by hyphens.
    Compound,
    /// `C++`, `F#`.
    Language,
    /// Anything with a slash or a backslash between words or in front.
    Path,
    Url,
    Email,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

impl Piece {
    pub(crate) fn of<'a>(&self, text: &'a str) -> &'a str {
        &text[self.start..self.end]
    }
}

impl Kind {
    /// Kept whole where it is looked for. A compound is not: its words may as well be written apart.
    pub(crate) fn is_identifier(self) -> bool {
        !matches!(self, Self::Word | Self::Lone | Self::Compound)
    }
}

/// All pieces of a text, in order.
pub(crate) fn scan(text: &str) -> Vec<Piece> {
    let mut scanner = Scanner { text, pieces: Vec::with_capacity(text.len() / 6) };
    let mut position = 0;
    while let Some(c) = text[position..].chars().next() {
        if is_lone(c) {
            scanner.push(Kind::Lone, position, position + c.len_utf8());
            position += c.len_utf8();
        } else if is_word(c) || is_joiner(c) {
            position = scanner.blob(position);
        } else {
            position += c.len_utf8();
        }
    }
    scanner.pieces
}

/// Appends the pieces inside one that holds others, the holders among them followed by their own. Nothing for the rest.
pub(crate) fn inner_pieces(text: &str, piece: &Piece, inner: &mut Vec<Piece>) {
    // What stands behind the piece must not change what is inside it.
    let mut scanner = Scanner { text: &text[..piece.end], pieces: std::mem::take(inner) };
    let first = scanner.pieces.len();
    match piece.kind {
        Kind::Url => scanner.inside_url(piece),
        Kind::Path => scanner.each_part(piece.start, piece.end, is_separator, Scanner::simple),
        _ => {}
    }
    // Dotted names inside: their parts go behind them, so that a holder is directly followed by what it holds.
    let held = scanner.pieces.split_off(first);
    let itself = (piece.kind == Kind::Dotted).then_some(*piece);
    for held in itself.into_iter().chain(held) {
        if held != *piece {
            scanner.pieces.push(held);
        }
        if held.kind == Kind::Dotted && is_holder(text, &held) {
            scanner.each_part(held.start, held.end, |c| c == '.' || c == ':', Scanner::simple);
        }
    }
    *inner = scanner.pieces;
}

/// Whether [`inner_pieces`] finds all the runs of this piece, so that its own need not be read.
pub(crate) fn is_holder(text: &str, piece: &Piece) -> bool {
    match piece.kind {
        Kind::Url | Kind::Path => true,
        // A numbered name is one thing: `TKT-100.2` does not hold `TKT-100`.
        Kind::Dotted => {
            let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            !piece.of(text).split(['.', ':']).any(is_number)
        }
        _ => false,
    }
}

/// The runs of letters and digits in a text, as byte ranges of it.
pub(crate) fn runs(written: &str) -> impl Iterator<Item = &str> {
    written.split(|c| !is_word(c)).filter(|run| !run.is_empty())
}

/// Where a run such as `getHTTPServer` is made of parts: the offsets at which parts after the first begin.
pub(crate) fn camel_breaks(run: &str) -> impl Iterator<Item = usize> {
    let mut before = None;
    let mut characters = run.char_indices().peekable();
    std::iter::from_fn(move || {
        for (offset, c) in characters.by_ref() {
            let after = run[offset + c.len_utf8()..].chars().next();
            let breaks = before.is_some_and(|before| is_camel_break(before, c, after, &run[offset..]));
            before = Some(c);
            if breaks {
                return Some(offset);
            }
        }
        None
    })
}

fn is_camel_break(before: char, c: char, after: Option<char>, rest: &str) -> bool {
    if !c.is_uppercase() {
        return false;
    }
    // The plural of an acronym (`APIs`) is no second word.
    let begins_word = after.is_some_and(char::is_lowercase) && !(rest.len() == 2 && rest.ends_with('s'));
    before.is_lowercase() || (begins_word && (before.is_uppercase() || before.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<(Kind, &str)> {
        scan(text).iter().map(|piece| (piece.kind, piece.of(text))).collect()
    }

    fn one(text: &str) -> (Kind, &str) {
        let pieces = pieces(text);
        assert_eq!(pieces.len(), 1, "{pieces:?}");
        pieces[0]
    }

    fn inside(text: &str) -> Vec<&str> {
        let mut inner = Vec::new();
        inner_pieces(text, &scan(text)[0], &mut inner);
        inner.iter().map(|piece| piece.of(text)).collect()
    }

    #[test]
    fn identifiers_are_read_whole_and_without_the_marks_around_them() {
        assert_eq!(one("(alice@acme.io)."), (Kind::Email, "alice@acme.io"));
        assert_eq!(one("<alice.smith+x@acme.io.uk>"), (Kind::Email, "alice.smith+x@acme.io.uk"));
        assert_eq!(one("_alice@acme.io_"), (Kind::Email, "alice@acme.io"));
        assert_eq!(one("o'brien@acme.io's"), (Kind::Email, "o'brien@acme.io"));
        assert_eq!(one("[https://acme.io/a(b)?q=1#x]."), (Kind::Url, "https://acme.io/a(b)?q=1#x"));
        assert_eq!(one("(https://acme.io/a/)"), (Kind::Url, "https://acme.io/a"));
        assert_eq!(one("\"src/lib.rs\","), (Kind::Path, "src/lib.rs"));
        assert_eq!(one("~/.config/rootset/"), (Kind::Path, "~/.config/rootset"));
        assert_eq!(one("/usr/lib"), (Kind::Path, "/usr/lib"));
        assert_eq!(one("a\\b.txt"), (Kind::Path, "a\\b.txt"));
        assert_eq!(one("get_user_name()"), (Kind::Snake, "get_user_name"));
        assert_eq!(one("getUserName();"), (Kind::Camel, "getUserName"));
        assert_eq!(one("std::vec::Vec"), (Kind::Dotted, "std::vec::Vec"));
        assert_eq!(one("v1.2.3-rc1."), (Kind::Version, "v1.2.3-rc1"));
        assert_eq!(one("3.5"), (Kind::Number, "3.5"));
        assert_eq!(one("#TKT-100:"), (Kind::Issue, "TKT-100"));
        assert_eq!(one("TKT-100-2"), (Kind::Compound, "TKT-100-2"));
        assert_eq!(one("--well-known--"), (Kind::Compound, "well-known"));
        assert_eq!(one("C++,"), (Kind::Language, "C++"));
        assert_eq!(one("C#."), (Kind::Language, "C#"));
    }

    #[test]
    fn words_end_at_marks_and_lose_what_an_apostrophe_adds() {
        let words = |text| pieces(text).into_iter().map(|(_, word)| word.to_owned()).collect::<Vec<_>>();
        assert_eq!(words("Caroline's don’t we'll O'Brien"), ["Caroline", "don", "we", "O", "Brien"]);
        assert_eq!(words("wait...what--no a+b react@18.2.0"), ["wait", "what", "no", "a", "b", "react", "18.2.0"]);
        assert_eq!(words("mailto:alice@acme.io"), ["mailto", "alice@acme.io"]);
        assert_eq!(words("請alice@acme.io謝👍"), ["請", "alice@acme.io", "謝", "👍"]);
        assert_eq!(words("x~y ~/z a~/b"), ["x", "y", "~/z", "a", "~/b"]);
        assert_eq!(words("users/alice@acme.io/mail"), ["users", "alice@acme.io", "/mail"]);
    }

    #[test]
    fn holders_are_taken_apart() {
        assert_eq!(inside("crates/rootset-text/lib.rs"), ["crates", "rootset-text", "lib.rs", "lib", "rs"]);
        assert_eq!(
            inside("https://jira.io/TKT-100?mail=a@b.io"),
            ["jira.io", "jira", "io", "TKT-100", "mail", "a@b.io"]
        );
        assert_eq!(inside("api.getUser"), ["api", "getUser"]);
        assert_eq!(inside("TKT-100.2"), [""; 0]);
    }

    #[test]
    fn camel_case_breaks_between_words_and_not_in_acronyms() {
        let parts = |run: &str| camel_breaks(run).collect::<Vec<_>>();
        assert_eq!(parts("getHTTPServer"), [3, 7]);
        assert_eq!(parts("PostgreSQL"), [7]);
        assert_eq!(parts("APIs"), [0; 0]);
        assert_eq!(parts("Alice"), [0; 0]);
        assert_eq!(parts("OAuth2Token"), [1, 6]);
        assert_eq!(parts("3D"), [0; 0]);
    }
}
