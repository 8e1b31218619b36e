//! What the clients of agents tell their hooks, and what a hook may answer: Claude Code, Codex, Gemini CLI and Cursor.
//!
//! As measured with Claude Code 2.1.197 and 2.1.325 and Codex 0.166.0. Gemini CLI and Cursor are as their makers document them, and
//! were never tried: they get what is told at a start and at a prompt, and nothing else. Events and fields that are not known are ignored, because the
//! next version has more of them. An answer is only what the event allows: context where the client takes it, and never where it
//! would make the agent go on or print an error into its window.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::blocks::text_at;

/// Longer ones are no event of a client.
pub const EVENT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Above that, Claude Code shows the model a preview of 2 KB instead.
const CONTEXT_CHARS_MAX: usize = 10_000;

/// The longest that any event may take; in force until the event is known.
pub const DEADLINE_MAX: Duration = Duration::from_secs(2);

/// Whose hooks they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookClient {
    ClaudeCode,
    Codex,
    GeminiCli,
    Cursor,
}

impl HookClient {
    pub const ALL: [Self; 4] = [Self::ClaudeCode, Self::Codex, Self::GeminiCli, Self::Cursor];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini-cli",
            Self::Cursor => "cursor",
        }
    }

    /// Whether the shape of its transcripts is known.
    pub fn has_known_transcripts(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Codex)
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.as_str() == word)
    }
}

/// How a window came to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    Startup,
    /// The window is that of an earlier process, and what was put into it is still there.
    Resume,
    Fork,
    Clear,
    Compact,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    Start {
        beginning: Beginning,
    },
    Prompt {
        text: String,
    },
    SubagentStart,
    /// A window is about to be summarised, because it is full or because the person says so.
    PreCompact {
        is_manual: bool,
    },
    PostCompact {
        summary: String,
    },
    /// A subagent is done. The one that summarises a window has no type, and its last message is the summary.
    SubagentStop {
        is_summariser: bool,
        last_message: String,
    },
    /// A tool gave a result, which the model has not seen yet.
    ToolResult {
        tool: String,
        call: String,
        response: Value,
        /// Its window is another one than the session's.
        is_of_subagent: bool,
    },
    Stop,
    End,
}

impl Happening {
    /// As Claude Code calls it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Start { .. } => "SessionStart",
            Self::Prompt { .. } => "UserPromptSubmit",
            Self::SubagentStart => "SubagentStart",
            Self::PreCompact { .. } => "PreCompact",
            Self::PostCompact { .. } => "PostCompact",
            Self::SubagentStop { .. } => "SubagentStop",
            Self::ToolResult { .. } => "PostToolUse",
            Self::Stop => "Stop",
            Self::End => "SessionEnd",
        }
    }

    /// How long whoever waits for the answer may be kept waiting.
    pub fn deadline(&self) -> Duration {
        Duration::from_millis(match self {
            Self::Prompt { .. } | Self::ToolResult { .. } => 150,
            Self::Start { .. } | Self::SubagentStart => 400,
            Self::Stop | Self::End => 1_000,
            Self::PreCompact { .. } | Self::PostCompact { .. } | Self::SubagentStop { .. } => {
                DEADLINE_MAX.as_millis() as u64
            }
        })
    }

    /// Whether the client puts a hook's context into the window here.
    fn takes_context(&self) -> bool {
        matches!(self, Self::Start { .. } | Self::Prompt { .. } | Self::SubagentStart)
    }
}

/// One event of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookEvent {
    pub session_id: String,
    pub transcript_path: Option<String>,
    /// The folder that the client works in at the moment.
    pub folder: Option<String>,
    pub happening: Happening,
}

/// An event, as a client writes it; `None` if it is none that says anything here.
pub fn read_hook_event(json: &[u8]) -> Option<HookEvent> {
    if json.len() > EVENT_BYTES_MAX {
        return None;
    }
    let value: Value = serde_json::from_slice(json).ok()?;
    let happening = happening(&value)?;
    let text = |field: &str| text_at(&value, field).filter(|text| !text.is_empty()).map(str::to_owned);
    let first_root = || value.pointer("/workspace_roots/0").and_then(Value::as_str).map(str::to_owned);
    Some(HookEvent {
        session_id: text("session_id").or_else(|| text("conversation_id"))?,
        transcript_path: text("transcript_path"),
        folder: text("cwd").or_else(first_root),
        happening,
    })
}

fn happening(value: &Value) -> Option<Happening> {
    let text = |field: &str| text_at(value, field).unwrap_or_default().to_owned();
    Some(match text_at(value, "hook_event_name")? {
        "SessionStart" | "sessionStart" => Happening::Start {
            beginning: match text_at(value, "source").unwrap_or("startup") {
                "resume" => Beginning::Resume,
                "fork" => Beginning::Fork,
                "clear" => Beginning::Clear,
                "compact" => Beginning::Compact,
                _ => Beginning::Startup,
            },
        },
        "UserPromptSubmit" | "BeforeAgent" | "beforeSubmitPrompt" => Happening::Prompt { text: text("prompt") },
        "SubagentStart" => Happening::SubagentStart,
        "PreCompact" => Happening::PreCompact { is_manual: text_at(value, "trigger") == Some("manual") },
        "PostCompact" => Happening::PostCompact { summary: text("compact_summary") },
        "SubagentStop" => Happening::SubagentStop {
            is_summariser: text_at(value, "agent_type") == Some(""),
            last_message: text("last_assistant_message"),
        },
        "PostToolUse" => Happening::ToolResult {
            tool: text("tool_name"),
            call: text("tool_use_id"),
            response: value.get("tool_response").cloned().unwrap_or_default(),
            is_of_subagent: value.get("agent_id").is_some(),
        },
        "Stop" => Happening::Stop,
        "SessionEnd" | "sessionEnd" => Happening::End,
        _ => return None,
    })
}

/// What a hook has to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookAnswer {
    /// For the window.
    pub context: Option<String>,
    /// For the model that summarises the window.
    pub instructions: Option<String>,
    /// One line for the person.
    pub remark: Option<String>,
    /// What the model sees in the place of a tool's result, in the tool's own shape.
    pub replacement: Option<Value>,
}

impl HookAnswer {
    pub fn of_context(text: String) -> Self {
        Self { context: Some(text), ..Self::default() }
    }

    /// As it is printed: nothing where there is nothing to say, or where the event does not allow it.
    pub fn printed(&self, client: HookClient, happening: &Happening) -> String {
        if matches!(happening, Happening::PreCompact { .. }) {
            // Claude Code hands everything that is printed here to the summariser, JSON too; Codex nothing.
            return match client {
                HookClient::ClaudeCode => within(self.instructions.as_deref().unwrap_or_default()).to_owned(),
                _ => String::new(),
            };
        }
        if client == HookClient::Cursor {
            return self.printed_for_cursor(happening);
        }
        let event_name = match (client, happening) {
            (HookClient::GeminiCli, Happening::Prompt { .. }) => "BeforeAgent",
            _ => happening.name(),
        };
        let mut answer = Map::new();
        if let Some(remark) = self.remark.as_deref().filter(|it| !it.is_empty()) {
            answer.insert("systemMessage".to_owned(), remark.into());
        }
        if let Some(context) = self.context.as_deref().filter(|it| !it.is_empty() && happening.takes_context()) {
            answer.insert("suppressOutput".to_owned(), true.into());
            let context = json!({"hookEventName": event_name, "additionalContext": within(context)});
            answer.insert("hookSpecificOutput".to_owned(), context);
        }
        if let (Some(replacement), HookClient::ClaudeCode, Happening::ToolResult { .. }) =
            (&self.replacement, client, happening)
        {
            answer.insert("suppressOutput".to_owned(), true.into());
            let output = json!({"hookEventName": event_name, "updatedToolOutput": replacement});
            answer.insert("hookSpecificOutput".to_owned(), output);
        }
        if answer.is_empty() { String::new() } else { Value::Object(answer).to_string() }
    }
}

impl HookAnswer {
    /// A prompt goes on whatever is said beside it; Cursor has no line for the person but with a refusal.
    fn printed_for_cursor(&self, happening: &Happening) -> String {
        let context = self.context.as_deref().filter(|it| !it.is_empty()).map(within);
        let Some(context) = context else { return String::new() };
        match happening {
            Happening::Start { .. } => json!({"additional_context": context}).to_string(),
            Happening::Prompt { .. } => json!({"continue": true, "additional_context": context}).to_string(),
            _ => String::new(),
        }
    }
}

fn within(text: &str) -> &str {
    text.char_indices().nth(CONTEXT_CHARS_MAX).map_or(text, |(end, _)| &text[..end])
}

/// How prompts begin that a client or a subagent made: nobody said them.
const MADE_BY_CLIENTS: [&str; 6] =
    ["<task-notification>", "<local-command-", "<command-", "<bash-", "<system-reminder>", "[Request interrupted"];

/// Whether a person typed this prompt.
pub fn is_said_by_user(prompt: &str) -> bool {
    let prompt = prompt.trim_start();
    !prompt.is_empty() && !MADE_BY_CLIENTS.iter().any(|beginning| prompt.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<HookEvent> {
        read_hook_event(text.as_bytes())
    }

    #[test]
    fn what_is_not_known_is_ignored() {
        let event =
            read(r#"{"session_id":"s","hook_event_name":"SessionStart","source":"clear","later":{"a":1}}"#).unwrap();
        assert_eq!(event.happening, Happening::Start { beginning: Beginning::Clear });
        assert_eq!((event.folder, event.transcript_path), (None, None));
        let nonsense = [
            "",
            "{",
            "[]",
            "null",
            "\"SessionStart\"",
            "{}",
            r#"{"hook_event_name":"SessionStart"}"#,
            r#"{"session_id":"s","hook_event_name":"PreToolUse"}"#,
            r#"{"session_id":7,"hook_event_name":"Stop"}"#,
            r#"{"session_id":"","hook_event_name":"Stop"}"#,
            "\u{0}",
        ];
        nonsense.iter().for_each(|text| assert_eq!(read(text), None, "{text}"));
        assert_eq!(read_hook_event(&[0xff, 0xfe]), None);
    }

    #[test]
    fn the_summariser_is_the_subagent_without_a_type() {
        let of = |fields: &str| {
            let text = format!(
                r#"{{"session_id":"s","hook_event_name":"SubagentStop","last_assistant_message":"m"{fields}}}"#
            );
            match read(&text).unwrap().happening {
                Happening::SubagentStop { is_summariser, .. } => is_summariser,
                other => panic!("{other:?}"),
            }
        };
        assert!(of(r#","agent_type":"""#));
        assert!(!of(r#","agent_type":"Explore""#) && !of(""));
    }

    #[test]
    fn an_answer_says_only_what_its_event_allows() {
        let answer = HookAnswer {
            context: Some("c".to_owned()),
            instructions: Some("i".to_owned()),
            remark: Some("r".to_owned()),
            replacement: Some(json!({"stdout": "s"})),
        };
        let printed = |happening: &Happening| answer.printed(HookClient::ClaudeCode, happening);
        let start = Happening::Start { beginning: Beginning::Startup };
        let told: Value = serde_json::from_str(&printed(&start)).unwrap();
        let context = json!({"additionalContext": "c", "hookEventName": "SessionStart"});
        assert_eq!(told, json!({"hookSpecificOutput": context, "suppressOutput": true, "systemMessage": "r"}));
        assert_eq!(printed(&Happening::PreCompact { is_manual: true }), "i");
        assert_eq!(answer.printed(HookClient::Codex, &Happening::PreCompact { is_manual: true }), "");
        let last_message = String::new();
        for silent in [
            Happening::PostCompact { summary: String::new() },
            Happening::SubagentStop { is_summariser: false, last_message },
            Happening::Stop,
            Happening::End,
        ] {
            assert_eq!(printed(&silent), r#"{"systemMessage":"r"}"#, "{silent:?}");
            assert_eq!(HookAnswer::of_context("c".into()).printed(HookClient::ClaudeCode, &silent), "");
        }
        assert_eq!(HookAnswer::default().printed(HookClient::Codex, &start), "");
        let text = r#"{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t","tool_response":{}}"#;
        let result = read(text).unwrap().happening;
        let told: Value = serde_json::from_str(&printed(&result)).unwrap();
        let output = json!({"hookEventName": "PostToolUse", "updatedToolOutput": {"stdout": "s"}});
        assert_eq!(told, json!({"hookSpecificOutput": output, "suppressOutput": true, "systemMessage": "r"}));
        assert!(!answer.printed(HookClient::Codex, &result).contains("stdout"));
        let long = HookAnswer::of_context("é".repeat(20_000)).printed(HookClient::Codex, &start);
        assert_eq!(long.matches('é').count(), CONTEXT_CHARS_MAX);
    }

    #[test]
    fn gemini_and_cursor_are_answered_as_they_document_it() {
        let start =
            r#"{"session_id":"g","hook_event_name":"SessionStart","source":"startup","cwd":"/p","timestamp":"t"}"#;
        let prompt = r#"{"session_id":"g","hook_event_name":"BeforeAgent","prompt":"why?","cwd":"/p"}"#;
        let answer = HookAnswer::of_context("c".to_owned());
        let said = |client, text: &str| answer.printed(client, &read(text).unwrap().happening);
        let gemini = |name: &str| json!({"hookEventName": name, "additionalContext": "c"});
        for (text, name) in [(start, "SessionStart"), (prompt, "BeforeAgent")] {
            let told: Value = serde_json::from_str(&said(HookClient::GeminiCli, text)).unwrap();
            assert_eq!(told["hookSpecificOutput"], gemini(name));
        }
        let start = r#"{"conversation_id":"c1","hook_event_name":"sessionStart","workspace_roots":["/p"],"cursor_version":"2"}"#;
        let prompt = r#"{"conversation_id":"c1","hook_event_name":"beforeSubmitPrompt","prompt":"why?","workspace_roots":["/p"]}"#;
        let event = read(start).unwrap();
        assert_eq!((event.session_id.as_str(), event.folder.as_deref()), ("c1", Some("/p")));
        assert_eq!(said(HookClient::Cursor, start), r#"{"additional_context":"c"}"#);
        assert_eq!(said(HookClient::Cursor, prompt), r#"{"continue":true,"additional_context":"c"}"#);
        assert_eq!(HookAnswer::default().printed(HookClient::Cursor, &Happening::Stop), "");
        assert_eq!(answer.printed(HookClient::GeminiCli, &Happening::Stop), "");
    }

    #[test]
    fn what_a_client_makes_nobody_said() {
        for made in ["<task-notification>x", " <local-command-stdout>", "<command-name>/compact", "", "  "] {
            assert!(!is_said_by_user(made), "{made}");
        }
        assert!(is_said_by_user("use <b> here") && is_said_by_user("No."));
    }
}
