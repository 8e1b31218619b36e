//! Reading lists of Anthropic's Messages API.

use rootset_gc::context::SegmentType;
use serde_json::{Map, Value};

use crate::blocks::{self, Shown, call_id, is_thinking, result_id, text_at};
use crate::draft::{Draft, Format};
use crate::error::{ReadError, kind_of};
use crate::file_tools::Calls;
use crate::raw::{Raw, Slot, SlotPlace, cut_mark, digest};
use crate::{BLOCKS_MAX, MESSAGES_MAX};

pub(crate) fn read(list: &Value) -> Result<Vec<Draft>, ReadError> {
    let mut drafts = Vec::new();
    if let Some(system) = list.get("system") {
        read_system(system, &mut drafts)?;
    }
    let mut calls = Calls::default();
    let mut opens = true;
    for (number, message) in messages_of(list)?.iter().enumerate() {
        let envelope = envelope_of(number, message)?;
        opens &= text_at(message, "role") != Some("user");
        read_message(number, message, envelope, opens, &mut calls, &mut drafts)?;
    }
    Ok(drafts)
}

/// The list itself, or `messages` of a request's body.
pub(crate) fn messages_of(list: &Value) -> Result<&[Value], ReadError> {
    let found = list.get("messages").unwrap_or(list);
    let messages = found.as_array().ok_or(ReadError::NotAList { found: kind_of(found) })?;
    if messages.len() > MESSAGES_MAX {
        return Err(ReadError::TooManyMessages { found: messages.len(), max: MESSAGES_MAX });
    }
    Ok(messages)
}

/// A message as an object that has a role.
pub(crate) fn envelope_of(number: usize, message: &Value) -> Result<Map<String, Value>, ReadError> {
    let Value::Object(fields) = message else {
        return Err(ReadError::NotAMessage { message: number, found: kind_of(message) });
    };
    if text_at(message, "role").is_none() {
        return Err(ReadError::NoRole { message: number });
    }
    let blocks = fields.get("content").and_then(Value::as_array).map_or(0, Vec::len);
    if blocks > BLOCKS_MAX {
        return Err(ReadError::TooManyBlocks { message: number, found: blocks, max: BLOCKS_MAX });
    }
    // Contents are cut out next: copying them first would double the work.
    let copied = fields.iter().map(|(name, value)| match name.as_str() {
        "content" if value.is_array() || value.is_string() => (name.clone(), Value::Null),
        _ => (name.clone(), value.clone()),
    });
    Ok(copied.collect())
}

fn read_system(system: &Value, drafts: &mut Vec<Draft>) -> Result<(), ReadError> {
    let slots = match system {
        Value::Null => return Ok(()),
        Value::String(_) => vec![Slot { place: SlotPlace::SystemText, at: 0, value: system.clone() }],
        Value::Array(blocks) if blocks.iter().all(Value::is_object) => {
            let slot = |(at, block): (usize, &Value)| Slot {
                place: SlotPlace::SystemBlock,
                at: at as u32,
                value: block.clone(),
            };
            blocks.iter().enumerate().map(slot).collect()
        }
        other => return Err(ReadError::BadSystem { found: kind_of(other) }),
    };
    let digest = digest(system);
    for slot in slots {
        let shown = blocks::show_content(&slot.value);
        let raw = Raw {
            format: Format::Anthropic,
            message: 0,
            digest: digest.clone(),
            opens: false,
            envelope: Map::new(),
            slots: vec![slot],
        };
        drafts.push(Draft { is_invariant: true, ..plain_draft("system", shown, &raw) });
    }
    Ok(())
}

fn read_message(
    number: usize,
    message: &Value,
    mut envelope: Map<String, Value>,
    opens: bool,
    calls: &mut Calls,
    drafts: &mut Vec<Draft>,
) -> Result<(), ReadError> {
    let role = text_at(message, "role").unwrap_or_default();
    let content = message.get("content").unwrap_or(&Value::Null);
    let slots: Vec<Slot> = match content {
        Value::String(_) => vec![Slot { place: SlotPlace::Text, at: 0, value: content.clone() }],
        Value::Array(blocks) => {
            if let Some(bad) = blocks.iter().position(|block| !block.is_object()) {
                return Err(ReadError::BadField {
                    message: number,
                    field: format!("content[{bad}]"),
                    found: kind_of(&blocks[bad]),
                    allowed: "an object with `type`",
                });
            }
            let slot =
                |(at, block): (usize, &Value)| Slot { place: SlotPlace::Block, at: at as u32, value: block.clone() };
            blocks.iter().enumerate().map(slot).collect()
        }
        other => {
            return Err(ReadError::BadField {
                message: number,
                field: "content".to_owned(),
                found: kind_of(other),
                allowed: "a text or a list of blocks",
            });
        }
    };
    // An empty list of blocks stays in the envelope, and is all there is.
    let mark = if slots.is_empty() { content.clone() } else { cut_mark() };
    envelope.insert("content".to_owned(), mark);
    let whole =
        Raw { format: Format::Anthropic, message: number as u32, digest: digest(message), opens, envelope, slots };
    drafts.extend(cut(whole, Thinking::JoinsCall).iter().map(|part| draft_of(role, part, calls)));
    Ok(())
}

/// What thinking belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thinking {
    /// The first tool call between it and the next thinking, where there is one; the next block otherwise.
    JoinsCall,
    JoinsNext,
}

/// A message in parts that can leave alone: each block with the thinking that belongs to it.
pub(crate) fn cut(whole: Raw, thinking: Thinking) -> Vec<Raw> {
    let Raw { format, message, digest, opens, envelope, slots } = whole;
    let mut groups = if slots.is_empty() {
        vec![vec![Slot { place: SlotPlace::Nothing, at: 0, value: Value::Null }]]
    } else {
        group_with_thinking(slots, thinking)
    };
    let last = groups.pop().expect("a message is cut into at least one part");
    let part = |envelope, slots| Raw { format, message, digest: digest.clone(), opens, envelope, slots };
    let mut parts: Vec<Raw> = groups.into_iter().map(|slots| part(envelope.clone(), slots)).collect();
    parts.push(part(envelope.clone(), last));
    parts
}

/// Thinking at the end of a message joins nothing. Groups are ordered by what they are about, which is last in each.
fn group_with_thinking(slots: Vec<Slot>, thinking: Thinking) -> Vec<Vec<Slot>> {
    let mut groups: Vec<Vec<Slot>> = Vec::new();
    let mut thoughts: Vec<Slot> = Vec::new();
    // The first group that the thoughts may join, once there is one.
    let mut takers: Option<usize> = None;
    for slot in slots {
        if is_thinking(&slot.value) {
            settle(&mut groups, &mut thoughts, &mut takers);
            thoughts.push(slot);
            continue;
        }
        let takes_at_once = thinking == Thinking::JoinsNext || call_id(&slot.value).is_some();
        groups.push(vec![slot]);
        if takes_at_once && !thoughts.is_empty() {
            takers = Some(groups.len() - 1);
            settle(&mut groups, &mut thoughts, &mut takers);
        } else if !thoughts.is_empty() {
            takers = takers.or(Some(groups.len() - 1));
        }
    }
    settle(&mut groups, &mut thoughts, &mut takers);
    if !thoughts.is_empty() {
        groups.push(thoughts);
    }
    groups
}

/// Gives the thoughts so far to their taker, if anything followed them.
fn settle(groups: &mut [Vec<Slot>], thoughts: &mut Vec<Slot>, taker: &mut Option<usize>) {
    if let Some(group) = taker.take() {
        groups[group].splice(0..0, thoughts.drain(..));
    }
}

/// What a part of a message of this role says.
pub(crate) fn draft_of(role: &str, part: &Raw, calls: &mut Calls) -> Draft {
    let mut shown = Shown::default();
    for slot in &part.slots {
        shown.add(match slot.place {
            SlotPlace::Block => blocks::show(&slot.value),
            _ => blocks::show_content(&slot.value),
        });
    }
    let block = &part.main().value;
    let mut draft = plain_draft(role, shown, part);
    if let Some(id) = call_id(block) {
        draft.tool_call_id = (!id.is_empty()).then(|| id.to_owned());
        let name = text_at(block, "name").unwrap_or_default();
        if let Some(view) = calls.note(id, name, block.get("input").unwrap_or(&Value::Null)) {
            (draft.file_path, draft.lines) = (Some(view.path), view.lines);
        }
    } else if let Some(id) = result_id(block) {
        let failed = block.get("is_error") == Some(&Value::Bool(true));
        answer_call(&mut draft, id, failed, calls);
    }
    draft.is_invariant = role == "system";
    draft
}

/// Makes a draft the result of a call.
pub(crate) fn answer_call(draft: &mut Draft, id: &str, failed: bool, calls: &Calls) {
    draft.role = Some("tool".to_owned());
    draft.tool_call_id = (!id.is_empty()).then(|| id.to_owned());
    draft.segment_type = SegmentType::Log;
    // A tool that failed shows no file.
    let view = if failed { None } else { calls.shown_by(id, &draft.text) };
    if let Some(view) = view {
        draft.segment_type = SegmentType::Code;
        (draft.file_path, draft.lines) = (Some(view.path), view.lines);
    }
}

pub(crate) fn plain_draft(role: &str, shown: Shown, raw: &Raw) -> Draft {
    Draft {
        segment_id: None,
        segment_type: SegmentType::Message,
        role: Some(role.to_owned()),
        text: shown.text,
        tool_call_id: None,
        raw: raw.to_value(),
        extra_tokens: shown.extra_tokens,
        file_path: None,
        lines: None,
        created_at: None,
        reply_to: None,
        is_invariant: false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Places of the blocks of each draft.
    fn groups(blocks: Value) -> Vec<Vec<u32>> {
        let drafts =
            read(&json!([{"role": "user", "content": "go"}, {"role": "assistant", "content": blocks}])).unwrap();
        let places = |draft: &Draft| Raw::parse(&draft.raw).unwrap().slots.iter().map(|slot| slot.at).collect();
        drafts[1..].iter().map(places).collect()
    }

    #[test]
    fn thinking_stays_with_the_call_it_led_to() {
        let thinking = || json!({"type": "thinking", "thinking": "hm", "signature": "s"});
        let text = || json!({"type": "text", "text": "so"});
        let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "ls", "input": {}});
        assert_eq!(groups(json!([thinking(), call("a"), call("b")])), [vec![0, 1], vec![2]]);
        assert_eq!(groups(json!([thinking(), text(), call("a")])), [vec![1], vec![0, 2]]);
        assert_eq!(groups(json!([thinking(), text(), text()])), [vec![0, 1], vec![2]]);
        assert_eq!(groups(json!([thinking(), text(), thinking(), call("a")])), [vec![0, 1], vec![2, 3]]);
        assert_eq!(groups(json!([thinking(), thinking(), text()])), [vec![0, 1, 2]]);
        assert_eq!(groups(json!([text(), thinking()])), [vec![0], vec![1]]);
        assert_eq!(groups(json!([])), [vec![0]]);
    }
}
