//! `index_codebase` and `list_repos`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use rootset_api::{CitationAnswer, IndexAnswer, IndexCodebase, ListRepos, RepoAnswer, ReposAnswer};

use crate::caller::{Caller, FrontEnd};
use crate::error::ServiceError;
use crate::indexing::{IndexRun, IndexScope, Report};
use crate::languages::checked_languages;
use crate::operation::Operation;
use crate::service::Service;

impl Operation for IndexCodebase {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<IndexAnswer, ServiceError> {
        let began = Instant::now();
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let rebind = self.rebind.unwrap_or(false);
        if rebind && caller.front_end != FrontEnd::CommandLine {
            return Err(ServiceError::invalid("`rebind` works only on the command line")
                .with_hint("run `rootset index --rebind` in a terminal"));
        }
        let scope = scope(&self, service)?;
        let root = service.folder_to_index(&self.path, &workspace, caller)?;
        let stamp = service.stamp(caller);
        let repo = service.bind_repository(&workspace, &root, self.repo.as_deref(), rebind, stamp)?;
        let accept_missing = self.accept_missing.unwrap_or(false);
        let run = IndexRun { root, repo, scope, accept_missing, notes_nothing_new: true };
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

fn scope(request: &IndexCodebase, service: &Service) -> Result<IndexScope, ServiceError> {
    let languages = match &request.languages {
        Some(given) if given.is_empty() => {
            return Err(ServiceError::invalid("`languages` is empty; omit it for all languages"));
        }
        Some(given) => Some(checked_languages(given)?.into_iter().collect::<BTreeSet<_>>()),
        None => None,
    };
    let max_file_size = match request.max_file_size {
        Some(bytes) => u64::try_from(bytes)
            .ok()
            .filter(|&bytes| bytes > 0)
            .ok_or_else(|| ServiceError::invalid(format!("`max_file_size` is {bytes}; it must be at least 1 byte")))?,
        None => service.settings.code.max_file_size,
    };
    let limit = rootset_model::limits::CODE_FILE_BYTES_LIMIT;
    if max_file_size > limit {
        return Err(ServiceError::invalid(format!("`max_file_size` is {max_file_size}, more than {limit}")));
    }
    Ok(IndexScope { languages, include_tests: request.include_tests.unwrap_or(true), max_file_size })
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

impl Operation for ListRepos {
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
