//! Where identifiers begin and end, and what their parts are. Not here: which terms were already written.

use crate::text::cut_bytes;

/// The whole form is cut here, in the index and in queries alike.
const WHOLE_BYTES_MAX: usize = 100;
/// Longer runs are blobs: they have no parts worth finding.
const DIVIDED_BYTES_MAX: usize = 100;
const PARTS_MAX: usize = 24;

/// What a byte is to an identifier.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Other,
    Inside,
    /// Part of a character beyond ASCII, which has to be looked at.
    Wide,
}

static CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        let it = byte as u8;
        if it.is_ascii_alphanumeric() || it == b'_' {
            classes[byte] = Class::Inside;
        } else if !it.is_ascii() {
            classes[byte] = Class::Wide;
        }
        byte += 1;
    }
    classes
};

/// Runs of letters, digits and underscores. A run behind a backslash comes a second time without its first letter, which
/// may belong to an escape: `"\nfoo"` names `foo`.
pub(super) fn identifiers(text: &str) -> Identifiers<'_> {
    Identifiers { text, at: 0, behind_escape: None }
}

pub(super) struct Identifiers<'a> {
    text: &'a str,
    at: usize,
    behind_escape: Option<&'a str>,
}

impl<'a> Iterator for Identifiers<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if let Some(run) = self.behind_escape.take() {
            return Some(run);
        }
        let bytes = self.text.as_bytes();
        let mut start = self.at;
        loop {
            match CLASSES[usize::from(*bytes.get(start)?)] {
                Class::Inside => break,
                Class::Other => start += 1,
                Class::Wide => match self.wide(start) {
                    (true, _) => break,
                    (false, width) => start += width,
                },
            }
        }
        let mut end = start;
        while let Some(byte) = bytes.get(end) {
            match CLASSES[usize::from(*byte)] {
                Class::Inside => end += 1,
                Class::Other => break,
                Class::Wide => match self.wide(end) {
                    (true, width) => end += width,
                    (false, _) => break,
                },
            }
        }
        self.at = end;
        let run = &self.text[start..end];
        if start > 0 && bytes[start - 1] == b'\\' && run.len() > 1 && matches!(bytes[start], b'n' | b'r' | b't') {
            self.behind_escape = Some(&run[1..]);
        }
        Some(run)
    }
}

impl Identifiers<'_> {
    /// Whether the character here belongs to words, and how many bytes it has.
    fn wide(&self, at: usize) -> (bool, usize) {
        let character = self.text[at..].chars().next().expect("a character begins here");
        (character.is_alphanumeric() || is_mark(character), character.len_utf8())
    }
}

/// Combining marks continue a letter.
fn is_mark(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}' | '\u{94d}')
}

/// Whether a run is worth a term: numbers are not, unless they are of the size of ports, years and status codes.
pub(super) fn is_term(run: &str) -> bool {
    let bytes = run.as_bytes();
    if !bytes.first().is_some_and(u8::is_ascii_digit) {
        return !bytes.iter().all(|byte| *byte == b'_') || run.len() == 1;
    }
    if bytes.iter().all(|byte| byte.is_ascii_digit() || *byte == b'_') {
        return (3..=5).contains(&run.len());
    }
    !matches!(bytes, [b'0', b'x' | b'X' | b'b' | b'B' | b'o' | b'O', ..])
}

/// Appends the whole form of a run: folded, cut.
pub(super) fn whole_of(run: &str, out: &mut String) {
    if run.is_ascii() {
        let start = out.len();
        out.push_str(cut_bytes(run, WHOLE_BYTES_MAX));
        out[start..].make_ascii_lowercase();
        return;
    }
    let start = out.len();
    // Folding may lengthen a little; what is cut is the folded form.
    fold(cut_bytes(run, 2 * WHOLE_BYTES_MAX), out);
    let end = start + cut_bytes(&out[start..], WHOLE_BYTES_MAX).len();
    out.truncate(end);
}

pub(super) fn fold(part: &str, out: &mut String) {
    if part.is_ascii() {
        let start = out.len();
        out.push_str(part);
        out[start..].make_ascii_lowercase();
    } else {
        out.extend(part.chars().flat_map(char::to_lowercase));
    }
}

/// Gives the parts of a run: between underscores, in camel case, letters without digits; ideographs one by one.
pub(super) fn parts<'a>(run: &'a str, mut give: impl FnMut(&'a str)) {
    if run.len() > DIVIDED_BYTES_MAX {
        return;
    }
    let mut left = PARTS_MAX;
    let mut give_part = |part: &'a str| {
        if left > 0 && worth_a_part(part) {
            left -= 1;
            give(part);
        }
    };
    if run.is_ascii() {
        ascii_parts(run, &mut give_part);
    } else {
        wide_parts(run, &mut give_part);
    }
}

/// Letters alone and short numbers say nothing.
fn worth_a_part(part: &str) -> bool {
    if part.as_bytes().first().is_some_and(u8::is_ascii_digit) { (3..=5).contains(&part.len()) } else { part.len() > 1 }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Gap,
    Lower,
    Upper,
    Digit,
}

fn sort_of(byte: u8) -> Sort {
    match byte {
        b'a'..=b'z' => Sort::Lower,
        b'A'..=b'Z' => Sort::Upper,
        b'0'..=b'9' => Sort::Digit,
        _ => Sort::Gap,
    }
}

fn ascii_parts<'a>(run: &'a str, give: &mut impl FnMut(&'a str)) {
    let bytes = run.as_bytes();
    let mut start = 0;
    let mut last = Sort::Gap;
    for (at, byte) in bytes.iter().enumerate() {
        let sort = sort_of(*byte);
        let breaks = match (last, sort) {
            (Sort::Lower, Sort::Upper) => true,
            // The last of several capitals begins a word: `HTTPHeader`.
            (Sort::Upper, Sort::Upper) => bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase),
            (Sort::Upper, Sort::Lower) => false,
            (last, sort) => last != sort,
        };
        if breaks {
            if last != Sort::Gap {
                give(&run[start..at]);
            }
            start = at;
        }
        last = sort;
    }
    if last != Sort::Gap {
        give(&run[start..]);
    }
}

fn wide_parts<'a>(run: &'a str, give: &mut impl FnMut(&'a str)) {
    let mut start = 0;
    let mut last_lower = false;
    for (at, character) in run.char_indices() {
        let alone = is_ideograph(character);
        if alone || character == '_' || last_lower && character.is_uppercase() {
            if start < at {
                give(&run[start..at]);
            }
            start = at;
        }
        if alone || character == '_' {
            if alone {
                give(&run[at..at + character.len_utf8()]);
            }
            start = at + character.len_utf8();
        }
        last_lower = character.is_lowercase();
    }
    if start < run.len() {
        give(&run[start..]);
    }
}

/// Scripts without blanks between words.
fn is_ideograph(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{e00}'..='\u{e7f}')
}
