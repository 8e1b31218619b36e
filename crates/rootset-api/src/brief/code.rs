//! Code for a model: where it is, what it is called, what it says.

use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use crate::code::{CodeAnswer, CodeResult, SymbolAnswer, SymbolResult};

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BriefCode {
    pub results: Vec<BriefCodeResult>,
    /// With `mode`: the number of lines that match, if not all are shown.
    pub total: Option<usize>,
    /// With `mode`: the number of files that were not searched to their end, if there are any; narrow the search.
    pub unsearched: Option<usize>,
    /// The files of this answer that changed since they were indexed: read those from disk.
    pub changed_files: Option<Vec<String>>,
    /// The repositories that are being indexed right now: ask again for what is missing.
    pub indexing: Option<Vec<String>>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BriefCodeResult {
    /// The file and its lines: `src/main.rs:3-9`.
    pub at: String,
    /// The name of the symbol, if it is code.
    pub name: Option<String>,
    pub text: String,
    /// The bytes of the whole text, if it was cut.
    pub full_length: Option<usize>,
    /// The repository, if the results are from several.
    pub repo: Option<String>,
}

fn at(file_path: &str, [first, last]: [i64; 2]) -> String {
    if first == last { format!("{file_path}:{first}") } else { format!("{file_path}:{first}-{last}") }
}

/// The repository where it tells results apart.
fn with_repos<T>(
    results: Vec<T>,
    repo: fn(&T) -> &str,
    brief: fn(T, Option<String>) -> BriefCodeResult,
) -> Vec<BriefCodeResult> {
    let is_one = results.windows(2).all(|pair| repo(&pair[0]) == repo(&pair[1]));
    let named = |it: T| {
        let repo = (!is_one).then(|| repo(&it).to_owned());
        brief(it, repo)
    };
    results.into_iter().map(named).collect()
}

impl From<CodeAnswer> for BriefCode {
    fn from(full: CodeAnswer) -> Self {
        let brief = |it: CodeResult, repo| BriefCodeResult {
            at: at(&it.file_path, it.lines),
            name: it.qualified_name,
            text: it.snippet,
            full_length: None,
            repo,
        };
        let total = full.total.filter(|total| *total != full.results.len());
        let (unsearched, changed_files, indexing) = (full.unsearched, full.changed_files, full.indexing);
        Self { results: with_repos(full.results, |it| &it.repo, brief), total, unsearched, changed_files, indexing }
    }
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BriefSymbols {
    pub results: Vec<BriefCodeResult>,
    /// `false`: there is no such symbol or file.
    pub known: Option<bool>,
    /// The most similar names, if there is not.
    pub nearest: Option<Vec<String>>,
    /// The number of matches, if not all are shown.
    pub total: Option<usize>,
    /// The files of this answer that changed since they were indexed: read those from disk.
    pub changed_files: Option<Vec<String>>,
    /// The repositories that are being indexed right now: ask again for what is missing.
    pub indexing: Option<Vec<String>>,
}

impl From<SymbolAnswer> for BriefSymbols {
    fn from(full: SymbolAnswer) -> Self {
        let brief = |it: SymbolResult, repo| BriefCodeResult {
            at: at(&it.file_path, it.lines),
            name: Some(it.qualified_name),
            text: it.text.unwrap_or(it.signature),
            full_length: it.full_length,
            repo,
        };
        let known = (!full.known).then_some(false);
        let results = with_repos(full.results, |it| &it.repo, brief);
        let (changed_files, indexing) = (full.changed_files, full.indexing);
        Self { results, known, nearest: full.nearest, total: full.total, changed_files, indexing }
    }
}
