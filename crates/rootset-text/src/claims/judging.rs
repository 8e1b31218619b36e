//! Whether one claim replaces another.

use std::collections::{BTreeMap, BTreeSet};

use super::Claim;
use super::apart;
use super::lexicon::{self, Attribute, Change};
use super::states;
use super::values::{Value, ValueKind};
use crate::matching::stem_of;

/// How much two sentences have to share, by what the newer one says of a change.
const SHARED_WITHOUT_CHANGE: f64 = 1.2;
const SHARED_WITH_WEAK: f64 = 0.95;
const SHARED_WITH_STRONG: f64 = 0.62;
/// What they have to share in addition where the value is of no kind of its own.
const SHARED_FOR_DOUBT: f64 = 1.3;
/// Weight of the share of words, and of their number.
const BY_SHARE: f64 = 0.9;
const BY_NUMBER: f64 = 0.9;
/// Of two words that both say beside each other: `data team`.
const PAIR: f64 = 0.5;
/// More shared words say no more.
const WORDS_ENOUGH: f64 = 2.5;
/// Words that begin alike are the same: `Nigeria` and `Nigerian`.
const ALIKE_BYTES_MIN: usize = 5;
const ALIKE: f64 = 0.8;

/// In how many of the compared texts a word occurs.
pub(super) struct Rarity {
    texts: f64,
    held_by: BTreeMap<String, f64>,
}

/// Fewer texts than these say nothing of how rare a word is.
const TEXTS_MIN: f64 = 16.0;

impl Rarity {
    pub(super) fn among<T: AsRef<[Claim]>>(texts: &[T]) -> Self {
        let mut held_by: BTreeMap<String, f64> = BTreeMap::new();
        for text in texts {
            let stems: BTreeSet<&String> = text.as_ref().iter().flat_map(|claim| claim.topic.keys()).collect();
            for stem in stems {
                *held_by.entry(stem.clone()).or_default() += 1.0;
            }
        }
        Self { texts: texts.len() as f64, held_by }
    }

    /// 1 for a word of one text, less for a word that every second one holds.
    fn of(&self, stem: &str) -> f64 {
        if self.texts < TEXTS_MIN {
            return 1.0;
        }
        let share = self.held_by.get(stem).copied().unwrap_or(0.0) / self.texts;
        (1.25 - share).clamp(0.25, 1.0)
    }
}

impl Claim {
    /// How sure it is that this claim replaces the older one; `None` if it does not.
    pub(super) fn replaces(&self, old: &Self, rarity: &Rarity, chances: f64) -> Option<f64> {
        if self.words == old.words || self.is_log_entry && old.is_log_entry || self.tells_of_another_former(old) {
            return None;
        }
        let (shared, leaves) = self.shared(old, rarity)?;
        let leaves_both = leaves == (true, true);
        if shared < SHARED_WITH_STRONG
            || self.is_doubtful
            || old.is_history
            || self.is_history && self.former.is_empty()
        {
            return None;
        }
        let (differs, is_address) = self.differs(old, leaves)?;
        let wanted = match self.change {
            Change::Strong => SHARED_WITH_STRONG,
            Change::Weak => SHARED_WITH_WEAK,
            Change::None if leaves_both && !is_address => return None,
            Change::None => SHARED_WITHOUT_CHANGE,
        };
        let wanted = if is_address { wanted.min(SHARED_WITH_STRONG) } else { wanted }
            + SHARED_FOR_DOUBT * (1.0 - differs)
            + chances;
        (shared >= wanted && !self.is_apart(old)).then_some(shared - wanted)
    }

    /// Whether something says that the two are about different things, times or attributes.
    fn is_apart(&self, old: &Self) -> bool {
        let is_scoped_apart = if self.change == Change::Strong {
            !self.scope.is_empty() && !old.scope.is_empty() && self.scope != old.scope
        } else {
            self.scope != old.scope
        };
        let is_other_year = !self.years.is_empty()
            && !old.years.is_empty()
            && self.years.is_disjoint(&old.years)
            && self.change != Change::Strong;
        let number_in = |claim: &Self, of: &str| {
            let value = || claim.values.iter().find(|value| value.is_label && value.key.as_deref() == Some(of));
            claim.numbered.get(of).cloned().or_else(|| value().map(|value| value.written.clone()))
        };
        let is_other_number =
            self.numbered.iter().any(|(of, number)| number_in(old, of).is_some_and(|other| other != *number));
        // `412 kWh in May`, `455 kWh in June`
        let months = |claim: &Self| -> BTreeSet<String> {
            let of_month = |value: &&Value| value.kind == ValueKind::Date && value.written.len() == 2;
            claim.values.iter().filter(of_month).map(|value| value.written.clone()).collect()
        };
        let (mine, theirs) = (months(self), months(old));
        let is_other_month = self.change != Change::Strong
            && !mine.is_empty()
            && !theirs.is_empty()
            && mine.is_disjoint(&theirs)
            && (self.has_number() || old.has_number());
        // `tabs in Go`, `spaces in Python`
        let circumstances = |claim: &Self| -> BTreeSet<String> {
            let is_led = |value: &&Value| {
                value.from > 0
                    && value.kind == ValueKind::Name
                    && matches!(claim.words[value.from - 1].as_str(), "in" | "for" | "on")
            };
            claim.values.iter().filter(is_led).map(|value| value.written.clone()).collect()
        };
        let (mine, theirs) = (circumstances(self), circumstances(old));
        let is_state = |value: &Value| matches!(value.kind, ValueKind::State(_) | ValueKind::Number);
        let is_elsewhere = self.change != Change::Strong
            && !mine.is_empty()
            && !theirs.is_empty()
            && mine.is_disjoint(&theirs)
            && self.values.iter().any(is_state)
            && old.values.iter().any(is_state);
        let is_one_of_several = self.is_one_of_several && old.is_one_of_several && self.change != Change::Strong;
        let is_other_name = self
            .full_names
            .iter()
            .any(|mine| old.full_names.iter().any(|theirs| mine[0] == theirs[0] && mine[1] != theirs[1]))
            && self.former.is_empty();
        is_scoped_apart
            || is_other_year
            || is_other_number
            || is_other_name
            || is_other_month
            || is_one_of_several
            || is_elsewhere
            || apart::are_told_apart(&self.words, &old.words, self.change == Change::Strong)
            || self.is_of_another_subject(old)
            || self.has_other_modifiers(old)
            || apart::speak_apart(&self.words, &old.words)
    }

    /// `bumped from 1.2 to 1.3` is no news of what was at 3.4 before.
    fn tells_of_another_former(&self, old: &Self) -> bool {
        let is_version =
            |written: &String| written.contains('.') && written.starts_with(|c: char| c.is_ascii_digit() || c == 'v');
        let mut former = self.former.iter().filter(|it| is_version(it)).peekable();
        let mut told = old.values.iter().map(|value| &value.written).filter(|it| is_version(it)).peekable();
        former.peek().is_some()
            && told.peek().is_some()
            && !told.any(|it| self.former.contains(it))
            && old.change > Change::None
    }

    fn has_number(&self) -> bool {
        !self.numbered.is_empty() || self.values.iter().any(|value| value.kind == ValueKind::Number)
    }

    /// Somebody's taste, of which one takes the place of another where something says that it changed.
    fn tells_taste(&self) -> bool {
        let before = |place: usize| place.checked_sub(1).map_or("", |at| self.words[at].as_str());
        // `options like coconut milk` tells nobody's taste.
        let likes = |place: usize| match self.words[place].as_str() {
            "likes" | "love" | "loves" | "enjoys" => true,
            "like" => matches!(before(place), "i" | "longer" | "not" | "really" | "t" | "they" | "we" | "you"),
            _ => false,
        };
        self.attributes.contains(&Attribute::Taste) || (0..self.words.len()).any(likes)
    }

    fn is_of_another_subject(&self, old: &Self) -> bool {
        let is_role = self.attributes.contains(&Attribute::Role) || old.attributes.contains(&Attribute::Role);
        !self.subject_names.is_empty()
            && !old.subject_names.is_empty()
            && !is_role
            && !self
                .subject_names
                .iter()
                .any(|name| old.topic.contains_key(name) || old.subject_names.iter().any(|other| is_alike(name, other)))
            && !old.subject_names.iter().any(|name| self.topic.contains_key(name) || self.former.contains(name))
    }

    /// `billing service` and `search service`, `owner of the wiki` and `owner of the blog`, `Anna's flight` and `Anna's train`.
    fn has_other_modifiers(&self, old: &Self) -> bool {
        let is_known = |claim: &Self, stem: &String| claim.topic.contains_key(stem) || claim.former.contains(stem);
        // `the Neptune room`, `window seats`: what changed stands in front of its noun.
        let is_taste = self.change == Change::Strong && self.tells_taste() && old.tells_taste();
        let is_name = |claim: &Self, stem: &String| {
            let is_it = |word: &str| stem_of(word) == *stem;
            claim.values.iter().any(|it| it.kind == ValueKind::Name && it.written.split(' ').any(is_it))
        };
        let is_renamed = |mine: &BTreeSet<String>, theirs: &BTreeSet<String>| {
            self.change == Change::Strong
                && self.attributes.contains(&Attribute::Place)
                && mine.iter().all(|stem| is_name(self, stem))
                && theirs.iter().all(|stem| is_name(old, stem))
        };
        let differ = |mine: &BTreeMap<String, BTreeSet<String>>, theirs: &BTreeMap<String, BTreeSet<String>>| {
            mine.iter().any(|(head, mine)| {
                theirs.get(head).is_some_and(|theirs| {
                    mine.is_disjoint(theirs)
                        && !is_taste
                        && !is_renamed(mine, theirs)
                        && !mine.iter().any(|stem| is_known(old, stem))
                        && !theirs.iter().any(|stem| is_known(self, stem))
                })
            })
        };
        differ(&self.modifiers, &old.modifiers)
            || differ(&self.complements, &old.complements)
            || differ(&self.owned, &old.owned)
    }

    /// How certain it is that the values exclude each other, from 0 to 1, and whether they are addresses.
    fn differs(&self, old: &Self, leaves: (bool, bool)) -> Option<(f64, bool)> {
        let leaves_both = leaves == (true, true);
        let is_former =
            |stem: &String| old.topic.contains_key(stem) || old.values.iter().any(|value| value.written == *stem);
        let mut best: f64 = if self.former.iter().any(is_former) { 1.0 } else { 0.0 };
        let mut is_address = false;
        for kind in ValueKind::all() {
            let of =
                |claim: &Self| claim.values.iter().filter(|value| value.kind == kind).cloned().collect::<Vec<Value>>();
            let (mine, theirs) = (of(self), of(old));
            let is_habit = matches!(kind, ValueKind::State(group) if states::may_both_hold(group));
            let wants_change =
                is_habit && self.change == Change::None || kind == ValueKind::Is && self.change < Change::Strong;
            if mine.is_empty() || theirs.is_empty() || wants_change {
                continue;
            }
            let differs = if kind == ValueKind::Name {
                self.differs_in_name(old, &mine, &theirs)
            } else {
                self.differs_in(old, &mine, &theirs)
            };
            is_address |= differs > 0.9 && matches!(kind, ValueKind::Mail | ValueKind::Address);
            best = best.max(differs);
        }
        let both = |attribute| self.attributes.contains(&attribute) && old.attributes.contains(&attribute);
        let has_new_name = || {
            let is_known = |value: &Value| value.written.split(' ').all(|word| old.words.iter().any(|it| it == word));
            self.values.iter().any(|value| value.kind == ValueKind::Name && !is_known(value))
        };
        let says_another_place = leaves_both || (leaves.1 && self.change == Change::Strong && has_new_name());
        if says_another_place && self.change > Change::None && both(Attribute::Place) {
            best = best.max(0.8);
        }
        let is_taste = self.tells_taste() && old.tells_taste();
        if leaves.1 && self.change == Change::Strong && is_taste {
            best = best.max(0.8);
        }
        if self.change == Change::Strong {
            best = best.max(if self.is_end {
                0.7
            } else if leaves_both {
                0.3
            } else {
                0.0
            });
        }
        (best > 0.0).then_some((best, is_address))
    }

    /// How certain it is that values of one kind exclude each other: of one key, none of the one is among the other's.
    fn differs_in(&self, old: &Self, mine: &[Value], theirs: &[Value]) -> f64 {
        let speaks_of = |claim: &Self, of: &Option<String>| of.as_ref().is_none_or(|of| claim.topic.contains_key(of));
        let mut best: f64 = 0.0;
        for a in mine {
            let comparable = |b: &&Value| {
                (a.key == b.key || a.key.is_none() || b.key.is_none())
                    && speaks_of(old, &a.of)
                    && speaks_of(self, &b.of)
            };
            let others: Vec<&Value> = theirs.iter().filter(comparable).collect();
            let is_kept = others.iter().any(|b| mine.iter().any(|it| it.key == b.key && it.written == b.written));
            if !others.is_empty() && !is_kept && !others.iter().any(|b| a.written == b.written) {
                best = best.max(if others.iter().any(|b| a.key == b.key) { 1.0 } else { 0.85 });
            }
        }
        best
    }

    fn differs_in_name(&self, old: &Self, mine: &[Value], theirs: &[Value]) -> f64 {
        let is_new =
            |value: &Value, claim: &Self| !value.written.split(' ').all(|word| claim.words.iter().any(|it| it == word));
        // `Klara has left, Benedikt does it`: the older name is there, and leaves.
        let leaves =
            old.attributes.contains(&Attribute::Role) && self.words.iter().any(|word| lexicon::tells_departure(word));
        // `The Platform team is called Foundations`: the older name may still say which thing it is.
        let is_title = |claim: &Self| claim.attributes.contains(&Attribute::Title);
        let leaves = leaves || is_title(self) && is_title(old) && self.change == Change::Strong;
        let has_other = mine.iter().any(|value| is_new(value, old))
            && theirs
                .iter()
                .any(|value| is_new(value, self) || (leaves && mine.iter().any(|it| it.written == value.written)));
        if !has_other {
            return 0.0;
        }
        let several = |claim: &Self| claim.attributes.contains(&Attribute::Several);
        if several(self) && several(old) {
            return 0.0;
        }
        let known = |claim: &Self| {
            claim.attributes.iter().copied().filter(|it| *it != Attribute::Several).collect::<BTreeSet<_>>()
        };
        let (mine, theirs) = (known(self), known(old));
        let both: BTreeSet<Attribute> = mine.intersection(&theirs).copied().collect();
        if both.iter().any(|attribute| attribute.is_single()) {
            0.9
        } else if (!both.is_empty() && self.change > Change::None)
            || (self.change == Change::Strong && (mine.is_empty() || theirs.is_empty()))
        {
            0.8
        } else {
            0.0
        }
    }

    /// What the two share, and whether this one, and the older one, says something of the topic that the other does not.
    fn shared(&self, old: &Self, rarity: &Rarity) -> Option<(f64, (bool, bool))> {
        let weigh = |stem: &String, weight: f64| weight * rarity.of(stem);
        let is_value = |claim: &Self, stem: &str| {
            claim.values.iter().any(|value| {
                value.written.split(' ').any(|word| word == stem || crate::matching::stem_of(word) == stem)
            })
        };
        let (mut shared, mut mine, mut theirs) = (0.0, 0.0, 0.0);
        let (mut left_mine, mut left_theirs) = (false, false);
        for (stem, weight) in &self.topic {
            let weight = weigh(stem, *weight);
            let alike = match old.topic.get(stem) {
                Some(other) => Some(weight.max(weigh(stem, *other))),
                None => old.topic.keys().find(|other| is_alike(stem, other)).map(|_| weight * ALIKE),
            };
            match alike {
                Some(alike) => {
                    shared += alike;
                    mine += alike;
                }
                None if !is_value(self, stem) => {
                    mine += weight;
                    left_mine |= weight > 0.5;
                }
                None => {}
            }
        }
        for (stem, weight) in &old.topic {
            let weight = weigh(stem, *weight);
            if self.topic.contains_key(stem) || self.topic.keys().any(|other| is_alike(stem, other)) {
                theirs += weight;
            } else if !is_value(old, stem) {
                theirs += weight;
                left_theirs |= weight > 0.5;
            }
        }
        if shared <= 0.0 {
            return None;
        }
        let is_pair = |(head, mine): (&String, &BTreeSet<String>)| {
            old.modifiers.get(head).is_some_and(|theirs| !mine.is_disjoint(theirs))
        };
        if self.modifiers.iter().any(is_pair) {
            shared += PAIR;
            mine += PAIR;
            theirs += PAIR;
        }
        let share = (2.0 * shared / (mine + theirs).max(0.1)).min(1.0);
        Some((BY_SHARE * share + BY_NUMBER * (shared.min(WORDS_ENOUGH) / WORDS_ENOUGH), (left_mine, left_theirs)))
    }
}

fn is_alike(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    short.len() >= ALIKE_BYTES_MIN && long.starts_with(short) && long.len() - short.len() <= 3
}
