//! The words, names, identifiers and days of a request, in order. Not here: what they ask for.

use std::ops::Range;

use crate::chars::{fold, is_apostrophe};
use crate::matching::canonical;
use crate::matching::canonical::dates::{self, Day, Reading};
use crate::matching::names::Name;
use crate::matching::noise::{is_leader, is_leader_of_things, is_of_firm};
use crate::matching::text::{Sentence, Word, is_name_like, script_of};
use crate::matching::things::{Thing, identifier};
use crate::matching::wrapping::is_law;
use crate::scan::{Kind, Piece};
use crate::words::{is_calendar, is_stop};

/// A word, name or identifier of a request.
#[derive(Clone, Debug)]
pub(super) enum Token {
    Thing(Thing, Range<usize>),
    Quoted(Thing),
    Day(Day),
    Name(Name, Range<usize>),
    Word(Range<usize>),
}

pub(super) fn tokens(sentence: &Sentence<'_>, pieces: &[Piece], quoted: &[Range<usize>], is_first: bool) -> Vec<Token> {
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
        // What continues it makes another of it, also here.
        let is_whole = |code: &String| canonical::code_in(plain, code).is_some() && is_free(&spans, &range);
        if let Some(code) = canonical::code(&plain[range.clone()]).filter(is_whole) {
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
            && !is_law(&folded)
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
