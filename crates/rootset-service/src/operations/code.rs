//! `search_code`, and finding symbols by their names.

use std::sync::Arc;

use rootset_api::{CodeAnswer, CodeMode, CodeResult, ErrorCode, SearchCode, TestCode};
use rootset_model::code::SymbolKind;
use rootset_model::limits::{SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX, SNIPPET_CHARS_MAX};
use rootset_store::{CodeFilters, CodeHit, CodeSearch};

use crate::caller::Caller;
use crate::code_query::CodeQuery;
use crate::code_ranking;
use crate::code_snippet::code_snippet;
use crate::error::ServiceError;
use crate::fields::{check_query, clamped};
use crate::freshening::{Freshness, Told};
use crate::languages::checked_languages;
use crate::operation::Operation;
use crate::operations::matching::Matcher;
use crate::service::Service;

/// The kind of results that belong to no symbol.
const TEXT_KIND: &str = "text";

impl Operation for SearchCode {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<CodeAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        check_query(&self.query)?;
        let limit = clamped("limit", self.limit, SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX)?;
        let languages = checked_languages(self.languages.as_deref().unwrap_or_default())?;
        let path = self.path.as_deref().map(checked_path).transpose()?;
        self.kind.as_deref().map(check_kind).transpose()?;
        let repo = service.repo_or_own_tree(caller, &workspace, self.repo)?;
        let freshness = service.freshen(caller, &workspace, repo.as_deref())?;
        let tests = self.tests.unwrap_or_default();
        let filters = CodeFilters {
            repo: repo.as_deref(),
            languages: &languages,
            path,
            kind: self.kind.as_deref(),
            is_test: match tests {
                TestCode::Below | TestCode::With => None,
                TestCode::Without => Some(false),
                TestCode::Only => Some(true),
            },
            is_generated: (!self.generated.unwrap_or(false)).then_some(false),
        };
        let mode = self.mode.unwrap_or_default();
        if mode != CodeMode::Words {
            let matcher = Matcher::of(&self.query, mode)?;
            let limit = usize::try_from(limit).unwrap_or_default();
            let found = service.matching_lines(&workspace, &matcher, filters, limit)?;
            return service.aged(&freshness, &workspace, found);
        }
        let query = CodeQuery::of(&self.query);
        let limit = usize::try_from(limit).unwrap_or_default();
        let terms = query.plain_terms();
        let mut results = service.definitions(&workspace, &self.query, &filters, &terms)?;
        let hits = service.code_hits(&workspace, &query, filters, tests, limit)?;
        service.uses.record(&workspace, hits.iter().map(|hit| hit.candidate.memory), service.now());
        results.extend(hits.into_iter().map(|hit| shown(hit, &terms)));
        results.truncate(limit);
        let answer = CodeAnswer { results, total: None, unsearched: None, changed_files: None, indexing: None };
        service.aged(&freshness, &workspace, answer)
    }
}

/// A folder or file as people write it: `src/`, `./src`.
fn checked_path(path: &str) -> Result<&str, ServiceError> {
    let trimmed = path.trim_start_matches("./").trim_end_matches('/');
    if trimmed.is_empty() || trimmed.starts_with('/') || trimmed.split('/').any(|part| part == "..") {
        return Err(ServiceError::invalid(format!("`path` is `{path}`; it must be below the repository's folder"))
            .with_hint("for example `src/shop` or `src/shop/cart.py`"));
    }
    Ok(trimmed)
}

fn check_kind(kind: &str) -> Result<(), ServiceError> {
    if kind == TEXT_KIND || SymbolKind::from_stored(kind).is_some() {
        return Ok(());
    }
    let all: Vec<&str> = SymbolKind::ALL.iter().map(|kind| kind.as_str()).chain([TEXT_KIND]).collect();
    Err(ServiceError::invalid(format!("unknown `kind` `{kind}`")).with_hint(format!("one of {}", all.join(", "))))
}

fn shown(hit: CodeHit, terms: &[String]) -> CodeResult {
    let candidate = hit.candidate;
    let signature = candidate.symbol.as_ref().map_or("", |symbol| symbol.signature.as_str());
    let snippet = code_snippet(&hit.text, signature, terms, SNIPPET_CHARS_MAX);
    let last_line = hit.line + hit.text.trim_end().lines().count().saturating_sub(1) as i64;
    let (qualified_name, kind, lines) = match candidate.symbol {
        Some(symbol) => (Some(symbol.qualified_name), symbol.kind.as_str(), [symbol.first_line, symbol.last_line]),
        None => (None, TEXT_KIND, [hit.line, last_line]),
    };
    CodeResult {
        file_path: candidate.path,
        repo: candidate.repo,
        qualified_name,
        kind: kind.to_owned(),
        lines,
        line: hit.line + snippet.line as i64,
        snippet: snippet.text,
    }
}

impl Service {
    /// The answer with what it has to say of its own age.
    fn aged(
        &self,
        freshness: &Freshness,
        workspace: &rootset_store::Workspace,
        answer: CodeAnswer,
    ) -> Result<CodeAnswer, ServiceError> {
        let files = answer.results.iter().map(|it| (it.repo.as_str(), it.file_path.as_str()));
        let Told { changed_files, indexing } = self.tell(freshness, workspace, files)?;
        Ok(CodeAnswer { changed_files, indexing, ..answer })
    }

    fn code_hits(
        &self,
        workspace: &rootset_store::Workspace,
        query: &CodeQuery,
        filters: CodeFilters<'_>,
        tests: TestCode,
        limit: usize,
    ) -> Result<Vec<CodeHit>, ServiceError> {
        let terms = code_ranking::search_terms(query);
        let search = CodeSearch { terms: &terms, filters, limit, now: self.now() };
        let rank = |candidates: &[_], statistics: &_| code_ranking::rank(query, tests, candidates, statistics);
        Ok(self.store.search_code(workspace, &search, &rank)?)
    }

    /// Symbols whose qualified name is this, or ends with it.
    pub(crate) fn symbols(
        &self,
        workspace: &rootset_store::Workspace,
        qualified_name: &str,
        repo: Option<&str>,
    ) -> Result<Vec<rootset_store::SymbolRow>, ServiceError> {
        let wanted = qualified_name.trim().trim_end_matches("()");
        let parts = rootset_code::name_parts(wanted);
        let Some(last) = parts.last() else {
            return Err(ServiceError::invalid(format!("`qualified_name` is `{qualified_name}`, which is not a name")));
        };
        let mut symbols = self.store.symbols_named(workspace, &[(*last).to_owned()], repo, self.now())?;
        symbols.retain(|symbol| rootset_code::name_parts(&symbol.qualified_name).ends_with(&parts));
        Ok(symbols)
    }

    /// Qualified names of symbols that have words in common with a name.
    pub(crate) fn symbols_alike(
        &self,
        workspace: &rootset_store::Workspace,
        name: &str,
        repo: Option<&str>,
    ) -> Result<Vec<String>, ServiceError> {
        let hits = self.code_alike(workspace, name, repo)?;
        Ok(hits.into_iter().filter_map(|hit| Some(hit.candidate.symbol?.qualified_name)).collect())
    }

    /// Paths of files that have words in common with a path.
    pub(crate) fn nearest_paths(
        &self,
        workspace: &rootset_store::Workspace,
        path: &str,
        repo: Option<&str>,
    ) -> Result<Vec<String>, ServiceError> {
        const SHOWN_MAX: usize = 3;
        let last = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        let mut found: Vec<String> =
            self.code_alike(workspace, path, repo)?.into_iter().map(|hit| hit.candidate.path).collect();
        found.dedup();
        // A file of this name in another folder comes first.
        found.sort_by_key(|it| last(it) != last(path));
        found.dedup();
        found.truncate(SHOWN_MAX);
        Ok(found)
    }

    fn code_alike(
        &self,
        workspace: &rootset_store::Workspace,
        name: &str,
        repo: Option<&str>,
    ) -> Result<Vec<CodeHit>, ServiceError> {
        const LOOKED_AT_MAX: usize = 50;
        let filters = CodeFilters { repo, ..CodeFilters::default() };
        self.code_hits(workspace, &CodeQuery::of(name), filters, TestCode::Below, LOOKED_AT_MAX)
    }

    /// A repository that exists: a typo must not look like an empty index.
    pub(crate) fn known_repo(
        &self,
        workspace: &rootset_store::Workspace,
        repo: Option<String>,
    ) -> Result<Option<String>, ServiceError> {
        let Some(repo) = repo else { return Ok(None) };
        if self.store.repo(workspace, &repo)?.is_some() {
            return Ok(Some(repo));
        }
        let all = self.store.repos(workspace)?;
        let names = all.iter().map(|view| view.row.repo.as_str());
        let nearest = rootset_api::nearest(&repo, names, 3);
        let error = ServiceError::new(ErrorCode::NotFound, format!("no repository `{repo}`"));
        Err(error.with_hint(if nearest.is_empty() {
            "`list_repos` shows the indexed repositories".to_owned()
        } else {
            format!("did you mean `{}`?", nearest.join("`, `"))
        }))
    }
}
