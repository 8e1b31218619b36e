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
mod attributes;
mod beside;
mod canonical;
mod chains;
mod clauses;
mod conjunction;
mod cut;
mod lists;
mod literal;
mod names;
mod noise;
mod parts;
mod phrase;
mod request;
mod scoped;
mod shared;
mod text;
mod things;
mod verbs;
mod wrapping;

use rootset_model::Cut;

use crate::secrets::MARK;
use crate::terms::index_terms;
use attributes::Scope;
use cut::Share;
use literal::{leans_with, literal, some_words};
use names::Bearers;
use request::{Part, Request};
use scoped::{has_scope, is_of_head, is_owned_by_another, scoped};
use text::{Sentence, sentences_of};
use things::Thing;

pub(crate) use clauses::statements;
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
    /// It also says something else, and the two cannot be told apart.
    Tangled,
    /// What was named was not stored, and neither was what stands here in its place: the two may differ.
    Redacted,
    /// Another text ties it to what was named.
    Chain,
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
}

impl Judgement {
    fn no() -> Self {
        Self { verdict: Verdict::No, words: Vec::new(), rest: None, cut: None }
    }
}

/// What has to be known of a workspace before its texts are judged.
#[derive(Clone, Debug)]
pub struct Survey {
    bearers: Bearers,
    aliases: Vec<(usize, Thing, String)>,
    /// What a head leads to, with a key each: `the project Alice leads`.
    chains: Vec<(usize, Thing, String)>,
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
        let survey = Survey { bearers: Bearers::default(), aliases: Vec::new(), chains: Vec::new() };
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
        self.request.parts.iter().any(|part| !part.heads.is_empty() || part.chain.is_some())
    }

    /// An empty survey, to be filled with every text that the probes find.
    pub fn survey(&self) -> Survey {
        Survey { bearers: Bearers::default(), aliases: Vec::new(), chains: Vec::new() }
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
            for sentence in &sentences {
                if survey.aliases.len() < ALIASES_MAX {
                    let found = aliases::of(sentence, &part.heads, &self.survey.bearers);
                    survey.aliases.extend(found.into_iter().map(|(thing, key)| (place, thing, key)));
                }
            }
            if part.chain == Some(request::Chain::Identity) && survey.chains.len() < ALIASES_MAX {
                let named = sentences.iter().filter_map(|sentence| self.identity(part, sentence));
                survey.chains.extend(named.map(|(thing, key)| (place, thing, key)));
            } else if part.chain.is_some() && survey.chains.len() < ALIASES_MAX {
                let hits = self.hits(part, &sentences);
                let found = scoped(part, fields, &sentences, &hits);
                let named = found.into_iter().flat_map(|index| chains::named_in(&sentences[index], &part.heads));
                survey.chains.extend(named.map(|(thing, key)| (place, thing, key)));
            }
        }
    }

    /// What a sentence calls the thing that a part describes.
    fn identity(&self, part: &Part, sentence: &Sentence<'_>) -> Option<(Thing, String)> {
        let Some(noun) = &part.noun else { return chains::called(sentence, &part.loose) };
        if part.heads.is_empty() {
            return chains::identity(sentence, None, noun);
        }
        part.heads.iter().find_map(|head| match head.find(sentence, &self.survey.bearers) {
            Some((Certainty::Sure, shown)) => {
                let start = sentence.plain.find(&shown)?;
                chains::identity(sentence, Some(&(start..start + shown.len())), noun)
            }
            _ => None,
        })
    }

    /// Takes over what a survey found; answers whether it added anything to look for.
    pub fn informed_by(&mut self, survey: Survey) -> bool {
        let mut has_more = false;
        for (place, thing, key) in &survey.aliases {
            let known = self.survey.aliases.iter().any(|(of, _, it)| of == place && it == key);
            if !known {
                let part = &mut self.request.parts[*place];
                if part.is_compound && !part.scope.is_empty() {
                    // Another name of the whole needs none of its words.
                    self.request.parts.push(Part::of_alias(thing.clone()));
                } else {
                    part.heads.push(thing.clone());
                }
                has_more = true;
            }
        }
        let mut aliases = std::mem::take(&mut self.survey.aliases);
        aliases.extend(survey.aliases.iter().cloned());
        let known = self.survey.chains.len();
        let mut chains = std::mem::take(&mut self.survey.chains);
        for found in &survey.chains {
            if !chains.iter().any(|(place, _, key)| *place == found.0 && *key == found.2) {
                chains.push(found.clone());
            }
        }
        has_more |= chains.len() > known;
        self.survey = Survey { aliases, chains, ..survey };
        if has_more {
            self.follow_chains();
        }
        has_more
    }

    /// What a head leads to is looked for as a part of its own: meant where the request says it and one text only says
    /// which, and maybe meant otherwise.
    fn follow_chains(&mut self) {
        self.request.parts.retain(|part| !part.is_led_to);
        for place in 0..self.request.parts.len() {
            let led: Vec<Thing> =
                self.survey.chains.iter().filter(|(of, ..)| *of == place).map(|(_, thing, _)| thing.clone()).collect();
            let says_which =
                matches!(self.request.parts[place].chain, Some(request::Chain::Clause | request::Chain::Identity));
            let is_sure = says_which && led.len() == 1;
            if !led.is_empty() {
                self.request.parts.push(Part::led_to(led, !is_sure));
            }
        }
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
        let mut takers: Vec<Vec<&Part>> = vec![Vec::new(); sentences.len()];
        let (mut words, mut near): (Vec<String>, Option<Near>) = (Vec::new(), None);
        let mut is_matched = false;
        for part in &self.request.parts {
            let found = self.judge_part(part, fields, &sentences);
            let verdict = match found.verdict {
                Verdict::Matched if part.is_doubtful => Verdict::Maybe(Near::Chain),
                verdict => verdict,
            };
            match verdict {
                Verdict::Matched => {
                    is_matched = true;
                    let goes = takers.iter_mut().zip(&found.goes).filter(|(_, goes)| **goes);
                    goes.for_each(|(takers, _)| takers.push(part));
                }
                Verdict::Maybe(reason) => near = Some(near.map_or(reason, |known| known.min(reason))),
                Verdict::No => {}
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
        let mut shares: Vec<Share> =
            sentences.iter().zip(&takers).map(|(sentence, takers)| self.share(sentence, takers)).collect();
        if self.request.parts.iter().any(Part::goes_on) {
            cut::follow(fields, &sentences, &mut shares, &is_kept);
        }
        let keeps = is_kept.contains(&true);
        if self.request.is_redacted && fields.has(MARK) {
            return Judgement { verdict: Verdict::Maybe(Near::Redacted), words, ..Judgement::no() };
        }
        let maybe = |reason| Judgement { verdict: Verdict::Maybe(reason), words: words.clone(), ..Judgement::no() };
        if shares.iter().all(|share| matches!(share, Share::Stays | Share::Tangled)) {
            return maybe(if shares.contains(&Share::Tangled) { Near::Tangled } else { Near::Kept });
        }
        match cut::divide(fields, &sentences, &shares) {
            cut::Division::Whole if keeps => maybe(Near::Kept),
            cut::Division::Whole => Judgement { verdict: Verdict::Matched, words, ..Judgement::no() },
            cut::Division::Tangled => maybe(if keeps { Near::Kept } else { Near::Tangled }),
            cut::Division::Cut(cut, rest) => {
                let is_left_over = keeps || shares.contains(&Share::Tangled);
                if !is_left_over && !self.is_enough(fields, &cut) {
                    return maybe(Near::Tangled);
                }
                Judgement { verdict: Verdict::Matched, words, rest: Some(rest), cut: Some(cut) }
            }
        }
    }

    /// What goes of a sentence that these parts of the request match.
    fn share(&self, sentence: &Sentence<'_>, takers: &[&Part]) -> Share {
        if takers.is_empty() {
            return Share::Stays;
        }
        if !matches!(sentence.place, text::Place::Context(_)) {
            return if self.is_kept(sentence) { Share::Stays } else { Share::Goes };
        }
        let look = |text: &str, clause: &clauses::Clause, before: Option<&parts::Hit>| {
            let statement = Sentence::of(text::Place::More, text);
            let mut hit = parts::Hit { is_kept: self.is_kept(&statement), ..parts::Hit::default() };
            for part in takers {
                let named = part.heads.iter().find_map(|head| match head.find(&statement, &self.survey.bearers) {
                    Some((Certainty::Sure, shown)) => Some(shown),
                    _ => None,
                });
                if part.heads.is_empty() {
                    let is_it = |word: &&text::Word| part.loose.contains(&things::stem_of(&word.bare));
                    let has_digit = |word: &&text::Word| word.bare.contains(|c: char| c.is_ascii_digit());
                    let found = || statement.words.iter().filter(is_it);
                    let word = found().find(has_digit).or_else(|| found().next());
                    hit.word = word.map(|it| statement.plain[it.start..it.end].to_owned());
                }
                hit.is_mixed |= part.heads.is_empty() && !part.days.is_empty() && has_several_days(text);
                if part.heads.is_empty() && clause.opening != clauses::Opening::Own {
                    hit.is_hit |= leans_with(part, &statement, sentence);
                } else if part.heads.is_empty() {
                    hit.is_hit |= literal(part, std::slice::from_ref(&statement)).verdict == Verdict::Matched;
                } else if part.is_about_all() {
                    hit.is_hit |= named.is_some();
                    hit.named = hit.named.take().or(named);
                } else {
                    // Of whom it speaks, the statement before it may say.
                    let is_own = clause.opening == clauses::Opening::Own && before.is_some();
                    let is_headed = match &named {
                        Some(named) => is_of_head(part, text, named),
                        None => !is_own,
                    };
                    hit.is_hit |= is_headed && has_scope(part, &statement) && !is_owned_by_another(part, text, &named);
                    hit.is_mixed |= attributes::says_another(&statement, &part.scope);
                    hit.named = hit.named.take().or(named);
                }
            }
            hit
        };
        let is_all = takers.iter().any(|part| part.goes_on());
        let is_label = |text: &str| attributes::is_label(text);
        let share = parts::share(sentence.written, is_all, &is_label, &look);
        // Of the only thing that is said nothing stays.
        if share == Share::Goes && self.is_kept(sentence) { Share::Tangled } else { share }
    }

    /// Whether what a cut leaves says nothing any more of what goes.
    fn is_enough(&self, fields: &Fields<'_>, cut: &Cut) -> bool {
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
        let is_still =
            |part: &Part| !part.is_doubtful && self.judge_part(part, &fields, &sentences).verdict == Verdict::Matched;
        !self.request.parts.iter().any(is_still)
    }

    fn is_kept(&self, sentence: &Sentence<'_>) -> bool {
        self.request.kept.iter().any(|part| {
            let stems = stems_of(sentence);
            let has_all = |scope: &[Vec<Scope>]| {
                scope.iter().any(|all| !all.is_empty() && all.iter().all(|it| it.is_in(sentence, &stems)))
            };
            if part.heads.is_empty() {
                return has_all(&part.scope);
            }
            let is_named = part.heads.iter().any(|head| match head {
                // Half of the name may be the one that is to go.
                Thing::Name(name) => name.is_whole_in(sentence),
                head => head.find(sentence, &self.survey.bearers).is_some(),
            });
            is_named && (part.scope.is_empty() || has_all(&part.scope))
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

    fn judge_part(&self, part: &Part, fields: &Fields<'_>, sentences: &[Sentence<'_>]) -> Found {
        if part.heads.is_empty() { literal(part, sentences) } else { self.named(part, fields, sentences) }
    }

    fn named(&self, part: &Part, fields: &Fields<'_>, sentences: &[Sentence<'_>]) -> Found {
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
        if part.is_about_all() {
            return Found { verdict: Verdict::Matched, goes: sure, words };
        }
        let scoped = scoped(part, fields, sentences, &hits);
        if scoped.is_empty() {
            return Found { verdict: Verdict::Maybe(Near::OtherWords), goes: nothing, words };
        }
        let goes = (0..sentences.len()).map(|index| scoped.contains(&index)).collect();
        Found { verdict: Verdict::Matched, goes, words }
    }
}

/// What one alternative finds in a text.
struct Found {
    verdict: Verdict,
    /// Per sentence.
    goes: Vec<bool>,
    words: Vec<String>,
}

/// Whether a statement tells of several days, of which one may be asked for.
fn has_several_days(text: &str) -> bool {
    let days = canonical::dates::days(text);
    let mut sure =
        days.iter().filter(|(_, reading, _)| *reading == canonical::dates::Reading::Sure).map(|(day, ..)| day);
    sure.next().is_some_and(|first| sure.any(|day| day != first))
}

fn stems_of(sentence: &Sentence<'_>) -> std::collections::BTreeSet<String> {
    index_terms(sentence.written).split(' ').map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
