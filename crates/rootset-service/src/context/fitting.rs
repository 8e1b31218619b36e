//! What is known of a conversation whose message list is fitted into a budget: its messages as hashes, the list that the
//! caller sent last, what was answered, and the decisions that are given again for equal lists.
//!
//! Pure: hashes and numbers, no text. A message has a number, its place in the conversation as a whole; both lists are
//! shapes over these numbers, because a message that left keeps its number.
//!
//! Invariants: a shape names numbers in rising order; a number that neither list names has left.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Decisions that are remembered: a caller repeats the last request or two, not one of an hour ago.
const DECISIONS_MAX: usize = 8;

/// The number of a message in its conversation.
pub type Number = u32;

/// A message: its hash, and its tokens as counted when it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known(pub u64, pub u32);

/// One entry of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    Message(Number),
    /// The line that stands where messages left.
    Gap,
}

/// A list, in runs: `[from, to)`, and an empty one for a gap.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Shape(Vec<(Number, Number)>);

impl Shape {
    pub fn push(&mut self, entry: Entry) {
        let Entry::Message(number) = entry else { return self.0.push((0, 0)) };
        match self.0.last_mut() {
            Some(run) if run.1 == number && run.0 < number => run.1 += 1,
            _ => self.0.push((number, number + 1)),
        }
    }

    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        self.0.iter().flat_map(|(from, to)| {
            let gap = (from == to).then_some(Entry::Gap);
            gap.into_iter().chain((*from..*to).map(Entry::Message))
        })
    }

    fn len(&self) -> usize {
        self.0.iter().map(|(from, to)| (to - from).max(1) as usize).sum()
    }

    /// The first so many entries.
    fn beginning(&self, count: usize) -> Self {
        let mut shape = Self::default();
        self.entries().take(count).for_each(|entry| shape.push(entry));
        shape
    }
}

/// What was answered to a list, so that it can be answered again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Of the list, the budget and the format.
    pub key: u64,
    /// The answer, over the places of the list.
    pub answer: Shape,
    pub tokens_before: u64,
    pub tokens_after: u64,
    pub first_changed: Option<usize>,
    /// What left with it: places of the list, and numbers.
    pub left: Vec<(usize, Number)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct History {
    pub messages: Vec<Known>,
    sent: Shape,
    answered: Shape,
    /// The last list did not fit and was returned whole.
    was_whole: bool,
    decisions: VecDeque<Decision>,
    /// Tokens of the last answer as counted here, to hold the provider's count against.
    answered_tokens: u64,
    /// How many more the provider counted for it. Most of that is its own words, so it is added and not multiplied: of a short
    /// list it would be a large share, and every request tells it anew.
    error_tokens: u64,
}

/// A provider counts its own words around the messages too, but not four times as many.
const ERROR_FACTOR_MAX: u64 = 3;

/// Where a list stands in a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Of the entries that are known, from the beginning; what follows is new.
    pub known: Vec<Entry>,
    /// Numbers from here on are no part of the conversation any more.
    pub ends_at: Number,
    pub is_diverged: bool,
}

impl History {
    /// What the provider counted for the last answer, or for a first list as it is. Fewer than here gives no room.
    pub fn observe(&mut self, observed: u64, tokens_before: u64) {
        let of = if self.answered_tokens > 0 { self.answered_tokens } else { tokens_before };
        self.error_tokens = observed.saturating_sub(of).min(of.saturating_mul(ERROR_FACTOR_MAX));
    }

    /// What the provider would count for so many tokens.
    pub fn as_observed(&self, tokens: u64) -> u64 {
        tokens.saturating_add(self.error_tokens)
    }

    /// Compares a list with the one that was sent last and with the last answer: the one it shares more with is meant.
    pub fn place(&self, hashes: &[u64], gap: u64) -> Placed {
        let shared = |shape: &Shape| shape.entries().zip(hashes).take_while(|it| self.hash(it.0, gap) == *it.1).count();
        // A list that holds all of one of them extends that one.
        let rank = |shape: &Shape| (shared(shape) == shape.len(), shared(shape));
        let base = if rank(&self.answered) > rank(&self.sent) { &self.answered } else { &self.sent };
        let count = shared(base);
        let known: Vec<Entry> = base.entries().take(count).collect();
        let is_diverged = count < base.len();
        let last = known.iter().rev().find_map(|entry| match entry {
            Entry::Message(number) => Some(*number + 1),
            Entry::Gap => None,
        });
        let ends_at = match base.entries().nth(count) {
            Some(Entry::Message(number)) if is_diverged => number,
            Some(Entry::Gap) if is_diverged => last.unwrap_or(0),
            _ => self.messages.len() as Number,
        };
        Placed { known, ends_at, is_diverged }
    }

    pub fn hash(&self, entry: Entry, gap: u64) -> u64 {
        match entry {
            Entry::Message(number) => self.messages[number as usize].0,
            Entry::Gap => gap,
        }
    }

    /// Which messages are out of the window, by number.
    pub fn is_out(&self) -> Vec<bool> {
        let mut is_out = vec![true; self.messages.len()];
        for entry in self.answered.entries() {
            if let Entry::Message(number) = entry {
                is_out[number as usize] = false;
            }
        }
        is_out
    }

    /// The last answer, as hashes.
    pub fn answered_hashes(&self, gap: u64) -> Vec<u64> {
        let answer = if self.was_whole { &self.sent } else { &self.answered };
        answer.entries().map(|entry| self.hash(entry, gap)).collect()
    }

    pub fn decision(&self, key: u64) -> Option<&Decision> {
        self.decisions.iter().find(|decision| decision.key == key)
    }

    /// Drops what is no part of the conversation any more.
    pub fn cut(&mut self, ends_at: Number) {
        let before = |shape: &Shape| {
            let count = shape.entries().take_while(|entry| !matches!(entry, Entry::Message(it) if *it >= ends_at));
            shape.beginning(count.count())
        };
        (self.sent, self.answered) = (before(&self.sent), before(&self.answered));
        self.messages.truncate(ends_at as usize);
    }

    /// Takes a list and what it was answered. A list that could not be fitted is no decision: what is out stays out.
    pub fn take(&mut self, sent: Shape, answered: Shape, tokens: u64, decision: Option<Decision>) {
        (self.sent, self.answered, self.answered_tokens) = (sent, answered, tokens);
        self.was_whole = decision.is_none();
        let Some(decision) = decision else { return };
        self.decisions.retain(|known| known.key != decision.key);
        self.decisions.push_back(decision);
        while self.decisions.len() > DECISIONS_MAX {
            self.decisions.pop_front();
        }
    }
}

/// The first place at which an answer is not the one before with something at its end.
pub fn first_changed(before: &[u64], after: &[u64]) -> Option<usize> {
    let shared = before.iter().zip(after).take_while(|(before, after)| before == after).count();
    (shared < before.len()).then_some(shared)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: u64 = 999;

    /// Ten messages, all sent; 2 to 4 have left.
    fn history() -> History {
        let messages = (0..10).map(|number| Known(number, 1)).collect();
        let shape = |entries: &[Entry]| {
            let mut shape = Shape::default();
            entries.iter().for_each(|entry| shape.push(*entry));
            shape
        };
        let all: Vec<Entry> = (0..10).map(Entry::Message).collect();
        let answered: Vec<Entry> =
            [0, 1].map(Entry::Message).into_iter().chain([Entry::Gap]).chain((5..10).map(Entry::Message)).collect();
        let mut history = History { messages, ..History::default() };
        let key = Decision { key: 1, ..Decision::default() };
        history.take(shape(&all), shape(&answered), 8, Some(key));
        history
    }

    #[test]
    fn a_shape_gives_back_its_entries() {
        let history = history();
        assert_eq!(history.answered_hashes(GAP), [0, 1, GAP, 5, 6, 7, 8, 9]);
        assert_eq!((history.answered.len(), history.sent.len()), (8, 10));
        assert_eq!(history.answered.beginning(4).entries().count(), 4);
        let kept: Shape = serde_json::from_str(&serde_json::to_string(&history.answered).unwrap()).unwrap();
        assert_eq!(kept, history.answered);
    }

    #[test]
    fn either_list_may_be_extended() {
        let history = history();
        let own: Vec<u64> = (0..12).collect();
        let placed = history.place(&own, GAP);
        assert_eq!((placed.known.len(), placed.ends_at, placed.is_diverged), (10, 10, false));
        let answer = [0, 1, GAP, 5, 6, 7, 8, 9, 10];
        let placed = history.place(&answer, GAP);
        assert_eq!((placed.known.len(), placed.ends_at, placed.is_diverged), (8, 10, false));
        assert_eq!(history.is_out().iter().filter(|it| **it).count(), 3);
    }

    #[test]
    fn a_list_that_differs_ends_the_conversation_there() {
        let mut history = history();
        let own = [0, 1, 2, 3, 77];
        let placed = history.place(&own, GAP);
        assert_eq!((placed.known.len(), placed.ends_at, placed.is_diverged), (4, 4, true));
        // A shorter list differs where it ends, and what left behind a gap goes with the gap.
        assert_eq!(history.place(&[0, 1, GAP, 5], GAP).ends_at, 6);
        let answer = history.place(&[0, 1, 77], GAP);
        assert!(answer.is_diverged && answer.ends_at == 2);
        history.cut(4);
        assert_eq!((history.messages.len(), history.is_out()), (4, vec![false, false, true, true]));
    }

    #[test]
    fn what_the_provider_counted_above_is_added() {
        let mut history = History { answered_tokens: 1_000, ..History::default() };
        history.observe(1_200, 5);
        assert_eq!([500, 1_000, 2_000].map(|tokens| history.as_observed(tokens)), [700, 1_200, 2_200]);
        history.observe(900, 5);
        assert_eq!(history.as_observed(1_000), 1_000);
        history.observe(u64::MAX, 5);
        assert_eq!(history.as_observed(1_000), 4_000);
    }

    #[test]
    fn the_first_change_is_where_the_last_answer_ends_to_be_the_beginning() {
        assert_eq!(first_changed(&[1, 2], &[1, 2, 3]), None);
        assert_eq!(first_changed(&[1, 2], &[1, 3]), Some(1));
        assert_eq!(first_changed(&[1, 2], &[1]), Some(1));
        assert_eq!(first_changed(&[], &[1]), None);
    }
}
