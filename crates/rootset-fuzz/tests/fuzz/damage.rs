//! Copies of inputs with something wrong with them, by a seed.

use rootset_testing::Dice;

/// What breaks readers more often than letters do.
const SPARKS: [&[u8]; 24] = [
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\n",
    b"\r\n",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\\u0000",
    b"\\ud800",
    b"null",
    b"-1",
    b"9223372036854775807",
    b"18446744073709551616",
    b"1e999",
    b"\xf0\x9f\x91\x8d",
    b"\xe2\x80\xae",
    b"../",
    b"'--",
    b"%00",
    b"\t",
];
const CHANGES_MAX: usize = 4;
/// Longer ones only take longer.
const BYTES_MAX: usize = 16 << 10;

pub fn damaged(corpus: &[Vec<u8>], seed: u64) -> Vec<u8> {
    // Neighbouring seeds must not make neighbouring damages, and 0 would make none.
    let mut dice = Dice(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    dice.throw();
    let mut bytes = corpus[dice.below(corpus.len())].clone();
    for _ in 0..=dice.below(CHANGES_MAX) {
        change(&mut bytes, corpus, &mut dice);
    }
    bytes.truncate(BYTES_MAX);
    bytes
}

fn change(bytes: &mut Vec<u8>, corpus: &[Vec<u8>], dice: &mut Dice) {
    let (one, other) = (dice.below(bytes.len() + 1), dice.below(bytes.len() + 1));
    let (from, to) = (one.min(other), one.max(other));
    match dice.below(6) {
        0 => bytes.iter_mut().skip(from).take(1).for_each(|byte| *byte ^= 1 << dice.below(8)),
        1 => drop(bytes.drain(from..to)),
        2 => {
            let spark = SPARKS[dice.below(SPARKS.len())];
            drop(bytes.splice(from..from, spark.iter().copied()));
        }
        3 => {
            let spark = SPARKS[dice.below(SPARKS.len())];
            drop(bytes.splice(from..to, spark.iter().copied()));
        }
        4 => {
            let again = bytes[from..to].to_vec();
            drop(bytes.splice(to..to, again));
        }
        _ => {
            let stranger = &corpus[dice.below(corpus.len())];
            let start = dice.below(stranger.len() + 1);
            bytes.truncate(from);
            bytes.extend_from_slice(&stranger[start..]);
        }
    }
}
