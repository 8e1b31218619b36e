//! What can be undone, by the names of what was taken: an id alone tells nobody which run it was.

use std::collections::HashMap;

use rootset_api::RunAnswer;
use rootset_model::RunId;
use rootset_model::limits::RUNS_SHOWN;
use rootset_store::{RunView, Workspace};
use rootset_text::matching::Matcher;

use super::undo::run_answer;
use crate::error::ServiceError;
use crate::fields::check_query;
use crate::service::Service;

/// So many names tell a run.
const NAMES_MAX: usize = 5;
/// Where a plan names them: what it holds besides memories takes places, too.
const POSITIONS_LOOKED_AT: i64 = 20;
/// Texts in the trash that are looked through for words; the newest first.
const TEXTS_LOOKED_AT: i64 = 2_000;

/// The runs with the first names that each of them took.
pub(super) fn with_names(
    runs: Vec<RunView>,
    service: &Service,
    workspace: &Workspace,
) -> Result<Vec<RunAnswer>, ServiceError> {
    let names = service.store.names_taken(workspace, &runs, POSITIONS_LOOKED_AT)?;
    Ok(named(runs, names))
}

/// The runs that took notes with these words, each with the names of those notes.
pub(super) fn with_words(
    query: &str,
    service: &Service,
    workspace: &Workspace,
) -> Result<Vec<RunAnswer>, ServiceError> {
    check_query(query)?;
    let matcher = Matcher::new(query).ok_or_else(|| ServiceError::invalid("`query` has no word to search for"))?;
    let mut names: HashMap<RunId, Vec<String>> = HashMap::new();
    for text in service.store.trashed_texts(workspace, TEXTS_LOOKED_AT)? {
        if matcher.matches([text.name.as_str(), &text.topic, &text.context]) {
            names.entry(text.run).or_default().push(text.name);
        }
    }
    let mut runs = service.store.undoable_runs(workspace, RUNS_SHOWN)?;
    runs.retain(|run| names.contains_key(&run.id));
    Ok(named(runs, names))
}

fn named(runs: Vec<RunView>, mut names: HashMap<RunId, Vec<String>>) -> Vec<RunAnswer> {
    let answered = runs.into_iter().map(|run| {
        let mut taken = names.remove(&run.id).unwrap_or_default();
        taken.truncate(NAMES_MAX);
        RunAnswer { names: (!taken.is_empty()).then_some(taken), ..run_answer(run) }
    });
    answered.collect()
}
