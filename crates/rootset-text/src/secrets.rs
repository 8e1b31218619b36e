//! Values that look like secrets: found, and taken out before a text is stored.
//!
//! A value is found by its own shape (`ghp_…`, a PEM block), by its name if it looks like what the name promises
//! (`api_key: …`), or by its place (`scheme://user:password@host`). Prose, placeholders, UUIDs, hashes and paths stay.
//! One pass, linear time: each kind is recognised at one byte and looks at a bounded distance from it, or remembers how
//! far it has looked. Invariant: redacting twice redacts nothing more.
//!
//! Not here: where texts come from, what is done about a finding, and secrets that look like words.

mod blocks;
mod checksums;
mod judge;
mod named;
mod names;
mod pattern;
mod personal;
mod rules;
mod said;
mod scanner;
mod urls;

use std::borrow::Cow;
use std::ops::Range;

use scanner::Scanner;

/// What a replaced value looks like, and is recognised by.
pub(crate) const MARK: &str = "[redacted:";

/// A text is scanned again after a redaction, because what stood beside a secret may now stand for itself. It never takes
/// more than two passes in practice; this is where a text made to need more stops.
const PASSES_MAX: usize = 4;

/// What to look for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecretScan {
    /// Also payment cards, IBANs and US social security numbers.
    pub personal_data: bool,
}

/// A value that looks like a secret. It does not hold the value, so it can be shown and logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub kind: &'static str,
    /// Bytes of the text; both ends are between characters.
    pub range: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted<'a> {
    pub text: Cow<'a, str>,
    /// Values replaced.
    pub count: usize,
}

impl SecretScan {
    /// Every secret in a text, in its order, without overlaps.
    pub fn find(self, text: &str) -> Vec<Finding> {
        Scanner::new(text, self).collect()
    }

    /// Every secret in the value of a field: the field's name says what the value is, as in `name: value`.
    pub fn find_in_field(self, name: &str, value: &str) -> Vec<Finding> {
        let found = self.find(value);
        if found.is_empty()
            && let Some(kind) = named::field_kind(name, value)
        {
            return vec![Finding { kind, range: 0..value.len() }];
        }
        found
    }

    /// Replaces every secret by `[redacted:<kind>]`.
    pub fn redact(self, text: &str) -> Redacted<'_> {
        redact_with(text, |text| self.find(text), |_| 0)
    }

    /// The same for the value of a field.
    pub fn redact_field<'a>(self, name: &str, value: &'a str) -> Redacted<'a> {
        redact_with(value, |value| self.find_in_field(name, value), |_| 0)
    }

    /// The same, leaving every line break where it was: what is said about lines stays true.
    pub fn redact_keeping_lines(self, text: &str) -> Redacted<'_> {
        redact_with(text, |text| self.find(text), |value| value.bytes().filter(|&byte| byte == b'\n').count())
    }
}

/// Replaces every value that looks like a secret, personal data aside.
pub fn redact(text: &str) -> Redacted<'_> {
    SecretScan::default().redact(text)
}

pub fn redact_keeping_lines(text: &str) -> Redacted<'_> {
    SecretScan::default().redact_keeping_lines(text)
}

/// The names of all kinds that can be found, each once, in the order of the alphabet.
pub fn kinds() -> Vec<&'static str> {
    let mut kinds: Vec<&str> = rules::kinds().chain(names::kinds()).chain(urls::KINDS.iter().copied()).collect();
    kinds.extend(blocks::KINDS);
    kinds.extend(named::KINDS);
    kinds.extend(scanner::KINDS);
    kinds.extend(personal::KINDS);
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

fn redact_with<'a>(
    text: &'a str,
    find: impl Fn(&str) -> Vec<Finding>,
    line_breaks_kept: impl Fn(&str) -> usize,
) -> Redacted<'a> {
    let mut redacted = Redacted { text: Cow::Borrowed(text), count: 0 };
    for _ in 0..PASSES_MAX {
        let found = find(&redacted.text);
        if found.is_empty() {
            break;
        }
        redacted.count += found.len();
        redacted.text = Cow::Owned(replaced(&redacted.text, &found, &line_breaks_kept));
    }
    redacted
}

fn replaced(text: &str, found: &[Finding], line_breaks_kept: impl Fn(&str) -> usize) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut copied = 0;
    for finding in found {
        replaced.push_str(&text[copied..finding.range.start]);
        replaced.push_str(MARK);
        replaced.push_str(finding.kind);
        replaced.push(']');
        replaced.extend(std::iter::repeat_n('\n', line_breaks_kept(&text[finding.range.clone()])));
        copied = finding.range.end;
    }
    replaced.push_str(&text[copied..]);
    replaced
}

#[cfg(test)]
mod tests;
