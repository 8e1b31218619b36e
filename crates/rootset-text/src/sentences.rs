//! Where sentences end.
//!
//! Rough on purpose: chunks want a good place to cut, extraction wants to know what stands together. A line that does
//! not begin in lower case is a sentence of its own, because notes are full of lists and headings.

use std::ops::Range;

/// Words whose full stop ends no sentence.
const ABBREVIATIONS: &[&str] =
    &["a.k.a", "al", "approx", "ca", "cf", "dr", "e.g", "fig", "i.e", "mr", "mrs", "ms", "no", "prof", "st", "vs"];

/// The sentences of a text as byte ranges without white space at their ends; in order, none empty.
pub(crate) fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut position = 0;
    while let Some(c) = text[position..].chars().next() {
        let next = position + c.len_utf8();
        let end = match c {
            '.' | '!' | '?' => end_after_mark(text, position, next),
            '。' | '！' | '？' => Some(next),
            '\n' => end_at_line(text, next),
            _ => None,
        };
        if let Some(end) = end {
            push_trimmed(&mut sentences, text, start..end);
            start = end;
        }
        position = end.unwrap_or(next);
    }
    push_trimmed(&mut sentences, text, start..text.len());
    sentences
}

/// Where the sentence ends whose closing mark stands at `mark`, if it closes one. Brackets and quotes behind belong to
/// it.
fn end_after_mark(text: &str, mark: usize, next: usize) -> Option<usize> {
    let rest = &text[next..];
    let is_closer = |c: char| matches!(c, '"' | '\'' | ')' | ']' | '}' | '”' | '’' | '»' | '*' | '_' | '`');
    let end = text.len() - rest.trim_start_matches(is_closer).len();
    let is_free = text[end..].chars().next().is_none_or(char::is_whitespace);
    (is_free && !(text.as_bytes()[mark] == b'.' && is_abbreviated(&text[..mark]))).then_some(end)
}

fn is_abbreviated(before: &str) -> bool {
    // Long enough for every abbreviation, short enough to look at after each full stop.
    let tail = before.as_bytes().iter().rev().take(8).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'.');
    let word = &before[before.len() - tail.count()..];
    let is_initial = word.len() == 1 && word.as_bytes()[0].is_ascii_uppercase() && word != "I";
    is_initial || ABBREVIATIONS.iter().any(|it| it.eq_ignore_ascii_case(word))
}

/// The start of the next line with something on it, unless that line carries the sentence on.
fn end_at_line(text: &str, next: usize) -> Option<usize> {
    let rest = &text[next..];
    let line = rest.trim_start();
    let blank = &rest[..rest.len() - line.len()];
    let carries_on = !blank.contains('\n') && line.starts_with(char::is_lowercase);
    (!carries_on).then_some(next + blank.len())
}

fn push_trimmed(sentences: &mut Vec<Range<usize>>, text: &str, range: Range<usize>) {
    let trimmed = trim_range(text, range);
    if !trimmed.is_empty() {
        sentences.push(trimmed);
    }
}

/// The range without the white space at its ends.
pub(crate) fn trim_range(text: &str, range: Range<usize>) -> Range<usize> {
    let from_start = text[range.clone()].trim_start();
    let start = range.end - from_start.len();
    start..start + from_start.trim_end().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<&str> {
        sentences(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn sentences_end_at_marks_and_not_at_abbreviations() {
        assert_eq!(
            split("Ask Dr. J. Smith (e.g. by mail). It is 3.5! “Ok?” Yes"),
            ["Ask Dr. J. Smith (e.g. by mail).", "It is 3.5!", "“Ok?”", "Yes"]
        );
        assert_eq!(split("東京。大阪"), ["東京。", "大阪"]);
    }

    #[test]
    fn lines_are_sentences_unless_they_carry_one_on() {
        assert_eq!(split("# Head\n- one\nwrapped here\n\nlast\n"), ["# Head", "- one\nwrapped here", "last"]);
        assert_eq!(split(" \n\n "), [""; 0]);
    }
}
