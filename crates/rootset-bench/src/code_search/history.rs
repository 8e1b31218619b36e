//! Which commits of a history are cases, and what is asked for each.

use std::collections::HashSet;
use std::path::Path;

use anyhow::Context;
use rootset_code::{is_test, language_of};
use serde::Serialize;

use super::checkout::git;
use crate::random::Random;

/// Newest commits that are looked at: a tree of ten years ago is another project.
const COMMITS: &str = "4000";
/// Words of a subject that say that a commit fixes something.
const FIX_WORDS: [&str; 6] = ["fix", "fixes", "fixed", "fixing", "bug", "bugfix"];
/// Fewer different words describe nothing.
const WORDS_MIN: usize = 10;
const QUERY_CHARS_MAX: usize = 4_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Case {
    pub commit: String,
    pub parent: String,
    /// The source file that was changed.
    pub path: String,
    pub query: String,
}

/// Up to `count` cases by the seed, oldest first.
pub fn cases(repository: &Path, count: usize, seed: u64) -> anyhow::Result<Vec<Case>> {
    let format = "--format=%x01%H%x02%P%x02%B%x03";
    let log = git(repository, &["log", "--no-merges", "--no-renames", "--name-status", "-n", COMMITS, format])?;
    let log = String::from_utf8_lossy(&log);
    let mut all: Vec<Case> = log.split('\u{1}').filter_map(case).collect();
    let mut random = Random::new(seed);
    let count = count.min(all.len());
    let mut drawn = Vec::with_capacity(count);
    for place in 0..count {
        let other = random.between(place, all.len() - 1);
        all.swap(place, other);
        drawn.push(all[place].clone());
    }
    let order = git(repository, &["rev-list", "--reverse", "HEAD"])?;
    let order = String::from_utf8(order).context("git names a commit in no known encoding")?;
    let mut by_commit: std::collections::HashMap<String, Case> =
        drawn.into_iter().map(|case| (case.commit.clone(), case)).collect();
    Ok(order.lines().filter_map(|commit| by_commit.remove(commit)).collect())
}

/// One entry of the log, if it is a case.
fn case(entry: &str) -> Option<Case> {
    let (head, files) = entry.split_once('\u{3}')?;
    let mut fields = head.split('\u{2}');
    let (commit, parent, message) = (fields.next()?, fields.next()?, fields.next()?);
    let subject = message.lines().next()?;
    let says_fix = words(subject).any(|word| FIX_WORDS.contains(&word.to_lowercase().as_str()));
    let mut changed = files.lines().filter_map(|line| line.split_once('\t')).filter(|(_, path)| is_source(path));
    let (status, path) = changed.next()?;
    if !says_fix || status != "M" || changed.next().is_some() || parent.contains(' ') || parent.is_empty() {
        return None;
    }
    let query = query(message);
    let file = path.rsplit('/').next().unwrap_or(path);
    let names_it = query.to_lowercase().contains(&file.to_lowercase());
    let is_clear = words(&query).map(str::to_lowercase).collect::<HashSet<_>>().len() >= WORDS_MIN;
    (is_clear && !names_it).then(|| Case {
        commit: commit.to_owned(),
        parent: parent.to_owned(),
        path: path.to_owned(),
        query,
    })
}

/// Whether a path is of a language that the index parses, and no test.
pub fn is_source(path: &str) -> bool {
    language_of(path, "").is_some_and(|language| language.is_code()) && !is_test(path)
}

fn query(message: &str) -> String {
    let is_about_people =
        |line: &str| line.split_once(": ").is_some_and(|(key, _)| key.to_lowercase().ends_with("-by"));
    let lines: Vec<&str> = message.trim().lines().filter(|line| !is_about_people(line)).collect();
    lines.join("\n").trim().chars().take(QUERY_CHARS_MAX).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(message: &str, files: &str) -> String {
        format!("abc\u{2}def\u{2}{message}\u{3}\n\n{files}")
    }

    const MESSAGE: &str =
        "fix: totals of an empty cart\n\nThe sum was wrong when nobody had put anything in.\n\nSigned-off-by: A <a@b>";

    #[test]
    fn a_fix_of_one_source_is_a_case_and_asks_with_its_message() {
        let case = case(&entry(MESSAGE, "M\tsrc/cart.py\nM\ttests/test_cart.py\nM\tCHANGES.md")).unwrap();
        assert_eq!((case.commit.as_str(), case.parent.as_str(), case.path.as_str()), ("abc", "def", "src/cart.py"));
        assert!(case.query.ends_with("put anything in."), "{}", case.query);
    }

    #[test]
    fn commits_that_are_no_fix_of_one_source_or_give_it_away_are_no_cases() {
        for files in ["M\ta.py\nM\tb.py", "A\ta.py", "M\ta.md", "M\ttests/test_a.py", "M\ta.py\nA\tb.py"] {
            assert_eq!(case(&entry(MESSAGE, files)), None, "{files}");
        }
        assert_eq!(case(&entry(&MESSAGE.replace("fix", "feat"), "M\ta.py")), None);
        assert_eq!(case(&entry("fix: a typo", "M\ta.py")), None);
        assert_eq!(case(&entry(&MESSAGE.replace("sum", "sum in Cart.py"), "M\tsrc/cart.py")), None);
    }
}
