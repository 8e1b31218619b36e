//! Other names that a text gives a thing: `also known as`, a second script in brackets, an address or handle of its own.
//!
//! Only what a sentence says so itself, and of the thing itself: what lies between the name and its other name must be words
//! that tie the two (`Alice's dog is called Rex` names a dog). An address that several use (`support@…`) is nobody's.
//! Not here: what follows.

use std::ops::Range;

use super::canonical;
use super::clauses::{Token, tokens};
use super::names::{Bearers, Name};
use super::text::{Sentence, bare_and_expanded, script_of};
use super::things::Thing;
use super::{Certainty, verbs};
use crate::chars::fold;
use crate::scan::{Kind, Piece};
use crate::words::{is_calendar, is_starter, is_stop};

/// What stands between two names of the same thing.
#[rustfmt::skip]
const MARKS: &[&str] = &[
    "a.k.a", "a.k.a.", "aka", "alias", "alias for", "alias is", "alias of", "also called", "also known as",
    "another name for", "answers to", "asked to be called", "better known as", "code name for", "code name of",
    "code-named", "codename for", "codename is", "codename of", "codenamed", "formerly", "formerly called",
    "formerly known as", "full name is", "goes by", "goes by the name", "goes by the name of", "goes by the nickname",
    "internal name is", "is called", "is known as", "is the same as", "is the same person as", "known as",
    "known internally as", "likes being called", "likes to be called", "maiden name is", "maiden name was", "name for",
    "name we use for", "nickname", "nickname for", "nickname is", "nickname of", "nicknamed", "now called", "now known as",
    "née", "once called", "originally called", "pen name is", "prefers being called", "prefers to be called",
    "previously called", "real name is", "refers to", "renamed from", "renamed to", "same person as", "same thing as",
    "screen name is", "short for", "signs as", "stage name is", "stands for", "used to be called", "wants to be called",
    "was called", "was named", "was renamed", "writes as",
];
/// Who calls somebody or something by another name.
const CALLERS: &[&str] = &[
    "colleagues",
    "everybody",
    "everyone",
    "family",
    "friends",
    "internally",
    "locals",
    "people",
    "team",
    "they",
    "we",
];
/// What a name may have that is another name: `Tolly is Robert Klein's nickname`.
const NAMINGS: &[&str] = &["alias", "codename", "handle", "nick", "nickname", "pseudonym"];
/// Behind another name these tell where and by whom it is used.
const CIRCUMSTANCES: &[&str] = &[
    "among", "around", "at", "by", "for", "from", "here", "in", "on", "online", "since", "to", "when", "while", "with",
];
/// Letters that a first name and its short form begin with.
const SHORT_FORM_CHARS_MIN: usize = 2;
/// Between a name and the mark that its other name follows.
#[rustfmt::skip]
const TYING: &[&str] = &[
    "a", "also", "an", "better", "code", "commonly", "first", "has", "her", "his", "is", "its", "now", "often", "our",
    "or", "previously", "project", "s", "same", "simply", "since", "sometimes", "that", "the", "their", "then",
    "ticket", "usually", "was", "who", "which", "whose", "with", "just", "been", "officially", "internally", "name",
    "another", "be", "used", "to",
];
/// Between a name and its address.
#[rustfmt::skip]
const ADDRESSING: &[&str] = &[
    "a", "account", "address", "also", "an", "and", "as", "at", "be", "by", "can", "contact", "current", "discord", "e",
    "email", "github", "gitlab", "goes", "handle", "has", "is", "its", "known", "login", "mail", "main", "mastodon",
    "messenger", "name", "new", "nick", "of", "old", "on", "online", "or", "personal", "primary", "private", "reach",
    "reached", "s", "slack", "the", "to", "twitter", "under", "user", "username", "uses", "via", "work", "belongs",
    "telegram", "signal", "write", "writes", "her", "his", "their",
];
/// Words between a name and its other name.
const BETWEEN_WORDS_MAX: usize = 6;
/// Words of an other name that is no proper name: `the Lisbon warehouse move`.
const PHRASE_WORDS_MAX: usize = 6;
/// In front of a name these say that the sentence is about what has to do with it.
const AWAY: &[&str] = &["about", "by", "for", "from", "of", "than", "to", "with"];
/// Mailboxes of many.
const SHARED: &[&str] = &[
    "admin", "billing", "contact", "hello", "help", "hr", "info", "legal", "mail", "no-reply", "noreply", "office",
    "press", "sales", "security", "support", "team",
];

/// The other names in a sentence that has a head, each with a key that tells it apart.
pub(super) fn of(sentence: &Sentence<'_>, heads: &[Thing], bearers: &Bearers) -> Vec<(Thing, String)> {
    let plain = &*sentence.plain;
    let folded = fold(plain);
    // Folding may move places; then nothing is read.
    if !folded.char_indices().map(|(place, _)| place).eq(plain.char_indices().map(|(place, _)| place)) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for head in heads {
        let Some((Certainty::Sure, shown)) = head.find(sentence, bearers) else { continue };
        let Some(start) = plain.find(&shown) else { continue };
        let place = Place { sentence, folded: &folded, head: start..start + shown.len(), of: head };
        found.extend(place.marked());
        found.extend(place.called());
        found.extend(place.called_behind());
        found.extend(place.called_me());
        found.extend(place.owned_naming());
        found.extend(place.for_short());
        found.extend(place.short_form());
        found.extend(place.numbered());
        found.extend(place.in_other_script());
        found.extend(place.same());
        found.extend(place.quoted());
        found.extend(place.addresses());
    }
    found.retain(|(_, key)| !key.is_empty());
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Other {
    Name,
    Address,
}

/// A head where it stands in a sentence.
struct Place<'s, 'a> {
    sentence: &'s Sentence<'a>,
    folded: &'s str,
    head: Range<usize>,
    of: &'s Thing,
}

impl Place<'_, '_> {
    fn plain(&self) -> &str {
        &self.sentence.plain
    }

    /// Whether the words between the head and something tie the two, and the sentence is about the head.
    fn is_tied(&self, between: &str, other: Other) -> bool {
        let words = tokens(between);
        let is_address = other == Other::Address;
        let allowed = if is_address { ADDRESSING } else { TYING };
        let possessed = between.starts_with("'s ") || between.starts_with("’s ");
        let is_named =
            |it: &Token<'_>| ["name", "codename", "nickname", "handle", "maiden"].contains(&it.folded.as_str());
        let own = !possessed || words.iter().any(is_named) || is_address;
        let is_joined = !is_address || !words.is_empty() || between.contains(['(', '<', ':']);
        own && is_joined
            && words.len() <= BETWEEN_WORDS_MAX
            && !between.contains([';', '.'])
            && words.iter().all(|word| allowed.contains(&word.folded.as_str()))
    }

    fn is_subject(&self) -> bool {
        let before = tokens(&self.plain()[..self.head.start]);
        !before.last().is_some_and(|word| AWAY.contains(&word.folded.as_str()))
            && !before.iter().any(|word| verbs::is_verb(&word.folded, None) && !word.is_capital())
    }

    /// Around `also known as` and the like.
    fn marked(&self) -> Vec<(Thing, String)> {
        let mut found = Vec::new();
        for mark in MARKS {
            for place in find_words(self.folded, mark) {
                let end = place + mark.len();
                if self.head.end <= place
                    && self.is_subject()
                    && (self.is_tied(&self.plain()[self.head.end..place], Other::Name) || self.is_naming(place, mark))
                {
                    found.extend(self.other_behind(end));
                } else if end <= self.head.start {
                    let gap = tokens(&self.plain()[end..self.head.start]);
                    let is_near = gap.iter().all(|it| matches!(it.folded.as_str(), "the" | "our" | "project" | "a"));
                    found.extend(is_near.then(|| self.name_before(place)).flatten());
                }
            }
        }
        found
    }

    /// `everybody calls it the drum ticket`.
    fn called(&self) -> Option<(Thing, String)> {
        let words = tokens(self.plain());
        let call = words.iter().enumerate().find(|(index, word)| {
            let before = index.checked_sub(1).map(|it| words[it].folded.as_str()).unwrap_or_default();
            word.start >= self.head.end && matches!(word.folded.as_str(), "call" | "calls") && CALLERS.contains(&before)
        })?;
        let is_pronoun = |it: &&Token<'_>| matches!(it.folded.as_str(), "him" | "her" | "it" | "them");
        let from = words.get(call.0 + 1).filter(is_pronoun).map_or(call.1.end(), Token::end);
        let is_own =
            self.is_subject() && self.plain()[self.head.end..].chars().next().is_none_or(|c| c == ' ' || c == ',');
        is_own.then(|| self.other_behind(from)).flatten()
    }

    /// `everyone calls Elizabeth Moore Betty`.
    fn called_behind(&self) -> Option<(Thing, String)> {
        let before = tokens(&self.plain()[..self.head.start]);
        let is_called = before.last().is_some_and(|it| matches!(it.folded.as_str(), "call" | "calls" | "nicknamed"));
        let rest = &self.plain()[self.head.end..];
        let start = self.head.end + rest.len() - rest.trim_start_matches([' ', '"', '“', '\'']).len();
        (is_called && rest.starts_with(' ')).then(|| self.name_behind(start)).flatten()
    }

    /// `my name is Robert Klein, but call me Bob`.
    fn called_me(&self) -> Option<(Thing, String)> {
        let place = self.folded[self.head.end..].find("call me ")? + self.head.end;
        self.is_subject_or_self().then(|| self.name_behind(place + "call me ".len())).flatten()
    }

    fn is_subject_or_self(&self) -> bool {
        let before = &self.folded[..self.head.start];
        self.is_subject() || ["name is ", "name's ", "i am ", "i'm ", "this is "].iter().any(|it| before.ends_with(it))
    }

    /// Whether what has the mark is the head's own: `Robert Klein's nickname is …`.
    fn is_naming(&self, place: usize, mark: &str) -> bool {
        let between = &self.plain()[self.head.end..place];
        matches!(between, "'s " | "’s ") && (mark.contains("name") || mark.contains("alias"))
    }

    /// `Tolly is Robert Klein's nickname`.
    fn owned_naming(&self) -> Option<(Thing, String)> {
        let rest = &self.plain()[self.head.end..];
        let owned = rest.strip_prefix("'s ").or_else(|| rest.strip_prefix("’s "))?;
        let is_naming = tokens(owned).first().is_some_and(|word| NAMINGS.contains(&word.folded.as_str()));
        let before = self.plain()[..self.head.start].strip_suffix(" is ")?;
        if !is_naming {
            return None;
        }
        let handle = self.sentence.pieces.iter().find(|piece| piece.end == before.len());
        let handle = handle.filter(|piece| self.plain()[..piece.start].ends_with('@'));
        handle.and_then(|piece| address(self.plain(), piece)).or_else(|| self.name_before(before.len()))
    }

    /// `Robert Klein, or Bob for short`.
    fn for_short(&self) -> Option<(Thing, String)> {
        let place = self.folded.find(" for short").filter(|place| *place > self.head.end)?;
        let between = tokens(&self.plain()[self.head.end..place]);
        (between.len() <= 3 && self.is_subject()).then(|| self.name_before(place)).flatten()
    }

    /// `Maximilian Roth (Max)`: what begins as the first name does.
    fn short_form(&self) -> Option<(Thing, String)> {
        let Thing::Name(name) = self.of else { return None };
        let [first, _] = &name.words[..] else { return None };
        let inside = self.plain()[self.head.end..].strip_prefix(" (")?.split_once(')')?.0;
        let folded = fold(inside);
        let alike = first.bare.chars().zip(folded.chars()).take_while(|(a, b)| a == b).count();
        let is_short = alike >= SHORT_FORM_CHARS_MIN && folded.chars().all(char::is_alphabetic);
        is_short.then(|| self.name_behind(self.head.end + " (".len())).flatten()
    }

    /// `The Fjord report is the study on lice, study NR-58.`
    fn numbered(&self) -> Option<(Thing, String)> {
        let plain = self.plain();
        let piece =
            self.sentence.pieces.iter().rfind(|piece| piece.kind == Kind::Issue && piece.start > self.head.end)?;
        let is_last = !plain[piece.end..].contains(char::is_alphanumeric);
        let noun = tokens(&plain[..piece.start]).pop()?;
        let is_it =
            |article: &str| plain[self.head.end..noun.start].contains(&format!(" is {article} {}", noun.written));
        let is_apposition = plain[..noun.start].ends_with(", ") && (is_it("the") || is_it("our") || is_it("a"));
        let thing = is_last.then(|| super::things::identifier(plain, piece)).flatten().filter(|_| is_apposition)?;
        Some((thing, fold(piece.of(plain))))
    }

    /// `Юлия Соколова (Yulia Sokolova)`.
    fn in_other_script(&self) -> Option<(Thing, String)> {
        let own = script_of(&self.plain()[self.head.clone()])?;
        let other = |thing: Option<(Thing, String)>| {
            thing.filter(|(_, key)| script_of(key).is_some_and(|script| script != own))
        };
        let rest = &self.plain()[self.head.end..];
        if let Some(mark) = [" (", " / ", ", ", "（", " "].iter().find(|mark| rest.starts_with(**mark)) {
            let at = self.head.end + mark.len();
            if let Some(found) = other(self.name_behind(at).or_else(|| self.unspaced_behind(at))) {
                return Some(found);
            }
        }
        let before = self.plain()[..self.head.start].trim_end_matches([' ', '(', '/', '（', ',']).len();
        other(self.name_before(before).or_else(|| self.unspaced_before(before)))
    }

    /// `Sunbird and the partner portal are the same`.
    fn same(&self) -> Option<(Thing, String)> {
        let place = self.folded.find(" are the same").or_else(|| self.folded.find(" are one and the same"))?;
        let joint = self.folded[..place].rfind(" and ")?;
        if self.head.end <= joint {
            return self.other_behind(joint + " and ".len());
        }
        self.name_before(joint).or_else(|| phrase(&self.plain()[..joint]))
    }

    /// `Robert "Bob" Miller`.
    fn quoted(&self) -> Option<(Thing, String)> {
        let Thing::Name(name) = self.of else { return None };
        let [first, last] = &name.words[..] else { return None };
        let words = &self.sentence.words;
        let index = (0..words.len().saturating_sub(2)).find(|index| {
            (words[*index].is(first) || words[index + 1].is(first))
                && words[index + 2].is(last)
                && self.sentence.has_quoted(index + 1)
        })?;
        let other = if words[index].is(first) { index + 1 } else { index };
        self.named_from(other, other + 1)
    }

    /// Addresses and handles that a sentence says are the head's.
    fn addresses(&self) -> Vec<(Thing, String)> {
        let plain = self.plain();
        // One address beside another is another's.
        if matches!(self.of, Thing::Exact(..) | Thing::Handle(_)) {
            return Vec::new();
        }
        let is_address = |piece: &&Piece| {
            piece.kind == Kind::Email || (plain[..piece.start].ends_with('@') && piece.kind != Kind::Email)
        };
        let tied = self.sentence.pieces.iter().filter(is_address).filter(|piece| {
            if piece.start >= self.head.end {
                let between = plain[self.head.end..piece.start].trim_end_matches('@');
                self.is_tied(between, Other::Address) && self.is_subject()
            } else if piece.end <= self.head.start {
                self.is_tied(&plain[piece.end..self.head.start], Other::Address)
            } else {
                false
            }
        });
        tied.filter_map(|piece| address(plain, piece)).collect()
    }

    fn other_behind(&self, from: usize) -> Option<(Thing, String)> {
        let plain = self.plain();
        let gap = &plain[from..];
        let skipped = gap.len() - gap.trim_start_matches([' ', '"', '“', '\'', '@', ':', '`', '(']).len();
        let start = from + skipped;
        if plain[..start].ends_with('@') {
            let piece = self.sentence.pieces.iter().find(|piece| piece.start == start)?;
            return Some((Thing::handle(piece.of(plain)), fold(piece.of(plain))));
        }
        let bare = ["the ", "our ", "project ", "Project ", "as "]
            .iter()
            .fold(&plain[start..], |text, word| text.strip_prefix(word).unwrap_or(text));
        let named = self.name_behind(plain.len() - bare.len());
        // A name that goes on in small letters is a description: `the Lisbon warehouse move`.
        let is_all = named.as_ref().is_some_and(|(_, key)| {
            let rest = bare.get(key.len()..).unwrap_or_default();
            !rest.starts_with(' ')
                || tokens(rest).first().is_none_or(|it| {
                    verbs::is_verb(&it.folded, Some("name"))
                        || is_stop(&it.folded)
                        || CIRCUMSTANCES.contains(&it.folded.as_str())
                })
        });
        if is_all { named } else { phrase(&plain[start..]).or(named) }
    }

    /// The name or identifier that begins here.
    fn name_behind(&self, start: usize) -> Option<(Thing, String)> {
        let plain = self.plain();
        let piece = self.sentence.pieces.iter().find(|piece| piece.start == start)?;
        if !matches!(piece.kind, Kind::Word | Kind::Compound | Kind::Issue | Kind::Camel)
            || is_numbered(piece.of(plain))
        {
            let thing = super::things::identifier(plain, piece)?;
            return Some((thing, fold(piece.of(plain))));
        }
        let first = self.sentence.words.iter().position(|word| word.start == start)?;
        let length = self.sentence.words[first..]
            .iter()
            .enumerate()
            .take_while(|(offset, _)| self.is_name_word(first + offset, *offset == 0))
            .count();
        self.named_from(first, first + length)
    }

    /// The name that ends before this place.
    fn name_before(&self, end: usize) -> Option<(Thing, String)> {
        let text = &self.plain()[..end];
        let cut =
            [", ", " is", " was", " also", " (", " our", " the", " a", " an", " who", " or", "\"", "'s", "’s"].iter();
        let mut trimmed = text.trim_end();
        while let Some(shorter) = cut.clone().find_map(|word| trimmed.strip_suffix(word.trim_end())) {
            trimmed = shorter.trim_end();
        }
        let last = self.sentence.words.iter().rposition(|word| word.end == trimmed.len())?;
        let mut first = last + 1;
        while first > 0
            && self.is_name_word(first - 1, true)
            && (first == last + 1 || self.sentence.is_adjacent(first - 1, first))
        {
            first -= 1;
        }
        self.named_from(first, last + 1)
    }

    fn is_name_word(&self, index: usize, is_first: bool) -> bool {
        let word = &self.sentence.words[index];
        word.is_capital
            && !is_stop(&word.bare)
            && !is_calendar(&word.bare)
            && (!is_first || !is_starter(&word.bare))
            && (is_first || self.sentence.is_adjacent(index - 1, index))
    }

    fn named_from(&self, first: usize, end: usize) -> Option<(Thing, String)> {
        let words = self.sentence.words.get(first..end)?.to_vec();
        let own = match self.of {
            Thing::Name(name) => Some(name),
            _ => None,
        };
        let is_own = own.is_some_and(|own| words.iter().all(|word| own.words.iter().any(|it| it.is(word))));
        if words.is_empty() || is_own {
            return None;
        }
        let key = words.iter().map(|word| word.bare.as_str()).collect::<Vec<_>>().join(" ");
        let family = own.and_then(|own| own.words.get(1..)?.last()).map(|last| last.bare.clone());
        let alias_of = Some(family.unwrap_or_default());
        Some((Thing::Name(Name { words, is_of_thing: true, is_small: false, alias_of }), key))
    }

    fn unspaced_behind(&self, start: usize) -> Option<(Thing, String)> {
        let text = &self.plain()[start..];
        let end = text.find(|c: char| !crate::chars::is_lone(c)).unwrap_or(text.len());
        unspaced(&text[..end])
    }

    fn unspaced_before(&self, end: usize) -> Option<(Thing, String)> {
        let text = &self.plain()[..end];
        let length: usize = text.chars().rev().take_while(|c| crate::chars::is_lone(*c)).map(char::len_utf8).sum();
        unspaced(&text[end - length..])
    }
}

fn unspaced(name: &str) -> Option<(Thing, String)> {
    (2..=8).contains(&name.chars().count()).then(|| (Thing::Unspaced(name.to_owned()), name.to_owned()))
}

fn is_numbered(written: &str) -> bool {
    written.bytes().any(|byte| byte.is_ascii_digit())
}

/// Several words that name something together, up to where the sentence goes on.
fn phrase(text: &str) -> Option<(Thing, String)> {
    let text = text.trim_start_matches([' ', '"', '“', '\'']);
    let end = text.find([',', ';', '.', '(', ')', ':', '"', '”', '\'']).unwrap_or(text.len());
    let words = tokens(&text[..end]);
    let from = words.iter().position(|word| !is_stop(&word.folded))?;
    // `the flat on Kafkova 12` goes on behind a small word, `the drum ticket was …` does not; a `move` may be a noun.
    let stops = |word: &Token<'_>| {
        matches!(word.folded.as_str(), "and" | "that" | "which" | "who" | "because" | "since" | "but" | "so")
            || (!word.is_capital() && verbs::is_verb(&word.folded, Some("name")) && !verbs::is_plain(&word.folded))
    };
    let length = words[from..].iter().take_while(|word| !stops(word)).count();
    let content = words[from..from + length].iter().filter(|word| !is_stop(&word.folded)).count();
    if content < 2 || length > PHRASE_WORDS_MAX {
        return None;
    }
    let written = &text[words[from].start..words[from + length - 1].end()];
    Thing::exact(&format!("\"{written}\"")).map(|thing| (thing, fold(written)))
}

fn address(plain: &str, piece: &Piece) -> Option<(Thing, String)> {
    let written = piece.of(plain);
    if piece.kind != Kind::Email {
        return Some((Thing::handle(written), bare_and_expanded(written).0));
    }
    let local = fold(written.split('@').next().unwrap_or_default());
    let is_shared = SHARED.contains(&local.as_str()) || canonical::hexadecimal(&local).is_some();
    (!is_shared).then(|| super::things::identifier(plain, piece)).flatten().map(|thing| (thing, fold(written)))
}

fn find_words<'f>(folded: &'f str, mark: &'f str) -> impl Iterator<Item = usize> + 'f {
    let is_border = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    folded.match_indices(mark).map(|(place, _)| place).filter(move |place| {
        is_border(folded[..*place].chars().next_back()) && is_border(folded[place + mark.len()..].chars().next())
    })
}
