//! Recall at the prompt: memories that it clearly calls for and that are not in the window yet.
//!
//! Whether a memory is relevant is `recalling.rs` of `rootset-gc`; here its facts are collected: which words of the prompt a memory
//! holds, and how rare they are. By words alone: a model would cost more time than a prompt may wait.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use rootset_gc::recalling::{self, PromptTerm, fitting, is_clearly_relevant, tokens_of};
use rootset_messages::hooks::{HookAnswer, is_said_by_user};
use rootset_model::MemoryId;
use rootset_store::{Candidates, Ranked, Recent, SearchFilters, SearchRequest, Workspace};
use rootset_text::common_terms::is_common;
use rootset_text::frame::{self, Line};
use rootset_text::sentence_sets::sentences_of;
use rootset_text::terms::{self, QueryTerm};

use super::Occasion;
use super::files;
use super::session::{SessionNote, Step};
use crate::error::ServiceError;
use crate::personal::Places;
use crate::pushed_notes::{Note, pushed};
use crate::ranking::{self, Question};
use crate::service::Service;

/// Memories looked at for each that may be shown: some are shown already, and some may not be pushed.
const LOOKED_AT: usize = 12;
/// Sentences of a prompt that are looked at alone.
const SENTENCES_MAX: usize = 12;
/// A longer prompt is looked at up to here: what it asks is rarely said later.
const PROMPT_BYTES_MAX: usize = 8 * 1024;

impl Service {
    pub(super) fn recall(
        &self,
        occasion: &Occasion<'_>,
        prompt: &str,
        session: &SessionNote,
    ) -> Result<(HookAnswer, Step), ServiceError> {
        let silent = || Ok((HookAnswer::default(), Step::of("silent")));
        if !is_said_by_user(prompt) || session.window.recall_tokens >= recalling::WINDOW_TOKENS_MAX {
            return silent();
        }
        let prompt = beginning(prompt);
        let terms = terms::query_terms(prompt);
        // A prompt of several sentences may call for a memory with one of them.
        let sentences: Vec<Vec<QueryTerm>> =
            sentences_of(prompt).take(SENTENCES_MAX).map(terms::query_terms).chain([terms.clone()]).collect();
        let Places { project, personal } = self.places_to_search(occasion.caller, None, None)?;
        let mut found: Vec<(&Workspace, Vec<Recent>)> = Vec::new();
        for place in [&project, &personal].into_iter().flatten() {
            let ids = self.called_for(place, &terms, &sentences)?;
            let fresh: Vec<MemoryId> = ids.into_iter().filter(|id| !session.window.shown.contains(id)).collect();
            found.push((place, self.store.notes_by_ids(place, &fresh)?));
        }
        let known = files::sentences(&occasion.surroundings.own_files);
        let notes = found.iter().flat_map(|(place, notes)| notes.iter().map(move |note| (*place, note)));
        let notes: Vec<Note<'_>> = pushed(occasion.caller, notes, &|text| known.hold_all_of(text));
        let overhead = frame::overhead_bytes(&occasion.workspace.id);
        let bytes: Vec<usize> = notes.iter().map(|note| note.line_bytes).collect();
        let told = &notes[..fitting(&bytes, overhead, session.window.recall_tokens)];
        let lines: Vec<Line> = told.iter().map(|note| note.line.clone()).collect();
        let Some(text) = frame::framed(&occasion.workspace.id, &lines) else { return silent() };
        let now = self.now();
        for note in told {
            self.uses.show(note.place, [(note.memory.id, note.line.name.as_str())], now);
        }
        let memories = told.iter().map(|note| note.memory.id).collect();
        let step =
            Step { tokens: tokens_of(text.len()), memories, fills_window: true, is_recall: true, ..Step::of("recall") };
        Ok((HookAnswer::of_context(text), step))
    }

    /// The memories of a place that a prompt calls for, the best first.
    fn called_for(
        &self,
        place: &Workspace,
        terms: &[QueryTerm],
        sentences: &[Vec<QueryTerm>],
    ) -> Result<Vec<MemoryId>, ServiceError> {
        if terms.iter().all(|term| is_common(&term.term)) {
            return Ok(Vec::new());
        }
        let words: Vec<String> = terms.iter().map(|term| term.term.clone()).collect();
        let (now, filters) = (self.now(), SearchFilters::default());
        let request = SearchRequest {
            terms: &words,
            names: &[],
            labels: &[],
            vector: None,
            filters: &filters,
            limit: LOOKED_AT,
            now,
        };
        // The ranking sees the words of the candidates, which a hit does not have any more.
        let relevant = RefCell::new(HashSet::new());
        let rank = |candidates: &Candidates| -> Vec<Ranked> {
            relevant.borrow_mut().extend(relevant_among(candidates, terms, sentences));
            let question = Question { terms: &words, ..Question::default() };
            let mut ranked = ranking::rank(candidates, &question, now, false);
            ranked.retain(|it| relevant.borrow().contains(&it.memory));
            ranked
        };
        Ok(self.store.search(place, &request, &rank)?.into_iter().map(|hit| hit.ranked.memory).collect())
    }
}

/// The memories that one of the sentences, or the prompt as a whole, calls for.
fn relevant_among(candidates: &Candidates, terms: &[QueryTerm], sentences: &[Vec<QueryTerm>]) -> Vec<MemoryId> {
    let texts_of: HashMap<&str, i64> =
        terms.iter().map(|term| term.term.as_str()).zip(candidates.statistics.frequencies.iter().copied()).collect();
    let prompt_term = |term: &QueryTerm| PromptTerm {
        texts: texts_of.get(term.term.as_str()).copied().unwrap_or(0),
        is_ordinary: is_common(&term.term),
        is_identifier: term.is_identifier,
    };
    let prompts: Vec<Vec<PromptTerm>> =
        sentences.iter().map(|sentence| sentence.iter().map(prompt_term).collect()).collect();
    let rows = candidates.rows.chunk_by(|a, b| a.memory == b.memory);
    rows.filter_map(|chunks| {
        let words = chunks.iter().flat_map(|row| row.head_terms.split(' ').chain(row.body_terms.split(' ')));
        let held: HashSet<&str> = words.collect();
        let own = held.iter().filter(|term| !is_common(term)).count();
        let calls = |(sentence, prompt): (&Vec<QueryTerm>, &Vec<PromptTerm>)| {
            let held = sentence.iter().enumerate().filter(|(_, term)| held.contains(term.term.as_str()));
            let shared: Vec<usize> = held.map(|(at, _)| at).collect();
            is_clearly_relevant(prompt, &shared, own, candidates.statistics.rows)
        };
        sentences.iter().zip(&prompts).any(calls).then(|| chunks[0].memory)
    })
    .collect()
}

/// As much of a prompt as is looked at.
fn beginning(prompt: &str) -> &str {
    let end = (0..=prompt.len().min(PROMPT_BYTES_MAX)).rev().find(|at| prompt.is_char_boundary(*at));
    &prompt[..end.unwrap_or(0)]
}
