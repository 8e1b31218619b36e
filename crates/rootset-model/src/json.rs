//! Whether a text is JSON, and if not, why, in our own words. The library's messages quote the text and speak of its parser.

use std::borrow::Cow;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Error;
use serde_json::error::Category;

/// Reads a text from beginning to end and keeps nothing of it. Fails where it is not JSON, or at the first value beyond
/// `values_max`: a value in memory takes fifty times the two bytes that it takes in a text.
pub fn check(text: &[u8], values_max: usize) -> Result<(), Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let mut left = values_max;
    Counting { left: &mut left, values_max }.deserialize(&mut deserializer)?;
    deserializer.end()
}

struct Counting<'a> {
    left: &'a mut usize,
    values_max: usize,
}

impl Counting<'_> {
    fn again(&mut self) -> Counting<'_> {
        Counting { left: self.left, values_max: self.values_max }
    }
}

impl<'de> DeserializeSeed<'de> for Counting<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        *self.left = self
            .left
            .checked_sub(1)
            .ok_or_else(|| serde::de::Error::custom(format_args!("{TOO_MANY} {} values", self.values_max)))?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Counting<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(self.again())?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<(), A::Error> {
        // A name is a string like any other, but does not count: it belongs to its value.
        while fields.next_key_seed(Counting { left: &mut 1, values_max: 1 })?.is_some() {
            fields.next_value_seed(self.again())?;
        }
        Ok(())
    }
}

/// How our own error begins.
const TOO_MANY: &str = "has more than";

/// What is wrong with a text and where: `is not JSON, at line 2, column 5`. The caller names the text before it.
pub fn fault(error: &Error) -> String {
    format!("{}, at line {}, column {}", what(error), error.line(), error.column())
}

/// The same for a text that is one line of many, which the caller counts.
pub fn fault_in_line(error: &Error) -> String {
    format!("{}, at column {}", what(error), error.column())
}

fn what(error: &Error) -> Cow<'static, str> {
    // The library has no categories for these.
    let message = error.to_string();
    match error.classify() {
        Category::Eof => "ends too early".into(),
        Category::Syntax if message.starts_with("recursion limit") => "nests too deep".into(),
        Category::Syntax
            if message.starts_with("lone leading surrogate") || message.starts_with("unexpected end of hex escape") =>
        {
            "has half of a surrogate pair (a `\\ud800` to `\\udfff` without its other half)".into()
        }
        Category::Data if message.starts_with(TOO_MANY) => {
            let end = message.find(" at line").unwrap_or(message.len());
            message[..end].to_owned().into()
        }
        Category::Syntax | Category::Data | Category::Io => "is not JSON".into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_fault_names_its_kind_and_place_and_quotes_nothing() {
        let faults = |text: &str| {
            let error = serde_json::from_str::<Value>(text).unwrap_err();
            (fault(&error), fault_in_line(&error))
        };
        let both =
            |what: &str, place: &str, column: &str| (format!("{what}, at {place}"), format!("{what}, at {column}"));
        assert_eq!(faults("{\n secret}"), both("is not JSON", "line 2, column 2", "column 2"));
        assert_eq!(faults("[1, 2"), both("ends too early", "line 1, column 5", "column 5"));
        assert_eq!(faults(&"[".repeat(200)), both("nests too deep", "line 1, column 128", "column 128"));
    }

    #[test]
    fn values_are_counted_wherever_they_are() {
        for text in ["[1, -2, 1e3, \"x\"]", r#"{"a": {"b": [], "c": null}, "d": true}"#, "[[[[[]]]]]"] {
            check(text.as_bytes(), 5).unwrap();
            let error = check(text.as_bytes(), 4).unwrap_err();
            assert!(fault(&error).starts_with("has more than 4 values, at line 1"), "{}", fault(&error));
        }
    }

    #[test]
    fn checking_agrees_with_reading() {
        for text in
            ["", "[", "[1,]", "{}x", "\"\\ud800\"", "{\"\\udc00\": 1}", "nul", "01", "\"\u{1}\"", "[1] [2]", "{1: 2}"]
        {
            let read = serde_json::from_str::<Value>(text).unwrap_err();
            let checked = check(text.as_bytes(), 100).unwrap_err();
            assert_eq!(fault(&checked), fault(&read), "{text}");
        }
        assert!(fault(&check(b"[\"\\ud800\"]", 100).unwrap_err()).contains("surrogate pair"));
        assert!(check(b"\"\xff\"", 100).is_err());
    }
}
