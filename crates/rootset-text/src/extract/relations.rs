//! How the entities of a sentence are related: by a verb between two of them, or by standing next to each other.
//!
//! Between two names may stand what the first is (`the Falcon service`), the verb, and what the second is like (`uses a managed
//! PostgreSQL`). Links per sentence grow with its mentions, not with their square. Not here: the verbs (see `verbs`).

use std::collections::{BTreeSet, HashMap};

use rootset_model::ExtractedRelation;
use rootset_model::limits::EXTRACTED_RELATIONS_MAX;

use crate::chars::floor_boundary;
use crate::extract::Entities;
use crate::extract::mentions::Mention;
use crate::extract::reading::Sentence;
use crate::extract::verbs::{Direction, REPLACED, is_filler, is_head, is_joint, is_replacement, relation_at};

const RELATED: &str = "related_to";
/// A verb phrase is shorter; more text between two entities says something else.
const GAP_BYTES_MAX: usize = 60;
/// Enough for the longest words that may stand before an entity.
const LEAD_BYTES_MAX: usize = 40;
/// Words between a verb and the name that it reaches: `uses a small managed PostgreSQL`.
const DESCRIBING_WORDS_MAX: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Link {
    source: usize,
    relation: &'static str,
    target: usize,
}

/// The links of a content, each once, with how often it was found.
#[derive(Debug, Default)]
pub(super) struct Links {
    told: Counted,
    /// Found side by side; the name that sorts first is the source, so that the order in a text makes no second
    /// relation.
    related: Counted,
}

impl Links {
    /// Reads one sentence. `places` are the entities of its mentions.
    pub(super) fn read(
        &mut self,
        sentence: &Sentence<'_, '_>,
        mentions: &[Mention],
        places: &[Option<usize>],
        found: &Entities,
    ) {
        let mut related = BTreeSet::new();
        let mut telling = Telling::default();
        for (pair, place) in mentions.windows(2).zip(places.windows(2)) {
            let (Some(before), Some(behind)) = (place[0], place[1]) else {
                telling = Telling::default();
                continue;
            };
            let told = telling.read(sentence, &pair[0], &pair[1], before, behind);
            // Members of a list stand side by side, the others are only as close as the verb puts them.
            let is_apart = !told.is_empty() && !is_list(&sentence.text[pair[0].end..pair[1].start]);
            told.into_iter().for_each(|link| self.told.count(link));
            if is_apart || before == behind {
                continue;
            }
            let (source, target) =
                if found.keys[before] <= found.keys[behind] { (before, behind) } else { (behind, before) };
            related.insert(Link { source, relation: RELATED, target });
        }
        related.into_iter().for_each(|link| self.related.count(link));
    }

    /// What verbs told first, then what stood together and is not told of already.
    pub(super) fn into_relations(self) -> Vec<ExtractedRelation> {
        let pair = |link: &Link| (link.source.min(link.target), link.source.max(link.target));
        let told_pairs: BTreeSet<_> = self.told.links.iter().map(|(link, _)| pair(link)).collect();
        let related = self.related.links.into_iter().filter(|(link, _)| !told_pairs.contains(&pair(link)));
        let relation = |(link, weight): (Link, f32)| ExtractedRelation {
            source: link.source,
            relation: link.relation.to_owned(),
            target: link.target,
            weight,
        };
        self.told.links.into_iter().chain(related).map(relation).collect()
    }
}

/// What a sentence has told so far that goes on: lists on both sides of a verb, and a second verb of the same name.
#[derive(Debug, Default)]
struct Telling {
    /// The last link told forwards: `X uses Y and Z`.
    last: Option<Link>,
    /// Names of a list before its verb: `X and Y use Z`.
    subjects: Vec<usize>,
    /// The list has its `and`. After a mere comma somebody else may act: `after the Falcon launch, Alice uses Kafka`.
    is_closed: bool,
}

impl Telling {
    /// The links that a neighbour adds.
    fn read(
        &mut self,
        sentence: &Sentence<'_, '_>,
        first: &Mention,
        next: &Mention,
        before: usize,
        behind: usize,
    ) -> Vec<Link> {
        let between = &sentence.text[first.end..next.start];
        if let Some(link) = self.last.and_then(|last| again(sentence, first, between, last, behind)) {
            self.last = Some(link);
            return vec![link];
        }
        if let Some(link) = told(sentence, first, between, before, behind) {
            let is_forward = link.source == before;
            self.last = is_forward.then_some(link);
            let subjects = std::mem::take(&mut self.subjects).into_iter();
            let sharing = subjects.filter(|&it| is_forward && self.is_closed && it != behind && it != before);
            return std::iter::once(link).chain(sharing.map(|source| Link { source, ..link })).collect();
        }
        if !is_list(between) {
            *self = Self::default();
            return Vec::new();
        }
        if self.last.is_none() {
            self.subjects.push(before);
            self.is_closed = between.contains("and") || between.contains('&');
        }
        self.last = self.last.map(|link| Link { target: behind, ..link });
        self.last.filter(|link| link.source != link.target).into_iter().collect()
    }
}

/// The same name did something else, too: `X works at Y and reports to Z`.
fn again(sentence: &Sentence<'_, '_>, first: &Mention, between: &str, last: Link, behind: usize) -> Option<Link> {
    let rest = between.trim_start_matches(',').strip_prefix(" and ")?;
    told(sentence, first, rest, last.source, behind).filter(|link| link.source == last.source)
}

/// Links in order of first occurrence, no more than one extraction may hold.
#[derive(Debug, Default)]
struct Counted {
    links: Vec<(Link, f32)>,
    places: HashMap<Link, usize>,
}

impl Counted {
    fn count(&mut self, link: Link) {
        if let Some(&place) = self.places.get(&link) {
            self.links[place].1 += 1.0;
        } else if self.links.len() < EXTRACTED_RELATIONS_MAX {
            self.places.insert(link, self.links.len());
            self.links.push((link, 1.0));
        }
    }
}

/// The link that the words around two neighbours tell.
fn told(sentence: &Sentence<'_, '_>, first: &Mention, between: &str, before: usize, behind: usize) -> Option<Link> {
    if before == behind || between.len() > GAP_BYTES_MAX {
        return None;
    }
    let words = words(between)?;
    let forward = |relation| Link { source: before, relation, target: behind };
    let backward = |relation| Link { source: behind, relation, target: before };
    if let Some((relation, direction)) = verb(&words) {
        return Some(if direction == Direction::Forward { forward(relation) } else { backward(relation) });
    }
    let lead_start = floor_boundary(sentence.text, first.start.saturating_sub(LEAD_BYTES_MAX)).max(sentence.start);
    let lead = self::words(&sentence.text[lead_start..first.start]).unwrap_or_default();
    is_replacement(&lead.join(" "), &words.join(" ")).then(|| backward(REPLACED))
}

/// The verb among the words between two names, if nothing else is told there.
fn verb(words: &[String]) -> Option<(&'static str, Direction)> {
    let heads = words.iter().take_while(|word| is_head(word)).count();
    // The first word may be both: `calls` is what a thing does, `call` what it is.
    (0..=heads).find_map(|start| {
        let (length, relation, direction) = relation_at(&words[start..])?;
        let describing = &words[start + length..];
        let is_description = describing.len() <= DESCRIBING_WORDS_MAX && !describing.iter().any(|word| is_joint(word));
        is_description.then_some((relation, direction))
    })
}

/// The words of a gap in lower case without fillers; none when it holds more than words.
fn words(gap: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    for word in gap.trim_matches(['"', '`', '“', '”', ' ', '(', '*']).split_whitespace() {
        let is_plain = word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
        if !is_plain {
            return None;
        }
        let word = word.to_ascii_lowercase();
        if !is_filler(&word) {
            words.push(word);
        }
    }
    (!words.is_empty()).then_some(words)
}

fn is_list(between: &str) -> bool {
    let joint = between.trim_matches(['"', '`', '“', '”', ' ', '*']);
    matches!(joint, "," | "and" | ", and" | "&" | "and the" | ", the")
}
