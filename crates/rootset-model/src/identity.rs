//! Deterministic ids of derived rows: equal names in equal roles are one entity, whoever mentions them.
//!
//! The workspace is not hashed in: it is the first part of every key, so workspaces stay apart all the same and a
//! workspace can be restored under another name without every id changing.

use unicode_normalization::UnicodeNormalization;

use crate::code::SymbolKind;
use crate::ids::{EntityId, RelationId};

/// Version of [`normalise`]. Stored beside every id made with it: a later normaliser can tell which rows to re-key.
pub const NORMALISER_VERSION: i64 = 1;

/// NFKC, case-folded, inner white space collapsed to one blank, ends trimmed.
pub fn normalise(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    if text.is_ascii() {
        // The common case: nothing to compose, and folding is lower-casing.
        for word in text.split_whitespace() {
            if !normal.is_empty() {
                normal.push(' ');
            }
            normal.push_str(word);
        }
        normal.make_ascii_lowercase();
        return normal;
    }
    for word in text.nfkc().collect::<String>().split_whitespace() {
        if !normal.is_empty() {
            normal.push(' ');
        }
        // Full Unicode case folding differs from lower-casing in a few letters only; upper first folds those too (ß, ſ).
        normal.extend(word.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase));
    }
    normal
}

impl EntityId {
    pub fn derive(name: &str, entity_type: &str) -> Self {
        Self(hash("entity", &[normalise(name).as_bytes(), normalise(entity_type).as_bytes()]))
    }
}

impl EntityId {
    /// Symbols of code have ids of their own: `Run` and `run` are two, and neither is the word `run` in a note.
    ///
    /// What is defined together has ids that begin alike. A repository brings a hundred thousand symbols file by file:
    /// with ids all over the place, every file would touch as many pages of every index as it has symbols.
    pub fn derive_symbol(qualified_name: &str, kind: SymbolKind) -> Self {
        let whole = hash("symbol", &[qualified_name.as_bytes(), kind.as_str().as_bytes()]);
        let place = |scope: &str| short_hash(scope).to_be_bytes();
        let parent = enclosing(qualified_name);
        let places = [place(first_scopes(qualified_name)), place(enclosing(parent)), place(parent)];
        Self(placed(places.as_flattened(), whole))
    }
}

impl RelationId {
    pub fn derive(source: EntityId, relation: &str, target: EntityId) -> Self {
        Self(hash("relation", &[source.as_bytes(), normalise(relation).as_bytes(), target.as_bytes()]))
    }

    /// Between symbols: beside its source, for the reason that symbols stand beside each other.
    pub fn derive_symbol(source: EntityId, relation: &str, target: EntityId) -> Self {
        let whole = hash("symbol relation", &[source.as_bytes(), relation.as_bytes(), target.as_bytes()]);
        Self(placed(&source.0[..PLACE_BYTES], whole))
    }
}

/// How much of a symbol's id tells where it stands; the rest alone has too many values for two to meet.
const PLACE_BYTES: usize = 6;

fn placed(place: &[u8], whole: [u8; 16]) -> [u8; 16] {
    let mut id = whole;
    id[..PLACE_BYTES].copy_from_slice(place);
    id
}

/// A qualified name without its last part; empty when it has only one.
fn enclosing(name: &str) -> &str {
    let head = name.trim_end_matches(is_in_part);
    head.trim_end_matches(|c| !is_in_part(c))
}

/// The first two parts of a qualified name.
fn first_scopes(name: &str) -> &str {
    let after =
        |from: usize, is_wanted: fn(char) -> bool| name[from..].find(is_wanted).map_or(name.len(), |at| from + at);
    let first = after(0, |c| !is_in_part(c));
    let second = after(first, is_in_part);
    &name[..after(second, |c| !is_in_part(c))]
}

fn is_in_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// FNV-1a, folded: it only has to spread, nothing is told apart by it.
fn short_hash(text: &str) -> u16 {
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let halves = (hash ^ (hash >> 32)) as u32;
    (halves ^ (halves >> 16)) as u16
}

/// Lengths are hashed in front of the parts, so that no two lists of parts can run together.
fn hash(kind: &str, parts: &[&[u8]]) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(kind.as_bytes());
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let mut id = [0; 16];
    id.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_width_and_spacing_do_not_make_a_second_entity() {
        let id = EntityId::derive("Project Falcon", "name");
        assert_eq!(EntityId::derive("  PROJECT   falcon ", "Name"), id);
        assert_eq!(EntityId::derive("Ｐroject Falcon", "name"), id);
        assert_ne!(EntityId::derive("Project Falcon", "file"), id);
        assert_ne!(EntityId::derive("ProjectFalcon", "name"), id);
        assert_eq!(normalise("Straße"), normalise("STRASSE"));
    }

    #[test]
    fn the_ascii_path_agrees_with_the_general_one() {
        for text in ["Project  Falcon", " a\tB\n", "", "X_y-Z/1.0"] {
            // A letter outside ASCII forces the general path.
            let general = normalise(&format!("{text} \u{e9}"));
            assert_eq!(general.trim_end_matches('\u{e9}').trim_end(), normalise(text));
        }
    }

    #[test]
    fn symbols_keep_their_case_and_stay_apart_from_words() {
        let id = EntityId::derive_symbol("app.run", SymbolKind::Function);
        assert_ne!(EntityId::derive_symbol("app.Run", SymbolKind::Function), id);
        assert_ne!(EntityId::derive("app.run", "function"), id);
    }

    #[test]
    fn what_is_defined_together_has_ids_that_begin_alike() {
        let id = |name| EntityId::derive_symbol(name, SymbolKind::Method);
        let (save, load) = (id("app::store::Store::save"), id("app::store::Store::load"));
        assert_eq!(save.0[..PLACE_BYTES], load.0[..PLACE_BYTES]);
        assert_ne!(save, load);
        let cousin = id("app::store::Other::load");
        assert_eq!((&save.0[..4], save.0[4..6] == cousin.0[4..6]), (&cousin.0[..4], false));
        assert_ne!(save.0[..2], id("lib::store::Store::save").0[..2]);
        let relation = RelationId::derive_symbol(save, "calls", load);
        assert_eq!(relation.0[..PLACE_BYTES], save.0[..PLACE_BYTES]);
        assert_ne!(relation, RelationId::derive_symbol(save, "calls", cousin));
    }

    #[test]
    fn scopes_are_read_in_every_languages_spelling() {
        assert_eq!((enclosing("a.b.c"), enclosing("a::b::c"), enclosing("a"), enclosing("")), ("a.b", "a::b", "", ""));
        assert_eq!((first_scopes("a.b.c"), first_scopes("a::b"), first_scopes("a")), ("a.b", "a::b", "a"));
        assert_eq!((first_scopes(""), first_scopes("::x"), enclosing("\\A\\é\\b")), ("", "::x", "\\A\\é"));
    }

    #[test]
    fn parts_cannot_run_together() {
        assert_ne!(EntityId::derive("ab", "c"), EntityId::derive("a", "bc"));
    }
}
