//! Which lines of a session file are the conversation as it stands.
//!
//! Lines name the line before them. Going back with Claude Code makes a branch: only the way from the last line back to its
//! beginning counts. Two things are not on that way but belong to it: other lines of the same message of the API, and
//! results of its calls (calls that run at the same time are answered side by side).
//!
//! A compaction replaces what stands before it by a summary, but for the messages that it keeps word for word: those are older
//! lines of the file, and are sent behind the summary.

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
    let kept: Vec<&Line> = way.kept.iter().map(|place| lines[*place]).filter(|line| is_sent(line)).collect();
    let mut kept_at = 0;
    for (place, line) in lines.iter().copied().enumerate() {
        if !is_sent(line) || way.kept.contains(&place) {
            continue;
        }
        let is_nameless = text_at(&line.value, "uuid").is_none();
        let is_behind = way.boundary.is_none_or(|boundary| place > boundary);
        if way.lines.contains(&place) || is_behind && (belonging.has(line) || is_nameless) {
            live.push(line);
        } else if is_behind {
            left.push(line.number);
        } else {
            compacted += 1;
        }
        if way.anchor == Some(place) {
            kept_at = live.len();
        }
    }
    live.splice(kept_at..kept_at, kept);
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
    /// What that compaction kept word for word, in the order in which it is sent.
    kept: Vec<usize>,
    /// The line behind which that is sent.
    anchor: Option<usize>,
}

/// The lines by their names.
struct Places(BTreeMap<String, usize>);

impl Places {
    fn of(lines: &[&Line]) -> Self {
        let named = |(place, line): (usize, &&Line)| text_at(&line.value, "uuid").map(|uuid| (uuid.to_owned(), place));
        Self(lines.iter().enumerate().filter_map(named).collect())
    }

    fn of_name(&self, uuid: Option<&Value>) -> Option<usize> {
        self.0.get(uuid?.as_str()?).copied()
    }

    fn before(&self, line: &Line, place: usize) -> Option<usize> {
        match text_at(&line.value, "parentUuid") {
            // A line without a name and a parent was written by somebody simpler: it follows the one before.
            None if text_at(&line.value, "uuid").is_none() => place.checked_sub(1),
            None => None,
            // The line that is meant is lost, or in another file.
            Some(parent) => self.0.get(parent).copied().or_else(|| place.checked_sub(1)),
        }
    }

    /// What a compaction kept.
    fn kept_by(&self, boundary: &Line) -> Vec<usize> {
        let uuids = boundary.value.pointer("/compactMetadata/preservedMessages/uuids").and_then(Value::as_array);
        uuids.into_iter().flatten().filter_map(|uuid| self.of_name(Some(uuid))).collect()
    }

    fn anchor_of(&self, boundary: &Line) -> Option<usize> {
        self.of_name(boundary.value.pointer("/compactMetadata/preservedMessages/anchorUuid"))
    }
}

fn is_boundary(line: &Line) -> bool {
    text_at(&line.value, "subtype") == Some("compact_boundary")
}

fn way_back(lines: &[&Line]) -> Way {
    let places = Places::of(lines);
    // What goes on behind the last message that a compaction kept goes on behind the compaction.
    let ends: BTreeMap<usize, usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| is_boundary(line))
        .filter_map(|(place, line)| Some((*places.kept_by(line).last()?, place)))
        .filter(|(kept, boundary)| kept < boundary)
        .collect();
    let mut way = Way { lines: BTreeSet::new(), boundary: None, kept: Vec::new(), anchor: None };
    let mut next = lines.iter().rposition(|line| is_sent(line));
    let mut came_from = lines.len();
    while let Some(mut place) = next {
        if let Some(boundary) = ends.get(&place).copied().filter(|boundary| *boundary < came_from) {
            place = places.anchor_of(lines[boundary]).filter(|anchor| *anchor > boundary).unwrap_or(boundary);
        }
        // Only a damaged file leads in circles.
        if !way.lines.insert(place) {
            break;
        }
        let line = lines[place];
        if is_boundary(line) {
            way.boundary = Some(place);
            way.kept = places.kept_by(line);
            way.anchor = places.anchor_of(line).or(Some(place));
            break;
        }
        came_from = place;
        next = places.before(line, place);
        // A summary without a line that marks the compaction marks it itself.
        if next.is_none() && line.is("isCompactSummary") {
            way.boundary = Some(place);
        }
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
