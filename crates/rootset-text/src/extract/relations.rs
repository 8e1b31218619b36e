//! How the entities of a sentence are related: by a verb between two of them, or by standing next to each other.
//!
//! Links per sentence grow with its mentions, not with their square. Not here: the verbs (see `verbs`).

use std::collections::{BTreeSet, HashMap};

use rootset_model::ExtractedRelation;
use rootset_model::limits::EXTRACTED_RELATIONS_MAX;

use crate::chars::floor_boundary;
use crate::extract::Entities;
use crate::extract::mentions::Mention;
use crate::extract::reading::Sentence;
use crate::extract::verbs::{Direction, REPLACED, is_filler, is_replacement, relation_of};

const RELATED: &str = "related_to";
/// A verb phrase is shorter; more text between two entities says something else.
const GAP_BYTES_MAX: usize = 60;
/// Enough for the longest words that may stand before an entity.
const LEAD_BYTES_MAX: usize = 40;

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
        // The last link told forwards, for lists: `X uses Y and Z`.
        let mut list: Option<Link> = None;
        for (pair, place) in mentions.windows(2).zip(places.windows(2)) {
            let (Some(before), Some(behind)) = (place[0], place[1]) else {
                list = None;
                continue;
            };
            let between = &sentence.text[pair[0].end..pair[1].start];
            if let Some(link) = told(sentence, &pair[0], between, before, behind) {
                self.told.count(link);
                list = (link.source == before).then_some(link);
                continue;
            }
            list = list.filter(|_| is_list(between)).map(|link| Link { target: behind, ..link });
            if let Some(link) = list.filter(|link| link.source != link.target) {
                self.told.count(link);
            }
            let (source, target) =
                if found.keys[before] <= found.keys[behind] { (before, behind) } else { (behind, before) };
            if source != target {
                related.insert(Link { source, relation: RELATED, target });
            }
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
    let phrase = phrase(between)?;
    let forward = |relation| Link { source: before, relation, target: behind };
    let backward = |relation| Link { source: behind, relation, target: before };
    if let Some((relation, direction)) = relation_of(&phrase) {
        return Some(if direction == Direction::Forward { forward(relation) } else { backward(relation) });
    }
    let lead_start = floor_boundary(sentence.text, first.start.saturating_sub(LEAD_BYTES_MAX)).max(sentence.start);
    let lead = self::phrase(&sentence.text[lead_start..first.start]).unwrap_or_default();
    is_replacement(&lead, &phrase).then(|| backward(REPLACED))
}

/// The words of a gap in lower case without fillers; none when it holds more than words.
fn phrase(gap: &str) -> Option<String> {
    let mut phrase = String::new();
    for word in gap.trim_matches(['"', '`', '“', '”', ' ', '(', '*']).split_whitespace() {
        if !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return None;
        }
        let word = word.to_ascii_lowercase();
        if !is_filler(&word) {
            if !phrase.is_empty() {
                phrase.push(' ');
            }
            phrase.push_str(&word);
        }
    }
    (!phrase.is_empty()).then_some(phrase)
}

fn is_list(between: &str) -> bool {
    let joint = between.trim_matches(['"', '`', '“', '”', ' ', '*']);
    matches!(joint, "," | "and" | ", and" | "&" | "and the" | ", the")
}
