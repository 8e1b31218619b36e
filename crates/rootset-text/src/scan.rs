//! Text to pieces: words, identifiers of several shapes, and characters that stand alone, each with its place.
//!
//! A piece is the longest thing that reads as one: `alice@acme.io`, `src/lib.rs`, `TKT-100`, `getUserName`. Marks
//! around it (quotes, brackets, the full stop after it) are not part of it. Pieces that hold others ([`Kind::Url`],
//! [`Kind::Path`], [`Kind::Dotted`]) are taken apart by [`inner_pieces`]; the rest are made of runs of letters and
//! digits, see [`runs`].
//!
//! Invariants: pieces are ordered and do not overlap, begin and end between characters, hold at least one word
//! character, and are the same for equal text wherever it stands between separators. Not here: folding and stemming.

use crate::chars::{is_apostrophe, is_lone, is_word};
use crate::words::is_clitic;

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

/// the runs of letters and digits in a text, as byte ranges of it.
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

/// What a path may begin with in front of its first word, longest first.
const PATH_LEADS: &[&str] = &["../.", "~/.", "./.", "../", "~/", "./", "/.", "/", "."];

/// Characters that may join words into one piece. A colon joins only in pairs and in `://`, handled where they occur.
fn is_joiner(c: char) -> bool {
    matches!(c, '_' | '.' | '-' | '/' | '\\' | '@' | '+' | '~') || is_apostrophe(c)
}

fn is_separator(c: char) -> bool {
    c == '/' || c == '\\'
}

fn is_url_mark(c: char) -> bool {
    matches!(c, '-' | '.' | '_' | '~' | ':' | '/' | '?' | '#' | '@' | '&' | '+' | '=' | '%' | '(' | ')')
}

#[derive(Debug)]
struct Scanner<'a> {
    text: &'a str,
    pieces: Vec<Piece>,
}

impl Scanner<'_> {
    fn push(&mut self, kind: Kind, start: usize, end: usize) {
        self.pieces.push(Piece { kind, start, end });
    }

    /// Reads one run of words and joiners, and the URL that it may lead to. Returns where reading goes on.
    fn blob(&mut self, start: usize) -> usize {
        let mut end = start;
        while let Some(c) = self.text[end..].chars().next() {
            let rest = &self.text[end..];
            if is_word(c) || is_joiner(c) {
                end += c.len_utf8();
            } else if rest.starts_with("::") && !rest.starts_with(":::") && end > start {
                end += 2;
            } else if rest.starts_with("://") {
                let scheme = start + trailing_scheme(&self.text[start..end]);
                if let Some(url_end) = self.url_end(scheme, end + 3) {
                    self.words_and_emails(start, scheme);
                    self.push(Kind::Url, scheme, url_end);
                    return url_end;
                }
                break;
            } else {
                break;
            }
        }
        self.words_and_emails(start, end);
        end
    }

    /// The end of the URL whose scheme begins at `scheme` and whose authority begins at `authority`, if it is one.
    fn url_end(&self, scheme: usize, authority: usize) -> Option<usize> {
        if scheme + 3 == authority {
            return None;
        }
        let rest = &self.text[authority..];
        let length = rest.find(|c| !is_word(c) && !is_url_mark(c)).unwrap_or(rest.len());
        let has_bracket = rest[..length].contains('(');
        let is_end = |c| is_word(c) || (c == ')' && has_bracket);
        let url = rest[..length].trim_end_matches(|c| !is_end(c));
        url.chars().any(is_word).then(|| authority + url.len())
    }

    fn inside_url(&mut self, piece: &Piece) {
        let authority = piece.of(self.text).find("://").map_or(piece.start, |at| piece.start + at + 3);
        let is_border = |c| !is_word(c) && !matches!(c, '.' | '_' | '-' | '@' | '+');
        self.each_part(authority, piece.end, is_border, Scanner::words_and_emails);
    }

    /// Calls `read` with each non-empty part between borders.
    fn each_part(
        &mut self,
        start: usize,
        end: usize,
        is_border: impl Fn(char) -> bool,
        read: fn(&mut Self, usize, usize),
    ) {
        let mut part = start;
        for (offset, c) in self.text[start..end].char_indices() {
            if is_border(c) {
                read(self, part, start + offset);
                part = start + offset + c.len_utf8();
            }
        }
        read(self, part, end);
    }

    fn words_and_emails(&mut self, start: usize, end: usize) {
        let mut read_to = start;
        for (offset, _) in self.text[start..end].match_indices('@') {
            let at = start + offset;
            if at < read_to {
                continue;
            }
            if let Some((email_start, email_end)) = self.email_around(read_to, at, end) {
                self.words_and_paths(read_to, email_start);
                self.push(Kind::Email, email_start, email_end);
                read_to = email_end;
            }
        }
        self.words_and_paths(read_to, end);
    }

    /// The address around the `@` at `at`, looking no further than `from` and `to`.
    fn email_around(&self, from: usize, at: usize, to: usize) -> Option<(usize, usize)> {
        let is_local = |c: char| is_word(c) || matches!(c, '.' | '_' | '-' | '+') || is_apostrophe(c);
        let is_domain = |c: char| is_word(c) || matches!(c, '.' | '_' | '-');
        let after = &self.text[at + 1..to];
        let mut domain = &after[..after.find(|c| !is_domain(c)).unwrap_or(after.len())];
        domain = &domain[..domain.find("..").unwrap_or(domain.len())];
        let trimmed = domain.trim_end_matches(|c| !is_word(c));
        let last_label = trimmed.rsplit_once('.')?.1;
        if !trimmed.starts_with(is_word) || !last_label.starts_with(char::is_alphabetic) || last_label.len() < 2 {
            return None;
        }
        // An underscore in front is part of the address, unless another behind makes the pair an emphasis.
        let emphasised = domain[trimmed.len()..].starts_with('_');
        let local = &self.text[from..at];
        let local = &local[local.rfind(|c| !is_local(c)).map_or(0, |mark| mark + char_len_at(local, mark))..];
        let local = local.trim_start_matches(|c| !is_word(c) && (emphasised || c != '_'));
        local.chars().any(is_word).then(|| (at - local.len(), at + 1 + trimmed.len()))
    }

    /// Splits at the joiners that only e-mail addresses may hold, and drops the `s` of `Caroline's`.
    fn words_and_paths(&mut self, start: usize, end: usize) {
        let mut position = start;
        while position < end {
            let rest = &self.text[position..end];
            let is_home = rest.starts_with("~/");
            let is_border = |c: char| matches!(c, '@' | '+' | '~') || is_apostrophe(c);
            let skip = usize::from(is_home);
            let length = skip + rest[skip..].find(is_border).unwrap_or(rest.len() - skip);
            if !(self.is_after_apostrophe(position) && is_clitic(rest[..length].trim_end_matches(|c| !is_word(c)))) {
                self.path_or_words(position, position + length);
            }
            position += length;
            // A `~` may lead a path, so it is only stepped over where it does not.
            if position < end && !(self.text[position..end].starts_with("~/") && length > 0) {
                position += char_len_at(self.text, position);
            }
        }
    }

    fn is_after_apostrophe(&self, position: usize) -> bool {
        let mut before = self.text[..position].chars().rev();
        before.next().is_some_and(is_apostrophe) && before.next().is_some_and(is_word)
    }

    fn path_or_words(&mut self, start: usize, end: usize) {
        let written = &self.text[start..end];
        let trimmed = written.trim_end_matches(|c| !is_word(c));
        let Some(word) = trimmed.find(is_word) else { return };
        let lead = &trimmed[..word];
        let kept = PATH_LEADS.iter().find(|kept| lead.ends_with(**kept));
        let body = &trimmed[word..];
        // `//comment` is no path, and `.env` without a slash is a word after a mark.
        let lead_len = match kept {
            Some(_) if lead.contains("//") => 0,
            Some(&".") if !body.contains(is_separator) => 0,
            Some(kept) => kept.len(),
            None => 0,
        };
        if lead_len > 0 || body.contains(is_separator) {
            self.push(Kind::Path, start + word - lead_len, start + trimmed.len());
        } else {
            self.simple(start, end);
        }
    }

    /// Words joined by single dots, hyphens, pairs of colons or any number of underscores. Other marks end a piece.
    fn simple(&mut self, start: usize, end: usize) {
        let text = self.text;
        let mut group: Option<Group> = None;
        let mut position = start;
        while position < end {
            let rest = &text[position..end];
            let word = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            if word > 0 {
                position += word;
                group.get_or_insert(Group { start: position - word, end: position, joints: Joints::default() }).end =
                    position;
                continue;
            }
            let marks = &rest[..rest.find(is_word).unwrap_or(rest.len())];
            position += marks.len();
            let joined = position < end && group.as_mut().is_some_and(|group| group.joints.accept(marks));
            if !joined && let Some(group) = group.take() {
                self.push_group(&group);
            }
        }
        if let Some(group) = group {
            self.push_group(&group);
        }
    }

    fn push_group(&mut self, group: &Group) {
        let written = &self.text[group.start..group.end];
        let after = &self.text[group.end..];
        let suffix = ["++", "#"].into_iter().find(|suffix| after.starts_with(suffix));
        if let Some(suffix) = suffix
            && written.len() == 1
            && written.as_bytes()[0].is_ascii_alphabetic()
            && !after[suffix.len()..].starts_with(is_word)
        {
            return self.push(Kind::Language, group.start, group.end + suffix.len());
        }
        self.push(group.joints.kind(written), group.start, group.end);
    }
}

#[derive(Debug)]
struct Group {
    start: usize,
    end: usize,
    joints: Joints,
}

/// Which marks join the words of a group.
#[derive(Debug, Default)]
struct Joints {
    underscore: bool,
    dot: bool,
    hyphen: bool,
}

impl Joints {
    fn accept(&mut self, marks: &str) -> bool {
        match marks {
            "." | "::" => self.dot = true,
            "-" => self.hyphen = true,
            _ if marks.bytes().all(|byte| byte == b'_') => self.underscore = true,
            _ => return false,
        }
        true
    }

    fn kind(&self, written: &str) -> Kind {
        match self {
            Self { underscore: true, .. } => Kind::Snake,
            Self { dot: true, .. } => dotted_kind(written),
            Self { hyphen: true, .. } if is_issue(written) => Kind::Issue,
            Self { hyphen: true, .. } => Kind::Compound,
            _ if camel_breaks(written).next().is_some() => Kind::Camel,
            _ => Kind::Word,
        }
    }
}

fn dotted_kind(written: &str) -> Kind {
    let bare = written.strip_prefix(['v', 'V']).unwrap_or(written);
    // Pre-releases (`1.2.3-rc1`) belong to the version.
    let numbers = bare.split('-').next().unwrap_or(bare);
    if !numbers.contains('.') || !numbers.split('.').all(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit()))
    {
        return Kind::Dotted;
    }
    let is_plain = bare.len() == written.len() && numbers.len() == bare.len();
    if is_plain && numbers.split('.').count() == 2 { Kind::Number } else { Kind::Version }
}

fn is_issue(written: &str) -> bool {
    let Some((key, number)) = written.split_once('-') else { return false };
    key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Where the scheme at the end of a blob begins; its length when there is none.
fn trailing_scheme(blob: &str) -> usize {
    let scheme = blob.len() - blob.bytes().rev().take_while(u8::is_ascii_alphanumeric).count();
    let scheme = scheme + blob[scheme..].bytes().take_while(u8::is_ascii_digit).count();
    // A letter beyond ASCII in front would be cut off from its word.
    if blob[..scheme].ends_with(is_word) { blob.len() } else { scheme }
}

fn char_len_at(text: &str, index: usize) -> usize {
    text[index..].chars().next().map_or(1, char::len_utf8)
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
