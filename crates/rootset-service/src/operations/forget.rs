//! `forget`.

use std::sync::Arc;

use rootset_api::{Forget, ForgetAnswer};
use rootset_store::{ForgetFilters, ForgetRequest, ForgetWords, NewPlan, forget_words};
use rootset_text::matching::Matcher;

use super::plan::plan_answer;
use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::{check_query, checked_tags};
use crate::operation::Operation;
use crate::service::Service;

/// Of a word that is no kind, so much is said again: longer than any kind.
const WORD_CHARS_SHOWN: usize = 40;

impl Operation for Forget {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ForgetAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let kinds = checked_kinds(self.kinds.as_deref().unwrap_or_default())?;
        service.flush_uses()?;
        let filters = ForgetFilters {
            source: self.source,
            written_by: self.written_by,
            tags: checked_tags(&self.tags.unwrap_or_default())?,
            created_after: self.created_after,
            created_before: self.created_before,
        };
        let query = self.query.filter(|query| !query.trim().is_empty());
        if query.is_none() && filters.is_empty() {
            return Err(ServiceError::invalid(
                "at least one of `query`, `source`, `written_by`, `tags`, `created_after`, `created_before` is required",
            ));
        }
        let matcher = query.as_deref().map(matcher).transpose()?;
        let terms = matcher.as_ref().map(Matcher::index_terms).unwrap_or_default();
        let matches = |fields: &[&str]| matcher.as_ref().is_some_and(|it| it.matches(fields.iter().copied()));
        let words = matcher.as_ref().map(|_| ForgetWords { terms: &terms, matches: &matches });
        let (include_pinned, erases) = (self.include_pinned.unwrap_or(false), self.purge.unwrap_or(false));
        let request = ForgetRequest { filters: &filters, words, kinds: &kinds, include_pinned, erases };
        let selection = service.store.select_for_forget(&workspace, &request)?;
        let plan = NewPlan {
            id: service.next_plan_id(),
            policy: r#"{"operation":"forget"}"#.to_owned(),
            items: selection.items,
            erases,
            include_pinned,
            is_named: false,
            marker: None,
        };
        let view = service.store.store_plan(&workspace, &plan, &service.settings.limits, service.stamp(caller))?;
        Ok(ForgetAnswer {
            matched: selection.matched,
            in_plan: plan.items.len(),
            kept_pinned: selection.kept_pinned,
            plan: plan_answer(view),
        })
    }
}

fn matcher(query: &str) -> Result<Matcher, ServiceError> {
    check_query(query)?;
    Matcher::new(query)
        .ok_or_else(|| ServiceError::invalid("`query` has no word to search for").with_hint("name what to forget"))
}

/// The words of `kinds`, each of them one that the store can search by.
fn checked_kinds(given: &[String]) -> Result<Vec<&str>, ServiceError> {
    let words: Vec<&str> = given.iter().map(String::as_str).collect();
    match words.iter().find(|word| !forget_words().any(|known| known == **word)) {
        None => Ok(words),
        Some(unknown) => {
            let known: Vec<String> = forget_words().map(|word| format!("`{word}`")).collect();
            let (known, unknown) = (known.join(", "), unknown.chars().take(WORD_CHARS_SHOWN).collect::<String>());
            Err(ServiceError::invalid(format!("`kinds` must be one of {known}, not `{unknown}`")))
        }
    }
}
