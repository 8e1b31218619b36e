//! `search_memory`.

use std::sync::Arc;

use rootset_model::identity::normalise;
use rootset_model::limits::{SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX, SEARCH_TOKENS_DEFAULT, SNIPPET_CHARS_MAX};
use rootset_model::{MemoryId, Timestamp};
use rootset_store::{EntityHit, Hit, SearchFilters, SearchRequest, Workspace};
use rootset_text::snippet;
use rootset_text::tokens::{self, QueryTerm};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::{Effect, Operation};
use crate::ranking;
use crate::service::Service;
use crate::shared::{check_query, checked_tags, clamped, not_negative, origin};

/// Words of a query that may together be the name of an entity, and how many such names are looked up.
const NAME_WORDS_MAX: usize = 4;
const NAMES_MAX: usize = 64;

/// Find memories, or the entities they speak of, before asking or guessing. Any text is a valid query; without one:
/// pinned first, then newest.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SearchMemory {
    /// Workspace to search; absent: the current one.
    workspace_id: Option<String>,
    /// What to look for, in plain words.
    query: Option<String>,
    /// How many results (10, at most 100).
    limit: Option<i64>,
    /// `memories` (default) or `entities`.
    mode: Option<Mode>,
    /// Tags that all have to be there.
    tags: Option<Vec<String>>,
    /// Only memories of this source.
    source: Option<String>,
    created_after: Option<Timestamp>,
    created_before: Option<Timestamp>,
    /// Entities come with the ids of their memories (true).
    include_memory_ids: Option<bool>,
    /// Add scores and reasons.
    explain: Option<bool>,
    /// Tokens the answer may take (1,500); it is cut from the end.
    max_tokens: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    Memories,
    Entities,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchAnswer {
    /// Best first.
    pub results: Vec<SearchResult>,
    /// What the order is based on: `lexical`, `graph`, `vectors`.
    pub signals: Vec<String>,
    /// Set when results were cut to fit `max_tokens`.
    pub truncated: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum SearchResult {
    Memory(MemoryResult),
    Entity(EntityResult),
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct MemoryResult {
    pub memory_id: MemoryId,
    pub name: Option<String>,
    pub topic: String,
    /// The part of the text that matches best, at most 300 characters.
    pub snippet: String,
    /// Characters of the whole text.
    pub full_length: usize,
    pub updated_at: Timestamp,
    pub source: String,
    pub score: Option<f64>,
    pub why: Option<String>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct EntityResult {
    pub entity_id: String,
    pub name: String,
    #[serde(rename = "type")]
    pub entity_type: String,
    pub description: String,
    /// `derived` or `untracked`.
    pub origin: String,
    pub refcount: i64,
    /// Current memories that contribute, newest update first.
    pub memory_ids: Option<Vec<MemoryId>>,
    pub score: Option<f64>,
}

impl Operation for SearchMemory {
    const NAME: &'static str = "search_memory";
    const EFFECT: Effect = Effect::Read;
    const IS_IDEMPOTENT: bool = true;
    const IS_OPEN_WORLD: bool = true;
    type Response = SearchAnswer;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<SearchAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let query = self.query.clone().unwrap_or_default();
        check_query(&query)?;
        let limit = clamped("limit", self.limit, SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX)? as usize;
        let max_tokens = match not_negative("max_tokens", self.max_tokens)? {
            0 => SEARCH_TOKENS_DEFAULT,
            given => given,
        };
        let filters = SearchFilters {
            source: self.source.clone(),
            tags: checked_tags(self.tags.as_deref().unwrap_or_default())?,
            created_after: self.created_after,
            created_before: self.created_before,
        };
        let terms = tokens::query_terms(&query);
        let words: Vec<String> = terms.iter().map(|term| term.term.clone()).collect();
        let vector = query_vector(service, &query);
        let names = possible_names(&query);
        let request = SearchRequest {
            terms: &words,
            names: &names,
            vector: vector.as_ref().map(|(space, vector)| (space.as_str(), vector.as_slice())),
            filters: &filters,
            limit,
            now: service.now(),
        };
        let results = match self.mode.unwrap_or(Mode::Memories) {
            Mode::Memories => self.memories(service, &workspace, &request, &terms)?,
            Mode::Entities => self.entities(service, &workspace, &request)?,
        };
        let (results, truncated) = cut(results, max_tokens as usize);
        let used = results.iter().filter_map(|result| match result {
            SearchResult::Memory(memory) => Some(memory.memory_id),
            SearchResult::Entity(_) => None,
        });
        service.uses.record(&workspace, used, service.now());
        let mut signals = vec!["lexical".to_owned(), "graph".to_owned()];
        if vector.is_some() {
            signals.push("vectors".to_owned());
        }
        Ok(SearchAnswer { results, signals, truncated: truncated.then_some(true) })
    }
}

impl SearchMemory {
    fn memories(
        &self,
        service: &Service,
        workspace: &Workspace,
        request: &SearchRequest<'_>,
        terms: &[QueryTerm],
    ) -> Result<Vec<SearchResult>, ServiceError> {
        let explain = self.explain.unwrap_or(false);
        let rank = |candidates: &_| ranking::rank(candidates, request.terms, request.now, explain);
        let hits = service.store.search(workspace, request, &rank)?;
        Ok(hits.into_iter().map(|hit| SearchResult::Memory(memory_result(hit, terms, explain))).collect())
    }

    fn entities(
        &self,
        service: &Service,
        workspace: &Workspace,
        request: &SearchRequest<'_>,
    ) -> Result<Vec<SearchResult>, ServiceError> {
        let rank = |candidates: &_| ranking::rank(candidates, request.terms, request.now, false);
        let hits = service.store.search_entities(workspace, request, &rank)?;
        let with_ids = self.include_memory_ids.unwrap_or(true);
        let explain = self.explain.unwrap_or(false);
        Ok(hits.into_iter().map(|hit| SearchResult::Entity(entity_result(hit, with_ids, explain))).collect())
    }
}

fn memory_result(hit: Hit, terms: &[QueryTerm], explain: bool) -> MemoryResult {
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
        score: explain.then_some(hit.ranked.score),
        why: explain.then_some(hit.ranked.why),
    }
}

fn entity_result(hit: EntityHit, with_ids: bool, explain: bool) -> EntityResult {
    let current = hit.entity.memories.iter().filter(|it| it.is_current).map(|it| it.memory);
    EntityResult {
        entity_id: hit.entity.id.to_string(),
        memory_ids: with_ids.then(|| current.collect()),
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
