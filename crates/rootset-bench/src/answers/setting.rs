//! Ways of writing conversations into workspaces, and what search finds of them then.

use std::collections::HashMap;

use anyhow::bail;
use serde_json::{Value, json};

use super::conversation::{Conversation, Question, Turn};
use super::metrics::{DEEPEST, Scores};
use crate::client::{BATCH_MEMORIES, Client};

/// Tokens of an answer, so that none of its results is cut.
const ANSWER_TOKENS_MAX: usize = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topics {
    /// Speaker and session.
    Given,
    None,
    /// The speaker is a tag instead.
    AsTags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// A workspace for each conversation.
    Separate(Topics),
    OneAfterTheOther,
    Interleaved,
}

/// A turn and the number of its conversation.
type Said<'a> = (usize, &'a Turn);
/// From a memory's id to the turns that it holds.
type TurnsOf<'a> = HashMap<String, Vec<Said<'a>>>;

impl Setting {
    pub fn name(self) -> &'static str {
        match self {
            Self::Separate(Topics::Given) => "rootset, topics",
            Self::Separate(Topics::None) => "rootset, no topics",
            Self::Separate(Topics::AsTags) => "rootset, speakers as tags",
            Self::OneAfterTheOther => "one workspace, one after the other",
            Self::Interleaved => "one workspace, interleaved",
        }
    }

    pub fn measure(self, client: &Client, conversations: &[Conversation]) -> anyhow::Result<Scores> {
        let mut scores = Scores::default();
        let numbered = || conversations.iter().enumerate();
        if let Self::Separate(topics) = self {
            let mut written = Vec::with_capacity(conversations.len());
            for (number, conversation) in numbered() {
                let client = client.in_new_workspace(&format!("conversation-{number}"))?;
                let turns: Vec<Said<'_>> = conversation.turns.iter().map(|turn| (number, turn)).collect();
                written.push((add(&client, &turns, topics)?, client));
            }
            for ((number, conversation), (turns_of, client)) in numbered().zip(&written) {
                ask(client, turns_of, number, conversation, &mut scores)?;
                // The next conversation, the last one's being the first, knows nothing of what this one is asked.
                if written.len() > 1 {
                    ask_in_vain(&written[(number + 1) % written.len()].1, conversation, &mut scores)?;
                }
            }
            return Ok(scores);
        }
        let mut turns: Vec<(usize, Said<'_>)> = numbered()
            .flat_map(|(number, it)| it.turns.iter().enumerate().map(move |(place, turn)| (place, (number, turn))))
            .collect();
        if self == Self::Interleaved {
            turns.sort_by_key(|(place, _)| *place);
        }
        let turns: Vec<Said<'_>> = turns.into_iter().map(|(_, said)| said).collect();
        let turns_of = add(client, &turns, Topics::Given)?;
        numbered().try_for_each(|(number, it)| ask(client, &turns_of, number, it, &mut scores))?;
        Ok(scores)
    }
}

fn add<'a>(client: &Client, turns: &[Said<'a>], topics: Topics) -> anyhow::Result<TurnsOf<'a>> {
    let mut turns_of: TurnsOf<'a> = HashMap::new();
    let turns: Vec<&Said<'a>> = turns.iter().filter(|(_, turn)| !turn.text.is_empty()).collect();
    for turns in turns.chunks(BATCH_MEMORIES) {
        let batch: Vec<Value> = turns.iter().map(|(number, turn)| memory(*number, turn, topics)).collect();
        for (said, memory) in turns.iter().zip(client.add_batch(batch)?) {
            match memory {
                Some(memory) => turns_of.entry(memory).or_default().push(**said),
                None => eprintln!("WARNING: turn `{}` was refused", said.1.id),
            }
        }
    }
    client.make_vectors()?;
    Ok(turns_of)
}

fn memory(number: usize, turn: &Turn, topics: Topics) -> Value {
    let mut memory = json!({ "context": turn.text, "thread": format!("conversation-{number}") });
    match topics {
        Topics::Given => memory["topic"] = format!("{}, session {}", turn.speaker, turn.session).into(),
        Topics::AsTags => memory["tags"] = json!([turn.speaker]),
        Topics::None => {}
    }
    if let Some(day) = day_of(&turn.at) {
        memory["occurred_at"] = day.into();
    }
    memory
}

/// The day of `1:56 pm on 8 May, 2023`, in milliseconds as text.
fn day_of(at: &str) -> Option<String> {
    let (first, _) = rootset_text::dates::periods(at, None).into_iter().next()?;
    Some(first.to_string())
}

fn ask(
    client: &Client,
    turns_of: &TurnsOf<'_>,
    number: usize,
    conversation: &Conversation,
    scores: &mut Scores,
) -> anyhow::Result<()> {
    for question in answerable(conversation) {
        let (results, is_silent) = answer(client, &question.question)?;
        let ranked: Vec<&str> = results
            .iter()
            .filter_map(|result| turns_of.get(result["memory_id"].as_str()?))
            .flatten()
            // Turns of other conversations take a place and are never evidence.
            .map(|(of, turn)| if *of == number { turn.id.as_str() } else { "" })
            .collect();
        scores.add(question, &ranked);
        scores.note_silence(true, is_silent);
    }
    Ok(())
}

fn ask_in_vain(client: &Client, conversation: &Conversation, scores: &mut Scores) -> anyhow::Result<()> {
    for question in answerable(conversation) {
        scores.note_silence(false, answer(client, &question.question)?.1);
    }
    Ok(())
}

fn answerable(conversation: &Conversation) -> impl Iterator<Item = &Question> {
    conversation.questions.iter().filter(|it| !it.evidence.is_empty())
}

/// The results, and whether the answer says that nothing is relevant.
fn answer(client: &Client, question: &str) -> anyhow::Result<(Vec<Value>, bool)> {
    let request = json!({ "query": question, "limit": DEEPEST, "max_tokens": ANSWER_TOKENS_MAX });
    let mut answer = client.call("search_memory", request)?;
    let is_silent = answer["nothing_relevant"] == true;
    match answer["results"].take() {
        Value::Array(results) => Ok((results, is_silent)),
        _ => bail!("`search_memory` answered without `results`"),
    }
}
