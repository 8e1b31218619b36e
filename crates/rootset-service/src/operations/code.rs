//! `search_code` and `get_symbol`: reading the code index.

use std::sync::Arc;

use rootset_model::limits::{
    LIST_LIMIT_MAX, SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX, SNIPPET_CHARS_MAX, SYMBOL_TEXT_BYTES_MAX,
};
use rootset_store::{CodeHit, CodeSearch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::caller::Caller;
use crate::calls::ends_with;
use crate::code_ranking;
use crate::code_snippet::code_snippet;
use crate::error::ServiceError;
use crate::languages::checked_languages;
use crate::operation::{Effect, Operation};
use crate::service::Service;
use crate::shared::{check_query, clamped};

/// Find functions, classes and passages of indexed code by words or names, before opening files one by one.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SearchCode {
    /// Workspace to look in; absent: the current one.
    workspace_id: Option<String>,
    /// Words or names, in any case.
    query: String,
    /// Only in this repository.
    repo: Option<String>,
    /// Only in these languages.
    languages: Option<Vec<String>>,
    /// Results at most (10, at most 100).
    limit: Option<i64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct CodeAnswer {
    pub results: Vec<CodeResult>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct CodeResult {
    pub file_path: String,
    pub repo: String,
    /// Absent in files that are not code.
    pub qualified_name: Option<String>,
    /// `function`, `method`, `class`, …, or `text`.
    pub kind: String,
    /// First and last line.
    pub lines: [i64; 2],
    pub snippet: String,
}

impl Operation for SearchCode {
    const NAME: &'static str = "search_code";
    const EFFECT: Effect = Effect::Read;
    const IS_IDEMPOTENT: bool = true;
    type Response = CodeAnswer;

    fn run(self, service: &Arc<Service>, caller: &Caller) -> Result<CodeAnswer, ServiceError> {
        let workspace = service.workspace(caller, self.workspace_id.as_deref())?;
        check_query(&self.query)?;
        let limit = clamped("limit", self.limit, SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX)?;
        let languages = checked_languages(self.languages.as_deref().unwrap_or_default())?;
        let repo = service.known_repo(&workspace, self.repo)?;
        let terms = rootset_code::query_terms(&self.query);
        let search = CodeSearch {
            terms: &code_ranking::search_terms(&terms),
            repo: repo.as_deref(),
            languages: &languages,
            limit: usize::try_from(limit).unwrap_or_default(),
            now: service.now(),
        };
        let rank = |candidates: &[_], statistics: &_| code_ranking::rank(&self.query, &terms, candidates, statistics);
        let hits = service.store.search_code(&workspace, &search, &rank)?;
        service.uses.record(&workspace, hits.iter().map(|hit| hit.candidate.memory), service.now());
        Ok(CodeAnswer { results: hits.into_iter().map(|hit| shown(hit, &terms)).collect() })
    }
}

fn shown(hit: CodeHit, terms: &[String]) -> CodeResult {
    let candidate = hit.candidate;
    let last_line = hit.line + hit.text.trim_end().lines().count().saturating_sub(1) as i64;
    let (qualified_name, kind, lines) = match candidate.symbol {
        Some(symbol) => (Some(symbol.qualified_name), symbol.kind.as_str(), [symbol.first_line, symbol.last_line]),
        None => (None, "text", [hit.line, last_line]),
    };
    CodeResult {
        file_path: candidate.path,
        repo: candidate.repo,
        qualified_name,
        kind: kind.to_owned(),
        lines,
        snippet: code_snippet(&hit.text, terms, SNIPPET_CHARS_MAX),
    }
}

/// The text of a function, class or other symbol by its name; the last parts of the name are enough.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct GetSymbol {
    /// Workspace to look in; absent: the current one.
    workspace_id: Option<String>,
    /// Name or its last parts, as the language writes it: `Store.save`, `store::Store`.
    qualified_name: String,
    /// Only in this repository.
    repo: Option<String>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct SymbolAnswer {
    pub results: Vec<SymbolResult>,
    /// How many there are, when not all are shown.
    pub total: Option<usize>,
}

#[skip_serializing_none]
#[derive(Debug, Serialize, JsonSchema)]
pub struct SymbolResult {
    pub qualified_name: String,
    pub kind: String,
    pub repo: String,
    pub file_path: String,
    /// First and last line.
    pub lines: [i64; 2],
    pub signature: String,
    pub text: String,
    /// Bytes of the whole text, when it was cut.
    pub full_length: Option<usize>,
}

impl Operation for GetSymbol {
    const NAME: &'static str = "get_symbol";
    const EFFECT: Effect = Effect::Read;
    const IS_IDEMPOTENT: bool = true;
    type Response = SymbolAnswer;

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
        let mut room = SYMBOL_TEXT_BYTES_MAX;
        let results = symbols
            .into_iter()
            .filter_map(|symbol| {
                let (_, text) = texts.iter().find(|(memory, _)| *memory == symbol.memory)?;
                let whole = text.get(symbol.start..symbol.start + symbol.length)?;
                let shown = cut(whole, room);
                room -= shown.len();
                Some(SymbolResult {
                    qualified_name: symbol.qualified_name,
                    kind: symbol.kind.as_str().to_owned(),
                    repo: symbol.repo,
                    file_path: symbol.path,
                    lines: [symbol.first_line, symbol.last_line],
                    signature: symbol.signature,
                    full_length: (shown.len() < whole.len()).then_some(whole.len()),
                    text: shown.to_owned(),
                })
            })
            .collect();
        Ok(SymbolAnswer { results, total: (total as i64 > LIST_LIMIT_MAX).then_some(total) })
    }
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
            return Err(ServiceError::invalid(format!("`qualified_name` is `{qualified_name}`, which is no name")));
        };
        let mut symbols = self.store.symbols_named(workspace, &[(*last).to_owned()], repo, self.now())?;
        symbols.retain(|symbol| ends_with(&symbol.qualified_name, &parts));
        Ok(symbols)
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
        let nearest = crate::request::nearest(&repo, names, 3);
        let error = ServiceError::new(crate::error::ErrorCode::NotFound, format!("no repository `{repo}`"));
        Err(match nearest.is_empty() {
            true => error.with_hint("`list_repos` shows what is indexed"),
            false => error.with_hint(format!("did you mean `{}`?", nearest.join("`, `"))),
        })
    }
}
