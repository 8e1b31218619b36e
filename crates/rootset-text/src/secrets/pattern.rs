//! The shapes of tokens, written as `prefix{class:length}…` and matched without going back.
//!
//! `{a:36}` is 36 of a class, `{a:20-40}` from 20 to 40, `{a:20+}` at least 20. Everything else stands for itself. A part takes
//! as many bytes as it may before the next part is looked at, so a class must not contain what follows it, unless its length
//! is fixed.

/// A part without an upper bound ends here.
const PART_BYTES_MAX: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// a: letters and digits.
    Alphanumeric,
    /// l: lower-case letters and digits.
    Lower,
    /// u: upper-case letters and digits.
    Upper,
    /// c: base32, as in AWS ids.
    Base32,
    /// h: hexadecimal digits of either case.
    Hex,
    /// d: digits.
    Digit,
    /// z: letters.
    Letter,
    /// w: letters, digits, `_` and `-`.
    Word,
    /// b: base64 with `+` and `/`.
    Base64,
    /// g: what `w` has, `.` and `=`.
    Dotted,
    /// k: base58 of bitcoin.
    Base58,
}

impl Class {
    fn of_letter(letter: u8) -> Option<Self> {
        Some(match letter {
            b'a' => Self::Alphanumeric,
            b'l' => Self::Lower,
            b'u' => Self::Upper,
            b'c' => Self::Base32,
            b'h' => Self::Hex,
            b'd' => Self::Digit,
            b'z' => Self::Letter,
            b'w' => Self::Word,
            b'b' => Self::Base64,
            b'g' => Self::Dotted,
            b'k' => Self::Base58,
            _ => return None,
        })
    }

    pub(super) fn contains(self, byte: u8) -> bool {
        match self {
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::Lower => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Base32 => byte.is_ascii_uppercase() || (b'2'..=b'7').contains(&byte),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Digit => byte.is_ascii_digit(),
            Self::Letter => byte.is_ascii_alphabetic(),
            Self::Word => is_token_byte(byte),
            Self::Base64 => byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/',
            Self::Dotted => is_token_byte(byte) || byte == b'.' || byte == b'=',
            Self::Base58 => byte.is_ascii_alphanumeric() && !b"0OIl".contains(&byte),
        }
    }
}

#[derive(Clone, Debug)]
enum Part {
    Literal(&'static [u8]),
    Run { class: Class, min: usize, max: usize },
}

#[derive(Clone, Debug)]
pub(super) struct Pattern {
    prefix: &'static [u8],
    parts: Vec<Part>,
}

impl Pattern {
    /// The table of rules is part of the program: a mistake in it is found by the first test that scans anything.
    pub(super) fn parse(text: &'static str) -> Self {
        let (prefix, mut rest) = text.split_at(text.find('{').unwrap_or(text.len()));
        let mut parts = Vec::new();
        while let Some(open) = rest.find('{') {
            if open > 0 {
                parts.push(Part::Literal(&rest.as_bytes()[..open]));
            }
            let close = rest.find('}').expect("a rule closes its braces");
            parts.push(run_of(&rest[open + 1..close]));
            rest = &rest[close + 1..];
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.as_bytes()));
        }
        Self { prefix: prefix.as_bytes(), parts }
    }

    pub(super) fn prefix(&self) -> &'static [u8] {
        self.prefix
    }

    /// The length of the token at the start of `bytes`, if there is one. It ends where it could not go on.
    pub(super) fn length_at(&self, bytes: &[u8]) -> Option<usize> {
        if !bytes.starts_with(self.prefix) {
            return None;
        }
        let mut at = self.prefix.len();
        let mut last = Class::Alphanumeric;
        for part in &self.parts {
            match part {
                Part::Literal(literal) => {
                    if !bytes[at..].starts_with(literal) {
                        return None;
                    }
                    at += literal.len();
                    last = Class::Alphanumeric;
                }
                Part::Run { class, min, max } => {
                    let length = run(&bytes[at..bytes.len().min(at + max)], |byte| class.contains(byte));
                    if length < *min {
                        return None;
                    }
                    at += length;
                    last = *class;
                }
            }
        }
        if last == Class::Dotted {
            // The full stop of a sentence.
            at -= bytes[..at].iter().rev().take_while(|byte| **byte == b'.').count();
        } else if bytes.get(at).is_some_and(|&next| last.contains(next) || next.is_ascii_alphanumeric()) {
            return None;
        }
        let padding = if last == Class::Base64 { run(&bytes[at..], |byte| byte == b'=').min(2) } else { 0 };
        Some(at + padding)
    }
}

fn run_of(text: &'static str) -> Part {
    let (class, length) = text.split_once(':').expect("a part of a rule is `class:length`");
    let class = Class::of_letter(class.as_bytes()[0]).expect("a part of a rule has a known class");
    let number = |text: &str| text.parse::<usize>().expect("a length is a number");
    let (min, max) = match (length.strip_suffix('+'), length.split_once('-')) {
        (Some(min), _) => (number(min), PART_BYTES_MAX),
        (None, Some((min, max))) => (number(min), number(max)),
        (None, None) => (number(length), number(length)),
    };
    Part::Run { class, min, max }
}

pub(super) fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// How many bytes from the start are of a kind.
pub(super) fn run(bytes: &[u8], is_member: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|byte| is_member(**byte)).count()
}

/// What stands before a place on its line, as far as it matters.
pub(super) fn line_before(bytes: &[u8], position: usize) -> &[u8] {
    const LINE_BYTES_MAX: usize = 256;
    let before = &bytes[position.saturating_sub(LINE_BYTES_MAX)..position];
    before.iter().rposition(|byte| *byte == b'\n').map_or(before, |newline| &before[newline + 1..])
}
