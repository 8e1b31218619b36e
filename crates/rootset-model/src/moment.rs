//! Times as a request may give them: a date, RFC 3339, epoch milliseconds, or a duration from now.
//!
//! Whether a duration counts back or on is a matter of the field, so there are two types. There is no `now` here: a request
//! stays as it was written until the service asks for the time.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::time::{TextOrMilliseconds, TimeError, Timestamp, parse_duration_ms};

/// Marks the schema of such a field with the words that its description ends with.
pub const WRITTEN_AS: &str = "x-written-as";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    At(Timestamp),
    /// Milliseconds from now, never negative.
    Away(i64),
}

impl Written {
    fn parse(text: &str) -> Result<Self, TimeError> {
        if let Ok(time) = Timestamp::parse(text) {
            return Ok(Self::At(time));
        }
        let is_number = text.trim().bytes().all(|byte| byte.is_ascii_digit());
        match parse_duration_ms(text) {
            Ok(milliseconds) if !is_number => Ok(Self::Away(milliseconds)),
            _ => Err(TimeError::NotAMoment(text.chars().take(64).collect())),
        }
    }
}

impl Serialize for Written {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::At(time) => time.serialize(serializer),
            // Always with a unit: a bare number would be a point in time.
            Self::Away(milliseconds) => serializer.collect_str(&format_args!("{milliseconds}ms")),
        }
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = match TextOrMilliseconds::deserialize(deserializer) {
            Ok(TextOrMilliseconds::Milliseconds(milliseconds)) => milliseconds.to_string(),
            Ok(TextOrMilliseconds::Text(text)) => text,
            Err(_) => {
                return Err(de::Error::custom(
                    "a time is RFC 3339 text, a date, a duration or an integer of epoch milliseconds",
                ));
            }
        };
        Self::parse(&text).map_err(de::Error::custom)
    }
}

macro_rules! moment {
    ($(#[$about:meta])* $name:ident, $sign:expr, $written_as:literal) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Written);

        impl $name {
            pub fn parse(text: &str) -> Result<Self, TimeError> {
                Written::parse(text).map(Self)
            }

            /// The point in time that is meant at the time `now`.
            pub fn at(self, now: Timestamp) -> Timestamp {
                match self.0 {
                    Written::At(time) => time,
                    Written::Away(milliseconds) => now.saturating_add_ms($sign(milliseconds)),
                }
            }
        }

        impl From<Timestamp> for $name {
            fn from(time: Timestamp) -> Self {
                Self(Written::At(time))
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
                json_schema!({"type": ["string", "integer"], WRITTEN_AS: $written_as})
            }
        }
    };
}

moment! {
    /// A time that lies behind: `7d` is seven days ago.
    Past, std::ops::Neg::neg, "date, RFC 3339 or age (`7d`)"
}
moment! {
    /// A time that lies ahead: `7d` is in seven days.
    Ahead, std::convert::identity, "date, RFC 3339 or duration (`7d`)"
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_800_000_000_000);

    #[test]
    fn durations_count_in_the_direction_of_the_field() {
        assert_eq!(Past::parse("1d").unwrap().at(NOW), Timestamp(NOW.0 - 86_400_000));
        assert_eq!(Ahead::parse("1d").unwrap().at(NOW), Timestamp(NOW.0 + 86_400_000));
        for text in ["2027-01-15", "2027-01-15T08:00:00Z", "1799971200000"] {
            let time = Timestamp::parse(text).unwrap();
            assert_eq!((Past::parse(text).unwrap().at(NOW), Ahead::parse(text).unwrap().at(NOW)), (time, time));
        }
        assert_eq!(Ahead::parse("9223372036854775807ms").unwrap().at(NOW), Timestamp(i64::MAX));
        // A number alone is a point in time, and none so far away.
        for bad in ["", "soon", "-1d", "1.5d", "2026-13-01", "9223372036854775807"] {
            assert!(Past::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_was_written_reads_back_as_the_same() {
        for text in ["\"7d\"", "\"90s\"", "\"2027-01-15\"", "1800000000123"] {
            let read: Past = serde_json::from_str(text).unwrap();
            let again = serde_json::from_str(&serde_json::to_string(&read).unwrap()).unwrap();
            assert_eq!(read, again, "{text}");
        }
    }
}
