//! A request to forget, taken apart: alternatives, what each names, the other words, and what is to be kept.
//!
//! How it begins and ends says nothing (`please forget everything about … record`). A thing that is named suffices;
//! other words only narrow it down where they ask for one of its attributes. Not here: looking for any of it.

use std::ops::Range;

use super::Probe;
use super::attributes::Scope;
use super::canonical::dates::{self, Day, Reading};
use super::canonical::{self};
use super::conjunction::{Conjunction, quotations};
use super::names::Name;
use super::noise::{
    ALTERNATING, KEEPING, core, is_chained, is_describing, is_leader, is_leader_of_things, is_leading, is_occasion,
    is_of_firm, is_small_leader, is_trailing, is_turning,
};
use super::text::{Place, Sentence, Word, is_name_like, script_of};
use super::things::{Thing, identifier, stem_of};
use super::verbs::is_verb;
use crate::chars::{fold, is_apostrophe, is_lone, plain};
use crate::scan::{Kind, Piece, scan};
use crate::words::{is_calendar, is_starter, is_stop};

/// A longer request is a text, of which every word has to be there.
const PIECES_MAX: usize = 100;

#[derive(Clone, Debug)]
pub(super) struct Request {
    pub parts: Vec<Part>,
    pub kept: Vec<Part>,
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
}

impl Request {
    pub(super) fn of(query: &str) -> Option<Self> {
        let plain = plain(query);
        let plain = core(&plain);
        if scan(plain).len() > PIECES_MAX {
            let words = Conjunction::new(plain)?;
            return Some(Self { parts: vec![Part { words: Some(words), ..Part::nothing() }], kept: Vec::new() });
        }
        let (asked, kept) = split_kept(plain);
        let mut parts: Vec<Part> = alternatives(asked);
        parts.retain(|part| !part.is_nothing());
        let mut kept: Vec<Part> = kept.iter().flat_map(|kept| alternatives(kept)).collect();
        kept.retain(|part| !part.is_nothing());
        (!parts.is_empty()).then_some(Self { parts, kept })
    }
}

/// What is to go, and what is to be kept.
fn split_kept(plain: &str) -> (&str, Vec<&str>) {
    let folded = fold(plain);
    // Folding may move places; then nothing is to be kept that could be told.
    let first = if folded.len() == plain.len() {
        KEEPING
            .iter()
            .filter_map(|it| Some((folded.find(it)?, std::cmp::Reverse(it.len()))))
            .min()
            .map(|(place, std::cmp::Reverse(length))| (place, length))
    } else {
        None
    };
    match first {
        Some((place, length)) if plain.is_char_boundary(place) && plain.is_char_boundary(place + length) => {
            (&plain[..place], vec![&plain[place + length..]])
        }
        _ => (plain, Vec::new()),
    }
}

/// The alternatives of a request. What they are split at divides them only where each names something.
fn alternatives(plain: &str) -> Vec<Part> {
    if !quotations(plain).is_empty() {
        return vec![Part::of(plain, true)];
    }
    let texts = split_alternatives(plain);
    if texts.len() > 1 {
        let parts: Vec<Part> = texts.iter().enumerate().map(|(place, text)| Part::of(text, place == 0)).collect();
        if parts.iter().all(|part| !part.heads.is_empty()) {
            return parts;
        }
        // `metoprolol (Beloc)`: one word, and what it is called as well.
        if let [head, rest @ ..] = &parts[..]
            && let Some(small) = head.as_small_name()
            && plain.contains('(')
            && !rest.is_empty()
            && rest.iter().all(|part| !part.heads.is_empty())
        {
            return std::iter::once(&small).chain(rest).cloned().collect();
        }
        // A remark in brackets that names nothing only tells more.
        if let [head, rest @ ..] = &parts[..]
            && !head.heads.is_empty()
            && plain.contains('(')
        {
            let named = rest.iter().filter(|part| !part.heads.is_empty());
            return std::iter::once(head).chain(named).cloned().collect();
        }
    }
    let listed: Vec<Part> =
        split_list(plain).iter().enumerate().map(|(place, text)| Part::of(text, place == 0)).collect();
    if listed.len() > 1 && listed.iter().all(Part::is_only_named) {
        return listed;
    }
    vec![Part::of(plain, true)]
}

fn split_alternatives(plain: &str) -> Vec<String> {
    let mut texts = vec![plain.to_owned()];
    for mark in ALTERNATING {
        texts = texts.iter().flat_map(|text| split_folded(text, mark)).collect();
    }
    // Brackets hold another name; a country's trunk zero and an area code are part of a number.
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == ' ' || c == '+');
    let mut split = Vec::new();
    for text in texts {
        match text.split_once('(').and_then(|(before, rest)| Some((before, rest.split_once(')')?))) {
            Some((before, (inside, after)))
                if !is_number(inside)
                    && !before.trim().is_empty()
                    && !before.ends_with(|c: char| c.is_alphanumeric() || c == '/') =>
            {
                split.push(format!("{before} {after}"));
                split.push(inside.to_owned());
            }
            _ => split.push(text),
        }
    }
    split.retain(|text| !text.trim().is_empty());
    split
}

fn split_folded(text: &str, mark: &str) -> Vec<String> {
    let folded = fold(text);
    if folded.len() != text.len() {
        return text.split(mark).map(str::to_owned).collect();
    }
    let mut parts = Vec::new();
    let mut start = 0;
    for (place, _) in folded.match_indices(mark) {
        if place >= start && text.is_char_boundary(place) && text.is_char_boundary(place + mark.len()) {
            parts.push(text[start..place].to_owned());
            start = place + mark.len();
        }
    }
    parts.push(text[start..].to_owned());
    parts
}

fn split_list(plain: &str) -> Vec<String> {
    [" and ", ", ", " & "]
        .iter()
        .fold(vec![plain.to_owned()], |texts, mark| texts.iter().flat_map(|text| split_folded(text, mark)).collect())
}

/// A word, name or identifier of a request.
#[derive(Clone, Debug)]
enum Token {
    Thing(Thing, Range<usize>),
    Quoted(Thing),
    Day(Day),
    Name(Name, Range<usize>),
    Word(Range<usize>),
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

    fn is_only_named(&self) -> bool {
        !self.heads.is_empty() && self.scope.is_empty() && self.days.is_empty()
    }

    /// `begins`: whether the request begins with it, so that a capital may be that of the first word.
    fn of(text: &str, begins: bool) -> Self {
        let sentence = Sentence::of(Place::More, text);
        let plain = &sentence.plain;
        let quoted = quotations(plain);
        let unquoted = quoted.first().map_or(plain.len(), |first| first.start);
        let leading = &sentence.pieces[..sentence.pieces.partition_point(|piece| piece.end <= unquoted)];
        let from = point(plain, leading);
        let to = end(plain, &sentence.pieces, from);
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
        let is_mine = before.is_some_and(|it| matches!(it.as_str(), "my" | "our"));
        Self { is_mine, ..Self::from_tokens(&sentence, &tokens, rest, is_clause) }
    }

    /// A part of one word in small letters, as the name that it may be.
    fn as_small_name(&self) -> Option<Self> {
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

    fn nothing() -> Self {
        Self {
            heads: Vec::new(),
            scope: Vec::new(),
            words: None,
            loose: Vec::new(),
            plain_words: Vec::new(),
            days: Vec::new(),
            is_mine: false,
            chain: None,
            is_doubtful: false,
            is_compound: false,
            is_led_to: false,
        }
    }

    fn from_tokens(sentence: &Sentence<'_>, tokens: &[Token], rest: &str, is_clause: bool) -> Self {
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
            part.take_name(tokens, place, plain, is_clause, content);
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
        self.heads = names.into_iter().map(|(name, _)| Thing::of_name(name, plain)).collect();
        let word = |token: &Token| match token {
            Token::Word(range) => Some(range.clone()),
            _ => None,
        };
        // What several words ask for, in lists where `and` or `or` stands between them.
        let others = |tokens: &[Token]| {
            let mut lists: Vec<Vec<String>> = vec![Vec::new()];
            for token in tokens {
                let found: Vec<String> = match token {
                    Token::Word(range) if matches!(&plain[range.clone()], "and" | "or") => {
                        lists.push(Vec::new());
                        continue;
                    }
                    Token::Word(range) => content(range).into_iter().collect(),
                    Token::Name(name, _) => name.words.iter().map(|it| it.bare.clone()).collect(),
                    _ => Vec::new(),
                };
                let found = found.into_iter().filter(|word| !is_leader(word) && !is_leading(word));
                lists.last_mut().into_iter().for_each(|list| list.extend(found.clone()));
            }
            lists.retain(|list| !list.is_empty());
            lists
        };
        let before = &tokens[..place];
        let folded_at = |token: &Token| word(token).map(|range| fold(&plain[range]));
        let led = before.iter().rev().filter_map(folded_at).find(|it| !is_article(it) && !is_leader(it));
        let is_turned = led.as_deref().is_some_and(is_turning);
        let after = &tokens[behind..];
        let first_after = after.first().and_then(folded_at);
        let is_describing = first_after.as_deref().is_some_and(is_describing)
            || plain[ends_at..].trim_start().starts_with([',', '(', ':']);
        let noun = before.iter().rev().filter_map(folded_at).find(|it| !is_article(it)).filter(|it| is_chained(it));
        let is_chain =
            noun.is_some() && !is_possessive && first_after.as_deref().is_some_and(|it| is_verb(it, Some("name")));
        let mut scope: Vec<Vec<String>> = Vec::new();
        if is_turned && !is_possessive {
            scope.extend(others(before));
        }
        if is_clause || is_possessive || is_chain || !is_describing {
            let more = others(after);
            // `the blood type of Alice's son`: all of it is asked for.
            match (&mut scope[..], &more[..]) {
                ([list], [one]) => list.extend(one.iter().cloned()),
                _ => scope.extend(more),
            }
        }
        let possessed = first_after.filter(|it| is_possessive && is_chained(it));
        self.chain = match (is_chain, possessed) {
            (true, _) => Some(Chain::Clause),
            (false, Some(_)) => Some(Chain::Possession),
            _ => None,
        };
        self.is_compound = !is_turned && !is_possessive && !is_clause && !is_chain;
        self.scope = scope.iter().map(|words| Scope::all_of(words)).collect();
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

/// How many pieces only lead up to the point: `forget everything about`, and the like. All of them when there is none.
fn point(plain: &str, pieces: &[Piece]) -> usize {
    let mut point = 0;
    for (index, piece) in pieces.iter().enumerate() {
        let word = fold(piece.of(plain));
        if piece.kind == Kind::Word && is_turning(&word) {
            point = index + 1;
        } else if piece.kind != Kind::Word || !is_leading(&word) || is_name_inside(plain, piece, index) {
            // Without a turning word, what leads is still no part of the point where it is only a verb or a quantity.
            return if point == 0 { leading_verbs(plain, &pieces[..index]) } else { point };
        }
    }
    pieces.len()
}

/// A capital in the middle of a request: `forget Will`.
fn is_name_inside(plain: &str, piece: &Piece, index: usize) -> bool {
    index > 0
        && piece.kind == Kind::Word
        && is_name_like(piece.of(plain))
        && piece.of(plain).len() > 1
        && plain.is_ascii()
}

fn leading_verbs(plain: &str, pieces: &[Piece]) -> usize {
    pieces.iter().take_while(|piece| is_leading(&fold(piece.of(plain)))).count()
}

/// The end of the point: what follows only rounds the request off.
fn end(plain: &str, pieces: &[Piece], from: usize) -> usize {
    let mut to = pieces.len();
    while to > from + 1 {
        let piece = &pieces[to - 1];
        let written = piece.of(plain);
        let is_quoted = plain[piece.end..].starts_with(['"', '`', '”']);
        let is_name = is_name_like(written) && !is_trailing(&fold(written));
        if piece.kind != Kind::Word || is_name || is_quoted || !is_trailing(&fold(written)) {
            break;
        }
        to -= 1;
    }
    to
}

fn tokens(sentence: &Sentence<'_>, pieces: &[Piece], quoted: &[Range<usize>], is_first: bool) -> Vec<Token> {
    let plain = &*sentence.plain;
    let mut spans: Vec<(Range<usize>, Token)> = Vec::new();
    let is_free = |spans: &[(Range<usize>, Token)], range: &Range<usize>| {
        !spans.iter().any(|(taken, _)| taken.start < range.end && range.start < taken.end)
    };
    for range in quoted {
        let thing = Thing::exact(&format!("\"{}\"", &plain[range.clone()]));
        spans.extend(thing.map(|thing| (range.clone(), Token::Quoted(thing))));
    }
    for range in canonical::colon_runs(plain) {
        let written = &plain[range.clone()];
        let thing = canonical::hexadecimal(written).map_or_else(|| Thing::Run(fold(written)), Thing::Hexadecimal);
        if is_free(&spans, &range) {
            spans.push((range.clone(), Token::Thing(thing, range)));
        }
    }
    for range in grouped_codes(plain, pieces) {
        if let Some(code) = canonical::code(&plain[range.clone()]).filter(|_| is_free(&spans, &range)) {
            spans.push((range.clone(), Token::Thing(Thing::Code(code), range)));
        }
    }
    for (day, reading, range) in dates::days(plain) {
        if reading == Reading::Sure && is_free(&spans, &range) {
            spans.push((range, Token::Day(day)));
        }
    }
    for piece in pieces {
        let range = piece.start..piece.end;
        let written = piece.of(plain);
        if !is_free(&spans, &range) {
            continue;
        }
        if piece.kind == Kind::Word && plain[..piece.start].ends_with('@') {
            spans.push((range.clone(), Token::Thing(Thing::handle(written), range)));
        } else if piece.kind != Kind::Camel
            && let Some(thing) = identifier(plain, piece)
        {
            let is_handle = plain[..piece.start].ends_with('@');
            let range = if matches!(thing, Thing::Url(_)) { canonical::url_range(plain, piece) } else { range };
            spans.push((range.clone(), Token::Thing(if is_handle { Thing::handle(written) } else { thing }, range)));
        }
    }
    // Longest first: the parts of a number that blanks separate are found, too.
    let mut numbers = canonical::numbers(plain);
    numbers.sort_by_key(|(_, range)| std::cmp::Reverse(range.len()));
    for (number, range) in numbers {
        if is_free(&spans, &range) {
            spans.push((range.clone(), Token::Thing(Thing::Number(number), range)));
        }
    }
    add_names(sentence, pieces, is_first, &mut spans);
    for piece in pieces {
        let range = piece.start..piece.end;
        if is_free(&spans, &range) {
            let camel = (piece.kind == Kind::Camel).then(|| identifier(plain, piece)).flatten();
            let token = camel.map_or(Token::Word(range.clone()), |thing| Token::Thing(thing, range.clone()));
            spans.push((range, token));
        }
    }
    spans.retain(|(range, _)| {
        let (from, to) = (pieces.first().map_or(0, |it| it.start), pieces.last().map_or(0, |it| it.end));
        range.end > from && range.start < to.max(range.start + 1) && range.start <= to
    });
    spans.sort_by_key(|(range, _)| range.start);
    spans.into_iter().map(|(_, token)| token).collect()
}

/// Letters and digits in groups that blanks separate: `B-KX 4417`, `DE44 5001 0517`.
fn grouped_codes(plain: &str, pieces: &[Piece]) -> Vec<Range<usize>> {
    let has = |piece: &Piece, test: fn(&u8) -> bool| piece.of(plain).bytes().any(|byte| test(&byte));
    let is_group = |piece: &Piece| {
        matches!(piece.kind, Kind::Word | Kind::Compound | Kind::Issue | Kind::Camel)
            && piece.of(plain).bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'-')
    };
    // What it begins with: two letters at most, letters that a hyphen joins, or letters and digits.
    let begins = |piece: &Piece| {
        let letters = has(piece, u8::is_ascii_alphabetic);
        let is_mixed = has(piece, u8::is_ascii_digit) || piece.kind == Kind::Compound;
        is_group(piece) && letters && (is_mixed || piece.end - piece.start <= 2)
    };
    let mut found = Vec::new();
    let mut index = 0;
    while let Some(piece) = pieces.get(index) {
        let joined = pieces[index..]
            .windows(2)
            .take_while(|pair| &plain[pair[0].end..pair[1].start] == " " && is_group(&pair[1]));
        let length = joined.count();
        let groups = &pieces[index + 1..=index + length];
        // `Q3 2024` is a time.
        let is_year = |it: &Piece| it.end - it.start == 4 && it.of(plain).starts_with(['1', '2']);
        let is_time = groups.iter().all(is_year) && !piece.of(plain).contains('-');
        if begins(piece) && !is_time && groups.iter().any(|it| has(it, u8::is_ascii_digit)) {
            found.push(piece.start..pieces[index + length].end);
            index += length;
        }
        index += 1;
    }
    found
}

/// Runs of words that read as a name, and runs of characters of scripts without blanks.
fn add_names(sentence: &Sentence<'_>, pieces: &[Piece], is_first: bool, spans: &mut Vec<(Range<usize>, Token)>) {
    let plain = &*sentence.plain;
    let mut index = 0;
    while index < pieces.len() {
        let piece = &pieces[index];
        let is_taken =
            |piece: &Piece| spans.iter().any(|(taken, _)| taken.start < piece.end && piece.start < taken.end);
        if is_taken(piece) {
            index += 1;
            continue;
        }
        if piece.kind == Kind::Lone {
            let run = pieces[index..]
                .windows(2)
                .take_while(|pair| pair[0].end == pair[1].start && pair[1].kind == Kind::Lone)
                .count()
                + 1;
            let range = piece.start..pieces[index + run - 1].end;
            if run > 1 {
                let word = Word::of_request(plain, &range);
                spans.push((range.clone(), Token::Name(Name::of_request(vec![word]), range)));
            }
            index += run;
            continue;
        }
        let length = name_length(sentence, pieces, index, &is_taken);
        if length == 0 {
            index += 1;
            continue;
        }
        let mut from = index;
        let leader = fold(pieces[from].of(plain));
        let before = from.checked_sub(1).map(|before| fold(pieces[before].of(plain)));
        let mut is_of_thing = before.as_deref().is_some_and(is_leader_of_things);
        if length > 1 && is_leader(&leader) {
            is_of_thing = is_leader_of_things(&leader);
            from += 1;
        }
        let range = pieces[from].start..pieces[index + length - 1].end;
        let words: Vec<Word> =
            sentence.words.iter().filter(|word| word.start >= range.start && word.end <= range.end).cloned().collect();
        // The first word of a request has its capital anyway.
        let is_doubtful =
            is_first && index == 0 && length == 1 && pieces.len() > 1 && !is_followed_by_possession(plain, range.end);
        if !words.is_empty() && !is_doubtful {
            for words in by_script(words) {
                let range = words[0].start..words[words.len() - 1].end;
                let is_firm = words.len() > 1 && words.last().is_some_and(|word| is_of_firm(&word.bare));
                let is_of_thing = is_of_thing || is_firm;
                spans.push((range.clone(), Token::Name(Name { is_of_thing, ..Name::of_request(words) }, range)));
            }
        }
        index += length;
    }
}

fn is_followed_by_possession(plain: &str, end: usize) -> bool {
    plain[end..].chars().next().is_some_and(is_apostrophe)
}

/// How many pieces from this one on read as one name.
fn name_length(sentence: &Sentence<'_>, pieces: &[Piece], from: usize, is_taken: &impl Fn(&Piece) -> bool) -> usize {
    let plain = &*sentence.plain;
    let is_of_name = |piece: &Piece| {
        let written = piece.of(plain);
        let is_word = matches!(piece.kind, Kind::Word | Kind::Camel)
            || (piece.kind == Kind::Compound && written.split('-').all(is_name_like));
        let folded = fold(written);
        is_word
            && !is_taken(piece)
            && is_name_like(written)
            && !is_calendar(&folded)
            && !is_stop_in_small(written, &folded)
    };
    if !is_of_name(&pieces[from])
        || (pieces[from].kind == Kind::Camel && !pieces.get(from + 1).is_some_and(&is_of_name))
    {
        return 0;
    }
    let mut length = 1;
    while let Some(next) = pieces.get(from + length) {
        let is_near = plain[pieces[from + length - 1].end..next.start].chars().all(char::is_whitespace);
        if is_near && is_of_name(next) {
            length += 1;
            continue;
        }
        let is_link = is_near
            && matches!(
                fold(next.of(plain)).as_str(),
                "of" | "van" | "von" | "de" | "da" | "der" | "del" | "di" | "la" | "bin" | "al"
            );
        match pieces.get(from + length + 1) {
            Some(after) if is_link && is_of_name(after) && next.of(plain) != "of" => length += 2,
            _ => break,
        }
    }
    length
}

/// A stop word is a name only where a capital says so inside the request.
fn is_stop_in_small(written: &str, folded: &str) -> bool {
    is_stop(folded)
        && (written.len() <= 2
            || matches!(
                folded,
                "the" | "and" | "for" | "about" | "from" | "all" | "her" | "his" | "its" | "our" | "not" | "with"
            ))
}

/// A name that changes its script is two names of the same.
fn by_script(words: Vec<Word>) -> Vec<Vec<Word>> {
    let script = |word: &Word| script_of(&word.bare);
    let mut names: Vec<Vec<Word>> = Vec::new();
    for word in words {
        match names.last_mut() {
            Some(name) if name.last().and_then(script) == script(&word) => name.push(word),
            _ => names.push(vec![word]),
        }
    }
    names
}
