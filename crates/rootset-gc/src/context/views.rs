//! Which segments show which file, and which of them newer ones cover.
//!
//! A view without lines shows an unknown part of its file: it overlaps every other, covers none and is covered by none.

use std::collections::BTreeMap;

use super::graph::{Graph, Population};
use super::hashes::HashedMap;
use super::lists::Lists;
use super::segment::{Facts, Lines, SegmentIndex};

/// So many of a file's views are looked at for what a new one overlaps: a file that is viewed ten thousand times is no
/// slower to view than one that is viewed a hundred times.
const EARLIER_VIEWS_MAX: usize = 64;

#[derive(Clone, Debug, Default)]
pub(super) struct Views {
    numbers: HashedMap<u32>,
    /// Segments by file number, whatever their state.
    of_file: Lists,
}

impl Views {
    pub fn add(&mut self, segment: SegmentIndex, file: u64) {
        let next = u32::try_from(self.of_file.len()).expect("fewer files than segments");
        let number = *self.numbers.entry(file).or_insert(next);
        if number == next {
            self.of_file.add_list();
        }
        self.of_file.push(number, segment.0);
    }

    /// Whatever their state, the last added first.
    pub fn of_file(&self, file: u64) -> impl Iterator<Item = SegmentIndex> {
        let number = self.numbers.get(&file);
        number.into_iter().flat_map(|number| self.of_file.newest_first(*number)).map(SegmentIndex)
    }

    /// Earlier views of the same file that show some of the same lines, the last added first.
    pub fn overlapped_by(&self, view: &Facts, all: &[Facts]) -> impl Iterator<Item = SegmentIndex> {
        let file = view.file.filter(|_| view.is_view());
        let earlier = file.into_iter().flat_map(|file| self.of_file(file).take(EARLIER_VIEWS_MAX));
        earlier.filter(|segment| match (view.lines, all[segment.place()].lines) {
            (Some(lines), Some(earlier)) => lines.overlaps(earlier),
            _ => true,
        })
    }
}

/// Active views all of whose lines newer active views of the same file show. Costs what is active.
pub(super) fn superseded_views(graph: &Graph, facts: &[Facts]) -> Vec<SegmentIndex> {
    let views = graph.segments(Population::Active).filter_map(|segment| {
        let facts = &facts[segment.place()];
        let file = facts.file.filter(|_| facts.is_view())?;
        Some((file, facts.place_of(segment), facts.lines?))
    });
    let mut views: Vec<(u64, (u64, SegmentIndex), Lines)> = views.collect();
    // Backwards, the newest view of each file comes first.
    views.sort_unstable_by_key(|(file, place, _)| (*file, *place));
    let mut superseded = Vec::new();
    let mut cover = Cover::default();
    let mut file_before = None;
    for (file, (_, segment), lines) in views.into_iter().rev() {
        if file_before != Some(file) {
            cover = Cover::default();
            file_before = Some(file);
        }
        if cover.has(lines) {
            superseded.push(segment);
        } else {
            cover.add(lines);
        }
    }
    superseded
}

/// Lines that are shown, as ranges that neither meet nor touch: the last line by the first.
#[derive(Debug, Default)]
pub(super) struct Cover {
    ranges: BTreeMap<u32, u32>,
}

impl Cover {
    pub fn has(&self, lines: Lines) -> bool {
        let before = self.ranges.range(..=lines.first).next_back();
        !lines.is_empty() && before.is_some_and(|(_, last)| *last >= lines.last)
    }

    pub fn add(&mut self, lines: Lines) {
        if lines.is_empty() {
            return;
        }
        let (mut first, mut last) = (lines.first, lines.last);
        // From the last range that begins in or right behind these lines, backwards, until one ends before them.
        while let Some((known_first, known_last)) = self.ranges.range(..=last.saturating_add(1)).next_back() {
            let (known_first, known_last) = (*known_first, *known_last);
            if known_last.saturating_add(1) < first {
                break;
            }
            first = first.min(known_first);
            last = last.max(known_last);
            self.ranges.remove(&known_first);
        }
        self.ranges.insert(first, last);
    }
}
