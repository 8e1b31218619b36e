//! Turns pieces into a message list again.
//!
//! Four steps: parts of one message come together (`assemble`), halves of tool pairs are completed or dropped
//! (`pairs`), messages of one role that became neighbours are joined where the API wants that (`joining`), and
//! envelopes are filled (`envelopes`). A list that nothing was taken from passes through all of them unchanged.
//!
//! What is lost when a part is rendered in the other API's format: thinking, cache marks, citations, participants' names,
//! log probabilities; images, audio and documents become a line of text where the other API does not take them at that place
//! (images in results for OpenAI, audio for Anthropic); results and calls of tools that run on the API's own servers become
//! text; a system prompt in the middle of a list moves to the front for Anthropic.

mod assemble;
mod convert;
mod envelopes;
mod ids;
mod joining;
mod pairs;

use serde_json::Value;

use crate::draft::Format;
use crate::raw::Slot;

/// What is rendered, in the order of the window.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'a> {
    /// A segment that came from a message list: its `raw`. One of the other API is converted. What is not of this crate's
    /// making is taken for a whole message, or for a block of one.
    Raw(&'a Value),
    /// Any other segment. Roles but `system` and `assistant` are the user's: a result without a call is only told.
    Text { role: &'a str, text: &'a str },
    /// One line that says what was here. It stands behind the message it fell into, never between a tool call and its
    /// result.
    Placeholder { text: &'a str },
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rendered {
    /// Anthropic's system prompt; always `None` for OpenAI, which has it among its messages.
    pub system: Option<Value>,
    pub messages: Vec<Value>,
}

/// The message list as the API takes it.
///
/// Where a half of a tool pair is missing, a result becomes text of the user's (what it says is still worth something) and
/// a call goes, with its thinking (written out as text, models would imitate it); only calls at the very end may wait for
/// their results.
pub fn render(format: Format, pieces: &[Piece<'_>]) -> Rendered {
    let target = match format {
        Format::OpenAi => Format::OpenAi,
        Format::Anthropic | Format::ClaudeCode => Format::Anthropic,
    };
    let assembled = assemble::assemble(target, pieces);
    let mut messages = pairs::repair(target, assembled.messages);
    if target == Format::Anthropic {
        messages = joining::join_neighbours(messages);
    }
    joining::begin_with_user(target, &mut messages);
    Rendered {
        system: envelopes::system(assembled.system),
        messages: messages.into_iter().map(|message| envelopes::message(target, message)).collect(),
    }
}

/// A message in the making, in the format it is rendered in.
#[derive(Debug)]
struct Message {
    role: String,
    envelope: serde_json::Map<String, Value>,
    parts: Vec<Part>,
    /// Its number in the list it was read from, when it is as it was there.
    number: Option<u32>,
    /// No user spoke before it.
    opens: bool,
}

impl Message {
    /// Behind everything it holds: places grow from part to part, and within a part.
    fn next_place(&self) -> u32 {
        self.parts.last().and_then(|part| part.slots.last()).map_or(0, |slot| slot.at.saturating_add(1))
    }
}

/// What lives and dies together.
#[derive(Debug)]
struct Part {
    slots: Vec<Slot>,
    pair: Pair,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Pair {
    None,
    Call(String),
    Result(String),
    /// Of tools that run on the API's servers: both halves are the assistant's.
    ServerCall(String),
    ServerResult(String),
}
