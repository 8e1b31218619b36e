//! Which words are ordinary English, asked of a packed table.
//!
//! The table holds hashes, not words: one unknown word in four hundred is taken for an ordinary one, which costs a name that
//! nothing but its capital tells. `scripts/pack-ordinary-words` writes it and says where the words come from.

const FINGERPRINT_BYTES: usize = 3;

/// Sorted fingerprints, big-endian.
const TABLE: &[u8] = include_bytes!("../../tables/ordinary-words.bin");

/// Ordinary words that people are called by. Those that are more often a word (`will`, `hope`) are left out.
#[rustfmt::skip]
const GIVEN_NAMES: &[&str] = &[
    "amber", "autumn", "bill", "bob", "buck", "bud", "carol", "charity", "christian", "clay", "cliff", "colin",
    "daisy", "dale", "dawn", "dean", "dick", "drew", "ernest", "faith", "frank", "gene", "ginger", "glen", "grace",
    "grant", "harry", "hazel", "heather", "herb", "holly", "hunter", "iris", "ivy", "jack", "jade", "jasmine", "jay",
    "jean", "josh", "joy", "kit", "lance", "laurel", "lily", "marina", "mark", "mason", "max", "melody", "mercy",
    "mike", "miles", "myrtle", "nick", "olive", "opal", "patience", "pearl", "penny", "peter", "pierce", "piper",
    "poppy", "randy", "ray", "reed", "rob", "robin", "rod", "roman", "rose", "ruby", "rusty", "sandy", "scarlet",
    "sherry", "sonny", "stella", "sterling", "sue", "ted", "timothy", "tom", "tony", "trinity", "victor", "violet",
    "wade", "ward", "warren", "wren",
];

/// Whether a word in lower case is an ordinary one: a noun, verb or adjective rather than a name.
pub(crate) fn is_ordinary(folded: &str) -> bool {
    if GIVEN_NAMES.binary_search(&folded).is_ok() {
        return false;
    }
    let wanted = fingerprint(folded);
    let (entries, _) = TABLE.as_chunks::<FINGERPRINT_BYTES>();
    entries.binary_search(&wanted).is_ok()
}

/// FNV-1a, the middle 24 of its 64 bits.
fn fingerprint(word: &str) -> [u8; FINGERPRINT_BYTES] {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let hash = word.bytes().fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    let [.., first, second, third] = ((hash >> 20) as u32 & 0x00ff_ffff).to_be_bytes();
    [first, second, third]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_words_are_told_from_names() {
        for word in ["avoided", "perfect", "traffic", "music", "subsequent", "bridge", "colour", "color"] {
            assert!(is_ordinary(word), "{word}");
        }
        for word in ["redis", "melanie", "postgresql", "kubernetes", "terraform", "berlin", "xqzt", "grace", ""] {
            assert!(!is_ordinary(word), "{word}");
        }
    }

    #[test]
    fn the_table_is_sorted_and_whole() {
        let (entries, rest) = TABLE.as_chunks::<FINGERPRINT_BYTES>();
        assert!(rest.is_empty() && entries.is_sorted() && GIVEN_NAMES.is_sorted());
        assert!(entries.len() > 30_000);
    }
}
