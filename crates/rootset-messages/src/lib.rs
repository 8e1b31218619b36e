//! Agents' message lists: what can leave one of them alone ([`Draft`]), and how what stays becomes a list again.
//!
//! [`read`] cuts a list into drafts, [`render`] puts pieces together, [`validate`] reports what an API would refuse. Not
//! here: sessions, storage, counting tokens, deciding what leaves. Everything is pure: equal input gives equal bytes out.
//!
//! Invariants:
//! - `render(read(list))` is the list, for every list that [`validate`] accepts.
//! - Whatever the pieces are, what is rendered holds no result without its call, and no call without its result but
//!   those at the very end that nobody has answered yet.
//! - Nothing is dropped because it is unknown: blocks that this crate does not know travel as they are.
//!
//! A draft is one block, with these exceptions: thinking belongs to the tool call that follows it in its message (the API
//! wants it in front of that call), or to the next block where no call follows; a message without any content is a draft
//! of its own, because it has to come back.

mod anthropic;
mod blocks;
mod claude_code;
mod draft;
mod episode;
mod error;
mod file_tools;
pub mod hooks;
pub mod lists;
mod openai;
mod originals;
mod prompts;
mod raw;
mod render;
pub mod repeats;
mod validate;

pub use claude_code::{Rewritten, read_claude_code, rewrite_claude_code};
pub use draft::{Draft, Format, ReadOutcome, SkippedLine};
pub use episode::{Changed, Episode, Failed, read_episode};
pub use error::ReadError;
pub use originals::text_of_line;
pub use prompts::prompt_of_line;
pub use render::{Piece, Rendered, render};
pub use validate::validate;

use serde_json::Value;

/// More messages than either API takes in one request.
pub const MESSAGES_MAX: usize = 200_000;
/// Blocks of one message; far more than any agent writes, few enough for a list to stay a list.
pub const BLOCKS_MAX: usize = 100_000;

/// Reads a list of messages: a JSON array, or the body of a request with `messages` (and `system`, for Anthropic).
/// A Claude Code session is an array of its lines here; the text of its file goes through [`read_claude_code`].
pub fn read(format: Format, messages: &Value) -> Result<ReadOutcome, ReadError> {
    let drafts = match format {
        Format::Anthropic => anthropic::read(messages)?,
        Format::OpenAi => openai::read(messages)?,
        Format::ClaudeCode => return claude_code::read_lines(messages),
    };
    Ok(ReadOutcome { drafts, skipped: Vec::new() })
}
