//! Our hooks in a JSON text, put in or taken out; every other byte stays.
//!
//! Clients keep, per event, a list of groups, each with a list of hooks. Ours is a group of its own in each event, so that
//! nobody else's group is touched; it is recognised by what it runs.

#![expect(clippy::disallowed_types, reason = "the configuration of an agent is JSON")]

use jsonc_parser::cst::{CstArray, CstNode, CstObject, CstRootNode};
use rootset_messages::repeats::REPEATING_TOOL;
use rootset_model::json;
use serde_json::{Value, json};

use super::Client;
use super::entry::HookEntry;
use super::json_document::{input, options};

const HOOKS: &str = "hooks";
/// The command that our hooks run, whichever path the program has.
const PROGRAM: &str = "rootset";
const COMMAND: &str = "hook";

/// Events with their time limits in seconds: more than the program ever takes, so that a client that has a shorter limit where
/// none is given waits for the answer.
const OF_CLAUDE_CODE: [(&str, u32); 8] = [
    ("SessionStart", 3),
    ("UserPromptSubmit", 3),
    ("SubagentStart", 3),
    ("PreCompact", 5),
    ("PostCompact", 5),
    ("SubagentStop", 5),
    ("Stop", 5),
    ("SessionEnd", 5),
];
const OF_CODEX: [(&str, u32); 4] = [("SessionStart", 3), ("UserPromptSubmit", 3), ("PreCompact", 5), ("Stop", 5)];

/// As its makers document them; never tried.
const OF_CURSOR: [(&str, u32); 2] = [("sessionStart", 3), ("beforeSubmitPrompt", 3)];
/// Cursor reads no file of hooks without it.
const VERSION: &str = "version";

/// Where a result may be replaced, with the tool whose results may be: in the way of every call of it, so only where chosen.
const OF_RESULTS: (&str, u32) = ("PostToolUse", 3);

fn events(client: Client, entry: &HookEntry) -> impl Iterator<Item = &'static (&'static str, u32)> {
    let always: &[_] = match client {
        Client::ClaudeCode => &OF_CLAUDE_CODE,
        Client::Codex => &OF_CODEX,
        Client::Cursor => &OF_CURSOR,
        Client::VsCode => &[],
    };
    let of_results = (client == Client::ClaudeCode && entry.takes_results).then_some(&OF_RESULTS);
    always.iter().chain(of_results)
}

/// The text with our hooks in it, or without them. An error says in words what is wrong with the text.
pub fn edited(text: &str, client: Client, entry: Option<&HookEntry>) -> Result<String, String> {
    if text.trim().is_empty() && entry.is_none() {
        return Ok(text.to_owned());
    }
    if !text.trim().is_empty() {
        serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(|error| format!("it {}", json::fault(&error)))?;
    }
    let root = CstRootNode::parse(text, &options(false)).map_err(|error| error.to_string())?;
    let root = match (text.trim().is_empty(), root.object_value()) {
        (false, None) => return Err("it does not hold a JSON object".to_owned()),
        _ => root,
    };
    let root_object = root.object_value_or_create().ok_or("it does not hold a JSON object")?;
    match entry {
        Some(entry) => put_in(&root_object, client, entry)?,
        None => take_out(&root_object)?,
    }
    Ok(root.to_string())
}

/// What belongs in the file, for those who put it there by hand.
pub fn printed(client: Client, entry: &HookEntry) -> Value {
    let groups = events(client, entry).map(|it| (it.0.to_owned(), json!([group(client, entry, it)])));
    Value::Object(groups.collect())
}

fn group(client: Client, entry: &HookEntry, event: &(&str, u32)) -> Value {
    let (_, seconds) = event;
    let hook = match client {
        // No groups: an event has a list of hooks.
        Client::Cursor => return json!({"command": entry.in_shell(), "timeout": seconds}),
        // Without a shell.
        Client::ClaudeCode => {
            json!({"type": "command", "command": entry.command, "args": entry.arguments, "timeout": seconds})
        }
        _ => json!({"type": "command", "command": entry.in_shell(), "timeout": seconds}),
    };
    if *event == OF_RESULTS { json!({"matcher": REPEATING_TOOL, "hooks": [hook]}) } else { json!({"hooks": [hook]}) }
}

fn put_in(root: &CstObject, client: Client, entry: &HookEntry) -> Result<(), String> {
    if client == Client::Cursor && root.get(VERSION).is_none() {
        root.insert(0, VERSION, input(&json!(1)));
    }
    let hooks = root.object_value_or_create(HOOKS).ok_or_else(|| format!("`{HOOKS}` is not an object"))?;
    if !entry.takes_results {
        take_out_of(&hooks, OF_RESULTS.0);
    }
    for it @ (event, _) in events(client, entry) {
        let groups = hooks.array_value_or_create(event).ok_or_else(|| format!("`{HOOKS}.{event}` is not a list"))?;
        let wanted = group(client, entry, it);
        let ours: Vec<CstNode> = groups.elements().into_iter().filter(is_ours).collect();
        if ours.len() == 1 && ours[0].to_serde_value().as_ref() == Some(&wanted) {
            continue;
        }
        ours.into_iter().for_each(CstNode::remove);
        groups.append(input(&wanted));
    }
    Ok(())
}

fn take_out(root: &CstObject) -> Result<(), String> {
    let Some(member) = root.get(HOOKS) else { return Ok(()) };
    let hooks = member.object_value().ok_or_else(|| format!("`{HOOKS}` is not an object"))?;
    let events = hooks.properties().into_iter().filter_map(|event| event.name()?.decoded_value().ok());
    events.for_each(|event| take_out_of(&hooks, &event));
    if hooks.properties().is_empty() {
        member.remove();
    }
    Ok(())
}

fn take_out_of(hooks: &CstObject, event: &str) {
    let Some(event) = hooks.get(event) else { return };
    let Some(groups) = event.array_value() else { return };
    let ours: Vec<CstNode> = groups.elements().into_iter().filter(is_ours).collect();
    if ours.is_empty() {
        return;
    }
    ours.into_iter().for_each(CstNode::remove);
    if is_empty(&groups) {
        event.remove();
    }
}

fn is_empty(groups: &CstArray) -> bool {
    groups.elements().is_empty()
}

/// A group of which every hook runs `rootset hook`, or such a hook where there are no groups.
fn is_ours(group: &CstNode) -> bool {
    let Some(value) = group.to_serde_value() else { return false };
    let hooks = value[HOOKS].as_array();
    hooks.map_or_else(|| runs_us(&value), |hooks| !hooks.is_empty() && hooks.iter().all(runs_us))
}

fn runs_us(hook: &Value) -> bool {
    let command = hook["command"].as_str().unwrap_or_default();
    let is_program = |word: &str| {
        let word = word.trim_matches(['\'', '"']);
        word.rsplit(['/', '\\']).next().is_some_and(|name| name.trim_end_matches(".exe") == PROGRAM)
    };
    match hook["args"].as_array() {
        Some(arguments) => is_program(command) && arguments.first().and_then(Value::as_str) == Some(COMMAND),
        // In one line, the way of a shell; the path may hold blanks.
        None => command.split_once(&format!(" {COMMAND} ")).is_some_and(|(program, _)| is_program(program)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> HookEntry {
        HookEntry {
            command: "/o p/rootset".to_owned(),
            arguments: vec!["hook".to_owned(), "claude-code".to_owned()],
            takes_results: false,
        }
    }

    #[test]
    fn hooks_go_in_and_out_and_others_stay_to_the_byte() {
        let texts = [
            "{\n  \"model\": \"opus\"\n}\n",
            "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [{\"type\": \"command\", \"command\": \"beep\"}]\n      }\n    ]\n  },\n  \"n\": 1e2\n}\n",
        ];
        for client in [Client::ClaudeCode, Client::Codex] {
            let entry = HookEntry { arguments: vec!["hook".into(), client.as_str().into()], ..entry() };
            for text in texts {
                let with = edited(text, client, Some(&entry)).unwrap();
                assert!(with.contains("SessionStart"), "{with}");
                assert_eq!(edited(&with, client, Some(&entry)).unwrap(), with, "twice is once");
                assert_eq!(edited(&with, client, None).unwrap(), text);
            }
        }
    }

    #[test]
    fn cursor_has_a_version_and_no_groups() {
        let entry = HookEntry { arguments: vec!["hook".into(), "cursor".into()], ..entry() };
        let with = edited("", Client::Cursor, Some(&entry)).unwrap();
        let value: Value = serde_json::from_str(&with).unwrap();
        assert_eq!(value["version"], 1);
        assert_eq!(value["hooks"]["sessionStart"][0]["command"], "'/o p/rootset' hook cursor");
        assert_eq!(edited(&with, Client::Cursor, Some(&entry)).unwrap(), with, "twice is once");
        let others = "{\n  \"version\": 1,\n  \"hooks\": {\n    \"sessionStart\": [\n      {\"command\": \"beep\"}\n    ]\n  }\n}\n";
        let with = edited(others, Client::Cursor, Some(&entry)).unwrap();
        assert_eq!(edited(&with, Client::Cursor, None).unwrap(), others);
    }

    #[test]
    fn an_older_entry_is_replaced_and_not_repeated() {
        let with = edited("", Client::ClaudeCode, Some(&entry())).unwrap();
        let moved = HookEntry { command: "/elsewhere/rootset".to_owned(), ..entry() };
        let again = edited(&with, Client::ClaudeCode, Some(&moved)).unwrap();
        assert!(!again.contains("/o p/") && again.matches("/elsewhere/").count() == OF_CLAUDE_CODE.len(), "{again}");
        let value: Value = serde_json::from_str(&again).unwrap();
        assert!(value["hooks"]["SessionStart"][0]["hooks"][0]["timeout"].is_u64());
    }

    #[test]
    fn results_go_through_it_only_where_that_was_chosen() {
        let with = edited("", Client::ClaudeCode, Some(&HookEntry { takes_results: true, ..entry() })).unwrap();
        let value: Value = serde_json::from_str(&with).unwrap();
        assert_eq!(value["hooks"]["PostToolUse"][0]["matcher"], "Bash");
        let without = edited(&with, Client::ClaudeCode, Some(&entry())).unwrap();
        assert!(!without.contains("PostToolUse") && without.contains("SessionStart"), "{without}");
        let codex = edited("", Client::Codex, Some(&HookEntry { takes_results: true, ..entry() })).unwrap();
        assert!(!codex.contains("PostToolUse"));
    }

    #[test]
    fn only_what_runs_us_is_ours() {
        let ours = [
            json!({"command": "/a/rootset", "args": ["hook", "claude-code"]}),
            json!({"command": "'/a b/rootset' hook codex"}),
            json!({"command": "rootset hook codex --db x"}),
        ];
        assert!(ours.iter().all(runs_us));
        let others = [
            json!({"command": "/a/rootset", "args": ["mcp"]}),
            json!({"command": "/a/not-rootset", "args": ["hook"]}),
            json!({"command": "echo rootset"}),
            json!({}),
        ];
        assert!(!others.iter().any(runs_us));
    }

    #[test]
    fn text_that_is_no_settings_is_refused() {
        for text in ["[]", "{", "// a\n{}", "{\"hooks\": []}", "{\"hooks\": {\"Stop\": {}}}"] {
            assert!(edited(text, Client::ClaudeCode, Some(&entry())).is_err(), "{text}");
        }
    }
}
