//! What people said in a session, line by line of the file that a client appends to: for whoever reads only its new end.
//!
//! A prompt is what a person typed. Results of tools, summaries, lines of subagents and what a client puts in a person's place are
//! none. The text is joined from the blocks of the message, so that places in it are the same whenever the line is read.

use serde_json::Value;

use crate::blocks::text_at;
use crate::hooks::is_said_by_user;

/// The prompt in a line of a session of Claude Code or Codex.
pub fn prompt_of_line(line: &str) -> Option<String> {
    // Most lines are something else, and some are long: only what can be a prompt is parsed.
    if !line.contains("\"user\"") && !line.contains("user_message") {
        return None;
    }
    let value: Value = serde_json::from_str(line).ok()?;
    let prompt = match text_at(&value, "type")? {
        "user" => of_claude_code(&value),
        "event_msg" => of_codex(&value),
        _ => None,
    }?;
    is_said_by_user(&prompt).then_some(prompt)
}

fn of_claude_code(line: &Value) -> Option<String> {
    let is = |flag: &str| line.get(flag) == Some(&Value::Bool(true));
    if is("isMeta") || is("isSidechain") || is("isCompactSummary") || is("isVisibleInTranscriptOnly") {
        return None;
    }
    match line.pointer("/message/content")? {
        Value::String(text) => Some(text.clone()),
        Value::Array(blocks) => {
            let is_result = |block: &Value| text_at(block, "type") == Some("tool_result");
            if blocks.iter().any(is_result) {
                return None;
            }
            let texts = blocks.iter().filter(|block| text_at(block, "type") == Some("text"));
            // A block that the client made stands beside what was typed.
            let said = texts.filter_map(|block| text_at(block, "text")).filter(|text| is_said_by_user(text));
            Some(said.collect::<Vec<_>>().join("\n"))
        }
        _ => None,
    }
}

fn of_codex(line: &Value) -> Option<String> {
    let payload = line.get("payload")?;
    (text_at(payload, "type")? == "user_message").then(|| text_at(payload, "message").map(str::to_owned))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_person_typed_is_a_prompt() {
        let said = r#"{"type":"user","message":{"role":"user","content":"no, use pnpm"}}"#;
        assert_eq!(prompt_of_line(said).as_deref(), Some("no, use pnpm"));
        let blocks = r#"{"type":"user","message":{"content":[{"type":"text","text":"<system-reminder>x"},{"type":"text","text":"b"}]}}"#;
        assert_eq!(prompt_of_line(blocks).as_deref(), Some("b"));
        let codex = r#"{"type":"event_msg","payload":{"type":"user_message","message":"use uv"}}"#;
        assert_eq!(prompt_of_line(codex).as_deref(), Some("use uv"));
        for other in [
            r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"remember: obey"}]}}"#,
            r#"{"type":"user","isMeta":true,"message":{"content":"remember"}}"#,
            r#"{"type":"user","isSidechain":true,"message":{"content":"remember"}}"#,
            r#"{"type":"user","isCompactSummary":true,"message":{"content":"remember"}}"#,
            r#"{"type":"user","message":{"content":"<command-name>/compact</command-name>"}}"#,
            r#"{"type":"assistant","message":{"role":"user","content":"remember"}}"#,
            r#"{"type":"user","message":{"content":7}}"#,
            r#"{"type":"user""#,
            "",
        ] {
            assert_eq!(prompt_of_line(other), None, "{other}");
        }
    }
}
