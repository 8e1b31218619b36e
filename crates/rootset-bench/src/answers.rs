//! How well search answers questions, on several kinds of text and in several ways of writing them.
//!
//! Each file or folder is measured with topics, without, and with speakers as tags, one workspace per conversation; a file with several
//! conversations also in one workspace, written one after the other and interleaved, each with a thread of its own. Plain
//! BM25 over the same turns stands beside it and, with an embedder, the plain cosine of what the model reads at once of each
//! turn. Rules that the figures depend on:
//!
//! - Every turn is a memory, added in order, with its time where the file has one. Turns that are the same memory share its
//!   place in the ranking, in their order.
//! - Questions without evidence are left out. Evidence that is not in the file counts as not found.
//! - *Newer first*: of a question with an old and a new answer, the best turn of the new one stands above the best of the
//!   old one among the first fifty; if neither is found it does not count.
//! - *Silence*: every question is also asked in the workspace of the next conversation, which cannot answer it. An answer is
//!   silent if it says that nothing is relevant.
//! - All vectors are made before anything is asked.

pub mod baseline;
mod beam;
pub mod conversation;
mod cosine;
pub mod metrics;
mod report;
mod setting;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::ensure;
use serde::Serialize;

use crate::client::Client;
use crate::database::BenchFolder;
use crate::embedder;
use crate::output::print_report;
use baseline::{Baseline, Lending};
use conversation::Conversation;
use metrics::{Means, Scores, Silence};
use setting::{Setting, Topics};

/// Ranking of search on conversations with questions, in every way of writing them.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Files as for `locomo`, or folders of chats: NUMBER/chat.json with NUMBER/probing_questions/probing_questions.json.
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// Only conversations whose place in the data leaves one of these remainders by 10, to keep a part unread.
    #[arg(long, value_name = "REMAINDERS", value_delimiter = ',')]
    only: Vec<usize>,
    /// `local:FOLDER` (a sentence transformer) or `static:FOLDER` (a table of vectors); absent: words alone.
    #[arg(long, value_name = "EMBEDDER")]
    embedder: Option<String>,
    /// Keep vectors in this file: a later run takes them from there.
    #[arg(long, value_name = "FILE", requires = "embedder")]
    vectors: Option<PathBuf>,
    /// Folder for the temporary databases; absent: the system's temporary folder.
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What was measured of one file or folder.
#[derive(Debug, Serialize)]
pub struct Measured {
    data: String,
    conversations: usize,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
pub struct Row {
    name: &'static str,
    #[serde(flatten)]
    means: Means,
    /// Questions whose newer answer came first, and questions with an older and a newer one.
    newer_first: usize,
    updates: usize,
    /// Absent where nothing says that nothing is relevant.
    silence: Option<Silence>,
}

impl Row {
    fn new(name: &'static str, scores: &Scores) -> Self {
        let (newer_first, updates) = scores.newer_first();
        Self { name, means: scores.summary().overall, newer_first, updates, silence: scores.silence() }
    }
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let measured =
        arguments.data.iter().map(|data| measure(data, arguments)).collect::<anyhow::Result<Vec<Measured>>>()?;
    print_report(&measured, arguments.json, || report::text(&measured))
}

fn measure(data: &Path, arguments: &Arguments) -> anyhow::Result<Measured> {
    let embedders =
        arguments.embedder.as_deref().map(|name| embedder::of(name, arguments.vectors.as_deref())).transpose()?;
    let is_file = data.is_file();
    let all = if is_file { conversation::read(data)? } else { beam::read(data)? };
    let is_wanted = |place: usize| arguments.only.is_empty() || arguments.only.contains(&(place % 10));
    let conversations: Vec<Conversation> =
        all.into_iter().enumerate().filter(|(place, _)| is_wanted(place + 1)).map(|(_, it)| it).collect();
    let mut bm25 = Scores::default();
    for conversation in &conversations {
        let baseline = Baseline::new(conversation);
        for question in conversation.questions.iter().filter(|it| !it.evidence.is_empty()) {
            bm25.add(question, &baseline.rank(&question.question, Lending::None));
        }
    }
    ensure!(bm25.questions() > 0, "`{}` has no question with evidence", data.display());
    let mut rows = vec![Row::new("BM25", &bm25)];
    if let Some(embedders) = &embedders {
        rows.push(Row::new("plain cosine", &cosine::measure(embedders.beginnings.as_ref(), &conversations)?));
    }
    let mut settings: Vec<Setting> = [Topics::Given, Topics::None, Topics::AsTags].map(Setting::Separate).to_vec();
    if is_file && conversations.len() > 1 {
        settings.extend([Setting::OneAfterTheOther, Setting::Interleaved]);
    }
    for setting in settings {
        let folder = BenchFolder::create(arguments.dir.as_deref())?;
        let client =
            Client::open_with(&folder.file("answers.db").into(), embedders.as_ref().map(|it| Arc::clone(&it.whole)))?;
        rows.push(Row::new(setting.name(), &setting.measure(&client, &conversations)?));
    }
    Ok(Measured { data: data.display().to_string(), conversations: conversations.len(), rows })
}
