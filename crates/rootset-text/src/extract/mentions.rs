//! Where a sentence names something: identifiers, quoted terms, names.
//!
//! Mentions are ordered and do not overlap; of two that would, the longer wins. The hard part is the capital at the
//! beginning of a sentence, which every word has there: see [`Walk::is_name_alone`].

use std::ops::Range;

use crate::chars::fold;
use crate::extract::Vocabulary;
use crate::extract::forms::{NAME, TERM, is_capitalised, names_one, type_of};
use crate::extract::reading::{Sentence, is_all_capitals};
use crate::extract::verbs::{is_filler, is_of_somebody, is_verb, relation_at};
use crate::scan::{Kind, Piece};
use crate::words::{is_calendar, is_common_acronym, is_leader, is_ordinary, is_starter, is_stop};

/// More words with capitals in a row are a headline.
const NAME_WORDS_MAX: usize = 5;
/// Longer quotations are speech.
const QUOTED_CHARS_MAX: usize = 60;
const QUOTED_WORDS_MAX: usize = 6;
/// Longer words all in capitals are emphasis.
const ACRONYM_CHARS_MAX: usize = 6;

/// Small words inside names: `Bank of America`.
const LINKS: &[&str] = &["da", "de", "del", "der", "di", "la", "of", "van", "von"];

/// Shorter words with such an ending are as often names: `Orion`.
const ENDING_WORD_BYTES_MIN: usize = 8;

/// Endings that ordinary words have at the beginning of a sentence, and few names.
const ORDINARY_ENDINGS: &[&str] = &[
    "able", "ance", "ed", "ence", "ful", "ing", "ion", "ism", "ity", "less", "ly", "ment", "ness", "ship", "ure",
    "ward",
];

/// Words that give a name, at most so many words before it: `we call it "dark mode"`.
const NAMING: &[&str] =
    &["call", "called", "calls", "dubbed", "labelled", "labeled", "named", "tagged", "term", "termed", "titled"];
const NAMING_WORDS_BEFORE: usize = 3;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mention {
    pub start: usize,
    pub end: usize,
    pub entity_type: &'static str,
}

pub(super) fn mentions(sentence: &Sentence<'_, '_>, vocabulary: &Vocabulary<'_>) -> Vec<Mention> {
    let walk = Walk { sentence, vocabulary };
    let mut quotations = quotations(sentence).into_iter().peekable();
    let mut mentions = Vec::new();
    let mut index = 0;
    while let Some(piece) = sentence.pieces.get(index) {
        while quotations.next_if(|quotation| quotation.end <= piece.start).is_some() {}
        let inside = match quotations.peek() {
            Some(quotation) => sentence.pieces[index..].iter().take_while(|piece| is_within(piece, quotation)).count(),
            None => 0,
        };
        let (mention, length) = if inside > 0 {
            (walk.quoted(&sentence.pieces[index..index + inside], quotations.peek()), inside)
        } else if let Some(entity_type) = type_of(sentence.text, piece) {
            (Some(Mention { start: piece.start, end: piece.end, entity_type }), 1)
        } else {
            walk.name(index)
        };
        mentions.extend(mention);
        index += length;
    }
    mentions
}

#[derive(Debug)]
struct Walk<'w> {
    sentence: &'w Sentence<'w, 'w>,
    vocabulary: &'w Vocabulary<'w>,
}

impl Walk<'_> {
    /// What stands in quotation marks: what its form says, a name if it reads like one, else a term.
    fn quoted(&self, pieces: &[Piece], quotation: Option<&Range<usize>>) -> Option<Mention> {
        let text = self.sentence.text;
        let range = quotation?;
        let is_name = |piece: &Piece| is_capitalised(text, piece) && !is_stop(&fold(piece.of(text)));
        let is_pattern = text[range.clone()].contains(['*', '[', ']', '{', '}', '$', '|', '\\']);
        if is_pattern || pieces.iter().all(|piece| is_stop(&fold(piece.of(text)))) {
            return None;
        }
        let entity_type = match pieces {
            [piece] if type_of(text, piece).is_some() => {
                return type_of(text, piece).map(|it| Mention { start: piece.start, end: piece.end, entity_type: it });
            }
            _ if pieces.iter().all(is_name) => NAME,
            _ if pieces.len() > 1 && pieces.iter().all(|piece| is_capitalised(text, piece)) => TERM,
            _ if self.is_named(pieces[0].start) => TERM,
            // `data`, `keys`: set as code, but every text has them.
            [piece] if is_ordinary(&fold(piece.of(text))) => return None,
            _ if text[..range.start].ends_with('`') => names_one(&text[range.clone()]).then_some(TERM)?,
            // Words that somebody says or means are no name of anything.
            _ => return None,
        };
        Some(Mention { start: range.start, end: range.end, entity_type })
    }

    /// Whether the words before a quotation say that what follows is a name.
    fn is_named(&self, quoted: usize) -> bool {
        let before = self.sentence.pieces.iter().rev().filter(|piece| piece.end <= quoted);
        before.take(NAMING_WORDS_BEFORE).any(|piece| NAMING.contains(&piece.of(self.sentence.text)))
    }

    /// The name that begins with the piece at `first`, if one does, and how many pieces were read.
    fn name(&self, first: usize) -> (Option<Mention>, usize) {
        if !self.may_begin_name(first) {
            return (None, 1);
        }
        let length = self.name_length(first);
        let skipped = usize::from(length > 1 && self.only_begins_sentence(first));
        let (begin, words) = (first + skipped, length - skipped);
        let pieces = &self.sentence.pieces[begin..begin + words];
        // A heading, or the text of a link: `Contents`, `Guide`.
        let says_nothing = |index: usize| {
            let word = self.word(index);
            self.sentence.pieces[index].kind == Kind::Word
                && is_ordinary(&fold(word))
                && !self.vocabulary.capitals.contains(word)
        };
        let is_heading = words == self.sentence.pieces.len() && (begin..begin + words).all(says_nothing);
        if is_heading {
            return (None, length);
        }
        let is_name = if words == 1 { self.is_name_alone(begin) } else { self.is_name_together(begin, words) };
        let mention = Mention { start: pieces[0].start, end: pieces[words - 1].end, entity_type: NAME };
        (is_name.then_some(mention), length)
    }

    /// Whether the word at `first` has its capital from the sentence and stands before a name: `Ask Melanie`, `Forces Redis`.
    fn only_begins_sentence(&self, first: usize) -> bool {
        let word = self.word(first);
        let folded = fold(word);
        self.sentence.is_initial(first)
            && self.sentence.pieces[first].kind == Kind::Word
            && !is_leader(&folded)
            && !self.vocabulary.capitals.contains(word)
            && (is_ordinary(&folded) || is_starter(&folded))
            && !is_ordinary(&fold(self.word(first + 1)))
            && !is_all_capitals(self.word(first + 1))
    }

    fn may_begin_name(&self, index: usize) -> bool {
        let word = self.word(index);
        if !is_capitalised(self.sentence.text, &self.sentence.pieces[index]) || word.chars().nth(1).is_none() {
            return false;
        }
        let folded = fold(word);
        let is_ordinary = if self.sentence.is_initial(index) || self.sentence.is_headline {
            is_starter(&folded) || (has_ordinary_ending(&folded) && !self.vocabulary.capitals.contains(word))
        } else {
            is_stop(&folded)
        };
        !is_ordinary && !is_calendar(&folded)
    }

    /// Pieces from `first` on that read as one name.
    fn name_length(&self, first: usize) -> usize {
        let mut length = 1;
        while length < NAME_WORDS_MAX {
            let next = first + length;
            if self.follows_in_name(next) {
                length += 1;
            } else if self.is_link(next) && self.follows_in_name(next + 1) && length + 2 <= NAME_WORDS_MAX {
                length += 2;
            } else if self.is_link(next)
                && self.sentence.pieces.get(next + 1).is_some_and(|it| it.of(self.sentence.text) == "the")
                && self.follows_in_name(next + 2)
                && length + 3 <= NAME_WORDS_MAX
            {
                // `Lord of the Rings`.
                length += 3;
            } else {
                break;
            }
        }
        length
    }

    fn follows_in_name(&self, index: usize) -> bool {
        let Some(piece) = self.sentence.pieces.get(index) else { return false };
        let folded = fold(piece.of(self.sentence.text));
        self.is_after_blank(index)
            && is_capitalised(self.sentence.text, piece)
            && !is_stop(&folded)
            && !is_calendar(&folded)
            // In a headline every word would follow every other.
            && (!self.sentence.is_headline || self.is_known(index) || is_leader(&fold(self.word(index - 1))))
    }

    fn is_link(&self, index: usize) -> bool {
        index < self.sentence.pieces.len() && LINKS.contains(&self.word(index)) && self.is_after_blank(index)
    }

    fn is_after_blank(&self, index: usize) -> bool {
        let pieces = self.sentence.pieces;
        &self.sentence.text[pieces[index - 1].end..pieces[index].start] == " "
    }

    fn is_name_together(&self, first: usize, length: usize) -> bool {
        let is_shouting = self.sentence.is_shouted && (first..first + length).all(|it| is_all_capitals(self.word(it)));
        !is_shouting
    }

    /// Whether one capitalised word is a name. Inside a sentence it is, unless it names nothing anywhere. At the beginning
    /// something else must tell: it has its capital elsewhere too, or it is no ordinary word and the sentence speaks of it.
    fn is_name_alone(&self, index: usize) -> bool {
        let word = self.word(index);
        let folded = fold(word);
        if is_leader(&folded) || is_starter(&folded) || is_common_acronym(&folded) {
            return false;
        }
        if self.is_known(index) {
            return true;
        }
        if is_all_capitals(word) || self.sentence.is_headline {
            return false;
        }
        if !self.sentence.is_initial(index) {
            return true;
        }
        let speaks_of_it = if is_ordinary(&folded) { self.is_somebody(index) } else { self.is_subject(index) };
        !self.vocabulary.common.contains(folded.as_str()) && speaks_of_it
    }

    /// A form that only names have, or a capital inside a sentence somewhere.
    fn is_known(&self, index: usize) -> bool {
        let word = self.word(index);
        let letters = word.chars().filter(|c| c.is_alphabetic()).count();
        let is_acronym = is_all_capitals(word)
            && (letters >= 2 && word.chars().count() <= ACRONYM_CHARS_MAX)
            && !self.sentence.is_shouted
            && !is_starter(&fold(word))
            && !is_ordinary(&fold(word));
        let is_formed = self.sentence.pieces[index].kind != Kind::Word;
        is_acronym || is_formed || self.vocabulary.capitals.contains(word)
    }

    /// What follows tells that the word at `index` is somebody or something: a colon after a speaker, an `'s`, a verb.
    fn is_subject(&self, index: usize) -> bool {
        let after = &self.sentence.text[self.sentence.pieces[index].end..self.sentence.end];
        if after.starts_with("'s ") || after.starts_with("’s ") || (index == 0 && after.starts_with(": ")) {
            return true;
        }
        let Some(next) = self.word_behind(index) else { return false };
        let is_singular =
            matches!(next, "is" | "was" | "has") || (next.len() > 3 && next.ends_with('s') && !next.ends_with("ss"));
        // A plural (`Tests`) has no singular verb, but may have any past one.
        let is_past = !self.word(index).ends_with('s') && (next.ends_with("ed") || is_verb(next));
        let is_list = || self.sentence.pieces.get(index + 2).is_some_and(|it| is_capitalised(self.sentence.text, it));
        is_singular || is_past || (next == "and" && is_list())
    }

    /// What follows an ordinary word says that it is a name here: `Carol moved`, `Falcon uses`, `Falcon is part of Apollo`, but
    /// not `Traffic is`.
    fn is_somebody(&self, index: usize) -> bool {
        let Some(next) = self.word_behind(index) else { return false };
        let is_plural = self.word(index).ends_with('s') && !next.ends_with('s');
        let behind = &self.sentence.pieces[index + 1..];
        let words = behind.iter().map(|piece| piece.of(self.sentence.text));
        let lower: Vec<&str> = words.take_while(|word| word.starts_with(char::is_lowercase)).collect();
        let told: Vec<String> = lower.iter().filter(|word| !is_filler(word)).map(|&word| word.to_owned()).collect();
        let ends_in_name = behind.get(lower.len()).is_some_and(|piece| is_capitalised(self.sentence.text, piece));
        let is_told =
            relation_at(&told).is_some_and(|(length, ..)| told[0] == next || (ends_in_name && length == told.len()));
        !is_plural && (is_of_somebody(next) || is_told)
    }

    /// The next word, if it is in lower case and only a blank is between.
    fn word_behind(&self, index: usize) -> Option<&str> {
        let pieces = &self.sentence.pieces;
        let next = pieces.get(index + 1)?;
        let gap = &self.sentence.text[pieces[index].end..next.start];
        Some(next.of(self.sentence.text)).filter(|next| gap == " " && next.starts_with(char::is_lowercase))
    }

    fn word(&self, index: usize) -> &str {
        self.sentence.pieces[index].of(self.sentence.text)
    }
}

fn has_ordinary_ending(folded: &str) -> bool {
    (folded.len() >= ENDING_WORD_BYTES_MIN || is_ordinary(folded))
        && ORDINARY_ENDINGS.iter().any(|ending| folded.ends_with(ending))
}

fn is_within(piece: &Piece, range: &Range<usize>) -> bool {
    range.start <= piece.start && piece.end <= range.end
}

/// The insides of short quotations, in order.
fn quotations(sentence: &Sentence<'_, '_>) -> Vec<Range<usize>> {
    let text = &sentence.text[sentence.start..sentence.end];
    let mut quotations = Vec::new();
    let mut position = 0;
    while let Some(found) = text[position..].find(['"', '`', '“']) {
        let open = position + found;
        let mark = text[open..].chars().next().unwrap_or('"');
        position = open + mark.len_utf8();
        let close = if mark == '“' { '”' } else { mark };
        let is_opening = text[..open].chars().next_back().is_none_or(|c| c.is_whitespace() || "([{—".contains(c));
        let inside = &text[position..];
        let end = inside.char_indices().take(QUOTED_CHARS_MAX + 1).find(|(_, c)| *c == close).map(|(offset, _)| offset);
        if let Some(end) = end.filter(|end| is_opening && is_term(&inside[..*end])) {
            quotations.push(sentence.start + position..sentence.start + position + end);
            position += end + close.len_utf8();
        }
    }
    quotations
}

/// Not speech, not a line of its own, not a single letter.
fn is_term(quoted: &str) -> bool {
    quoted.trim() == quoted
        && quoted.chars().filter(|c| c.is_alphabetic()).nth(1).is_some()
        && !quoted.contains('\n')
        && !quoted.ends_with(['.', ',', '!', '?', '…'])
        && quoted.split_whitespace().count() <= QUOTED_WORDS_MAX
}
