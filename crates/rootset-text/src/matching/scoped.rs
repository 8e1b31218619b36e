//! What is asked for of a name: which sentences speak of it, by its name, by a pronoun or under it as their topic, and say
//! what is asked for of that very thing.
//!
//! Not here: requests that name nothing ([`super::literal`]).

use super::canonical::dates::{self, Reading};
use super::request::Part;
use super::text::{Fields, Place, Sentence};
use super::{Certainty, attributes, clauses, cut, stems_of};

/// Between an owner and what is theirs: `Bob's new work phone number`.
const OWNED_WORDS_MAX: usize = 3;

/// The sentences that speak of a head and have all that is asked for of it: by its name, by a pronoun, or under its name
/// as the topic.
pub(super) fn scoped(
    part: &Part,
    fields: &Fields<'_>,
    sentences: &[Sentence<'_>],
    hits: &[Option<(Certainty, String)>],
) -> Vec<usize> {
    let is_sure = |index: usize| matches!(hits[index], Some((Certainty::Sure, _)));
    let anchors = cut::anchors(sentences);
    let is_made = rootset_model::content::topic_of(fields.context) == fields.topic;
    let is_filed = !is_made && !sentences.is_empty() && sentences[0].place == Place::Topic && is_sure(0);
    let is_about = |index: usize| {
        let is_context = matches!(sentences[index].place, Place::Context(_));
        is_sure(index)
            || (anchors[index] != index && is_sure(anchors[index]))
            || (is_filed && is_context && !cut::names_something(sentences[index].written))
    };
    let is_its_own = |index: usize| match &hits[index] {
        Some((Certainty::Sure, shown)) => {
            let text = &*sentences[index].plain;
            // In a longer sentence each statement is asked.
            clauses::clauses(text, &attributes::is_label).len() > 1
                || (is_of_head(part, text, shown) && !is_owned_by_another(part, text, &Some(shown.clone())))
        }
        _ => true,
    };
    let is_meant = |index: &usize| is_about(*index) && has_scope(part, &sentences[*index]) && is_its_own(*index);
    (0..sentences.len()).filter(is_meant).collect()
}

/// Whether what a statement says is said of the head, and not of what belongs to it: `Alice's sister lives in Rome`.
pub(super) fn is_of_head(part: &Part, text: &str, named: &str) -> bool {
    let Some(place) = text.find(named) else { return true };
    let rest = &text[place + named.len()..];
    let Some(owned) = rest.strip_prefix("'s ").or_else(|| rest.strip_prefix("’s ")) else { return true };
    let words = clauses::tokens(owned);
    let verb = clauses::verb_at(&words).unwrap_or(words.len());
    let own = &words[..verb];
    let is_asked = |word: &clauses::Token<'_>| part.scope.iter().flatten().any(|scope| scope.has_word(&word.folded));
    let end = own.last().map_or(0, clauses::Token::end);
    let is_passed_on = owned[..end].contains("'s ") || owned[..end].contains("’s ");
    part.scope.is_empty() || (own.iter().any(is_asked) && !is_passed_on)
}

/// Whether the attribute is said to be somebody else's: `Alice gave Bob's phone number away`.
pub(super) fn is_owned_by_another(part: &Part, text: &str, named: &Option<String>) -> bool {
    let words = clauses::tokens(text);
    let is_asked = |word: &clauses::Token<'_>| part.scope.iter().flatten().any(|scope| scope.has_word(&word.folded));
    words.iter().enumerate().any(|(index, word)| {
        let is_owner = text[word.end()..].starts_with("'s ") || text[word.end()..].starts_with("’s ");
        let is_head = named.as_ref().is_some_and(|named| named.contains(word.written));
        let asked_behind =
            || words[index + 1..].iter().filter(|it| it.written != "s").take(OWNED_WORDS_MAX).any(is_asked);
        is_owner && word.is_capital() && !is_head && asked_behind()
    })
}

/// Whether a text has what is asked for of a head.
pub(super) fn has_scope(part: &Part, sentence: &Sentence<'_>) -> bool {
    let stems = stems_of(sentence);
    let has_words =
        part.scope.is_empty() || part.scope.iter().any(|all| all.iter().all(|scope| scope.is_in(sentence, &stems)));
    let days = dates::days(&sentence.plain);
    let has_day = |day: &dates::Day| days.iter().any(|(it, reading, _)| it == day && *reading == Reading::Sure);
    has_words && part.days.iter().all(has_day)
}
