//! Characters that nobody sees and that still do something: they drive a terminal, turn a line around, or carry words that a
//! model reads and a person does not.
//!
//! They are stored as they were given and shown as escapes. Joiners and variation selectors stay where writing needs them:
//! inside emoji, and between letters of scripts that join. Not here: when text is shown, and to whom.

use std::borrow::Cow;
use std::fmt::Write;

use crate::chars::{is_emoji, within};

/// Never shown as they are. Line feeds, tabs and ordinary spaces are not among them.
const HIDDEN: &[(char, char)] = &[
    ('\u{0}', '\u{8}'),
    ('\u{B}', '\u{1F}'),
    ('\u{7F}', '\u{9F}'), // delete, C1
    ('\u{AD}', '\u{AD}'), // soft hyphen
    ('\u{34F}', '\u{34F}'),
    ('\u{61C}', '\u{61C}'),   // Arabic letter mark
    ('\u{115F}', '\u{1160}'), // Hangul fillers
    ('\u{17B4}', '\u{17B5}'),
    ('\u{180B}', '\u{180F}'),
    ('\u{200B}', '\u{200B}'), // zero-width space
    ('\u{200E}', '\u{200F}'),
    ('\u{2028}', '\u{202E}'), // line and paragraph separators, embeddings and overrides
    ('\u{2060}', '\u{206F}'), // word joiner, invisible operators, isolates
    ('\u{3164}', '\u{3164}'),
    ('\u{FEFF}', '\u{FEFF}'),
    ('\u{FFA0}', '\u{FFA0}'),
    ('\u{FFF9}', '\u{FFFB}'), // interlinear annotations
    ('\u{1BCA0}', '\u{1BCA3}'),
    ('\u{1D173}', '\u{1D17A}'),
    ('\u{E0000}', '\u{E0FFF}'), // tags, and variation selectors that nothing in common use needs
];

/// Joiner and non-joiner: needed inside emoji and in scripts whose letters join.
const JOINERS: (char, char) = ('\u{200C}', '\u{200D}');
const VARIATION_SELECTORS: (char, char) = ('\u{FE00}', '\u{FE0F}');
/// Arabic and its relatives, the scripts of India and their neighbours, Mongolian.
const JOINING: &[(char, char)] =
    &[('\u{600}', '\u{8FF}'), ('\u{900}', '\u{DFF}'), ('\u{F00}', '\u{109F}'), ('\u{1780}', '\u{18AF}')];

/// A text as it may be shown, and how many characters are shown as escapes in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown<'a> {
    pub text: Cow<'a, str>,
    pub escaped: usize,
}

/// For people and models: `\u{202e}`.
pub fn shown(text: &str) -> Shown<'_> {
    with_escapes(text, |hidden, shown| shown.extend(hidden.escape_unicode()))
}

/// For JSON that is already written: `\u202e`, which reads back as the same character.
pub fn shown_in_json(json: &str) -> Shown<'_> {
    with_escapes(json, |hidden, shown| {
        for unit in hidden.encode_utf16(&mut [0; 2]) {
            let _ = write!(shown, "\\u{unit:04x}");
        }
    })
}

fn with_escapes(text: &str, escape: impl Fn(char, &mut String)) -> Shown<'_> {
    if text.is_ascii() && !text.bytes().any(|byte| is_hidden(byte.into(), None, None)) {
        return Shown { text: Cow::Borrowed(text), escaped: 0 };
    }
    let mut shown = String::new();
    let (mut copied, mut escaped, mut before) = (0, 0, None);
    let mut characters = text.char_indices().peekable();
    while let Some((position, character)) = characters.next() {
        let after = characters.peek().map(|(_, after)| *after);
        if is_hidden(character, before, after) {
            shown.push_str(&text[copied..position]);
            escape(character, &mut shown);
            copied = position + character.len_utf8();
            escaped += 1;
        }
        before = Some(character);
    }
    if escaped == 0 {
        return Shown { text: Cow::Borrowed(text), escaped };
    }
    shown.push_str(&text[copied..]);
    Shown { text: Cow::Owned(shown), escaped }
}

fn is_hidden(character: char, before: Option<char>, after: Option<char>) -> bool {
    if within(character, HIDDEN) {
        return true;
    }
    if within(character, &[JOINERS]) {
        let joins = |c: char| within(c, JOINING);
        let is_of_emoji = |c: char| is_emoji(c) || within(c, &[VARIATION_SELECTORS]);
        let between = |fits: &dyn Fn(char) -> bool| before.is_some_and(fits) && after.is_some_and(fits);
        // A letter may end a word after which a non-joiner keeps its shape, so one side is enough for scripts that join.
        return !(between(&is_of_emoji) || before.is_some_and(joins));
    }
    if within(character, &[VARIATION_SELECTORS]) {
        // One of them after something that has variants: a symbol, a digit of a keycap, an ideograph.
        let has_variants = |c: char| match c {
            '0'..='9' | '#' | '*' => true,
            c => !c.is_ascii() && !within(c, &[VARIATION_SELECTORS]) && !within(c, HIDDEN),
        };
        return !before.is_some_and(has_variants);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str, escaped: usize) {
        let found = shown(text);
        assert_eq!((found.text.as_ref(), found.escaped), (expected, escaped));
    }

    #[test]
    fn what_drives_a_terminal_or_turns_a_line_is_escaped() {
        check("a\u{1b}[31mb\r\nc\td", "a\\u{1b}[31mb\\u{d}\nc\td", 2);
        check("abc\u{202e}fed\u{9b}x\u{7f}", "abc\\u{202e}fed\\u{9b}x\\u{7f}", 3);
        check("\u{2066}a\u{2069}\u{61c}\u{200f}", "\\u{2066}a\\u{2069}\\u{61c}\\u{200f}", 4);
    }

    #[test]
    fn what_hides_words_is_escaped() {
        check("pass\u{200b}word\u{200d}s", "pass\\u{200b}word\\u{200d}s", 2);
        check("hi\u{e0048}\u{e0049}", "hi\\u{e0048}\\u{e0049}", 2);
        check("x\u{e0100}\u{fe01}\u{feff}\u{3164}", "x\\u{e0100}\\u{fe01}\\u{feff}\\u{3164}", 4);
        check("☺\u{fe0f}\u{fe01}\u{fe02}", "☺\u{fe0f}\\u{fe01}\\u{fe02}", 2);
    }

    #[test]
    fn what_writing_needs_stays() {
        for text in ["naïve 日本 👩‍👩‍👧 ❤️ 1️⃣ 👁️‍🗨️", "می‌خواهم", "क्‍ष", "葛\u{fe00}", "tab\tand\nline", ""]
        {
            check(text, text, 0);
        }
    }

    #[test]
    fn json_with_escapes_reads_back_the_same() {
        let value = serde_json::json!({"a\u{202e}": "b\u{e0041}c\u{7f}\r\u{1b}", "plain": "👩‍👧"});
        let found = shown_in_json(&value.to_string()).text.into_owned();
        assert!(found.contains("\\u202e") && found.contains("\\udb40\\udc41") && found.contains("\\u007f"), "{found}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&found).unwrap(), value);
    }
}
