//! `forget`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use rootset_api::{ErrorCode, Forget, ForgetAnswer, MemoryOf, PlanAnswer};
use rootset_model::limits::BATCH_MEMORIES_MAX;
use rootset_model::plan::{ItemKind, PlanItem, Reason};
use rootset_model::{Content, Cut, MemoryId};
use rootset_store::{
    ForgetFilters, ForgetRequest, ForgetSelection, ForgetText, ForgetVerdict, ForgetWords, NewPlan, OfferedCut,
    OfferedItem, Offers, PlanView, Searched, Workspace, forget_words, searched_words,
};
use rootset_text::matching::{Fields, Judgement, Matcher, Near, Verdict};
use serde_json::json;

use super::delete::delete;
use super::joint;
use super::plan::plan_answer;
use crate::caller::{Caller, FrontEnd};
use crate::error::ServiceError;
use crate::fields::{check_query, checked_tags, hex};
use crate::operation::Operation;
use crate::personal::Places;
use crate::service::Service;

/// Of a word that is no kind, so much is said again: longer than any kind.
const WORD_CHARS_SHOWN: usize = 40;
/// Looks at the texts of a workspace before they are judged: each may find names and addresses that lead to more.
const SURVEYS_MAX: usize = 3;

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
        let (selection, shown) = search.select(service, &workspace)?;
        let view = search.store_plan(service, &workspace, &selection, &shown, caller)?;
        let mut plan = plan_answer(view);
        shown.show(&mut plan);
        let (matched, in_plan, kept_pinned) = (selection.matched, selection.items.len(), selection.kept_pinned);
        let beside = beside.map(|personal| search.select(service, &personal)).transpose()?;
        let matched_personal = beside.map(|(it, _)| it.matched).filter(|matched| *matched > 0);
        let (plan, deleted) = (Some(plan), None);
        Ok(ForgetAnswer { matched, in_plan, kept_pinned, plan, deleted, matched_personal })
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
        let now = service.now();
        let filters = ForgetFilters {
            source: request.source,
            written_by: request.written_by,
            tags: checked_tags(&request.tags.unwrap_or_default())?,
            created_after: request.created_after.map(|it| it.at(now)),
            created_before: request.created_before.map(|it| it.at(now)),
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
        Ok(Self { filters, matcher, kinds, include_pinned, erases, searched })
    }

    /// What matches, what comes near, and what of it is to be shown.
    pub fn select(&self, service: &Service, workspace: &Workspace) -> Result<(ForgetSelection, Shown), ServiceError> {
        let Some(matcher) = &self.matcher else {
            return Ok((self.select_by(service, workspace, None)?, Shown::default()));
        };
        let mut matcher = matcher.clone();
        self.survey(service, workspace, &mut matcher)?;
        let (selection, shown) = self.judge(service, workspace, &matcher)?;
        if selection.matched > 0 || !selection.maybe.is_empty() {
            return Ok((selection, shown));
        }
        matcher.loosen();
        self.judge(service, workspace, &matcher)
    }

    /// Tells the matcher what the workspace says about the names in the request.
    fn survey(&self, service: &Service, workspace: &Workspace, matcher: &mut Matcher) -> Result<(), ServiceError> {
        for round in 0..SURVEYS_MAX {
            if !matcher.needs_survey() {
                break;
            }
            let survey = RefCell::new(matcher.survey());
            let read = |text: &ForgetText<'_>| {
                matcher.read(&fields_of(text), &mut survey.borrow_mut());
                ForgetVerdict::No
            };
            let probes = matcher.probes();
            let words = ForgetWords { probes: &probes, near: &[], judge: &read };
            self.select_by(service, workspace, Some(words))?;
            let has_more = matcher.informed_by(survey.into_inner());
            // The second look knows the bearers of a name, and so finds more that is said of it.
            if round > 0 && !has_more {
                break;
            }
        }
        Ok(())
    }

    fn judge(
        &self,
        service: &Service,
        workspace: &Workspace,
        matcher: &Matcher,
    ) -> Result<(ForgetSelection, Shown), ServiceError> {
        let shown = RefCell::new(Shown::default());
        let judge = |text: &ForgetText<'_>| {
            let judgement = matcher.judge(&fields_of(text));
            let verdict = match judgement.verdict {
                Verdict::No => return ForgetVerdict::No,
                Verdict::Maybe(near) => ForgetVerdict::Maybe(reason_of(near)),
                Verdict::Matched if judgement.cut.is_some() => ForgetVerdict::InPart,
                Verdict::Matched => ForgetVerdict::Matched,
            };
            shown.borrow_mut().note(text, judgement);
            verdict
        };
        let (probes, near) = (matcher.probes(), matcher.near_probes());
        let words = ForgetWords { probes: &probes, near: &near, judge: &judge };
        let selection = self.select_by(service, workspace, Some(words))?;
        Ok((selection, shown.into_inner()))
    }

    fn select_by(
        &self,
        service: &Service,
        workspace: &Workspace,
        words: Option<ForgetWords<'_>>,
    ) -> Result<ForgetSelection, ServiceError> {
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
        shown: &Shown,
        caller: &Caller,
    ) -> Result<PlanView, ServiceError> {
        let searched = self.searched.as_ref().map(|it| Searched {
            matched: selection.matched,
            kept_pinned: selection.kept_pinned.len(),
            ..it.clone()
        });
        let mut policy = json!(shown.offers(selection));
        policy["operation"] = "forget".into();
        if let Some(searched) = searched {
            policy["searched"] = json!(searched);
        }
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
}

/// What the texts say that match or come near, for the answer; and where they are cut, for the plan.
#[derive(Default)]
pub(super) struct Shown {
    texts: HashMap<(MemoryId, i64), ShownText>,
}

struct ShownText {
    words: Vec<String>,
    rest: Option<String>,
    cut: Option<Cut>,
    hash: String,
}

impl Shown {
    fn note(&mut self, text: &ForgetText<'_>, judgement: Judgement) {
        let Judgement { words, rest, cut, .. } = judgement;
        let hash = if cut.is_some() { hex(&content_of(text).doc_hash()) } else { String::new() };
        self.texts.insert((MemoryId(text.object), text.revision), ShownText { words, rest, cut, hash });
    }

    /// The words of a memory: of its newest text that was looked at.
    fn of(&self, memory: MemoryId) -> Option<&ShownText> {
        let of_memory = self.texts.iter().filter(|((of, _), _)| *of == memory);
        of_memory.max_by_key(|((_, revision), _)| *revision).map(|(_, text)| text)
    }

    /// What a reviewer may choose besides the items.
    fn offers(&self, selection: &ForgetSelection) -> Offers {
        let offered = |item: &PlanItem| OfferedItem {
            memory: MemoryId(item.object),
            version: item.version,
            reason: item.reason.as_str().to_owned(),
        };
        let cut_of = |item: &PlanItem| {
            let memory = MemoryId(item.object);
            let newest = || self.texts.keys().filter(|(of, _)| *of == memory).map(|(_, revision)| *revision).max();
            let revision = match (item.kind, item.reason) {
                (_, Reason::REDACTED) => Some(item.revision),
                (ItemKind::MEMORY, _) => newest(),
                _ => None,
            }?;
            let text = self.texts.get(&(memory, revision))?;
            let planned =
                selection.items.iter().filter(|it| it.kind == ItemKind::REVISION && it.reason == Reason::MATCHED);
            let planned = planned.filter(|it| it.object == item.object).map(|it| it.revision);
            let others = selection.earlier.iter().filter(|(of, _)| *of == memory).map(|(_, revision)| *revision);
            Some(OfferedCut {
                memory,
                version: item.version,
                revision,
                hash: text.hash.clone(),
                cut: text.cut.clone()?,
                earlier: planned.chain(others).collect(),
            })
        };
        Offers {
            maybe: selection.maybe.iter().map(offered).collect(),
            cuts: selection.items.iter().filter_map(cut_of).collect(),
        }
    }

    /// Adds the words to the items of an answer; no plan keeps them.
    pub fn show(&self, plan: &mut PlanAnswer) {
        for item in plan.items.iter_mut().chain(plan.maybe.iter_mut().flatten()) {
            let memory = item.id.split('@').next().and_then(|id| id.parse::<MemoryId>().ok());
            if let Some(text) = memory.and_then(|memory| self.of(memory)) {
                item.matched_words = (!text.words.is_empty()).then(|| text.words.clone());
                item.rest.clone_from(&text.rest);
            }
        }
    }

    pub fn add(&mut self, other: Self) {
        self.texts.extend(other.texts);
    }
}

fn fields_of<'a>(text: &ForgetText<'a>) -> Fields<'a> {
    let ForgetText { topic, context, decisions, rationale, more, .. } = *text;
    Fields { topic, context, decisions, rationale, more }
}

fn content_of(text: &ForgetText<'_>) -> Content {
    Content {
        topic: text.topic.to_owned(),
        context: text.context.to_owned(),
        decisions: text.decisions.to_vec(),
        rationale: text.rationale.to_vec(),
    }
}

fn reason_of(near: Near) -> Reason {
    match near {
        Near::OtherWords => Reason::NEAR_OTHER_WORDS,
        Near::Several => Reason::NEAR_SEVERAL,
        Near::FirstName => Reason::NEAR_FIRST_NAME,
        Near::LastName => Reason::NEAR_LAST_NAME,
        Near::Address => Reason::NEAR_ADDRESS,
        Near::LongerName => Reason::NEAR_LONGER_NAME,
        Near::OtherCase => Reason::NEAR_OTHER_CASE,
        Near::OtherDay => Reason::NEAR_OTHER_DAY,
        Near::Scattered => Reason::NEAR_SCATTERED,
        Near::SomeWords => Reason::NEAR_SOME_WORDS,
        Near::Kept => Reason::NEAR_KEPT,
        Near::Tangled => Reason::NEAR_TANGLED,
        Near::Redacted => Reason::NEAR_REDACTED,
        Near::Chain => Reason::NEAR_CHAIN,
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
