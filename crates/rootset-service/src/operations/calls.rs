//! `get_callers` and `get_callees`: who calls whom, resolved on request.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rootset_api::{CallResult, CallsAnswer, GetCallees, GetCallers};
use rootset_code::identifier_term;
use rootset_model::MemoryId;
use rootset_model::limits::{LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX};
use rootset_store::{FileReferences, SymbolRow, Workspace};

use crate::caller::Caller;
use crate::calls::{CallSite, resolve};
use crate::error::ServiceError;
use crate::fields::clamped;
use crate::operation::Operation;
use crate::service::Service;

/// Files that hold a name and are looked at for calls: names that more files hold (`get`, `new`) say nothing.
const FILES_MAX: usize = 5_000;
/// Symbols shown for one call that could mean any of them.
const GUESSES_MAX: usize = 5;

/// Calls that are certain come first, each once, at most `limit`.
fn calls_answer(mut results: Vec<CallResult>, limit: i64) -> CallsAnswer {
    fn key(it: &CallResult) -> (bool, &str, &str, i64, &str) {
        (it.ambiguous, &it.repo, &it.file_path, it.line, &it.qualified_name)
    }
    results.sort_by(|a, b| key(a).cmp(&key(b)));
    results.dedup();
    results.truncate(usize::try_from(limit).unwrap_or_default());
    CallsAnswer { results }
}

impl Operation for GetCallers {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<CallsAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let limit = clamped("limit", self.limit, LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX)?;
        let repo = service.known_repo(&workspace, self.repo)?;
        let targets = service.symbols(&workspace, &self.qualified_name, repo.as_deref())?;
        let Some(name) = targets.first().map(|target| target.name.clone()) else {
            return Ok(CallsAnswer { results: Vec::new() });
        };
        let candidates = service.store.symbols_named(&workspace, std::slice::from_ref(&name), None, service.now())?;
        let is_target: Vec<bool> = candidates
            .iter()
            .map(|it| targets.iter().any(|target| (target.memory, target.ordinal) == (it.memory, it.ordinal)))
            .collect();
        let term = identifier_term(&name);
        let mut files = service.store.references_holding(&workspace, &term, None, FILES_MAX, service.now())?;
        files.retain(|file| file.references.calls.iter().any(|call| call.name == name));
        let callers = service.symbols_by_place(&workspace, &files)?;
        let mut results = Vec::new();
        for file in &files {
            for call in file.references.calls.iter().filter(|call| call.name == name) {
                let Some(caller) = callers.get(&(file.memory, i64::from(call.caller))) else { continue };
                let found = resolve(call, &site(file, caller), &candidates);
                if found.symbols.iter().any(|&it| is_target[it]) {
                    results.push(CallResult {
                        qualified_name: caller.qualified_name.clone(),
                        repo: file.repo.clone(),
                        file_path: file.path.clone(),
                        line: i64::from(call.line),
                        ambiguous: found.is_ambiguous,
                    });
                }
            }
        }
        Ok(calls_answer(results, limit))
    }
}

impl Operation for GetCallees {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<CallsAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let limit = clamped("limit", self.limit, LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX)?;
        let repo = service.known_repo(&workspace, self.repo)?;
        let targets = service.symbols(&workspace, &self.qualified_name, repo.as_deref())?;
        let memories: BTreeSet<MemoryId> = targets.iter().map(|target| target.memory).collect();
        let memories: Vec<MemoryId> = memories.into_iter().collect();
        let files = service.store.references_of(&workspace, &memories, service.now())?;
        let symbols = service.symbols_by_place(&workspace, &files)?;
        // A call inside a method is also one of its class.
        let is_asked_for = |caller: &SymbolRow| {
            targets.iter().any(|target| {
                target.memory == caller.memory
                    && target.start <= caller.start
                    && caller.start + caller.length <= target.start + target.length
            })
        };
        let mut calls = Vec::new();
        for file in &files {
            for call in &file.references.calls {
                let Some(caller) = symbols.get(&(file.memory, i64::from(call.caller))) else { continue };
                if is_asked_for(caller) {
                    calls.push((file, call, caller));
                }
            }
        }
        let names: BTreeSet<&str> = calls.iter().map(|(_, call, _)| call.name.as_str()).collect();
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let mut by_name: BTreeMap<String, Vec<SymbolRow>> = BTreeMap::new();
        for symbol in service.store.symbols_named(&workspace, &names, None, service.now())? {
            by_name.entry(symbol.name.clone()).or_default().push(symbol);
        }
        let mut results = Vec::new();
        for (file, call, caller) in calls {
            let Some(candidates) = by_name.get(&call.name) else { continue };
            let found = resolve(call, &site(file, caller), candidates);
            for callee in found.symbols.iter().take(GUESSES_MAX).map(|&it| &candidates[it]) {
                results.push(CallResult {
                    qualified_name: callee.qualified_name.clone(),
                    repo: callee.repo.clone(),
                    file_path: callee.path.clone(),
                    line: i64::from(call.line),
                    ambiguous: found.is_ambiguous,
                });
            }
        }
        Ok(calls_answer(results, limit))
    }
}

fn site<'a>(file: &'a FileReferences, caller: &'a SymbolRow) -> CallSite<'a> {
    CallSite { repo: &file.repo, path: &file.path, language: &file.language, references: &file.references, caller }
}

impl Service {
    /// The symbols of some files, by file and number.
    fn symbols_by_place(
        &self,
        workspace: &Workspace,
        files: &[FileReferences],
    ) -> Result<BTreeMap<(MemoryId, i64), SymbolRow>, ServiceError> {
        let memories: Vec<MemoryId> = files.iter().map(|file| file.memory).collect();
        let symbols = self.store.symbols_of_files(workspace, &memories, self.now())?;
        Ok(symbols.into_iter().map(|symbol| ((symbol.memory, symbol.ordinal), symbol)).collect())
    }
}
