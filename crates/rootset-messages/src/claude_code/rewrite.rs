//! A session file with some results of tools replaced, so that the client can go on with it.
//!
//! Lines keep their order, their `uuid` and their `parentUuid`, calls keep their results, and thinking is not touched: a result only
//! says something shorter. A line that nothing changes in stays as it is, byte for byte.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::blocks::{text_at, type_of};

/// A session file, as it would be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    pub text: String,
    /// Results that were replaced.
    pub replaced: usize,
}

/// Puts a line of text in the place of results, by the ids of their calls. With `session_id` it is the file of another session: the
/// client looks a session up by the name of its file and the id in its lines. A torn last line is left out.
pub fn rewrite_claude_code(jsonl: &str, results: &BTreeMap<String, String>, session_id: Option<&str>) -> Rewritten {
    let mut rewritten = Rewritten { text: String::with_capacity(jsonl.len()), replaced: 0 };
    for line in jsonl.split_inclusive('\n') {
        let parsed = serde_json::from_str::<Value>(line);
        let Some(text) = line.strip_suffix('\n') else {
            // The client would glue its next line onto a torn one; a whole one only lacks its end.
            if let Ok(Value::Object(mut fields)) = parsed {
                let is_changed = change(&mut fields, results, session_id, &mut rewritten.replaced);
                push(&mut rewritten.text, line, is_changed.then_some(fields));
            }
            continue;
        };
        match parsed {
            Ok(Value::Object(mut fields)) => {
                let is_changed = change(&mut fields, results, session_id, &mut rewritten.replaced);
                push(&mut rewritten.text, text, is_changed.then_some(fields));
            }
            _ => push(&mut rewritten.text, text, None),
        }
    }
    rewritten
}

fn push(text: &mut String, line: &str, changed: Option<Map<String, Value>>) {
    match changed {
        Some(fields) => text.push_str(&Value::Object(fields).to_string()),
        None => text.push_str(line),
    }
    text.push('\n');
}

/// Whether anything changed.
fn change(
    fields: &mut Map<String, Value>,
    results: &BTreeMap<String, String>,
    session_id: Option<&str>,
    replaced: &mut usize,
) -> bool {
    let mut is_changed = false;
    if let (Some(new), Some(id)) = (session_id, fields.get_mut("sessionId")) {
        *id = new.into();
        is_changed = true;
    }
    let blocks = fields.get_mut("message").and_then(|message| message.get_mut("content")).and_then(Value::as_array_mut);
    let mut said = None;
    for block in blocks.into_iter().flatten() {
        let id = text_at(block, "tool_use_id").filter(|_| type_of(block) == "tool_result");
        let Some(text) = id.and_then(|id| results.get(id)) else { continue };
        block["content"] = text.as_str().into();
        said = Some(text);
        *replaced += 1;
    }
    let Some(said) = said else { return is_changed };
    // The client's own note of the result, which it shows to the person; a failing tool's is a text, too.
    if let Some(note) = fields.get_mut("toolUseResult") {
        *note = said.as_str().into();
    }
    true
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::read_claude_code;

    fn session() -> String {
        let line = |uuid: &str, parent: Option<&str>, role: &str, content: Value| {
            json!({"parentUuid": parent, "type": role, "uuid": uuid, "sessionId": "old",
                "message": {"role": role, "content": content}})
        };
        let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
        let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}});
        let result = |id: &str| json!([{"type": "tool_result", "tool_use_id": id, "content": "long ".repeat(100)}]);
        let mut lines = [
            line("a", None, "user", json!("go")),
            line("b", Some("a"), "assistant", json!([thinking, call("t1"), call("t2")])),
            line("c", Some("b"), "user", result("t1")),
            line("d", Some("c"), "user", result("t2")),
            line("e", Some("d"), "assistant", json!([{"type": "text", "text": "done"}])),
        ];
        lines[2]["toolUseResult"] = json!({"stdout": "long", "stderr": ""});
        lines.iter().map(|line| format!("{line}\n")).collect::<String>() + "{\"torn"
    }

    fn left_out() -> BTreeMap<String, String> {
        BTreeMap::from([("t1".to_owned(), "[left out]".to_owned()), ("t9".to_owned(), "[never]".to_owned())])
    }

    #[test]
    fn a_result_says_less_and_everything_else_stays_byte_for_byte() {
        let before = session();
        let after = rewrite_claude_code(&before, &left_out(), None);
        assert_eq!(after.replaced, 1);
        let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.text.lines().collect());
        assert_eq!(after.len(), before.len() - 1, "the torn line is left out");
        for place in [0, 1, 3, 4] {
            assert_eq!(before[place], after[place]);
        }
        let line: Value = serde_json::from_str(after[2]).unwrap();
        assert_eq!(
            (&line["message"]["content"][0]["content"], &line["toolUseResult"]),
            (&json!("[left out]"), &json!("[left out]"))
        );
        assert_eq!((&line["uuid"], &line["parentUuid"]), (&json!("c"), &json!("b")));
    }

    #[test]
    fn what_is_written_reads_as_the_same_conversation() {
        let text = |drafts: &[crate::Draft]| {
            drafts
                .iter()
                .map(|it| (it.segment_id.clone(), it.tool_call_id.clone(), it.role.clone()))
                .collect::<Vec<_>>()
        };
        let before = read_claude_code(&session()).unwrap().drafts;
        let after = rewrite_claude_code(&session(), &left_out(), Some("new"));
        let read = read_claude_code(&after.text).unwrap();
        assert_eq!((text(&read.drafts), read.skipped.len()), (text(&before), 0));
        assert!(!after.text.contains("\"old\"") && after.text.matches("\"sessionId\":\"new\"").count() == 5);
        assert!(after.text.contains("\"signature\":\"s\""));
    }

    #[test]
    fn nothing_to_replace_changes_nothing_and_nonsense_stays() {
        let odd = "not json\n[1]\n{\"type\":\"summary\",\"leafUuid\":\"e\"}\n\n";
        assert_eq!(rewrite_claude_code(odd, &left_out(), None), Rewritten { text: odd.to_owned(), replaced: 0 });
        assert_eq!(rewrite_claude_code("", &left_out(), Some("new")).text, "");
    }
}
