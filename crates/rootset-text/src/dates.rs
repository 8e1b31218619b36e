//! Days, months and years that a text names, as ranges of milliseconds since 1970 (UTC).
//!
//! Read are ISO dates, English dates with a month's name, and words that need the moment of writing: `yesterday`, `last
//! Friday`, `3 weeks ago`. Not read: times of day, seasons, other languages; a month's name alone, because `may` and
//! `march` are words, too.

use std::ops::RangeInclusive;

use crate::words::MONTHS;

const DAY_MS: i64 = 86_400_000;
/// Ranges that one text is read for: a table of dates tells nothing about when something happened.
const PERIODS_MAX: usize = 8;
const WORDS_MAX: usize = 4_000;
/// Years that are read as such. Other numbers of four digits are quantities.
const YEARS: RangeInclusive<i64> = 1900..=2099;

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const NUMBERS: [&str; 10] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/// The first and the last millisecond of a period.
pub type Period = (i64, i64);

/// The periods in the order of the text. Without the moment of writing, only dates with a year are read.
pub fn periods(text: &str, written_ms: Option<i64>) -> Vec<Period> {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric() && c != '-')
        .filter(|word| !word.is_empty())
        .take(WORDS_MAX)
        .map(str::to_ascii_lowercase)
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let today = written_ms.map(|it| it.div_euclid(DAY_MS));
    let mut periods = Vec::new();
    let mut rest = &words[..];
    while let Some(after_first) = rest.get(1..) {
        match read(rest, today) {
            Some((period, used)) => {
                periods.push(period);
                rest = &rest[used..];
            }
            None => rest = after_first,
        }
        if periods.len() == PERIODS_MAX || rest.is_empty() {
            break;
        }
    }
    periods
}

/// The period that the words begin with, and how many of them it takes.
fn read(words: &[&str], today: Option<i64>) -> Option<(Period, usize)> {
    iso(words[0]).map(|period| (period, 1)).or_else(|| with_month(words, today)).or_else(|| relative(words, today?))
}

/// `2026-05-07` or `2026-05`.
fn iso(word: &str) -> Option<Period> {
    let parts: Vec<&str> = word.split('-').collect();
    let number = |place: usize| parts.get(place).filter(|it| it.len() == 2)?.parse::<i64>().ok();
    let year = year(parts[0])?;
    match parts.len() {
        2 => month(year, number(1)?),
        3 => day(year, number(1)?, number(2)?),
        _ => None,
    }
}

/// `7 May 2026`, `May 7th, 2026`, `May 2026`; with the moment of writing also `May 7` and `7 May`, of the nearest year.
fn with_month(words: &[&str], today: Option<i64>) -> Option<(Period, usize)> {
    let word = |place: usize| words.get(place).copied().unwrap_or_default();
    let of = usize::from(word(1) == "of");
    let (number, name, after) = match (month_number(word(0)), month_number(word(1 + of))) {
        (None, Some(name)) => (Some(day_number(word(0))?), name, 2 + of),
        (Some(name), _) => match day_number(word(1)) {
            Some(number) => (Some(number), name, 2),
            None => (None, name, 1),
        },
        (None, None) => return None,
    };
    match (number, year(word(after))) {
        (Some(number), Some(year)) => Some((day(year, name, number)?, after + 1)),
        (None, Some(year)) => Some((month(year, name)?, after + 1)),
        (Some(number), None) => {
            let today = today?;
            let (this_year, ..) = civil(today);
            let of_year = |year: i64| day(year, name, number);
            let nearest = (this_year - 1..=this_year + 1).filter_map(of_year);
            Some((nearest.min_by_key(|period| (period.0.div_euclid(DAY_MS) - today).abs())?, after))
        }
        (None, None) => None,
    }
}

/// `yesterday`, `last Friday`, `next week`, `3 days ago`.
fn relative(words: &[&str], today: i64) -> Option<(Period, usize)> {
    let word = |place: usize| words.get(place).copied().unwrap_or_default();
    let days = |from: i64, until: i64| (from * DAY_MS, (until + 1) * DAY_MS - 1);
    let weekday = (today + 3).rem_euclid(7); // 1970 began on a Thursday.
    let monday = today - weekday;
    let (year, month_of_year, _) = civil(today);
    let of_unit = |unit: &str, offset: i64| match unit.trim_end_matches('s') {
        "day" => Some(days(today + offset, today + offset)),
        "week" => Some(days(monday + 7 * offset, monday + 7 * offset + 6)),
        "weekend" => Some(days(monday + 7 * offset + 5, monday + 7 * offset + 6)),
        "month" => {
            let months = year * 12 + month_of_year - 1 + offset;
            month(months.div_euclid(12), months.rem_euclid(12) + 1)
        }
        "year" => Some((first_day(year + offset, 1)? * DAY_MS, first_day(year + offset + 1, 1)? * DAY_MS - 1)),
        _ => None,
    };
    match word(0) {
        "today" | "tonight" => Some((days(today, today), 1)),
        "yesterday" => Some((days(today - 1, today - 1), 1)),
        "tomorrow" => Some((days(today + 1, today + 1), 1)),
        which @ ("last" | "next" | "this") => {
            let offset = match which {
                "last" => -1,
                "next" => 1,
                _ => 0,
            };
            if let Some(wanted) = WEEKDAYS.iter().position(|it| *it == word(1)) {
                let ahead = (wanted as i64 - weekday).rem_euclid(7);
                let day = match (which, ahead) {
                    ("last", ahead) => today + ahead - 7,
                    ("next", 0) => today + 7,
                    (_, ahead) => today + ahead,
                };
                return Some((days(day, day), 2));
            }
            Some((of_unit(word(1), offset)?, 2))
        }
        count => {
            if word(2) != "ago" {
                return None;
            }
            let named = NUMBERS.iter().position(|it| *it == count).map(|place| place as i64 + 1);
            let count = named.or_else(|| matches!(count, "a" | "an").then_some(1)).or_else(|| count.parse().ok())?;
            let period = of_unit(word(1), -i64::from(i32::try_from(count).ok().filter(|it| *it < 10_000)?))?;
            Some((period, 3))
        }
    }
}

fn year(word: &str) -> Option<i64> {
    let year = word.parse().ok().filter(|year| YEARS.contains(year))?;
    (word.len() == 4).then_some(year)
}

/// `7`, `7th`; not `0` or `32`.
fn day_number(word: &str) -> Option<i64> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
    digits.parse().ok().filter(|day| (1..=31).contains(day) && digits.len() <= 2)
}

fn month_number(word: &str) -> Option<i64> {
    let is_named = |name: &&str| {
        **name == *word || (name.len() > 3 && (*word == name[..3] || word == "sept" && name.starts_with(word)))
    };
    MONTHS.iter().position(is_named).map(|place| place as i64 + 1)
}

fn month(year: i64, month: i64) -> Option<Period> {
    let next = if month == 12 { first_day(year + 1, 1)? } else { first_day(year, month + 1)? };
    Some((first_day(year, month)? * DAY_MS, next * DAY_MS - 1))
}

fn day(year: i64, month: i64, day: i64) -> Option<Period> {
    let number = first_day(year, month)? + day - 1;
    // 30 February is no day.
    (civil(number) == (year, month, day)).then_some((number * DAY_MS, (number + 1) * DAY_MS - 1))
}

/// Days from 1970-01-01 to the first day of a month; Howard Hinnant's `days_from_civil`.
fn first_day(year: i64, month: i64) -> Option<i64> {
    if !(1..=12).contains(&month) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

/// Year, month and day of a number of days since 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_days(text: &str, written: Option<(i64, i64, i64)>) -> Vec<String> {
        let written = written.and_then(|(year, month, of_month)| day(year, month, of_month)).map(|it| it.0 + 7);
        let shown = |ms: i64| {
            let (year, month, day) = civil(ms.div_euclid(DAY_MS));
            format!("{year}-{month:02}-{day:02}")
        };
        periods(text, written).into_iter().map(|(from, until)| format!("{} {}", shown(from), shown(until))).collect()
    }

    #[test]
    fn dates_with_a_year_need_nothing_else() {
        for text in ["on 7 May 2023?", "May 7, 2023", "the 7th of May 2023", "2023-05-07T10:00", "Seen 2023-05-07."] {
            let expected: &[&str] = if text.contains('T') { &[] } else { &["2023-05-07 2023-05-07"] };
            assert_eq!(read_days(text, None), expected, "{text}");
        }
        assert_eq!(read_days("2026-02-30, 30 February 2024", None), ["2024-02-01 2024-02-29"], "there is no such day");
        assert_eq!(read_days("in February 2024 or 2023-12", None), ["2024-02-01 2024-02-29", "2023-12-01 2023-12-31"]);
        let nothing: [&str; 0] = [];
        assert_eq!(read_days("May I? 2024 files, version 2024-1, yesterday, May 7", None), nothing);
    }

    #[test]
    fn words_are_read_from_the_moment_of_writing() {
        // A Wednesday.
        let written = Some((2026, 1, 7));
        for (text, expected) in [
            ("yesterday", "2026-01-06 2026-01-06"),
            ("last Friday", "2026-01-02 2026-01-02"),
            ("last Wednesday", "2025-12-31 2025-12-31"),
            ("next wednesday", "2026-01-14 2026-01-14"),
            ("next Monday", "2026-01-12 2026-01-12"),
            ("last week", "2025-12-29 2026-01-04"),
            ("last weekend", "2026-01-03 2026-01-04"),
            ("last month", "2025-12-01 2025-12-31"),
            ("this year", "2026-01-01 2026-12-31"),
            ("three days ago", "2026-01-04 2026-01-04"),
            ("2 months ago", "2025-11-01 2025-11-30"),
            ("on Dec 30", "2025-12-30 2025-12-30"),
        ] {
            assert_eq!(read_days(text, written), [expected], "{text}");
        }
    }

    #[test]
    fn every_day_of_four_centuries_is_its_own() {
        for number in -146_097..146_097 {
            let (year, month, of_month) = civil(number);
            assert_eq!(first_day(year, month).map(|first| first + of_month - 1), Some(number));
        }
    }
}
