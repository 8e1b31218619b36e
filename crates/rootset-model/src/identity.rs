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
    pub fn derive_symbol(qualified_name: &str, kind: SymbolKind) -> Self {
        Self(hash("symbol", &[qualified_name.as_bytes(), kind.as_str().as_bytes()]))
    }
}

impl RelationId {
    pub fn derive(source: EntityId, relation: &str, target: EntityId) -> Self {
        Self(hash("relation", &[source.as_bytes(), normalise(relation).as_bytes(), target.as_bytes()]))
    }
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
    fn parts_cannot_run_together() {
        assert_ne!(EntityId::derive("ab", "c"), EntityId::derive("a", "bc"));
    }
}
