//! A request that names nothing: its words, near each other, an attribute in whatever words, a day in whatever order.
//!
//! Not here: what a sentence has of a name ([`super::scoped`]).

use super::attributes::Scope;
use super::canonical::dates::{self, Reading};
use super::request::Part;
use super::scoped::has_scope;
use super::text::{Place, Sentence, Word};
use super::{Found, Near, Verdict, cut, stems_of, things, verbs};

/// Words of a sentence for each that is asked for, within which all have to stand.
const WINDOW_PER_WORD: usize = 2;

/// Where nothing is named: all of the words, near each other; of what is asked for as the speaker's own, nothing that is
/// said to be another's.
pub(super) fn literal(part: &Part, sentences: &[Sentence<'_>]) -> Found {
    let mut found = any_ones(part, sentences);
    if found.verdict == Verdict::Matched && !without_longer_numbers(part, sentences, &mut found.goes) {
        return Found { verdict: Verdict::Maybe(Near::LongerName), ..found };
    }
    if !part.is_mine || found.verdict != Verdict::Matched {
        return found;
    }
    // One word alone is too common to be anybody's.
    let is_one_word = part.loose.len() == 1 && part.days.is_empty();
    for (sentence, goes) in sentences.iter().zip(&mut found.goes) {
        *goes &= !is_anothers(sentence) && (!is_one_word || is_of_speaker(sentence));
    }
    let verdict = if found.goes.contains(&true) { Verdict::Matched } else { Verdict::Maybe(Near::OtherWords) };
    Found { verdict, ..found }
}

/// Numbers of a request name something, and what continues one names something else: `4471` is not `4471-B`. Answers whether
/// any sentence is left.
fn without_longer_numbers(part: &Part, sentences: &[Sentence<'_>], goes: &mut [bool]) -> bool {
    let is_inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_alone = |sentence: &Sentence<'_>, number: &str| {
        let mut places = sentence.plain.match_indices(number).peekable();
        // Written in another form, it is found by that.
        places.peek().is_none()
            || places.any(|(place, _)| {
                let (before, behind) = (&sentence.plain[..place], &sentence.plain[place + number.len()..]);
                let led = before.strip_suffix(['-', '_']).unwrap_or(before);
                let rest = behind.strip_prefix(['-', '_']).unwrap_or(behind);
                !is_inside(led.chars().next_back()) && !is_inside(rest.chars().next())
            })
    };
    for (sentence, goes) in sentences.iter().zip(goes.iter_mut()) {
        *goes &= part.number_words().all(|number| is_alone(sentence, number));
    }
    goes.contains(&true)
}

fn any_ones(part: &Part, sentences: &[Sentence<'_>]) -> Found {
    let nothing = vec![false; sentences.len()];
    let texts: Vec<&str> = sentences.iter().map(|it| it.written).collect();
    // An attribute is said in other words, and with a day so is everything.
    let is_read = !part.days.is_empty() || part.scope.iter().flatten().any(Scope::is_attribute);
    let anchors = cut::anchors(sentences);
    let reads = |index: usize| is_read && reads_as(part, sentences, index, anchors[index]);
    let has_words = |texts: &[&str]| part.words.as_ref().is_none_or(|words| words.matches(texts.iter().copied()));
    let read: Vec<bool> = (0..sentences.len()).map(reads).collect();
    if read.contains(&true) {
        return Found { verdict: Verdict::Matched, goes: read, words: part.loose.clone() };
    }
    let days: Vec<Vec<_>> = sentences.iter().map(|it| dates::days(&it.plain)).collect();
    let has_day = |wanted: Reading, among: &[Vec<_>]| {
        let is_in = |day: &dates::Day| {
            among
                .iter()
                .flatten()
                .any(|(it, reading, _)| it == day && (*reading == Reading::Sure || wanted == Reading::Swapped))
        };
        part.days.iter().all(is_in)
    };
    if !has_words(&texts) || !has_day(Reading::Swapped, &days) {
        let verdict = if part.days.is_empty() || has_day(Reading::Swapped, &days) {
            some_words(part, sentences)
        } else {
            Verdict::No
        };
        return Found { verdict, goes: nothing, words: Vec::new() };
    }
    let words = part.loose.clone();
    if !has_day(Reading::Sure, &days) {
        return Found { verdict: Verdict::Maybe(Near::OtherDay), goes: nothing, words };
    }
    let is_long = part.loose.is_empty() && part.days.is_empty();
    let has_all =
        |index: usize| !is_long && has_words(&texts[index..=index]) && has_day(Reading::Sure, &days[index..=index]);
    let goes: Vec<bool> = (0..sentences.len()).map(has_all).collect();
    if goes.contains(&true) {
        let is_apart = apart_as_names(part, sentences)
            || !sentences.iter().zip(&goes).any(|(sentence, goes)| *goes && are_near(part, sentence));
        let verdict = if is_apart { Verdict::Maybe(Near::Scattered) } else { Verdict::Matched };
        return Found { verdict, goes, words };
    }
    let is_memory = sentences.iter().any(|it| matches!(it.place, Place::Context(_)));
    if is_long || !is_memory {
        return Found { verdict: Verdict::Matched, goes: vec![true; sentences.len()], words };
    }
    // What one sentence does not say alone it may say under its topic, or leaning on another.
    let together = |index: usize| {
        let is_context = matches!(sentences[index].place, Place::Context(_));
        let around = [texts[0], texts[anchors[index]], texts[index]];
        let days: Vec<Vec<_>> = [0, anchors[index], index].iter().map(|at| days[*at].clone()).collect();
        let stems = stems_of(&sentences[index]);
        let says_some = part.loose.iter().any(|stem| stems.contains(stem));
        is_context && says_some && has_words(&around) && has_day(Reading::Sure, &days)
    };
    let goes: Vec<bool> = (0..sentences.len()).map(together).collect();
    let verdict = if goes.contains(&true) { Verdict::Matched } else { Verdict::Maybe(Near::Scattered) };
    Found { verdict, goes, words }
}

/// Whether the words stand near each other in a sentence: `a black cat in the forest on a trip` is no Black Forest trip.
fn are_near(part: &Part, sentence: &Sentence<'_>) -> bool {
    let stems: Vec<String> = sentence.words.iter().map(|word| things::stem_of(&word.bare)).collect();
    let wanted: std::collections::BTreeSet<&String> = part.loose.iter().collect();
    let window = wanted.len() * WINDOW_PER_WORD + WINDOW_PER_WORD;
    let has_all = |words: &[String]| wanted.iter().all(|stem| words.contains(stem));
    // What is told apart in other ways is found in other ways.
    !has_all(&stems) || stems.windows(window.min(stems.len()).max(1)).any(has_all)
}

/// Two words that are written as names, and never as one, are two names.
fn apart_as_names(part: &Part, sentences: &[Sentence<'_>]) -> bool {
    let [first, second] = &part.loose[..] else { return false };
    let stem = |word: &Word| things::stem_of(&word.bare);
    let (mut as_names, mut together) = (false, false);
    for sentence in sentences {
        for (index, word) in sentence.words.iter().enumerate() {
            let is = |word: &Word, of: &String| stem(word) == *of;
            let next = sentence.words.get(index + 1);
            together |=
                next.is_some_and(|next| (is(word, first) && is(next, second)) || (is(word, second) && is(next, first)));
            let others = |of: &String| sentence.words.iter().any(|other| is(other, of) && other.is_capital);
            as_names |= word.is_capital
                && index > 0
                && ((is(word, first) && others(second)) || (is(word, second) && others(first)));
        }
    }
    as_names && !together
}

/// Half of the words, where nothing else is known of a text.
pub(super) fn some_words(part: &Part, sentences: &[Sentence<'_>]) -> Verdict {
    if part.loose.is_empty() {
        return Verdict::No;
    }
    let mut stems = std::collections::BTreeSet::new();
    sentences.iter().for_each(|sentence| stems.extend(stems_of(sentence)));
    let found = part.loose.iter().filter(|stem| stems.contains(*stem)).count();
    if found * 2 >= part.loose.len() && found > 0 { Verdict::Maybe(Near::SomeWords) } else { Verdict::No }
}

/// Whether a sentence, or the one that it leans on, has the words, and the attribute in its own.
fn reads_as(part: &Part, sentences: &[Sentence<'_>], index: usize, anchor: usize) -> bool {
    let sentence = &sentences[index];
    if has_scope(part, sentence) {
        return true;
    }
    if cut::leaning(sentence) == cut::Leaning::Nothing || !part.days.is_empty() {
        return false;
    }
    leans_with(part, sentence, &sentences[anchor])
}

/// Whether a statement says the attribute of what another, on which it leans, has the words for.
pub(super) fn leans_with(part: &Part, statement: &Sentence<'_>, leans_on: &Sentence<'_>) -> bool {
    let (own, around) = (stems_of(statement), stems_of(leans_on));
    let is_said =
        |scope: &Scope| scope.is_in(statement, &own) || (!scope.is_attribute() && scope.is_in(leans_on, &around));
    part.scope.iter().any(|all| all.iter().any(Scope::is_attribute) && all.iter().all(is_said))
}

/// Whether a text speaks of who wrote it.
fn is_of_speaker(sentence: &Sentence<'_>) -> bool {
    let first_person = ["i", "me", "mine", "my", "our", "us", "we", "user"];
    sentence.words.iter().any(|word| first_person.contains(&word.bare.as_str()))
}

/// Where somebody's own is asked for, whether a text says of it that it is another's.
fn is_anothers(sentence: &Sentence<'_>) -> bool {
    if is_of_speaker(sentence) {
        return false;
    }
    let is_owner = |word: &Word| {
        let rest = &sentence.plain[word.end..];
        matches!(word.bare.as_str(), "his" | "her" | "their") || rest.starts_with("'s ") || rest.starts_with("’s ")
    };
    sentence.words.iter().any(is_owner)
        || sentence.words.iter().enumerate().any(|(index, word)| {
            index == 0
                && word.is_capital
                && !crate::words::is_starter(&word.bare)
                && sentence.words.get(1).is_some_and(|next| verbs::is_verb(&next.bare, Some("name")))
        })
}
