//! The few lines of a piece of code that show what it is and why it was found, indented as they are.

use rootset_code::query_terms;

/// Lines between a signature and the best line that are shown rather than left out.
const BETWEEN_LINES_MAX: usize = 4;
const LEFT_OUT: &str = "    …";

#[derive(Debug, PartialEq, Eq)]
pub struct CodeSnippet {
    pub text: String,
    /// The line that matches best, counted from the text's first, which is 0.
    pub line: usize,
}

/// The signature, if there is one, and what follows from the line with the most of the terms on, the first of them if
/// there are several; at most `chars_max` characters. What lies far between the two is left out.
pub fn code_snippet(text: &str, signature: &str, terms: &[String], chars_max: usize) -> CodeSnippet {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut best = (0, 0);
    for (place, line) in lines.iter().enumerate() {
        let found = query_terms(line);
        let matched = terms.iter().filter(|term| found.contains(term)).count();
        if matched > best.0 {
            best = (matched, place);
        }
    }
    let line = best.1;
    let signature_at = lines.iter().position(|line| begins_signature(line, signature));
    let from_line = || lines[line.min(lines.len())..].concat();
    let shown = match signature_at {
        // Above it are comments and decorators.
        Some(at) if line <= at + BETWEEN_LINES_MAX => lines[at..].concat(),
        Some(at) => format!("{}{LEFT_OUT}\n{}", lines[at], from_line()),
        // The piece is further down in a symbol.
        None if !signature.is_empty() => format!("{signature}\n{LEFT_OUT}\n{}", from_line()),
        None => from_line(),
    };
    CodeSnippet { text: cut(shown.trim_end(), chars_max), line }
}

/// Signatures have their white space collapsed and may go over several lines.
fn begins_signature(line: &str, signature: &str) -> bool {
    let collapsed = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let bare = collapsed.trim_end_matches(['{', ':', ' ', '(']);
    !signature.is_empty() && !bare.is_empty() && signature.starts_with(bare)
}

/// Whole lines, unless one line is all there is.
fn cut(shown: &str, chars_max: usize) -> String {
    match shown.char_indices().nth(chars_max) {
        None => shown.to_owned(),
        Some((end, _)) => {
            let cut = &shown[..end];
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
        let whole = CodeSnippet { text: "def parse_config():\n    return read()".into(), line: 3 };
        assert_eq!(code_snippet(text, "", &terms, 300), whole);
        assert_eq!(code_snippet(text, "", &terms, 25).text, "def parse_config():");
        assert_eq!(code_snippet("ééé", "", &[], 2).text, "éé");
        assert_eq!(code_snippet("", "", &terms, 2), CodeSnippet { text: String::new(), line: 0 });
    }

    #[test]
    fn snippet_of_a_symbol_starts_at_its_signature_and_leaves_out_what_lies_far_between() {
        let terms = query_terms("closes the file");
        let near = "# Opens.\n@cached\ndef run(self):\n    a = 1\n    closes.file()\n";
        let shown = code_snippet(near, "def run(self)", &terms, 300);
        assert_eq!((shown.text.as_str(), shown.line), ("def run(self):\n    a = 1\n    closes.file()", 4));
        let far = format!("def run(self):\n{}    closes.file()\n", "    a = 1\n".repeat(9));
        let shown = code_snippet(&far, "def run(self)", &terms, 300);
        assert_eq!((shown.text.as_str(), shown.line), ("def run(self):\n    …\n    closes.file()", 10));
        let later = code_snippet("    closes.file()\n", "def run(self)", &terms, 300);
        assert_eq!(later.text, "def run(self)\n    …\n    closes.file()");
    }
}
