//! What a sentence says that somebody has or does it with: `Falcon` in `Alice leads Project Falcon`, `Ashgrove` in `Viktor's
//! landlord is Mr. Ashgrove`.
//!
//! Not here: whether one text only says so, which decides if it is meant.

use std::ops::Range;

use super::clauses::{Token, tokens};
use super::names::{Name, TITLES};
use super::text::{Sentence, Word};
use super::things::Thing;
use crate::words::{is_calendar, is_leader, is_starter};

/// Between what somebody has and its name.
const NAMING: &[&str] = &["called", "codenamed", "is", "named", "now", "nicknamed"];
/// In front of what is one's own.
const OWN: &[&str] = &["my", "our"];

/// The name that a sentence gives to what is described: `Viktor's landlord is Mr. Ashgrove` for `landlord` behind a place, `Dr.
/// Quenby is our vet`. `owner` is where the owner's name stands; without, it is the speaker's own.
pub(super) fn identity(sentence: &Sentence<'_>, owner: Option<&Range<usize>>, noun: &str) -> Option<(Thing, String)> {
    let plain = &*sentence.plain;
    let words = tokens(plain);
    let is_owned = |place: usize| match owner {
        Some(owner) => {
            let between = &plain[owner.end.min(words[place].start)..words[place].start];
            matches!(between, "'s " | "’s ") && owner.end < words[place].start
        }
        None => place > 0 && OWN.contains(&words[place - 1].folded.as_str()),
    };
    let place = (0..words.len()).find(|place| words[*place].folded == noun && is_owned(*place))?;
    let behind = words.get(place + 1..).unwrap_or_default();
    let leading = behind.iter().take_while(|word| NAMING.contains(&word.folded.as_str())).count();
    if leading > 0 {
        return name_from(sentence, &behind[leading..]);
    }
    // `Dr. Quenby is our vet`, `Dr. Quenby, our vet, …`
    let start = match owner {
        Some(owner) => words.iter().position(|word| word.start >= owner.start)?,
        None => place - 1,
    };
    let before = plain[..words.get(start)?.start].trim_end();
    let before = before.strip_suffix(" is").or_else(|| before.strip_suffix(','))?;
    let named: Vec<&Token<'_>> = words.iter().filter(|word| word.end() <= before.len()).collect();
    let first = named.iter().rposition(|word| !word.is_capital()).map_or(0, |place| place + 1);
    name_from(sentence, &words[first..named.len()])
}

/// The name that `the service behind the checkout page is called …` gives, where all of these stems stand before it.
pub(super) fn called(sentence: &Sentence<'_>, stems: &[String]) -> Option<(Thing, String)> {
    let plain = &*sentence.plain;
    let (place, mark) = [" is called ", " is named ", " is known as ", " is codenamed "]
        .iter()
        .find_map(|mark| plain.find(mark).map(|place| (place, mark)))?;
    let described: Vec<String> = tokens(&plain[..place]).iter().map(|word| super::stem_of(&word.folded)).collect();
    let words = tokens(plain);
    let behind = words.iter().position(|word| word.start >= place + mark.len())?;
    let has_all = !stems.is_empty() && stems.iter().all(|stem| described.contains(stem));
    if !has_all {
        return None;
    }
    name_from(sentence, &words[behind..]).or_else(|| {
        // `paymill-edge`
        let word = &words[behind];
        let is_identifier = word.written.contains(['-', '_', '.']);
        let is_last = plain[word.end()..].chars().all(|c| !c.is_alphanumeric());
        let thing = (is_identifier && is_last).then(|| Thing::exact(&format!("\"{}\"", word.written))).flatten()?;
        Some((thing, word.folded.clone()))
    })
}

/// The run of capitalised words at the front, titles left out, where the statement ends behind it.
fn name_from(sentence: &Sentence<'_>, words: &[Token<'_>]) -> Option<(Thing, String)> {
    let is_title = |word: &Token<'_>| TITLES.contains(&word.folded.as_str());
    let titles = words.iter().take_while(|word| is_title(word)).count();
    let named: Vec<&Token<'_>> = words[titles..].iter().take_while(|word| word.is_capital()).collect();
    let (first, last) = (named.first()?, named.last()?);
    let behind = &sentence.plain[last.end()..];
    let is_closed = behind.trim_end_matches(['.', '!']).is_empty() || behind.starts_with([',', ';', ' ', '.']);
    let words: Vec<Word> =
        sentence.words.iter().filter(|word| word.start >= first.start && word.end <= last.end()).cloned().collect();
    let is_name = !words.is_empty()
        && !words.iter().any(|word| is_calendar(&word.bare) || crate::words::is_stop(&word.bare))
        && words[0].bare.chars().count() > 1;
    let key = words.iter().map(|word| word.bare.as_str()).collect::<Vec<_>>().join(" ");
    (is_closed && is_name).then(|| (Thing::Name(Name { is_of_thing: true, ..Name::of_request(words) }), key))
}

/// The names in a sentence that are none of the heads, each with a key that tells it apart.
pub(super) fn named_in(sentence: &Sentence<'_>, heads: &[Thing]) -> Vec<(Thing, String)> {
    let is_heads = |word: &Word| {
        heads.iter().any(|head| match head {
            Thing::Name(name) => name.words.iter().any(|own| own.is(word)),
            Thing::Exact(_, written) | Thing::Unspaced(written) => written.contains(&word.bare),
            _ => false,
        })
    };
    let is_name = |(index, word): (usize, &Word)| {
        let is_ordinary = crate::words::is_stop(&word.bare) || (index == 0 && is_starter(&word.bare));
        let is_of_another = !is_heads(word) && !is_calendar(&word.bare) && !is_leader(&word.bare);
        word.is_capital && word.bare.chars().count() > 1 && is_of_another && !is_ordinary
    };
    let mut found: Vec<(Thing, String)> = Vec::new();
    let mut index = 0;
    while index < sentence.words.len() {
        let length = (index..sentence.words.len())
            .take_while(|place| {
                is_name((*place, &sentence.words[*place]))
                    && (*place == index || sentence.is_adjacent(place - 1, *place))
            })
            .count();
        if length > 0 {
            let words = sentence.words[index..index + length].to_vec();
            let key = words.iter().map(|word| word.bare.as_str()).collect::<Vec<_>>().join(" ");
            found.push((Thing::Name(Name { is_of_thing: true, ..Name::of_request(words) }), key));
        }
        index += length.max(1);
    }
    found
}
