//! `forget`.

use std::sync::Arc;

use rootset_model::Timestamp;
use rootset_store::{ForgetFilters, ForgetKinds, ForgetWords, NewPlan};
use rootset_text::matching::Matcher;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::operation::{Effect, Operation};
use crate::service::Service;
use crate::shared::{PlanAnswer, check_query, checked_tags};

/// Find everything that matches words or filters and return a plan to review. Nothing is removed before `gc_apply`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Forget {
    /// Workspace to look in; absent: the current one.
    workspace_id: Option<String>,
    /// Words, e.g. `everything about project Falcon` or `alice@acme.io`. Identifiers match exactly.
    query: Option<String>,
    source: Option<String>,
    written_by: Option<String>,
    tags: Option<Vec<String>>,
    created_after: Option<Timestamp>,
    created_before: Option<Timestamp>,
    /// What to look among (memories, revisions, entities, segments of context sessions, active or stashed; `code` on
    /// request). A tool call goes with its result.
    kinds: Option<Vec<Kind>>,
    /// Take pinned memories and segments too.
    include_pinned: Option<bool>,
    /// Erase for good when applied, instead of moving to the trash.
    purge: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Memories,
    Revisions,
    Entities,
    Code,
    Segments,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ForgetAnswer {
    #[serde(flatten)]
    pub plan: PlanAnswer,
    /// Everything that matched.
    pub matched: usize,
    /// What the plan holds of it.
    pub in_plan: usize,
    /// Ids that matched and stay because they are pinned.
    pub kept_pinned: Vec<String>,
}

impl Operation for Forget {
    const NAME: &'static str = "forget";
    const EFFECT: Effect = Effect::Write;
    const IS_IDEMPOTENT: bool = false;
    type Response = ForgetAnswer;

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
                "at least one of `query`, `source`, `written_by`, `tags`, `created_after`, `created_before` is needed",
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
            plan: view.into(),
        })
    }
}

fn matcher(query: &str) -> Result<Matcher, ServiceError> {
    check_query(query)?;
    Matcher::new(query).ok_or_else(|| {
        ServiceError::invalid("`query` has no word that could be looked for").with_hint("name the thing to forget")
    })
}

fn kinds(given: Option<&[Kind]>) -> ForgetKinds {
    let given = given.filter(|it| !it.is_empty());
    let default = [Kind::Memories, Kind::Revisions, Kind::Entities, Kind::Segments];
    let wanted = given.unwrap_or(&default);
    ForgetKinds {
        memories: wanted.contains(&Kind::Memories),
        revisions: wanted.contains(&Kind::Revisions),
        entities: wanted.contains(&Kind::Entities),
        code: wanted.contains(&Kind::Code),
        segments: wanted.contains(&Kind::Segments),
    }
}
