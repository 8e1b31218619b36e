//! `find_references`: who refers to a symbol, and to whom it refers.

mod declared;
mod hierarchy;
mod implementing;
mod reach;
mod values;

use std::rc::Rc;
use std::sync::Arc;

use rootset_api::{Certainty, Direction, ErrorCode, FindReferences, ReferenceKind, ReferenceResult, ReferencesAnswer};
use rootset_model::limits::{LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, RELATED_DEPTH_MAX};
use rootset_store::Workspace;

use crate::caller::Caller;
use crate::error::ServiceError;
use crate::fields::{clamped, not_negative};
use crate::freshening::Told;
use crate::operation::Operation;
use crate::referring::{Calls, Referring};
use crate::resolving::{Known, Sym, key_of};
use crate::service::Service;

impl Operation for FindReferences {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ReferencesAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let repo = service.repo_or_own_tree(caller, &workspace, self.repo.clone())?;
        let freshness = service.freshen(caller, &workspace, repo.as_deref())?;
        let answer = indexed(&self, service, &workspace, repo.as_deref())?;
        let files = answer.results.iter().map(|it| (it.repo.as_str(), it.file_path.as_str()));
        let Told { changed_files, indexing } = service.tell(&freshness, &workspace, files)?;
        Ok(ReferencesAnswer { changed_files, indexing, ..answer })
    }
}

/// What the index says.
fn indexed(
    request: &FindReferences,
    service: &Service,
    workspace: &Workspace,
    repo: Option<&str>,
) -> Result<ReferencesAnswer, ServiceError> {
    let limit = clamped("limit", request.limit, LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX)?;
    let offset = not_negative("offset", request.offset)?;
    let depth = clamped("depth", request.depth, 1, RELATED_DEPTH_MAX)?;
    let targets = service.symbols(workspace, &request.symbol, repo)?;
    let mut targets: Vec<Sym> = targets.into_iter().map(|row| Rc::new(Known::new(row))).collect();
    let mut referring = Referring::new(service, workspace)?;
    if targets.is_empty() {
        targets = offered(&mut referring, request, service, workspace, repo)?;
    }
    if targets.is_empty() {
        let nearest = service.nearest_symbols(workspace, &request.symbol, repo)?;
        return Ok(page(Vec::new(), Left::default(), Some(nearest), offset, limit));
    }
    let direction = request.direction.unwrap_or_default();
    if depth > 1 && (direction == Direction::Out || request.kind.is_some_and(|kind| kind != ReferenceKind::Calls)) {
        return Err(ServiceError::new(
            ErrorCode::InvalidArgument,
            "`depth` above 1 follows incoming calls only".to_owned(),
        )
        .with_hint("leave out `depth`, or ask with `kind: \"calls\"` and `direction: \"in\"`"));
    }
    let is_asked = |kind| request.kind.is_none_or(|asked| asked == kind);
    let (mut results, mut left) = (Vec::new(), Left::default());
    if is_asked(ReferenceKind::Calls) {
        let calls = match direction {
            Direction::In => referring.callers(&targets, repo)?,
            Direction::Out => referring.callees(&targets)?,
        };
        left.unresolved += calls.unresolved;
        left.elsewhere += calls.elsewhere;
        results.extend(called(&calls, direction));
    }
    for kind in [ReferenceKind::Types, ReferenceKind::Bases, ReferenceKind::Overrides, ReferenceKind::Imports] {
        if is_asked(kind) {
            results.extend(hierarchy::references(&mut referring, &targets, repo, kind, direction)?);
        }
    }
    if is_asked(ReferenceKind::Values) && direction == Direction::In {
        let used = values::uses(service, workspace, &targets, repo)?;
        // Of all kinds together, `unresolved` counts calls.
        if request.kind.is_some() {
            left.unresolved += used.unresolved;
        }
        results.extend(used.results);
    }
    let mut answer = page(results, left, None, offset, limit);
    declared::to_declarations(&mut answer.results, service, workspace)?;
    if depth > 1 {
        let reached = reach::files(&mut referring, &targets, repo, depth)?;
        answer.unresolved = answer.unresolved.max(reached.unresolved);
        answer.files = Some(reached.files);
    }
    Ok(answer)
}

/// A name by which others import something that is defined under another one.
fn offered(
    referring: &mut Referring<'_>,
    request: &FindReferences,
    service: &Service,
    workspace: &Workspace,
    repo: Option<&str>,
) -> Result<Vec<Sym>, ServiceError> {
    /// Modules of one name that are looked into.
    const MODULES_MAX: usize = 20;
    let key = key_of(request.symbol.trim().trim_end_matches("()"));
    let Some((module, name)) = key.rsplit_once('.') else { return Ok(Vec::new()) };
    let modules = service.symbols(workspace, module, repo)?.into_iter().map(|row| Rc::new(Known::new(row)));
    let modules: Vec<Sym> = modules.filter(|it| it.is_module()).take(MODULES_MAX).collect();
    referring.offered(&modules, name)
}

fn called(calls: &Calls, direction: Direction) -> Vec<ReferenceResult> {
    let result = |it: &crate::referring::Reached| {
        let site = &calls.sites[it.site];
        let shown = match direction {
            Direction::In => &site.caller,
            Direction::Out => &it.target,
        };
        let certainty = if it.is_certain { Certainty::Certain } else { Certainty::Possible };
        result(shown, i64::from(site.call.line), ReferenceKind::Calls, certainty, it.reason)
    };
    calls.reached.iter().map(result).collect()
}

pub(super) fn result(
    shown: &Sym,
    line: i64,
    kind: ReferenceKind,
    certainty: Certainty,
    reason: &str,
) -> ReferenceResult {
    ReferenceResult {
        qualified_name: shown.row.qualified_name.clone(),
        repo: shown.row.repo.clone(),
        file_path: shown.row.path.clone(),
        line,
        kind,
        certainty,
        reason: reason.to_owned(),
        ambiguous: certainty == Certainty::Possible,
    }
}

/// Calls that are in no list.
#[derive(Default)]
struct Left {
    unresolved: usize,
    elsewhere: usize,
}

/// What is certain comes first, each once.
fn page(
    mut results: Vec<ReferenceResult>,
    left: Left,
    nearest: Option<Vec<String>>,
    offset: i64,
    limit: i64,
) -> ReferencesAnswer {
    type Key<'a> = (Certainty, ReferenceKind, &'a str, &'a str, i64, &'a str);
    fn key(it: &ReferenceResult) -> Key<'_> {
        (it.certainty, it.kind, &it.repo, &it.file_path, it.line, &it.qualified_name)
    }
    results.sort_by(|a, b| key(a).cmp(&key(b)));
    results.dedup_by(|a, b| key(a) == key(b));
    let total = results.len();
    let count = |number: i64| usize::try_from(number).unwrap_or_default();
    let results: Vec<ReferenceResult> = results.into_iter().skip(count(offset)).take(count(limit)).collect();
    let returned = results.len();
    let known = nearest.is_none();
    let nearest = nearest.filter(|names| !names.is_empty());
    ReferencesAnswer {
        results,
        known,
        nearest,
        total,
        returned,
        unresolved: left.unresolved,
        elsewhere: left.elsewhere,
        offset,
        limit,
        files: None,
        changed_files: None,
        indexing: None,
    }
}

impl Service {
    /// Names of symbols that resemble one that does not exist.
    pub(crate) fn nearest_symbols(
        &self,
        workspace: &Workspace,
        wanted: &str,
        repo: Option<&str>,
    ) -> Result<Vec<String>, ServiceError> {
        const SHOWN_MAX: usize = 3;
        let parts = rootset_code::name_parts(wanted);
        let last = parts.last().copied().unwrap_or_default();
        let found = self.symbols_alike(workspace, wanted, repo)?;
        let lasts: Vec<&str> =
            found.iter().map(|name| rootset_code::name_parts(name).last().copied().unwrap_or_default()).collect();
        let nearest = rootset_api::nearest(last, lasts.iter().copied(), found.len());
        let mut names: Vec<String> = Vec::new();
        for last in nearest {
            for (name, _) in found.iter().zip(&lasts).filter(|(_, other)| **other == last) {
                if !names.contains(name) && names.len() < SHOWN_MAX {
                    names.push(name.clone());
                }
            }
        }
        Ok(names)
    }
}
