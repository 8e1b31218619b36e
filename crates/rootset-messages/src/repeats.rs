//! A tool's result that stands word for word in the window already, told from the lines of a Claude Code session.
//!
//! Only results of `Bash`: the client drops a replacement that has not the tool's own shape, and keeps track itself of what was
//! read with Read, Edit and Write. Where in doubt there is no repeat: a result counts that differs in nothing, that is in the
//! window for sure (behind the last compaction, not in a side conversation) and not far up in it. Not here: whether anything may
//! be replaced.

use std::collections::{HashMap, VecDeque};

use serde_json::{Value, json};

use crate::blocks::{result_id, text_at};

/// The tool whose results are looked at.
pub const REPEATING_TOOL: &str = "Bash";
/// Results that are looked back at.
const RESULTS_MAX: usize = 20;
/// Bytes of results that are looked back at: 40,000 tokens.
const BYTES_MAX: usize = 160_000;
/// A pointer is not much shorter than a shorter result.
const REPEATED_BYTES_MIN: usize = 600;
/// Of a command, as much as tells it from others.
const COMMAND_CHARS_MAX: usize = 80;
const LINE_FEED: char = '\n';

/// An earlier result that says the same. How many calls ago it was is not told: the client writes its file behind, so that the
/// newest calls may be missing there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// Where the line of the earlier result begins.
    pub at: u64,
    /// The beginning of the earlier command.
    pub command: String,
    /// What the result takes.
    pub bytes: usize,
}

struct Earlier {
    at: u64,
    call: String,
    result: Value,
    bytes: usize,
}

/// The newest earlier result of a session that is the same as this one, the answer to the call `call`.
pub fn repeat_of<'l>(lines: impl Iterator<Item = (u64, &'l str)>, call: &str, result: &Value) -> Option<Repeat> {
    let bytes = shown_bytes(result).filter(|bytes| *bytes >= REPEATED_BYTES_MIN)?;
    let mut commands: HashMap<String, String> = HashMap::new();
    let mut earlier: VecDeque<Earlier> = VecDeque::new();
    for (at, line) in lines {
        // Most of a session is text; only calls, results and the borders of a window are parsed.
        if !["tool_use", "tool_result", "compact", "Compact"].iter().any(|word| line.contains(word)) {
            continue;
        }
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        let is = |flag: &str| value.get(flag) == Some(&Value::Bool(true));
        if is("isCompactSummary") || text_at(&value, "subtype") == Some("compact_boundary") {
            earlier.clear();
        }
        if is("isSidechain") {
            continue;
        }
        for block in value.pointer("/message/content").and_then(Value::as_array).into_iter().flatten() {
            if text_at(block, "type") == Some("tool_use") {
                let command = block.pointer("/input/command").and_then(Value::as_str);
                commands.extend(text_at(block, "id").zip(command).map(|(id, it)| (id.to_owned(), it.to_owned())));
            } else if let Some(of) = result_id(block).filter(|of| *of != call) {
                let is_error = block.get("is_error") == Some(&Value::Bool(true));
                let result = value.get("toolUseResult").filter(|_| !is_error).cloned().unwrap_or_default();
                let bytes = shown_bytes(&result).unwrap_or_else(|| block["content"].to_string().len());
                earlier.push_back(Earlier { at, call: of.to_owned(), result, bytes });
            }
        }
    }
    let mut between = 0;
    for it in earlier.iter().rev().take(RESULTS_MAX) {
        between += it.bytes;
        if between > BYTES_MAX {
            return None;
        }
        if says_the_same(&it.result, result)
            && let Some(command) = commands.get(&it.call)
        {
            let first = command.lines().next().unwrap_or_default();
            let command = first.chars().take(COMMAND_CHARS_MAX).collect();
            return Some(Repeat { at: it.at, command, bytes });
        }
    }
    None
}

/// Whether a model sees the same of two results. The client writes fields into its file that its event does not have.
fn says_the_same(a: &Value, b: &Value) -> bool {
    let fields = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let (a, b) = (fields(a), fields(b));
    shown_bytes(&Value::Object(a.clone())).is_some()
        && ["stdout", "stderr"].iter().all(|field| a.get(*field) == b.get(*field))
        && a.iter().all(|(field, value)| b.get(field).is_none_or(|other| other == value))
}

/// What of a result of `Bash` the model sees, in bytes; `None` for a result of another shape, and one that was cut off.
fn shown_bytes(result: &Value) -> Option<usize> {
    let is = |flag: &str| result.get(flag) == Some(&Value::Bool(true));
    let (stdout, stderr) = (text_at(result, "stdout")?, text_at(result, "stderr")?);
    (!is("interrupted") && !is("isImage")).then(|| stdout.len() + stderr.len())
}

/// All that the model sees of a result, for whoever looks whether it may be shown shorter.
pub fn shown_text(result: &Value) -> String {
    let part = |field: &str| text_at(result, field).unwrap_or_default();
    [part("stdout"), part("stderr")].join("\n")
}

/// The result in its own shape, with a pointer in the place of the text.
pub fn pointing(result: &Value, pointer: &str) -> Value {
    let mut result = result.clone();
    result["stdout"] = json!(pointer.replace(LINE_FEED, " "));
    result["stderr"] = json!("");
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(stdout: &str) -> Value {
        json!({"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false})
    }

    fn call(id: &str, command: &str) -> String {
        let block = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
        json!({"type": "assistant", "message": {"content": [block]}}).to_string()
    }

    fn answer(id: &str, result: &Value) -> String {
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": result["stdout"]});
        json!({"type": "user", "message": {"content": [block]}, "toolUseResult": result}).to_string()
    }

    fn repeat(lines: &[String], result: &Value) -> Option<(u64, String)> {
        let lines = lines.iter().enumerate().map(|(at, line)| (at as u64, line.as_str()));
        repeat_of(lines, "now", result).map(|it| (it.at, it.command))
    }

    #[test]
    fn the_newest_same_result_in_the_window_is_found() {
        let (long, other) = (said(&"ok\n".repeat(300)), said(&"no\n".repeat(300)));
        let session = [call("a", "make\nall"), answer("a", &long), call("b", "make b"), answer("b", &other)];
        assert_eq!(repeat(&session, &long), Some((1, "make".to_owned())));
        let again = [&session[..], &[call("c", "make c"), answer("c", &long)]].concat();
        assert_eq!(repeat(&again, &long), Some((5, "make c".to_owned())));
        // As the client writes it into its file.
        let mut written = long.clone();
        written["noOutputExpected"] = false.into();
        assert_eq!(repeat(&[call("a", "make"), answer("a", &written)], &long), Some((1, "make".to_owned())));
        written["returnCodeInterpretation"] = "x".into();
        let mut other = written.clone();
        other["returnCodeInterpretation"] = "y".into();
        assert_eq!(repeat(&[call("a", "make"), answer("a", &written)], &other), None);
        let short = said("ok");
        assert_eq!(repeat(&[call("a", "make"), answer("a", &short)], &short), None);
    }

    #[test]
    fn nothing_is_found_where_the_window_may_not_hold_it() {
        let long = said(&"ok\n".repeat(300));
        let session = vec![call("a", "make"), answer("a", &long)];
        let behind = |line: Value| [&session[..], &[line.to_string()]].concat();
        assert_eq!(repeat(&behind(json!({"type": "system", "subtype": "compact_boundary"})), &long), None);
        let summary = json!({"type": "user", "isCompactSummary": true, "message": {"content": "s"}});
        assert_eq!(repeat(&behind(summary), &long), None);
        let mut aside: Value = serde_json::from_str(&session[1]).unwrap();
        aside["isSidechain"] = true.into();
        assert_eq!(repeat(&[session[0].clone(), aside.to_string()], &long), None);
        // Another exit, an interrupted call, an image, and the call itself.
        let cut = json!({"stdout": long["stdout"], "stderr": "", "interrupted": true, "isImage": false});
        assert_eq!(repeat(&[call("a", "make"), answer("a", &cut)], &cut), None);
        assert_eq!(repeat(&[call("now", "make"), answer("now", &long)], &long), None);
        assert_eq!(repeat(&session, &json!("a bare text")), None);
        let far = said(&"x".repeat(BYTES_MAX));
        let later = [&session[..], &[call("b", "cat"), answer("b", &far)]].concat();
        assert_eq!(repeat(&later, &long), None);
        let many: Vec<String> = (0..RESULTS_MAX).map(|n| answer(&n.to_string(), &said("x"))).collect();
        assert_eq!(repeat(&[&session[..], &many].concat(), &long), None);
    }

    #[test]
    fn a_pointer_has_the_shape_of_the_result() {
        let result = said("long");
        let short = pointing(&result, "a\nb");
        assert_eq!(short, json!({"stdout": "a b", "stderr": "", "interrupted": false, "isImage": false}));
    }
}
