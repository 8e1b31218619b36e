//! The tables of tokens, unpacked at their first use. Counting with them is in `counting`.
//!
//! The crate `tiktoken-rs` has the same tables in base64 with a number on every line: 5.3 MB of the program instead of 1.4.
//! Nobody calls for those here, so the linker leaves them out.

use std::io::Read;
use std::sync::LazyLock;

use flate2::read::ZlibDecoder;
use tiktoken_rs::{CoreBPE, O200K_BASE_PAT_STR, Rank};

/// Where OpenAI's `cl100k_base` cuts a text before it looks for tokens.
const CL100K_WORDS: &str = concat!(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+",
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
);

pub fn o200k() -> &'static CoreBPE {
    static TABLE: LazyLock<CoreBPE> =
        LazyLock::new(|| table(include_bytes!("../../tables/o200k.zlib"), O200K_BASE_PAT_STR));
    &TABLE
}

pub fn cl100k() -> &'static CoreBPE {
    static TABLE: LazyLock<CoreBPE> = LazyLock::new(|| table(include_bytes!("../../tables/cl100k.zlib"), CL100K_WORDS));
    &TABLE
}

/// Without special tokens: texts are counted as they are, whatever they say.
fn table(packed: &[u8], words: &str) -> CoreBPE {
    let tokens = unpack(packed).into_iter().zip(0..).collect();
    CoreBPE::new(tokens, Default::default(), words).expect("a regular expression of our own")
}

/// Tokens in the order of their ranks. The layout is that of `scripts/pack-token-tables`: how many there are, the length of
/// each, their bytes.
fn unpack(packed: &[u8]) -> Vec<Vec<u8>> {
    const OURS: &str = "a table of our own is whole";
    let mut bytes = Vec::new();
    ZlibDecoder::new(packed).read_to_end(&mut bytes).expect(OURS);
    let (count, rest) = bytes.split_first_chunk().expect(OURS);
    let (lengths, mut rest) = rest.split_at(Rank::from_le_bytes(*count) as usize);
    let tokens = lengths.iter().map(|length| {
        let (token, left) = rest.split_at(usize::from(*length));
        rest = left;
        token.to_vec()
    });
    tokens.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What both are asked to cut: words of several scripts, digits, blanks before and after line ends, code, signs.
    const TEXTS: [&str; 6] = [
        "She'll say: it's 1234567 o'clock, and we'VE 12 of 3.14159!",
        "Straße, naïve, Ελλάδα, Привет, 你好世界, こんにちは, 한국어, 🦀🦀 e\u{301}",
        "  two\n\n\n   three \t\r\n  \u{3000}\u{a0}end   ",
        "fn main() {\n    println!(\"{}\", x[..=3] << 2); // HTTPServer2Go\n}\n",
        "<|endoftext|><|fim_prefix|> is text",
        "https://example.org/a/b?c=d&e=%20#f ======---->",
    ];

    #[test]
    fn tables_are_those_of_the_crate() {
        let crates = [tiktoken_rs::o200k_base_singleton(), tiktoken_rs::cl100k_base_singleton()];
        for (ours, theirs) in [o200k(), cl100k()].into_iter().zip(crates) {
            let mut rank = 0;
            while let Ok(token) = theirs.decode_bytes(&[rank]) {
                assert_eq!(ours.decode_bytes(&[rank]).ok(), Some(token), "token {rank}");
                rank += 1;
            }
            assert!(rank > 100_000 && ours.decode_bytes(&[rank]).is_err(), "{rank} tokens");
            for text in TEXTS {
                assert_eq!(ours.encode_ordinary(text), theirs.encode_ordinary(text), "{text}");
            }
        }
    }
}
