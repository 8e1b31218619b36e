//! `rootset context collect`: a smaller session to resume. Results of tools leave a client's session file, its conversation stays.
//!
//! What leaves is chosen like in any window, among results alone: a call, a thought or a message cannot say less without saying
//! something else. Invariants: what leaves is stashed before a file is written; a result in which something looks like a secret
//! stays; a file that somebody writes to is not touched, and no file without a copy outside the client's folder.

use std::collections::{BTreeMap, HashSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::Args;
use rootset_api::{
    ContextAdd, ContextGcAnalyze, ContextGcConfigure, ContextGcPrune, PruneMode, SegmentInput, Tokenizer,
};
use rootset_messages::{Draft, read_claude_code, rewrite_claude_code};
use rootset_service::ServiceError;
use rootset_store::Location;
use rootset_text::secrets::SecretScan;
use serde::Serialize;

use super::analyze::LookedAt;
use super::files::SessionFormat;
use crate::exit::Failure;
use crate::input;
use crate::program::Program;
use crate::render::{counted, escaped, grouped};

/// Make a smaller session of Claude Code to resume
///
/// Results of tools leave it, and can be recalled. Without `--write` or `--in-place` it shows what would leave.
#[derive(Debug, Args)]
pub struct CollectArguments {
    /// The session's file, or its id
    session: String,
    /// The size to shrink it to; default: half of what it is
    #[arg(long, value_name = "TOKENS")]
    to: Option<u64>,
    /// Write a new session beside the old one, which stays as it is
    #[arg(long)]
    write: bool,
    /// Rewrite the file, after a copy of it
    #[arg(long, conflicts_with = "write")]
    in_place: bool,
}

/// Hooks and this count a token as four bytes; the client has its own count.
const BYTES_PER_TOKEN: usize = 4;
/// A shorter result costs little more than the line in its place.
const RESULT_TOKENS_MIN: usize = 50;
/// Of the line in the place of a result.
const LINE_TOKENS: usize = 20;
/// Calls are planned with their results and stay: more is asked for until the results alone suffice.
const ROUNDS_MAX: usize = 8;
/// A session that was written to so lately may still be open.
const QUIET: Duration = Duration::from_secs(60);
/// Segments of one addition.
const BATCH: usize = 200;
/// As long as clients' own ids.
const SESSION_ENDING: &str = "jsonl";

#[derive(Debug, Serialize)]
struct Collected {
    file: String,
    tokens_before: u64,
    tokens_after: u64,
    /// Results that leave, or would.
    results: usize,
    /// Tokens that are too many still.
    #[serde(skip_serializing_if = "Option::is_none")]
    shortfall: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copy: Option<String>,
}

pub fn run(arguments: &CollectArguments, program: &Program) -> Result<(), Failure> {
    let path = session_file(&arguments.session)?;
    let seen = state(&path)?;
    let text = input::read_file(&path)?;
    let drafts =
        read_claude_code(&text).map_err(|error| ServiceError::invalid(format!("{}: {error}", path.display())))?.drafts;
    let (leaving, mut collected) = choose(&path, &drafts, arguments, program)?;
    let lines: BTreeMap<String, String> =
        leaving.iter().filter_map(|draft| Some((draft.tool_call_id.clone()?, line(draft)))).collect();
    if !leaving.is_empty() && arguments.write {
        let id = uuid::Uuid::now_v7().to_string();
        let new = path.with_file_name(format!("{id}.{SESSION_ENDING}"));
        stash(&leaving, &id, program)?;
        write(&new, &rewrite_claude_code(&text, &lines, Some(&id)).text, false)?;
        (collected.written, collected.session_id) = (Some(new.display().to_string()), Some(id));
    }
    if !leaving.is_empty() && arguments.in_place {
        let copy = copy_outside(&path, &text, program)?;
        stash(&leaving, &stem(&path), program)?;
        let rewritten = rewrite_claude_code(&text, &lines, None).text;
        if seen.1.elapsed().unwrap_or_default() < QUIET || state(&path)? != seen {
            return Err(ServiceError::conflict(format!("`{}` is being written", path.display()))
                .with_hint("close the session and wait a minute, or use `--write`")
                .into());
        }
        write(&path, &rewritten, true)?;
        (collected.written, collected.copy) = (Some(path.display().to_string()), Some(copy.display().to_string()));
    }
    program.output.answer(&collected, shown)
}

/// The results that leave, and what that comes to.
fn choose(
    path: &Path,
    drafts: &[Draft],
    arguments: &CollectArguments,
    program: &Program,
) -> Result<(Vec<Draft>, Collected), Failure> {
    let settings = ContextGcConfigure { tokenizer: Some(Tokenizer::CharsBy4), ..ContextGcConfigure::default() };
    let looked_at = LookedAt::open(path, SessionFormat::ClaudeCode, settings, program)?;
    let before = looked_at.analyze(ContextGcAnalyze::default())?.usage.tokens;
    let wanted = before.saturating_sub(arguments.to.unwrap_or(before / 2));
    let secrets = SecretScan { personal_data: program.configuration()?.settings.secrets.personal_data };
    let (mut ask, mut leaving, mut freed) = (wanted, Vec::new(), 0);
    for _ in 0..ROUNDS_MAX {
        if ask == 0 {
            break;
        }
        let request =
            ContextGcAnalyze { target_tokens: Some(i64::try_from(ask).unwrap_or(i64::MAX)), ..Default::default() };
        let plan = looked_at.analyze(request)?.plan;
        let chosen: HashSet<&str> = plan.stash_segments.iter().map(String::as_str).collect();
        // An import names segments by their places.
        let places = drafts.iter().enumerate().filter(|(place, _)| chosen.contains(format!("m{}", place + 1).as_str()));
        leaving = places.map(|(_, draft)| draft).filter(|draft| may_leave(draft, secrets)).cloned().collect();
        freed = leaving.iter().map(|draft| (tokens(draft) - LINE_TOKENS) as u64).sum::<u64>();
        if freed >= wanted || plan.shortfall > 0 {
            break;
        }
        ask += wanted - freed;
    }
    let collected = Collected {
        file: path.display().to_string(),
        tokens_before: before,
        tokens_after: before.saturating_sub(freed),
        results: leaving.len(),
        shortfall: (freed < wanted).then(|| wanted - freed),
        written: None,
        session_id: None,
        copy: None,
    };
    Ok((leaving, collected))
}

fn may_leave(draft: &Draft, secrets: SecretScan) -> bool {
    let is_result = draft.role.as_deref() == Some("tool") && draft.tool_call_id.is_some();
    is_result && tokens(draft) >= RESULT_TOKENS_MIN && secrets.find(&draft.text).is_empty()
}

fn tokens(draft: &Draft) -> usize {
    draft.text.len() / BYTES_PER_TOKEN + draft.extra_tokens as usize
}

fn line(draft: &Draft) -> String {
    format!("[{} tokens left out; context_recall finds them by their words]", grouped(tokens(draft) as u64))
}

/// Durable before any file says less.
fn stash(leaving: &[Draft], session: &str, program: &Program) -> Result<(), ServiceError> {
    let session_id = format!("collected-{session}");
    for batch in leaving.chunks(BATCH) {
        let segment = |draft: &Draft| SegmentInput {
            segment_id: draft.segment_id.clone(),
            role: draft.role.clone(),
            file_path: draft.file_path.clone(),
            line_range: draft.lines,
            ..SegmentInput::new(draft.segment_type, draft.text.clone())
        };
        let segments: Vec<SegmentInput> = batch.iter().map(segment).collect();
        let added = program.run(ContextAdd {
            session_id: session_id.clone(),
            segments: Some(segments),
            ..ContextAdd::default()
        })?;
        program.run(ContextGcPrune {
            session_id: session_id.clone(),
            segment_ids: Some(added.segment_ids),
            strategy: Some(PruneMode::Stash),
            ..ContextGcPrune::default()
        })?;
    }
    Ok(())
}

/// A file, or a session of the client by its id.
fn session_file(session: &str) -> Result<PathBuf, ServiceError> {
    let path = Path::new(session);
    if path.is_file() {
        // What is told of it holds wherever it is read.
        return path
            .canonicalize()
            .map_err(|error| ServiceError::invalid(format!("cannot read `{}`: {error}", path.display())));
    }
    let is_id = !session.is_empty() && session.chars().all(|it| it.is_ascii_alphanumeric() || it == '-');
    let folder = std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = folder.or_else(|| Some(std::env::home_dir().filter(|home| home.is_absolute())?.join(".claude")));
    let projects = folder.filter(|_| is_id).and_then(|folder| std::fs::read_dir(folder.join("projects")).ok());
    let name = format!("{session}.{SESSION_ENDING}");
    let found = projects.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path().join(&name)));
    found.into_iter().find(|path| path.is_file()).ok_or_else(|| {
        let shown: String = session.chars().take(80).collect();
        ServiceError::invalid(format!("no file and no session of Claude Code is called `{}`", escaped(&shown)))
    })
}

fn state(path: &Path) -> Result<(u64, SystemTime), ServiceError> {
    let failed = |error: std::io::Error| ServiceError::invalid(format!("cannot read `{}`: {error}", path.display()));
    let metadata = path.metadata().map_err(failed)?;
    Ok((metadata.len(), metadata.modified().map_err(failed)?))
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| "session".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// Beside the database, under a name of its own.
fn copy_outside(path: &Path, text: &str, program: &Program) -> Result<PathBuf, ServiceError> {
    let Location::File(database) = program.configuration()?.location()? else {
        return Err(ServiceError::invalid("a copy of the file belongs beside the database, and that is on a server")
            .with_hint("use `--write`, which leaves the file as it is"));
    };
    let folder = PathBuf::from(format!("{}.transcripts", database.display()));
    let failed = |error: std::io::Error| ServiceError::invalid(format!("cannot make `{}`: {error}", folder.display()));
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let copy = folder.join(format!("{}-{}.{SESSION_ENDING}", stem(path), uuid::Uuid::now_v7()));
    write(&copy, text, false)?;
    Ok(copy)
}

/// In one step; durable before it counts.
fn write(path: &Path, text: &str, replaces: bool) -> Result<(), ServiceError> {
    let failed = |error: std::io::Error| ServiceError::invalid(format!("cannot write `{}`: {error}", path.display()));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
    let written = if replaces { file.persist(path) } else { file.persist_noclobber(path) };
    written.map(drop).map_err(|error| failed(error.error))
}

fn shown(collected: &Collected) -> String {
    let Collected { tokens_before, tokens_after, results, .. } = collected;
    let results = counted(*results, "result", "results");
    let (before, after) = (grouped(*tokens_before), grouped(*tokens_after));
    let mut shown = match &collected.written {
        Some(_) => format!("{results} left: {before} -> {after} tokens\n"),
        None => format!("{results} would leave: {before} -> {after} tokens\n"),
    };
    if let Some(shortfall) = collected.shortfall {
        shown.push_str(&format!("{} tokens too many still: what else is there must stay\n", grouped(shortfall)));
    }
    match (&collected.session_id, &collected.copy) {
        (Some(id), _) => shown.push_str(&format!("go on with: claude --resume {id}\n")),
        (None, Some(copy)) => shown.push_str(&format!("the file as it was: {}\n", escaped(copy))),
        (None, None) if collected.results > 0 => shown.push_str("nothing was changed; `--write` makes a new session\n"),
        (None, None) => {}
    }
    shown
}
