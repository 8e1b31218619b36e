//! Text that others wrote, made safe to show: a memory may come from anywhere.

use std::sync::atomic::{AtomicUsize, Ordering};

use rootset_text::invisible;
use serde::Serialize;

/// Characters that this process has shown as escapes.
static ESCAPED: AtomicUsize = AtomicUsize::new(0);

/// Shows characters that nobody would see as escapes, so that no memory can drive the terminal or say what is not read.
/// Line feeds and tabs stay.
pub fn escaped(text: &str) -> String {
    let shown = invisible::shown(text);
    ESCAPED.fetch_add(shown.escaped, Ordering::Relaxed);
    shown.text.into_owned()
}

/// The same for JSON that is already written; it reads back as it was.
pub fn escaped_in_json(json: &str) -> String {
    let shown = invisible::shown_in_json(json);
    ESCAPED.fetch_add(shown.escaped, Ordering::Relaxed);
    shown.text.into_owned()
}

/// How many characters were shown as escapes since this was last asked.
pub fn take_escaped() -> usize {
    ESCAPED.swap(0, Ordering::Relaxed)
}

/// Blanks and line breaks become single blanks; what is longer than `chars_max` ends in an ellipsis.
pub fn one_line(text: &str, chars_max: usize) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let safe = escaped(&joined);
    if safe.chars().count() <= chars_max {
        return safe;
    }
    let cut: String = safe.chars().take(chars_max.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}

/// `1 memory`, `2 memories`.
pub fn counted(count: impl TryInto<i64>, one: &str, many: &str) -> String {
    let count = whole(count);
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A word of the API as its JSON has it: `last_used_at`, `90d`.
pub fn word(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("words and numbers are always JSON");
    text.trim_matches('"').to_owned()
}

pub fn bytes(count: impl TryInto<i64>) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    let count = whole(count);
    if count < 1_000 {
        return format!("{count} B");
    }
    let mut amount = count as f64;
    let mut unit = "B";
    for larger in UNITS {
        if amount < 999.95 {
            break;
        }
        amount /= 1_000.0;
        unit = larger;
    }
    format!("{amount:.1} {unit}")
}

/// 12480 as 12,480.
pub fn grouped(count: impl TryInto<i64>) -> String {
    let count = whole(count);
    let digits = count.unsigned_abs().to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if count < 0 { format!("-{grouped}") } else { grouped }
}

/// Answers count in several types of numbers; none of them counts further than this.
fn whole(count: impl TryInto<i64>) -> i64 {
    count.try_into().unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_reordering_characters_are_escaped_and_line_feeds_are_not() {
        assert_eq!(escaped("a\u{1b}[31mb\r\nc\td"), "a\\u{1b}[31mb\\u{d}\nc\td");
        assert_eq!(escaped("abc\u{202e}fed\u{9b}x"), "abc\\u{202e}fed\\u{9b}x");
        assert_eq!(escaped("naïve 日本 👩‍👩‍👧"), "naïve 日本 👩‍👩‍👧");
    }

    #[test]
    fn lines_are_joined_and_cut() {
        assert_eq!(one_line(" a\n\tb  c ", 10), "a b c");
        assert_eq!(one_line("abcdefghij", 10), "abcdefghij");
        assert_eq!(one_line("abcdefghijk", 10), "abcdefghi…");
    }

    #[test]
    fn sizes_have_one_decimal() {
        let shown: Vec<String> =
            [0, 999, 1_000, 274_432, 999_999, 5_000_000_000].into_iter().map(|count: i64| bytes(count)).collect();
        assert_eq!(shown, ["0 B", "999 B", "1.0 kB", "274.4 kB", "1.0 MB", "5.0 GB"]);
    }
}
