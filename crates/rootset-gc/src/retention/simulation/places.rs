//! Ranks among rows that come and go: how many are before a place, and which place has a rank (a Fenwick tree).

#[derive(Debug, Default)]
pub struct Places {
    /// The node at `n` counts the taken places from `n` without its lowest bit to `n`, counted from 1.
    nodes: Vec<i32>,
}

impl Places {
    pub fn new(count: usize) -> Self {
        Self { nodes: vec![0; count + 1] }
    }

    pub fn add(&mut self, place: usize) {
        self.change(place, 1);
    }

    pub fn remove(&mut self, place: usize) {
        self.change(place, -1);
    }

    fn change(&mut self, place: usize, by: i32) {
        let mut node = place + 1;
        while let Some(count) = self.nodes.get_mut(node) {
            *count += by;
            node += lowest_bit(node);
        }
    }

    /// How many taken places are before this one.
    pub fn rank_of(&self, place: usize) -> usize {
        let mut node = place;
        let mut rank = 0;
        while node > 0 {
            rank += self.nodes[node] as usize;
            node -= lowest_bit(node);
        }
        rank
    }

    /// The taken place that so many are before, if there are as many.
    pub fn at_rank(&self, rank: usize) -> Option<usize> {
        let (mut before, mut left) = (0, rank);
        let mut step = self.nodes.len().checked_ilog2().map_or(0, |bits| 1 << bits);
        while step > 0 {
            if let Some(&count) = self.nodes.get(before + step)
                && count as usize <= left
            {
                before += step;
                left -= count as usize;
            }
            step /= 2;
        }
        (before + 1 < self.nodes.len()).then_some(before)
    }
}

fn lowest_bit(node: usize) -> usize {
    node & node.wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_and_places_answer_each_other_while_places_are_taken_and_left() {
        for count in [0, 1, 2, 7, 8, 9, 100] {
            let mut places = Places::new(count);
            let mut taken: Vec<usize> = Vec::new();
            // A stride that meets every place of these counts, in a mixed order.
            for turn in 0..2 * count {
                let place = turn * 37 % count;
                match taken.binary_search(&place) {
                    Ok(at) => {
                        taken.remove(at);
                        places.remove(place);
                    }
                    Err(at) => {
                        taken.insert(at, place);
                        places.add(place);
                    }
                }
                for other in 0..count {
                    assert_eq!(places.rank_of(other), taken.iter().filter(|it| **it < other).count());
                }
                for rank in 0..=count {
                    assert_eq!(places.at_rank(rank), taken.get(rank).copied(), "rank {rank} of {taken:?}");
                }
            }
        }
    }
}
