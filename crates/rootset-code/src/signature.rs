//! The lines of a definition up to its body, on one line.

use crate::limits::SIGNATURE_CHARS_MAX;
use crate::text::{collapse, floor_boundary};

/// What stands before a body and says only that it begins.
const OPENINGS: [char; 3] = ['{', ':', ';'];

/// From `start` to the body, or to the end of the first line when there is none.
pub(crate) fn signature(text: &str, start: u32, end: u32, body: Option<usize>) -> String {
    let start = floor_boundary(text, start as usize);
    let end = floor_boundary(text, end as usize).max(start);
    let all = &text[start..end];
    let head = match body {
        Some(body) if (start..=end).contains(&body) => &text[start..floor_boundary(text, body).max(start)],
        _ => first_line(all),
    };
    // A body may begin with a comment that the grammar counts to what is before it.
    let mut line = collapse(head, SIGNATURE_CHARS_MAX);
    line.truncate(line.trim_end_matches(|it: char| OPENINGS.contains(&it) || it.is_whitespace()).len());
    line
}

/// Up to the end of a line on which no bracket is open: parameters may take several.
fn first_line(text: &str) -> &str {
    let mut open = 0_usize;
    for (at, byte) in text.bytes().enumerate().take(4 * SIGNATURE_CHARS_MAX) {
        match byte {
            b'(' | b'[' => open += 1,
            b')' | b']' => open = open.saturating_sub(1),
            b'{' | b';' | b'\n' if open == 0 => return &text[..at],
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_ends_where_the_body_begins() {
        let text = "def f(\n    a,\n    b,\n):\n    pass";
        assert_eq!(signature(text, 0, text.len() as u32, text.find("pass")), "def f( a, b, )");
    }

    #[test]
    fn without_a_body_it_is_the_first_line_with_its_brackets_closed() {
        assert_eq!(signature("int f(int a,\n  int b);\nint g;", 0, 30, None), "int f(int a, int b)");
        assert_eq!(signature("", 0, 0, None), "");
    }
}
