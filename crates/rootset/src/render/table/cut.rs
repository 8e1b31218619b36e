//! Texts made shorter by what they are, measured in cells of a terminal. No word is broken where there is another way.

use unicode_width::UnicodeWidthChar;

use super::width_of;

const ELLIPSIS: char = '…';
/// Behind these a line may end.
pub const BREAKS: [char; 9] = [' ', '/', ',', ':', ';', '=', '-', '_', '.'];

/// Its beginning and its end, which is where names and paths differ.
pub fn in_the_middle(text: &str, width: usize) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let left = width.saturating_sub(1);
    let end = suffix(text, left / 2);
    let start = prefix(text, left - width_of(end));
    format!("{start}{ELLIPSIS}{end}")
}

/// Whole words from the beginning; part of a word only if too little would be left without it.
pub fn at_the_end(text: &str, width: usize) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let start = prefix(text, width.saturating_sub(1));
    let ends_a_word = text[start.len()..].starts_with(' ');
    let whole = if ends_a_word { start } else { start.rfind(' ').map_or(start, |blank| &start[..blank]) };
    let words = if width_of(whole) * 2 < width { start } else { whole };
    format!("{}{ELLIPSIS}", words.trim_end())
}

/// Lines of whole words. A word that is wider than a line is broken behind one of its marks, such as the `/` of a path.
pub fn into_lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        let blank = usize::from(!line.is_empty());
        if width_of(line) + blank + width_of(word) <= width {
            line.extend(std::iter::repeat_n(' ', blank));
            line.push_str(word);
            continue;
        }
        let pieces = pieces(word, width);
        lines.extend(pieces);
    }
    lines.retain(|line| !line.is_empty());
    lines
}

fn pieces(word: &str, width: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = word;
    while width_of(rest) > width {
        let most = prefix(rest, width.max(1));
        let end = most.rfind(BREAKS).map_or(most.len(), |mark| mark + 1);
        // A first character that is wider than the line is taken all the same, so that there is an end.
        let end = if end == 0 { rest.chars().next().map_or(rest.len(), char::len_utf8) } else { end };
        pieces.push(rest[..end].to_owned());
        rest = &rest[end..];
    }
    pieces.push(rest.to_owned());
    pieces
}

fn prefix(text: &str, width: usize) -> &str {
    let mut taken = 0;
    for (place, character) in text.char_indices() {
        taken += character.width().unwrap_or(0);
        if taken > width {
            return &text[..place];
        }
    }
    text
}

fn suffix(text: &str, width: usize) -> &str {
    let mut taken = 0;
    for (place, character) in text.char_indices().rev() {
        taken += character.width().unwrap_or(0);
        if taken > width {
            return &text[place + character.len_utf8()..];
        }
    }
    text
}
