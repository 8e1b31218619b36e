//! Sessions of Claude Code: one JSON object per line, appended while the session lives.
//!
//! What is read is the list that the next request would send: lines of side conversations, of branches that were left, from
//! before the last compaction and of kinds that are not sent (snapshots, progress, titles, API errors) stay out. One message
//! of the API is spread over several lines, one block each, with results between them; here it is one message again.
//!
//! A file grows, and is read again: the drafts of a line are the same every time. Therefore thinking joins the next block
//! here even if a tool call follows later, and thinking with nothing after it yet is left out.

mod rewrite;
mod thread;

use rootset_gc::context::SegmentType;
use rootset_model::Timestamp;
use serde_json::{Map, Value, json};

use crate::MESSAGES_MAX;
use crate::anthropic::{Thinking, cut, draft_of};
use crate::blocks::{is_thinking, result_id, text_at};
use crate::draft::{Draft, Format, ReadOutcome, SkippedLine};
use crate::error::{ReadError, kind_of};
use crate::file_tools::{Calls, view_of_note};
use crate::raw::{Raw, Slot, SlotPlace, cut_mark, digest};
pub use rewrite::{Rewritten, rewrite_claude_code};

/// Reads the text of a session file. A torn last line is that of a session that is being written.
pub fn read_claude_code(jsonl: &str) -> Result<ReadOutcome, ReadError> {
    let mut skipped = Vec::new();
    let mut lines = Vec::new();
    let last = jsonl.lines().count();
    for (number, text) in jsonl.lines().enumerate().map(|(place, text)| (place + 1, text)) {
        if text.trim().is_empty() {
            continue;
        }
        match serde_json::from_str(text) {
            Ok(value) => lines.push(Line { number, value }),
            Err(_) if number == last => {
                skipped.push(skip(number, "the last line is incomplete: it is still being written"))
            }
            Err(error) => skipped.push(skip(number, &format!("it {}", rootset_model::json::fault_in_line(&error)))),
        }
    }
    outcome(lines, skipped)
}

/// The same for lines that were parsed already, or for the text in a JSON value.
pub(crate) fn read_lines(list: &Value) -> Result<ReadOutcome, ReadError> {
    match list {
        Value::String(jsonl) => read_claude_code(jsonl),
        Value::Array(lines) => {
            let line = |(place, value): (usize, &Value)| Line { number: place + 1, value: value.clone() };
            outcome(lines.iter().enumerate().map(line).collect(), Vec::new())
        }
        other => Err(ReadError::NotAList { found: kind_of(other) }),
    }
}

struct Line {
    /// Counted from one.
    number: usize,
    value: Value,
}

impl Line {
    fn kind(&self) -> &str {
        text_at(&self.value, "type").unwrap_or_default()
    }

    fn is(&self, flag: &str) -> bool {
        self.value.get(flag) == Some(&Value::Bool(true))
    }

    fn content(&self) -> &Value {
        self.value.pointer("/message/content").unwrap_or(&Value::Null)
    }

    fn message_id(&self) -> Option<&str> {
        self.value.pointer("/message/id").and_then(Value::as_str)
    }
}

fn skip(line: usize, reason: &str) -> SkippedLine {
    SkippedLine { line, reason: reason.to_owned() }
}

fn outcome(lines: Vec<Line>, mut skipped: Vec<SkippedLine>) -> Result<ReadOutcome, ReadError> {
    if lines.iter().any(is_of_codex) {
        return Err(ReadError::OfCodex);
    }
    let seen = lines.len() + skipped.len();
    if seen > 0 && lines.iter().all(|line| line.kind().is_empty()) {
        return Err(ReadError::NotASession { lines: seen });
    }
    let live = thread::live(&lines, &mut skipped);
    let messages = messages_of(&live, &mut skipped);
    if messages.len() > MESSAGES_MAX {
        return Err(ReadError::TooManyMessages { found: messages.len(), max: MESSAGES_MAX });
    }
    let mut calls = Calls::default();
    let mut drafts: Vec<(usize, Draft)> = Vec::new();
    let mut opens = true;
    for (number, message) in messages.into_iter().enumerate() {
        opens &= message.role != "user";
        drafts.extend(message.drafts(number, opens, &mut calls, &mut skipped));
    }
    name(&mut drafts);
    skipped.sort_by_key(|skipped| skipped.line);
    Ok(ReadOutcome { drafts: drafts.into_iter().map(|(_, draft)| draft).collect(), skipped })
}

/// Codex writes lines of other kinds, with what they are about in `payload`.
fn is_of_codex(line: &Line) -> bool {
    matches!(line.kind(), "session_meta" | "response_item") && line.value.get("payload").is_some_and(Value::is_object)
}

/// A message of the API with the lines its blocks come from.
struct Message<'l> {
    role: &'static str,
    /// What it is called in the file: tells it from all others, and does not change when it grows.
    key: &'l str,
    blocks: Vec<(&'l Line, Value)>,
}

fn messages_of<'l>(live: &[&'l Line], skipped: &mut Vec<SkippedLine>) -> Vec<Message<'l>> {
    let mut messages: Vec<Message<'l>> = Vec::new();
    for line in live.iter().copied() {
        let role = if line.kind() == "assistant" { "assistant" } else { "user" };
        let blocks: Vec<(&Line, Value)> = match line.content() {
            Value::String(text) if text.trim().is_empty() => continue,
            Value::String(text) => vec![(line, json!({"type": "text", "text": text}))],
            Value::Array(blocks) if blocks.iter().all(Value::is_object) => {
                blocks.iter().map(|block| (line, block.clone())).collect()
            }
            other => {
                skipped.push(skip(line.number, &format!("its content is {}", kind_of(other))));
                continue;
            }
        };
        let uuid = text_at(&line.value, "uuid").unwrap_or_default();
        let key = if role == "assistant" { line.message_id().unwrap_or(uuid) } else { uuid };
        match message_to_continue(&mut messages, role, key) {
            Some(message) => message.blocks.extend(blocks),
            None => messages.push(Message { role, key, blocks }),
        }
    }
    messages
}

/// The user's lines in a row are one message when they are sent. An assistant's message goes on behind results of its
/// first calls: those were run while the rest of it was still on its way.
fn message_to_continue<'m, 'l>(messages: &'m mut [Message<'l>], role: &str, key: &str) -> Option<&'m mut Message<'l>> {
    if role == "user" {
        return messages.last_mut().filter(|last| last.role == "user");
    }
    let (place, found) = messages.iter().enumerate().rfind(|(_, message)| message.role == "assistant")?;
    let only_results = |message: &Message<'_>| message.blocks.iter().all(|(_, block)| result_id(block).is_some());
    let is_open = !key.is_empty() && found.key == key && messages[place + 1..].iter().all(only_results);
    is_open.then(|| &mut messages[place])
}

impl Message<'_> {
    /// With the number of the line that each is about.
    fn drafts(
        mut self,
        number: usize,
        opens: bool,
        calls: &mut Calls,
        skipped: &mut Vec<SkippedLine>,
    ) -> Vec<(usize, Draft)> {
        while let Some((line, _)) = self.blocks.pop_if(|(_, block)| is_thinking(block)) {
            skipped.push(skip(line.number, "thinking with nothing after it"));
        }
        if self.blocks.is_empty() {
            return Vec::new();
        }
        let (lines, blocks): (Vec<&Line>, Vec<Value>) = self.blocks.into_iter().unzip();
        let slot = |(at, value): (usize, Value)| Slot { place: SlotPlace::Block, at: at as u32, value };
        let whole = Raw {
            format: Format::Anthropic,
            message: number as u32,
            digest: digest(&self.key.into()),
            opens,
            envelope: Map::from_iter([("role".to_owned(), self.role.into()), ("content".to_owned(), cut_mark())]),
            slots: blocks.into_iter().enumerate().map(slot).collect(),
        };
        let draft = |part: Raw| {
            let line = lines[part.main().at as usize];
            (line.number, dated(draft_of(self.role, &part, calls), &part, line))
        };
        cut(whole, Thinking::JoinsNext).into_iter().map(draft).collect()
    }
}

/// Adds what the line knows and the message does not.
fn dated(mut draft: Draft, part: &Raw, line: &Line) -> Draft {
    draft.segment_id = text_at(&line.value, "uuid").map(str::to_owned);
    draft.created_at = text_at(&line.value, "timestamp").and_then(|time| Timestamp::parse(time).ok());
    if line.is("isCompactSummary") {
        draft.segment_type = SegmentType::Summary;
    }
    let block = &part.main().value;
    let is_error = block.get("is_error") == Some(&Value::Bool(true));
    if result_id(block).is_some()
        && !is_error
        && let Some(view) = line.value.get("toolUseResult").and_then(view_of_note)
    {
        draft.segment_type = SegmentType::Code;
        (draft.file_path, draft.lines) = (Some(view.path), view.lines.or(draft.lines));
    }
    draft
}

/// Several drafts of one line get numbers behind its uuid.
fn name(drafts: &mut [(usize, Draft)]) {
    let mut counts: std::collections::BTreeMap<usize, u32> = std::collections::BTreeMap::new();
    for (line, _) in drafts.iter() {
        *counts.entry(*line).or_default() += 1;
    }
    let mut seen: std::collections::BTreeMap<usize, u32> = std::collections::BTreeMap::new();
    for (line, draft) in drafts {
        let number = seen.entry(*line).or_default();
        *number += 1;
        if counts[line] > 1
            && let Some(id) = &mut draft.segment_id
        {
            id.push_str(&format!("#{number}"));
        }
    }
}
