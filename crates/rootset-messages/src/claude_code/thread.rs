//! Which lines of a session file are the conversation as it stands.
//!
//! Lines name the line before them. Going back with Claude Code makes a branch: only the way from the last line back to its
//! beginning counts. Two things are not on that way but belong to it: other lines of the same message of the API, and
//! results of its calls (calls that run at the same time are answered side by side).

use std::collections::{BTreeMap, BTreeSet};

use super::{Line, skip};
use crate::blocks::{call_id, result_id, text_at};
use crate::draft::SkippedLine;
use serde_json::Value;

pub(super) fn live<'l>(lines: &'l [Line], skipped: &mut Vec<SkippedLine>) -> Vec<&'l Line> {
    let lines = main_conversation(lines);
    let way = way_back(&lines);
    let belonging = Belonging::of(&way, &lines);
    let (mut live, mut compacted, mut left) = (Vec::new(), 0, Vec::new());
    for (place, line) in lines.iter().copied().enumerate() {
        if !is_sent(line) {
            continue;
        }
        let is_nameless = text_at(&line.value, "uuid").is_none();
        let is_behind = way.boundary.is_none_or(|boundary| place > boundary);
        if way.lines.contains(&place) || belonging.has(line) || (is_nameless && is_behind) {
            live.push(line);
        } else if is_behind {
            left.push(line.number);
        } else {
            compacted += 1;
        }
    }
    if let Some(boundary) = way.boundary.filter(|_| compacted > 0) {
        let reason = format!("{} before this compaction, replaced by its summary", counted(compacted));
        skipped.push(skip(lines[boundary].number, &reason));
    }
    if let Some(first) = left.first() {
        let reason = format!("{} in abandoned branches, from here on", counted(left.len()));
        skipped.push(skip(*first, &reason));
    }
    live
}

fn counted(lines: usize) -> String {
    if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") }
}

/// Lines of side conversations out, and each line once; a file of nothing but a side conversation is about that one.
fn main_conversation(lines: &[Line]) -> Vec<&Line> {
    let is_side = |line: &&Line| line.is("isSidechain");
    let is_all_side = lines.iter().filter(|line| is_message(line)).all(|line| line.is("isSidechain"));
    let mut seen = BTreeSet::new();
    let mut is_new = |line: &&Line| text_at(&line.value, "uuid").is_none_or(|uuid| seen.insert(uuid.to_owned()));
    lines.iter().filter(|line| is_all_side || !is_side(line)).filter(|line| is_new(line)).collect()
}

fn is_message(line: &Line) -> bool {
    matches!(line.kind(), "user" | "assistant")
}

/// Whether the API gets to see it.
fn is_sent(line: &Line) -> bool {
    let is_shown_only = line.is("isVisibleInTranscriptOnly") && !line.is("isCompactSummary");
    is_message(line) && !line.is("isApiErrorMessage") && !is_shown_only
}

struct Way {
    lines: BTreeSet<usize>,
    /// The compaction at which it begins.
    boundary: Option<usize>,
}

fn way_back(lines: &[&Line]) -> Way {
    let uuid = |(place, line): (usize, &&Line)| text_at(&line.value, "uuid").map(|uuid| (uuid.to_owned(), place));
    let places: BTreeMap<String, usize> = lines.iter().enumerate().filter_map(uuid).collect();
    let mut way = Way { lines: BTreeSet::new(), boundary: None };
    let mut next = lines.iter().rposition(|line| is_sent(line));
    while let Some(place) = next {
        // Only a damaged file leads in circles.
        if !way.lines.insert(place) {
            break;
        }
        let line = lines[place];
        if text_at(&line.value, "subtype") == Some("compact_boundary") {
            way.boundary = Some(place);
            break;
        }
        next = match text_at(&line.value, "parentUuid") {
            // A summary without a line that marks the compaction marks it itself.
            None if line.is("isCompactSummary") => {
                way.boundary = Some(place);
                None
            }
            // A line without a name and a parent was written by somebody simpler: it follows the one before.
            None if text_at(&line.value, "uuid").is_none() => place.checked_sub(1),
            None => None,
            // The line that is meant is lost, or in another file.
            Some(parent) => places.get(parent).copied().or_else(|| place.checked_sub(1)),
        };
    }
    way
}

/// What belongs to the lines of the way without being on it.
struct Belonging {
    messages: BTreeSet<String>,
    calls: BTreeSet<String>,
}

impl Belonging {
    fn of(way: &Way, lines: &[&Line]) -> Self {
        let on_way = way.lines.iter().filter_map(|place| lines[*place].message_id());
        let messages: BTreeSet<String> = on_way.map(str::to_owned).collect();
        let is_of_way = |place: usize, line: &Line| {
            way.lines.contains(&place) || line.message_id().is_some_and(|id| messages.contains(id))
        };
        let asking = lines.iter().enumerate().filter(|(place, line)| is_of_way(*place, line));
        let calls = asking.flat_map(|(_, line)| blocks(line)).filter_map(call_id).map(str::to_owned).collect();
        Self { messages, calls }
    }

    fn has(&self, line: &Line) -> bool {
        match line.kind() {
            "assistant" => line.message_id().is_some_and(|id| self.messages.contains(id)),
            _ => blocks(line).filter_map(result_id).any(|id| self.calls.contains(id)),
        }
    }
}

fn blocks(line: &Line) -> impl Iterator<Item = &Value> {
    line.content().as_array().into_iter().flatten()
}
