//! Whether message lists stay ones that an API accepts, whatever leaves: recorded sessions become lists with tool calls, are
//! brought into a session, pruned, restored and compressed at random, and rendered after every change.
//!
//! It measures no time: it reports how many lists were rendered, and every problem that the validator found.

use std::path::PathBuf;

use anyhow::{Context, ensure};
use rootset_messages::{Format, Rendered, validate};
use serde_json::{Value, json};

use crate::client::Client;
use crate::context::transcript::{self, Role, Transcript};
use crate::database::BenchFolder;
use crate::random::Random;

/// Validity of rendered message lists after random prunes of recorded sessions.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Sessions as for `context`.
    file: PathBuf,
    /// Changes of each session.
    #[arg(long, default_value_t = 30)]
    changes: usize,
    /// The same seed makes the same changes.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

const FORMATS: [(&str, Format); 2] = [("anthropic", Format::Anthropic), ("openai", Format::OpenAi)];

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let transcripts = transcript::read(&arguments.file)?;
    let folder = BenchFolder::create(None)?;
    let client = Client::open(&folder.file("messages.db").into())?;
    let mut random = Random::new(arguments.seed);
    let (mut lists, mut problems) = (0, Vec::new());
    for transcript in &transcripts {
        for (format, _) in FORMATS {
            let session = format!("{}-{format}", transcript.id);
            let list = message_list(transcript, format);
            client.call("context_gc_configure", json!({"session_id": session, "tokenizer": "chars/4"}))?;
            client.call("context_import", json!({"session_id": session, "format": format, "messages": list}))?;
            let whole = client.call("context_get", json!({"session_id": session, "format": format}))?;
            ensure!(rendered_as_given(&whole, &list), "{session}: an unpruned list is not what was imported");
            for _ in 0..arguments.changes {
                change(&client, &session, &mut random)?;
                for (name, wanted) in FORMATS {
                    let request = json!({"session_id": session, "format": name, "placeholders": random.happens(0.5)});
                    let answer = client.call("context_get", request)?;
                    let found = validate(wanted, &rendered(&answer)?);
                    lists += 1;
                    problems.extend(found.into_iter().map(|problem| format!("{session} as {name}: {problem}")));
                }
            }
        }
    }
    println!("{} sessions, {lists} lists rendered, {} problems", transcripts.len() * FORMATS.len(), problems.len());
    for problem in problems.iter().take(20) {
        println!("{problem}");
    }
    ensure!(problems.is_empty(), "an API would refuse some of these lists");
    Ok(())
}

fn rendered_as_given(answer: &Value, list: &Value) -> bool {
    match list.get("messages") {
        Some(messages) => answer["messages"] == *messages && answer["system"] == list["system"],
        None => answer["messages"] == *list,
    }
}

fn rendered(answer: &Value) -> anyhow::Result<Rendered> {
    let messages = answer["messages"].as_array().context("`context_get` answered without `messages`")?.clone();
    Ok(Rendered { system: answer.get("system").cloned(), messages })
}

/// Prunes some, restores some, compresses one, or lets the collector free a part.
fn change(client: &Client, session: &str, random: &mut Random) -> anyhow::Result<()> {
    let all = client.call("context_export", json!({"session_id": session, "include": "both"}))?;
    let segments = all["segments"].as_array().context("`context_export` answered without `segments`")?;
    let ids = |state: &str| -> Vec<String> {
        let chosen = segments.iter().filter(|segment| segment["state"] == state);
        chosen.filter_map(|segment| segment["segment_id"].as_str().map(str::to_owned)).collect()
    };
    let (active, stashed) = (ids("active"), ids("stashed"));
    let mut some = |ids: &[String]| -> Vec<String> {
        let count = random.between(1, 8);
        (0..count).filter_map(|_| ids.get(random.below(ids.len().max(1))).cloned()).collect()
    };
    let (to_prune, to_restore) = (some(&active), some(&stashed));
    match random.below(5) {
        0 if !to_restore.is_empty() => {
            client.call("context_restore", json!({"session_id": session, "segment_ids": to_restore}))?;
        }
        1 => {
            let analysis =
                client.call("context_gc_analyze", json!({"session_id": session, "target_tokens": 20_000}))?;
            let plan = &analysis["plan"]["plan_id"];
            client.call("context_gc_prune", json!({"session_id": session, "plan_id": plan}))?;
        }
        2 if !to_prune.is_empty() => {
            // Refused where the summary would be longer.
            let request = json!({"session_id": session, "segment_id": to_prune[0], "summary": "in short: it was so"});
            let _ = client.call("context_compress", request);
        }
        _ if !to_prune.is_empty() => {
            client.call("context_gc_prune", json!({"session_id": session, "segment_ids": to_prune}))?;
        }
        _ => {}
    }
    Ok(())
}

/// What the assistant says before a tool answers is a call of that tool.
fn message_list(transcript: &Transcript, format: &str) -> Value {
    let is_anthropic = format == "anthropic";
    let segments = &transcript.segments;
    let mut system = Vec::new();
    let mut messages = Vec::new();
    for (place, segment) in segments.iter().enumerate() {
        // APIs refuse empty texts.
        let text = if segment.text.trim().is_empty() { "(nothing)" } else { segment.text.as_str() };
        let is_call = segments.get(place + 1).is_some_and(|next| next.role == Role::Tool);
        let is_result = place > 0 && segments[place - 1].role == Role::Assistant;
        let arguments = json!({"command": place}).to_string();
        match (segment.role, is_anthropic) {
            (Role::System, true) => system.push(json!({"type": "text", "text": text})),
            (Role::System, false) => messages.push(json!({"role": "system", "content": text})),
            (Role::Assistant, true) if is_call => messages.push(json!({"role": "assistant", "content": [
                {"type": "text", "text": text},
                {"type": "tool_use", "id": format!("call_{place}"), "name": "run", "input": {"command": place}},
            ]})),
            (Role::Assistant, false) if is_call => messages.push(json!({"role": "assistant", "content": text,
                "tool_calls": [{"id": format!("call_{place}"), "type": "function",
                    "function": {"name": "run", "arguments": arguments}}]})),
            (Role::Tool, true) if is_result => messages.push(json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": format!("call_{}", place - 1), "content": text},
            ]})),
            (Role::Tool, false) if is_result => messages.push(json!({
                "role": "tool", "tool_call_id": format!("call_{}", place - 1), "content": text,
            })),
            (Role::Assistant, _) => messages.push(json!({"role": "assistant", "content": text})),
            (Role::Task | Role::Tool, _) => messages.push(json!({"role": "user", "content": text})),
        }
    }
    if is_anthropic && !system.is_empty() {
        json!({"system": system, "messages": messages})
    } else {
        Value::Array(messages)
    }
}
