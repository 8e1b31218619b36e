//! The few lines of a piece of code that show why it was found, indented as they are.

use rootset_code::query_terms;

/// From the line with the most of the terms on, the first of them if there are several, at most `chars_max` characters.
pub fn code_snippet(text: &str, terms: &[String], chars_max: usize) -> String {
    let mut best = (0, 0);
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let found = query_terms(line);
        let matched = terms.iter().filter(|term| found.contains(term)).count();
        if matched > best.0 {
            best = (matched, start);
        }
        start += line.len();
    }
    let shown = text[best.1..].trim_end();
    match shown.char_indices().nth(chars_max) {
        None => shown.to_owned(),
        Some((end, _)) => {
            let cut = &shown[..end];
            // Whole lines, unless one line is all there is.
            cut.rfind('\n').filter(|&at| at > 0).map_or(cut, |at| &cut[..at]).to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snippet_begins_with_the_line_that_matches_best_and_ends_with_a_line() {
        let text = "def first():\n    pass\n\ndef parse_config():\n    return read()\n";
        let terms = query_terms("parse config");
        assert_eq!(code_snippet(text, &terms, 300), "def parse_config():\n    return read()");
        assert_eq!(code_snippet(text, &terms, 25), "def parse_config():");
        assert_eq!(code_snippet("ééé", &[], 2), "éé");
    }
}
