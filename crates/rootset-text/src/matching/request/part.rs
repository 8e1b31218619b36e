//! One alternative of a request: what it names, and what it asks for of that.
//!
//! Not here: dividing a request into alternatives ([`super::alternatives`]), and its words ([`super::tokens`]).

use std::ops::Range;

use super::point::{end, is_wrapped, point};
use super::tokens::{Token, tokens};
use super::{Chain, Part};
use crate::chars::{fold, is_apostrophe, is_lone};
use crate::matching::attributes::Scope;
use crate::matching::canonical;
use crate::matching::canonical::dates;
use crate::matching::conjunction::{Conjunction, quotations};
use crate::matching::names::Name;
use crate::matching::noise::{
    is_chained, is_describing, is_leader, is_leading, is_occasion, is_role, is_small_leader, is_turning,
};
use crate::matching::text::{Place, Sentence, Word};
use crate::matching::things::{Thing, stem_of};
use crate::matching::verbs::is_verb;
use crate::matching::wrapping::{is_becoming, is_detour, is_keeper, is_told, is_wrapping};
use crate::words::{is_starter, is_stop};

impl Part {
    /// `begins`: whether the request begins with it, so that a capital may be that of the first word.
    pub(super) fn of(text: &str, begins: bool) -> Self {
        let sentence = Sentence::of(Place::More, text);
        let plain = &sentence.plain;
        let quoted = quotations(plain);
        let unquoted = quoted.first().map_or(plain.len(), |first| first.start);
        let leading = &sentence.pieces[..sentence.pieces.partition_point(|piece| piece.end <= unquoted)];
        let from = point(plain, leading);
        let is_wrapped = is_wrapped(plain, leading);
        let to = end(plain, &sentence.pieces, from, is_wrapped);
        let is_clause = from > 0
            && matches!(
                fold(sentence.pieces[from - 1].of(plain)).as_str(),
                "that" | "how" | "where" | "when" | "what" | "who" | "why" | "whether"
            );
        let pieces = &sentence.pieces[from..to];
        let Some((first, last)) = pieces.first().zip(pieces.last()) else { return Self::nothing() };
        let is_first = begins && from == 0;
        let tokens = tokens(&sentence, pieces, &quoted, is_first);
        let rest = &plain[first.start..quoted.last().map_or(last.end, |it| it.end.max(last.end))];
        let before = from.checked_sub(1).map(|before| fold(sentence.pieces[before].of(plain)));
        let is_of_speaker = |it: &str| matches!(it, "my" | "our");
        let is_mine = before.is_some_and(|it| is_of_speaker(&it)) || is_of_speaker(&fold(first.of(plain)));
        Self { is_mine, ..Self::from_tokens(&sentence, &tokens, rest, is_clause, is_wrapped) }
    }

    /// A part of one word in small letters, as the name that it may be.
    pub(super) fn as_small_name(&self) -> Option<Self> {
        let [word] = &self.plain_words[..] else { return None };
        (self.heads.is_empty() && self.days.is_empty()).then(|| Self {
            heads: vec![Thing::Name(Name {
                is_of_thing: true,
                is_small: true,
                ..Name::of_request(vec![word.clone()])
            })],
            words: None,
            scope: Vec::new(),
            ..self.clone()
        })
    }

    fn from_tokens(sentence: &Sentence<'_>, tokens: &[Token], rest: &str, is_clause: bool, is_wrapped: bool) -> Self {
        let plain = &sentence.plain;
        let mut part = Self::nothing();
        let content = |range: &Range<usize>| {
            let folded = fold(&plain[range.clone()]);
            (!is_stop(&folded) && !is_turning(&folded)).then_some(folded)
        };
        let ranges: Vec<&Range<usize>> = tokens
            .iter()
            .filter_map(|token| match token {
                Token::Word(range) => content(range).map(|_| range),
                _ => None,
            })
            .collect();
        let words: Vec<String> = ranges.iter().map(|range| fold(&plain[(*range).clone()])).collect();
        part.loose = words.iter().map(|word| stem_of(word)).collect();
        part.plain_words = ranges.iter().map(|range| Word::of_request(plain, range)).collect();
        let quoted: Vec<Thing> = tokens
            .iter()
            .filter_map(|token| if let Token::Quoted(it) = token { Some(it.clone()) } else { None })
            .collect();
        let days = tokens.iter().filter_map(|token| if let Token::Day(day) = token { Some(*day) } else { None });
        part.days = days.collect();
        if !quoted.is_empty() {
            part.heads = quoted;
            part.days.clear();
            return part;
        }
        // A name of a kind, such as `IPv6`, only tells more of an identifier beside it.
        let is_plain = |token: &Token| match token {
            Token::Thing(Thing::Exact(_, written), _) => !written.chars().all(char::is_alphanumeric),
            Token::Thing(..) => true,
            _ => false,
        };
        let thing = tokens.iter().position(is_plain);
        let thing = thing.or_else(|| tokens.iter().position(|token| matches!(token, Token::Thing(..))));
        if let Some(place) = thing {
            part.heads = beside(tokens, place, plain);
            let codes = part.heads.iter().filter_map(|head| match head {
                Thing::Exact(_, written) => canonical::code(written).map(Thing::Code),
                _ => None,
            });
            let codes: Vec<Thing> = codes.collect();
            part.heads.extend(codes);
            part.days.clear();
            return part;
        }
        if let Some(place) = tokens.iter().position(|token| matches!(token, Token::Name(..))) {
            part.take_name(tokens, place, plain, is_clause, is_wrapped, content);
            return part;
        }
        if let Some(name) = small_name(plain, tokens) {
            part.heads = vec![Thing::Name(name)];
            return part;
        }
        let literal = without_days(rest);
        let words: Vec<String> = words.into_iter().filter(|it| part.days.is_empty() || !is_occasion(it)).collect();
        part.scope = vec![Scope::all_of(&words)];
        part.words = if words.is_empty() && !part.days.is_empty() { None } else { Conjunction::new(&literal) };
        part
    }

    fn take_name(
        &mut self,
        tokens: &[Token],
        place: usize,
        plain: &str,
        is_clause: bool,
        is_wrapped: bool,
        content: impl Fn(&Range<usize>) -> Option<String>,
    ) {
        // `Alice's project Falcon` is Falcon.
        let place = match &tokens[place..] {
            [Token::Name(_, owner), Token::Word(noun), Token::Name(_, named)]
                if plain[owner.end..].starts_with(is_apostrophe)
                    && is_leader(&fold(&plain[noun.clone()]))
                    && plain[noun.end..named.start].trim().is_empty() =>
            {
                place + 2
            }
            _ => place,
        };
        let mut behind = place + 1;
        // Names side by side are the same in two scripts.
        while let Some(Token::Name(..)) = tokens.get(behind) {
            behind += 1;
        }
        let names = tokens[place..behind].iter().filter_map(|token| match token {
            Token::Name(name, range) => Some((name.clone(), range.clone())),
            _ => None,
        });
        let names: Vec<(Name, Range<usize>)> = names.collect();
        let ends_at = names.last().map_or(0, |(_, range)| range.end);
        let is_possessive = {
            let mut after = plain[ends_at..].chars();
            after.next().is_some_and(is_apostrophe) && after.next().is_none_or(|c| c == 's' || c == ' ')
        };
        let own: Vec<String> =
            names.iter().flat_map(|(name, _)| name.words.iter().map(|word| word.bare.clone())).collect();
        self.heads = names.into_iter().map(|(name, _)| Thing::of_name(name, plain)).collect();
        let word = |token: &Token| match token {
            Token::Word(range) => Some(range.clone()),
            _ => None,
        };
        // `make sure that nothing about Alice is stored in your notes`; but what `Alice's notes` says is asked for, and in a
        // short request every word counts.
        let wraps = |word: &String| match (is_possessive, is_wrapped) {
            (false, true) => is_wrapping(word) || is_detour(word) || is_keeper(word) || is_told(word),
            _ => is_becoming(word),
        };
        // What several words ask for, in lists where `and` or `or` stands between them.
        let others = |tokens: &[Token]| {
            let mut lists: Vec<Vec<String>> = vec![Vec::new()];
            for (at, token) in tokens.iter().enumerate() {
                let next = tokens.get(at + 1).and_then(word).map(|range| fold(&plain[range]));
                // `account number`, and `account Falcon`.
                let tells_which = next.is_some_and(|next| matches!(next.as_str(), "number" | "numbers" | "id" | "ids"));
                let found: Vec<String> = match token {
                    Token::Word(range) if matches!(&plain[range.clone()], "and" | "or") => {
                        lists.push(Vec::new());
                        continue;
                    }
                    Token::Word(range) => content(range).into_iter().collect(),
                    Token::Name(name, _) => name.words.iter().map(|it| it.bare.clone()).collect(),
                    _ => Vec::new(),
                };
                // The name again says nothing more of it.
                let says = |word: &String| {
                    (tells_which || !is_leader(word)) && !is_leading(word) && !wraps(word) && !own.contains(word)
                };
                let found = found.into_iter().filter(says);
                lists.last_mut().into_iter().for_each(|list| list.extend(found.clone()));
            }
            lists.retain(|list| !list.is_empty());
            lists
        };
        let before = &tokens[..place];
        let before_says = |lists: Vec<Vec<String>>| -> Vec<Vec<String>> {
            let without = |list: Vec<String>| list.into_iter().filter(|word| !is_told(word)).collect::<Vec<_>>();
            lists.into_iter().map(without).filter(|list| !list.is_empty()).collect()
        };
        let folded_at = |token: &Token| word(token).map(|range| fold(&plain[range]));
        let led = before.iter().rev().filter_map(folded_at).find(|it| !is_article(it) && !is_leader(it));
        let is_turned = led.as_deref().is_some_and(is_turning);
        let after = &tokens[behind..];
        let first_after = after.first().and_then(folded_at);
        // `Alice and her handle`: all of it, and that as well.
        let second_after = after.get(1).and_then(folded_at);
        let is_with_own = first_after.as_deref() == Some("and")
            && matches!(second_after.as_deref(), Some("her" | "his" | "its" | "their"));
        let is_describing = is_with_own
            || first_after.as_deref().is_some_and(is_describing)
            || plain[ends_at..].trim_start().starts_with([',', '(', ':']);
        let noun = before.iter().rev().filter_map(folded_at).find(|it| !is_article(it)).filter(|it| is_chained(it));
        let is_chain =
            noun.is_some() && !is_possessive && first_after.as_deref().is_some_and(|it| is_verb(it, Some("name")));
        let mut scope: Vec<Vec<String>> = Vec::new();
        if is_turned && !is_possessive {
            scope.extend(before_says(others(before)));
        }
        if is_clause || is_possessive || is_chain || !is_describing {
            let more = others(after);
            // `the blood type of Alice's son`: all of it is asked for.
            match (&mut scope[..], &more[..]) {
                ([list], [one]) => list.extend(one.iter().cloned()),
                _ => scope.extend(more),
            }
        }
        self.noun = first_after.clone().filter(|it| is_possessive && is_role(it));
        let possessed = first_after.filter(|it| is_possessive && (is_chained(it) || is_role(it)));
        self.chain = match (is_chain, possessed) {
            (true, _) => Some(Chain::Clause),
            (false, Some(_)) => Some(Chain::Possession),
            _ => None,
        };
        self.is_compound = !is_turned && !is_possessive && !is_clause && !is_chain;
        self.scope = scope.iter().map(|words| Scope::all_of(words)).collect();
    }
}

fn is_article(folded: &str) -> bool {
    matches!(folded, "a" | "an" | "the" | "my" | "our" | "that" | "this" | "which" | "who" | "where" | "whom")
}

/// `server athena`, `the user mirakuro`: the last word is a name, though it is written small.
fn small_name(plain: &str, tokens: &[Token]) -> Option<Name> {
    let [.., Token::Word(leader), Token::Word(word)] = tokens else { return None };
    let (led, name) = (fold(&plain[leader.clone()]), &plain[word.clone()]);
    let is_name = is_small_leader(&led) && name.len() > 2 && !is_starter(name) && !is_leader(name);
    is_name.then(|| Name { is_of_thing: true, is_small: true, ..Name::of_request(vec![Word::of_request(plain, word)]) })
}

impl Thing {
    fn of_name(name: Name, plain: &str) -> Self {
        let is_unspaced = name.words.iter().all(|word| plain[word.start..word.end].chars().all(is_lone));
        match (name.words.first(), name.words.last()) {
            (Some(first), Some(last)) if is_unspaced => Self::Unspaced(plain[first.start..last.end].to_owned()),
            _ => Self::Name(name),
        }
    }
}

/// The first identifier and those that stand directly beside it, or are listed with it.
fn beside(tokens: &[Token], place: usize, plain: &str) -> Vec<Thing> {
    let mut heads = Vec::new();
    let mut ends_at = None;
    for token in &tokens[place..] {
        match token {
            Token::Thing(thing, range) => {
                let between = ends_at.map_or("", |end: usize| &plain[end..range.start]);
                if !between.chars().all(|c| !c.is_alphanumeric()) && between.trim() != "and" {
                    break;
                }
                ends_at = Some(range.end);
                heads.push(thing.clone());
            }
            Token::Word(range) if &plain[range.clone()] == "and" => {}
            _ => break,
        }
    }
    heads
}

/// The days of a text are looked for as days.
fn without_days(text: &str) -> String {
    let mut literal = text.to_owned();
    let mut days: Vec<Range<usize>> = dates::days(text).into_iter().map(|(.., range)| range).collect();
    days.dedup();
    for range in days.into_iter().rev() {
        literal.replace_range(range, " ");
    }
    literal
}
