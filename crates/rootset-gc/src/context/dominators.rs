//! Retained tokens: what would become unreachable without a segment, itself included.
//!
//! Those are the segments it dominates: every way from the roots to them leads through it. Dominators from a virtual root
//! that refers to all roots, by Semi-NCA (Georgiadis, Tarjan and Werneck, "Finding Dominators in Practice", 2006): numbers
//! in depth-first order, semidominators by path compression, then immediate dominators by walking up. No recursion.

use super::bitset::Bitset;
use super::graph::{Graph, Population};
use super::lists::Cursor;
use super::segment::SegmentIndex;
use super::window::Window;

/// Number of the virtual root; segments are numbered from one, and zero also says "not reached".
const VIRTUAL_ROOT: u32 = 0;

/// By place: tokens of active segments that only this one keeps reachable; zero where it is not reachable itself.
pub fn retained_tokens(window: &Window, roots: &[SegmentIndex]) -> Vec<u64> {
    let graph = window.graph();
    let walk = Walk::depth_first(graph, roots);
    let mut is_root = Bitset::zeros(graph.len());
    for root in roots {
        is_root.insert(root.place());
    }
    let dominators = walk.immediate_dominators(graph, &is_root);

    let mut retained: Vec<u64> = walk.segments.iter().map(|it| u64::from(window.facts(*it).tokens)).collect();
    retained.insert(0, 0);
    // Who dominates comes first in the order of the walk: backwards, sums are complete when they are passed on.
    for number in (1..retained.len()).rev() {
        retained[dominators[number] as usize] += retained[number];
    }
    let mut by_place = vec![0; graph.len()];
    for (segment, tokens) in walk.segments.iter().zip(&retained[1..]) {
        by_place[segment.place()] = *tokens;
    }
    by_place
}

/// Active segments in the order in which a depth-first walk enters them.
#[derive(Debug)]
struct Walk {
    /// Entered as number one, two and so on.
    segments: Vec<SegmentIndex>,
    /// By place: the number.
    numbers: Vec<u32>,
    /// By number: from where it was entered.
    parents: Vec<u32>,
}

impl Walk {
    fn depth_first(graph: &Graph, roots: &[SegmentIndex]) -> Self {
        let mut walk =
            Self { segments: Vec::new(), numbers: vec![VIRTUAL_ROOT; graph.len()], parents: vec![VIRTUAL_ROOT] };
        let mut closed = graph.population(Population::Active).complement();
        let mut open: Vec<(u32, Cursor)> = Vec::new();
        for root in roots {
            if !closed.insert(root.place()) {
                continue;
            }
            open.push((walk.enter(*root, VIRTUAL_ROOT), graph.references_cursor(*root)));
            while let Some((number, cursor)) = open.last_mut() {
                let number = *number;
                match graph.next_reference(cursor) {
                    Some(other) if closed.insert(other.place()) => {
                        open.push((walk.enter(other, number), graph.references_cursor(other)));
                    }
                    Some(_) => {}
                    None => {
                        open.pop();
                    }
                }
            }
        }
        walk
    }

    fn enter(&mut self, segment: SegmentIndex, parent: u32) -> u32 {
        self.segments.push(segment);
        self.parents.push(parent);
        let number = u32::try_from(self.segments.len()).expect("fewer than the graph's segments");
        self.numbers[segment.place()] = number;
        number
    }

    /// By number.
    fn immediate_dominators(&self, graph: &Graph, is_root: &Bitset) -> Vec<u32> {
        let semidominators = self.semidominators(graph, is_root);
        let mut dominators = self.parents.clone();
        for number in 1..dominators.len() {
            let mut dominator = dominators[number];
            while dominator > semidominators[number] {
                dominator = dominators[dominator as usize];
            }
            dominators[number] = dominator;
        }
        dominators
    }

    fn semidominators(&self, graph: &Graph, is_root: &Bitset) -> Vec<u32> {
        let mut forest = Forest::new(&self.parents);
        for number in (1..self.parents.len() as u32).rev() {
            let segment = self.segments[number as usize - 1];
            let mut semidominator = self.parents[number as usize];
            if is_root.has(segment.place()) {
                semidominator = VIRTUAL_ROOT;
            }
            for referrer in graph.referrers_of(segment) {
                if semidominator == VIRTUAL_ROOT {
                    break;
                }
                let referrer = self.numbers[referrer.place()];
                // Zero: not reached, or not active.
                if referrer != VIRTUAL_ROOT {
                    semidominator = semidominator.min(forest.lowest_above(referrer, number));
                }
            }
            forest.semidominators[number as usize] = semidominator;
        }
        forest.semidominators
    }
}

/// The part of the walk's tree whose semidominators are known, with compressed paths.
#[derive(Debug)]
struct Forest {
    ancestors: Vec<u32>,
    /// Who has the lowest semidominator between a number and its ancestor, the ancestor left out.
    labels: Vec<u32>,
    /// Everybody his own until it is known.
    semidominators: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    fn new(parents: &[u32]) -> Self {
        let itself: Vec<u32> = (0..parents.len() as u32).collect();
        Self { ancestors: parents.to_vec(), labels: itself.clone(), semidominators: itself, path: Vec::new() }
    }

    /// The lowest semidominator among a number and its ancestors above `current`, above which all are known.
    fn lowest_above(&mut self, number: u32, current: u32) -> u32 {
        if number <= current {
            return number;
        }
        let mut top = number;
        while self.ancestors[top as usize] > current {
            self.path.push(top);
            top = self.ancestors[top as usize];
        }
        let mut lowest = self.labels[top as usize];
        let end = self.ancestors[top as usize];
        while let Some(below) = self.path.pop() {
            let label = self.labels[below as usize];
            if self.semidominators[label as usize] <= self.semidominators[lowest as usize] {
                lowest = label;
            } else {
                self.labels[below as usize] = lowest;
            }
            self.ancestors[below as usize] = end;
        }
        self.semidominators[lowest as usize]
    }
}
