//! `get_callers` and `get_callees`: who calls whom, resolved at the moment it is asked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rootset_code::identifier_term;
use rootset_model::MemoryId;
use rootset_model::limits::{LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX};
use rootset_store::{FileReferences, SymbolRow, Workspace};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::caller::Caller;
use crate::calls::{Place, resolve};
use crate::error::ServiceError;
use crate::operation::{Effect, Operation};
use crate::service::Service;
use crate::shared::clamped;

/// Files that hold a name and are looked at for calls: names that more files hold (`get`, `new`) say nothing.
const FILES_MAX: usize = 5_000;
/// Symbols shown for one call that could mean any of them.
const GUESSES_MAX: usize = 5;

/// Who calls a function, method or class. `ambiguous` marks calls that could also mean something else.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GetCallers {
    /// Workspace to look in; absent: the current one.
    workspace_id: Option<String>,
    /// Name of what is called, or its last parts.
    qualified_name: String,
    /// Only symbols of this repository.
    repo: Option<String>,
    /// Results at most (50, at most 100).
    limit: Option<i64>,
}

/// What a function, method or class calls. `ambiguous` marks calls that could mean one of several.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GetCallees {
    /// Workspace to look in; absent: the current one.
    workspace_id: Option<String>,
    /// Name of the caller, or its last parts.
    qualified_name: String,
    /// Only symbols of this repository.
    repo: Option<String>,
    /// Results at most (50, at most 100).
    limit: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct CallsAnswer {
    pub results: Vec<CallResult>,
}

#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CallResult {
    pub qualified_name: String,
    pub repo: String,
    pub file_path: String,
    /// Of the call.
    pub line: i64,
    /// It could also mean something else.
    pub ambiguous: bool,
}

impl CallsAnswer {
    /// Calls that are certain come first, each once, at most `limit`.
    fn of(mut results: Vec<CallResult>, limit: i64) -> Self {
        fn key(it: &CallResult) -> (bool, &str, &str, i64, &str) {
            (it.ambiguous, &it.repo, &it.file_path, it.line, &it.qualified_name)
        }
        results.sort_by(|a, b| key(a).cmp(&key(b)));
        results.dedup();
        results.truncate(usize::try_from(limit).unwrap_or_default());
        Self { results }
    }
}

impl Operation for GetCallers {
    const NAME: &'static str = "get_callers";
    const EFFECT: Effect = Effect::Read;
    const IS_IDEMPOTENT: bool = true;
    type Response = CallsAnswer;

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
                let found = resolve(call, &place(file, caller), &candidates);
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
        Ok(CallsAnswer::of(results, limit))
    }
}

impl Operation for GetCallees {
    const NAME: &'static str = "get_callees";
    const EFFECT: Effect = Effect::Read;
    const IS_IDEMPOTENT: bool = true;
    type Response = CallsAnswer;

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
            let found = resolve(call, &place(file, caller), candidates);
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
        Ok(CallsAnswer::of(results, limit))
    }
}

fn place<'a>(file: &'a FileReferences, caller: &'a SymbolRow) -> Place<'a> {
    Place { repo: &file.repo, path: &file.path, language: &file.language, references: &file.references, caller }
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
