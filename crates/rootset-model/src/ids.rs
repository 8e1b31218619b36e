//! Ids as newtypes: sixteen bytes outside, shown as UUIDs; internal numbers for workspaces and chunks.
//!
//! An id never carries a workspace: every key in the store begins with the workspace, so the same id may exist in two.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use uuid::Uuid;

macro_rules! sixteen_byte_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; 16]);

        impl $name {
            pub fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }

            /// `None` when the slice does not hold exactly sixteen bytes.
            pub fn from_slice(bytes: &[u8]) -> Option<Self> {
                bytes.try_into().ok().map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Uuid::from_bytes(self.0).fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text.trim()).map(|uuid| Self(uuid.into_bytes()))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": "string", "format": "uuid"})
            }
        }
    };
}

sixteen_byte_id! {
    /// A memory, stable for life. A UUIDv7, so that new memories land side by side in the store.
    MemoryId
}
sixteen_byte_id! {
    /// An entity: a hash of its normalised name and type, see [`crate::identity`].
    EntityId
}
sixteen_byte_id! {
    /// A relation: a hash of its ends and its normalised verb, see [`crate::identity`].
    RelationId
}
sixteen_byte_id! {
    /// A stored plan.
    PlanId
}
sixteen_byte_id! {
    /// One change that can be undone or purged as a whole.
    RunId
}
sixteen_byte_id! {
    /// A drain: rounds that take what is too much for one of them.
    DrainId
}

sixteen_byte_id! {
    /// One erasure, as noted in the ledger.
    ErasureId
}
sixteen_byte_id! {
    /// A token of the HTTP API; not its secret.
    TokenId
}

/// The internal number of a workspace. Names are for people and may be given anew; numbers never are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkspaceKey(pub i64);

/// Defines the number of a thing within its workspace, shown outside as a UUIDv8 that packs the number, so that no second
/// id has to be stored. Each kind begins with its own eight bytes: one look tells it from a memory's id.
macro_rules! numbered_id {
    ($(#[$doc:meta])* $name:ident, $prefix:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub i64);

        impl $name {
            const PREFIX: [u8; 8] = *$prefix;

            /// The id shown outside.
            pub fn external(self) -> Uuid {
                let mut bytes = [0; 16];
                bytes[..8].copy_from_slice(&Self::PREFIX);
                bytes[8..].copy_from_slice(&self.0.to_be_bytes());
                bytes[8] = 0x80;
                Uuid::from_bytes(bytes)
            }

            /// What an external id stands for; `None` for ids of other things.
            pub fn from_external(id: Uuid) -> Option<Self> {
                let mut bytes = id.into_bytes();
                if bytes[..8] != Self::PREFIX || bytes[8] != 0x80 {
                    return None;
                }
                bytes[8] = 0;
                let number: [u8; 8] = bytes[8..].try_into().expect("a UUID's second half has eight bytes");
                Some(Self(i64::from_be_bytes(number)))
            }

            /// The bytes of the external id, as plans and the erasure ledger name it.
            pub fn object(self) -> [u8; 16] {
                self.external().into_bytes()
            }

            pub fn from_object(object: [u8; 16]) -> Option<Self> {
                Self::from_external(Uuid::from_bytes(object))
            }
        }
    };
}

numbered_id! {
    /// The number of a chunk within its workspace, drawn from the workspace's sequence and never used again.
    ChunkKey, b"chunk\0\x80\0"
}
numbered_id! {
    /// The number of a context segment within its workspace: rises in the order of addition, never used again.
    SegmentKey, b"segmen\x80t"
}
numbered_id! {
    /// The number of a context session within its workspace, never used again.
    SessionKey, b"sessio\x80n"
}

/// Shorter beginnings of an id would often be those of several.
const PREFIX_CHARS_MIN: usize = 4;
const ID_DIGITS: usize = 32;

/// The first and the last id that begin so; `None` if the text is no beginning of an id.
pub fn prefix_range(text: &str) -> Option<([u8; 16], [u8; 16])> {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    let is_prefix = (PREFIX_CHARS_MIN..ID_DIGITS).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        && text.starts_with(|c: char| c.is_ascii_hexdigit());
    if !is_prefix {
        return None;
    }
    let filled = |with: char| -> Option<[u8; 16]> {
        let digits = format!("{digits}{}", String::from(with).repeat(ID_DIGITS - digits.len()));
        Some(u128::from_str_radix(&digits, 16).ok()?.to_be_bytes())
    };
    Some((filled('0')?, filled('f')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunk_ids_round_trip_and_are_not_mistaken_for_others() {
        for number in [1, 255, 1 << 40] {
            let id = ChunkKey(number).external();
            assert_eq!(id.get_version_num(), 8);
            assert_eq!(ChunkKey::from_external(id), Some(ChunkKey(number)));
        }
        assert_eq!(ChunkKey::from_external(Uuid::from_bytes([7; 16])), None);
        assert_eq!(SegmentKey::from_external(ChunkKey(7).external()), None);
        assert_eq!(SessionKey::from_object(SegmentKey(7).object()), None);
        assert_eq!(SegmentKey::from_object(SegmentKey(7).object()), Some(SegmentKey(7)));
        assert_eq!(SegmentKey(7).external().get_version_num(), 8);
        assert_eq!(SessionKey(7).external().get_version_num(), 8);
    }

    #[test]
    fn ids_print_and_parse_as_uuids() {
        let id = MemoryId([1; 16]);
        assert_eq!(id.to_string().parse::<MemoryId>().unwrap(), id);
        assert!("not-an-id".parse::<MemoryId>().is_err());
    }
}
