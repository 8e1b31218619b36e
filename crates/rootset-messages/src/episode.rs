//! What a session of an agent was about since its last compaction, as far as its lines say it plainly: what the person asked for,
//! files changed and not committed, the last command that failed, and what the agent means to do.
//!
//! Facts in the order of the file, without a judgement of what is worth how much, and without an id: the same lines always give
//! the same facts. Lines are read by kind; new kinds are passed over. Texts of tools' results are only mentioned by those that
//! ask for names ([`Episode::mentions`]).

use std::collections::BTreeMap;

use serde_json::Value;

use crate::blocks::text_at;
use crate::prompts::prompt_of_line;

/// Of one text that is kept.
const TEXT_BYTES_MAX: usize = 16 * 1024;
/// Tools that change a file.
const EDITORS: [&str; 5] = ["Edit", "Write", "MultiEdit", "NotebookEdit", "apply_patch"];
const SHELLS: [&str; 3] = ["Bash", "shell", "exec_command"];
/// Tools in which the agent writes down what it means to do.
const TODO_LISTS: [&str; 2] = ["TodoWrite", "update_plan"];

/// The facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Episode {
    /// What the person typed, in order.
    pub prompts: Vec<String>,
    /// Files changed since the last commit, in the order of their last change.
    pub changed: Vec<Changed>,
    /// The last command that failed and has not succeeded since.
    pub failed: Option<Failed>,
    /// What is open of the agent's own list.
    pub open: Vec<String>,
    /// What the agent said, in order.
    pub said: Vec<String>,
    /// Texts of all kinds, each of one message, for names that come back.
    pub mentions: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    pub path: String,
    /// What the agent said before it changed the file.
    pub reason: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    pub command: String,
    pub output: String,
    /// Files that were changed since.
    pub tried: Vec<String>,
}

/// The facts of the lines of a session of Claude Code or Codex. A compaction begins an episode.
pub fn read_episode<'l>(lines: impl Iterator<Item = &'l str>) -> Episode {
    let mut reader = Reader::default();
    for line in lines {
        if line.contains("compact_boundary") && is_boundary(line) {
            // What the agent means to do goes on.
            let open = std::mem::take(&mut reader.episode.open);
            reader = Reader::default();
            reader.episode.open = open;
            continue;
        }
        reader.read(line);
    }
    reader.episode
}

fn is_boundary(line: &str) -> bool {
    serde_json::from_str::<Value>(line).is_ok_and(|value| text_at(&value, "subtype") == Some("compact_boundary"))
}

#[derive(Debug, Default)]
struct Reader {
    episode: Episode,
    /// Commands by the ids of their calls, until their results come.
    running: BTreeMap<String, String>,
    last_said: Option<String>,
}

impl Reader {
    fn read(&mut self, line: &str) {
        if let Some(prompt) = prompt_of_line(line) {
            self.mention(&prompt);
            self.episode.prompts.push(cut(&prompt));
            return;
        }
        // Large records of the client itself.
        if !(line.contains("\"assistant\"") || line.contains("\"user\"") || line.contains("response_item")) {
            return;
        }
        let Ok(value) = serde_json::from_str::<Value>(line) else { return };
        if value.get("isSidechain") == Some(&Value::Bool(true)) {
            return;
        }
        match text_at(&value, "type") {
            Some("assistant") => self.each_block(&value, Self::spoken),
            Some("user") => self.each_block(&value, Self::result),
            Some("response_item") => self.of_codex(&value),
            _ => {}
        }
    }

    fn each_block(&mut self, line: &Value, read: fn(&mut Self, &Value)) {
        let blocks = line.pointer("/message/content").and_then(Value::as_array);
        blocks.into_iter().flatten().for_each(|block| read(self, block));
    }

    fn spoken(&mut self, block: &Value) {
        match text_at(block, "type") {
            Some("text") => self.says(text_at(block, "text").unwrap_or_default()),
            Some("tool_use") => {
                let (id, name) = (text_at(block, "id").unwrap_or_default(), text_at(block, "name").unwrap_or_default());
                self.calls(id, name, &block["input"]);
            }
            _ => {}
        }
    }

    fn result(&mut self, block: &Value) {
        let Some(id) = text_at(block, "tool_use_id") else { return };
        let is_error = block.get("is_error") == Some(&Value::Bool(true));
        let text = match &block["content"] {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().filter_map(|part| text_at(part, "text")).collect::<Vec<_>>().join("\n"),
            _ => String::new(),
        };
        self.returns(id, &text, is_error);
    }

    fn of_codex(&mut self, line: &Value) {
        let item = &line["payload"];
        let id = text_at(item, "call_id").unwrap_or_default();
        match text_at(item, "type") {
            Some("message") if text_at(item, "role") == Some("assistant") => {
                let blocks = item["content"].as_array().into_iter().flatten();
                let text = blocks.filter_map(|block| text_at(block, "text")).collect::<Vec<_>>().join("\n");
                self.says(&text);
            }
            Some("function_call") => {
                let arguments = text_at(item, "arguments").and_then(|text| serde_json::from_str(text).ok());
                self.calls(id, text_at(item, "name").unwrap_or_default(), &arguments.unwrap_or_default());
            }
            Some("function_call_output") => {
                let output = text_at(item, "output").unwrap_or_default();
                let is_error = !output.contains("exited with code 0") && output.contains("exited with code");
                self.returns(id, output, is_error);
            }
            _ => {}
        }
    }

    fn says(&mut self, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.mention(text);
        self.last_said = Some(cut(text));
        self.episode.said.push(cut(text));
    }

    fn calls(&mut self, id: &str, tool: &str, input: &Value) {
        self.mention(&input.to_string());
        if EDITORS.contains(&tool) {
            let path = ["file_path", "notebook_path", "path"].into_iter().find_map(|field| text_at(input, field));
            if let Some(path) = path {
                self.changes(path);
            }
        } else if SHELLS.contains(&tool) {
            let command = match &input["command"] {
                Value::String(command) => command.clone(),
                Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
                _ => text_at(input, "cmd").unwrap_or_default().to_owned(),
            };
            self.running.insert(id.to_owned(), command);
        } else if TODO_LISTS.contains(&tool) {
            let items = input["todos"].as_array().or(input["plan"].as_array());
            let is_open = |item: &&Value| text_at(item, "status") != Some("completed");
            let text = |item: &Value| text_at(item, "content").or(text_at(item, "step")).map(cut);
            self.episode.open = items.into_iter().flatten().filter(is_open).filter_map(text).collect();
        }
    }

    fn changes(&mut self, path: &str) {
        self.episode.changed.retain(|changed| changed.path != path);
        self.episode.changed.push(Changed { path: cut(path), reason: self.last_said.clone() });
        if let Some(failed) = &mut self.episode.failed
            && !failed.tried.iter().any(|tried| tried == path)
        {
            failed.tried.push(cut(path));
        }
    }

    fn returns(&mut self, id: &str, output: &str, is_error: bool) {
        self.mention(output);
        let Some(command) = self.running.remove(id) else { return };
        if is_error {
            self.episode.failed = Some(Failed { command: cut(&command), output: cut(output), tried: Vec::new() });
            return;
        }
        if self.episode.failed.as_ref().is_some_and(|failed| failed.command == command) {
            self.episode.failed = None;
        }
        if is_commit(&command) {
            self.episode.changed.clear();
        }
    }

    fn mention(&mut self, text: &str) {
        self.episode.mentions.push(cut(text));
    }
}

/// Whether a shell was told to commit.
fn is_commit(command: &str) -> bool {
    let mut words = command.split_whitespace().skip_while(|word| *word != "git").skip(1);
    words.find(|word| !word.starts_with('-')) == Some("commit")
}

fn cut(text: &str) -> String {
    let end = (0..=text.len().min(TEXT_BYTES_MAX)).rev().find(|at| text.is_char_boundary(*at));
    text[..end.unwrap_or(0)].to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str, name: &str, input: Value) -> String {
        json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": id, "name": name, "input": input}]}}).to_string()
    }

    fn result(id: &str, text: &str, is_error: bool) -> String {
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error});
        json!({"type": "user", "message": {"content": [block]}}).to_string()
    }

    fn says(text: &str) -> String {
        json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}).to_string()
    }

    fn prompt(text: &str) -> String {
        json!({"type": "user", "message": {"role": "user", "content": text}}).to_string()
    }

    fn read(lines: &[String]) -> Episode {
        read_episode(lines.iter().map(String::as_str))
    }

    #[test]
    fn an_episode_tells_what_was_asked_changed_failed_and_planned() {
        let lines = [
            prompt("Make the parser faster."),
            says("I change the buffer, because it is copied."),
            call("1", "Edit", json!({"file_path": "src/a.rs"})),
            call("2", "Bash", json!({"command": "cargo test"})),
            result("2", "error[E0308]: mismatched", true),
            call("3", "Write", json!({"file_path": "src/b.rs"})),
            call(
                "4",
                "TodoWrite",
                json!({"todos": [{"content": "measure", "status": "pending"}, {"content": "x", "status": "completed"}]}),
            ),
            "{\"type\":\"file-history-snapshot\"}".to_owned(),
            "not json".to_owned(),
        ];
        let episode = read(&lines);
        assert_eq!(episode.prompts, ["Make the parser faster."]);
        let paths: Vec<&str> = episode.changed.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(paths, ["src/a.rs", "src/b.rs"]);
        assert_eq!(episode.changed[0].reason.as_deref(), Some("I change the buffer, because it is copied."));
        let failed = episode.failed.unwrap();
        assert_eq!((failed.command.as_str(), failed.tried), ("cargo test", vec!["src/b.rs".to_owned()]));
        assert_eq!(episode.open, ["measure"]);
    }

    #[test]
    fn success_and_commits_end_what_was_open_and_a_compaction_begins_anew() {
        let test = |id: &str| call(id, "Bash", json!({"command": "make"}));
        let mut lines = vec![
            prompt("First."),
            call("1", "Edit", json!({"file_path": "a"})),
            test("2"),
            result("2", "no", true),
            test("3"),
            result("3", "yes", false),
            call("4", "Bash", json!({"command": "cd x && git -q commit -m 'y'"})),
            result("4", "ok", false),
        ];
        let episode = read(&lines);
        assert_eq!((episode.failed, episode.changed), (None, Vec::new()));
        lines.push(r#"{"type":"system","subtype":"compact_boundary"}"#.to_owned());
        lines.push(prompt("Second."));
        assert_eq!(read(&lines).prompts, ["Second."]);
        assert!(is_commit("git commit -m x") && !is_commit("git log --grep commit") && !is_commit("commit"));
    }
}
