//! Who refers to a symbol, for a model: where, in which function, and whether that is sure.

use schemars::JsonSchema;
use serde::Serialize;
use serde_with::skip_serializing_none;

use crate::code::{CallResult, CallsAnswer, Certainty, ReachedFile, ReferenceKind, ReferenceResult, ReferencesAnswer};

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BriefReferences {
    /// Certain ones first.
    pub results: Vec<BriefReference>,
    /// False if there is no such symbol; `nearest` then names similar ones.
    pub known: Option<bool>,
    pub nearest: Option<Vec<String>>,
    /// The number of references found, if not all are shown.
    pub total: Option<usize>,
    /// The number of calls of this name whose target nobody can tell, if there are any; they are not in `total`.
    pub unresolved: Option<usize>,
    /// The number of calls of this name that lead to other symbols or out of the index, if there are any.
    pub elsewhere: Option<usize>,
    /// What is reached in more than one step, by file.
    pub files: Option<Vec<ReachedFile>>,
    /// The files of this answer that changed since they were indexed: read those from disk.
    pub changed_files: Option<Vec<String>>,
    /// The repositories that are being indexed right now: ask again for what is missing.
    pub indexing: Option<Vec<String>>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BriefReference {
    /// The file and the line: `src/main.rs:3`.
    pub at: String,
    /// The symbol that refers, or is referred to.
    pub name: String,
    /// The kind of reference, if it is no call.
    pub kind: Option<ReferenceKind>,
    /// Why it is only possible; absent if it is certain.
    pub possible: Option<String>,
    /// The repository, if the results are from several.
    pub repo: Option<String>,
}

/// Of a page of results: how many there are, where that is not plain to see.
fn total_beyond(total: usize, shown: usize) -> Option<usize> {
    (total != shown).then_some(total)
}

fn at(file_path: &str, line: i64) -> String {
    format!("{file_path}:{line}")
}

fn possible(certainty: Certainty, reason: String) -> Option<String> {
    (certainty == Certainty::Possible).then_some(reason)
}

impl From<ReferencesAnswer> for BriefReferences {
    fn from(full: ReferencesAnswer) -> Self {
        let is_one = full.results.windows(2).all(|pair| pair[0].repo == pair[1].repo);
        let brief = |it: ReferenceResult| BriefReference {
            at: at(&it.file_path, it.line),
            name: it.qualified_name,
            kind: Some(it.kind).filter(|kind| *kind != ReferenceKind::Calls),
            possible: possible(it.certainty, it.reason),
            repo: (!is_one).then_some(it.repo),
        };
        Self {
            known: (!full.known).then_some(false),
            nearest: full.nearest,
            total: total_beyond(full.total, full.results.len()),
            unresolved: Some(full.unresolved).filter(|calls| *calls > 0),
            elsewhere: Some(full.elsewhere).filter(|calls| *calls > 0),
            files: full.files,
            changed_files: full.changed_files,
            indexing: full.indexing,
            results: full.results.into_iter().map(brief).collect(),
        }
    }
}

impl From<CallsAnswer> for BriefReferences {
    fn from(full: CallsAnswer) -> Self {
        let is_one = full.results.windows(2).all(|pair| pair[0].repo == pair[1].repo);
        let brief = |it: CallResult| BriefReference {
            at: at(&it.file_path, it.line),
            name: it.qualified_name,
            kind: None,
            possible: possible(it.certainty, it.reason),
            repo: (!is_one).then_some(it.repo),
        };
        Self {
            known: (!full.known).then_some(false),
            nearest: full.nearest,
            total: total_beyond(full.total, full.results.len()),
            unresolved: Some(full.unresolved).filter(|calls| *calls > 0),
            elsewhere: Some(full.elsewhere).filter(|calls| *calls > 0),
            files: None,
            changed_files: full.changed_files,
            indexing: full.indexing,
            results: full.results.into_iter().map(brief).collect(),
        }
    }
}
