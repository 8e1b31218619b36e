//! The code index: indexing a tree, finding code, symbols and calls.

use std::collections::BTreeMap;

use rootset_model::{MemoryId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// One row per operation, in the order of the catalogue.
#[doc(hidden)]
#[macro_export]
macro_rules! code_operations {
    ($($joined:tt)*) => { $crate::join_operations! { $($joined)*
        IndexCodebase => IndexAnswer {
            name: "index_codebase",
            effect: Write,
            is: [idempotent, in_workspace],
            profiles: [Code],
            example: {"path": "/home/me/project", "languages": ["rust"]},
        }
        SearchCode => CodeAnswer {
            name: "search_code",
            effect: Read,
            is: [idempotent, in_workspace],
            brief: BriefCode,
            profiles: [Core, Code],
            example: {"query": "parse the configuration", "limit": 5},
        }
        GetSymbol => SymbolAnswer {
            name: "get_symbol",
            effect: Read,
            is: [idempotent, in_workspace],
            brief: BriefSymbols,
            profiles: [Core, Code],
            example: {"qualified_name": "config::parse"},
        }
        FindReferences => ReferencesAnswer {
            name: "find_references",
            effect: Read,
            is: [idempotent, in_workspace],
            brief: BriefReferences,
            profiles: [Core, Code],
            example: {"symbol": "config::parse", "kind": "calls"},
        }
        GetCallers => CallsAnswer {
            name: "get_callers",
            effect: Read,
            is: [idempotent, in_workspace],
            brief: BriefReferences,
            profiles: [Code],
            example: {"qualified_name": "config::parse"},
        }
        GetCallees => CallsAnswer {
            name: "get_callees",
            effect: Read,
            is: [idempotent, in_workspace],
            brief: BriefReferences,
            profiles: [Code],
            example: {"qualified_name": "config::parse"},
        }
        ListRepos => ReposAnswer {
            name: "list_repos",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [Code],
            example: {},
        }
    } };
}

/// Update the code index from a folder; only changed files are read. Deleted files become stale: code search drops them at once and `prune_memory` removes them.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct IndexCodebase {
    /// The workspace to index into; default: the current one.
    pub workspace_id: Option<String>,
    /// The folder to index, as one repository.
    pub path: String,
    /// The name of the repository; default: its current name, or the folder's.
    pub repo: Option<String>,
    /// The languages to index; default: all.
    pub languages: Option<Vec<String>>,
    /// Index test files (true).
    pub include_tests: Option<bool>,
    /// The largest file to index, in bytes (1 MiB, or as configured).
    pub max_file_size: Option<i64>,
    /// Accept that more than half of the files are missing (false).
    pub accept_missing: Option<bool>,
    /// Point the repository to another folder (false); on the command line only.
    pub rebind: Option<bool>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct IndexAnswer {
    pub path: String,
    pub repo: String,
    pub run_id: Option<String>,
    /// The number of files this run looked at that are now in the index.
    pub files_seen: u64,
    /// The number of new or changed files.
    pub files_indexed: u64,
    pub files_unchanged: u64,
    /// The number of indexed files that this run found missing.
    pub files_removed: u64,
    /// The number of functions and methods in all files seen.
    pub functions: i64,
    /// The number of classes, structs, traits, interfaces and enums in all files seen.
    pub classes: i64,
    /// The number of files by language.
    pub languages: BTreeMap<String, u64>,
    pub total_lines: i64,
    pub elapsed_ms: u64,
    /// The number of files of this repository that are now stale.
    pub stale_memories: i64,
    /// The number of files skipped, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// The number of values that looked like secrets and were not stored.
    pub redacted: Option<usize>,
    /// The notes that cite files or symbols this run found missing.
    pub dangling_citations: Vec<CitationAnswer>,
    pub warnings: Vec<String>,
    pub message: String,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CitationAnswer {
    #[schemars(with = "String")]
    pub memory_id: MemoryId,
    pub name: Option<String>,
    /// The path or name as written in the note.
    pub cites: String,
}

/// List the repositories of the code index, and how many of their files are stale.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListRepos {
    /// The workspace to look in; default: the current one.
    pub workspace_id: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReposAnswer {
    pub repos: Vec<RepoAnswer>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RepoAnswer {
    pub repo: String,
    pub root: String,
    /// The number of files, without stale ones.
    pub files: i64,
    #[schemars(with = "Option<String>")]
    pub last_run_at: Option<Timestamp>,
    pub stale_memories: i64,
}

/// Find indexed code by words or names, before opening files.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SearchCode {
    /// The workspace to look in; default: the current one.
    pub workspace_id: Option<String>,
    pub query: String,
    /// The only repository to search.
    #[schemars(extend("x-rare" = true))]
    pub repo: Option<String>,
    /// The only languages to search.
    #[schemars(extend("x-rare" = true))]
    pub languages: Option<Vec<String>>,
    /// The only folder or file to search, relative to the repository.
    #[schemars(extend("x-rare" = true))]
    pub path: Option<String>,
    /// The only kind of result: `function`, `class`, …, or `text`.
    #[schemars(extend("x-rare" = true))]
    pub kind: Option<String>,
    /// `exact` and `regex` find every line that matches (default: `words`).
    pub mode: Option<CodeMode>,
    /// Search generated files, too (false).
    #[schemars(extend("x-rare" = true))]
    pub generated: Option<bool>,
    /// What to do with tests: `below` code (default), `with` it, `without` them, `only` them.
    #[schemars(extend("x-rare" = true))]
    pub tests: Option<TestCode>,
    /// Results (10).
    pub limit: Option<i64>,
}

/// How a query is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CodeMode {
    #[default]
    Words,
    Exact,
    Regex,
}

/// Where tests stand among the results of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TestCode {
    // Plain comments: described choices would be a schema that cannot be null.
    // They count for less than code,
    #[default]
    Below,
    // or as much.
    With,
    Without,
    Only,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CodeAnswer {
    pub results: Vec<CodeResult>,
    /// With `mode`: the number of lines that match.
    pub total: Option<usize>,
    /// With `mode`: the number of files that were not searched to their end, if there are any; narrow the search.
    pub unsearched: Option<usize>,
    /// The files of this answer that changed since they were indexed: read those from disk.
    pub changed_files: Option<Vec<String>>,
    /// The repositories that are being indexed right now: ask again for what is missing.
    pub indexing: Option<Vec<String>>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CodeResult {
    pub file_path: String,
    pub repo: String,
    /// The name of the symbol; absent in files that are not code.
    pub qualified_name: Option<String>,
    /// The kind of result: `function`, `method`, `class`, …, or `text`.
    pub kind: String,
    /// The first and the last line.
    pub lines: [i64; 2],
    /// The line that matches best.
    pub line: i64,
    /// The signature and the lines that match best.
    pub snippet: String,
}

/// Read a symbol: its signature and first lines. With `file_path` alone: the outline of a file, signatures without bodies.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GetSymbol {
    /// The workspace to look in; default: the current one.
    pub workspace_id: Option<String>,
    /// `Store.save`, `store::Store`: the last parts are enough.
    pub qualified_name: Option<String>,
    /// The file to outline; with `qualified_name`: the only file to look in.
    pub file_path: Option<String>,
    /// The only repository to search.
    #[schemars(extend("x-rare" = true))]
    pub repo: Option<String>,
    /// All of its text, up to about 4,000 tokens (false).
    pub full: Option<bool>,
    /// The number of results to skip (0).
    #[schemars(extend("x-rare" = true))]
    pub offset: Option<i64>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SymbolAnswer {
    /// The exact name first.
    pub results: Vec<SymbolResult>,
    /// Whether there is such a symbol or file.
    pub known: bool,
    /// The most similar names, if there is not.
    pub nearest: Option<Vec<String>>,
    /// The number of matches, if not all are shown.
    pub total: Option<usize>,
    /// The files of this answer that changed since they were indexed: read those from disk.
    pub changed_files: Option<Vec<String>>,
    /// The repositories that are being indexed right now: ask again for what is missing.
    pub indexing: Option<Vec<String>>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SymbolResult {
    pub qualified_name: String,
    pub kind: String,
    pub repo: String,
    pub file_path: String,
    /// The first and the last line.
    pub lines: [i64; 2],
    pub signature: String,
    /// The first lines; absent in an outline.
    pub text: Option<String>,
    /// The bytes of the whole text, if it was cut.
    pub full_length: Option<usize>,
}

/// Find who refers to a symbol; ask before you change it. `depth` above 1: callers of callers, and the tests that reach it.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct FindReferences {
    /// The workspace to look in; default: the current one.
    pub workspace_id: Option<String>,
    /// The name of the symbol, or its last parts.
    pub symbol: String,
    /// The only repository to look in.
    #[schemars(extend("x-rare" = true))]
    pub repo: Option<String>,
    /// Default: all.
    pub kind: Option<ReferenceKind>,
    /// `out`: what the symbol refers to (`in`).
    pub direction: Option<Direction>,
    /// Steps of calls (1, at most 5).
    pub depth: Option<i64>,
    /// The number of results to skip (0).
    #[schemars(extend("x-rare" = true))]
    pub offset: Option<i64>,
    /// The number of results (50, at most 100).
    #[schemars(extend("x-rare" = true))]
    pub limit: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceKind {
    Calls,
    Types,
    Bases,
    Overrides,
    // Used without being called: a constant that is read, a function that is handed on.
    Values,
    Imports,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    #[default]
    In,
    Out,
}

/// How sure a reference is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// The sources say so.
    Certain,
    /// It could be; `reason` says why.
    Possible,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReferencesAnswer {
    /// Certain ones first.
    pub results: Vec<ReferenceResult>,
    /// Whether the symbol exists.
    pub known: bool,
    /// The most similar names, if it does not.
    pub nearest: Option<Vec<String>>,
    /// The number of references found, on this page or not.
    pub total: usize,
    pub returned: usize,
    /// The number of calls of this name whose target nobody can tell; they are not in `total`.
    pub unresolved: usize,
    /// The number of calls of this name that lead to other symbols or out of the index; they are not in `total`.
    pub elsewhere: usize,
    pub offset: i64,
    pub limit: i64,
    /// What is reached in more than one step, by file.
    pub files: Option<Vec<ReachedFile>>,
    /// The files of this answer that changed since they were indexed: read those from disk.
    pub changed_files: Option<Vec<String>>,
    /// The repositories that are being indexed right now: ask again for what is missing.
    pub indexing: Option<Vec<String>>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceResult {
    /// The symbol that refers or, with `direction: "out"`, that is referred to.
    pub qualified_name: String,
    pub repo: String,
    pub file_path: String,
    /// The line of the reference.
    pub line: i64,
    pub kind: ReferenceKind,
    pub certainty: Certainty,
    pub reason: String,
    /// The same as `certainty: "possible"`.
    pub ambiguous: bool,
}

/// A file in which callers of callers are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReachedFile {
    pub repo: String,
    pub file_path: String,
    /// The smallest number of calls from the symbol.
    pub steps: i64,
    pub is_test: bool,
    /// The functions through which it is reached.
    pub symbols: Vec<String>,
}

/// Find the callers of a function, method or class. Each is `certain` or `possible`; `unresolved` counts calls of this name that could not be placed.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GetCallers {
    /// The workspace to look in; default: the current one.
    pub workspace_id: Option<String>,
    /// The name of the called symbol, or its last parts.
    pub qualified_name: String,
    /// The only repository to look in.
    pub repo: Option<String>,
    /// The number of results to skip (0).
    pub offset: Option<i64>,
    /// The number of results (50, at most 100).
    pub limit: Option<i64>,
}

/// Find what a function, method or class calls. Each is `certain` or `possible`; `unresolved` counts calls that could not be placed.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GetCallees {
    /// The workspace to look in; default: the current one.
    pub workspace_id: Option<String>,
    /// The name of the caller, or its last parts.
    pub qualified_name: String,
    /// The only repository to look in.
    pub repo: Option<String>,
    /// The number of results to skip (0).
    pub offset: Option<i64>,
    /// The number of results (50, at most 100).
    pub limit: Option<i64>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CallsAnswer {
    /// Certain ones first.
    pub results: Vec<CallResult>,
    /// Whether the symbol exists.
    pub known: bool,
    /// The most similar names, if it does not.
    pub nearest: Option<Vec<String>>,
    /// The number of calls found, on this page or not.
    pub total: usize,
    pub returned: usize,
    /// The number of calls of this name whose target nobody can tell; they are not in `total`.
    pub unresolved: usize,
    /// The number of calls of this name that lead to other symbols or out of the index; they are not in `total`.
    pub elsewhere: usize,
    pub offset: i64,
    pub limit: i64,
    /// The files of this answer that changed since they were indexed: read those from disk.
    pub changed_files: Option<Vec<String>>,
    /// The repositories that are being indexed right now: ask again for what is missing.
    pub indexing: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallResult {
    pub qualified_name: String,
    pub repo: String,
    pub file_path: String,
    /// The line of the call.
    pub line: i64,
    pub certainty: Certainty,
    pub reason: String,
    /// The same as `certainty: "possible"`.
    pub ambiguous: bool,
}
