//! What reading gives: drafts of segments, and which lines were left out.

use std::fmt;
use std::str::FromStr;

use rootset_gc::context::SegmentType;
use rootset_model::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ReadError;

/// Whose message list it is. A Claude Code session is read from its file and rendered as Anthropic's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Format {
    #[serde(rename = "anthropic")]
    Anthropic,
    #[serde(rename = "openai")]
    OpenAi,
    #[serde(rename = "claude-code")]
    ClaudeCode,
}

impl Format {
    pub const ALL: [Self; 3] = [Self::Anthropic, Self::OpenAi, Self::ClaudeCode];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::ClaudeCode => "claude-code",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Format {
    type Err = ReadError;

    fn from_str(word: &str) -> Result<Self, ReadError> {
        let known = Self::ALL.into_iter().find(|format| format.as_str() == word);
        known.ok_or_else(|| ReadError::UnknownFormat(word.chars().take(64).collect()))
    }
}

/// One piece of a message that can leave without breaking what stays: a text block, a tool call with the thinking before
/// it, a tool result.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// Where the source has ids. Claude Code: the uuid of the line, with `#n` for the n-th of several.
    pub segment_id: Option<String>,
    /// A tool result is code when it shows a file, a log otherwise; a compact summary is a summary; the rest are messages.
    pub segment_type: SegmentType,
    /// `system`, `user`, `assistant` or `tool`; another word where the source has one.
    pub role: Option<String>,
    /// What is counted, searched and scanned for names. A tool call is `name {input}`, an image `[image image/png]`;
    /// thinking stands in front of what it belongs to.
    pub text: String,
    pub tool_call_id: Option<String>,
    /// Enough to give back the very same message list; only [`crate::render`] looks inside.
    pub raw: Value,
    /// Tokens of what the text does not show: images, documents, thinking that is encrypted.
    pub extra_tokens: u32,
    /// Of calls and results of well-known file tools, when certain.
    pub file_path: Option<String>,
    /// Both ends included, counted from one.
    pub lines: Option<(u32, u32)>,
    pub created_at: Option<Timestamp>,
    /// Nothing unless the source says so; no format that is read here does. (A line of Claude Code names the line before
    /// it: that is an order, and as references it would tie everything to everything.)
    pub reply_to: Option<String>,
    /// System and developer prompts.
    pub is_invariant: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ReadOutcome {
    pub drafts: Vec<Draft>,
    /// Always empty but for Claude Code sessions.
    pub skipped: Vec<SkippedLine>,
}

/// A line of a session file that is not in the outcome although it looks like a part of the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedLine {
    /// Counted from one.
    pub line: usize,
    pub reason: String,
}
