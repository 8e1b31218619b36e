//! Points in time and lengths of time, as integers of milliseconds; how people write them.
//!
//! There is no `now` here: the service's clock is the only one.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

#[derive(Debug, Error, PartialEq, Eq)]
pub enum TimeError {
    #[error(
        "`{0}` is not a time; allowed: a date such as `2026-01-31`, RFC 3339 such as `2026-01-31T12:00:00Z`, or epoch milliseconds"
    )]
    NotATime(String),
    #[error(
        "`{0}` is not a time; allowed: a date such as `2026-01-31`, RFC 3339 such as `2026-01-31T12:00:00Z`, a duration such \
         as `7d`, or epoch milliseconds"
    )]
    NotAMoment(String),
    #[error("`{0}` is not a duration; allowed: a number with ms, s, m, h, d or w such as `90d`, or milliseconds")]
    NotADuration(String),
}

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub i64);

/// A date alone; with a time, a text has to say in which zone.
const DAY_CHARS_MAX: usize = "2027-01-15".len();

/// The years 0001 to 9999, which RFC 3339 can write.
const MILLISECONDS_RANGE: std::ops::RangeInclusive<i64> = -62_135_596_800_000..=253_402_300_799_999;

impl Timestamp {
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        let fault = || TimeError::NotATime(text.chars().take(64).collect());
        let text = text.trim();
        if let Ok(milliseconds) = text.parse::<i64>() {
            return Self::from_milliseconds(milliseconds).ok_or_else(fault);
        }
        if let Ok(day) = text.parse::<jiff::civil::Date>().and_then(|day| day.to_zoned(jiff::tz::TimeZone::UTC))
            && text.len() <= DAY_CHARS_MAX
        {
            return Ok(Self(day.timestamp().as_millisecond()));
        }
        let parsed: jiff::Timestamp = text.parse().map_err(|_| fault())?;
        Ok(Self(parsed.as_millisecond()))
    }

    /// `None` outside the years that can be written.
    pub fn from_milliseconds(milliseconds: i64) -> Option<Self> {
        MILLISECONDS_RANGE.contains(&milliseconds).then_some(Self(milliseconds))
    }

    pub fn saturating_add_ms(self, milliseconds: i64) -> Self {
        Self(self.0.saturating_add(milliseconds))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(time) => write!(f, "{time:.3}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The day of a time, in UTC: all that a reader of an old text needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub Timestamp);

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0.0) {
            Ok(time) => write!(f, "{}", time.to_zoned(jiff::tz::TimeZone::UTC).date()),
            Err(_) => write!(f, "{}", self.0),
        }
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Timestamp::deserialize(deserializer).map(Self)
    }
}

impl JsonSchema for Day {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Day".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date"})
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum TextOrMilliseconds {
    Milliseconds(i64),
    Text(String),
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = match TextOrMilliseconds::deserialize(deserializer) {
            Ok(TextOrMilliseconds::Milliseconds(milliseconds)) => milliseconds.to_string(),
            Ok(TextOrMilliseconds::Text(text)) => text,
            Err(_) => {
                return Err(de::Error::custom("a time is RFC 3339 text or an integer of epoch milliseconds"));
            }
        };
        Self::parse(&text).map_err(de::Error::custom)
    }
}

impl JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    /// Asked for in two ways, answered in one.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        if generator.contract().is_serialize() {
            json_schema!({"type": "string", "format": "date-time"})
        } else {
            json_schema!({"type": ["string", "integer"]})
        }
    }
}

/// Parses "90d", "24h", "1500ms" or a bare number of milliseconds.
pub fn parse_duration_ms(text: &str) -> Result<i64, TimeError> {
    let fault = || TimeError::NotADuration(text.chars().take(64).collect());
    let trimmed = text.trim();
    let digits_end = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
    let number: i64 = trimmed[..digits_end].parse().map_err(|_| fault())?;
    let unit_ms: i64 = match trimmed[digits_end..].trim_start() {
        "" | "ms" => 1,
        "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 7 * 86_400_000,
        _ => return Err(fault()),
    };
    number.checked_mul(unit_ms).ok_or_else(fault)
}

/// A length of time, shown as people write it where that is exact ("90d", "36h"), in milliseconds otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct DurationMs(pub i64);

impl Serialize for DurationMs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            0 => serializer.serialize_i64(0),
            ms if ms % 86_400_000 == 0 => serializer.collect_str(&format_args!("{}d", ms / 86_400_000)),
            ms if ms % 3_600_000 == 0 => serializer.collect_str(&format_args!("{}h", ms / 3_600_000)),
            ms => serializer.serialize_i64(ms),
        }
    }
}

impl<'de> Deserialize<'de> for DurationMs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match TextOrMilliseconds::deserialize(deserializer)? {
            TextOrMilliseconds::Milliseconds(milliseconds) => Ok(Self(milliseconds)),
            TextOrMilliseconds::Text(text) => parse_duration_ms(&text).map(Self).map_err(de::Error::custom),
        }
    }
}

impl JsonSchema for DurationMs {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "integer"]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_print_in_utc_with_milliseconds_and_parse_back() {
        let time = Timestamp(1_800_000_000_123);
        assert_eq!(time.to_string(), "2027-01-15T08:00:00.123Z");
        assert_eq!(Timestamp::parse(&time.to_string()), Ok(time));
        assert_eq!(Timestamp::parse("1800000000123"), Ok(time));
        assert_eq!(Timestamp::parse("2027-01-15T10:00:00.123+02:00"), Ok(time));
        assert_eq!(Timestamp::parse("2027-01-15"), Ok(Timestamp(1_799_971_200_000)));
        assert_eq!(Day(time).to_string(), "2027-01-15");
        assert!(Timestamp::parse("yesterday").is_err());
        assert!(Timestamp::parse("9223372036854775807").is_err());
    }

    #[test]
    fn durations_have_units_or_are_milliseconds() {
        assert_eq!(parse_duration_ms("90d"), Ok(90 * 86_400_000));
        assert_eq!(parse_duration_ms("24h"), Ok(86_400_000));
        assert_eq!(parse_duration_ms("250"), Ok(250));
        for bad in ["", "d", "-1d", "2.5h", "3 years", "99999999999999999d"] {
            assert!(parse_duration_ms(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn durations_are_shown_with_the_largest_unit_that_is_exact() {
        let shown = |ms| serde_json::to_string(&DurationMs(ms)).unwrap();
        assert_eq!(shown(90 * 86_400_000), r#""90d""#);
        assert_eq!(shown(36 * 3_600_000), r#""36h""#);
        assert_eq!(shown(90_000), "90000");
        assert_eq!(shown(0), "0");
        for ms in [90 * 86_400_000, 36 * 3_600_000, 90_000, 0] {
            assert_eq!(serde_json::from_str::<DurationMs>(&shown(ms)).unwrap(), DurationMs(ms));
        }
    }
}
