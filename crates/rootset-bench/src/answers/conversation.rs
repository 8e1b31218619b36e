//! Conversations with questions and the turns that answer them: one per line of a file.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::Context;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub struct Conversation {
    pub id: String,
    pub turns: Vec<Turn>,
    pub questions: Vec<Question>,
}

#[derive(Debug, Deserialize)]
pub struct Turn {
    pub id: String,
    pub session: u32,
    pub speaker: String,
    pub text: String,
    /// When it was said, as the file writes it: `1:56 pm on 8 May, 2023`.
    #[serde(default)]
    pub at: String,
}

#[derive(Debug, Deserialize)]
pub struct Question {
    pub question: String,
    pub category: String,
    pub evidence: Vec<String>,
    /// The turns that say what was so once, and those that say what is so now.
    #[serde(skip)]
    pub update: Option<(Vec<String>, Vec<String>)>,
}

pub fn read(path: &Path) -> anyhow::Result<Vec<Conversation>> {
    let file = File::open(path).with_context(|| format!("cannot open `{}`", path.display()))?;
    let mut conversations = Vec::new();
    for (number, line) in (1..).zip(BufReader::new(file).lines()) {
        let line = line.with_context(|| format!("cannot read line {number} of `{}`", path.display()))?;
        if !line.trim().is_empty() {
            let conversation = serde_json::from_str(&line)
                .with_context(|| format!("line {number} of `{}` is not a conversation", path.display()))?;
            conversations.push(conversation);
        }
    }
    Ok(conversations)
}
