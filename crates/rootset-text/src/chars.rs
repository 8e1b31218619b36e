//! Characters: which make words, which stand alone, and the one normal form that terms are made from.
//!
//! Not here: where a word or an identifier ends (see `scan`).

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Scripts written without spaces between words. Each of their characters is a term, so that any part of a sentence
/// finds it.
const UNSPACED: &[(char, char)] = &[
    ('\u{0E00}', '\u{0EFF}'), // Thai, Lao
    ('\u{1000}', '\u{109F}'), // Myanmar
    ('\u{1780}', '\u{17FF}'), // Khmer
    ('\u{3005}', '\u{3007}'), // ideographic marks
    ('\u{3040}', '\u{31FF}'), // kana, Bopomofo, Hangul jamo
    ('\u{3400}', '\u{9FFF}'), // Han
    ('\u{AC00}', '\u{D7AF}'), // Hangul
    ('\u{F900}', '\u{FAFF}'), // Han, compatibility
    ('\u{20000}', '\u{3FFFF}'),
];

/// Pictures. Arrows and box drawing are left out: notes use them as punctuation.
const EMOJI: &[(char, char)] =
    &[('\u{2300}', '\u{23FF}'), ('\u{2600}', '\u{27BF}'), ('\u{2B00}', '\u{2BFF}'), ('\u{1F000}', '\u{1FAFF}')];

/// Colours of skin change the look of the emoji before them, not what it says.
const EMOJI_MODIFIERS: (char, char) = ('\u{1F3FB}', '\u{1F3FF}');

/// Invisible characters inside words: line-break hints, joiners and variation selectors.
const INVISIBLE: &[(char, char)] = &[
    ('\u{AD}', '\u{AD}'),
    ('\u{200B}', '\u{200D}'),
    ('\u{2060}', '\u{2060}'),
    ('\u{FE00}', '\u{FE0F}'),
    ('\u{FEFF}', '\u{FEFF}'),
];

/// Ligatures of a whole phrase. A megabyte of them would become eleven.
const EXPLODING: [char; 2] = ['\u{FDFA}', '\u{FDFB}'];

/// Part of a word. Combining marks belong to the letter before them.
pub(crate) fn is_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() } else { (c.is_alphanumeric() || is_combining_mark(c)) && !is_lone(c) }
}

/// A term by itself: a letter of an unspaced script, or an emoji.
pub(crate) fn is_lone(c: char) -> bool {
    if (c as u32) < 0x0E00 {
        return false;
    }
    (c.is_alphanumeric() && within(c, UNSPACED)) || (within(c, EMOJI) && !within(c, &[EMOJI_MODIFIERS]))
}

/// A picture, or the colour of one.
pub(crate) fn is_emoji(c: char) -> bool {
    within(c, EMOJI)
}

pub(crate) fn is_apostrophe(c: char) -> bool {
    c == '\'' || c == '\u{2019}'
}

/// The form in which text is scanned for terms: NFKC, one kind of hyphen, nothing invisible. Case is kept, because it
/// tells identifiers from words; [`fold_into`] takes it away afterwards.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let bounded = text.chars().map(|c| if EXPLODING.contains(&c) { ' ' } else { c });
    let visible = bounded.nfkc().filter(|&c| !within(c, INVISIBLE));
    Cow::Owned(visible.map(|c| if c == '\u{2010}' { '-' } else { c }).collect())
}

/// Appends the case-folded text; the same folding as `identity::normalise`, character by character, so that a part of a
/// text folds as it does within the whole.
pub(crate) fn fold_into(folded: &mut String, text: &str) {
    for c in text.chars() {
        if c.is_ascii() {
            folded.push(c.to_ascii_lowercase());
        } else {
            folded.extend(c.to_uppercase().flat_map(char::to_lowercase));
        }
    }
}

pub(crate) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    fold_into(&mut folded, text);
    folded
}

/// The longest prefix of at most `bytes_max` bytes that ends between two characters.
pub(crate) fn cut_bytes(text: &str, bytes_max: usize) -> &str {
    &text[..floor_boundary(text, bytes_max)]
}

/// The last character boundary at or before `index`.
pub(crate) fn floor_boundary(text: &str, index: usize) -> usize {
    let mut end = index.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

pub(crate) fn within(c: char, ranges: &[(char, char)]) -> bool {
    ranges.iter().any(|&(first, last)| (first..=last).contains(&c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_hyphens_and_invisible_characters_do_not_matter() {
        assert_eq!(plain("ＴＫＴ\u{2011}１００ al\u{200B}ice"), "TKT-100 alice");
        assert!(matches!(plain("ascii"), Cow::Borrowed(_)));
    }

    #[test]
    fn folding_agrees_with_the_identity_of_entities() {
        for text in ["Straße", "İstanbul", "ΣΊΣΥΦΟΣ", "Ｆalcon"] {
            assert_eq!(fold(&plain(text)), rootset_model::identity::normalise(text));
        }
    }

    #[test]
    fn han_and_emoji_stand_alone_and_letters_do_not() {
        assert!("東あ한👍✅ก".chars().all(is_lone));
        assert!("aé1я→│".chars().all(|c| !is_lone(c)));
        assert!("aé1я\u{301}".chars().all(is_word));
    }
}
