//! Arguments of the commands about an agent's context.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum ContextCommand {
    /// List the sessions, the one used last first
    List(super::PageArguments),
    Import(ImportContextArguments),
    Add(AddSegmentArguments),
    Show(ShowContextArguments),
    Analyze(AnalyzeArguments),
    Prune(PruneContextArguments),
    Top(TopArguments),
    /// Say why a segment stays, or why nothing keeps it
    Explain(SegmentArguments),
    Restore(RestoreSegmentsArguments),
    Search(SearchStashArguments),
    Pin(PinArguments),
    /// Let segments leave again
    Unpin(SegmentsArguments),
    Compress(CompressArguments),
    Focus(FocusArguments),
    Configure(ConfigureArguments),
    Export(ExportContextArguments),
    /// Move a session to the trash, its stash included
    Rm(SessionArguments),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SessionFormat {
    ClaudeCode,
    Anthropic,
    #[value(name = "openai")]
    OpenAi,
    Rootset,
}

impl SessionFormat {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Rootset => "rootset",
        }
    }
}

#[derive(Debug, Args)]
pub struct SessionArguments {
    pub session: String,
}

#[derive(Debug, Args)]
pub struct SegmentArguments {
    pub session: String,
    pub segment: String,
}

#[derive(Debug, Args)]
pub struct SegmentsArguments {
    pub session: String,
    #[arg(required = true)]
    pub segments: Vec<String>,
}

/// Read a session of Claude Code, a message list, or an export
#[derive(Debug, Args)]
pub struct ImportContextArguments {
    pub file: PathBuf,
    /// Name of the session; without it, the file's name
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// What the file is; without it, its contents decide
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<SessionFormat>,
}

/// Add a segment; without TEXT, from stdin
#[derive(Debug, Args)]
pub struct AddSegmentArguments {
    pub session: String,
    pub text: Vec<String>,
    /// message, code, log, note, decision or summary
    #[arg(long = "type", short = 't', default_value = "note", value_name = "TYPE")]
    pub segment_type: String,
    /// A readable id; without it, a new one
    #[arg(long, value_name = "ID")]
    pub id: Option<String>,
    /// system, user, assistant or tool
    #[arg(long, value_name = "ROLE")]
    pub role: Option<String>,
    /// The file it shows
    #[arg(long, value_name = "PATH")]
    pub file: Option<String>,
    /// Never to leave by itself
    #[arg(long)]
    pub pin: bool,
}

/// Show what is in the window, in order
#[derive(Debug, Args)]
pub struct ShowContextArguments {
    pub session: String,
    /// One segment as a whole instead
    pub segment: Option<String>,
    /// As the message list of an API: `anthropic` or `openai`
    #[arg(long, value_name = "FORMAT", conflicts_with = "segment")]
    pub format: Option<MessagesFormat>,
    /// One line for what was stashed
    #[arg(long)]
    pub placeholders: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MessagesFormat {
    Anthropic,
    #[value(name = "openai")]
    OpenAi,
}

/// Say where the tokens of a session went and what could leave
#[derive(Debug, Args)]
pub struct AnalyzeArguments {
    /// A session, or a file to look at without importing it
    pub session: String,
    /// Tokens that should become free; without it, down to the session's target
    #[arg(long, value_name = "TOKENS")]
    pub free: Option<i64>,
    /// Of a file: the budget to judge it by
    #[arg(long, value_name = "TOKENS")]
    pub budget: Option<i64>,
    /// Of a file: what it is; without it, its contents decide
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<SessionFormat>,
    /// Candidates listed at most
    #[arg(long, short = 'n', default_value_t = 10)]
    pub limit: i64,
}

/// Let segments leave the window: those named, or what should go for the budget
#[derive(Debug, Args)]
pub struct PruneContextArguments {
    pub session: String,
    /// What should leave; without it, what the analysis proposes
    pub segments: Vec<String>,
    /// Down to so many tokens
    #[arg(long, value_name = "TOKENS", conflicts_with_all = ["segments", "free", "plan"])]
    pub to: Option<i64>,
    /// So many tokens
    #[arg(long, value_name = "TOKENS", conflicts_with_all = ["segments", "plan"])]
    pub free: Option<i64>,
    /// A plan that was shown before
    #[arg(long, value_name = "ID", conflicts_with = "segments")]
    pub plan: Option<String>,
    /// Delete instead of stash; `rootset undo` brings it back
    #[arg(long)]
    pub delete: bool,
    /// Show what would leave, and stop
    #[arg(long)]
    pub dry_run: bool,
}

/// List the segments that keep most others within reach
#[derive(Debug, Args)]
pub struct TopArguments {
    pub session: String,
    /// How many
    #[arg(long, short = 'n', default_value_t = 20)]
    pub limit: i64,
}

/// Bring stashed segments back into their place
#[derive(Debug, Args)]
pub struct RestoreSegmentsArguments {
    pub session: String,
    #[arg(required = true)]
    pub segments: Vec<String>,
    /// Copy them from this session's stash
    #[arg(long, value_name = "SESSION")]
    pub from: Option<String>,
}

/// Find what was stashed
#[derive(Debug, Args)]
pub struct SearchStashArguments {
    pub session: String,
    pub query: Vec<String>,
    /// In the stash of every session
    #[arg(long)]
    pub all: bool,
    /// message, code, log, note, decision or summary
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    pub segment_type: Option<String>,
    /// Segments that show this file
    #[arg(long, value_name = "PATH")]
    pub file: Option<String>,
    /// Segments with this tag (may be repeated)
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Results at most
    #[arg(long, short = 'n')]
    pub limit: Option<i64>,
}

/// Keep segments in the window whatever happens
#[derive(Debug, Args)]
pub struct PinArguments {
    pub session: String,
    #[arg(required = true)]
    pub segments: Vec<String>,
    /// Why, for whoever wonders later
    #[arg(long)]
    pub reason: Option<String>,
}

/// Put a summary in the place of a long segment; without SUMMARY, from stdin
#[derive(Debug, Args)]
pub struct CompressArguments {
    pub session: String,
    pub segment: String,
    pub summary: Vec<String>,
}

/// Tell what the agent works on
#[derive(Debug, Args)]
pub struct FocusArguments {
    pub session: String,
    /// The task's segments stay
    #[arg(long, value_name = "ID")]
    pub task: Option<String>,
    /// Segments that show this file stay
    #[arg(long, value_name = "PATH")]
    pub file: Option<String>,
    /// Nothing in particular
    #[arg(long, conflicts_with_all = ["task", "file"])]
    pub clear: bool,
}

/// Show or change a session's settings
#[derive(Debug, Args)]
pub struct ConfigureArguments {
    pub session: String,
    /// What the model's window holds
    #[arg(long, value_name = "TOKENS")]
    pub budget: Option<i64>,
    /// Of that, what is kept free for answers
    #[arg(long, value_name = "TOKENS")]
    pub reserved: Option<i64>,
    /// auto, or advise: nothing leaves by itself
    #[arg(long, value_name = "MODE")]
    pub mode: Option<String>,
    /// o200k, cl100k or chars/4
    #[arg(long, value_name = "NAME")]
    pub tokenizer: Option<String>,
    /// Segments from the end that always stay
    #[arg(long, value_name = "COUNT")]
    pub recent: Option<i64>,
}

/// Write a session as JSON that `import` reads
#[derive(Debug, Args)]
pub struct ExportContextArguments {
    pub session: String,
    /// session, stash or both
    #[arg(long, default_value = "both", value_name = "WHAT")]
    pub include: String,
    /// Into this file, as a whole or not at all
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
