//! Arguments of the commands about single memories and lists of them.

use clap::{Args, ValueEnum};

/// Remember something
#[derive(Debug, Args)]
pub struct AddArguments {
    /// The text; `-` reads it from stdin; without one, your editor opens
    pub text: Vec<String>,
    /// What it is about; otherwise the first line of the text
    #[arg(long)]
    pub topic: Option<String>,
    /// A decision that was taken (may be repeated)
    #[arg(long = "decision", value_name = "TEXT")]
    pub decisions: Vec<String>,
    /// A reason for it (may be repeated)
    #[arg(long, value_name = "TEXT")]
    pub rationale: Vec<String>,
    /// A label to filter by (may be repeated)
    #[arg(long = "tag", short, value_name = "TAG")]
    pub tags: Vec<String>,
    /// A unique name; otherwise made from the topic
    #[arg(long)]
    pub name: Option<String>,
    /// Kind of origin, one word
    #[arg(long)]
    pub source: Option<String>,
    /// Anything else, as a JSON object
    #[arg(long, value_name = "JSON")]
    pub metadata: Option<String>,
    /// Never remove it by a policy or a query
    #[arg(long, value_name = "REASON", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub pin: Option<String>,
    /// When it stops being true: `2026-12-31`, RFC 3339, or `90d` from now
    #[arg(long, value_name = "WHEN")]
    pub expires: Option<String>,
    /// A memory that this one replaces (may be repeated)
    #[arg(long, value_name = "ID")]
    pub supersedes: Vec<String>,
    /// Bring removed content back instead of refusing it
    #[arg(long)]
    pub restore: bool,
}

/// Find memories, or the entities they speak of
#[derive(Debug, Args)]
pub struct SearchArguments {
    /// Plain words; without any: pinned first, then newest
    pub query: Vec<String>,
    /// How many results (10, at most 100)
    #[arg(long, short = 'n', value_name = "COUNT")]
    pub limit: Option<i64>,
    /// Look for entities instead of memories
    #[arg(long)]
    pub entities: bool,
    /// Only with this tag (may be repeated: all of them)
    #[arg(long = "tag", short, value_name = "TAG")]
    pub tags: Vec<String>,
    /// Only of this source
    #[arg(long)]
    pub source: Option<String>,
    /// Only created after
    #[arg(long, value_name = "TIME")]
    pub after: Option<String>,
    /// Only created before
    #[arg(long, value_name = "TIME")]
    pub before: Option<String>,
    /// Say why each result is where it is
    #[arg(long)]
    pub explain: bool,
}

#[derive(Debug, Args)]
pub struct PageArguments {
    /// How many to skip
    #[arg(long, value_name = "COUNT")]
    pub offset: Option<i64>,
    /// How many to show (50, at most 100)
    #[arg(long, short = 'n', value_name = "COUNT")]
    pub limit: Option<i64>,
}

/// List memories
#[derive(Debug, Args)]
pub struct ListArguments {
    /// Words that all have to occur
    pub query: Vec<String>,
    #[command(flatten)]
    pub page: PageArguments,
    /// `updated_at`, `created_at` or `use_count`
    #[arg(long, value_name = "FIELD")]
    pub order_by: Option<String>,
    /// Oldest or least used first
    #[arg(long)]
    pub ascending: bool,
    /// Only with this tag (may be repeated: all of them)
    #[arg(long = "tag", short, value_name = "TAG")]
    pub tags: Vec<String>,
    /// Only of this source
    #[arg(long)]
    pub source: Option<String>,
    /// Only written by this one
    #[arg(long, value_name = "NAME")]
    pub written_by: Option<String>,
    /// `pending` or `complete`
    #[arg(long)]
    pub status: Option<String>,
    /// `live`, `trashed`, `superseded` or `all`
    #[arg(long)]
    pub lifecycle: Option<String>,
}

/// Change a memory; without options your editor opens on its text
#[derive(Debug, Args)]
pub struct EditArguments {
    /// Id or name
    #[arg(value_name = "ID")]
    pub memory: String,
    /// The new text, or `-` to read it from stdin
    #[arg(long)]
    pub text: Option<String>,
    /// A new topic
    #[arg(long)]
    pub topic: Option<String>,
    /// Replace the decisions (may be repeated)
    #[arg(long = "decision", value_name = "TEXT")]
    pub decisions: Vec<String>,
    /// Replace the rationale (may be repeated)
    #[arg(long, value_name = "TEXT")]
    pub rationale: Vec<String>,
    /// Replace the tags (may be repeated)
    #[arg(long = "tag", short, value_name = "TAG")]
    pub tags: Vec<String>,
    /// A new unique name
    #[arg(long)]
    pub name: Option<String>,
    /// Replace the metadata, a JSON object
    #[arg(long, value_name = "JSON")]
    pub metadata: Option<String>,
    /// Never remove it by a policy or a query
    #[arg(long, value_name = "REASON", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub pin: Option<String>,
    /// Let it be removed again
    #[arg(long, conflicts_with = "pin")]
    pub unpin: bool,
    /// When it stops being true: `2026-12-31`, RFC 3339, or `90d` from now
    #[arg(long, value_name = "WHEN")]
    pub expires: Option<String>,
    /// Empty a field (may be repeated)
    #[arg(long, value_name = "FIELD")]
    pub clear: Vec<ClearedField>,
    /// Refuse when the memory has another version by now
    #[arg(long, value_name = "NUMBER")]
    pub expected_version: Option<i64>,
    /// Erase all earlier revisions for good, for a pasted key
    #[arg(long)]
    pub erase_previous: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ClearedField {
    Topic,
    Decisions,
    Rationale,
    Tags,
    Metadata,
    Expires,
    PinReason,
}

/// Say that one memory is replaced by another
#[derive(Debug, Args)]
pub struct SupersedeArguments {
    /// The memory that is no longer true, by id or name
    pub old: String,
    /// The memory that replaces it, by id or name
    pub new: String,
    /// Why
    #[arg(long)]
    pub reason: Option<String>,
}
