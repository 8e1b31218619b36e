//! What of one sentence goes: all of it, some of its statements, an item of an enumeration, or nothing that can be told
//! apart.
//!
//! Bytes are only ever taken out, so what stays has to read on its own: where the first statement goes and the next leans
//! on its subject, the subject stays (`Alice lives in Berlin and works at Acme` without where she lives is `Alice works
//! at Acme`). The default never takes what is said of somebody else. Not here: whether the sentence matches at all.

use std::ops::Range;

use super::beside;
use super::clauses::{self, Clause, Opening, Tie};
use super::cut::Share;
use super::lists::{self, Listed};
use super::shared;

/// In front of a name these say what it is not, or not as.
const TELLING_APART: &[&str] = &[
    "than ",
    "except ",
    "except for ",
    "but ",
    "without ",
    "unlike ",
    "instead of ",
    "rather than ",
    "nor ",
    "between ",
];

/// What a statement of a sentence has of what is asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Hit {
    /// What is asked for is in it.
    pub is_hit: bool,
    /// It is asked to be kept.
    pub is_kept: bool,
    /// It says another attribute, too.
    pub is_mixed: bool,
    /// The name that was found, as it is written there; none where an attribute is asked for, or nothing is named.
    pub named: Option<String>,
    /// One of the words that were found, where nothing is named.
    pub word: Option<String>,
}

/// What goes of a sentence, of whose statements each is looked at by itself. `is_all`: everything about a thing is meant,
/// so that what goes on about it goes as well; otherwise only what has the words.
pub(super) fn share(
    written: &str,
    is_all: bool,
    is_label: &dyn Fn(&str) -> bool,
    look: &dyn Fn(&str, &Clause, Option<&Hit>) -> Hit,
) -> Share {
    let clauses = clauses::clauses(written, is_label);
    // `Falcon: it ships in May, and tests are green`: all of it stands under the name.
    if is_all
        && let Some(label) = clauses::only_label(written)
        && clauses.iter().all(|clause| !look(&written[clause.range.clone()], clause, None).is_kept)
        && look(label, &clauses[0], None).is_hit
    {
        let said = written[label.len()..].trim_start_matches([':', ' ']);
        // `Alice: Bob's number is …` is what she said.
        let is_speaker = label.starts_with(char::is_uppercase);
        return if is_speaker && beside::begins_with_another(said) { Share::Tangled } else { Share::Goes };
    }
    let mut hits: Vec<Hit> = Vec::with_capacity(clauses.len());
    for clause in &clauses {
        let hit = look(&written[clause.range.clone()], clause, hits.last());
        hits.push(hit);
    }
    if !hits.iter().any(|hit| hit.is_hit) {
        // The words are there together only.
        return if clauses.len() == 1 { Share::Goes } else { Share::Tangled };
    }
    let mut removed: Vec<bool> = hits.iter().map(|hit| hit.is_hit && !hit.is_kept).collect();
    if is_all {
        follow(written, &clauses, &hits, &mut removed);
    }
    for index in 1..clauses.len() {
        if clauses[index].tie == Tie::Condition && removed[index - 1] && !hits[index].is_kept {
            removed[index] = true;
        }
    }
    if let [only] = &clauses[..] {
        return if hits[0].is_kept { Share::Stays } else { of_one(written, only, &hits[0]) };
    }
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut tangled = false;
    if removed.iter().all(|it| *it) {
        return Share::Goes;
    }
    let mut index = 0;
    while index < clauses.len() {
        if !removed[index] {
            index += 1;
            continue;
        }
        let last = (index..clauses.len()).take_while(|it| removed[*it]).last().unwrap_or(index);
        // One statement that names others as well: only the name goes from it.
        let alone = if index == last { of_one(written, &clauses[index], &hits[index]) } else { Share::Goes };
        if let Share::Parts(inner) = alone {
            parts.extend(inner);
        } else if alone == Share::Tangled {
            tangled = true;
        } else if let Some(range) = taken_out(written, &clauses, index, last, is_all) {
            parts.push(range);
        } else {
            tangled = true;
        }
        index = last + 1;
    }
    match (parts.is_empty(), tangled) {
        (_, true) => Share::Tangled,
        (true, _) => Share::Stays,
        (false, _) => Share::Parts(parts),
    }
}

/// Statements that go on about the subject of one that goes.
fn follow(written: &str, clauses: &[Clause], hits: &[Hit], removed: &mut [bool]) {
    for index in 1..clauses.len() {
        let leans = clauses[index].opening != Opening::Own;
        let names_another = beside::is_of_another(&written[clauses[index].range.clone()]);
        if !leans || !removed[index - 1] || removed[index] || hits[index].is_kept || names_another {
            continue;
        }
        // The subject of a statement stands before its verb.
        let before = &clauses[index - 1];
        let text = &written[before.range.clone()];
        let words = clauses::tokens(text);
        let verb = clauses::verb_at(&words).map_or(text.len(), |verb| words[verb].start);
        let named = hits[index - 1].named.as_deref().and_then(|named| text.find(named));
        // `Alice is Bob's contact; his number is …`
        if beside::owns_something(text, hits[index - 1].named.as_deref()) {
            continue;
        }
        // `It was Alice, she is so kind`: nobody else is spoken of.
        let is_empty =
            matches!(words.first().map(|it| it.folded.as_str()), Some("it" | "this" | "that" | "here" | "there"));
        if named.is_none_or(|named| named < verb) || before.opening != Opening::Own || is_empty {
            removed[index] = true;
        }
    }
}

/// What goes of a statement that cannot be divided any more.
fn of_one(written: &str, clause: &Clause, hit: &Hit) -> Share {
    let text = &written[clause.range.clone()];
    // Of a structure, an entry cannot go without its marks.
    let is_structure = text.trim_start().starts_with(['{', '[']) && text.contains(',');
    if hit.is_mixed || is_structure {
        return Share::Tangled;
    }
    let is_followed = |at: &Range<usize>| beside::goes_on_with_thing(text, at.end);
    let word = hit.word.as_deref().and_then(|word| text.find(word).map(|place| place..place + word.len()));
    if let Some(at) = word.filter(|_| hit.named.is_none())
        && (beside::has_more_beside(text, &at)
            || is_followed(&at)
            || shared::is_shared(text, &at)
            || shared::has_another_of_its_form(text, &at))
    {
        return Share::Tangled;
    }
    let Some(named) = hit.named.as_deref() else { return Share::Goes };
    let mut places = text.match_indices(named);
    let (Some((place, _)), None) = (places.next(), places.next()) else { return Share::Goes };
    let at = place..place + named.len();
    if let Some(joint) = beside::gapped(text) {
        // `… and Bob in Paris`: what has no verb of its own can go, what lends its verb cannot.
        let range = clause.range.start + joint..clause.range.end;
        return if at.start > joint { Share::Parts(vec![range]) } else { Share::Tangled };
    }
    // What others are told apart from cannot be left out.
    let before = text[..at.start].to_lowercase();
    // `not Alice but Bob`
    let is_denied = before.ends_with("not ") && text[at.end..].contains(" but ");
    if is_denied || TELLING_APART.iter().any(|word| before.ends_with(word)) {
        return Share::Tangled;
    }
    if let Some(range) = beside::aside(text, &at).or_else(|| beside::company(text, &at)) {
        return only(clause, &range);
    }
    match lists::listed(text, &at) {
        Some(Listed::Cut(range)) => only(clause, &range),
        Some(Listed::Tangled) => Share::Tangled,
        None if beside::says_more_beside(text, &at) || beside::has_more_beside(text, &at) => Share::Tangled,
        None if shared::is_shared(text, &at) || shared::has_another_of_its_form(text, &at) => Share::Tangled,
        None => Share::Goes,
    }
}

/// These bytes of a statement go, and nothing else.
fn only(clause: &Clause, range: &Range<usize>) -> Share {
    Share::Parts(std::iter::once(clause.range.start + range.start..clause.range.start + range.end).collect())
}

/// The bytes that go with some statements that follow each other.
fn taken_out(written: &str, clauses: &[Clause], first: usize, last: usize, is_all: bool) -> Option<Range<usize>> {
    let next = clauses.get(last + 1);
    let (from, start) = (&clauses[first], clauses[first].range.start);
    let Some(next) = next else { return Some(from.joined_at..clauses[last].range.end) };
    let behind = match next.opening {
        Opening::Own => next.range.start,
        Opening::Verb | Opening::Item => next.range.start,
        Opening::Pronoun(length) => next.range.start + length,
    };
    if from.opening != Opening::Own || first > 0 && next.opening == Opening::Own {
        // What comes before goes on behind.
        return Some(from.joined_at..clauses[last].range.end);
    }
    let text = &written[from.range.clone()];
    let words = clauses::tokens(text);
    match next.opening {
        Opening::Own => Some(start..next.range.start),
        Opening::Item => {
            let label = text.rfind(": ").map(|place| start + place + ": ".len());
            label.or_else(|| subject_end(text).map(|end| start + end)).map(|label| label..behind)
        }
        Opening::Verb => {
            let verb = clauses::verb_at(&words).filter(|verb| *verb > 0)?;
            Some(start + words[verb].start..behind)
        }
        // `… while her brother Bob works at Meta`
        Opening::Pronoun(_) if beside::is_of_another(&written[next.range.clone()]) => Some(start..next.range.start),
        // Who `he` is cannot be told: the subject, or who goes.
        Opening::Pronoun(_) if is_all || !written[behind..].starts_with(' ') => None,
        Opening::Pronoun(_) => {
            let owner = clauses::is_owner(&written[next.range.clone()]);
            if owner {
                // `Alice's phone is 555 and her mail is …`
                let end =
                    ["'s ", "’s "].iter().filter_map(|mark| text.find(mark).map(|place| place + mark.len())).min()?;
                Some(start + end..behind + 1)
            } else {
                let verb = clauses::verb_at(&words).filter(|verb| *verb > 0)?;
                Some(start + words[verb].start..behind + 1)
            }
        }
    }
}

/// Where the name ends that the first item of a list stands behind: `Alice's phone …, mail …`.
fn subject_end(text: &str) -> Option<usize> {
    ["'s ", "’s "].iter().filter_map(|mark| text.find(mark).map(|place| place + mark.len())).min()
}
