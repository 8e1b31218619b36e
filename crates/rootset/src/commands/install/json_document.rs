//! One member of one object in a JSON text, put in or taken out; every other byte stays, comments too.

#![expect(clippy::disallowed_types, reason = "the configuration of an agent is JSON")]

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use rootset_model::json;
use serde_json::Value;

use super::entry::NAME;

/// The text with the entry in it, or without it. An error says in words what is wrong with the text.
pub fn edited(text: &str, servers: &str, has_comments: bool, entry: Option<&Value>) -> Result<String, String> {
    let is_blank = text.trim().is_empty();
    let text = match (is_blank, entry) {
        (true, None) => return Ok(text.to_owned()),
        (true, Some(_)) => "{\n}\n",
        (false, _) => text,
    };
    if !has_comments {
        // The parser below forgives a comment before the first brace, the agent does not.
        serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(|error| format!("it {}", json::fault(&error)))?;
    }
    let root = CstRootNode::parse(text, &options(has_comments)).map_err(|error| error.to_string())?;
    let root_object = root.object_value().ok_or("it does not hold a JSON object")?;
    let is_there = only_member(&root_object, servers)?.is_some();
    if !is_there && entry.is_none() {
        return Ok(text.to_owned());
    }
    let list = root_object.object_value_or_create(servers).ok_or_else(|| format!("`{servers}` is not an object"))?;
    match (only_member(&list, NAME)?, entry) {
        (Some(member), Some(entry)) => update(&member, entry),
        (Some(member), None) => member.remove(),
        (None, Some(entry)) => {
            list.append(NAME, input(entry));
        }
        (None, None) => {}
    }
    Ok(root.to_string())
}

/// Whether the text has the object that servers are listed in.
pub fn has_list(text: &str, servers: &str) -> bool {
    let root = CstRootNode::parse(text, &options(true)).ok().and_then(|root| root.object_value());
    root.is_some_and(|root| root.get(servers).is_some())
}

/// The text without that object, if nothing is in it, not even a comment.
pub fn without_empty_list(text: &str, servers: &str, has_comments: bool) -> Result<String, String> {
    let root = CstRootNode::parse(text, &options(has_comments)).map_err(|error| error.to_string())?;
    let member = root.object_value().and_then(|root| root.get(servers));
    let is_empty = |member: &CstObjectProp| {
        member.object_value().is_some_and(|list| list.to_string().split_whitespace().collect::<String>() == "{}")
    };
    if let Some(member) = member.filter(is_empty) {
        member.remove();
    }
    Ok(root.to_string())
}

/// What agents read: JSON, with comments and trailing commas at most.
pub fn options(has_comments: bool) -> ParseOptions {
    ParseOptions {
        allow_comments: has_comments,
        allow_trailing_commas: has_comments,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// If a name occurs twice, nobody knows which one counts.
fn only_member(object: &CstObject, name: &str) -> Result<Option<CstObjectProp>, String> {
    let is_named = |member: &CstObjectProp| member.decoded_name().is_some_and(|found| found == name);
    let mut found = object.properties().into_iter().filter(is_named);
    let first = found.next();
    if found.next().is_some() {
        return Err(format!("it contains `{name}` twice"));
    }
    Ok(first)
}

/// Sets only what differs: whoever gave the entry an environment keeps it.
fn update(member: &CstObjectProp, entry: &Value) {
    let fields = member.object_value().filter(|fields| fields.get("url").is_none());
    let (Some(fields), Value::Object(wanted)) = (fields, entry) else { return member.set_value(input(entry)) };
    for (name, value) in wanted {
        match fields.get(name) {
            Some(field) if field.to_serde_value().as_ref() == Some(value) => {}
            Some(field) => field.set_value(input(value)),
            None => {
                fields.append(name, input(value));
            }
        }
    }
}

/// The entry is ours: a few levels deep.
pub fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry() -> Value {
        json!({"command": "/bin/rootset", "args": ["mcp", "--workspace", "auto"]})
    }

    #[test]
    fn entry_goes_in_and_out_of_a_text_that_stays_as_it_is_to_the_byte() {
        let texts = [
            "{\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  },\n  \"n\": 1e2\n}\n",
            "{\n  \"ключ\": \"\\u00e9\",\n  \"mcpServers\": {\n    \"other\": {\"command\":\"x\"}\n  }\n}",
            "// mine\n{\n\t\"mcpServers\": {\n\t\t\"other\": {}, // kept\n\t},\n}\n",
            "{\r\n  \"mcpServers\": {\r\n    \"other\": {}\r\n  }\r\n}\r\n",
        ];
        for text in texts {
            let with = edited(text, "mcpServers", true, Some(&entry())).unwrap();
            assert!(with.contains("/bin/rootset"), "{with}");
            assert_eq!(edited(&with, "mcpServers", true, Some(&entry())).unwrap(), with, "twice is once");
            assert_eq!(edited(&with, "mcpServers", true, None).unwrap(), text);
        }
    }

    #[test]
    fn text_on_one_line_is_broken_into_lines_and_says_the_same() {
        let text = r#"{"mcpServers":{"other":{"command":"x"}},"n":1e2}"#;
        let with = edited(text, "mcpServers", false, Some(&entry())).unwrap();
        let without = edited(&with, "mcpServers", false, None).unwrap();
        assert_eq!(without.replace(['\n', ' '], ""), text);
    }

    #[test]
    fn blank_text_becomes_a_document_and_taking_out_of_it_changes_nothing() {
        let with = edited(" \n", "servers", false, Some(&entry())).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&with).unwrap(), json!({"servers": {"rootset": entry()}}));
        assert_eq!(edited(" \n", "servers", false, None).unwrap(), " \n");
        assert_eq!(edited("{ }", "servers", false, None).unwrap(), "{ }");
    }

    #[test]
    fn fields_that_others_gave_the_entry_stay_and_a_remote_entry_is_replaced() {
        let text = r#"{"servers": {"rootset": {"command": "old", "env": {"A": "b"}, "args": []}}}"#;
        let with: Value = serde_json::from_str(&edited(text, "servers", false, Some(&entry())).unwrap()).unwrap();
        assert_eq!(with["servers"]["rootset"]["env"]["A"], "b");
        assert_eq!(with["servers"]["rootset"]["args"], entry()["args"]);
        let text = r#"{"servers": {"rootset": {"url": "http://localhost"}}}"#;
        let with: Value = serde_json::from_str(&edited(text, "servers", false, Some(&entry())).unwrap()).unwrap();
        assert_eq!(with["servers"]["rootset"], entry());
    }

    #[test]
    fn text_that_is_not_what_the_agent_reads_is_refused() {
        let refused = |text: &str, has_comments| edited(text, "servers", has_comments, Some(&entry())).unwrap_err();
        refused("{\"servers\": {", true);
        assert_eq!(refused("// mine\n{}", false), "it is not JSON, at line 1, column 1");
        refused("{\"a\": 1,}", false);
        refused("{'a': 1}", true);
        assert_eq!(refused("[]", true), "it does not hold a JSON object");
        assert_eq!(refused("{\"servers\": []}", true), "`servers` is not an object");
        assert_eq!(refused("{\"servers\": {}, \"servers\": {}}", true), "it contains `servers` twice");
    }
}
