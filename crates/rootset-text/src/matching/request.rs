//! A request to forget, taken apart: alternatives, what each names, the other words, and what is to be kept.
//!
//! How it begins and ends says nothing (`please forget everything about … record`). A thing that is named suffices;
//! other words only narrow it down where they ask for one of its attributes. Not here: looking for any of it.

use std::ops::Range;

use super::Probe;
use super::canonical::dates::{self, Day, Reading};
use super::canonical::{self};
use super::conjunction::{Conjunction, quotations};
use super::names::Name;
use super::noise::{
    ALTERNATING, KEEPING, is_describing, is_leader, is_leader_of_things, is_leading, is_trailing, is_turning, synonyms,
};
use super::text::{Place, Sentence, Word, is_name_like};
use super::things::{Thing, identifier, stem_of};
use crate::chars::{fold, is_apostrophe, is_lone, plain};
use crate::scan::{Kind, Piece, scan};
use crate::words::{is_calendar, is_stop};

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
    /// What is asked for of the heads.
    pub scope: Vec<Scope>,
    /// Without the scope there is no match: `Sarah's phone number`.
    pub is_strict: bool,
    /// Where nothing is named: words that must all be there.
    pub words: Option<Conjunction>,
    /// The words one by one, for what is near.
    pub loose: Vec<String>,
    pub days: Vec<Day>,
}

/// A word that narrows down, with others that say the same.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub stems: Vec<String>,
}

impl Scope {
    fn new(word: &str) -> Self {
        let folded = fold(word);
        let mut stems: Vec<String> = synonyms(&folded).iter().map(|it| stem_of(it)).collect();
        stems.push(stem_of(&folded));
        stems.sort_unstable();
        stems.dedup();
        Self { stems }
    }
}

impl Request {
    pub(super) fn of(query: &str) -> Option<Self> {
        let plain = plain(query);
        if scan(&plain).len() > PIECES_MAX {
            let words = Conjunction::new(&plain)?;
            return Some(Self { parts: vec![Part { words: Some(words), ..Part::nothing() }], kept: Vec::new() });
        }
        let (asked, kept) = split_kept(&plain);
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
        KEEPING.iter().filter_map(|it| Some((folded.find(it)?, it.len()))).min()
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
                "that" | "how" | "where" | "when" | "what" | "why" | "whether"
            );
        let pieces = &sentence.pieces[from..to];
        let Some((first, last)) = pieces.first().zip(pieces.last()) else { return Self::nothing() };
        let is_first = begins && from == 0;
        let tokens = tokens(&sentence, pieces, &quoted, is_first);
        let rest = &plain[first.start..quoted.last().map_or(last.end, |it| it.end.max(last.end))];
        Self::from_tokens(&sentence, &tokens, rest, is_clause)
    }

    fn nothing() -> Self {
        Self {
            heads: Vec::new(),
            scope: Vec::new(),
            is_strict: false,
            words: None,
            loose: Vec::new(),
            days: Vec::new(),
        }
    }

    fn from_tokens(sentence: &Sentence<'_>, tokens: &[Token], rest: &str, is_clause: bool) -> Self {
        let plain = &sentence.plain;
        let mut part = Self::nothing();
        let content = |range: &Range<usize>| {
            let folded = fold(&plain[range.clone()]);
            (!is_stop(&folded) && !is_turning(&folded)).then_some(folded)
        };
        part.loose = tokens
            .iter()
            .filter_map(|token| match token {
                Token::Word(range) => content(range),
                _ => None,
            })
            .map(|word| stem_of(&word))
            .collect();
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
            part.days.clear();
            return part;
        }
        if let Some(place) = tokens.iter().position(|token| matches!(token, Token::Name(..))) {
            part.take_name(tokens, place, plain, is_clause, content);
            return part;
        }
        let literal = without_days(rest);
        part.words = Conjunction::new(&literal);
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
        let others = |tokens: &[Token]| {
            let mut found: Vec<String> = Vec::new();
            for token in tokens {
                match token {
                    Token::Word(range) => found.extend(content(range)),
                    Token::Name(name, _) => found.extend(name.words.iter().map(|it| it.bare.clone())),
                    _ => {}
                }
            }
            found
        };
        let before = &tokens[..place];
        let is_turned = before.last().and_then(word).is_some_and(|range| is_turning(&fold(&plain[range])));
        let after = &tokens[behind..];
        let is_describing = after.first().and_then(word).is_some_and(|range| is_describing(&fold(&plain[range])))
            || plain[ends_at..].trim_start().starts_with([',', '(', ':']);
        let mut scope: Vec<String> = Vec::new();
        if is_turned {
            scope.extend(others(before));
        }
        if is_clause || is_possessive || !is_describing {
            scope.extend(others(after));
        }
        self.is_strict = is_clause || is_possessive || !self.days.is_empty();
        self.scope = scope.iter().filter(|word| !is_leader(word)).map(|word| Scope::new(word)).collect();
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
                spans.push((range.clone(), Token::Name(Name { words: vec![word], is_of_thing: false }, range)));
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
                spans.push((range.clone(), Token::Name(Name { words, is_of_thing }, range)));
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
    let script = |word: &Word| {
        word.bare.chars().next().map(|c| match c as u32 {
            0..=0x024F | 0x1E00..=0x1EFF => 0,
            0x0370..=0x03FF => 1,
            0x0400..=0x052F => 2,
            code => 3 + code / 0x100,
        })
    };
    let mut names: Vec<Vec<Word>> = Vec::new();
    for word in words {
        match names.last_mut() {
            Some(name) if name.last().and_then(script) == script(&word) => name.push(word),
            _ => names.push(vec![word]),
        }
    }
    names
}
