//! The code index: indexing a tree, finding code, symbols and calls.

use std::collections::BTreeMap;

use rootset_model::{MemoryId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

/// What is said of each, in the order of the catalogue.
#[doc(hidden)]
#[macro_export]
macro_rules! code_operations {
    ($($joined:tt)*) => { $crate::join_operations! { $($joined)*
        IndexCodebase => IndexAnswer {
            name: "index_codebase",
            effect: Write,
            is: [idempotent, in_workspace],
            profiles: [Core, Code],
            example: {"path": "/home/me/project", "languages": ["rust"]},
        }
        SearchCode => CodeAnswer {
            name: "search_code",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [Core, Code],
            example: {"query": "parse the configuration", "limit": 5},
        }
        GetSymbol => SymbolAnswer {
            name: "get_symbol",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [Code],
            example: {"qualified_name": "config::parse"},
        }
        GetCallers => CallsAnswer {
            name: "get_callers",
            effect: Read,
            is: [idempotent, in_workspace],
            profiles: [Code],
            example: {"qualified_name": "config::parse"},
        }
        GetCallees => CallsAnswer {
            name: "get_callees",
            effect: Read,
            is: [idempotent, in_workspace],
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

/// Bring the code index up to date with a folder: only files that changed are read. Files that are gone become stale: they leave code search at once, and `prune_memory` removes them.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct IndexCodebase {
    /// Workspace to index into; absent: the current one.
    pub workspace_id: Option<String>,
    /// The folder; everything below it is one repository.
    pub path: String,
    /// Name of the repository; absent: the one it has, or the folder's name.
    pub repo: Option<String>,
    /// Only files in these languages; absent: all.
    pub languages: Option<Vec<String>>,
    /// Also files of tests (true).
    pub include_tests: Option<bool>,
    /// Leave out larger files, in bytes (1 MiB, or as configured).
    pub max_file_size: Option<i64>,
    /// Believe it when more than half of the files are missing (false).
    pub accept_missing: Option<bool>,
    /// Point the repository at another folder (false); on the command line only.
    pub rebind: Option<bool>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CitationAnswer {
    #[schemars(with = "String")]
    pub memory_id: MemoryId,
    pub name: Option<String>,
    /// The path or name as the note has it.
    pub cites: String,
}

/// List the repositories of the code index, and how many of their files are stale.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ListRepos {
    /// Workspace to look in; absent: the current one.
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
    /// Stale ones not counted.
    pub files: i64,
    #[schemars(with = "Option<String>")]
    pub last_run_at: Option<Timestamp>,
    pub stale_memories: i64,
}

/// Find functions, classes and passages of indexed code by words or names, before opening files one by one.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SearchCode {
    /// Workspace to look in; absent: the current one.
    pub workspace_id: Option<String>,
    /// Words or names, in any case.
    pub query: String,
    /// Only in this repository.
    pub repo: Option<String>,
    /// Only in these languages.
    pub languages: Option<Vec<String>>,
    /// Results at most (10, at most 100).
    pub limit: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CodeAnswer {
    pub results: Vec<CodeResult>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
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

/// The text of a function, class or other symbol by its name; the last parts of the name are enough.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GetSymbol {
    /// Workspace to look in; absent: the current one.
    pub workspace_id: Option<String>,
    /// Name or its last parts, as the language writes it: `Store.save`, `store::Store`.
    pub qualified_name: String,
    /// Only in this repository.
    pub repo: Option<String>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SymbolAnswer {
    pub results: Vec<SymbolResult>,
    /// How many there are, when not all are shown.
    pub total: Option<usize>,
}

#[skip_serializing_none]
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
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

/// Who calls a function, method or class. `ambiguous` marks calls that could also mean something else.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GetCallers {
    /// Workspace to look in; absent: the current one.
    pub workspace_id: Option<String>,
    /// Name of what is called, or its last parts.
    pub qualified_name: String,
    /// Only symbols of this repository.
    pub repo: Option<String>,
    /// Results at most (50, at most 100).
    pub limit: Option<i64>,
}

/// What a function, method or class calls. `ambiguous` marks calls that could mean one of several.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GetCallees {
    /// Workspace to look in; absent: the current one.
    pub workspace_id: Option<String>,
    /// Name of the caller, or its last parts.
    pub qualified_name: String,
    /// Only symbols of this repository.
    pub repo: Option<String>,
    /// Results at most (50, at most 100).
    pub limit: Option<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CallsAnswer {
    pub results: Vec<CallResult>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallResult {
    pub qualified_name: String,
    pub repo: String,
    pub file_path: String,
    /// Of the call.
    pub line: i64,
    /// It could also mean something else.
    pub ambiguous: bool,
}
