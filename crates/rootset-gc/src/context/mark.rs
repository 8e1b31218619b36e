//! Everything that the roots reach, and the way there.
//!
//! No recursion: the depth of a graph is its author's choice. Segments outside the population are neither marked nor
//! passed through: what has left the window holds nothing in it.

use super::bitset::Bitset;
use super::graph::{Graph, Population};
use super::segment::SegmentIndex;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marks {
    reached: Bitset,
}

impl Marks {
    pub fn is_reachable(&self, segment: SegmentIndex) -> bool {
        self.reached.has(segment.place())
    }

    /// How many segments are reachable.
    pub fn count(&self) -> usize {
        self.reached.count()
    }
}

/// Marks the roots and all they refer to, directly or through others.
pub fn mark(graph: &Graph, roots: &[SegmentIndex], population: Population) -> Marks {
    // Who does not count is closed from the start: one bit answers both "seen" and "counts".
    let mut closed = graph.population(population).complement();
    let mut waiting: Vec<SegmentIndex> = Vec::new();
    waiting.extend(roots.iter().filter(|root| closed.insert(root.place())));
    // First in, first out: the next segments are known well before they are read, so that reads overlap.
    let mut visited = 0;
    while let Some(segment) = waiting.get(visited).copied() {
        visited += 1;
        let mut references = graph.references_cursor(segment);
        while let Some(other) = graph.next_reference(&mut references) {
            if closed.insert(other.place()) {
                waiting.push(other);
            }
        }
    }
    closed.keep_only(graph.population(population));
    Marks { reached: closed }
}

/// A shortest way from a root to an active segment, both included; `None` if no root leads there.
pub fn path_from_root(graph: &Graph, roots: &[SegmentIndex], segment: SegmentIndex) -> Option<Vec<SegmentIndex>> {
    let mut closed = graph.population(Population::Active).complement();
    // With the place in this list of who led there; a root leads to itself.
    let mut waiting: Vec<(SegmentIndex, usize)> = Vec::new();
    for root in roots {
        if closed.insert(root.place()) {
            waiting.push((*root, waiting.len()));
        }
    }
    let mut visited = 0;
    while let Some((reached, _)) = waiting.get(visited).copied() {
        if reached == segment {
            return Some(way_back(&waiting, visited));
        }
        for (other, _) in graph.references_of(reached) {
            if closed.insert(other.place()) {
                waiting.push((other, visited));
            }
        }
        visited += 1;
    }
    None
}

fn way_back(visits: &[(SegmentIndex, usize)], end: usize) -> Vec<SegmentIndex> {
    let mut path = Vec::new();
    let mut place = end;
    loop {
        let (segment, led_by) = visits[place];
        path.push(segment);
        if led_by == place {
            break;
        }
        place = led_by;
    }
    path.reverse();
    path
}
