//! `rootset review`: what agents wrote to personal memory, and what the person said that could be kept, one after the other.

use std::io::{BufRead, Write};

use clap::Args;
use rootset_api::{
    DeleteMemory, ErrorCode, GetMemory, ListMemories, ListedAnswer, MemoryAnswer, MemoryList, MemoryOf, SetTrust,
    UpdateMemory, nearest,
};
use rootset_model::{Timestamp, Trust};
use rootset_service::ServiceError;
use serde::Serialize;

use crate::exit::Failure;
use crate::program::Program;
use crate::render::{self, Column, Table, counted, escaped, one_line};
use crate::{editor, prompt};

/// As many as a list shows at once; the next call shows the others.
const SHOWN_MAX: i64 = 100;
/// A longer answer is none of the keys.
const ANSWER_BYTES_MAX: u64 = 64;

/// Keep, edit or drop what agents wrote to your personal memory, and what you said
///
/// What agents wrote is found by search, and not shown to other projects before you keep it. What you said is no memory before you
/// keep it, and is dropped after 14 days. On a terminal, one key decides about each; `--keep` and `--drop` decide in scripts.
/// A memory that is dropped goes to the trash.
#[derive(Debug, Args)]
pub struct ReviewArguments {
    /// Keep this memory: from then on it counts as yours
    #[arg(long, value_name = "NAME")]
    keep: Vec<String>,
    /// Drop this memory
    #[arg(long, value_name = "NAME")]
    drop: Vec<String>,
    /// Only list what waits
    #[arg(long, conflicts_with_all = ["keep", "drop"])]
    list: bool,
}

/// What is listed.
#[derive(Debug, Serialize)]
struct Waiting {
    #[serde(flatten)]
    written: MemoryList,
    /// Sentences of the person in sessions of their agents.
    said: Vec<Said>,
}

#[derive(Debug, Serialize)]
struct Said {
    name: String,
    said_at: Timestamp,
    text: String,
}

impl Waiting {
    fn count(&self) -> i64 {
        self.written.total + self.said.len() as i64
    }
}

/// What was decided, for scripts.
#[derive(Debug, Default, Serialize)]
struct Reviewed {
    kept: Vec<String>,
    dropped: Vec<String>,
    /// What waits now.
    waiting: i64,
}

pub fn run(arguments: ReviewArguments, program: &Program) -> Result<(), Failure> {
    if !arguments.keep.is_empty() || !arguments.drop.is_empty() {
        return decide(arguments, program);
    }
    let waiting = waiting(program)?;
    let asks = !arguments.list && !program.output.in_json() && prompt::is_possible() && waiting.count() > 0;
    if asks {
        return go_through(&waiting, program);
    }
    program.output.answer(&waiting, listed)?;
    if !program.output.in_json() {
        let total = waiting.count();
        let hint = if total > 0 { "; `rootset review --keep NAME` or `--drop NAME` decides" } else { "" };
        program.output.talk(&format!("{} to review{hint}", counted(total, "memory", "memories")));
    }
    Ok(())
}

fn waiting(program: &Program) -> Result<Waiting, ServiceError> {
    let (memory_of, limit) = (Some(MemoryOf::Personal), Some(SHOWN_MAX));
    let written = program.run(ListMemories { memory_of, limit, waiting: Some(true), ..ListMemories::default() })?;
    let said = program.service()?.candidates(&program.caller()?)?.into_iter();
    let said = said.map(|(it, text)| Said { name: it.id(), said_at: it.said_at(), text }).collect();
    Ok(Waiting { written, said })
}

fn listed(waiting: &Waiting) -> String {
    if waiting.count() == 0 {
        return String::new();
    }
    let mut table = Table::new([Column::name("NAME"), Column::time("WRITTEN"), Column::text("TEXT")]);
    for memory in &waiting.written.memories {
        table.row([one_line(&name(memory), 128), memory.updated_at.to_string(), one_line(&memory.preview, 200)]);
    }
    for said in &waiting.said {
        table.row([said.name.clone(), said.said_at.to_string(), one_line(&said.text, 200)]);
    }
    table.finish()
}

fn name(memory: &ListedAnswer) -> String {
    memory.name.clone().unwrap_or_else(|| memory.memory_id.to_string())
}

fn decide(arguments: ReviewArguments, program: &Program) -> Result<(), Failure> {
    let mut reviewed = Reviewed::default();
    let waiting = waiting(program)?;
    // All of them are looked for before anything is decided.
    let keep_these = arguments.keep.iter().map(|it| meant(it, &waiting)).collect::<Result<Vec<_>, _>>()?;
    let drop_these = arguments.drop.iter().map(|it| meant(it, &waiting)).collect::<Result<Vec<_>, _>>()?;
    for it in keep_these {
        match it {
            Meant::Written(id) => keep(&id, program)?,
            Meant::Said(said) => decide_said(&said.name, Some(said.text.clone()), program)?,
        }
    }
    for it in drop_these {
        match it {
            Meant::Written(id) => drop_it(&id, program)?,
            Meant::Said(said) => decide_said(&said.name, None, program)?,
        }
    }
    (reviewed.kept, reviewed.dropped) = (arguments.keep, arguments.drop);
    reviewed.waiting = self::waiting(program)?.count();
    program.output.answer(&reviewed, |reviewed| {
        let (kept, dropped) = (reviewed.kept.len(), reviewed.dropped.len());
        format!("kept {kept}, dropped {dropped}, {} waiting\n", reviewed.waiting)
    })
}

/// What is decided about.
enum Meant<'a> {
    /// A memory by its id, by which it is found whatever the project calls by the same name.
    Written(String),
    Said(&'a Said),
}

fn meant<'a>(named: &str, waiting: &'a Waiting) -> Result<Meant<'a>, ServiceError> {
    if let Some(said) = waiting.said.iter().find(|said| said.name == named) {
        return Ok(Meant::Said(said));
    }
    let is_named = |it: &&ListedAnswer| it.name.as_deref() == Some(named) || it.memory_id.to_string() == named;
    let found = waiting.written.memories.iter().find(is_named).map(|it| Meant::Written(it.memory_id.to_string()));
    found.ok_or_else(|| {
        let error = ServiceError::new(ErrorCode::NotFound, format!("no memory `{named}` waits for a review"));
        let written = waiting.written.memories.iter().filter_map(|it| it.name.as_deref());
        let names: Vec<&str> = written.chain(waiting.said.iter().map(|said| said.name.as_str())).collect();
        match nearest(named, names.into_iter(), 1).first() {
            Some(near) => error.with_hint(format!("did you mean `{near}`?")),
            None => error.with_hint("`rootset review --list` shows what waits"),
        }
    })
}

fn keep(memory: &str, program: &Program) -> Result<(), ServiceError> {
    let request = SetTrust { workspace_id: None, memory_id: memory.to_owned(), trust: Trust::Person };
    program.run(request).map(drop)
}

fn drop_it(memory: &str, program: &Program) -> Result<(), ServiceError> {
    let request = DeleteMemory { memory_id: memory.to_owned(), ..DeleteMemory::default() };
    program.run(request).map(drop)
}

/// Keeps a sentence of the person as a memory of theirs, or lets it go.
fn decide_said(id: &str, kept: Option<String>, program: &Program) -> Result<(), ServiceError> {
    program.service()?.decide_candidate(&program.caller()?, id, kept).map(drop)
}

/// A new text is the person's own word, and so it is kept.
fn edit(memory: &MemoryAnswer, program: &Program) -> Result<(), ServiceError> {
    let after = editor::edit(&format!("{}\n", memory.context))?;
    if after.trim() != memory.context.trim() {
        program.run(UpdateMemory {
            memory_id: memory.memory_id.to_string(),
            context: Some(after),
            expected_version: Some(memory.version),
            ..UpdateMemory::default()
        })?;
    }
    keep(&memory.memory_id.to_string(), program)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Keep,
    Edit,
    Drop,
    Skip,
    Quit,
}

impl Key {
    fn of(answer: &str) -> Option<Self> {
        match answer.trim().to_lowercase().as_str() {
            "k" | "keep" => Some(Self::Keep),
            "e" | "edit" => Some(Self::Edit),
            "d" | "drop" => Some(Self::Drop),
            "s" | "skip" | "" => Some(Self::Skip),
            "q" | "quit" => Some(Self::Quit),
            _ => None,
        }
    }
}

fn go_through(waiting: &Waiting, program: &Program) -> Result<(), Failure> {
    let mut reviewed = Reviewed::default();
    let is_done = go_through_said(&waiting.said, &mut reviewed, program)?;
    for memory in waiting.written.memories.iter().filter(|_| !is_done) {
        let id = memory.memory_id.to_string();
        let whole = program.run(GetMemory { memory_id: id.clone(), ..GetMemory::default() })?;
        let about = format!("{}, written by {}", whole.updated_at, escaped(&whole.written_by));
        let shown =
            format!("\n{}  {}\n{}", render::bold(escaped(&name(memory))), render::dim(about), escaped(&whole.context));
        program.output.talk(&shown);
        match ask()? {
            Key::Keep => keep(&id, program)?,
            Key::Edit => edit(&whole, program)?,
            Key::Drop => {
                drop_it(&id, program)?;
                reviewed.dropped.push(id);
                continue;
            }
            Key::Skip => continue,
            Key::Quit => break,
        }
        reviewed.kept.push(id);
    }
    let (kept, dropped) = (reviewed.kept.len(), reviewed.dropped.len());
    program.output.talk(&format!("kept {kept}, dropped {dropped}; `rootset undo` brings back what was dropped"));
    Ok(())
}

/// Answers whether the person has had enough.
fn go_through_said(said: &[Said], reviewed: &mut Reviewed, program: &Program) -> Result<bool, Failure> {
    for it in said {
        let about = format!("you said, {}", render::short(it.said_at));
        program.output.talk(&format!(
            "\n{}  {}\n{}",
            render::bold(it.name.clone()),
            render::dim(about),
            escaped(&it.text)
        ));
        let kept = match ask()? {
            Key::Keep => Some(it.text.clone()),
            Key::Edit => {
                Some(editor::edit(&format!("{}\n", it.text))?.trim().to_owned()).filter(|text| !text.is_empty())
            }
            Key::Drop => None,
            Key::Skip => continue,
            Key::Quit => return Ok(true),
        };
        let list = if kept.is_some() { &mut reviewed.kept } else { &mut reviewed.dropped };
        list.push(it.name.clone());
        decide_said(&it.name, kept, program)?;
    }
    Ok(false)
}

/// Asks until the answer is one of the keys; the end of input ends the review.
fn ask() -> Result<Key, ServiceError> {
    loop {
        // Written even when quiet: a question nobody sees is not a question.
        let mut stderr = anstream::stderr().lock();
        let _ = write!(stderr, "[k]eep, [e]dit, [d]rop, [s]kip, [q]uit? ");
        let _ = stderr.flush();
        drop(stderr);
        let mut answer = String::new();
        let read = std::io::Read::take(std::io::stdin().lock(), ANSWER_BYTES_MAX).read_line(&mut answer);
        if !matches!(read, Ok(1..)) {
            return Ok(Key::Quit);
        }
        if let Some(key) = Key::of(&answer) {
            return Ok(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_key_or_its_word_decides_and_nothing_else_does() {
        assert_eq!(
            [" K\n", "edit", "d", "\n", "q"].map(Key::of),
            [Some(Key::Keep), Some(Key::Edit), Some(Key::Drop), Some(Key::Skip), Some(Key::Quit)]
        );
        assert_eq!(["y", "yes", "kd", "x"].map(Key::of), [None; 4]);
    }
}
