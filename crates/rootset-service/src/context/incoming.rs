//! Turns what a caller sends into a segment that can be added: checked, counted, its names hashed.

use rootset_api::{SegmentInput, Tokenizer};
use rootset_gc::context::{LOOSE, Lines, SegmentState, SegmentType};
use rootset_messages::Draft;
use rootset_model::Timestamp;
use rootset_model::limits::{
    REASON_CHARS_MAX, SEGMENT_ID_CHARS_MAX, SEGMENT_RAW_BYTES_MAX, SEGMENT_REFERENCES_MAX, SEGMENT_TEXT_BYTES_MAX,
    TOPIC_CHARS_MAX,
};
use rootset_store::SegmentRow;
use rootset_text::names::{each_name, each_number, name_hash};
use serde_json::Value;

use super::counting::count_tokens;
use crate::error::ServiceError;
use crate::fields::{check_short_text, checked_tags};

/// Paths are as long as file systems allow.
const FILE_PATH_CHARS_MAX: usize = 4_096;

/// Ready to be added.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// Numbers, steps and versions are set by whoever adds it.
    pub row: SegmentRow,
    pub text: String,
    pub raw: Option<String>,
}

/// What all segments of one addition have in common.
pub struct Arrival<'a> {
    pub tokenizer: Tokenizer,
    pub at: Timestamp,
    pub next_id: &'a dyn Fn() -> String,
}

impl Incoming {
    pub fn from_input(input: SegmentInput, arrival: &Arrival<'_>) -> Result<Self, ServiceError> {
        let text = checked_text(input.text)?;
        let raw = input.raw.as_ref().map(Value::to_string);
        check_bytes("raw", raw.as_ref().map_or(0, String::len), SEGMENT_RAW_BYTES_MAX)?;
        let references = input.references.unwrap_or_default();
        if references.len() > SEGMENT_REFERENCES_MAX {
            return Err(ServiceError::invalid(format!(
                "`references` has {} items, more than {SEGMENT_REFERENCES_MAX}",
                references.len()
            )));
        }
        for id in references.iter().chain(&input.segment_id).chain(&input.reply_to).chain(&input.derived_from) {
            check_segment_id(id)?;
        }
        check_optional("role", input.role.as_deref(), REASON_CHARS_MAX)?;
        check_optional("tool_call_id", input.tool_call_id.as_deref(), SEGMENT_ID_CHARS_MAX)?;
        check_optional("file_path", input.file_path.as_deref(), FILE_PATH_CHARS_MAX)?;
        check_optional("topic_id", input.topic_id.as_deref(), TOPIC_CHARS_MAX)?;
        check_optional("task_id", input.task_id.as_deref(), TOPIC_CHARS_MAX)?;
        let row = SegmentRow {
            segment_id: input.segment_id.unwrap_or_else(arrival.next_id),
            segment_type: input.segment_type,
            role: input.role,
            tool_call_id: input.tool_call_id,
            file_path: input.file_path,
            lines: input.line_range.map(checked_lines).transpose()?,
            tags: checked_tags(&input.tags.unwrap_or_default())?,
            topic_id: input.topic_id,
            task_id: input.task_id,
            references,
            reply_to: input.reply_to,
            derived_from: input.derived_from,
            is_pinned: input.pinned.unwrap_or(false),
            is_invariant: input.invariant.unwrap_or(false),
            ..blank_row(&text, arrival)
        };
        Ok(Self { row, text, raw })
    }

    pub fn from_draft(draft: Draft, arrival: &Arrival<'_>) -> Result<Self, ServiceError> {
        let created_at = draft.created_at.unwrap_or(arrival.at);
        let input = SegmentInput {
            segment_id: draft.segment_id,
            segment_type: draft.segment_type,
            text: draft.text,
            role: draft.role,
            tool_call_id: draft.tool_call_id,
            raw: Some(draft.raw),
            file_path: draft.file_path,
            line_range: draft.lines,
            tags: None,
            topic_id: None,
            task_id: None,
            references: None,
            reply_to: draft.reply_to,
            derived_from: None,
            pinned: None,
            invariant: draft.is_invariant.then_some(true),
        };
        let mut incoming = Self::from_input(input, arrival)?;
        incoming.row.tokens = incoming.row.tokens.saturating_add(draft.extra_tokens);
        (incoming.row.created_at, incoming.row.touched_at) = (created_at, created_at);
        Ok(incoming)
    }
}

fn check_segment_id(id: &str) -> Result<(), ServiceError> {
    let length = id.chars().count();
    if (1..=SEGMENT_ID_CHARS_MAX).contains(&length) && !id.chars().any(char::is_control) {
        return Ok(());
    }
    Err(ServiceError::invalid(format!(
        "`segment_id` must have 1 to {SEGMENT_ID_CHARS_MAX} characters, none of them control characters; this has {length}"
    )))
}

/// Output of tools may hold anything; what no database stores as text is shown as what it is, a hole.
fn checked_text(text: String) -> Result<String, ServiceError> {
    check_bytes("text", text.len(), SEGMENT_TEXT_BYTES_MAX)?;
    Ok(if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text })
}

fn check_bytes(field: &str, bytes: usize, max: usize) -> Result<(), ServiceError> {
    if bytes > max {
        return Err(ServiceError::invalid(format!("`{field}` has {bytes} bytes, more than {max}")));
    }
    Ok(())
}

fn check_optional(field: &str, value: Option<&str>, chars_max: usize) -> Result<(), ServiceError> {
    check_short_text(field, value.unwrap_or_default(), chars_max)
}

fn checked_lines((first, last): (u32, u32)) -> Result<Lines, ServiceError> {
    if first == 0 {
        return Err(ServiceError::invalid("`line_range` begins at 0; lines are counted from 1"));
    }
    if first > last {
        return Err(ServiceError::invalid(format!("`line_range` begins at {first}, after its end at {last}")));
    }
    Ok(Lines { first, last })
}

pub fn text_hash(text: &str) -> [u8; 16] {
    let mut hash = [0; 16];
    hash.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..16]);
    hash
}

/// A row that has only a text.
fn blank_row(text: &str, arrival: &Arrival<'_>) -> SegmentRow {
    SegmentRow {
        segment: 0,
        segment_id: String::new(),
        segment_type: SegmentType::Message,
        role: None,
        tool_call_id: None,
        tokens: count_tokens(arrival.tokenizer, text),
        created_at: arrival.at,
        created_step: 0,
        touched_at: arrival.at,
        touched_step: 0,
        is_pinned: false,
        pin_reason: None,
        is_invariant: false,
        file_path: None,
        lines: None,
        tags: Vec::new(),
        topic_id: None,
        task_id: None,
        references: Vec::new(),
        reply_to: None,
        derived_from: None,
        names: names_of(text),
        text_hash: text_hash(text),
        text_chars: text.chars().count() as i64,
        state: SegmentState::Active,
        stashed_at: None,
        stash_reason: None,
        entered_collection: 0,
        version: 0,
        written_by: String::new(),
    }
}

/// Hashes of the identifiers, paths and numbers of a text, each once.
pub fn names_of(text: &str) -> Vec<u64> {
    let mut names = Vec::new();
    each_name(text, |name| names.push(name_hash(name)));
    each_number(text, |number| names.push(name_hash(number) | LOOSE));
    names.sort_unstable();
    names.dedup();
    names
}

/// The name with this hash, as the text has it.
pub fn name_with_hash(text: &str, hash: u64) -> Option<&str> {
    let mut found = None;
    each_name(text, |name| {
        if found.is_none() && name_hash(name) == hash {
            found = Some(name);
        }
    });
    found
}
