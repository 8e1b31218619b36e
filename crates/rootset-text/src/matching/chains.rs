//! What a sentence says that somebody has or does it with: `Falcon` in `Alice leads Project Falcon`.
//!
//! Not here: whether one text only says so, which decides if it is meant.

use super::names::Name;
use super::text::{Sentence, Word};
use super::things::Thing;
use crate::words::{is_calendar, is_leader, is_starter};

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
