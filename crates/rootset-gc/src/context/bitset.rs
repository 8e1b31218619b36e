//! One bit per segment: a million of them fit into a core's own cache.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bitset {
    words: Vec<u64>,
    len: usize,
}

impl Bitset {
    /// So many bits, none of them set.
    pub fn zeros(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)], len }
    }

    pub fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(64) {
            self.words.push(0);
        }
        self.len += 1;
        self.set(self.len - 1, bit);
    }

    pub fn has(&self, place: usize) -> bool {
        self.words.get(place / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    pub fn set(&mut self, place: usize, bit: bool) {
        let word = &mut self.words[place / 64];
        *word = *word & !(1 << (place % 64)) | u64::from(bit) << (place % 64);
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

    /// Set where this one is not. Bits beyond the end are set, too: nobody asks for them.
    pub fn complement(&self) -> Self {
        Self { words: self.words.iter().map(|word| !word).collect(), len: self.len }
    }

    pub fn keep_only(&mut self, others: &Self) {
        for (word, other) in self.words.iter_mut().zip(&others.words) {
            *word &= other;
        }
    }

    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Places of the bits that are set, ascending; whole words without any are passed by.
    pub fn places(&self) -> impl Iterator<Item = u32> {
        (0_u32..).zip(&self.words).flat_map(|(number, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let place = (left != 0).then(|| number * 64 + left.trailing_zeros());
                left &= left.wrapping_sub(1);
                place
            })
        })
    }
}
