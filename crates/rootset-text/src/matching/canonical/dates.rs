//! Days as people write them: ISO, European, American, with the month in words.
//!
//! A date of two small numbers reads in two ways. With full stops it is European; with slashes it is first of all
//! American, and doubtful. Not here: days that are told by their distance from today.

use std::ops::Range;

use crate::words::MONTHS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::matching) struct Day {
    year: u16,
    month: u8,
    day: u8,
}

/// How sure it is that a date is read as it was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::matching) enum Reading {
    Sure,
    /// The other order of day and month.
    Swapped,
}

/// The shortest form of a month's name.
const MONTH_CHARS_MIN: usize = 3;

impl Day {
    fn new(year: u16, month: u16, day: u16) -> Option<Self> {
        let year = if year < 100 { 2000 + year } else { year };
        let is_day = (1..=12).contains(&month) && (1..=31).contains(&day) && (1900..2200).contains(&year);
        is_day.then_some(Self { year, month: month as u8, day: day as u8 })
    }

    /// Terms, of each list of which every text holds one that writes the day in a way that is read here.
    pub(in crate::matching) fn probe(&self) -> Vec<Vec<String>> {
        let Self { year, day, .. } = self;
        let mut days = vec![day.to_string(), format!("{day:02}")];
        days.extend(["st", "nd", "rd", "th"].map(|ending| format!("{day}{ending}")));
        vec![vec![year.to_string(), format!("{:02}", year % 100)], days]
    }
}

/// The days in a plain text, with their places. One written in numbers may be there twice, with both readings.
pub(in crate::matching) fn days(plain: &str) -> Vec<(Day, Reading, Range<usize>)> {
    let tokens = tokens(plain);
    let mut found = Vec::new();
    let mut index = 0;
    while index < tokens.len() {
        let before = found.len();
        if let [a, b, c, ..] = &tokens[index..] {
            in_numbers(plain, a, b, c, &mut found);
        }
        if found.len() == before {
            in_words(plain, &tokens[index..], &mut found);
        }
        index += if found.len() > before { 3 } else { 1 };
    }
    found
}

#[derive(Clone, Copy)]
struct Token<'a> {
    text: &'a str,
    start: usize,
}

impl Token<'_> {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }

    fn number(&self) -> Option<u16> {
        let is_number = self.text.len() <= 4 && self.text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| self.text.parse().ok()).flatten()
    }

    /// `7`, `7th`.
    fn day(&self) -> Option<u16> {
        let digits = self.text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let ending = &self.text[digits.len()..];
        let is_ending = ["", "st", "nd", "rd", "th"].contains(&ending.to_ascii_lowercase().as_str());
        (is_ending && digits.len() <= 2).then(|| digits.parse().ok()).flatten()
    }

    fn month(&self) -> Option<u16> {
        let folded = self.text.to_ascii_lowercase();
        let is_short = folded.len() >= MONTH_CHARS_MIN;
        let place = MONTHS
            .iter()
            .position(|month| is_short && (month.starts_with(&folded) || folded == "sept" && *month == "september"))?;
        Some(place as u16 + 1)
    }

    fn is_year(&self) -> bool {
        self.text.len() == 4 && self.number().is_some()
    }
}

fn tokens(plain: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut start = None;
    for (offset, c) in plain.char_indices().chain([(plain.len(), ' ')]) {
        match (c.is_alphanumeric(), start) {
            (true, None) => start = Some(offset),
            (false, Some(from)) => {
                tokens.push(Token { text: &plain[from..offset], start: from });
                start = None;
            }
            _ => {}
        }
    }
    tokens
}

fn in_numbers(plain: &str, a: &Token<'_>, b: &Token<'_>, c: &Token<'_>, found: &mut Vec<(Day, Reading, Range<usize>)>) {
    let mark = &plain[a.end()..b.start];
    if !matches!(mark, "-" | "/" | "." | ". ") || &plain[b.end()..c.start] != mark {
        return;
    }
    // What goes on by the same mark is a version, a path or a number.
    let is_mark = |text: &str| {
        text.starts_with(['-', '/']) || (text.starts_with('.') && text[1..].starts_with(|c: char| c.is_ascii_digit()))
    };
    let before = plain[..a.start].chars().next_back();
    if before.is_some_and(|c| matches!(c, '-' | '/' | '.' | '_')) || is_mark(&plain[c.end()..]) {
        return;
    }
    let (Some(x), Some(y), Some(z)) = (a.number(), b.number(), c.number()) else { return };
    let range = a.start..c.end();
    let mut add = |day: Option<Day>, reading| found.extend(day.map(|day| (day, reading, range.clone())));
    if a.is_year() {
        return add(Day::new(x, y, z), Reading::Sure);
    }
    if !(c.is_year() || c.text.len() == 2) || a.text.len() > 2 || b.text.len() > 2 {
        return;
    }
    let (european, american) = (Day::new(z, y, x), Day::new(z, x, y));
    match (mark, european, american) {
        ("/", european, Some(american)) => {
            add(Some(american), Reading::Sure);
            add(european.filter(|it| *it != american), Reading::Swapped);
        }
        (_, Some(european), american) => {
            add(Some(european), Reading::Sure);
            add(american.filter(|it| mark == "-" && *it != european), Reading::Swapped);
        }
        (_, None, american) => add(american, Reading::Sure),
    }
}

/// `7 May 2024`, `7th of May, 2024`, `May 7, 2024`.
fn in_words(plain: &str, tokens: &[Token<'_>], found: &mut Vec<(Day, Reading, Range<usize>)>) {
    let without_of: Vec<&Token<'_>> = tokens.iter().take(4).filter(|it| !it.text.eq_ignore_ascii_case("of")).collect();
    let [a, b, c, ..] = without_of[..] else { return };
    if !c.is_year() || plain[a.end()..c.start].len() > 20 {
        return;
    }
    let day = match (a.day(), b.month(), a.month(), b.day()) {
        (Some(day), Some(month), ..) | (_, _, Some(month), Some(day)) => Day::new(c.number().unwrap_or(0), month, day),
        _ => None,
    };
    found.extend(day.map(|day| (day, Reading::Sure, a.start..c.end())));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(text: &str) -> Vec<(u16, u8, u8, Reading)> {
        days(text).into_iter().map(|(it, reading, _)| (it.year, it.month, it.day, reading)).collect()
    }

    #[test]
    fn a_day_is_read_in_every_order() {
        for text in [
            "2024-05-07",
            "07.05.2024",
            "7.5.24",
            "7 May 2024",
            "May 7, 2024",
            "the 7th of May 2024",
            "7th May, 2024",
            "on 2024/05/07.",
        ] {
            assert_eq!(readings(text), [(2024, 5, 7, Reading::Sure)], "{text}");
        }
        assert_eq!(readings("05/07/2024"), [(2024, 5, 7, Reading::Sure), (2024, 7, 5, Reading::Swapped)]);
        assert_eq!(readings("25/12/2024"), [(2024, 12, 25, Reading::Sure)]);
        assert_eq!(readings("12/25/2024"), [(2024, 12, 25, Reading::Sure)]);
        for text in ["1.2.2024.5", "v1.2.3", "10.0.0.1", "2024-05-07-2", "a/2024/05/07", "13.13.2024", "May 2024"] {
            assert_eq!(readings(text), [], "{text}");
        }
    }
}
