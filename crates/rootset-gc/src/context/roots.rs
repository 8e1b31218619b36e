//! What must stay: segments that no plan may name, and from which everything else is judged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::bitset::Bitset;
use super::graph::Population;
use super::segment::{Author, Facts, Lines, Now, SegmentIndex, SegmentType};
use super::window::Window;

/// Why a segment is a root. One may be a root for several reasons; the first in this order is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RootKind {
    System,
    Invariant,
    Pinned,
    /// The user said it: what is being done now, and what the session began with.
    Instruction,
    Task,
    /// Of the active file, overlapping the active lines.
    ActiveLines,
    ActiveFile,
    RecentDecision,
    /// One of the last segments, whatever its type.
    Last,
    /// The other half of a root's pair.
    Paired,
}

/// What the agent works on, and how far back the present reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Focus {
    /// Hash of the current task.
    pub task: Option<u64>,
    /// Hash of the active file.
    pub file: Option<u64>,
    pub lines: Option<Lines>,
    /// Hashes of files that were edited lately, are open or have breakpoints: no roots, but dearer by score.
    pub warm_files: Vec<u64>,
    /// How many segments from the end are roots.
    pub last_segments: usize,
    /// How long a decision is a root.
    pub recent_decisions_ms: i64,
}

impl Default for Focus {
    fn default() -> Self {
        Self {
            task: None,
            file: None,
            lines: None,
            warm_files: Vec::new(),
            last_segments: 10,
            recent_decisions_ms: 60 * 60 * 1_000,
        }
    }
}

/// The roots of a window at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    /// By place; `None` where a segment is no root.
    kinds: Vec<Option<RootKind>>,
    segments: Vec<SegmentIndex>,
}

impl Roots {
    pub fn kind(&self, segment: SegmentIndex) -> Option<RootKind> {
        self.kinds.get(segment.place()).copied().flatten()
    }

    pub fn contains(&self, segment: SegmentIndex) -> bool {
        self.kind(segment).is_some()
    }

    /// The strongest kinds first, then in order of addition: of the active file, what overlaps the active lines.
    pub fn segments(&self) -> &[SegmentIndex] {
        &self.segments
    }

    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }
}

/// Every root of a population. The last segments are counted among active ones only.
pub fn find_roots(window: &Window, focus: &Focus, now: Now, population: Population) -> Roots {
    let graph = window.graph();
    let mut kinds: Vec<Option<RootKind>> = vec![None; graph.len()];
    let mut segments: Vec<SegmentIndex> = Vec::new();
    let mut said = Bitset::zeros(graph.len());
    for segment in window.instructions() {
        said.insert(segment.place());
    }
    for segment in graph.segments(population) {
        let instruction = said.has(segment.place()).then_some(RootKind::Instruction);
        let by_facts = kind_by_facts(window.facts(segment), focus, now);
        // The strongest of the reasons.
        if let Some(kind) = instruction.into_iter().chain(by_facts).min() {
            kinds[segment.place()] = Some(kind);
            segments.push(segment);
        }
    }
    for segment in last_segments(window, focus.last_segments) {
        if kinds[segment.place()].is_none() {
            kinds[segment.place()] = Some(RootKind::Last);
            segments.push(segment);
        }
    }
    // Pairs of pairs are found as the list grows.
    let mut visited = 0;
    while let Some(root) = segments.get(visited).copied() {
        visited += 1;
        for other in graph.pairs_of(root, population) {
            if kinds[other.place()].is_none() {
                kinds[other.place()] = Some(RootKind::Paired);
                segments.push(other);
            }
        }
    }
    segments.sort_unstable_by_key(|segment| (kinds[segment.place()], *segment));
    Roots { kinds, segments }
}

fn kind_by_facts(facts: &Facts, focus: &Focus, now: Now) -> Option<RootKind> {
    let is_of_file = focus.file.is_some() && facts.file == focus.file;
    let is_on_lines = match (focus.lines, facts.lines) {
        (Some(active), Some(shown)) => active.overlaps(shown),
        (Some(_), None) => true,
        (None, _) => false,
    };
    // A decision from the future is as recent as can be: in doubt, it stays.
    let is_recent = now.at.0.saturating_sub(facts.created_at.0) <= focus.recent_decisions_ms;
    let conditions = [
        (facts.author == Author::System, RootKind::System),
        (facts.is_invariant, RootKind::Invariant),
        (facts.is_pinned, RootKind::Pinned),
        (focus.task.is_some() && facts.task == focus.task, RootKind::Task),
        (is_of_file && is_on_lines, RootKind::ActiveLines),
        (is_of_file, RootKind::ActiveFile),
        (facts.segment_type == SegmentType::Decision && is_recent, RootKind::RecentDecision),
    ];
    conditions.into_iter().find(|(holds, _)| *holds).map(|(_, kind)| kind)
}

/// By their place in the window, which is not always the order of addition: summaries stand where the original stood.
fn last_segments(window: &Window, count: usize) -> impl Iterator<Item = SegmentIndex> {
    let mut last: BinaryHeap<Reverse<(u64, SegmentIndex)>> = BinaryHeap::new();
    for segment in window.graph().segments(Population::Active) {
        let place = Reverse((window.facts(segment).created_step, segment));
        if last.len() < count {
            last.push(place);
        } else if last.peek().is_some_and(|first| place < *first) {
            last.pop();
            last.push(place);
        }
    }
    last.into_iter().map(|Reverse((_, segment))| segment)
}
