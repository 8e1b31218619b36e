//! Cutting a content into pieces that a model reads whole. Pure; every byte of the content is in exactly one window,
//! the topic in all of them.

use rootset_model::Content;
use serde::Serialize;

/// About 2,000 tokens. Small local servers run with a context of 4,096 tokens and cut a longer prompt without saying so,
/// which would be a partial extraction that nobody notices; prompt and answer must fit as well.
pub(super) const WINDOW_BYTES_MAX: usize = 8_000;

/// How far back from the limit a cut looks for the end of a line, or else of a word.
const CUT_SEARCH_BYTES: usize = 1_000;

/// What one request shows of a content.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct Window<'a> {
    pub topic: &'a str,
    pub context: &'a str,
    pub decisions: Vec<&'a str>,
    pub rationale: Vec<&'a str>,
}

#[derive(Clone, Copy)]
enum Field {
    Context,
    Decision,
    Rationale,
}

/// At least one window, also for an empty content.
pub(super) fn windows(content: &Content) -> Vec<Window<'_>> {
    let mut packer = Packer { topic: &content.topic, full: Vec::new(), current: empty(&content.topic), bytes: 0 };
    packer.add(Field::Context, &content.context);
    for decision in &content.decisions {
        packer.add(Field::Decision, decision);
    }
    for rationale in &content.rationale {
        packer.add(Field::Rationale, rationale);
    }
    if packer.bytes > 0 || packer.full.is_empty() {
        packer.close();
    }
    packer.full
}

struct Packer<'a> {
    topic: &'a str,
    full: Vec<Window<'a>>,
    current: Window<'a>,
    bytes: usize,
}

impl<'a> Packer<'a> {
    /// A text that fits into a window of its own is not cut; only longer ones are.
    fn add(&mut self, field: Field, mut text: &'a str) {
        if self.bytes + text.len() > WINDOW_BYTES_MAX && self.bytes > 0 {
            self.close();
        }
        while text.len() > WINDOW_BYTES_MAX {
            let (head, tail) = text.split_at(cut_position(text, WINDOW_BYTES_MAX));
            self.put(field, head);
            self.close();
            text = tail;
        }
        self.put(field, text);
    }

    fn put(&mut self, field: Field, text: &'a str) {
        if text.is_empty() {
            return;
        }
        self.bytes += text.len();
        match field {
            // The context comes first and is cut only between windows, so a window's is never set twice.
            Field::Context => self.current.context = text,
            Field::Decision => self.current.decisions.push(text),
            Field::Rationale => self.current.rationale.push(text),
        }
    }

    fn close(&mut self) {
        self.full.push(std::mem::replace(&mut self.current, empty(self.topic)));
        self.bytes = 0;
    }
}

fn empty(topic: &str) -> Window<'_> {
    Window { topic, ..Window::default() }
}

/// Behind the last line break before the limit, else the last white space, else the last whole character.
fn cut_position(text: &str, limit: usize) -> usize {
    let whole_characters = |limit: usize| (0..=limit).rev().find(|&it| text.is_char_boundary(it)).unwrap_or(0);
    let end = whole_characters(limit);
    let start = whole_characters(end.saturating_sub(CUT_SEARCH_BYTES));
    let region = &text[start..end];
    let behind = |position: usize| start + position + region[position..].chars().next().map_or(0, char::len_utf8);
    region.rfind('\n').or_else(|| region.rfind(char::is_whitespace)).map_or(end, behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(context: String, decisions: Vec<String>) -> Content {
        Content { topic: "topic".into(), context, decisions, rationale: vec!["because".into()] }
    }

    fn assert_whole(content: &Content, windows: &[Window<'_>]) {
        let joined: String = windows.iter().map(|it| it.context).collect();
        assert_eq!(joined, content.context);
        let decisions: String = windows.iter().flat_map(|it| it.decisions.iter().copied()).collect();
        assert_eq!(decisions, content.decisions.concat());
        for window in windows {
            let lists = window.decisions.iter().chain(&window.rationale).map(|it| it.len()).sum::<usize>();
            assert!(window.context.len() + lists <= WINDOW_BYTES_MAX);
            assert_eq!(window.topic, content.topic);
        }
    }

    #[test]
    fn an_ordinary_content_is_one_window() {
        let content = content("short".into(), vec!["d".into()]);
        let expected = Window { topic: "topic", context: "short", decisions: vec!["d"], rationale: vec!["because"] };
        assert_eq!(windows(&content), [expected]);
        let empty = Content { topic: "t".into(), context: String::new(), decisions: vec![], rationale: vec![] };
        assert_eq!(windows(&empty).len(), 1);
    }

    #[test]
    fn long_texts_are_cut_at_lines_and_nothing_is_lost() {
        let line = "a line of forty bytes, with its newline.\n";
        let content = content(line.repeat(1_000), vec!["d ".repeat(6_000), "small".into()]);
        let windows = windows(&content);
        assert_whole(&content, &windows);
        assert!(windows.iter().all(|it| it.context.is_empty() || it.context.ends_with('\n')));
        assert_eq!(windows.len(), 6 + 2);
    }

    #[test]
    fn characters_are_never_cut_in_two() {
        for context in ["é".repeat(20_000), format!("x{}", "🦀".repeat(5_000)), "\u{3000}語".repeat(5_000)] {
            let content = content(context, vec![]);
            assert_whole(&content, &windows(&content));
        }
    }

    #[test]
    fn a_list_item_that_fits_a_window_is_not_cut() {
        let content = content("c".repeat(5_000), vec!["d".repeat(5_000), "e".repeat(2_000)]);
        let windows = windows(&content);
        assert_whole(&content, &windows);
        assert_eq!(windows.iter().map(|it| it.decisions.len()).collect::<Vec<_>>(), [0, 2]);
    }
}
