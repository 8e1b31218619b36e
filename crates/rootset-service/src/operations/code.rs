//! `search_code` and `get_symbol`: reading the code index.

use std::sync::Arc;

use rootset_api::{CodeAnswer, CodeResult, ErrorCode, GetSymbol, SearchCode, SymbolAnswer, SymbolResult, TestCode};
use rootset_model::code::SymbolKind;
use rootset_model::limits::{
    LIST_LIMIT_MAX, SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX, SNIPPET_CHARS_MAX, SYMBOL_ANSWER_BYTES_MAX,
};
use rootset_store::{CodeFilters, CodeHit, CodeSearch};

use crate::caller::Caller;
use crate::code_query::CodeQuery;
use crate::code_ranking;
use crate::code_snippet::code_snippet;
use crate::error::ServiceError;
use crate::fields::{check_query, clamped};
use crate::languages::checked_languages;
use crate::operation::Operation;
use crate::service::Service;

/// The kind of results that belong to no symbol.
const TEXT_KIND: &str = "text";
/// What is shown of a symbol that is one of several.
const FIRST_LINES: usize = 12;
/// Less of a text shows nothing.
const SYMBOL_TEXT_BYTES_MIN: usize = 200;

impl Operation for SearchCode {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<CodeAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        check_query(&self.query)?;
        let limit = clamped("limit", self.limit, SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX)?;
        let languages = checked_languages(self.languages.as_deref().unwrap_or_default())?;
        let path = self.path.as_deref().map(checked_path).transpose()?;
        self.kind.as_deref().map(check_kind).transpose()?;
        let repo = service.known_repo(&workspace, self.repo)?;
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
        };
        let query = CodeQuery::of(&self.query);
        let limit = usize::try_from(limit).unwrap_or_default();
        let hits = service.code_hits(&workspace, &query, filters, tests, limit)?;
        service.uses.record(&workspace, hits.iter().map(|hit| hit.candidate.memory), service.now());
        let terms = query.plain_terms();
        Ok(CodeAnswer { results: hits.into_iter().map(|hit| shown(hit, &terms)).collect() })
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

impl Operation for GetSymbol {
    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<SymbolAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        let repo = service.known_repo(&workspace, self.repo)?;
        let mut symbols = service.symbols(&workspace, &self.qualified_name, repo.as_deref())?;
        // The name in full comes before names that only end like it.
        symbols.sort_by_key(|symbol| symbol.qualified_name != self.qualified_name);
        let total = symbols.len();
        symbols.truncate(usize::try_from(LIST_LIMIT_MAX).unwrap_or_default());
        let mut files: Vec<_> = symbols.iter().map(|symbol| symbol.memory).collect();
        files.sort_unstable();
        files.dedup();
        let texts = service.store.file_texts(&workspace, &files, service.now())?;
        service.uses.record(&workspace, files, service.now());
        // Of several symbols a few lines tell which is meant.
        let is_one = total == 1;
        let mut room = SYMBOL_ANSWER_BYTES_MAX;
        let mut results = Vec::new();
        for symbol in symbols {
            let text = texts.iter().find(|(memory, _)| *memory == symbol.memory);
            let Some(whole) = text.and_then(|(_, text)| text.get(symbol.start..symbol.start + symbol.length)) else {
                continue;
            };
            let names = symbol.qualified_name.len() + symbol.path.len() + symbol.signature.len();
            // A result without text says nothing: what has no room is counted.
            if room < names + SYMBOL_TEXT_BYTES_MIN {
                break;
            }
            room -= names;
            let shown = cut(if is_one { whole } else { first_lines(whole) }, room);
            room -= shown.len();
            results.push(SymbolResult {
                qualified_name: symbol.qualified_name,
                kind: symbol.kind.as_str().to_owned(),
                repo: symbol.repo,
                file_path: symbol.path,
                lines: [symbol.first_line, symbol.last_line],
                signature: symbol.signature,
                full_length: (shown.len() < whole.len()).then_some(whole.len()),
                text: shown.to_owned(),
            });
        }
        let total = (total > results.len()).then_some(total);
        Ok(SymbolAnswer { results, total })
    }
}

fn first_lines(text: &str) -> &str {
    text.match_indices('\n').nth(FIRST_LINES - 1).map_or(text, |(at, _)| &text[..at])
}

/// As much of a text as there is room for, on a character boundary.
fn cut(text: &str, bytes_max: usize) -> &str {
    let mut end = bytes_max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

impl Service {
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
        const LOOKED_AT_MAX: usize = 50;
        let filters = CodeFilters { repo, ..CodeFilters::default() };
        let hits = self.code_hits(workspace, &CodeQuery::of(name), filters, TestCode::Below, LOOKED_AT_MAX)?;
        Ok(hits.into_iter().filter_map(|hit| Some(hit.candidate.symbol?.qualified_name)).collect())
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
