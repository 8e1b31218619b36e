//! From one character to the next: where a piece begins and ends, and which marks join its words.

use super::{Kind, Piece, camel_breaks};
use crate::chars::{is_apostrophe, is_word};
use crate::words::is_clitic;

/// What a path may begin with in front of its first word, longest first.
const PATH_LEADS: &[&str] = &["../.", "~/.", "./.", "../", "~/", "./", "/.", "/", "."];

/// Characters that may join words into one piece. A colon joins only in pairs and in `://`, handled where they occur.
pub(super) fn is_joiner(c: char) -> bool {
    matches!(c, '_' | '.' | '-' | '/' | '\\' | '@' | '+' | '~') || is_apostrophe(c)
}

pub(super) fn is_separator(c: char) -> bool {
    c == '/' || c == '\\'
}

fn is_url_mark(c: char) -> bool {
    matches!(c, '-' | '.' | '_' | '~' | ':' | '/' | '?' | '#' | '@' | '&' | '+' | '=' | '%' | '(' | ')')
}

#[derive(Debug)]
pub(super) struct Scanner<'a> {
    pub text: &'a str,
    pub pieces: Vec<Piece>,
}

impl Scanner<'_> {
    pub(super) fn push(&mut self, kind: Kind, start: usize, end: usize) {
        self.pieces.push(Piece { kind, start, end });
    }

    /// Reads one run of words and joiners, and the URL that it may lead to. Returns where reading goes on.
    pub(super) fn blob(&mut self, start: usize) -> usize {
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

    pub(super) fn inside_url(&mut self, piece: &Piece) {
        let authority = piece.of(self.text).find("://").map_or(piece.start, |at| piece.start + at + 3);
        let is_border = |c| !is_word(c) && !matches!(c, '.' | '_' | '-' | '@' | '+');
        self.each_part(authority, piece.end, is_border, Scanner::words_and_emails);
    }

    /// Calls `read` with each non-empty part between borders.
    pub(super) fn each_part(
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
    pub(super) fn simple(&mut self, start: usize, end: usize) {
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
