//! Bytes of a text: cutting on character boundaries, collapsing white space, gaps and line ends.

/// The largest character boundary at or below `at`.
pub(crate) fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The first `bytes_max` bytes or a little less.
pub(crate) fn cut_bytes(text: &str, bytes_max: usize) -> &str {
    &text[..floor_boundary(text, bytes_max)]
}

/// White space becomes single blanks; what is longer than `chars_max` is cut and ends in `…`.
pub(crate) fn collapse(text: &str, chars_max: usize) -> String {
    let mut out = String::with_capacity(text.len().min(chars_max + 3));
    let mut left = chars_max;
    for character in text.split_whitespace().flat_map(|word| [" ", word]).flat_map(str::chars) {
        if out.is_empty() && character == ' ' {
            continue;
        }
        if left == 0 {
            out.truncate(out.trim_end().len());
            out.push('…');
            return out;
        }
        left -= 1;
        out.push(character);
    }
    out
}

pub(crate) fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_whitespace()) || text.chars().all(char::is_whitespace)
}

/// Whether nothing but blanks stands between the beginning of the line and `at`.
pub(crate) fn begins_line(text: &str, at: usize) -> bool {
    line_blanks_start(text, at).is_some()
}

/// Where the blanks before `at` begin, when they begin a line.
pub(crate) fn line_blanks_start(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut start = at;
    while start > 0 && matches!(bytes[start - 1], b' ' | b'\t') {
        start -= 1;
    }
    (start == 0 || bytes[start - 1] == b'\n').then_some(start)
}

/// Line numbers of places, in any order.
pub(crate) struct Lines {
    /// Where the second line and all after it begin.
    starts: Vec<u32>,
}

impl Lines {
    pub(crate) fn new(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self { starts: ends.map(|(at, _)| at as u32 + 1).collect() }
    }

    /// One-based number of the line that holds the byte at `at`.
    pub(crate) fn line_of(&self, at: usize) -> u32 {
        self.starts.partition_point(|start| *start as usize <= at) as u32 + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collapsing_joins_lines_and_cuts_on_characters() {
        assert_eq!(collapse("  a\n\t b  c ", 99), "a b c");
        assert_eq!(collapse("äöü ß", 3), "äöü…");
        assert_eq!(collapse("ab cd", 5), "ab cd");
    }

    #[test]
    fn lines_are_counted_from_one_and_end_with_their_line_end() {
        let lines = Lines::new("a\nb\n\nc");
        assert_eq!([0, 1, 2, 3, 4, 5, 9].map(|at| lines.line_of(at)), [1, 1, 2, 2, 3, 4, 4]);
    }

    #[test]
    fn cutting_never_splits_a_character() {
        assert_eq!(cut_bytes("aé", 2), "a");
        assert_eq!(cut_bytes("aé", 3), "aé");
    }
}
