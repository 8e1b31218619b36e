//! One bit per segment: a million of them fit into a core's own cache.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bitset {
    words: Vec<u64>,
}

impl Bitset {
    pub fn of(bits: impl Iterator<Item = bool>) -> Self {
        let mut words = Vec::new();
        for (place, bit) in bits.enumerate() {
            if place % 64 == 0 {
                words.push(0);
            }
            words[place / 64] |= u64::from(bit) << (place % 64);
        }
        Self { words }
    }

    pub fn has(&self, place: usize) -> bool {
        self.words.get(place / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    /// Sets a bit and tells whether it was not set before.
    #[inline]
    pub fn insert(&mut self, place: usize) -> bool {
        let word = &mut self.words[place / 64];
        let bit = 1 << (place % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    pub fn remove_all(&mut self, others: &Self) {
        for (word, other) in self.words.iter_mut().zip(&others.words) {
            *word &= !other;
        }
    }

    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }
}
