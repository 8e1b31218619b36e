//! A search for just one name of a constant, a field or the like: its definitions come first. They are part of what they
//! are written in, so the ranking of passages does not see them; functions and types it does.

use rootset_api::CodeResult;
use rootset_model::limits::SNIPPET_CHARS_MAX;
use rootset_store::{CodeFilters, SymbolRow, Workspace};

use crate::code_snippet::code_snippet;
use crate::error::ServiceError;
use crate::service::Service;

/// A name with more definitions says nothing about which is meant.
const SHOWN_MAX: usize = 5;

impl Service {
    /// Definitions of values by this very name; none for a query of several words, or if code has the name, too.
    pub(crate) fn definitions(
        &self,
        workspace: &Workspace,
        query: &str,
        filters: &CodeFilters<'_>,
        terms: &[String],
    ) -> Result<Vec<CodeResult>, ServiceError> {
        let query = query.trim().trim_matches('`');
        let is_name = !query.is_empty() && query.chars().all(|c| c.is_alphanumeric() || "_$.:\\#".contains(c));
        if !is_name || !rootset_code::name_parts(query).iter().any(|part| !part.is_empty()) {
            return Ok(Vec::new());
        }
        let mut found = self.symbols(workspace, query, filters.repo)?;
        found.retain(|it| lets_through(filters, it));
        if found.iter().any(|it| !it.kind.is_value()) {
            return Ok(Vec::new());
        }
        found.sort_by_key(|it| (it.qualified_name != query, rootset_code::is_test(&it.path)));
        found.truncate(SHOWN_MAX);
        let mut files: Vec<_> = found.iter().map(|it| it.memory).collect();
        files.sort_unstable();
        files.dedup();
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let texts = self.store.file_texts(workspace, &files, self.now())?;
        let shown = |it: SymbolRow| {
            let (_, text) = texts.iter().find(|(memory, _)| *memory == it.memory)?;
            let defined = text.get(it.start..it.start + it.length)?;
            let snippet = code_snippet(defined, &it.signature, terms, SNIPPET_CHARS_MAX);
            Some(CodeResult {
                line: it.first_line + snippet.line as i64,
                snippet: snippet.text,
                file_path: it.path,
                repo: it.repo,
                qualified_name: Some(it.qualified_name),
                kind: it.kind.as_str().to_owned(),
                lines: [it.first_line, it.last_line],
            })
        };
        Ok(found.into_iter().filter_map(shown).collect())
    }
}

/// What the search itself asks of the passages that it ranks.
fn lets_through(filters: &CodeFilters<'_>, symbol: &SymbolRow) -> bool {
    let is_below =
        |folder: &str| symbol.path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    (filters.languages.is_empty() || filters.languages.contains(&symbol.language))
        && filters.path.is_none_or(is_below)
        && filters.kind.is_none_or(|kind| kind == symbol.kind.as_str())
        && filters.is_test.is_none_or(|wanted| wanted == rootset_code::is_test(&symbol.path))
}
