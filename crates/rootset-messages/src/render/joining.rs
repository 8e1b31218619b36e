//! Messages of one role that became neighbours, and the beginning of a list.

use serde_json::{Value, json};

use super::assemble::Fragment;
use super::{Message, Pair, Part};
use crate::draft::Format;
use crate::raw::{Slot, SlotPlace, cut_mark};

/// Stands for the user where what came before is gone: a conversation does not begin with an answer.
const EARLIER_NOTE: &str = "[earlier messages of this conversation were stashed]";

/// Joins messages of one role in a row, but for those that were neighbours already where they come from; and sees to it
/// that results come first in the turn that answers calls.
pub(super) fn join_neighbours(messages: Vec<Message>) -> Vec<Message> {
    let mut joined: Vec<Message> = Vec::with_capacity(messages.len());
    let mut turn_start = 0;
    for message in messages {
        let Some(before) = joined.last_mut().filter(|before| before.role == message.role) else {
            results_first(&mut joined, turn_start);
            turn_start = joined.len();
            joined.push(message);
            continue;
        };
        let were_neighbours =
            before.number.zip(message.number).is_some_and(|(first, second)| first.checked_add(1) == Some(second));
        if were_neighbours {
            joined.push(message);
        } else {
            join(before, message);
        }
    }
    results_first(&mut joined, turn_start);
    joined
}

/// The turn that begins at `start` and ends the list becomes one message if a result in it stands behind something else.
fn results_first(messages: &mut Vec<Message>, start: usize) {
    let results = messages[start..].iter().flat_map(|message| &message.parts).map(is_result);
    if results.is_sorted_by(|before, after| before >= after) {
        return;
    }
    let mut turn = messages.drain(start..);
    let Some(mut whole) = turn.next() else { return };
    turn.by_ref().for_each(|message| join(&mut whole, message));
    drop(turn);
    whole.parts.sort_by_key(|part| !is_result(part));
    // A turn with results is the user's: no thinking stands apart from its block there.
    all_slots(&mut whole.parts).zip(0..).for_each(|(slot, at)| slot.at = at);
    messages.push(whole);
}

fn is_result(part: &Part) -> bool {
    matches!(part.pair, Pair::Result(_))
}

fn join(first: &mut Message, mut second: Message) {
    let next = first.next_place();
    all_slots(&mut second.parts).for_each(|slot| slot.at = slot.at.saturating_add(next));
    // Only a message of one part is a text: the first of many joined ones is not looked at again and again.
    for message in [&mut *first, &mut second] {
        if let [only] = message.parts.as_mut_slice() {
            only.slots.iter_mut().for_each(text_to_block);
        }
    }
    first.parts.append(&mut second.parts);
    for (field, value) in second.envelope {
        first.envelope.entry(field).or_insert(value);
    }
    first.envelope.insert("content".to_owned(), cut_mark());
    first.number = None;
}

fn all_slots(parts: &mut [Part]) -> impl Iterator<Item = &mut Slot> {
    parts.iter_mut().flat_map(|part| &mut part.slots)
}

fn text_to_block(slot: &mut Slot) {
    if slot.place == SlotPlace::Text {
        let text = slot.value.take();
        (slot.place, slot.value) = (SlotPlace::Block, json!({"type": "text", "text": text}));
    }
}

pub(super) fn begin_with_user(format: Format, messages: &mut Vec<Message>) {
    let is_prompt = |message: &&Message| matches!(message.role.as_str(), "system" | "developer");
    let prompts = messages.iter().take_while(is_prompt).count();
    let Some(first) = messages.get(prompts) else { return };
    // OpenAI takes a list that begins with an assistant's greeting; one that began like this does so again.
    let may_begin = first.role != "assistant" || (format == Format::OpenAi && first.opens);
    if may_begin {
        return;
    }
    let note = Fragment::new("user", SlotPlace::Text, Value::from(EARLIER_NOTE), Pair::None);
    messages.insert(
        prompts,
        Message { role: note.role, envelope: note.envelope, parts: vec![note.part], number: None, opens: true },
    );
}
