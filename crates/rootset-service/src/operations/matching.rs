//! `search_code` with a `mode`: the lines that hold a text or match a regular expression, in the order of their paths.
//!
//! No index of words is asked, so that nothing is missed because of how words are split: the stored text of every file that
//! passes the filters is read. That is bounded by bytes and by time, and files that were not searched are counted. Patterns
//! are tried line by line, by an engine whose time is linear in the line: no pattern makes a question hang.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use regex::{Regex, RegexBuilder};
use rootset_api::{CodeAnswer, CodeMode, CodeResult};
use rootset_model::limits::SNIPPET_CHARS_MAX;
use rootset_store::{CodeFilters, CodeText, SymbolRow, Workspace};

use crate::error::ServiceError;
use crate::service::Service;

/// Text read for one question.
const TEXT_BYTES_MAX: usize = 256 << 20;
const SEARCH_TIME: Duration = Duration::from_secs(2);
/// A compiled pattern, in bytes: what a pattern of a line or two takes.
const PATTERN_BYTES_MAX: usize = 1 << 20;
/// Longer lines are data; patterns are not tried on them.
const LINE_BYTES_MAX: usize = 8 << 10;
/// The kind of what stands in no symbol.
const TEXT_KIND: &str = "text";

pub enum Matcher {
    Exact(String),
    Pattern(Regex),
}

/// What was found in one file.
#[derive(Debug, Default, PartialEq, Eq)]
struct Lines {
    /// One-based.
    found: Vec<usize>,
    /// Some lines were left out.
    is_partial: bool,
}

impl Matcher {
    pub fn of(query: &str, mode: CodeMode) -> Result<Self, ServiceError> {
        if query.trim().is_empty() {
            return Err(ServiceError::invalid("`query` is blank"));
        }
        if mode != CodeMode::Regex {
            return Ok(Self::Exact(query.to_owned()));
        }
        let pattern = RegexBuilder::new(query).size_limit(PATTERN_BYTES_MAX).build().map_err(|error| {
            let reason = error.to_string();
            let reason = reason
                .lines()
                .last()
                .unwrap_or_default()
                .trim_start_matches("error: ")
                .trim_end_matches('.')
                .to_owned();
            ServiceError::invalid(format!("`query` is not a usable regular expression: {reason}")).with_hint(
                "the syntax is that of the regex crate: no look-around, no back-references; or use `mode: \"exact\"`",
            )
        })?;
        if pattern.is_match("") {
            return Err(ServiceError::invalid("`query` matches an empty text, and so every line"));
        }
        Ok(Self::Pattern(pattern))
    }

    /// Each line once, even if it matches several times.
    fn lines(&self, text: &str, until: Instant) -> Lines {
        let mut lines = Lines::default();
        match self {
            Self::Exact(wanted) => {
                let (mut line, mut counted) = (1, 0);
                for (at, _) in text.match_indices(wanted.as_str()) {
                    line += text.as_bytes()[counted..at].iter().filter(|byte| **byte == b'\n').count();
                    counted = at;
                    if lines.found.last() != Some(&line) {
                        lines.found.push(line);
                    }
                }
            }
            Self::Pattern(pattern) => {
                for (place, line) in text.lines().enumerate() {
                    if line.len() > LINE_BYTES_MAX {
                        lines.is_partial = true;
                    } else if Instant::now() >= until {
                        lines.is_partial = true;
                        break;
                    } else if pattern.is_match(line) {
                        lines.found.push(place + 1);
                    }
                }
            }
        }
        lines
    }
}

impl Service {
    /// The first lines that match, how many there are, and how many files were not searched to their end.
    pub(crate) fn matching_lines(
        &self,
        workspace: &Workspace,
        matcher: &Matcher,
        filters: CodeFilters<'_>,
        limit: usize,
    ) -> Result<CodeAnswer, ServiceError> {
        if filters.kind.is_some() {
            return Err(ServiceError::invalid("`kind` works only with `mode: \"words\"`")
                .with_hint("leave out `kind`; every line says which symbol it is in"));
        }
        let until = Instant::now() + SEARCH_TIME;
        let (mut room, mut total, mut unsearched) = (TEXT_BYTES_MAX, 0, 0);
        let mut shown: Vec<(CodeText, Vec<usize>)> = Vec::new();
        let mut left = limit;
        // Code first, then tests, where both are asked for.
        let parts = filters.is_test.map_or(vec![false, true], |asked| vec![asked]);
        for is_test in parts {
            let part = CodeFilters { is_test: Some(is_test), ..filters };
            unsearched += self.store.each_text(workspace, &part, self.now(), &mut |file| {
                let Some(rest) = room.checked_sub(file.text.len()).filter(|_| Instant::now() < until) else {
                    unsearched += 1;
                    return ControlFlow::Break(());
                };
                room = rest;
                let lines = matcher.lines(&file.text, until);
                total += lines.found.len();
                unsearched += usize::from(lines.is_partial);
                let taken: Vec<usize> = lines.found.into_iter().take(left).collect();
                left -= taken.len();
                if !taken.is_empty() {
                    shown.push((file, taken));
                }
                ControlFlow::Continue(())
            })?;
        }
        let files: Vec<_> = shown.iter().map(|(file, _)| file.memory).collect();
        let symbols = self.store.symbols_of_files(workspace, &files, self.now())?;
        self.uses.record(workspace, files, self.now());
        let results = shown.iter().flat_map(|(file, lines)| results_in(file, lines, &symbols)).collect();
        let unsearched = Some(unsearched).filter(|files| *files > 0);
        Ok(CodeAnswer { results, total: Some(total), unsearched, changed_files: None, indexing: None })
    }
}

fn results_in(file: &CodeText, lines: &[usize], symbols: &[SymbolRow]) -> Vec<CodeResult> {
    let texts: Vec<&str> = file.text.lines().collect();
    let result = |line: &usize| {
        let number = *line as i64;
        let around = symbols.iter().filter(|it| {
            it.memory == file.memory && !it.kind.is_value() && (it.first_line..=it.last_line).contains(&number)
        });
        // The one that begins last is the innermost.
        let innermost = around.max_by_key(|it| (it.first_line, it.ordinal));
        let text = texts.get(line - 1).copied().unwrap_or_default().trim_end();
        CodeResult {
            file_path: file.path.clone(),
            repo: file.repo.clone(),
            qualified_name: innermost.map(|it| it.qualified_name.clone()),
            kind: innermost.map_or(TEXT_KIND, |it| it.kind.as_str()).to_owned(),
            lines: [number, number],
            line: number,
            snippet: text.chars().take(SNIPPET_CHARS_MAX).collect(),
        }
    };
    lines.iter().map(result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(query: &str, mode: CodeMode, text: &str) -> Lines {
        Matcher::of(query, mode).unwrap().lines(text, Instant::now() + SEARCH_TIME)
    }

    #[test]
    fn an_exact_text_is_found_as_it_is_written_also_over_lines() {
        let text = "a.b(c)\nA.b(c) a.b(c) a.b(c)\nno\na.b(\nc)\n";
        assert_eq!(found("a.b(c)", CodeMode::Exact, text).found, [1, 2]);
        assert_eq!(found("a.b(\nc)", CodeMode::Exact, text).found, [4]);
        assert_eq!(found(".*", CodeMode::Exact, text).found, [0; 0]);
    }

    #[test]
    fn a_pattern_is_tried_on_each_line() {
        let text = "fn save() {}\r\nfn load() {}\nlet x = save;\n";
        assert_eq!(found(r"^fn \w+\(\) \{\}$", CodeMode::Regex, text).found, [1, 2]);
        assert_eq!(found("(?i)SAVE", CodeMode::Regex, text).found, [1, 3]);
    }

    #[test]
    fn patterns_that_are_wrong_too_large_or_match_everything_are_refused() {
        for query in ["(", "a(?=b)", r"(a)\1", "x*", r"(\w{1000}){1000}", "", "  "] {
            assert!(Matcher::of(query, CodeMode::Regex).is_err(), "{query}");
        }
    }

    #[test]
    fn what_is_not_tried_is_said() {
        let long = ["x".repeat(LINE_BYTES_MAX + 1), "x y".to_owned()].join("\n");
        assert_eq!(found("x", CodeMode::Regex, &long), Lines { found: vec![2], is_partial: true });
        let matcher = Matcher::of("x", CodeMode::Regex).unwrap();
        assert_eq!(matcher.lines("x\n", Instant::now()), Lines { found: vec![], is_partial: true });
    }
}
