//! Short views of a text: the place that answers a query, or its beginning.
//!
//! Invariant: the answer has at most as many characters as asked for, the marks of the cut included. Not here: how many
//! that should be.

use crate::chars::cut_bytes;
use crate::scan::{Kind, Piece, scan};
use crate::terms::reader::{Term, TermReader};
use crate::terms::{QueryTerm, TERM_BYTES_MAX};
use crate::words::base_of;

const CUT_MARK: char = '…';

/// The window of the text that holds the most distinct terms, cut between words where possible.
pub fn snippet(text: &str, terms: &[QueryTerm], chars_max: usize) -> String {
    let text = text.trim();
    // Bytes are never fewer than characters, so most texts need no counting.
    if text.len() <= chars_max || text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let Some(room) = chars_max.checked_sub(2).filter(|room| *room > 0) else {
        return std::iter::repeat_n(CUT_MARK, chars_max.min(1)).collect();
    };
    let (first, last) = best_window(&hits(text, terms), room);
    let (start, end) = widen(text, first, last, room);
    let mut window = String::with_capacity(end - start + 2 * CUT_MARK.len_utf8());
    let shown = text[start..end].trim();
    window.extend((start > 0).then_some(CUT_MARK));
    window.push_str(shown);
    window.extend((end < text.len()).then_some(CUT_MARK));
    window
}

/// The beginning of a text on one line: white space collapsed, marked where it is cut.
pub fn preview(text: &str, chars_max: usize) -> String {
    let mut preview = String::new();
    let mut chars = 0;
    // Where the text would be cut to leave room for the mark.
    let mut cut_at = 0;
    for word in text.split_whitespace() {
        let blank = (chars > 0).then_some(' ');
        for c in blank.into_iter().chain(word.chars()) {
            if chars == chars_max {
                preview.truncate(cut_at);
                preview.truncate(preview.trim_end().len());
                preview.extend((chars_max > 0).then_some(CUT_MARK));
                return preview;
            }
            preview.push(c);
            chars += 1;
            if chars < chars_max {
                cut_at = preview.len();
            }
        }
    }
    preview
}

/// A piece that holds a term of the query.
#[derive(Debug)]
struct Hit {
    start: usize,
    end: usize,
    /// Characters of the text before the hit.
    chars_before: usize,
    term: usize,
}

fn hits(text: &str, terms: &[QueryTerm]) -> Vec<Hit> {
    let mut sorted: Vec<(&str, usize)> =
        terms.iter().enumerate().map(|(index, it)| (it.term.as_str(), index)).collect();
    sorted.sort_unstable();
    let mut hits = Vec::new();
    if sorted.is_empty() {
        return hits;
    }
    let mut reader = TermReader::new();
    let mut counted = 0;
    let mut chars_before = 0;
    let first_letters = FirstLetters::of(terms);
    for piece in scan(text) {
        if piece.kind == Kind::Word && !first_letters.may_begin(piece.of(text)) {
            continue;
        }
        chars_before += text[counted..piece.start].chars().count();
        counted = piece.start;
        let Piece { start, end, .. } = piece;
        reader.read_unnormalised(text, &piece, |term| {
            let (Term::Whole { folded: term, .. } | Term::Run { stem: term, .. } | Term::Part { stem: term }) = term;
            let term = cut_bytes(term, TERM_BYTES_MAX);
            if let Ok(found) = sorted.binary_search_by_key(&term, |&(term, _)| term) {
                hits.push(Hit { start, end, chars_before, term: sorted[found].1 });
            }
        });
    }
    hits
}

/// The first letters of terms. A stem begins as its word does, so most words of a text need no stemming to be passed
/// over.
#[derive(Debug)]
struct FirstLetters([bool; 256]);

impl FirstLetters {
    fn of(terms: &[QueryTerm]) -> Self {
        let mut letters = [false; 256];
        terms.iter().filter_map(|it| it.term.bytes().next()).for_each(|byte| letters[usize::from(byte)] = true);
        Self(letters)
    }

    fn may_begin(&self, word: &str) -> bool {
        if !word.is_ascii() {
            return true;
        }
        let is_first =
            |word: &str| word.bytes().next().is_some_and(|byte| self.0[usize::from(byte.to_ascii_lowercase())]);
        is_first(word) || base_of(&word.to_ascii_lowercase()).is_some_and(is_first)
    }
}

/// The bytes from the first to the last hit of the best window of `room` characters: most distinct terms, then most
/// hits, then earliest.
fn best_window(hits: &[Hit], room: usize) -> (usize, usize) {
    let terms = hits.iter().map(|hit| hit.term + 1).max().unwrap_or(0);
    let mut counts = vec![0_usize; terms];
    let (mut distinct, mut first) = (0, 0);
    let mut best = (0, 0);
    let mut window = (0, 0);
    for (last, hit) in hits.iter().enumerate() {
        counts[hit.term] += 1;
        distinct += usize::from(counts[hit.term] == 1);
        while hit.chars_before + (hit.end - hit.start) > hits[first].chars_before + room && first < last {
            counts[hits[first].term] -= 1;
            distinct -= usize::from(counts[hits[first].term] == 0);
            first += 1;
        }
        if (distinct, last - first + 1) > best {
            best = (distinct, last - first + 1);
            window = (hits[first].start, hit.end);
        }
    }
    window
}

/// Spreads a window over the room that is left, a third of it in front, and pulls its ends back to words' ends.
fn widen(text: &str, first: usize, last: usize, room: usize) -> (usize, usize) {
    let held = text[first..last].chars().count();
    let spare = room.saturating_sub(held);
    let back = |from: usize, chars: usize| {
        text[..from].char_indices().rev().take(chars).last().map_or(from, |(offset, _)| offset)
    };
    let forward =
        |from: usize, chars: usize| text[from..].char_indices().nth(chars).map_or(text.len(), |it| from + it.0);
    let mut start = back(first, spare / 3);
    let mut end = forward(start, room);
    if end == text.len() {
        start = back(end, room);
    }
    if start > 0 && !text[..start].ends_with(char::is_whitespace) {
        let word = text[start..end.min(first.max(start))].find(char::is_whitespace);
        start += word.unwrap_or(0);
    }
    if end < text.len() && !text[end..].starts_with(char::is_whitespace) {
        let floor = last.clamp(start, end);
        end = text[floor..end].rfind(char::is_whitespace).map_or(end, |offset| floor + offset);
    }
    (start, end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::query_terms;

    fn long() -> String {
        format!(
            "{}The falcon launch was moved to Tuesday by Alice. {}",
            "Filler words here. ".repeat(40),
            "More. ".repeat(90)
        )
    }

    #[test]
    fn the_window_is_where_the_query_is_answered() {
        let shown = snippet(&long(), &query_terms("when does the Falcon launch move?"), 80);
        assert!(shown.contains("falcon launch was moved"), "{shown}");
        assert!(shown.starts_with('…') && shown.ends_with('…') && shown.chars().count() <= 80, "{shown}");
        assert!(!shown.contains("…r ") && !shown.contains("…ere"), "{shown}");
    }

    #[test]
    fn short_text_is_shown_whole_and_a_miss_shows_the_beginning() {
        let went = format!("{}they went home{}", "Filler. ".repeat(50), " more".repeat(50));
        assert!(snippet(&went, &query_terms("go"), 40).contains("they went home"));
        assert_eq!(snippet(" short ", &query_terms("nothing"), 80), "short");
        assert!(snippet(&long(), &query_terms("absent"), 60).starts_with("Filler words"));
        assert!(snippet(&long(), &[], 60).ends_with('…'));
    }

    #[test]
    fn no_answer_is_longer_than_asked_for() {
        let terms = query_terms("falcon Alice 東");
        for text in [long(), "東".repeat(200), "x".repeat(500)] {
            for chars_max in [0, 1, 2, 3, 10, 50] {
                assert!(snippet(&text, &terms, chars_max).chars().count() <= chars_max);
                assert!(preview(&text, chars_max).chars().count() <= chars_max);
            }
        }
    }

    #[test]
    fn previews_are_one_line() {
        assert_eq!(preview("  a\n\n b\tc ", 10), "a b c");
        assert_eq!(preview("one two three", 8), "one two…");
        assert_eq!(preview("one two three", 13), "one two three");
        assert_eq!(preview("one two", 5), "one…");
    }
}
