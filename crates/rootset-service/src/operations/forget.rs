//! `forget`.

use std::sync::Arc;

use rootset_api::{ErrorCode, Forget, ForgetAnswer, MemoryOf};
use rootset_model::limits::BATCH_MEMORIES_MAX;
use rootset_store::{
    ForgetFilters, ForgetRequest, ForgetSelection, ForgetWords, NewPlan, PlanView, Searched, Workspace, forget_words,
    searched_words,
};
use rootset_text::matching::Matcher;
use serde_json::json;

use super::delete::delete;
use super::joint;
use super::plan::plan_answer;
use crate::caller::{Caller, FrontEnd};
use crate::error::ServiceError;
use crate::fields::{check_query, checked_tags};
use crate::operation::Operation;
use crate::personal::Places;
use crate::service::Service;

/// Of a word that is no kind, so much is said again: longer than any kind.
const WORD_CHARS_SHOWN: usize = 40;

impl Operation for Forget {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ForgetAnswer, ServiceError> {
        if let Some(memories) = self.memory_ids.clone() {
            return named(&self, &memories, service, caller);
        }
        if self.workspaces.is_some() {
            return match self.memory_of {
                None => joint::forget(self, service, caller),
                Some(_) => Err(ServiceError::invalid("give either `workspaces` or `memory_of`, not both")),
            };
        }
        let (workspace, beside) = match self.memory_of {
            None | Some(MemoryOf::Both) => {
                let Places { project, personal } =
                    service.places_to_search(caller, self.workspace_id.as_deref(), self.memory_of)?;
                (project.ok_or_else(no_place)?, personal)
            }
            Some(_) => (service.workspace_for(caller, self.workspace_id.as_deref(), self.memory_of)?, None),
        };
        if let (Some(MemoryOf::Both), Some(personal)) = (self.memory_of, &beside) {
            return in_both(self, &workspace, personal, service, caller);
        }
        let search = Search::checked(self, service)?;
        service.flush_uses()?;
        let (selection, view) = search.plan_in(service, &workspace, caller)?;
        let matched_personal = beside.map(|personal| search.select(service, &personal)).transpose()?;
        Ok(ForgetAnswer {
            matched: selection.matched,
            in_plan: selection.items.len(),
            kept_pinned: selection.kept_pinned,
            plan: Some(plan_answer(view)),
            deleted: None,
            matched_personal: matched_personal.map(|it| it.matched).filter(|matched| *matched > 0),
        })
    }
}

/// A plan is of one workspace: both at once are a joint plan, which is for people.
fn in_both(
    request: Forget,
    project: &Workspace,
    personal: &Workspace,
    service: &Service,
    caller: &Caller,
) -> Result<ForgetAnswer, ServiceError> {
    if caller.front_end == FrontEnd::Mcp {
        return Err(ServiceError::invalid("`memory_of`: agents make one plan for `project` and one for `personal`")
            .with_hint("call `forget` twice, and `gc_apply` with each plan"));
    }
    let workspaces = Some(vec![project.id.clone(), personal.id.clone()]);
    joint::forget(Forget { workspaces, workspace_id: None, memory_of: None, ..request }, service, caller)
}

fn no_place() -> ServiceError {
    ServiceError::new(ErrorCode::NotFound, "there is no workspace to look in")
}

/// What is named needs no plan to look at: it goes to the trash as with `delete_memory`.
fn named(
    request: &Forget,
    memories: &[String],
    service: &Service,
    caller: &Caller,
) -> Result<ForgetAnswer, ServiceError> {
    let alone = Forget {
        workspace_id: request.workspace_id.clone(),
        memory_of: request.memory_of,
        memory_ids: request.memory_ids.clone(),
        ..Forget::default()
    };
    if json!(request) != json!(alone) {
        return Err(ServiceError::invalid("`memory_ids` names what to remove; give no query or filter with it")
            .with_hint(
                "to choose among them or to erase for good, leave `memory_ids` out: the answer is a plan to review",
            ));
    }
    if memories.is_empty() || memories.len() > BATCH_MEMORIES_MAX {
        let count = memories.len();
        return Err(ServiceError::invalid(format!(
            "`memory_ids` has {count} items; allowed: 1 to {BATCH_MEMORIES_MAX}"
        )));
    }
    let workspace_id = request.workspace_id.as_deref();
    let deleted = match request.memory_of {
        Some(_) => delete(memories, service, &service.workspace_for(caller, workspace_id, request.memory_of)?, caller)?,
        // They are looked for where the first of them is.
        None => service.where_memory_is(caller, workspace_id, &memories[0], |workspace| {
            delete(memories, service, workspace, caller)
        })?,
    };
    let count = deleted.trashed.get("memories") as usize;
    Ok(ForgetAnswer {
        plan: None,
        deleted: Some(deleted),
        matched: count,
        in_plan: count,
        kept_pinned: Vec::new(),
        matched_personal: None,
    })
}

/// What is looked for, in whichever workspace.
pub(super) struct Search {
    filters: ForgetFilters,
    matcher: Option<Matcher>,
    terms: Vec<String>,
    kinds: Vec<String>,
    pub include_pinned: bool,
    pub erases: bool,
    /// Without the numbers of matches; only erasures have a receipt that needs to know.
    pub searched: Option<Searched>,
}

impl Search {
    pub fn checked(request: Forget, service: &Service) -> Result<Self, ServiceError> {
        let kinds = request.kinds.unwrap_or_default();
        let searched = checked_kinds(&kinds)?;
        let filters = ForgetFilters {
            source: request.source,
            written_by: request.written_by,
            tags: checked_tags(&request.tags.unwrap_or_default())?,
            created_after: request.created_after,
            created_before: request.created_before,
        };
        let query = request.query.filter(|query| !query.trim().is_empty());
        if query.is_none() && filters.is_empty() {
            return Err(ServiceError::invalid(
                "at least one of `query`, `source`, `written_by`, `tags`, `created_after`, `created_before` is required",
            ));
        }
        let matcher = query.as_deref().map(matcher).transpose()?;
        let (include_pinned, erases) = (request.include_pinned.unwrap_or(false), request.purge.unwrap_or(false));
        let asked = json!({
            "query": query, "source": filters.source, "written_by": filters.written_by, "tags": filters.tags,
            "created_after": filters.created_after, "created_before": filters.created_before, "kinds": searched,
            "include_pinned": include_pinned,
        });
        let searched = match erases {
            false => None,
            true => {
                let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
                let (kinds, left_out) = searched_words(&searched);
                let asked = service.store.keyed_hash(asked.to_string().as_bytes())?;
                Some(Searched { asked, kinds: owned(kinds), kinds_left_out: owned(left_out), ..Searched::default() })
            }
        };
        let terms = matcher.as_ref().map(Matcher::index_terms).unwrap_or_default();
        Ok(Self { filters, matcher, terms, kinds, include_pinned, erases, searched })
    }

    pub fn select(&self, service: &Service, workspace: &Workspace) -> Result<ForgetSelection, ServiceError> {
        let matches = |fields: &[&str]| self.matcher.as_ref().is_some_and(|it| it.matches(fields.iter().copied()));
        let words = self.matcher.as_ref().map(|_| ForgetWords { terms: &self.terms, matches: &matches });
        let kinds: Vec<&str> = self.kinds.iter().map(String::as_str).collect();
        let (include_pinned, erases) = (self.include_pinned, self.erases);
        let request = ForgetRequest { filters: &self.filters, words, kinds: &kinds, include_pinned, erases };
        Ok(service.store.select_for_forget(workspace, &request)?)
    }

    /// Stores a plan of what was selected in a workspace.
    pub fn store_plan(
        &self,
        service: &Service,
        workspace: &Workspace,
        selection: &ForgetSelection,
        caller: &Caller,
    ) -> Result<PlanView, ServiceError> {
        let searched = self.searched.as_ref().map(|it| Searched {
            matched: selection.matched,
            kept_pinned: selection.kept_pinned.len(),
            ..it.clone()
        });
        let policy = match searched {
            None => json!({"operation": "forget"}),
            Some(searched) => json!({"operation": "forget", "searched": searched}),
        };
        let plan = NewPlan {
            id: service.next_plan_id(),
            policy: policy.to_string(),
            items: selection.items.clone(),
            erases: self.erases,
            include_pinned: self.include_pinned,
            is_named: false,
            marker: None,
        };
        Ok(service.store.store_plan(workspace, &plan, &service.settings.limits, service.stamp(caller))?)
    }

    fn plan_in(
        &self,
        service: &Service,
        workspace: &Workspace,
        caller: &Caller,
    ) -> Result<(ForgetSelection, PlanView), ServiceError> {
        let selection = self.select(service, workspace)?;
        let view = self.store_plan(service, workspace, &selection, caller)?;
        Ok((selection, view))
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
