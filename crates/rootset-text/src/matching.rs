//! Decides for each memory whether it is about what a person wants forgotten.
//!
//! Stricter than search, because what matches is proposed for deletion. A thing that the request names (an identifier in
//! any of its forms, a name) suffices; other words narrow down where they ask for an attribute, and all have to be there
//! where nothing is named. What only comes near is [`Verdict::Maybe`], with the reason. Of a memory that matches it says
//! which sentences do ([`Cut`]), so that the others may stay.
//!
//! Whether a first name is unambiguous, and which addresses and names belong to a thing, the texts of the workspace tell:
//! a [`Survey`] is filled first and given to the matcher. Not here: the plan that follows, and the index that narrows
//! down what is looked at; [`Matcher::probes`] only promises the index something that no match can lack.

mod aliases;
mod canonical;
mod conjunction;
mod cut;
mod names;
mod noise;
mod phrase;
mod request;
mod text;
mod things;

use rootset_model::Cut;

use crate::terms::index_terms;
use canonical::dates::{self, Reading};
use names::Bearers;
use request::{Part, Request};
use text::{Sentence, sentences_of};
use things::Thing;

pub(crate) use things::stem_of;

pub use text::Fields;

/// Words that are shown of a match.
const WORDS_SHOWN: usize = 6;
/// Aliases that a survey may add to one request: more of them would be a list of something else.
const ALIASES_MAX: usize = 16;

/// Terms of the full-text index: every text that may match holds one of each list.
pub type Probe = Vec<Vec<String>>;

/// How near something comes that is not certainly meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Near {
    /// It has the name, but not what was asked for of it.
    OtherWords,
    /// Several in the workspace have the name.
    Several,
    FirstName,
    LastName,
    /// An address or handle that looks like the name.
    Address,
    /// The name goes on.
    LongerName,
    /// Written small, as the ordinary word.
    OtherCase,
    /// A date that also reads as another day.
    OtherDay,
    /// The words are there, but far from each other.
    Scattered,
    /// Some of the words.
    SomeWords,
    /// It also says what was asked to be kept.
    Kept,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Certainty {
    Sure,
    Near(Near),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Matched,
    Maybe(Near),
    No,
}

/// What became of one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    pub verdict: Verdict,
    /// The words that matched, or came near, as they are written there.
    pub words: Vec<String>,
    /// The beginning of what else it says.
    pub rest: Option<String>,
    /// What goes, where something else can stay.
    pub cut: Option<Cut>,
    /// Whether what stays names something of its own, so that cutting is better than removing.
    pub is_mixed: bool,
}

impl Judgement {
    fn no() -> Self {
        Self { verdict: Verdict::No, words: Vec::new(), rest: None, cut: None, is_mixed: false }
    }
}

/// What has to be known of a workspace before its texts are judged.
#[derive(Clone, Debug)]
pub struct Survey {
    bearers: Bearers,
    /// Per alternative: some text has the head with all that is asked for of it.
    has_scope: Vec<bool>,
    aliases: Vec<(usize, Thing, String)>,
}

/// What a text must hold to match.
#[derive(Clone, Debug)]
pub struct Matcher {
    request: Request,
    survey: Survey,
    is_loose: bool,
}

impl Matcher {
    /// None when the query says nothing that could be looked for.
    pub fn new(query: &str) -> Option<Self> {
        let request = Request::of(query)?;
        let survey =
            Survey { bearers: Bearers::default(), has_scope: vec![false; request.parts.len()], aliases: Vec::new() };
        Some(Self { request, survey, is_loose: false })
    }

    /// Terms for the texts that may match.
    pub fn probes(&self) -> Vec<Probe> {
        self.request.parts.iter().flat_map(|part| part.probes(false)).collect()
    }

    /// Terms for the texts that come near, too.
    pub fn near_probes(&self) -> Vec<Probe> {
        self.request.parts.iter().flat_map(|part| part.probes(true)).collect()
    }

    /// Whether the texts have to be surveyed before they are judged.
    pub fn needs_survey(&self) -> bool {
        let is_name = |head: &Thing| matches!(head, Thing::Name(_) | Thing::Unspaced(_));
        self.request.parts.iter().any(|part| part.heads.iter().any(is_name))
    }

    /// An empty survey, to be filled with every text that the probes find.
    pub fn survey(&self) -> Survey {
        Survey { has_scope: vec![false; self.request.parts.len()], aliases: Vec::new(), bearers: Bearers::default() }
    }

    /// Reads a text. First of all texts for who has which name, and then once more, with the survey given to
    /// [`Matcher::informed_by`], for what belongs to the name.
    pub fn read(&self, fields: &Fields<'_>, survey: &mut Survey) {
        let sentences = sentences_of(fields);
        for (place, part) in self.request.parts.iter().enumerate() {
            for head in &part.heads {
                if let Thing::Name(name) = head {
                    sentences.iter().for_each(|sentence| survey.bearers.note(name, sentence));
                }
            }
            let hits = self.hits(part, &sentences);
            survey.has_scope[place] |= !part.scope.is_empty() && !scoped(part, &sentences, &hits).is_empty();
            for (sentence, hit) in sentences.iter().zip(&hits) {
                if matches!(hit, Some((Certainty::Sure, _))) && survey.aliases.len() < ALIASES_MAX {
                    let found = aliases::of(sentence, &part.heads);
                    survey.aliases.extend(found.into_iter().map(|(thing, key)| (place, thing, key)));
                }
            }
        }
    }

    /// Takes over what a survey found; answers whether it added anything to look for.
    pub fn informed_by(&mut self, survey: Survey) -> bool {
        let mut has_more = false;
        for (place, thing, key) in &survey.aliases {
            let known = self.survey.aliases.iter().any(|(of, _, it)| of == place && it == key);
            if !known {
                self.request.parts[*place].heads.push(thing.clone());
                has_more = true;
            }
        }
        let mut aliases = std::mem::take(&mut self.survey.aliases);
        aliases.extend(survey.aliases.iter().cloned());
        self.survey = Survey { aliases, ..survey };
        has_more
    }

    /// From now on a text without the thing comes near by the other words of the request: for when nothing else does.
    pub fn loosen(&mut self) {
        self.is_loose = true;
    }

    /// Whether the text, taken by itself, matches.
    pub fn matches<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> bool {
        let texts: Vec<&str> = texts.into_iter().collect();
        self.judge(&Fields { more: &texts, ..Fields::default() }).verdict == Verdict::Matched
    }

    pub fn judge(&self, fields: &Fields<'_>) -> Judgement {
        let sentences = sentences_of(fields);
        let is_kept: Vec<bool> = sentences.iter().map(|sentence| self.is_kept(sentence)).collect();
        let mut goes = vec![false; sentences.len()];
        let (mut words, mut near, mut is_matched): (Vec<String>, Option<Near>, bool) = (Vec::new(), None, false);
        for (place, part) in self.request.parts.iter().enumerate() {
            let found = self.judge_part(place, part, &sentences);
            match found.verdict {
                Verdict::Matched => is_matched = true,
                Verdict::Maybe(reason) => near = Some(near.map_or(reason, |known| known.min(reason))),
                Verdict::No => {}
            }
            if found.verdict == Verdict::Matched {
                goes.iter_mut().zip(&found.goes).for_each(|(goes, it)| *goes |= it);
            }
            words.extend(found.words);
        }
        let mut seen = std::collections::BTreeSet::new();
        words.retain(|word| seen.insert(word.clone()));
        words.truncate(WORDS_SHOWN);
        if !is_matched {
            let verdict = near.map_or(Verdict::No, Verdict::Maybe);
            return Judgement { verdict, words, ..Judgement::no() };
        }
        cut::follow(&sentences, &mut goes, &is_kept);
        let keeps = is_kept.contains(&true);
        goes.iter_mut().zip(&is_kept).for_each(|(goes, is_kept)| *goes &= !is_kept);
        let division = cut::divide(fields, &sentences, &goes).filter(|it| self.is_enough(fields, &it.cut, keeps));
        match division {
            None if keeps => Judgement { verdict: Verdict::Maybe(Near::Kept), words, ..Judgement::no() },
            None => Judgement { verdict: Verdict::Matched, words, ..Judgement::no() },
            Some(it) => Judgement {
                verdict: Verdict::Matched,
                words,
                rest: Some(it.rest),
                is_mixed: it.names_more || keeps,
                cut: Some(it.cut),
            },
        }
    }

    /// Whether what a cut leaves says nothing any more of what goes.
    fn is_enough(&self, fields: &Fields<'_>, cut: &Cut, keeps: bool) -> bool {
        let content = rootset_model::Content {
            topic: fields.topic.to_owned(),
            context: fields.context.to_owned(),
            decisions: fields.decisions.to_vec(),
            rationale: fields.rationale.to_vec(),
        };
        let Some(left) = cut.apply(&content) else { return false };
        let fields = Fields {
            topic: &left.topic,
            context: &left.context,
            decisions: &left.decisions,
            rationale: &left.rationale,
            more: fields.more,
        };
        let sentences = sentences_of(&fields);
        let is_still = |(place, part): (usize, &Part)| {
            let found = self.judge_part(place, part, &sentences);
            let is_meant = sentences.iter().zip(&found.goes).any(|(it, goes)| *goes && !(keeps && self.is_kept(it)));
            found.verdict == Verdict::Matched && is_meant
        };
        !self.request.parts.iter().enumerate().any(is_still)
    }

    fn is_kept(&self, sentence: &Sentence<'_>) -> bool {
        self.request.kept.iter().any(|part| {
            if part.heads.is_empty() {
                let loose = stems_of(sentence);
                return !part.loose.is_empty()
                    && part.loose.iter().all(|stem| {
                        let same = noise::synonyms(stem).iter().map(|it| things::stem_of(it));
                        std::iter::once(stem.clone()).chain(same).any(|it| loose.contains(&it))
                    });
            }
            let is_named = part.heads.iter().any(|head| match head {
                // Half of the name may be the one that is to go.
                Thing::Name(name) => name.is_whole_in(sentence),
                head => head.find(sentence, &self.survey.bearers).is_some(),
            });
            let stems = stems_of(sentence);
            is_named && part.scope.iter().all(|scope| scope.stems.iter().any(|stem| stems.contains(stem)))
        })
    }

    /// What each sentence has of a part's heads.
    fn hits(&self, part: &Part, sentences: &[Sentence<'_>]) -> Vec<Option<(Certainty, String)>> {
        let best = |sentence: &Sentence<'_>| {
            let found = part.heads.iter().filter_map(|head| head.find(sentence, &self.survey.bearers));
            found.min_by_key(|(certainty, _)| *certainty)
        };
        sentences.iter().map(best).collect()
    }

    fn judge_part(&self, place: usize, part: &Part, sentences: &[Sentence<'_>]) -> Found {
        if part.heads.is_empty() { literal(part, sentences) } else { self.named(place, part, sentences) }
    }

    fn named(&self, place: usize, part: &Part, sentences: &[Sentence<'_>]) -> Found {
        let hits = self.hits(part, sentences);
        let words: Vec<String> = hits.iter().flatten().map(|(_, shown)| shown.clone()).collect();
        let is_sure = |hit: &Option<(Certainty, String)>| matches!(hit, Some((Certainty::Sure, _)));
        let sure: Vec<bool> = hits.iter().map(is_sure).collect();
        let nearest = hits.iter().flatten().filter_map(|(certainty, _)| match certainty {
            Certainty::Near(near) => Some(*near),
            Certainty::Sure => None,
        });
        let nearest = nearest.min();
        let nothing = vec![false; sentences.len()];
        if !sure.contains(&true) {
            if let Some(near) = nearest {
                return Found { verdict: Verdict::Maybe(near), goes: nothing, words };
            }
            let verdict = if self.is_loose { some_words(part, sentences) } else { Verdict::No };
            return Found { verdict, goes: nothing, words: Vec::new() };
        }
        if part.scope.is_empty() && part.days.is_empty() {
            return Found { verdict: Verdict::Matched, goes: sure, words };
        }
        let scoped = scoped(part, sentences, &hits);
        if !scoped.is_empty() {
            let goes = (0..sentences.len()).map(|index| scoped.contains(&index)).collect();
            return Found { verdict: Verdict::Matched, goes, words };
        }
        if part.is_strict || self.survey.has_scope[place] {
            return Found { verdict: Verdict::Maybe(Near::OtherWords), goes: nothing, words };
        }
        Found { verdict: Verdict::Matched, goes: sure, words }
    }
}

/// What one alternative finds in a text.
struct Found {
    verdict: Verdict,
    /// Per sentence.
    goes: Vec<bool>,
    words: Vec<String>,
}

fn stems_of(sentence: &Sentence<'_>) -> std::collections::BTreeSet<String> {
    index_terms(sentence.written).split(' ').map(str::to_owned).collect()
}

/// The sentences that have a head and all that is asked for of it, with those that go on about it.
fn scoped(part: &Part, sentences: &[Sentence<'_>], hits: &[Option<(Certainty, String)>]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut about = vec![false; sentences.len()];
    for (index, hit) in hits.iter().enumerate() {
        about[index] = matches!(hit, Some((Certainty::Sure, _)));
    }
    let nothing_kept = vec![false; sentences.len()];
    let mut followed = about.clone();
    cut::follow(sentences, &mut followed, &nothing_kept);
    for (index, sentence) in sentences.iter().enumerate().filter(|(index, _)| followed[*index]) {
        let stems = stems_of(sentence);
        let has_words = part.scope.iter().all(|scope| scope.stems.iter().any(|stem| stems.contains(stem)));
        let days = dates::days(&sentence.plain);
        let has_days =
            part.days.iter().all(|day| days.iter().any(|(it, reading, _)| it == day && *reading == Reading::Sure));
        if has_words && has_days {
            found.push(index);
        }
    }
    found
}

/// Where nothing is named: all of the words, near each other.
fn literal(part: &Part, sentences: &[Sentence<'_>]) -> Found {
    let nothing = vec![false; sentences.len()];
    let texts: Vec<&str> = sentences.iter().map(|it| it.written).collect();
    let has_words = |texts: &[&str]| part.words.as_ref().is_none_or(|words| words.matches(texts.iter().copied()));
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
        let verdict = if apart_as_names(part, sentences) { Verdict::Maybe(Near::Scattered) } else { Verdict::Matched };
        return Found { verdict, goes, words };
    }
    // What is not said in one sentence may be said in two, or under a topic.
    let is_short = is_long || sentences.iter().filter(|it| matches!(it.place, text::Place::Context(_))).count() <= 2;
    let verdict = if is_short { Verdict::Matched } else { Verdict::Maybe(Near::Scattered) };
    Found { verdict, goes: vec![is_short; sentences.len()], words }
}

/// Two words that are written as names, and never as one, are two names.
fn apart_as_names(part: &Part, sentences: &[Sentence<'_>]) -> bool {
    let [first, second] = &part.loose[..] else { return false };
    let stem = |word: &text::Word| things::stem_of(&word.bare);
    let (mut as_names, mut together) = (false, false);
    for sentence in sentences {
        for (index, word) in sentence.words.iter().enumerate() {
            let is = |word: &text::Word, of: &String| stem(word) == *of;
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
fn some_words(part: &Part, sentences: &[Sentence<'_>]) -> Verdict {
    if part.loose.is_empty() {
        return Verdict::No;
    }
    let mut stems = std::collections::BTreeSet::new();
    sentences.iter().for_each(|sentence| stems.extend(stems_of(sentence)));
    let found = part.loose.iter().filter(|stem| stems.contains(*stem)).count();
    if found * 2 >= part.loose.len() && found > 0 { Verdict::Maybe(Near::SomeWords) } else { Verdict::No }
}

#[cfg(test)]
mod tests;
