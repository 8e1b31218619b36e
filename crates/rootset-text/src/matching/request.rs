//! A request to forget, taken apart: alternatives, what each names, the other words, and what is to be kept.
//!
//! How it begins and ends says nothing (`please forget everything about … record`). A thing that is named suffices;
//! other words only narrow it down where they ask for one of its attributes. Not here: looking for any of it.

mod alternatives;
mod part;
mod point;
mod tokens;

use std::borrow::Cow;

use super::Probe;
use super::attributes::Scope;
use super::canonical::dates::Day;
use super::conjunction::Conjunction;
use super::noise::{asks_in_other_words, core, is_chained, is_role, says_all};
use super::text::Word;
use super::things::Thing;
use crate::chars::plain;
use crate::scan::scan;
use crate::secrets::MARK;
use alternatives::{alternatives, split_alternatives, split_kept};

/// A longer request is a text, of which every word has to be there.
const PIECES_MAX: usize = 100;

/// Words from a denial to what it denies: `don't want you to forget`.
const DENIED_WITHIN_WORDS: usize = 5;
const DENYING: &[&str] = &["don't", "dont", "never", "mustn't", "shouldn't"];
const FORGETTING: &[&str] = &["forget", "delete", "remove", "erase", "drop"];

#[derive(Clone, Debug)]
pub(super) struct Request {
    pub parts: Vec<Part>,
    pub kept: Vec<Part>,
    /// It holds a value that was taken out of it before it came here: in what is stored, other values look the same.
    pub is_redacted: bool,
}

/// One alternative.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// Any of them suffices, with the scope if there is one.
    pub heads: Vec<Thing>,
    /// What is asked for of the heads: all that one of the lists names. Where nothing is named, what the words ask for.
    pub scope: Vec<Vec<Scope>>,
    /// Where nothing is named: words that must all be there.
    pub words: Option<Conjunction>,
    /// The words one by one, for what is near.
    pub loose: Vec<String>,
    /// The same as words.
    plain_words: Vec<Word>,
    pub days: Vec<Day>,
    /// The noun whose name is looked for: `landlord` of `Viktor's landlord`, or of `my landlord`.
    pub noun: Option<String>,
    /// Where nothing is named: `my`, so that what is said to be somebody else's is not meant.
    pub is_mine: bool,
    /// The heads only lead to what is meant: `the project Alice leads`.
    pub chain: Option<Chain>,
    /// What it finds is only maybe meant.
    pub is_doubtful: bool,
    /// The scope is a part of the name: `the Kestrel migration`.
    pub is_compound: bool,
    /// A text led to it, not the request.
    pub is_led_to: bool,
}

/// How a request speaks of something by what it has to do with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chain {
    /// `the project Alice leads`: that, if one text says which.
    Clause,
    /// `Alice's project`: perhaps only what is said of it there.
    Possession,
    /// `everything about Viktor's landlord`: that person, if one text says who it is.
    Identity,
}

impl Request {
    pub(super) fn of(query: &str) -> Option<Self> {
        let plain = plain(query);
        // `my date of birth [redacted:date]`: what is named beside the value is enough.
        let beside = without_redacted(&plain);
        let is_named = beside.as_deref().and_then(Self::of).is_some_and(|request| request.says_of_whom());
        let plain = if is_named { beside.map_or(plain, Cow::Owned) } else { plain };
        let is_redacted = plain.contains(MARK);
        let whole = plain.to_string();
        let is_denied = denies(&whole);
        let plain = core(&plain);
        if scan(plain).len() > PIECES_MAX {
            let words = Conjunction::new(plain)?;
            return Some(Self {
                parts: vec![Part { words: Some(words), ..Part::nothing() }],
                kept: Vec::new(),
                is_redacted,
            });
        }
        let (asked, kept) = split_kept(plain);
        let mut parts: Vec<Part> = alternatives(asked);
        parts.iter_mut().for_each(|part| part.look_for_identity(says_all(&whole)));
        parts.retain(|part| !part.is_nothing());
        parts.iter_mut().for_each(|part| part.is_doubtful |= is_denied || part.asks_in_other_words());
        // More of what is kept takes less: each piece keeps what it says, too.
        let pieces = |kept: &&str| split_alternatives(kept).iter().map(|it| Part::of(it, false)).collect::<Vec<_>>();
        let pieces: Vec<Part> = kept.iter().flat_map(pieces).collect();
        let mut kept: Vec<Part> = kept.iter().flat_map(|kept| alternatives(kept)).chain(pieces).collect();
        kept.retain(|part| !part.is_nothing());
        (!parts.is_empty()).then_some(Self { parts, kept, is_redacted })
    }
}

/// `I don't want you to forget Alice, only her dog`: whatever else it asks for, nothing of it is certain.
fn denies(request: &str) -> bool {
    let request = request.to_lowercase().replace('’', "'");
    request.split([',', ';', ':', '.', '!', '?', '\n']).any(|run| {
        let words: Vec<&str> = run.split_whitespace().collect();
        let forgets = words.iter().position(|word| FORGETTING.contains(word));
        forgets.is_some_and(|at| {
            let before = &words[at.saturating_sub(DENIED_WITHIN_WORDS)..at];
            before.iter().any(|word| DENYING.contains(word)) || before.windows(2).any(|two| two == ["do", "not"])
        })
    })
}

impl Part {
    /// `Oublie l'adresse de Clothilde`: what is asked for of the name nobody can tell.
    fn asks_in_other_words(&self) -> bool {
        !self.heads.is_empty() && asks_in_other_words(self.plain_words.iter().map(|word| word.folded.as_str()))
    }
}

impl Request {
    /// Whether each part names something, or asks for an attribute of the speaker's own.
    fn says_of_whom(&self) -> bool {
        let asks = |part: &Part| part.is_mine && part.scope.iter().flatten().any(Scope::is_attribute);
        self.parts.iter().all(|part| !part.heads.is_empty() || asks(part))
    }
}

/// A request without the values that were taken out of it, if there are any.
fn without_redacted(plain: &str) -> Option<String> {
    let mut rest = plain.to_owned();
    while let Some(start) = rest.find(MARK) {
        let end = rest[start..].find(']').map_or(rest.len(), |end| start + end + 1);
        rest.replace_range(start..end, " ");
    }
    (rest.len() != plain.len()).then_some(rest)
}

impl Part {
    fn is_nothing(&self) -> bool {
        self.heads.is_empty() && self.words.is_none() && self.days.is_empty()
    }

    /// Everything about its heads is meant.
    pub(super) fn is_about_all(&self) -> bool {
        !self.heads.is_empty() && self.scope.is_empty() && self.days.is_empty()
    }

    /// Whether what goes on about what it finds is meant as well: not where one attribute is asked for.
    pub(super) fn goes_on(&self) -> bool {
        self.is_about_all()
            || ((self.is_compound || self.heads.is_empty()) && !self.scope.iter().flatten().any(Scope::is_attribute))
    }

    /// What a text says that the heads of another part lead to.
    pub(super) fn led_to(heads: Vec<Thing>, is_doubtful: bool) -> Self {
        Self { heads, is_doubtful, is_led_to: true, ..Self::nothing() }
    }

    /// Another name of what a part of the request names.
    pub(super) fn of_alias(head: Thing) -> Self {
        Self { heads: vec![head], ..Self::nothing() }
    }

    /// Its words that are numbers.
    pub(super) fn number_words(&self) -> impl Iterator<Item = &str> {
        let words = self.plain_words.iter().map(|word| word.bare.as_str());
        words.filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()))
    }

    /// Where a request asks for all about what somebody has, it may mean what another text calls that.
    fn look_for_identity(&mut self, says_all: bool) {
        if self.heads.is_empty() && (self.is_mine || self.loose.len() > 1) && self.days.is_empty() {
            let role = self.plain_words.iter().find(|word| is_role(&word.bare)).filter(|_| self.plain_words.len() == 1);
            self.noun = role.map(|word| word.bare.clone());
            let is_described = self.plain_words.iter().any(|word| is_chained(&word.bare)) && self.loose.len() > 1;
            self.chain = (self.noun.is_some() && self.is_mine && says_all || is_described).then_some(Chain::Identity);
        } else if self.chain == Some(Chain::Possession) && says_all && self.noun.is_some() {
            self.chain = Some(Chain::Identity);
        }
    }

    /// Nothing is named, and several words say what is meant.
    fn is_described(&self) -> bool {
        self.heads.is_empty() && self.days.is_empty() && self.loose.len() > 1
    }

    fn is_only_named(&self) -> bool {
        !self.heads.is_empty() && self.scope.is_empty() && self.days.is_empty()
    }

    fn nothing() -> Self {
        Self {
            heads: Vec::new(),
            scope: Vec::new(),
            words: None,
            loose: Vec::new(),
            plain_words: Vec::new(),
            days: Vec::new(),
            is_mine: false,
            noun: None,
            chain: None,
            is_doubtful: false,
            is_compound: false,
            is_led_to: false,
        }
    }

    /// Terms of the index for what matches; for what is near, too.
    pub(super) fn probes(&self, nearly: bool) -> Vec<Probe> {
        let mut probes: Vec<Probe> = self.heads.iter().flat_map(|head| head.probes(nearly)).collect();
        if self.heads.is_empty() {
            let words = self.words.iter().flat_map(|words| words.index_terms().iter().map(|term| vec![term.clone()]));
            probes.push(self.days.iter().flat_map(Day::probe).chain(words).collect());
        }
        if nearly {
            probes.extend(self.loose.iter().map(|stem| vec![vec![stem.clone()]]));
        }
        probes
    }
}
