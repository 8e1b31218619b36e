//! `search_memory`.

use std::sync::Arc;

use rootset_api::{Detail, EntityResult, MemoryResult, SearchAnswer, SearchMemory, SearchMode, SearchResult};
use rootset_model::identity::normalise;
use rootset_model::limits::{SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX, SEARCH_TOKENS_DEFAULT, SNIPPET_CHARS_MAX};
use rootset_model::{Timestamp, Trust};
use rootset_store::{EntityHit, Hit, SearchFilters, SearchRequest, Workspace};
use rootset_text::terms::{self, QueryTerm};
use rootset_text::{dates, snippet};

use super::entities::origin;
use super::{about, nearest};
use crate::caller::Caller;
use crate::contradictions;
use crate::error::ServiceError;
use crate::fields::{check_query, checked_tags, clamped, not_negative};
use crate::labels::{self, Label};
use crate::operation::Operation;
use crate::personal::{Places, memory_of, waits};
use crate::personal_hits;
use crate::ranking::{self, Question};
use crate::service::Service;

/// Words of a query that may together be the name of an entity, and how many such names are looked up.
const NAME_WORDS_MAX: usize = 4;
const NAMES_MAX: usize = 64;

impl Operation for SearchMemory {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<SearchAnswer, ServiceError> {
        if let Some(about) = self.about.clone() {
            return about::what_is_known(&self, &about, service, caller);
        }
        if wants_brief(&self, caller) {
            return brief(service, caller, self.workspace_id.as_deref());
        }
        let query = self.query.clone().unwrap_or_default();
        check_query(&query)?;
        let limit = clamped("limit", self.limit, SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX)? as usize;
        let max_tokens = match not_negative("max_tokens", self.max_tokens)? {
            0 => SEARCH_TOKENS_DEFAULT,
            given => given,
        };
        let now = service.now();
        let filters = filters(&self, now)?;
        let terms = terms::query_terms(&query);
        let words: Vec<String> = terms.iter().map(|term| term.term.clone()).collect();
        let vector = query_vector(service, &query);
        let names = possible_names(&query);
        let asked = Asked::new(&query, &words, now);
        let forms = labels::forms(&asked.labels);
        let request = SearchRequest {
            terms: &words,
            names: &names,
            labels: &forms,
            vector: vector.as_ref().map(|(space, vector)| (space.as_str(), vector.as_slice())),
            filters: &filters,
            limit,
            now,
        };
        let places = service.places_to_search(caller, self.workspace_id.as_deref(), self.memory_of)?;
        let results = match self.mode.unwrap_or(SearchMode::Memories) {
            SearchMode::Memories => in_places(&self, service, &places, &request, &asked, &terms)?,
            // Names of entities are those of one graph.
            SearchMode::Entities => match places.project.as_ref().or(places.personal.as_ref()) {
                Some(workspace) => entities(&self, service, workspace, &request, &asked)?,
                None => Vec::new(),
            },
        };
        let (results, truncated) = cut(results, max_tokens as usize);
        for (workspace, is_personal) in [(&places.project, false), (&places.personal, true)] {
            let used = results.iter().filter_map(|result| match result {
                SearchResult::Memory(memory) => (memory.memory_of.is_some() == is_personal).then_some(memory.memory_id),
                SearchResult::Entity(_) => None,
            });
            if let Some(workspace) = workspace {
                service.uses.record(workspace, used, service.now());
            }
        }
        let mut signals = vec!["lexical".to_owned(), "graph".to_owned()];
        if vector.is_some() {
            signals.push("vectors".to_owned());
        }
        let place = places.project.as_ref().or(places.personal.as_ref()).filter(|_| results.is_empty());
        let nearest = place.map(|workspace| nearest::to(&query, service, workspace)).transpose()?.flatten();
        Ok(SearchAnswer {
            nothing_relevant: results.is_empty().then_some(true),
            results,
            signals,
            truncated: truncated.then_some(true),
            nearest,
            known: None,
            brief: None,
        })
    }
}

pub(super) fn filters(asked: &SearchMemory, now: Timestamp) -> Result<SearchFilters, ServiceError> {
    Ok(SearchFilters {
        source: asked.source.clone(),
        tags: checked_tags(asked.tags.as_deref().unwrap_or_default())?,
        created_after: asked.created_after.map(|it| it.at(now)),
        created_before: asked.created_before.map(|it| it.at(now)),
    })
}

/// The memories of one workspace that the ranking finds for some words.
pub(super) fn found_by(
    query: &str,
    filters: &SearchFilters,
    limit: usize,
    service: &Service,
    workspace: &Workspace,
) -> Result<Vec<Hit>, ServiceError> {
    let now = service.now();
    let words: Vec<String> = terms::query_terms(query).into_iter().map(|term| term.term).collect();
    let vector = query_vector(service, query);
    let names = possible_names(query);
    let asked = Asked::new(query, &words, now);
    let forms = labels::forms(&asked.labels);
    let vector = vector.as_ref().map(|(space, vector)| (space.as_str(), vector.as_slice()));
    let request = SearchRequest { terms: &words, names: &names, labels: &forms, vector, filters, limit, now };
    let rank = |candidates: &_| ranking::rank(candidates, &asked.about(&words), now, false);
    Ok(service.store.search(workspace, &request, &rank)?)
}

/// Who asks for nothing is told what matters, unless it wants the list.
fn wants_brief(asked: &SearchMemory, caller: &Caller) -> bool {
    let has_words = asked.query.as_deref().is_some_and(|query| !query.trim().is_empty());
    let has_filters = asked.tags.as_ref().is_some_and(|tags| !tags.is_empty())
        || asked.source.is_some()
        || asked.created_after.is_some()
        || asked.created_before.is_some()
        || asked.mode == Some(SearchMode::Entities)
        || asked.memory_of.is_some();
    !has_words && !has_filters && caller.detail == Detail::Brief
}

/// Where there is nothing to tell, names at least say what there is.
fn brief(service: &Service, caller: &Caller, workspace_id: Option<&str>) -> Result<SearchAnswer, ServiceError> {
    let brief = service.brief(caller, workspace_id)?.map(|brief| brief.text);
    let nearest = match brief {
        Some(_) => None,
        None => nearest::latest(service, &service.workspace(caller, workspace_id)?)?,
    };
    let (results, signals) = (Vec::new(), Vec::new());
    Ok(SearchAnswer { results, signals, truncated: None, nothing_relevant: None, nearest, known: None, brief })
}

/// What the ranking reads of a query beside its terms.
struct Asked {
    labels: Vec<Label>,
    phrases: Vec<String>,
    periods: Vec<(Timestamp, Timestamp)>,
    asks_for_state: bool,
}

impl Asked {
    fn new(query: &str, terms: &[String], now: Timestamp) -> Self {
        let periods = dates::periods(query, Some(now.0)).into_iter();
        Self {
            labels: labels::possible(query, terms),
            phrases: terms::quoted_phrases(query),
            periods: periods.map(|(from, until)| (Timestamp(from), Timestamp(until))).collect(),
            asks_for_state: terms::asks_for_state(query),
        }
    }

    fn about<'a>(&'a self, terms: &'a [String]) -> Question<'a> {
        let Self { labels, phrases, periods, asks_for_state } = self;
        Question { terms, labels, phrases, periods, asks_for_state: *asks_for_state }
    }
}

/// The project's, and behind them what of personal memory speaks of the same. Each is ranked alone.
fn in_places(
    asked: &SearchMemory,
    service: &Service,
    places: &Places,
    request: &SearchRequest<'_>,
    question: &Asked,
    terms: &[QueryTerm],
) -> Result<Vec<SearchResult>, ServiceError> {
    let (project, personal) = match (&places.project, &places.personal) {
        (Some(project), Some(personal)) => (project, personal),
        (Some(only), None) | (None, Some(only)) => {
            return memories(asked, service, only, request, question, terms, &|_| true);
        }
        (None, None) => return Ok(Vec::new()),
    };
    let mut found = memories(asked, service, project, request, question, terms, &|_| true)?;
    // A list without words is of one place, unless somebody wants both.
    if terms.is_empty() && asked.memory_of.is_none() {
        return Ok(found);
    }
    let room = personal_hits::room(request.limit, found.len());
    let wider = SearchRequest { limit: room * personal_hits::LOOKED_AT_PER_HIT, ..request.clone() };
    let is_relevant = |hit: &Hit| personal_hits::is_relevant(request.terms, &hit.content);
    let mut beside = memories(asked, service, personal, &wider, question, terms, &is_relevant)?;
    beside.truncate(room);
    found.truncate(request.limit - beside.len());
    found.append(&mut beside);
    Ok(found)
}

fn memories(
    asked: &SearchMemory,
    service: &Service,
    workspace: &Workspace,
    request: &SearchRequest<'_>,
    question: &Asked,
    terms: &[QueryTerm],
    is_wanted: &dyn Fn(&Hit) -> bool,
) -> Result<Vec<SearchResult>, ServiceError> {
    let explain = asked.explain.unwrap_or(false);
    let rank = |candidates: &_| ranking::rank(candidates, &question.about(request.terms), request.now, explain);
    let mut hits: Vec<Hit> = service.store.search(workspace, request, &rank)?;
    hits.retain(|hit| is_wanted(hit));
    let mut contradicted = contradictions::newer_first(&mut hits);
    let result = |hit: Hit| {
        let contradicted_by = contradicted.remove(&hit.ranked.memory);
        SearchResult::Memory(MemoryResult { contradicted_by, ..memory_result(hit, workspace, terms, explain) })
    };
    Ok(hits.into_iter().map(result).collect())
}

fn entities(
    asked: &SearchMemory,
    service: &Service,
    workspace: &Workspace,
    request: &SearchRequest<'_>,
    question: &Asked,
) -> Result<Vec<SearchResult>, ServiceError> {
    let rank = |candidates: &_| ranking::rank(candidates, &question.about(request.terms), request.now, false);
    let hits = service.store.search_entities(workspace, request, &rank)?;
    let with_ids = asked.include_memory_ids.unwrap_or(true);
    let explain = asked.explain.unwrap_or(false);
    Ok(hits.into_iter().map(|hit| SearchResult::Entity(entity_result(hit, with_ids, explain))).collect())
}

fn memory_result(hit: Hit, workspace: &Workspace, terms: &[QueryTerm], explain: bool) -> MemoryResult {
    let text = hit.part.text_of(&hit.content);
    let chunk = text.get(hit.start..hit.start + hit.length).unwrap_or(&text);
    MemoryResult {
        memory_id: hit.ranked.memory,
        name: hit.name,
        snippet: snippet::snippet(chunk, terms, SNIPPET_CHARS_MAX),
        full_length: hit.content.context.chars().count(),
        topic: hit.content.topic,
        updated_at: hit.updated_at,
        source: hit.source,
        tags: hit.tags,
        trust: Some(hit.trust).filter(|trust| *trust < Trust::Agent),
        quarantined: hit.trust.is_quarantined().then_some(true),
        memory_of: memory_of(workspace),
        waiting: waits(workspace, hit.trust, hit.pinned_by),
        contradicted_by: None,
        score: explain.then_some(hit.ranked.score),
        why: explain.then_some(hit.ranked.why),
    }
}

fn entity_result(hit: EntityHit, with_ids: bool, explain: bool) -> EntityResult {
    let current = hit.entity.memories.iter().filter(|it| it.is_current).map(|it| it.memory);
    EntityResult {
        entity_id: hit.entity.id.to_string(),
        memory_ids: with_ids.then(|| current.collect()),
        quarantined: hit.entity.is_quarantined.then_some(true),
        name: hit.entity.name,
        entity_type: hit.entity.entity_type,
        description: hit.entity.description,
        origin: origin(hit.entity.is_untracked).to_owned(),
        refcount: hit.entity.refcount,
        score: explain.then_some(hit.score),
    }
}

/// The query's vector, where the store can search by it. A search must not fail because a model does: without it the answer
/// says `lexical` and `graph`.
fn query_vector(service: &Service, query: &str) -> Option<(String, Vec<f32>)> {
    let embedder = service.embedder.as_ref().filter(|_| !query.trim().is_empty() && !service.store.lacks_vectors())?;
    match embedder.embed(&[query]) {
        Ok(mut vectors) => Some((embedder.id().to_owned(), vectors.pop()?)),
        Err(error) => {
            tracing::warn!(%error, "embedding a query failed; searching by words alone");
            None
        }
    }
}

/// Runs of one to four words, as names of entities are normalised.
fn possible_names(query: &str) -> Vec<String> {
    let is_edge = |c: char| !c.is_alphanumeric();
    let words: Vec<&str> = query.split_whitespace().take(NAMES_MAX).map(|word| word.trim_matches(is_edge)).collect();
    let mut names: Vec<String> = Vec::new();
    for length in (1..=NAME_WORDS_MAX).rev() {
        for run in words.windows(length).filter(|run| run.iter().all(|word| !word.is_empty())) {
            let name = normalise(&run.join(" "));
            if name.chars().count() > 2 && names.len() < NAMES_MAX && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// Cuts from the end until the answer fits, at four bytes a token; one result always stays.
fn cut(mut results: Vec<SearchResult>, max_tokens: usize) -> (Vec<SearchResult>, bool) {
    let mut bytes = 0;
    let fitting = results
        .iter()
        .take_while(|result| {
            bytes += serde_json::to_string(result).map_or(0, |json| json.len());
            bytes / 4 <= max_tokens
        })
        .count()
        .max(1);
    let is_cut = fitting < results.len();
    results.truncate(fitting);
    (results, is_cut)
}
