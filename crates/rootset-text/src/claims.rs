//! What a sentence claims: a subject, how something is said of it, and a value; and whether a newer claim replaces an older.
//!
//! Found by form alone, like entities. A pair is told only where the subject and the attribute are the same and the values
//! are of one kind and differ; what may hold beside each other (another environment, a further value, a plan, a story of
//! the past) is no update. A pair that is missed costs little, one that is made up costs attention: in doubt, none. Not
//! here: which texts are compared, and what follows.

mod lexicon;
mod values;

use std::collections::BTreeSet;

use crate::chars::fold;
use crate::matching::stem_of;
use crate::scan::{Kind, scan};
use crate::sentences::sentences;
use crate::words::is_stop;
use lexicon::{Relation, is_marker, relation_of};
use values::{Value, ValueKind, read_values};

/// Longer sentences tell stories.
const WORDS_MAX: usize = 40;
/// A note without a verb is short.
const NOTE_WORDS_MAX: usize = 8;
/// Words before the verb. What begins later is a clause inside another.
const SUBJECT_WORDS_MAX: usize = 9;
/// Sentences of one text that are compared.
const CLAIMS_MAX: usize = 64;

/// What one sentence says.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The sentence, as a range of the text.
    pub start: usize,
    pub end: usize,
    /// Stems of who or what it is about.
    subject: BTreeSet<String>,
    /// Names among them.
    names: BTreeSet<String>,
    relation: Relation,
    /// Stems of what is said, without the values.
    said: BTreeSet<String>,
    values: Vec<Value>,
    /// It says so itself: `now`, `no longer`, `moved to`.
    is_change: bool,
    /// The environment, period or condition under which it holds.
    scope: BTreeSet<String>,
    is_doubtful: bool,
}

/// Two sentences of which the newer replaces the older.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// Bytes of the older text.
    pub old: (usize, usize),
    /// Bytes of the newer text.
    pub new: (usize, usize),
}

/// The claims of a text, in order.
pub fn claims(text: &str) -> Vec<Claim> {
    sentences(text).into_iter().filter_map(|range| Claim::of(text, range.start, range.end)).take(CLAIMS_MAX).collect()
}

/// The first claim of the newer text that replaces one of the older text.
pub fn update(old: &[Claim], new: &[Claim]) -> Option<Update> {
    new.iter().find_map(|newer| {
        let older = old.iter().find(|older| newer.replaces(older))?;
        Some(Update { old: (older.start, older.end), new: (newer.start, newer.end) })
    })
}

/// Terms of the full-text index by which older claims about the same are found: those of the subjects.
pub fn subject_terms(claims: &[Claim]) -> Vec<String> {
    let terms: BTreeSet<&String> = claims.iter().flat_map(|claim| claim.subject.iter().chain(&claim.names)).collect();
    terms.into_iter().cloned().collect()
}

impl Claim {
    fn of(text: &str, start: usize, end: usize) -> Option<Self> {
        let sentence = &text[start..end];
        if sentence.ends_with(['?', '!']) || sentence.starts_with('[') || sentence.contains('\n') {
            return None;
        }
        let pieces = scan(sentence);
        if pieces.len() < 3 || pieces.len() > WORDS_MAX {
            return None;
        }
        let words: Vec<String> = pieces.iter().map(|piece| fold(piece.of(sentence))).collect();
        let values = read_values(sentence, &pieces, &words);
        let verb =
            words.iter().enumerate().skip(1).find_map(|(place, word)| Some((place, relation_of(&words, place, word)?)));
        let first_value = values.iter().map(|value| value.from).filter(|from| *from > 0).min();
        let (place, relation) = match (verb, first_value) {
            (Some((place, relation)), _) => (place, relation),
            // `Test coverage 65 %`, `Deploys: Monday at 10`.
            (None, Some(place)) if words.len() <= NOTE_WORDS_MAX => (place, Relation::Be),
            (None, _) => return None,
        };
        if place > SUBJECT_WORDS_MAX || words[..place].iter().any(|word| lexicon::is_pronoun(word)) {
            return None;
        }
        let mut claimed: Vec<Value> =
            values.iter().filter(|value| value.from >= place || verb.is_none()).cloned().collect();
        let told = claimed.clone();
        let is_value = |index: usize| told.iter().any(|value| (value.from..value.to).contains(&index));
        let content = |range: std::ops::Range<usize>| {
            let kept = range.filter(|index| !is_value(*index));
            let words = kept.map(|index| words[index].as_str()).filter(|word| !is_stop(word) && !is_marker(word));
            let words =
                words.filter(|word| relation_of(&[(*word).to_owned()], 0, word).is_none() && !lexicon::is_filler(word));
            words.map(stem_of).collect::<BTreeSet<String>>()
        };
        let mut subject = content(0..place);
        // A number in the subject tells it from others: `sprint 12`.
        subject.extend(
            (0..place)
                .filter(|index| words[*index].bytes().any(|byte| byte.is_ascii_digit()))
                .map(|index| words[index].clone()),
        );
        let mut said = content(place..words.len());
        let is_name = |index: &usize| {
            let written = pieces[*index].of(sentence);
            matches!(pieces[*index].kind, Kind::Word | Kind::Camel)
                && written.starts_with(char::is_uppercase)
                && !is_stop(&words[*index])
                && !lexicon::is_ordinary(&words[*index])
                && (*index > 0 || lexicon::acts_as_subject(&words, *index))
        };
        let mut names: BTreeSet<String> = (0..place).filter(is_name).map(|index| stem_of(&words[index])).collect();
        let mut relation = relation;
        if relation == Relation::Own {
            // `Bob owns billing` says of billing that Bob does.
            let owner: Vec<usize> = (0..place).filter(is_name).collect();
            if let (Some(from), Some(to)) = (owner.first(), owner.last())
                && !words[place].ends_with("ed")
            {
                claimed = vec![Value::name(sentence, &pieces, *from, to + 1)];
                subject = content(place..words.len());
                subject.extend((place..words.len()).filter(is_name).map(|index| stem_of(&words[index])));
                (names, said) = (BTreeSet::new(), BTreeSet::new());
            }
        } else if relation == Relation::Be && subject.iter().any(|stem| lexicon::is_owner(stem)) {
            relation = Relation::Own;
            subject.retain(|stem| !lexicon::is_owner(stem));
            names.clear();
        }
        let scope = words.iter().filter(|word| lexicon::is_scope(word)).cloned().collect();
        let is_change = words.iter().any(|word| is_marker(word)) || relation == Relation::Change;
        let is_doubtful = words.iter().enumerate().any(|(place, word)| lexicon::is_doubtful(&words, place, word))
            || lexicon::tells_history(&words);
        let has_subject = !subject.is_empty() || !names.is_empty();
        (!claimed.is_empty() && has_subject).then_some(Self {
            start,
            end,
            subject,
            names,
            relation,
            said,
            values: claimed,
            is_change,
            scope,
            is_doubtful,
        })
    }

    fn replaces(&self, old: &Self) -> bool {
        if self.is_doubtful || old.is_doubtful || self.scope != old.scope || !self.is_about_the_same(old) {
            return false;
        }
        let mut differs = false;
        for kind in ValueKind::ALL {
            let of =
                |claim: &Self| claim.values.iter().filter(|value| value.kind == kind).cloned().collect::<Vec<Value>>();
            let (mine, theirs) = (of(self), of(old));
            if mine.is_empty() || theirs.is_empty() {
                continue;
            }
            let comparable = |a: &Value, b: &Value| a.key == b.key || a.key.is_none() || b.key.is_none();
            let pairs: Vec<(&Value, &Value)> = mine
                .iter()
                .flat_map(|a| theirs.iter().map(move |b| (a, b)))
                .filter(|(a, b)| comparable(a, b))
                .collect();
            let is_other = !pairs.is_empty() && pairs.iter().all(|(a, b)| a.written != b.written);
            differs |= is_other && self.may_differ(old, kind);
        }
        differs
    }

    /// Whether two values of this kind cannot both hold, by how they are said.
    fn may_differ(&self, old: &Self, kind: ValueKind) -> bool {
        let same_words = self.said.intersection(&old.said).count() > 0 || self.said.is_empty() || old.said.is_empty();
        let is_related = self.relation.goes_with(old.relation);
        match kind {
            ValueKind::Name => {
                let is_single = self.relation.is_single() && self.relation.goes_with(old.relation);
                is_related
                    && (is_single
                        || (self.is_change && old.relation != Relation::Change && self.relation.changes(old.relation)))
            }
            ValueKind::State(_) => is_related,
            ValueKind::Mail | ValueKind::Address => is_related,
            ValueKind::Number | ValueKind::Version | ValueKind::Day | ValueKind::Time => {
                is_related && (same_words || self.is_change)
            }
        }
    }

    fn is_about_the_same(&self, old: &Self) -> bool {
        if !self.names.is_empty() && !old.names.is_empty() && self.names.is_disjoint(&old.names) {
            return false;
        }
        let (mine, theirs) = (&self.subject, &old.subject);
        let shared = mine.intersection(theirs).count();
        // Each says something of the subject that the other does not: two attributes.
        let both_differ = mine.difference(theirs).next().is_some() && theirs.difference(mine).next().is_some();
        shared > 0
            && !both_differ
            && !mine.union(theirs).any(|stem| {
                stem.bytes().all(|byte| byte.is_ascii_digit()) && !(mine.contains(stem) && theirs.contains(stem))
            })
    }
}

#[cfg(test)]
mod tests;
