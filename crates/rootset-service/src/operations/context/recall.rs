//! `context_recall`: the originals of what left a window, from the stash and from the transcripts of sessions that hooks know.

use std::sync::Arc;

use rootset_api::{ContextRecall, Recalled, RecalledText};
use rootset_store::{StashFilters, Workspace};
use rootset_text::terms;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::{check_query, not_negative};
use crate::operation::Operation;
use crate::service::Service;

const TOKENS_DEFAULT: i64 = 2_000;
/// An answer above this is another window.
const TOKENS_MAX: i64 = 20_000;
const BYTES_PER_TOKEN: usize = 4;
const IDS_MAX: usize = 20;
/// How the id of a stashed segment begins; that of a place in a transcript begins with another letter.
pub(super) const MARK: char = 's';
/// Texts that are looked for by words.
const FOUND_MAX: usize = 5;

impl Operation for ContextRecall {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<Recalled, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let query = self.query.unwrap_or_default();
        let ids = self.ids.unwrap_or_default();
        check_query(&query)?;
        if ids.is_empty() == query.trim().is_empty() {
            return Err(ServiceError::invalid("either `ids` or `query` is needed"));
        }
        if ids.len() > IDS_MAX {
            return Err(ServiceError::invalid(format!("`ids` has {} items; allowed: 1 to {IDS_MAX}", ids.len())));
        }
        let lines = self.lines.as_deref().map(lines).transpose()?;
        let tokens = match not_negative("max_tokens", self.max_tokens)? {
            0 => TOKENS_DEFAULT,
            given => given.min(TOKENS_MAX),
        };
        let found = if ids.is_empty() {
            by_words(service, caller, &workspace, &query)?
        } else {
            let stashed: Vec<i64> = ids.iter().filter_map(|id| id.strip_prefix(MARK)?.parse().ok()).collect();
            let mut found = stashed_texts(service, &workspace, &stashed)?;
            for id in ids {
                found.extend(service.original_at(caller, &workspace, &id)?.map(|text| (id, text)));
            }
            found
        };
        Ok(Recalled { results: cut(found, lines, tokens as usize * BYTES_PER_TOKEN) })
    }
}

fn by_words(
    service: &Service,
    caller: &Caller,
    workspace: &Workspace,
    query: &str,
) -> Result<Vec<(String, String)>, ServiceError> {
    let terms: Vec<String> = terms::query_terms(query).into_iter().map(|term| term.term).collect();
    if terms.is_empty() {
        return Ok(Vec::new());
    }
    let hits = service.store.search_stash(workspace, &terms, &StashFilters::default(), FOUND_MAX)?;
    let segments: Vec<i64> = hits.into_iter().map(|hit| hit.segment).collect();
    let mut found = stashed_texts(service, workspace, &segments)?;
    found.extend(service.originals_with(caller, workspace, &terms, FOUND_MAX)?);
    found.truncate(FOUND_MAX);
    Ok(found)
}

/// With the ids by which they are asked for again.
fn stashed_texts(
    service: &Service,
    workspace: &Workspace,
    segments: &[i64],
) -> Result<Vec<(String, String)>, ServiceError> {
    let texts = service.store.stashed_texts(workspace, segments)?;
    Ok(texts.into_iter().map(|(segment, text)| (format!("{MARK}{segment}"), text)).collect())
}

/// `10-80`, or one number; counted from one.
fn lines(text: &str) -> Result<(usize, usize), ServiceError> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.trim().parse::<usize>(), last.trim().parse::<usize>()) {
        (Ok(first), Ok(last)) if first >= 1 && first <= last => Ok((first, last)),
        _ => Err(ServiceError::invalid("`lines` must be two numbers from 1, such as `10-80`")),
    }
}

/// Cut by lines and to a size, the first text first.
fn cut(found: Vec<(String, String)>, lines: Option<(usize, usize)>, bytes_max: usize) -> Vec<RecalledText> {
    let mut left = bytes_max;
    let mut results = Vec::new();
    for (id, text) in found {
        let all = text.lines().count();
        let wanted = match lines {
            Some((first, last)) => text.lines().skip(first - 1).take(last - first + 1).collect::<Vec<_>>().join("\n"),
            None => text.clone(),
        };
        let end = (0..=wanted.len().min(left)).rev().find(|at| wanted.is_char_boundary(*at)).unwrap_or(0);
        left -= end;
        if end > 0 {
            let text_shown = wanted[..end].to_owned();
            let is_cut = text_shown.len() < text.len();
            results.push(RecalledText { id, text: text_shown, full_lines: is_cut.then_some(all) });
        }
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_by_lines_and_to_a_size_between_characters() {
        let found = || vec![("a".to_owned(), "1\n2\n3\n4".to_owned()), ("b".to_owned(), "éé".to_owned())];
        let texts = |lines, bytes| {
            cut(found(), lines, bytes).into_iter().map(|it| (it.text, it.full_lines)).collect::<Vec<_>>()
        };
        assert_eq!(texts(None, 100), [("1\n2\n3\n4".to_owned(), None), ("éé".to_owned(), None)]);
        assert_eq!(texts(Some((2, 3)), 100), [("2\n3".to_owned(), Some(4))]);
        assert_eq!(texts(None, 10), [("1\n2\n3\n4".to_owned(), None), ("é".to_owned(), Some(1))]);
        assert_eq!(lines("10-80").unwrap(), (10, 80));
        assert_eq!(lines("7").unwrap(), (7, 7));
        assert!(["0-1", "3-2", "a", "", "1-"].iter().all(|text| lines(text).is_err()));
    }
}
