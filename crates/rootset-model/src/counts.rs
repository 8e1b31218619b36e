//! How many of each kind: added, stored, answered and put into words in one place.
//!
//! Kinds are named by their plural, as JSON shows them: `memories`, `chunks`. Which kinds there are is not known here.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Numbers by kind, in the order in which the kinds were first named.
///
/// A kind without any is left out of the JSON, unless it was named from the start ([`Self::zero`]).
#[derive(Clone, Debug, Default)]
pub struct Counts(Vec<(Cow<'static, str>, i64)>);

impl Counts {
    /// Nothing so far; these kinds are named even if it stays so.
    pub fn zero(kinds: &[&'static str]) -> Self {
        Self(kinds.iter().map(|kind| (Cow::Borrowed(*kind), 0)).collect())
    }

    pub fn of(kind: &'static str, number: i64) -> Self {
        let mut counts = Self::default();
        counts.add(kind, number);
        counts
    }

    pub fn get(&self, kind: &str) -> i64 {
        self.0.iter().find(|(name, _)| name == kind).map_or(0, |(_, number)| *number)
    }

    pub fn add(&mut self, kind: &'static str, number: i64) {
        self.add_named(Cow::Borrowed(kind), number);
    }

    pub fn add_all(&mut self, other: &Self) {
        for (kind, number) in &other.0 {
            self.add_named(kind.clone(), *number);
        }
    }

    fn add_named(&mut self, kind: Cow<'static, str>, number: i64) {
        match self.0.iter_mut().find(|(name, _)| *name == kind) {
            Some((_, sum)) => *sum += number,
            None if number != 0 => self.0.push((kind, number)),
            None => {}
        }
    }

    pub fn total(&self) -> i64 {
        self.0.iter().map(|(_, number)| number).sum()
    }

    pub fn is_nothing(&self) -> bool {
        self.0.iter().all(|(_, number)| *number == 0)
    }

    /// These kinds first, whatever their number, then all others of which there are any.
    pub fn naming(&self, kinds: &[&'static str]) -> Self {
        let mut counts = Self::zero(kinds);
        counts.add_all(self);
        counts
    }

    pub fn without(&self, kinds: &[&str]) -> Self {
        Self(self.0.iter().filter(|(name, _)| !kinds.contains(&name.as_ref())).cloned().collect())
    }

    /// `1 memory, 2 chunks`; `nothing` where there is nothing.
    pub fn in_words(&self) -> String {
        let present = self.0.iter().filter(|(_, number)| *number != 0);
        let parts: Vec<String> = present.map(|(kind, number)| counted(kind, *number)).collect();
        if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") }
    }
}

/// Two counts are equal where every kind has the same number, named or not.
impl PartialEq for Counts {
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().all(|(kind, number)| other.get(kind) == *number)
            && other.0.iter().all(|(kind, number)| self.get(kind) == *number)
    }
}

impl Eq for Counts {}

fn counted(kind: &str, number: i64) -> String {
    // Graph rows that an import brought have no noun of their own.
    let kind = if kind == "untracked" { "imported rows" } else { kind };
    if number != 1 {
        return format!("{number} {kind}");
    }
    match (kind.strip_suffix("ies"), kind.strip_suffix('s')) {
        (Some(stem), _) => format!("1 {stem}y"),
        (None, Some(singular)) => format!("1 {singular}"),
        (None, None) => format!("1 {kind}"),
    }
}

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (kind, number) in &self.0 {
            map.serialize_entry(kind, number)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Counts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("numbers by kind")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Counts, M::Error> {
                let mut counts = Vec::new();
                while let Some((kind, number)) = map.next_entry::<String, i64>()? {
                    counts.push((Cow::Owned(kind), number));
                }
                Ok(Counts(counts))
            }
        }

        deserializer.deserialize_map(Entries)
    }
}

impl JsonSchema for Counts {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Counts".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        std::collections::BTreeMap::<String, i64>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_kind_by_kind_and_name_only_what_there_is() {
        let mut counts = Counts::zero(&["memories", "chunks"]);
        counts.add("memories", 1);
        counts.add("segments", 0);
        counts.add_all(&Counts::of("entities", 2));
        counts.add_all(&Counts::of("memories", 1));
        assert_eq!(serde_json::to_string(&counts).unwrap(), r#"{"memories":2,"chunks":0,"entities":2}"#);
        assert_eq!((counts.get("memories"), counts.get("sessions")), (2, 0));
        let shown = counts.naming(&["entities", "relations"]);
        assert_eq!(serde_json::to_string(&shown).unwrap(), r#"{"entities":2,"relations":0,"memories":2}"#);
    }

    #[test]
    fn what_is_stored_is_read_in_its_order_whatever_the_kinds() {
        let json = r#"{"memories":2,"receipts":1,"bytes":300}"#;
        let counts: Counts = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&counts).unwrap(), json);
        assert_eq!(counts.without(&["bytes"]).in_words(), "2 memories, 1 receipt");
    }

    #[test]
    fn words_have_their_plurals() {
        let mut counts = Counts::zero(&["memories", "chunks", "untracked"]);
        assert_eq!(counts.in_words(), "nothing");
        assert!(counts.is_nothing() && counts == Counts::default());
        counts.add("memories", 1);
        counts.add("chunks", 2);
        counts.add("untracked", 1);
        assert_eq!(counts.in_words(), "1 memory, 2 chunks, 1 imported row");
    }
}
