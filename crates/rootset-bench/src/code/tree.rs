//! The copy of a tree that scans are measured on, and git's view of it.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::latency::Taken;

/// Files that searches take their words from, and words taken from each.
const FILES_READ: usize = 400;
const WORDS_PER_FILE: usize = 20;
const WORD_BYTES_MIN: usize = 5;

/// Regular files and folders; links and histories stay behind.
pub fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read `{}`", from.display()))? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() && entry.file_name() != ".git" {
            copy(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// `false` where there is no git.
pub fn make_repository(tree: &Path) -> anyhow::Result<bool> {
    if Command::new("git").arg("--version").output().is_err() {
        return Ok(false);
    }
    let commit = ["-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "--quiet", "-m", "tree"];
    for arguments in [&["init", "--quiet"][..], &["add", "--all"], &commit] {
        let output = Command::new("git").arg("-C").arg(tree).args(arguments).output()?;
        if !output.status.success() {
            bail!("`git {}` failed: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr));
        }
    }
    Ok(true)
}

pub fn git_status(tree: &Path) -> anyhow::Result<Taken> {
    let mut command = Command::new("git");
    command.arg("-C").arg(tree).arg("status");
    let begin = Instant::now();
    let output = command.output()?;
    let clock = begin.elapsed();
    if !output.status.success() {
        bail!("`git status` failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(Taken { clock, processor: Duration::ZERO })
}

/// A source file of middling size, the same every time.
pub fn some_source(tree: &Path) -> anyhow::Result<PathBuf> {
    let mut sources: Vec<(u64, PathBuf)> = sources(tree)?;
    sources.sort();
    let middle = sources.len() / 2;
    sources.into_iter().nth(middle).map(|(_, path)| path).context("there are no sources in the tree")
}

pub fn append(path: &Path, round: usize) -> anyhow::Result<()> {
    let mut file = fs::OpenOptions::new().append(true).open(path)?;
    let mark = if path.extension().is_some_and(|it| it == "py" || it == "rb" || it == "sh") { "#" } else { "//" };
    Ok(writeln!(file, "{mark} changed in round {round}")?)
}

/// Words of some of the sources that look like names, each once.
pub fn identifiers(tree: &Path) -> anyhow::Result<Vec<String>> {
    let mut sources = sources(tree)?;
    sources.sort();
    let step = (sources.len() / FILES_READ).max(1);
    let mut words = BTreeSet::new();
    for (_, path) in sources.iter().step_by(step) {
        let Ok(text) = fs::read_to_string(path) else { continue };
        let names =
            text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|it| it.len() >= WORD_BYTES_MIN);
        let distinct: BTreeSet<&str> = names.collect();
        let every = (distinct.len() / WORDS_PER_FILE).max(1);
        words.extend(distinct.into_iter().step_by(every).map(str::to_owned));
    }
    Ok(words.into_iter().collect())
}

fn sources(tree: &Path) -> anyhow::Result<Vec<(u64, PathBuf)>> {
    const EXTENSIONS: [&str; 10] = ["py", "rs", "go", "js", "ts", "java", "c", "cpp", "rb", "cs"];
    let mut found = Vec::new();
    let mut open = vec![tree.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let (kind, path) = (entry.file_type()?, entry.path());
            if kind.is_dir() && entry.file_name() != ".git" {
                open.push(path);
            } else if kind.is_file()
                && path.extension().and_then(|it| it.to_str()).is_some_and(|it| EXTENSIONS.contains(&it))
            {
                found.push((entry.metadata()?.len(), path));
            }
        }
    }
    Ok(found)
}
