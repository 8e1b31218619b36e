//! `index_codebase` and `list_repos`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use rootset_model::MemoryId;
use rootset_model::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::caller::{Caller, FrontEnd};
use crate::error::ServiceError;
use crate::indexing::{IndexRun, Report, Scope};
use crate::languages::checked_languages;
use crate::operation::{Effect, Operation};
use crate::service::Service;

/// Bring the code index up to date with a folder: only files that changed are read. Files that are gone become stale: they leave code search at once, and `prune_memory` removes them.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct IndexCodebase {
    /// Workspace to index into; absent: the current one.
    workspace_id: Option<String>,
    /// The folder; everything below it is one repository.
    path: String,
    /// Name of the repository; absent: the one it has, or the folder's name.
    repo: Option<String>,
    /// Only files in these languages; absent: all.
    languages: Option<Vec<String>>,
    /// Also files of tests (true).
    include_tests: Option<bool>,
    /// Leave out larger files, in bytes (1 MiB, or as configured).
    max_file_size: Option<i64>,
    /// Believe it when more than half of the files are missing (false).
    accept_missing: Option<bool>,
    /// Point the repository at another folder (false); on the command line only.
    rebind: Option<bool>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct IndexAnswer {
    pub path: String,
    pub repo: String,
    pub run_id: Option<String>,
    /// Files that are in the index after this run and were looked at by it.
    pub files_seen: u64,
    /// New or changed.
    pub files_indexed: u64,
    pub files_unchanged: u64,
    /// In the index, and found missing by this run.
    pub files_removed: u64,
    /// Functions and methods of all files seen.
    pub functions: i64,
    /// Classes, structs, traits, interfaces and enums of all files seen.
    pub classes: i64,
    /// Files by language.
    pub languages: BTreeMap<String, u64>,
    pub total_lines: i64,
    pub elapsed_ms: u64,
    /// Files of this repository that are stale now.
    pub stale_memories: i64,
    /// Files left out, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// Values that looked like secrets and were not stored.
    pub redacted: Option<usize>,
    /// Notes that cite what this run found missing.
    pub dangling_citations: Vec<CitationAnswer>,
    pub warnings: Vec<String>,
    pub message: String,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct CitationAnswer {
    #[schemars(with = "String")]
    pub memory_id: MemoryId,
    pub name: Option<String>,
    /// The path or name as the note has it.
    pub cites: String,
}

impl Operation for IndexCodebase {
    const NAME: &'static str = "index_codebase";
    const EFFECT: Effect = Effect::Write;
    const IS_IDEMPOTENT: bool = true;
    type Response = IndexAnswer;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<IndexAnswer, ServiceError> {
        let began = Instant::now();
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let rebind = self.rebind.unwrap_or(false);
        if rebind && caller.front_end != FrontEnd::CommandLine {
            return Err(ServiceError::invalid("`rebind` works on the command line only")
                .with_hint("run `rootset index --rebind` in a terminal"));
        }
        let scope = self.scope(service)?;
        let root = service.folder_to_index(&self.path, caller)?;
        let stamp = service.stamp(caller);
        let repo = service.bind_repository(&workspace, &root, self.repo.as_deref(), rebind, stamp)?;
        let run = IndexRun { root, repo, scope, accept_missing: self.accept_missing.unwrap_or(false) };
        let report = service.index(&workspace, &run, caller)?;
        let dangling = service.dangling_citations(&workspace, &report)?;
        Ok(IndexAnswer {
            path: run.root.display().to_string(),
            repo: run.repo,
            run_id: report.run.map(|run| run.to_string()),
            files_seen: report.files_seen,
            files_indexed: report.files_indexed,
            files_unchanged: report.files_unchanged,
            files_removed: report.files_removed,
            functions: report.functions,
            classes: report.classes,
            total_lines: report.total_lines,
            elapsed_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            stale_memories: report.stale_memories,
            redacted: (report.redacted > 0).then_some(report.redacted),
            message: message(&report),
            skipped: report.skipped.0.into_iter().map(|(reason, files)| (reason.to_owned(), files)).collect(),
            languages: report.languages,
            dangling_citations: dangling
                .into_iter()
                .map(|it| CitationAnswer { memory_id: it.memory, name: it.name, cites: it.cites })
                .collect(),
            warnings: report.warnings,
        })
    }
}

impl IndexCodebase {
    fn scope(&self, service: &Service) -> Result<Scope, ServiceError> {
        let languages = match &self.languages {
            Some(given) if given.is_empty() => {
                return Err(ServiceError::invalid("`languages` is empty; leave it out for all of them"));
            }
            Some(given) => Some(checked_languages(given)?.into_iter().collect::<BTreeSet<_>>()),
            None => None,
        };
        let max_file_size = match self.max_file_size {
            Some(bytes) => u64::try_from(bytes).ok().filter(|&bytes| bytes > 0).ok_or_else(|| {
                ServiceError::invalid(format!("`max_file_size` is {bytes}; it is a number of bytes, at least 1"))
            })?,
            None => service.settings.code.max_file_size,
        };
        let limit = rootset_model::limits::CODE_FILE_BYTES_LIMIT;
        if max_file_size > limit {
            return Err(ServiceError::invalid(format!(
                "`max_file_size` is {max_file_size}, at most {limit} is possible"
            )));
        }
        Ok(Scope { languages, include_tests: self.include_tests.unwrap_or(true), max_file_size })
    }
}

fn message(report: &Report) -> String {
    let files = |count: u64| if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    let mut message = match report.files_indexed {
        0 => format!("nothing changed in {}", files(report.files_seen)),
        indexed => format!("{} indexed, {} unchanged", files(indexed), report.files_unchanged),
    };
    if report.files_removed > 0 {
        message.push_str(&format!("; {} missing", files(report.files_removed)));
    }
    if report.stale_memories > 0 {
        let stale = files(report.stale_memories.unsigned_abs());
        message.push_str(&format!("; {stale} stale and out of code search: `prune_memory` shows and removes them"));
    }
    message
}

/// List the repositories of the code index, and how many of their files are stale.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ListRepos {
    /// Workspace to look in; absent: the current one.
    workspace_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ReposAnswer {
    pub repos: Vec<RepoAnswer>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct RepoAnswer {
    pub repo: String,
    pub root: String,
    /// Stale ones not counted.
    pub files: i64,
    #[schemars(with = "Option<String>")]
    pub last_run_at: Option<Timestamp>,
    pub stale_memories: i64,
}

impl Operation for ListRepos {
    const NAME: &'static str = "list_repos";
    const EFFECT: Effect = Effect::Read;
    const IS_IDEMPOTENT: bool = true;
    type Response = ReposAnswer;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<ReposAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let repos = service.store.repos(&workspace)?;
        let repos = repos
            .into_iter()
            .map(|view| RepoAnswer {
                repo: view.row.repo,
                root: view.row.root,
                files: view.files,
                last_run_at: view.row.run_at,
                stale_memories: view.stale,
            })
            .collect();
        Ok(ReposAnswer { repos })
    }
}
