//! `forget`.

use std::sync::Arc;

use rootset_api::{Forget, ForgetAnswer, ForgetKind};
use rootset_store::{ForgetFilters, ForgetKinds, ForgetWords, NewPlan};
use rootset_text::matching::Matcher;

use super::plan::plan_answer;
use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::{check_query, checked_tags};
use crate::operation::Operation;
use crate::service::Service;

impl Operation for Forget {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ForgetAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
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
        let kinds = kinds(self.kinds.as_deref());
        let selection = service.store.select_for_forget(&workspace, &filters, words, kinds, include_pinned, erases)?;
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

fn kinds(given: Option<&[ForgetKind]>) -> ForgetKinds {
    let given = given.filter(|it| !it.is_empty());
    let default = [ForgetKind::Memories, ForgetKind::Revisions, ForgetKind::Entities, ForgetKind::Segments];
    let wanted = given.unwrap_or(&default);
    ForgetKinds {
        memories: wanted.contains(&ForgetKind::Memories),
        revisions: wanted.contains(&ForgetKind::Revisions),
        entities: wanted.contains(&ForgetKind::Entities),
        code: wanted.contains(&ForgetKind::Code),
        segments: wanted.contains(&ForgetKind::Segments),
    }
}
