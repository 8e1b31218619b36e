//! Which memories say something else of the same thing, so that only one of them can hold.
//!
//! Nothing of it is stored: a contradiction is what two current texts say. So it is gone when one of them is superseded, trashed
//! or changed, back when that is undone, and no erasure has to look for it. What somebody says of a pair (`both_hold`) is in
//! the metadata of one of the two, with the times at which both texts were written: it holds until one of them changes.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use rootset_model::{MemoryId, Timestamp};
use rootset_store::{ComparableNote, Hit, StoreError, Workspace};
use rootset_text::claims::{self, Claim};
use serde_json::{Map, Value};

use crate::error::ServiceError;
use crate::service::Service;

/// The field of the metadata that names the pairs of which both hold.
const BOTH_HOLD: &str = "both_hold";
/// Pairs of one memory: more are a topic that somebody should sort out.
const BOTH_HOLD_MAX: usize = 32;
/// Results of a search that are compared: what stands further behind is hardly read.
const HITS_COMPARED_MAX: usize = 20;
/// Notes of a list that are compared, those that changed last.
const NOTES_COMPARED_MAX: usize = 2_000;
/// Older notes that one note is compared with: those that share the most words with it.
const OLDER_COMPARED_MAX: usize = 24;
/// A word that more notes hold does not lead from one to another.
const NOTES_PER_WORD_MAX: usize = 64;

/// A text among others that it may contradict.
struct Said<'a> {
    id: MemoryId,
    name: Option<&'a str>,
    at: Timestamp,
    metadata: Option<&'a str>,
    claims: Vec<Claim>,
}

impl<'a> Said<'a> {
    fn is_newer_than(&self, other: &Self) -> bool {
        (self.at, self.id) > (other.at, other.id)
    }

    /// Whether somebody said of the two that both hold, and neither changed since.
    fn holds_beside(&self, other: &Self) -> bool {
        let says = |of: &Self, other: &Self| {
            let metadata = of.metadata.filter(|it| it.contains(BOTH_HOLD))?;
            let metadata: Value = serde_json::from_str(metadata).ok()?;
            metadata[BOTH_HOLD].get(other.id.to_string())?.as_str().map(|times| times == written_at(of.at, other.at))
        };
        says(self, other) == Some(true) || says(other, self) == Some(true)
    }

    fn shown_name(&self) -> String {
        self.name.map_or_else(|| self.id.to_string(), str::to_owned)
    }
}

impl<'a> From<&'a ComparableNote> for Said<'a> {
    fn from(note: &'a ComparableNote) -> Self {
        Self {
            id: note.id,
            name: note.name.as_deref(),
            at: note.ingested_at,
            metadata: note.metadata.as_deref(),
            claims: claims::claims(&note.context),
        }
    }
}

impl<'a> From<&'a Hit> for Said<'a> {
    fn from(hit: &'a Hit) -> Self {
        Self {
            id: hit.ranked.memory,
            name: hit.name.as_deref(),
            at: hit.ingested_at,
            metadata: hit.metadata.as_deref(),
            claims: claims::claims(&hit.content.context),
        }
    }
}

fn written_at(mine: Timestamp, others: Timestamp) -> String {
    format!("{} {}", mine.0, others.0)
}

/// The metadata of a memory with what somebody said: that it and these others both hold.
pub(crate) fn with_both_hold(
    metadata: Option<&str>,
    at: Timestamp,
    others: &[(MemoryId, Timestamp)],
) -> Result<String, ServiceError> {
    let stored = metadata.map(serde_json::from_str::<Map<String, Value>>).transpose();
    let mut metadata = stored.map_err(|_| StoreError::UnreadableValue("metadata"))?.unwrap_or_default();
    let pairs = metadata.entry(BOTH_HOLD).or_insert_with(|| Value::Object(Map::new()));
    let Some(pairs) = pairs.as_object_mut() else {
        return Err(ServiceError::conflict(format!("`metadata.{BOTH_HOLD}` of this memory is something else")));
    };
    for (other, others_at) in others {
        pairs.insert(other.to_string(), written_at(at, *others_at).into());
    }
    if pairs.len() > BOTH_HOLD_MAX {
        return Err(ServiceError::invalid(format!(
            "`both_hold` would name {} memories, more than {BOTH_HOLD_MAX}",
            pairs.len()
        )));
    }
    Ok(Value::Object(metadata).to_string())
}

/// Moves the newer of two that contradict each other in front of the older, and names it by the older one's id.
pub(crate) fn newer_first(hits: &mut Vec<Hit>) -> HashMap<MemoryId, String> {
    let said: Vec<Said<'_>> = hits.iter().take(HITS_COMPARED_MAX).map(Said::from).collect();
    let trusted: Vec<bool> = hits.iter().map(|hit| !hit.trust.is_quarantined()).collect();
    let mut newest: HashMap<usize, usize> = HashMap::new();
    for newer in (0..said.len()).filter(|place| trusted[*place] && !said[*place].claims.is_empty()) {
        let olds: Vec<usize> = (0..said.len()).filter(|old| said[newer].is_newer_than(&said[*old])).collect();
        for old in disagreeing(&said, newer, olds) {
            let known = newest.entry(old).or_insert(newer);
            if said[newer].is_newer_than(&said[*known]) {
                *known = newer;
            }
        }
    }
    let named = newest.iter().map(|(old, newer)| (said[*old].id, said[*newer].shown_name())).collect();
    let mut order: Vec<usize> = (0..hits.len()).collect();
    // From the front, so that what was moved up is not moved behind by what it replaces itself.
    for old in 0..said.len() {
        if let Some(newer) = newest.get(&old) {
            let place = |it: usize, order: &[usize]| order.iter().position(|at| *at == it).unwrap_or(it);
            let (above, below) = (place(old, &order), place(*newer, &order));
            if above < below {
                order[above..=below].rotate_right(1);
            }
        }
    }
    drop(said);
    let mut taken: Vec<Option<Hit>> = hits.drain(..).map(Some).collect();
    hits.extend(order.into_iter().filter_map(|place| taken[place].take()));
    named
}

/// Sentences, by memory and place, with the name of the newest memory that says otherwise.
pub(crate) type ContradictedSentences = HashMap<(MemoryId, usize), String>;

/// The sentences of hits that newer ones contradict. Newer is what happened later, or was written later where that is not known.
pub(crate) fn contradicted_sentences(hits: &[&Hit]) -> ContradictedSentences {
    let mut newest_first: Vec<&Hit> = hits.to_vec();
    newest_first.sort_by_key(|hit| Reverse(dated(hit)));
    let said: Vec<Said<'_>> = newest_first.iter().map(|hit| Said::from(*hit)).collect();
    let mut found = ContradictedSentences::new();
    for (place, newer) in said.iter().enumerate().filter(|(_, newer)| !newer.claims.is_empty()) {
        let older = &said[place + 1..];
        let claims: Vec<&[Claim]> = older.iter().map(|it| it.claims.as_slice()).collect();
        for (older, update) in older.iter().zip(claims::updates(&claims, &newer.claims)) {
            if let Some(update) = update.filter(|_| !newer.holds_beside(older)) {
                found.entry((older.id, update.old.0)).or_insert_with(|| newer.shown_name());
            }
        }
    }
    found
}

/// When what a hit tells of happened.
pub(crate) fn dated(hit: &Hit) -> Timestamp {
    hit.occurred_from.unwrap_or(hit.updated_at)
}

/// Of these older texts, those that a newer one disagrees with.
fn disagreeing(said: &[Said<'_>], newer: usize, olds: Vec<usize>) -> Vec<usize> {
    let texts: Vec<&[Claim]> = olds.iter().map(|old| said[*old].claims.as_slice()).collect();
    let updates = claims::updates(&texts, &said[newer].claims);
    let pairs = olds.into_iter().zip(updates).filter(|(_, update)| update.is_some()).map(|(old, _)| old);
    pairs.filter(|old| !said[newer].holds_beside(&said[*old])).collect()
}

/// What contradicts what, by id: the newer and the older ones.
#[derive(Debug, Default)]
pub(crate) struct Contradictions {
    pub contradicted_by: HashMap<MemoryId, Vec<String>>,
    pub contradicts: HashMap<MemoryId, Vec<String>>,
}

impl Contradictions {
    pub(crate) fn ids(&self) -> Vec<MemoryId> {
        let ids: HashSet<MemoryId> = self.contradicted_by.keys().chain(self.contradicts.keys()).copied().collect();
        let mut ids: Vec<MemoryId> = ids.into_iter().collect();
        ids.sort();
        ids
    }
}

impl Service {
    /// The contradictions among the notes that changed last.
    pub(crate) fn contradictions(&self, workspace: &Workspace) -> Result<Contradictions, ServiceError> {
        let notes = self.store.comparable_notes(workspace, self.now(), NOTES_COMPARED_MAX)?;
        let said: Vec<Said<'_>> = notes.iter().map(Said::from).collect();
        let words: Vec<Vec<String>> = said.iter().map(|it| claims::subject_terms(&it.claims)).collect();
        let mut holders: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, words) in words.iter().enumerate() {
            words.iter().for_each(|word| holders.entry(word).or_default().push(place));
        }
        let mut found = Contradictions::default();
        for newer in 0..said.len() {
            let mut shared: HashMap<usize, usize> = HashMap::new();
            for holders in words[newer].iter().filter_map(|word| holders.get(word.as_str())) {
                if holders.len() <= NOTES_PER_WORD_MAX {
                    let olds = holders.iter().filter(|old| said[newer].is_newer_than(&said[**old]));
                    olds.for_each(|old| *shared.entry(*old).or_default() += 1);
                }
            }
            let mut olds: Vec<(usize, usize)> = shared.into_iter().collect();
            olds.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
            let olds = olds.into_iter().take(OLDER_COMPARED_MAX).map(|(old, _)| old).collect();
            for old in disagreeing(&said, newer, olds) {
                found.contradicted_by.entry(said[old].id).or_default().push(said[newer].shown_name());
                found.contradicts.entry(said[newer].id).or_default().push(said[old].shown_name());
            }
        }
        Ok(found)
    }
}
