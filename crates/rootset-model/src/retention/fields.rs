//! A policy as people write it, in requests and in the configuration alike: `{"max_age": "90d", "max_count": 1000}`.
//!
//! Anything not understood is an error that names field and value. It never becomes a policy without that rule: somebody
//! would rely on a rule that does not exist, and find out too late.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use thiserror::Error;

use super::{Basis, RetentionPolicy};
use crate::time::{DurationMs, parse_duration_ms};

/// Every field, in the order in which it is shown.
pub const FIELDS: [&str; 8] =
    ["max_age", "max_count", "max_version_gap", "min_keep", "keep_within", "basis", "may_empty", "final"];
/// Of a value in an error message.
const SHOWN_CHARS_MAX: usize = 80;

#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FieldError {
    #[error("`{field}` is {value}; allowed: {allowed}")]
    BadValue { field: &'static str, value: String, allowed: &'static str },
    #[error("unknown field `{field}` in a retention policy; allowed: {}", FIELDS.join(", "))]
    Unknown { field: String },
}

/// A value as it was written. Floats are kept apart, and nothing is dropped: JSON would turn NaN into null.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Written {
    Integer(i64),
    Text(String),
    Flag(bool),
    /// Anything that no field takes, as it is shown.
    Other(String),
}

impl RetentionPolicy {
    /// The policy that these fields say; fields that are not given have their defaults.
    pub fn from_fields<K: AsRef<str>, V: Into<Written>>(
        fields: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, FieldError> {
        let mut policy = Self::default();
        for (field, value) in fields {
            policy.set_field(field.as_ref(), &value.into())?;
        }
        Ok(policy)
    }

    /// Sets one field. `max_count` may be 0 (the limits of plans have the last word); an age of 0 would expire what has
    /// just been written, a version gap of 0 the newest version itself.
    pub fn set_field(&mut self, field: &str, value: &Written) -> Result<(), FieldError> {
        match field {
            "max_age" => self.max_age_ms = Some(milliseconds("max_age", value, 1)?),
            "max_count" => self.max_count = Some(whole_number("max_count", value, 0)?),
            "max_version_gap" => self.max_version_gap = Some(whole_number("max_version_gap", value, 1)?),
            "min_keep" => self.min_keep = whole_number("min_keep", value, 0)?,
            "keep_within" => self.keep_within_ms = milliseconds("keep_within", value, 0)?,
            "basis" => self.basis = basis(value)?,
            "may_empty" => self.may_empty = flag("may_empty", value)?,
            "final" => self.is_final = flag("final", value)?,
            unknown => return Err(FieldError::Unknown { field: unknown.chars().take(SHOWN_CHARS_MAX).collect() }),
        }
        Ok(())
    }
}

/// A policy in an answer: what differs from the defaults, so that the empty policy is `{}`. It can be written back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShownPolicy {
    /// Expired when older than this: "90d", "36h" or milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_age: Option<DurationMs>,
    /// Expired beyond so many newest of a source and repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_count: Option<i64>,
    /// Expired when the newest `source_version` is so much higher.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_version_gap: Option<i64>,
    /// So many newest always stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_keep: Option<i64>,
    /// Younger than this always stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_within: Option<DurationMs>,
    /// What age is counted from; absent: `ingested_at`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// A scheduled round may take the last memory of a source, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub may_empty: Option<bool>,
    /// A legal period: what has expired is erased when it is purged, and no restore brings it back.
    #[serde(rename = "final", skip_serializing_if = "Option::is_none")]
    pub is_final: Option<bool>,
}

impl From<&RetentionPolicy> for ShownPolicy {
    fn from(policy: &RetentionPolicy) -> Self {
        Self {
            max_age: policy.max_age_ms.map(DurationMs),
            max_count: policy.max_count,
            max_version_gap: policy.max_version_gap,
            min_keep: Some(policy.min_keep).filter(|count| *count != 0),
            keep_within: Some(DurationMs(policy.keep_within_ms)).filter(|within| within.0 != 0),
            basis: Some(policy.basis).filter(|basis| *basis != Basis::default()),
            may_empty: policy.may_empty.then_some(true),
            is_final: policy.is_final.then_some(true),
        }
    }
}

fn milliseconds(field: &'static str, value: &Written, min: i64) -> Result<i64, FieldError> {
    let milliseconds = match value {
        Written::Integer(milliseconds) => Some(*milliseconds),
        Written::Text(text) => parse_duration_ms(text).ok(),
        Written::Flag(_) | Written::Other(_) => None,
    };
    milliseconds.filter(|milliseconds| *milliseconds >= min).ok_or_else(|| FieldError::BadValue {
        field,
        value: value.to_string(),
        allowed: match min {
            0 => "a duration such as `90d` or `24h`, or milliseconds",
            _ => "a duration above 0 such as `90d` or `24h`, or milliseconds",
        },
    })
}

fn whole_number(field: &'static str, value: &Written, min: i64) -> Result<i64, FieldError> {
    match value {
        Written::Integer(number) if *number >= min => Ok(*number),
        _ => Err(FieldError::BadValue {
            field,
            value: value.to_string(),
            allowed: if min == 0 { "a whole number from 0" } else { "a whole number from 1" },
        }),
    }
}

fn basis(value: &Written) -> Result<Basis, FieldError> {
    match value {
        Written::Text(text) if text == "ingested_at" => Ok(Basis::IngestedAt),
        Written::Text(text) if text == "last_used_at" => Ok(Basis::LastUsedAt),
        _ => Err(FieldError::BadValue {
            field: "basis",
            value: value.to_string(),
            allowed: "`ingested_at`, `last_used_at`",
        }),
    }
}

fn flag(field: &'static str, value: &Written) -> Result<bool, FieldError> {
    match value {
        Written::Flag(flag) => Ok(*flag),
        _ => Err(FieldError::BadValue { field, value: value.to_string(), allowed: "`true`, `false`" }),
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => write!(f, "`{number}`"),
            Self::Flag(flag) => write!(f, "`{flag}`"),
            Self::Text(text) => write!(f, "`{:?}`", text.chars().take(SHOWN_CHARS_MAX).collect::<String>()),
            Self::Other(shown) => write!(f, "`{}`", shown.chars().take(SHOWN_CHARS_MAX).collect::<String>()),
        }
    }
}

impl From<&serde_json::Value> for Written {
    fn from(value: &serde_json::Value) -> Self {
        match value {
            serde_json::Value::String(text) => Self::Text(text.clone()),
            serde_json::Value::Bool(flag) => Self::Flag(*flag),
            other => other.as_i64().map_or_else(|| Self::Other(other.to_string()), Self::Integer),
        }
    }
}

/// From any format, so that a reader of configuration files need not go through JSON, which knows no NaN.
impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WrittenVisitor)
    }
}

struct WrittenVisitor;

impl<'de> de::Visitor<'de> for WrittenVisitor {
    type Value = Written;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_i64<E>(self, number: i64) -> Result<Written, E> {
        Ok(Written::Integer(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Written, E> {
        Ok(i64::try_from(number).map_or_else(|_| Written::Other(number.to_string()), Written::Integer))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Written, E> {
        Ok(Written::Other(number.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Written, E> {
        Ok(Written::Text(text.to_owned()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Written, E> {
        Ok(Written::Flag(value))
    }

    fn visit_unit<E>(self) -> Result<Written, E> {
        Ok(Written::Other("null".to_owned()))
    }

    fn visit_none<E: de::Error>(self) -> Result<Written, E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Written, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Written, A::Error> {
        while items.next_element::<de::IgnoredAny>()?.is_some() {}
        Ok(Written::Other("a list".to_owned()))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, mut entries: A) -> Result<Written, A::Error> {
        while entries.next_entry::<de::IgnoredAny, de::IgnoredAny>()?.is_some() {}
        Ok(Written::Other("a table".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn policy_of(fields: Value) -> Result<RetentionPolicy, String> {
        let fields = fields.as_object().expect("an object").clone();
        RetentionPolicy::from_fields(&fields).map_err(|error| error.to_string())
    }

    #[test]
    fn policies_are_read_as_people_write_them_and_shown_so_that_they_can_be_read_back() {
        let written = json!({
            "max_age": "90d", "max_count": 0, "max_version_gap": 3, "min_keep": 2, "keep_within": "36h",
            "basis": "last_used_at", "may_empty": true, "final": true,
        });
        let policy = policy_of(written.clone()).unwrap();
        let expected = RetentionPolicy {
            max_age_ms: Some(90 * 86_400_000),
            max_count: Some(0),
            max_version_gap: Some(3),
            min_keep: 2,
            keep_within_ms: 36 * 3_600_000,
            basis: Basis::LastUsedAt,
            may_empty: true,
            is_final: true,
        };
        assert_eq!(policy, expected);
        assert_eq!(json!(ShownPolicy::from(&policy)), written);
        assert_eq!(policy_of(json!({ "max_age": 5_000, "keep_within": 0 })).unwrap().max_age_ms, Some(5_000));
        assert_eq!(json!(ShownPolicy::from(&RetentionPolicy::default())), json!({}));
    }

    #[test]
    fn a_value_that_is_not_understood_is_an_error_that_names_field_and_value() {
        for (field, bad, shown) in [
            ("max_age", json!(0), "`0`"),
            ("max_age", json!(-5), "`-5`"),
            ("max_age", json!("0d"), "`\"0d\"`"),
            ("max_age", json!("-1d"), "`\"-1d\"`"),
            ("max_age", json!("abc"), "`\"abc\"`"),
            ("max_age", json!(2.5), "`2.5`"),
            ("max_age", json!(null), "`null`"),
            ("max_age", json!(["90d"]), "`[\"90d\"]`"),
            ("max_count", json!(2.5), "`2.5`"),
            ("max_count", json!(-1), "`-1`"),
            ("max_count", json!("abc"), "`\"abc\"`"),
            ("max_count", json!("5"), "`\"5\"`"),
            ("max_count", json!(true), "`true`"),
            ("max_count", json!(u64::MAX), "`18446744073709551615`"),
            ("max_version_gap", json!(0), "`0`"),
            ("min_keep", json!(-1), "`-1`"),
            ("keep_within", json!("soon"), "`\"soon\"`"),
            ("basis", json!("created_at"), "`\"created_at\"`"),
            ("basis", json!(1), "`1`"),
            ("may_empty", json!("yes"), "`\"yes\"`"),
            ("final", json!(1), "`1`"),
        ] {
            let error = policy_of(json!({ field: bad })).unwrap_err();
            assert!(error.starts_with(&format!("`{field}` is {shown}; allowed: ")), "{error}");
        }
    }

    #[test]
    fn an_unknown_field_is_an_error_that_lists_the_known_ones() {
        let error = policy_of(json!({ "max_agee": "90d" })).unwrap_err();
        assert_eq!(
            error,
            "unknown field `max_agee` in a retention policy; allowed: max_age, max_count, max_version_gap, min_keep, \
             keep_within, basis, may_empty, final"
        );
    }

    #[test]
    fn values_keep_their_type_from_any_format() {
        use serde::de::value::{Error, F64Deserializer};
        use serde::de::{Deserialize, IntoDeserializer};
        let nan: F64Deserializer<Error> = f64::NAN.into_deserializer();
        let written = Written::deserialize(nan).unwrap();
        let error = RetentionPolicy::from_fields([("max_count", written)]).unwrap_err();
        assert_eq!(error.to_string(), "`max_count` is `NaN`; allowed: a whole number from 0");
        for text in ["7", "-7", "\"7\"", "7.5", "true", "null", "[1]", "{\"a\": 1}"] {
            let value: Value = serde_json::from_str(text).unwrap();
            let (from_text, from_value) = (serde_json::from_str::<Written>(text).unwrap(), Written::from(&value));
            assert_eq!(std::mem::discriminant(&from_text), std::mem::discriminant(&from_value), "{text}");
        }
    }
}
