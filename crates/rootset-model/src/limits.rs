//! Every limit, with its unit in its name and its reason beside it.
//!
//! Constants are part of the contract or of the format. [`Limits`] holds those that an operator may change.

use serde::{Deserialize, Serialize};

/// The greatest count, size or quota, for requests and archives alike: more than any counter reaches, less than what
/// arithmetic on it could overflow, and exact in every reader of JSON.
pub const COUNT_MAX: i64 = 1 << 53;

// What a memory may hold.
pub const NAME_CHARS_MAX: usize = 128;
pub const WORKSPACE_ID_CHARS_MAX: usize = 64;
/// Workspaces that a token may name one by one; for more there is `*`.
pub const TOKEN_WORKSPACES_MAX: usize = 1_000;
/// Folders that a token may name.
pub const TOKEN_ROOTS_MAX: usize = 64;
/// As long as a path can be on most systems.
pub const PATH_BYTES_MAX: usize = 4_096;
/// Workspaces that a `forget` may name; `*` means all, however many there are.
pub const FORGET_WORKSPACES_MAX: usize = 1_000;
pub const TOPIC_CHARS_MAX: usize = 500;
/// One memory is a note or a document, not an archive; also bounds what one extraction has to read.
pub const CONTEXT_BYTES_MAX: usize = 1 << 20;
pub const METADATA_BYTES_MAX: usize = 64 << 10;
/// Decisions and rationale together count against the size of a context.
pub const LIST_ITEMS_MAX: usize = 1_000;
pub const TAGS_MAX: usize = 100;
pub const TAG_CHARS_MAX: usize = 128;
pub const SOURCE_CHARS_MAX: usize = 64;
pub const REASON_CHARS_MAX: usize = 500;
/// Room for a description of a tenant, not for documents.
pub const DESCRIPTION_CHARS_MAX: usize = 2_000;

// What is read of source trees.
/// Larger files are data, not sources.
pub const CODE_FILE_BYTES_MAX: u64 = 1 << 20;
/// What the size of a file may be set to: a file is held in memory while it is read.
pub const CODE_FILE_BYTES_LIMIT: u64 = 64 << 20;
/// One answer about symbols, names included: about 4,000 tokens.
pub const SYMBOL_ANSWER_BYTES_MAX: usize = 12_000;

// What a session of an agent's context may hold.
pub const SESSION_ID_CHARS_MAX: usize = 128;
pub const SEGMENT_ID_CHARS_MAX: usize = 256;
/// What a tool can print at most; more belongs into a file.
pub const SEGMENT_TEXT_BYTES_MAX: usize = 4 << 20;
/// The caller's own block: images are part of it.
pub const SEGMENT_RAW_BYTES_MAX: usize = 32 << 20;
pub const SEGMENT_REFERENCES_MAX: usize = 1_000;
/// One addition is one transaction.
pub const SEGMENTS_PER_ADDITION_MAX: usize = 1_000;
/// A long session in one file.
pub const SEGMENTS_PER_IMPORT_MAX: usize = 200_000;
/// A conversation that is fitted into a budget: its hashes are written with every new message.
pub const FIT_MESSAGES_MAX: usize = 20_000;
/// What a caller may name at once to be stashed, pinned or restored.
pub const SEGMENTS_NAMED_MAX: usize = 10_000;
pub const FOCUS_FILES_MAX: usize = 1_000;

// What an extraction may yield: bounds the rows that one memory can write.
pub const EXTRACTED_ENTITIES_MAX: usize = 256;
pub const EXTRACTED_RELATIONS_MAX: usize = 256;
pub const EXTRACTED_NAME_CHARS_MAX: usize = 200;
/// A sentence: enough to tell what a memory says of an entity.
pub const EXTRACTED_DESCRIPTION_CHARS_MAX: usize = 160;

// What a request may ask.
/// One batch is one transaction; beyond this, writers of other processes would wait too long.
pub const BATCH_MEMORIES_MAX: usize = 1_000;
pub const IMPORT_ROWS_MAX: usize = 10_000;
/// Any text is a valid query; past this length it is a document.
pub const QUERY_BYTES_MAX: usize = 64 << 10;
/// A query's terms beyond this add cost, not meaning.
pub const QUERY_TERMS_MAX: usize = 64;
pub const LIST_LIMIT_DEFAULT: i64 = 50;
pub const LIST_LIMIT_MAX: i64 = 100;
pub const SEARCH_LIMIT_DEFAULT: i64 = 10;
pub const SEARCH_LIMIT_MAX: i64 = 100;
pub const RELATED_LIMIT_DEFAULT: i64 = 20;
pub const RELATED_DEPTH_DEFAULT: i64 = 2;
pub const RELATED_DEPTH_MAX: i64 = 5;

// What an answer may hold.
pub const PREVIEW_CHARS_MAX: usize = 200;
pub const SNIPPET_CHARS_MAX: usize = 300;
/// Tokens of a search answer, at four bytes a token.
pub const SEARCH_TOKENS_DEFAULT: i64 = 1_500;
pub const SIMILAR_MAX: usize = 3;
pub const PLAN_ITEMS_SHOWN: usize = 20;
pub const SKIPPED_SHOWN: usize = 20;
pub const RUNS_SHOWN: i64 = 10;

/// Sources told apart in each day of a simulation; the others are counted.
pub const SIMULATED_SOURCES_SHOWN: usize = 20;

// How far a simulation of retention looks ahead.
pub const SIMULATED_DAYS_DEFAULT: u32 = 90;
/// Ten years: longer than any policy but a legal one, and the answer has at most so many days.
pub const SIMULATED_DAYS_MAX: u32 = 3_650;

// How long things wait.
/// A writer in the queue for the database's lock; longer than any sane transaction, shorter than a person's patience.
pub const WRITE_WAIT_MS: u64 = 60_000;
/// How long an add waits for remote models before it answers `pending`.
pub const ADD_WAIT_MS: u64 = 2_000;
/// A plan older than this no longer describes the database anybody reviewed.
pub const PLAN_LIFETIME_MS: i64 = 24 * 3_600_000;
/// Plans of one workspace that wait to be applied: each may list everything there is. One more takes the place of the oldest.
pub const PLANS_WAITING_MAX: i64 = 200;
/// How long a token is believed without looking at its row again, and so how long one lives that another process revoked.
pub const TOKEN_BELIEVED_MS: i64 = 2_000;
/// How long a token lives that nobody gave another end: long enough not to be a nuisance, short enough that a forgotten one ends.
pub const TOKEN_LIFETIME_DAYS: i64 = 90;
/// A token that ends within this time is warned of.
pub const TOKEN_WARNING_DAYS: i64 = 14;
/// How long the old secret of a rotated token is accepted: time to hand out the new one.
pub const TOKEN_OVERLAP_MS: i64 = 3_600_000;
pub const TOKEN_OVERLAP_MS_MAX: i64 = 7 * 24 * 3_600_000;

/// How long a superseded memory stays although nobody is served it: time to notice that the new one is wrong.
pub const SUPERSEDED_KEPT_MS: i64 = 30 * 24 * 3_600_000;
/// A run of several batches belongs to one process; when it has not been heard of for so long, another takes over.
pub const SWEEP_LEASE_MS: i64 = 3_000;

/// Memories trashed or restored in one transaction: long enough to be fast, short enough for other writers, who wait
/// about a tenth of a second.
pub const SWEEP_BATCH_MEMORIES: usize = 2_000;
/// Memories purged in one transaction: each takes some fifty rows with it.
pub const PURGE_BATCH_MEMORIES: usize = 500;

/// Limits an operator may change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Largest share of one source's memories that a plan made by a policy or a query may trash.
    pub plan_fraction_max: f64,
    /// Up to this many memories the share does not matter: three of five is no accident.
    pub plan_count_free: i64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { plan_fraction_max: 0.20, plan_count_free: 5 }
    }
}
