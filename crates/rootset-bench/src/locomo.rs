//! How well search finds the turns of a conversation that answer a question about it.
//!
//! One workspace per conversation; every turn is a memory, added in order; every question is asked once. A question
//! without evidence has no right answer and is left out. Rules that the figures depend on:
//!
//! - A turn that repeats an earlier one of the same speaker and session word for word is the same memory. In the ranking
//!   that memory takes one place for each of its turns, in their order, so that the top k are never more than k turns.
//! - Evidence that names a turn which is not in the file, or which the service refused, counts as not found.

mod report;

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::answers::baseline::{Baseline, Lending};
use crate::answers::conversation::{self, Conversation};
use crate::answers::metrics::{RANKS, Scores};
use crate::client::{BATCH_MEMORIES, Client};
use crate::database::{self, BenchFolder};
use crate::output::print_report;

/// Tokens of an answer, so that none of its results is cut.
const ANSWER_TOKENS_MAX: usize = 1_000_000;

/// Recall and nDCG of search on conversations with questions.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// JSON lines: {id, turns: [{id, session, speaker, text}], questions: [{question, category, evidence}]}.
    file: PathBuf,
    /// A new file, or an empty database on a server (`postgres://…`), instead of a temporary file.
    #[arg(long, value_name = "DATABASE")]
    db: Option<String>,
    /// Folder for the temporary database; absent: the system's temporary folder.
    #[arg(long, value_name = "FOLDER", conflicts_with = "db")]
    dir: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let conversations = conversation::read(&arguments.file)?;
    let named = arguments.db.as_deref().map(database::named).transpose()?;
    // It lives as long as the measurement.
    let (database, _folder) = match named {
        Some(named) => (named, None),
        None => {
            let folder = BenchFolder::create(arguments.dir.as_deref())?;
            (folder.file("locomo.db").into(), Some(folder))
        }
    };
    let client = Client::open(&database)?;
    let (mut rootset, mut bm25, mut bm25_lent) = (Scores::default(), Scores::default(), Scores::default());
    for (number, conversation) in (1..).zip(&conversations) {
        let client = client.in_new_workspace(&format!("conversation-{number}"))?;
        let turns_of = add_turns(&client, conversation)?;
        let baseline = Baseline::new(conversation);
        for question in conversation.questions.iter().filter(|it| !it.evidence.is_empty()) {
            rootset.add(question, &ask(&client, &turns_of, &question.question)?);
            if !arguments.json {
                bm25.add(question, &baseline.rank(&question.question, Lending::None));
                bm25_lent.add(question, &baseline.rank(&question.question, Lending::Quarter));
            }
        }
    }
    ensure!(rootset.questions() > 0, "`{}` has no question with evidence", arguments.file.display());
    let summary = rootset.summary();
    print_report(&summary, arguments.json, || report::text(&summary, &bm25.summary(), &bm25_lent.summary()))
}

/// From a memory's id to the turns that it holds.
type TurnsOf<'a> = HashMap<String, Vec<&'a str>>;

fn add_turns<'a>(client: &Client, conversation: &'a Conversation) -> anyhow::Result<TurnsOf<'a>> {
    let mut turns_of: TurnsOf<'a> = HashMap::new();
    for turns in conversation.turns.chunks(BATCH_MEMORIES) {
        let batch: Vec<Value> = turns
            .iter()
            .map(|turn| {
                let topic = format!("{}, session {}", turn.speaker, turn.session);
                json!({ "topic": topic, "context": turn.text })
            })
            .collect();
        for (turn, memory) in turns.iter().zip(client.add_batch(batch)?) {
            match memory {
                Some(memory) => turns_of.entry(memory).or_default().push(&turn.id),
                None => eprintln!("WARNING: turn `{}` of `{}` was refused", turn.id, conversation.id),
            }
        }
    }
    Ok(turns_of)
}

/// The best turns, at most as many as the deepest figure needs.
fn ask<'a>(client: &Client, turns_of: &TurnsOf<'a>, question: &str) -> anyhow::Result<Vec<&'a str>> {
    let deepest = RANKS[RANKS.len() - 1];
    let request = json!({ "query": question, "limit": deepest, "max_tokens": ANSWER_TOKENS_MAX });
    let answer = client.call("search_memory", request)?;
    let results = answer["results"].as_array().context("`search_memory` answered without `results`")?;
    let mut ranked: Vec<&'a str> = results
        .iter()
        .filter_map(|result| turns_of.get(result["memory_id"].as_str()?))
        .flat_map(|turns| turns.iter().copied())
        .collect();
    ranked.truncate(deepest);
    Ok(ranked)
}
