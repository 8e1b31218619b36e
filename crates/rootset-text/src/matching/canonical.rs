//! Identifiers that are written in several ways: numbers, hexadecimal runs, addresses of machines, URLs.
//!
//! Each is brought into one form, and is only ever found whole: what continues it makes another of it. Dates are in
//! [`dates`]. Not here: identifiers that have one form only, which `conjunction` takes as they are.

pub(super) mod dates;

use std::ops::Range;

use crate::chars::{fold, is_word};
use crate::scan::{Kind, Piece};

/// Shorter runs of digits are amounts and years.
const DIGITS_MIN: usize = 7;
/// Longer runs are data.
const DIGITS_MAX: usize = 34;
/// The longest telephone number there is; longer ones are of cards and accounts.
const PHONE_DIGITS_MAX: usize = 15;
const COUNTRY_CODE_DIGITS_MAX: usize = 3;
const NATIONAL_DIGITS_MIN: usize = 7;
/// Shorter hexadecimal runs are words and numbers.
const HEX_DIGITS_MIN: usize = 12;

/// A long number, without what separates its groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Number {
    digits: String,
    /// Begins with `+` or `00`: the country's code is part of it.
    is_international: bool,
}

impl Number {
    fn new(written: &str) -> Option<Self> {
        let is_plus = written.starts_with('+');
        let without_trunk = if is_plus { written.replace("(0)", "") } else { written.to_owned() };
        let digits: String = without_trunk.chars().filter(char::is_ascii_digit).collect();
        let is_double_zero = !is_plus && digits.starts_with("00") && digits.len() >= DIGITS_MIN + 2;
        let digits = if is_double_zero { digits[2..].to_owned() } else { digits };
        (DIGITS_MIN..=DIGITS_MAX)
            .contains(&digits.len())
            .then_some(Self { digits, is_international: is_plus || is_double_zero })
    }

    /// As many digits as telephones have.
    pub(super) fn may_be_called(&self) -> bool {
        self.digits.len() <= PHONE_DIGITS_MAX
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        match (self.is_international, other.is_international) {
            (true, true) => self.digits == other.digits,
            (false, false) => {
                self.digits == other.digits
                    || is_with_one(&self.digits, &other.digits)
                    || is_with_one(&other.digits, &self.digits)
            }
            (true, false) => self.is_abroad(other),
            (false, true) => other.is_abroad(self),
        }
    }

    /// Whether this one, with the country's code, is the other, without it or with it unmarked.
    fn is_abroad(&self, home: &Self) -> bool {
        if self.digits == home.digits {
            return true;
        }
        let national = home.digits.strip_prefix('0').unwrap_or(&home.digits);
        let code = self.digits.len().saturating_sub(national.len());
        self.digits.len() <= PHONE_DIGITS_MAX
            && national.len() >= NATIONAL_DIGITS_MIN
            && (1..=COUNTRY_CODE_DIGITS_MAX).contains(&code)
            && self.digits.ends_with(national)
    }

    /// Terms, one of which every text holds that has the number in groups of three digits or more; and for groups of
    /// two, terms of which all are there.
    pub(super) fn probes(&self) -> Vec<Vec<Vec<String>>> {
        let mut forms = vec![self.digits.clone()];
        for code in 0..=COUNTRY_CODE_DIGITS_MAX {
            if self.digits.len() >= code + NATIONAL_DIGITS_MIN {
                forms.push(format!("0{}", &self.digits[code..]));
            }
        }
        forms.push(format!("00{}", self.digits));
        if let Some(national) = self.digits.strip_prefix('0') {
            forms.push(national.to_owned());
        }
        if !self.is_international {
            // With the code of whatever country in front of the first group.
            forms.extend((1..=9).map(|code| format!("{code}{}", self.digits)));
        }
        let mut parts: Vec<String> = Vec::new();
        for form in &forms {
            for start in 0..form.len() {
                for end in (start + 3)..=form.len() {
                    parts.push(form[start..end].to_owned());
                }
            }
        }
        parts.sort_unstable();
        parts.dedup();
        let mut probes = vec![vec![parts]];
        for form in &forms {
            for first in 1..=2 {
                let pairs = form.get(first..).unwrap_or_default().as_bytes().chunks_exact(2);
                let pairs: Vec<Vec<String>> =
                    pairs.map(|pair| vec![String::from_utf8_lossy(pair).into_owned()]).collect();
                if pairs.len() >= 2 {
                    probes.push(pairs);
                }
            }
        }
        probes
    }
}

/// The same number, once with the code of North America and once without.
fn is_with_one(long: &str, short: &str) -> bool {
    short.len() == 10 && long.len() == 11 && long.starts_with('1') && long.ends_with(short)
}

/// A group of digits and what stands before it.
struct Group {
    range: Range<usize>,
    separator: Separator,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    None,
    Blank,
    Mark,
}

/// All long numbers in a plain text that stand whole, with their places.
pub(super) fn numbers(plain: &str) -> Vec<(Number, Range<usize>)> {
    let mut found = Vec::new();
    let bytes = plain.as_bytes();
    let mut position = 0;
    while position < bytes.len() {
        if !bytes[position].is_ascii_digit() || is_inside_word(plain, position) {
            position += 1;
            continue;
        }
        let groups = groups(plain, position);
        let end = groups.last().map_or(position + 1, |group| group.range.end);
        add_numbers(plain, &groups, &mut found);
        position = end;
    }
    found
}

fn is_inside_word(plain: &str, position: usize) -> bool {
    plain[..position].chars().next_back().is_some_and(|c| is_word(c) || c == '_' || c == '@')
}

/// The groups of digits from `start` on that read as one number.
fn groups(plain: &str, start: usize) -> Vec<Group> {
    let bytes = plain.as_bytes();
    let mut groups: Vec<Group> = Vec::new();
    let mut position = start;
    let mut separator = Separator::None;
    loop {
        let end = position + bytes[position..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        // Letters behind make something else of the last group.
        if plain[end..].chars().next().is_some_and(|c| is_word(c) || c == '_' || c == '@') {
            return groups;
        }
        groups.push(Group { range: position..end, separator });
        let marks = bytes[end..].iter().take_while(|byte| b" -.()/".contains(byte)).count();
        let between = &plain[end..end + marks];
        let joins = matches!(between, " " | "-" | "." | "/" | ") " | " (" | ")" | "(" | ")-" | " - " | "-(" | " (0) ");
        if !joins || !bytes.get(end + marks).is_some_and(u8::is_ascii_digit) {
            return groups;
        }
        separator = if between.trim().is_empty() { Separator::Blank } else { Separator::Mark };
        position = end + marks;
    }
}

/// The whole run; and the parts of it that blanks tie to the rest while marks, or nothing, hold them together.
fn add_numbers(plain: &str, groups: &[Group], found: &mut Vec<(Number, Range<usize>)>) {
    let mut add = |from: usize, to: usize| {
        let start = groups[from].range.start;
        let end = groups[to - 1].range.end;
        let has_bracket = plain[..start].ends_with('(');
        let lead = plain[..start].trim_end_matches('(');
        let start = if lead.ends_with('+') { lead.len() - 1 } else { start - usize::from(has_bracket) };
        if let Some(number) = Number::new(&plain[start..end]) {
            found.push((number, start..end));
        }
    };
    if groups.is_empty() {
        return;
    }
    add(0, groups.len());
    let mut from = 0;
    for index in 1..=groups.len() {
        let is_border = groups.get(index).is_none_or(|group| group.separator == Separator::Blank);
        if is_border {
            let is_all = from == 0 && index == groups.len();
            // Groups of a number that blanks separate are no numbers of their own, unless they are long enough.
            if !is_all {
                add(from, index);
            }
            from = index;
        }
    }
}

/// The digits and letters of a hexadecimal piece without what groups them: UUIDs, hashes, addresses of network cards.
pub(super) fn hexadecimal(written: &str) -> Option<String> {
    let bare = written.strip_prefix("0x").or_else(|| written.strip_prefix("0X")).unwrap_or(written);
    let digits: String = bare.chars().filter(|c| !matches!(c, '-' | ':' | '.')).collect();
    // Of colons and dots only those of a network card's address separate: others shorten, or are of other things.
    let is_grouped = (!written.contains(':') || written.split(':').all(|part| part.len() == 2))
        && (!written.contains('.') || (digits.len() == 12 && written.split('.').all(|part| part.len() == 4)));
    let is_hexadecimal = is_grouped && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_mixed = digits.bytes().any(|byte| byte.is_ascii_digit())
        && (digits.bytes().any(|byte| byte.is_ascii_alphabetic()) || written.contains(':'));
    (is_hexadecimal && is_mixed && digits.len() >= HEX_DIGITS_MIN).then(|| digits.to_ascii_lowercase())
}

/// The ways in which the index may hold a hexadecimal run.
pub(super) fn hexadecimal_probes(digits: &str) -> Vec<Vec<Vec<String>>> {
    let mut probes = vec![vec![vec![digits.to_owned(), format!("0x{digits}")]]];
    let groups = |lengths: &[usize]| {
        let mut start = 0;
        let cut = lengths.iter().map(|length| {
            start += length;
            vec![digits[start - length..start].to_owned()]
        });
        cut.collect::<Vec<_>>()
    };
    match digits.len() {
        32 => probes.push(groups(&[8, 4, 4, 4, 12])),
        12 => {
            probes.push(groups(&[2; 6]));
            probes.push(groups(&[4; 3]));
        }
        length if length % 2 == 0 => probes.push(groups(&vec![2; length / 2])),
        _ => {}
    }
    probes
}

/// Words that single or double colons join, with their places: `00:1A:2B`, `fe80::1`. Two of them are a ratio or a time.
pub(super) fn colon_runs(plain: &str) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let is_of_run = |c: char| c.is_ascii_alphanumeric() || c == ':' || c == '.' || c == '%';
    let mut position = 0;
    while let Some(offset) = plain[position..].find(is_of_run) {
        let start = position + offset;
        let length = plain[start..].find(|c| !is_of_run(c)).unwrap_or(plain.len() - start);
        let run = plain[start..start + length].trim_end_matches([':', '.']);
        let is_path = run.contains("://");
        // A letter that is not ASCII makes another word of it.
        let is_inside = plain[..start].chars().next_back().is_some_and(is_word)
            || plain[start + length..].chars().next().is_some_and(is_word);
        if run.matches(':').count() >= 2
            && !is_path
            && !is_inside
            && run.split(':').all(|part| part.len() <= 8)
            && !is_names(run)
        {
            runs.push(start..start + run.len());
        }
        position = start + length;
    }
    runs
}

/// `std::vec::Vec` is a name of code, not an address.
fn is_names(run: &str) -> bool {
    !run.split(':').all(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'.'))
        || !run.bytes().any(|byte| byte.is_ascii_digit())
}

/// Shorter codes are words with a number.
const CODE_CHARS_MIN: usize = 5;
/// With fewer digits, one less in capitals, it may be the name of a kind.
const CODE_DIGITS_MIN: usize = 4;
/// Longer ones are data.
const CODE_CHARS_MAX: usize = 34;
/// The shortest part of a code by which the index is asked.
const CODE_TERM_CHARS_MIN: usize = 3;

/// Letters and digits of a plate, an account or a ticket without what groups them.
pub(super) fn code(written: &str) -> Option<String> {
    let bare: String = written.chars().filter(|c| !matches!(c, ' ' | '-')).collect();
    let has = |test: fn(&u8) -> bool| bare.bytes().any(|byte| test(&byte));
    let digits = bare.bytes().filter(u8::is_ascii_digit).count();
    let is_shouted = !has(u8::is_ascii_lowercase);
    // `sha256` and `500GB` are words of many things.
    let is_mixed = has(u8::is_ascii_alphabetic)
        && (digits >= CODE_DIGITS_MIN || (is_shouted && digits + 1 >= CODE_DIGITS_MIN))
        && !bare.trim_start_matches(|c: char| c.is_ascii_digit()).bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_code = bare.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && is_mixed
        && (CODE_CHARS_MIN..=CODE_CHARS_MAX).contains(&bare.len());
    is_code.then(|| bare.to_ascii_lowercase())
}

/// Where a plain text has a code, with or without blanks and hyphens between its groups.
pub(super) fn code_in(plain: &str, code: &str) -> Option<Range<usize>> {
    let bytes = plain.as_bytes();
    let first = code.bytes().next()?;
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    let is_tie = |byte: u8| matches!(byte, b'-' | b'_' | b'.' | b':' | b'@');
    let begins = |start: usize| match start.checked_sub(1).map(|before| bytes[before]) {
        None => true,
        Some(before) if is_part(before) => false,
        Some(before) => !(is_tie(before) && start >= 2 && is_part(bytes[start - 2])),
    };
    let ends = |end: usize| match bytes.get(end) {
        None => true,
        Some(next) if is_part(*next) => false,
        Some(next) => !(is_tie(*next) && bytes.get(end + 1).is_some_and(|after| is_part(*after))),
    };
    (0..bytes.len()).filter(|start| bytes[*start].eq_ignore_ascii_case(&first) && begins(*start)).find_map(|start| {
        let mut position = start;
        for (index, wanted) in code.bytes().enumerate() {
            if index > 0 && bytes.get(position).is_some_and(|byte| matches!(byte, b' ' | b'-')) {
                position += 1;
            }
            if !bytes.get(position).is_some_and(|byte| byte.eq_ignore_ascii_case(&wanted)) {
                return None;
            }
            position += 1;
        }
        ends(position).then_some(start..position)
    })
}

/// Terms, one of which every text holds that has the code in groups of which one is long enough; or all its groups.
pub(super) fn code_probes(code: &str) -> Vec<Vec<Vec<String>>> {
    let mut parts = Vec::new();
    for start in 0..code.len() {
        for end in (start + CODE_TERM_CHARS_MIN)..=code.len() {
            parts.push(code[start..end].to_owned());
        }
    }
    parts.sort_unstable();
    parts.dedup();
    vec![vec![parts]]
}

/// The name of a machine by itself, as a URL without a path is.
pub(super) fn host(written: &str) -> Option<String> {
    let host = fold(written);
    let host = host.strip_prefix("www.").unwrap_or(&host);
    (host.contains('.') && !host.contains(['/', '@'])).then(|| host.to_owned())
}

/// A URL without what may be left out of it.
pub(super) fn url(written: &str) -> Option<String> {
    let rest = written.split_once("://").map_or(written, |(_, rest)| rest);
    let rest = rest.trim_end_matches('/');
    // The address that a repository is cloned from.
    let rest = rest.strip_suffix(".git").unwrap_or(rest);
    let (host, path) = rest.split_once('/').map_or((rest, ""), |(host, path)| (host, path));
    let host = fold(host);
    let host = host.strip_prefix("www.").unwrap_or(&host);
    let last = host.rsplit('.').next().unwrap_or_default().split(':').next().unwrap_or_default();
    let is_number = |part: &str| !part.is_empty() && part.len() <= 3 && part.bytes().all(|byte| byte.is_ascii_digit());
    let machine = host.split(':').next().unwrap_or_default();
    let is_machine = machine.split('.').count() == 4 && machine.split('.').all(is_number);
    let is_host = is_machine || (host.contains('.') && last.len() >= 2 && last.chars().all(char::is_alphabetic));
    let is_url = is_host && (written.contains("://") || !path.is_empty());
    is_url.then(|| if path.is_empty() { host.to_owned() } else { format!("{host}/{path}") })
}

/// The place of a URL that begins with this piece: what asks or points goes with it, with or without a scheme.
pub(super) fn url_range(plain: &str, piece: &Piece) -> Range<usize> {
    let after = &plain[piece.end..];
    let mut rest = after.chars();
    // A machine's address takes its port and path with it.
    let is_joined = |c| matches!(c, '?' | '#') || (c == ':' && piece.kind == Kind::Version);
    let goes_on = rest.next().is_some_and(is_joined) && rest.next().is_some_and(is_word);
    let length = if goes_on { after.find(char::is_whitespace).unwrap_or(after.len()) } else { 0 };
    let kept = after[..length].trim_end_matches(|c: char| !is_word(c)).len();
    piece.start..piece.end + kept
}

/// Pieces that may be URLs.
pub(super) fn may_be_url(piece: &Piece) -> bool {
    matches!(piece.kind, Kind::Url | Kind::Path | Kind::Dotted | Kind::Version)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_in(asked: &str, text: &str) -> bool {
        let asked = &numbers(asked)[0].0;
        numbers(text).iter().any(|(number, _)| number.is(asked))
    }

    #[test]
    fn numbers_are_the_same_however_they_are_grouped_and_with_or_without_the_country() {
        for text in [
            "+49 170 1234567",
            "0170 1234567",
            "+49 (0)170 123 45 67",
            "0049-170-1234567",
            "0170/1234567",
            "01701234567",
        ] {
            assert!(is_in("+49 170 1234567", text), "{text}");
            assert!(is_in("01701234567", text), "{text}");
        }
        assert!(is_in("4111111111111111", "card 4111 1111 1111 1111, valid"));
        assert!(is_in("4111-1111-1111-1111", "4111111111111111."));
        assert!(is_in("(555) 010-0199", "call +1 555 010 0199") && is_in("15550100199", "(555) 010-0199"));
        assert!(is_in("555-0100", "call 555-0100 200 times"));
    }

    #[test]
    fn a_number_that_goes_on_is_another() {
        for text in [
            "4111 1111 1111 11112",
            "4111 1111 1111 1111 9",
            "14111111111111111",
            "A4111111111111111",
            "+43 170 1234567",
        ] {
            assert!(!is_in("4111111111111111", text), "{text}");
            assert!(!is_in("+49 170 1234567", text), "{text}");
        }
        assert!(!is_in("5550100", "555 0100 200") && !is_in("0170 1234567", "0170 12345678"));
        assert!(numbers("in 2024 and 123456").is_empty());
    }

    #[test]
    fn hexadecimal_runs_addresses_and_urls_have_one_form() {
        let uuid = hexadecimal("550E8400-e29b-41d4-a716-446655440000");
        assert_eq!(uuid, hexadecimal("550e8400e29b41d4a716446655440000"));
        assert_eq!(hexadecimal("00:1A:2B:3C:4D:5E"), hexadecimal("00-1a-2b-3c-4d-5e"));
        assert_eq!(
            (hexadecimal("deadbeef"), hexadecimal("123456789012"), hexadecimal("facade-decade")),
            (None, None, None)
        );
        let runs = |text: &str| colon_runs(text).into_iter().map(|range| text[range].to_owned()).collect::<Vec<_>>();
        assert_eq!(
            runs("MAC 00:1A:2B:3C:4D:5E, at 10:30, fe80::1 and std::vec::Vec."),
            ["00:1A:2B:3C:4D:5E", "fe80::1"]
        );
        for written in ["https://acme.io/docs/", "http://www.acme.io/docs", "acme.io/docs", "ACME.io/docs/"] {
            assert_eq!(url(written).as_deref(), Some("acme.io/docs"), "{written}");
        }
        assert_eq!(url("https://acme.io/").as_deref(), Some("acme.io"));
        assert_eq!((url("src/lib.rs"), url("acme.io"), url("a.b/c")), (None, None, None));
    }
}
