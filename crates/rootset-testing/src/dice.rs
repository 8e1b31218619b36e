//! Chance that can be repeated.

/// Marsaglia's xorshift: equal seeds, which are not 0, make equal histories.
#[derive(Debug)]
pub struct Dice(pub u64);

impl Dice {
    pub fn throw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, sides: usize) -> usize {
        (self.throw() % sides as u64) as usize
    }

    pub fn is_one_of(&mut self, sides: usize) -> bool {
        self.below(sides) == 0
    }

    pub fn any<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}
