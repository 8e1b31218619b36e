//! Messages that are not JSON, or too much of it: why, and under which id their sender waits. A sender that hears nothing,
//! or hears it under no id, waits forever.

use rmcp::model::{ErrorData, RequestId};
use rootset_model::json;
use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};

/// As many as the largest batch of memories has. Far more fit into a message, and take far more memory than it.
const VALUES_MAX: usize = 100_000;

#[derive(Debug)]
pub struct Unreadable {
    pub error: ErrorData,
    pub id: Option<RequestId>,
}

impl Unreadable {
    pub fn new(message: &[u8], problem: &serde_json::Error) -> Self {
        let said = format!("the message {}", json::fault_in_line(problem));
        Self { error: ErrorData::parse_error(said, None), id: id_of(message) }
    }
}

pub fn check(message: &[u8]) -> Result<(), Unreadable> {
    json::check(message, VALUES_MAX).map_err(|problem| Unreadable::new(message, &problem))
}

/// The id of a message, as far as it can be read: what else is wrong with it does not matter.
fn id_of(message: &[u8]) -> Option<RequestId> {
    let mut id = None;
    // How it ends is known already.
    let _ = serde_json::Deserializer::from_slice(message).deserialize_map(TopLevel { id: &mut id });
    id
}

struct TopLevel<'a> {
    id: &'a mut Option<RequestId>,
}

impl<'de> Visitor<'de> for TopLevel<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        // A number is whole once something came after it: a message may be cut off in the middle of one.
        let mut read = None;
        while let Some(is_id) = fields.next_key_seed(IsId)? {
            *self.id = self.id.take().or(read.take());
            if is_id {
                read = Some(fields.next_value()?);
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        *self.id = self.id.take().or(read);
        Ok(())
    }
}

/// Names are compared as bytes: one that is no text is none that we look for.
struct IsId;

impl<'de> DeserializeSeed<'de> for IsId {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_bytes(self)
    }
}

impl Visitor<'_> for IsId {
    type Value = bool;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a name")
    }

    fn visit_bytes<E>(self, name: &[u8]) -> Result<bool, E> {
        Ok(name == b"id")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_found_wherever_it_can_be_read() {
        let number = Some(RequestId::Number(7));
        for message in [
            r#"{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "\ud800"}}"#,
            r#"{"params": {"\udfff": ["\ud800\ud800"]}, "id": 7}"#,
            r#"{"\ud800": 1, "id": 7, "id2": nonsense"#,
            r#"{"id": 7, "params": {"#,
        ] {
            assert_eq!(check(message.as_bytes()).unwrap_err().id, number, "{message}");
        }
        let text = r#"{"id": "a-1", "params": "\ud800"}"#;
        assert_eq!(check(text.as_bytes()).unwrap_err().id, Some(RequestId::String("a-1".into())));
        assert_eq!(id_of(b"{\"params\": \"\xff\", \"id\": 7}"), number);
    }

    #[test]
    fn no_id_is_made_up() {
        for message in [
            r#"{"id": 7"#,
            r#"{"id": "\ud800", "x": 1}"#,
            r#"{"params": {"id": 7}, "x": "\ud800"}"#,
            r#"[{"id": 7}, "\ud800"]"#,
            r#"{"id": {}, "x": "\ud800"}"#,
            "nonsense",
        ] {
            assert_eq!(check(message.as_bytes()).unwrap_err().id, None, "{message}");
        }
    }
}
