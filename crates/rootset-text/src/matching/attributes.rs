//! What is asked for of a thing: `phone number`, `address`, `where … lives`, and how texts say it.
//!
//! An attribute is told from its neighbours (a passport's number is no telephone's, a mail address no home), because what
//! is taken for the wrong one is lost. Lists are data. Not here: of whom it is asked.

use std::collections::BTreeSet;

use super::canonical;
use super::text::{Sentence, Word};
use super::things::stem_of;
use crate::scan::Kind;
use crate::words::is_number_word;

#[derive(Debug)]
pub(super) struct Attribute {
    /// Words of a request that ask for it.
    asked: &'static [&'static str],
    /// Words beside them that ask for nothing more.
    filling: &'static [&'static str],
    /// Words by which a text says it.
    said: &'static [&'static str],
    /// Directly in front of such a word, these make something else of it.
    not_behind: &'static [&'static str],
    shape: Shape,
    /// Whether a sentence that says it says something besides what else is asked for.
    is_telling: bool,
}

/// What a value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Any,
    Phone,
    Mail,
    /// A telephone's, a mail's or a home's.
    Contact,
}

/// Beside a long number these say that it is one to call.
const CALLING: &[&str] = &["call", "called", "dial", "number", "reach", "reached", "ring", "sms", "text"];
/// And these that it is not.
const NUMBERED: &[&str] =
    &["account", "card", "customer", "iban", "id", "insurance", "invoice", "order", "passport", "policy", "tax"];

/// `Pixel 8` is no number to call.
const DIALLED_DIGITS_MIN: usize = 3;

/// What follows where somebody lives somewhere.
const DWELLING: &[&str] = &[
    "above", "alone", "at", "behind", "by", "close", "in", "near", "next", "on", "opposite", "outside", "there", "with",
];

/// The first whose word is asked for counts.
const ATTRIBUTES: &[Attribute] = &[
    Attribute {
        asked: &["email", "emails", "mail", "inbox"],
        filling: &["address", "addresses", "account", "e", "private", "personal", "work"],
        said: &["email", "mail", "inbox"],
        not_behind: &[],
        shape: Shape::Mail,
        is_telling: true,
    },
    Attribute {
        asked: &["phone", "telephone", "mobile", "cell", "cellphone", "landline", "tel"],
        filling: &["number", "numbers", "phone", "home", "private", "personal", "work", "contact"],
        said: &["phone", "telephone", "mobile", "cell", "cellphone", "landline", "tel", "whatsapp", "voicemail"],
        not_behind: &[],
        shape: Shape::Phone,
        is_telling: true,
    },
    Attribute {
        asked: &["birthday", "birthdate", "dob", "born", "birth"],
        filling: &["date", "day", "of"],
        said: &["birthday", "birthdate", "dob", "born", "birth", "turns", "turned"],
        not_behind: &[],
        shape: Shape::Any,
        is_telling: true,
    },
    Attribute {
        asked: &["address", "addresses", "residence", "lives", "live", "living", "lived", "resides"],
        filling: &["home", "postal", "street", "current", "private"],
        said: &["live", "lives", "lived", "living", "resides", "residence", "moved", "relocated", "street", "address"],
        not_behind: &["mail", "email", "ip", "mac", "web", "wallet", "network", "billing", "contract", "meeting"],
        shape: Shape::Any,
        is_telling: true,
    },
    Attribute {
        asked: &["salary", "earns", "earn", "pay", "wage", "wages", "income", "compensation"],
        filling: &["current", "yearly", "monthly", "annual"],
        said: &["salary", "earns", "earned", "earning", "wage", "income", "compensation"],
        not_behind: &[],
        shape: Shape::Any,
        is_telling: true,
    },
    Attribute {
        asked: &["job", "work", "works", "working", "employer", "role", "position", "occupation", "profession"],
        filling: &["title", "current", "place"],
        said: &["job", "works", "worked", "working", "employer", "employed", "role", "position", "occupation"],
        not_behind: &[],
        shape: Shape::Any,
        is_telling: true,
    },
    Attribute {
        asked: &["password", "passphrase", "passcode", "credentials"],
        filling: &["current"],
        said: &["password", "passphrase", "passcode", "credentials"],
        not_behind: &[],
        shape: Shape::Any,
        is_telling: true,
    },
    Attribute {
        asked: &["allergy", "allergies", "allergic"],
        filling: &["food"],
        said: &["allergy", "allergies", "allergic"],
        not_behind: &[],
        shape: Shape::Any,
        is_telling: true,
    },
    Attribute {
        asked: &["diagnosis", "diagnosed", "condition", "medical", "health", "illness", "disease"],
        filling: &["condition", "health", "medical", "history", "issues", "problems", "current"],
        said: &[
            "diagnosis",
            "diagnosed",
            "condition",
            "medical",
            "health",
            "illness",
            "disease",
            "suffers",
            "surgery",
            "therapy",
            "medication",
        ],
        not_behind: &[],
        shape: Shape::Any,
        is_telling: false,
    },
    Attribute {
        asked: &["wife", "husband", "spouse", "married", "marriage"],
        filling: &[],
        said: &["wife", "husband", "spouse", "married", "marriage"],
        not_behind: &[],
        shape: Shape::Any,
        is_telling: true,
    },
    Attribute {
        asked: &["age", "old"],
        filling: &["current"],
        said: &["age", "aged", "old", "turns", "turned"],
        not_behind: &[],
        shape: Shape::Any,
        is_telling: true,
    },
    Attribute {
        asked: &["trip", "trips", "travel", "travels", "journey", "visit", "vacation", "holiday"],
        filling: &["recent", "last"],
        said: &[
            "trip",
            "travel",
            "travelled",
            "traveled",
            "journey",
            "visit",
            "visited",
            "vacation",
            "holiday",
            "flew",
            "flight",
            "hotel",
            "stayed",
            "slept",
            "went",
            "tour",
        ],
        not_behind: &[],
        shape: Shape::Any,
        is_telling: false,
    },
    Attribute {
        asked: &["preference", "preferences", "favourite", "favourites", "favorite", "favorites", "likes"],
        filling: &["personal"],
        said: &["preference", "prefers", "prefer", "preferred", "favourite", "favorite", "likes", "loves", "enjoys"],
        not_behind: &[],
        shape: Shape::Any,
        is_telling: false,
    },
    Attribute {
        asked: &["contact", "contacts"],
        filling: &["details", "data"],
        said: &[],
        not_behind: &[],
        shape: Shape::Contact,
        is_telling: false,
    },
];

/// A word that narrows down, or an attribute.
#[derive(Clone, Debug)]
pub(super) enum Scope {
    Word(String),
    Attribute(&'static Attribute),
}

impl Scope {
    /// What words of a request ask for, all of which has to be there.
    pub(super) fn all_of(words: &[String]) -> Vec<Self> {
        let asked = |attribute: &&Attribute| words.iter().any(|word| attribute.asked.contains(&word.as_str()));
        // `Alice's number` is to be called.
        let is_bare = matches!(words, [word] if word == "number" || word == "numbers");
        let found = ATTRIBUTES.iter().find(|it| asked(it) || (is_bare && it.shape == Shape::Phone));
        if is_bare {
            return found.map(Self::Attribute).into_iter().collect();
        }
        let is_free = |word: &&String| {
            found.is_none_or(|it| !it.asked.contains(&word.as_str()) && !it.filling.contains(&word.as_str()))
        };
        let mut scopes: Vec<Self> = words.iter().filter(is_free).map(|word| Self::Word(stem_of(word))).collect();
        scopes.extend(found.map(Self::Attribute));
        scopes
    }

    pub(super) fn is_attribute(&self) -> bool {
        matches!(self, Self::Attribute(_))
    }

    /// Whether a word is one by which it is asked for or said.
    pub(super) fn has_word(&self, word: &str) -> bool {
        match self {
            Self::Word(stem) => stem_of(word) == *stem,
            Self::Attribute(it) => it.says(word) || it.asked.contains(&word) || it.filling.contains(&word),
        }
    }

    pub(super) fn is_in(&self, sentence: &Sentence<'_>, stems: &BTreeSet<String>) -> bool {
        match self {
            Self::Word(stem) => stems.contains(stem),
            Self::Attribute(attribute) => attribute.is_in(sentence),
        }
    }
}

impl Attribute {
    fn is_in(&self, sentence: &Sentence<'_>) -> bool {
        let is_said = |(index, word): (usize, &Word)| {
            let before = index.checked_sub(1).map(|before| sentence.words[before].bare.as_str()).unwrap_or_default();
            self.says(&word.bare) && !self.not_behind.contains(&before) && self.is_meant(sentence, index)
        };
        sentence.words.iter().enumerate().any(is_said) || self.has_value(sentence)
    }

    fn says(&self, word: &str) -> bool {
        self.said.iter().any(|it| *it == word || stem_of(it) == stem_of(word))
    }

    /// Whether a word that says it does so where it stands: who lives for music has no address there.
    fn is_meant(&self, sentence: &Sentence<'_>, index: usize) -> bool {
        let word = sentence.words[index].bare.as_str();
        let at = |place: Option<usize>| {
            place.and_then(|place| sentence.words.get(place)).map(|it| it.bare.as_str()).unwrap_or_default()
        };
        let (before, next) = (at(index.checked_sub(1)), at(Some(index + 1)));
        let has_digit = sentence.plain.contains(|c: char| c.is_ascii_digit());
        let is_dialled = |digits: &str| digits.len() >= DIALLED_DIGITS_MIN;
        let has_number = || sentence.plain.split(|c: char| !c.is_ascii_digit()).any(is_dialled);
        match (self.shape, word) {
            (Shape::Phone, _) => has_number() || next == "number" || next == "numbers",
            (Shape::Mail, _) => sentence.plain.contains('@') || matches!(next, "address" | "is"),
            (_, "moved" | "relocated") => matches!(next, "to" | "into" | "from" | "back" | "in"),
            (_, "live" | "lives" | "lived" | "living") => DWELLING.contains(&next) || next.is_empty(),
            (_, "works" | "worked" | "working") => matches!(next, "as" | "at" | "for" | "in" | "with"),
            (_, "earns" | "earn" | "earned" | "earning") => has_digit,
            (_, "turns" | "turned") => has_digit || is_number_word(next),
            (_, "old") => matches!(before, "year" | "years"),
            _ => true,
        }
    }

    fn has_value(&self, sentence: &Sentence<'_>) -> bool {
        let has = |list: &[&str]| sentence.words.iter().any(|word| list.contains(&word.bare.as_str()));
        match self.shape {
            Shape::Any => false,
            Shape::Contact => {
                let is_one =
                    |it: &&Attribute| matches!(it.shape, Shape::Mail | Shape::Phone) || it.asked.contains(&"address");
                ATTRIBUTES.iter().filter(is_one).any(|it| it.is_in(sentence))
            }
            Shape::Mail => sentence.pieces.iter().any(|piece| piece.kind == Kind::Email),
            Shape::Phone => {
                has(CALLING)
                    && !has(NUMBERED)
                    && canonical::numbers(&sentence.plain).iter().any(|(it, _)| it.may_be_called())
            }
        }
    }
}

/// Whether a text begins with what names an attribute: `phone 555-0101`, `work email: …`.
pub(super) fn is_label(text: &str) -> bool {
    let sentence = Sentence::of(super::text::Place::More, text);
    let is_known = |word: &Word| {
        ATTRIBUTES.iter().any(|it| it.asked.contains(&word.bare.as_str()) || it.said.contains(&word.bare.as_str()))
    };
    sentence.words.iter().take(2).any(is_known)
}

/// Whether a sentence says another attribute than those that are asked for.
pub(super) fn says_another(sentence: &Sentence<'_>, asked: &[Vec<Scope>]) -> bool {
    let is_asked = |it: &Attribute| {
        asked.iter().flatten().any(|scope| match scope {
            Scope::Attribute(own) => std::ptr::eq(*own, it) || own.said.iter().any(|word| it.says(word)),
            Scope::Word(_) => false,
        })
    };
    let asks_any = asked.iter().flatten().any(Scope::is_attribute);
    asks_any && ATTRIBUTES.iter().any(|it| it.is_telling && !is_asked(it) && it.is_in(sentence))
}
