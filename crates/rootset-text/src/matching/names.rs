//! Names of people and things: whole, turned round, as an address, by the first name where the workspace knows one
//! bearer only.
//!
//! A name that goes on is another name: `Alice Smith` is not in `Alice Smith-Jones`. Whatever is doubtful is near, and
//! nearness is only ever shown. Not here: which words of a request are names.

use std::collections::{BTreeMap, BTreeSet};

use super::text::{Sentence, Word};
use super::{Certainty, Near};
use crate::chars::{fold, is_apostrophe};
use crate::scan::{Kind, Piece};
use crate::words::{is_calendar, is_starter, is_stop};

/// What may stand behind a name without making it another.
const SUFFIXES: &[&str] = &[
    "ag",
    "co",
    "company",
    "corp",
    "corporation",
    "gmbh",
    "inc",
    "jr",
    "kg",
    "llc",
    "ltd",
    "phd",
    "plc",
    "sa",
    "se",
    "sr",
];
pub(super) const TITLES: &[&str] =
    &["dr", "frau", "herr", "miss", "mr", "mrs", "ms", "prof", "professor", "señor", "señora", "sir"];
/// In front of a first name these say that it is none.
const ARTICLES: &[&str] = &["a", "an", "another", "each", "every", "our", "that", "the", "this"];
/// In front of a word in small letters these say that it is an ordinary noun.
const NOUN_LEADERS: &[&str] = &[
    "a", "an", "any", "each", "every", "her", "his", "its", "my", "no", "our", "some", "that", "the", "their", "this",
];
/// What people do, and neither plants nor colours.
#[rustfmt::skip]
const DOING: &[&str] = &[
    "and", "asked", "asks", "attended", "attends", "believes", "booked", "bought", "called", "calls", "can", "cannot",
    "complained", "confirmed", "could", "did", "drives", "drove", "emailed", "enjoys", "got", "joined", "knows", "left",
    "likes", "lives", "loves", "married", "met", "moved", "owns", "paid", "phoned", "prefers", "promised", "reports",
    "said", "says", "signed", "speaks", "studied", "studies", "teaches", "thinks", "told", "took", "visited", "wants",
    "went", "will", "works", "would", "writes", "wrote",
];
/// First names that begin a sentence as ordinary words, too: there they need a verb that people do.
#[rustfmt::skip]
const ORDINARY: &[&str] = &[
    "amber", "angel", "april", "art", "august", "autumn", "basil", "bill", "bishop", "blue", "brook", "bud", "cash",
    "chance", "charity", "chase", "cherry", "chip", "christian", "clay", "clementine", "cliff", "cole", "crystal",
    "daisy", "dale", "dawn", "dean", "destiny", "dot", "drew", "duke", "dusty", "earl", "faith", "fern", "flora",
    "forest", "frank", "gale", "gene", "ginger", "glen", "grace", "grant", "guy", "harmony", "hazel", "heath",
    "heather", "herb", "holly", "hope", "hunter", "iris", "ivory", "ivy", "jade", "jasmine", "jay", "jewel", "joy",
    "june", "junior", "king", "kit", "lance", "lane", "lark", "laurel", "lily", "mack", "major", "mark", "mars",
    "mason", "may", "melody", "mercy", "merry", "miles", "mint", "myrtle", "norm", "nova", "olive", "opal", "page",
    "parker", "patience", "peach", "pearl", "penny", "pepper", "phoenix", "pierce", "pip", "piper", "poppy", "prince",
    "raven", "reed", "rich", "ridge", "river", "robin", "rocky", "rose", "rosemary", "rowan", "royal", "ruby", "rusty",
    "saffron", "sage", "sandy", "scarlet", "skip", "sky", "sonny", "star", "sterling", "stew", "stone", "storm", "sue",
    "summer", "sunny", "tab", "tanner", "thyme", "tiger", "trinity", "trip", "tucker", "vale", "van", "violet", "wade",
    "ward", "will", "winter", "wolf", "woody", "wren", "zephyr",
];
const FULL_NAME_WORDS: usize = 2;

#[derive(Clone, Debug)]
pub(super) struct Name {
    pub words: Vec<Word>,
    /// `project` in front: it is no person's, and may stand in the plural.
    pub is_of_thing: bool,
    /// Written small in the request: `server athena`. It is a name only where no text uses it as a noun.
    pub is_small: bool,
    /// Another name that a text tells: of somebody with this last name, as far as it has one.
    pub alias_of: Option<String>,
}

impl Name {
    pub(super) fn of_request(words: Vec<Word>) -> Self {
        Self { words, is_of_thing: false, is_small: false, alias_of: None }
    }
}

/// What the texts of a workspace say about who shares a name.
#[derive(Clone, Debug, Default)]
pub(super) struct Bearers {
    /// Behind a word that a name begins with, in capitals.
    followed_by: BTreeMap<String, BTreeSet<String>>,
    /// In front of a word that a name ends with.
    led_by: BTreeMap<String, BTreeSet<String>>,
    /// Words of names that are ordinary words, too.
    ordinary: BTreeSet<String>,
    /// In front of a word that a name ends with, at the beginning of a sentence, too.
    full: BTreeMap<String, BTreeSet<String>>,
    /// First words of names that stand alone in capitals inside a sentence, as names do.
    alone: BTreeSet<String>,
}

impl Bearers {
    pub(super) fn note(&mut self, name: &Name, sentence: &Sentence<'_>) {
        let (Some(first), Some(last)) = (name.words.first(), name.words.last()) else { return };
        for (index, word) in sentence.words.iter().enumerate() {
            if word.is(first) && name.is_small {
                let before = index.checked_sub(1).filter(|before| sentence.is_adjacent(*before, index));
                let is_noun = before.is_some_and(|before| NOUN_LEADERS.contains(&sentence.words[before].bare.as_str()));
                if is_noun {
                    self.ordinary.insert(first.bare.clone());
                }
            } else if word.is(first) {
                if !word.is_capital {
                    self.ordinary.insert(first.bare.clone());
                } else if let Some(next) = following_name(sentence, index) {
                    self.followed_by.entry(first.bare.clone()).or_default().insert(next.bare.clone());
                } else if index > 0 {
                    self.alone.insert(first.bare.clone());
                }
            }
            if word.is(last)
                && let Some(before) = index.checked_sub(1).and_then(|before| sentence.words.get(before))
                && is_of_name(before)
                && !TITLES.contains(&before.bare.as_str())
                && sentence.is_adjacent(index - 1, index)
            {
                self.full.entry(last.bare.clone()).or_default().insert(before.bare.clone());
            }
            if word.is(last)
                && word.is_capital
                && let Some(before) = leading_name(sentence, index)
            {
                self.led_by.entry(last.bare.clone()).or_default().insert(before.bare.clone());
            }
        }
    }

    /// How many people with this last name have a first name that begins as this one does.
    fn with_initial(&self, last: &Word, first: &Word) -> usize {
        let begins = |name: &&String| name.chars().next() == first.bare.chars().next();
        let led: BTreeSet<&String> = [&last.bare, &last.expanded]
            .into_iter()
            .filter_map(|last| self.full.get(last))
            .flatten()
            .filter(|name| begins(name) && name.chars().count() > 1)
            .collect();
        led.len()
    }

    fn others(sets: &BTreeMap<String, BTreeSet<String>>, word: &Word, own: Option<&Word>) -> usize {
        let others = |set: &BTreeSet<String>| {
            set.iter().filter(|it| own.is_none_or(|own| **it != own.bare && **it != own.expanded)).count()
        };
        sets.get(&word.bare).map_or(0, others)
    }
}

/// The capitalised word that continues a name.
fn following_name<'s>(sentence: &'s Sentence<'_>, index: usize) -> Option<&'s Word> {
    let next = sentence.words.get(index + 1).filter(|next| is_of_name(next))?;
    sentence.is_adjacent(index, index + 1).then_some(next)
}

/// The capitalised word in front; the first of a sentence has its capital anyway.
fn leading_name<'s>(sentence: &'s Sentence<'_>, index: usize) -> Option<&'s Word> {
    let place = index.checked_sub(1).filter(|place| *place > 0)?;
    let before = sentence.words.get(place).filter(|before| is_of_name(before))?;
    let is_title = TITLES.contains(&before.bare.as_str());
    (sentence.is_adjacent(place, index) && !is_title).then_some(before)
}

fn is_of_name(word: &Word) -> bool {
    word.is_capital && !is_starter(&word.bare) && !is_calendar(&word.bare) && !SUFFIXES.contains(&word.bare.as_str())
}

impl Name {
    fn matches_word(&self, own: &Word, word: &Word) -> bool {
        let plural = |a: &str, b: &str| a.strip_suffix('s').is_some_and(|it| it == b);
        own.is(word) || (self.is_of_thing && (plural(&own.bare, &word.bare) || plural(&word.bare, &own.bare)))
    }

    /// The surest way in which a sentence has the name, and the words that are it.
    pub(super) fn find(&self, sentence: &Sentence<'_>, bearers: &Bearers) -> Option<(Certainty, String)> {
        let mut best: Option<(Certainty, String)> = None;
        let mut consider = |certainty: Certainty, shown: &str| {
            if best.as_ref().is_none_or(|(known, _)| certainty < *known) {
                best = Some((certainty, shown.to_owned()));
            }
        };
        let length = self.words.len();
        for index in 0..sentence.words.len() {
            if self.is_at(sentence, index) {
                let shown = &sentence.plain[sentence.words[index].start..sentence.words[index + length - 1].end];
                consider(self.whole(sentence, index, bearers), shown);
            } else if length == FULL_NAME_WORDS
                && (self.is_turned_at(sentence, index) || self.is_around_quoted(sentence, index))
            {
                let shown = &sentence.plain[sentence.words[index].start..sentence.words[index + 1].end];
                consider(Certainty::Sure, shown);
            } else if length == FULL_NAME_WORDS && !self.is_of_thing {
                let word = &sentence.words[index];
                let shown = &sentence.plain[word.start..word.end];
                if let Some(certainty) = self.part(sentence, index, bearers) {
                    consider(certainty, shown);
                }
            }
        }
        for piece in &sentence.pieces {
            if let Some(certainty) = self.in_piece(sentence, piece, bearers) {
                consider(certainty, piece.of(&sentence.plain));
            }
        }
        best
    }

    /// Whether the sentence has all of the name, also as a part of a longer one.
    pub(super) fn is_whole_in(&self, sentence: &Sentence<'_>) -> bool {
        (0..sentence.words.len()).any(|index| {
            self.is_around_quoted(sentence, index)
                || self.is_at(sentence, index)
                || (self.words.len() == FULL_NAME_WORDS && self.is_turned_at(sentence, index))
        })
    }

    fn is_at(&self, sentence: &Sentence<'_>, index: usize) -> bool {
        let Some(words) = sentence.words.get(index..index + self.words.len()) else { return false };
        let follow = |place: usize| {
            let (a, b) = (&sentence.words[place], &sentence.words[place + 1]);
            sentence.is_adjacent(place, place + 1) || (a.is_joined && b.is_joined && b.start == a.end + 1)
        };
        self.words.iter().zip(words).all(|(own, word)| self.matches_word(own, word))
            && (index..index + self.words.len() - 1).all(follow)
    }

    /// `Robert "Bob" Miller`, for either first name.
    fn is_around_quoted(&self, sentence: &Sentence<'_>, index: usize) -> bool {
        let ([first, last], Some([own, second, ..])) = (&self.words[..], sentence.words.get(index..)) else {
            return false;
        };
        let third = sentence.words.get(index + 2);
        first.is(own)
            && ((sentence.has_quoted(index) && last.is(second))
                || (sentence.has_quoted(index + 1) && third.is_some_and(|third| last.is(third))))
    }

    /// `Smith, Alice`.
    fn is_turned_at(&self, sentence: &Sentence<'_>, index: usize) -> bool {
        let Some([last, first]) = sentence.words.get(index..index + 2) else { return false };
        self.words[1].is(last) && self.words[0].is(first) && &sentence.plain[last.end..first.start] == ", "
    }

    fn whole(&self, sentence: &Sentence<'_>, index: usize, bearers: &Bearers) -> Certainty {
        let end = index + self.words.len() - 1;
        let text = &sentence.plain;
        let (first, last) = (&sentence.words[index], &sentence.words[end]);
        let goes_on = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_tied =
            text[..first.start].strip_suffix(['-', '_']).is_some_and(|lead| goes_on(lead.chars().next_back()))
                || text[last.end..].strip_prefix(['-', '_']).is_some_and(|rest| goes_on(rest.chars().next()));
        // `St. Ingrid`
        let is_saint = ["St. ", "Saint "].iter().any(|it| text[..first.start].ends_with(it));
        if is_tied || is_saint {
            return Certainty::Near(Near::LongerName);
        }
        if self.is_small && bearers.ordinary.contains(&self.words[0].bare) {
            return Certainty::Near(Near::OtherCase);
        }
        let is_written_small = !first.is_capital && self.words[0].is_capital;
        if is_written_small && self.words.len() == 1 && sentence.words.iter().any(|word| word.is_capital) {
            return Certainty::Near(Near::OtherCase);
        }
        let number = sentence.words.get(end + 1).filter(|next| next.bare.bytes().all(|byte| byte.is_ascii_digit()));
        if self.is_of_thing && number.is_some_and(|it| it.bare.len() <= 2) && sentence.is_adjacent(end, end + 1) {
            return Certainty::Near(Near::LongerName);
        }
        // `everyone calls Elizabeth Moore Betty`
        let is_called = index.checked_sub(1).is_some_and(|before| {
            matches!(sentence.words[before].bare.as_str(), "call" | "calls" | "called" | "nicknamed")
        });
        let follower = following_name(sentence, end).filter(|_| !is_called || self.words.len() < FULL_NAME_WORDS);
        let leader = leading_name(sentence, index);
        if let Some(family) = &self.alias_of
            && self.words.len() == 1
        {
            let others = bearers
                .followed_by
                .get(&self.words[0].bare)
                .map_or(0, |it| it.iter().filter(|it| *it != family).count());
            return match follower {
                Some(follower) if follower.bare != *family => Certainty::Near(Near::LongerName),
                None if others > 0 => Certainty::Near(Near::Several),
                _ => Certainty::Sure,
            };
        }
        match (self.words.len(), follower, leader) {
            (_, None, None) => self.alone(bearers),
            (1, Some(_), _) if !self.is_of_thing => {
                self.only(Bearers::others(&bearers.followed_by, &self.words[0], None))
            }
            (1, None, Some(_)) if !self.is_of_thing => {
                self.only(Bearers::others(&bearers.led_by, &self.words[0], None))
            }
            (_, Some(_), _) => Certainty::Near(Near::LongerName),
            (_, None, Some(leader)) if self.is_of_thing && super::noise::is_leader(&leader.bare) => {
                let is_own = super::noise::is_leader_of_things(&leader.bare);
                if is_own { Certainty::Sure } else { Certainty::Near(Near::LongerName) }
            }
            (_, None, Some(_)) => Certainty::Sure,
        }
    }

    /// Without another name beside it: a single word may be anybody's of that name.
    fn alone(&self, bearers: &Bearers) -> Certainty {
        if self.words.len() > 1 || self.is_of_thing {
            return Certainty::Sure;
        }
        let others = Bearers::others(&bearers.followed_by, &self.words[0], None).max(Bearers::others(
            &bearers.led_by,
            &self.words[0],
            None,
        ));
        self.only(others)
    }

    fn only(&self, bearers: usize) -> Certainty {
        if bearers > 1 { Certainty::Near(Near::Several) } else { Certainty::Sure }
    }

    /// The first name alone, or the last.
    fn part(&self, sentence: &Sentence<'_>, index: usize, bearers: &Bearers) -> Option<Certainty> {
        let word = &sentence.words[index];
        if !word.is_capital || word.is_joined || is_stop(&word.bare) {
            return None;
        }
        let (first, last) = (&self.words[0], &self.words[1]);
        let before = index.checked_sub(1).and_then(|place| sentence.words.get(place));
        let is_adjacent = index > 0 && sentence.is_adjacent(index - 1, index);
        let is_led = is_adjacent && before.is_some_and(|it| ARTICLES.contains(&it.bare.as_str()));
        if word.is(first) {
            let is_anothers =
                is_adjacent && before.is_some_and(|it| is_of_name(it) && !TITLES.contains(&it.bare.as_str()));
            if is_led
                || is_anothers
                || following_name(sentence, index).is_some()
                || leading_name(sentence, index).is_some()
            {
                return None;
            }
            let others = Bearers::others(&bearers.followed_by, first, Some(last));
            let is_known = bearers
                .followed_by
                .get(&first.bare)
                .is_some_and(|it| it.contains(&last.bare) || it.contains(&last.expanded));
            let is_name = is_known
                && !bearers.ordinary.contains(&first.bare)
                && (index > 0
                    || bearers.alone.contains(&first.bare)
                    || !ORDINARY.contains(&first.bare.as_str())
                    || does_something(sentence));
            return Some(match (others, is_name) {
                (0, true) => Certainty::Sure,
                (0, false) => Certainty::Near(Near::FirstName),
                _ => Certainty::Near(Near::Several),
            });
        }
        let is_anothers = is_adjacent
            && before
                .is_some_and(|it| is_of_name(it) && !TITLES.contains(&it.bare.as_str()) && it.bare.chars().count() > 1);
        if word.is(last) && !is_anothers {
            let has_title = before.is_some_and(|it| TITLES.contains(&it.bare.as_str()));
            let others = Bearers::others(&bearers.led_by, last, Some(first));
            let is_initial = is_adjacent || sentence.plain[..word.start].ends_with(". ");
            let initial = before.filter(|it| is_initial && it.bare.chars().count() == 1);
            return match (has_title, others, initial) {
                (_, _, Some(initial)) if !first.bare.starts_with(&initial.bare) => None,
                (_, _, Some(_)) if bearers.with_initial(last, first) == 1 => Some(Certainty::Sure),
                (true, 0, _) => Some(Certainty::Sure),
                _ => Some(Certainty::Near(Near::LastName)),
            };
        }
        None
    }

    /// As one word, or as the name in an address or handle.
    fn in_piece(&self, sentence: &Sentence<'_>, piece: &Piece, bearers: &Bearers) -> Option<Certainty> {
        let written = piece.of(&sentence.plain);
        let local = match piece.kind {
            Kind::Email => written.split('@').next()?,
            Kind::Word | Kind::Camel | Kind::Snake | Kind::Dotted | Kind::Compound => written,
            _ => return None,
        };
        let bare: String = fold(local).chars().filter(|c| !matches!(c, '.' | '_' | '-')).collect();
        let is_address = piece.kind == Kind::Email || sentence.plain[..piece.start].ends_with('@');
        let own = |place: usize| [&self.words[place].bare, &self.words[place].expanded];
        if self.words.len() == FULL_NAME_WORDS && !piece_is_apart(piece) {
            for (first, last) in own(0).into_iter().zip(own(1)) {
                if bare == format!("{first}{last}") || (is_address && bare == format!("{last}{first}")) {
                    return Some(Certainty::Sure);
                }
                let initial: String = first.chars().take(1).collect();
                let is_initialled = bare == format!("{initial}{last}") || bare == format!("{last}{initial}");
                if is_address && (is_initialled || bare == *first) {
                    let is_only_one = is_initialled && bearers.with_initial(&self.words[1], &self.words[0]) == 1;
                    return Some(if is_only_one { Certainty::Sure } else { Certainty::Near(Near::Address) });
                }
            }
            return None;
        }
        if self.words.len() > FULL_NAME_WORDS {
            let joined: String = self.words.iter().map(|word| word.bare.as_str()).collect();
            return (bare == joined).then_some(Certainty::Sure);
        }
        (is_address && self.words.len() == 1 && own(0).contains(&&bare)).then_some(Certainty::Near(Near::Address))
    }
}

/// Whether the first word of a sentence has something, or does what only people do.
fn does_something(sentence: &Sentence<'_>) -> bool {
    let after = &sentence.plain[sentence.words[0].end..];
    let has = after.chars().next().is_some_and(is_apostrophe);
    let next = sentence.words.get(1).map(|it| it.bare.as_str()).unwrap_or_default();
    has || DOING.contains(&next)
}

/// A compound whose words are looked at one by one already.
fn piece_is_apart(piece: &Piece) -> bool {
    piece.kind == Kind::Compound
}
