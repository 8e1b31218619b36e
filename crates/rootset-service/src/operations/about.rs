//! `search_memory` with `about`: what is known about something, as sentences with their dates, the newest first. An older
//! sentence that a newer memory contradicts is marked.
//!
//! Which memories are read is the ranking's choice; what of them is said is decided by `about.rs` of rootset-text.

use std::sync::Arc;

use rootset_api::{Known, SearchAnswer, SearchMemory};
use rootset_model::Trust;
use rootset_model::limits::{SEARCH_LIMIT_MAX, SEARCH_TOKENS_DEFAULT};
use rootset_store::{Hit, SearchFilters, Workspace};
use rootset_text::about::{Subject, all_sentences};

use super::nearest;
use super::search::{filters, found_by};
use crate::caller::Caller;
use crate::contradictions::{ContradictedSentences, contradicted_sentences};
use crate::error::ServiceError;
use crate::fields::{check_query, checked_tags, clamped, not_negative};
use crate::personal::{memory_of, waits};
use crate::service::Service;

/// Memories that are read; each pair of them may be compared.
const MEMORIES_MAX: usize = 40;
/// Sentences of one memory: a document about something is to be read itself.
const SENTENCES_OF_ONE_MAX: usize = 8;
const LIMIT_DEFAULT: i64 = 20;
/// A sentence without an end, such as a table or a log, is cut.
const SENTENCE_CHARS_MAX: usize = 300;

pub(super) fn what_is_known(
    asked: &SearchMemory,
    about: &str,
    service: &Arc<Service>,
    caller: &Caller,
) -> Result<SearchAnswer, ServiceError> {
    check_query(about)?;
    if asked.query.as_deref().is_some_and(|query| !query.trim().is_empty()) || asked.mode.is_some() {
        return Err(ServiceError::invalid("`about` stands alone: give neither `query` nor `mode` with it"));
    }
    let Some(subject) = Subject::new(about) else {
        return Err(ServiceError::invalid("`about` names nothing").with_hint("give a name or a few words"));
    };
    let limit = clamped("limit", asked.limit, LIMIT_DEFAULT, SEARCH_LIMIT_MAX)? as usize;
    let tokens_max = match not_negative("max_tokens", asked.max_tokens)? {
        0 => SEARCH_TOKENS_DEFAULT,
        given => given,
    };
    let filters = filters(asked, service.now())?;
    let places = service.places_to_search(caller, asked.workspace_id.as_deref(), asked.memory_of)?;
    let mut known = Vec::new();
    for workspace in [&places.project, &places.personal].into_iter().flatten() {
        let mut hits = found_by(about, &filters, MEMORIES_MAX, service, workspace)?;
        if let Some(tagged) = tagged(about, &filters) {
            let is_new = |hit: &Hit| hits.iter().all(|it| it.ranked.memory != hit.ranked.memory);
            let more = found_by("", &tagged, MEMORIES_MAX, service, workspace)?;
            let more: Vec<Hit> = more.into_iter().filter(is_new).collect();
            hits.extend(more);
        }
        let told: Vec<Told> = hits.into_iter().filter_map(|hit| Told::new(hit, &subject)).collect();
        service.uses.record(workspace, told.iter().map(|it| it.hit.ranked.memory), service.now());
        let contradicted = contradicted_sentences(&told.iter().map(|it| &it.hit).collect::<Vec<_>>());
        for it in &told {
            known.extend(it.said.iter().map(|said| it.known(said, workspace, &contradicted)));
        }
    }
    // Sentences of one memory stay in their order.
    known.sort_by_key(|it| std::cmp::Reverse(it.occurred_at.unwrap_or(it.updated_at)));
    let mut bytes = 0;
    let fitting = known.iter().take(limit).take_while(|it| {
        bytes += it.text.len() + it.name.len();
        bytes / 4 <= tokens_max as usize
    });
    let shown = fitting.count().max(1).min(known.len());
    let truncated = shown < known.len();
    known.truncate(shown);
    let nothing = known.is_empty();
    let place = places.project.as_ref().or(places.personal.as_ref()).filter(|_| nothing);
    Ok(SearchAnswer {
        results: Vec::new(),
        signals: Vec::new(),
        truncated: truncated.then_some(true),
        nothing_relevant: nothing.then_some(true),
        nearest: place.map(|workspace| nearest::to(about, service, workspace)).transpose()?.flatten(),
        known: (!nothing).then_some(known),
        brief: None,
    })
}

/// What is tagged with it, whatever its words are; words are no tags if they are many.
fn tagged(about: &str, filters: &SearchFilters) -> Option<SearchFilters> {
    let tags: Vec<String> = filters.tags.iter().cloned().chain([about.trim().to_lowercase()]).collect();
    Some(SearchFilters { tags: checked_tags(&tags).ok()?, ..filters.clone() })
}

/// A memory that says something about it.
struct Told {
    hit: Hit,
    said: Vec<Said>,
}

/// A sentence of its text, or one of its decisions.
struct Said {
    text: String,
    /// Where in the text; decisions stand apart.
    start: Option<usize>,
}

impl Told {
    fn new(hit: Hit, subject: &Subject) -> Option<Self> {
        let text = &hit.content.context;
        let has_own_topic = !hit.content.is_topic_of_text() && subject.is_named_in(&hit.content.topic);
        let is_about = has_own_topic || hit.tags.iter().any(|tag| subject.is_named_in(tag));
        let ranges = if is_about { all_sentences(text) } else { subject.sentences_in(text) };
        let sentences = ranges.into_iter().map(|it| Said { text: text[it.clone()].to_owned(), start: Some(it.start) });
        let decided = hit.content.decisions.iter().filter(|it| is_about || subject.is_named_in(it));
        let decided = decided.map(|it| Said { text: it.clone(), start: None });
        let said: Vec<Said> = sentences.chain(decided).take(SENTENCES_OF_ONE_MAX).collect();
        if said.is_empty() {
            return None;
        }
        Some(Self { said, hit })
    }

    fn name(&self) -> String {
        self.hit.name.clone().unwrap_or_else(|| self.hit.ranked.memory.to_string())
    }

    fn known(&self, said: &Said, workspace: &Workspace, contradicted: &ContradictedSentences) -> Known {
        let Hit { trust, pinned_by, .. } = self.hit;
        Known {
            text: rootset_text::snippet::preview(&said.text, SENTENCE_CHARS_MAX),
            name: self.name(),
            updated_at: self.hit.updated_at,
            occurred_at: self.hit.occurred_from,
            source: self.hit.source.clone(),
            contradicted_by: said.start.and_then(|start| contradicted.get(&(self.hit.ranked.memory, start)).cloned()),
            trust: Some(trust).filter(|trust| *trust < Trust::Agent),
            quarantined: trust.is_quarantined().then_some(true),
            memory_of: memory_of(workspace),
            waiting: waits(workspace, trust, pinned_by),
        }
    }
}
