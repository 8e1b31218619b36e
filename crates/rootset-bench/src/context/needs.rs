//! What later steps need of earlier ones. Identifiers and views are given in the file; the other kinds are read from the texts, the
//! same way for every file.
//!
//! A need is of a step and can be met by any of its holders: earlier segments that hold the same thing.

use std::collections::{BTreeMap, BTreeSet};

use super::transcript::{Role, Transcript};

/// Shorter lines are brackets, prompts and separators.
const LINE_CHARS_MIN: usize = 20;
const NUMBER_DIGITS_MIN: usize = 3;
const PATH_CHARS_MIN: usize = 5;
/// The assistant's own lines that more sessions have are its way of speaking.
const SESSIONS_OF_OWN_LINE_MAX: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NeedKind {
    /// The assistant uses a name that earlier segments hold.
    Identifier,
    /// Lines of a file that were shown are worked on.
    View,
    /// The assistant repeats a line of a tool's result.
    Line,
    /// The assistant repeats a path.
    Path,
    /// The assistant repeats a number of three or more digits.
    Number,
    /// The assistant repeats a line of its own.
    OwnLine,
    /// At every step: what the user asked for last.
    Instruction,
}

impl NeedKind {
    pub const ALL: [Self; 7] =
        [Self::Identifier, Self::View, Self::Line, Self::Path, Self::Number, Self::OwnLine, Self::Instruction];

    pub fn name(self) -> &'static str {
        match self {
            Self::Identifier => "identifier",
            Self::View => "view",
            Self::Line => "line",
            Self::Path => "path",
            Self::Number => "number",
            Self::OwnLine => "own_line",
            Self::Instruction => "instruction",
        }
    }
}

/// At a step something is needed that any of the holders has.
#[derive(Clone, Debug)]
pub struct Need {
    pub step: usize,
    pub kind: NeedKind,
    pub holders: Vec<usize>,
}

/// Lines of assistants by the number of sessions that have them.
pub struct OwnLines<'t>(BTreeMap<&'t str, usize>);

impl<'t> OwnLines<'t> {
    pub fn of(transcripts: &'t [Transcript]) -> Self {
        let mut sessions: BTreeMap<&str, usize> = BTreeMap::new();
        for transcript in transcripts {
            let spoken = transcript.segments.iter().filter(|segment| segment.role == Role::Assistant);
            let lines: BTreeSet<&str> = spoken.flat_map(|segment| lines(&segment.text)).collect();
            lines.into_iter().for_each(|line| *sessions.entry(line).or_default() += 1);
        }
        Self(sessions)
    }

    fn is_boilerplate(&self, line: &str) -> bool {
        self.0.get(line).is_some_and(|sessions| *sessions > SESSIONS_OF_OWN_LINE_MAX)
    }
}

/// All needs of a session, those of the file first.
pub fn needs(transcript: &Transcript, own_lines: &OwnLines<'_>) -> Vec<Need> {
    let mut needs: Vec<Need> = transcript.needs.iter().map(|need| need.as_read()).collect();
    // Who holds what, in order.
    let mut paths: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut numbers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut all_lines: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let (mut of_tools, mut of_assistant): (BTreeSet<&str>, BTreeSet<&str>) = Default::default();
    let mut instruction = None;
    for (step, segment) in transcript.segments.iter().enumerate() {
        if let Some(task) = instruction {
            needs.push(Need { step, kind: NeedKind::Instruction, holders: vec![task] });
        }
        let of_segment: BTreeSet<&str> = lines(&segment.text).collect();
        let paths_of_segment: BTreeSet<&str> = paths_in(&segment.text).collect();
        let numbers_of_segment: BTreeSet<&str> = numbers_in(&segment.text).collect();
        if segment.role == Role::Assistant {
            let mut need = |kind, holders: Option<&Vec<usize>>| {
                needs.extend(holders.map(|holders| Need { step, kind, holders: holders.clone() }));
            };
            for line in &of_segment {
                if of_tools.contains(line) {
                    need(NeedKind::Line, all_lines.get(line));
                }
                if of_assistant.contains(line) && !own_lines.is_boilerplate(line) {
                    need(NeedKind::OwnLine, all_lines.get(line));
                }
            }
            paths_of_segment.iter().for_each(|path| need(NeedKind::Path, paths.get(path)));
            numbers_of_segment.iter().for_each(|number| need(NeedKind::Number, numbers.get(number)));
        }
        match segment.role {
            Role::Task => instruction = Some(step),
            Role::Tool => of_tools.extend(&of_segment),
            Role::Assistant => of_assistant.extend(&of_segment),
            Role::System => {}
        }
        of_segment.into_iter().for_each(|line| all_lines.entry(line).or_default().push(step));
        paths_of_segment.into_iter().for_each(|path| paths.entry(path).or_default().push(step));
        numbers_of_segment.into_iter().for_each(|number| numbers.entry(number).or_default().push(step));
    }
    needs
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| line.chars().count() >= LINE_CHARS_MIN)
}

fn paths_in(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|c: char| !(c.is_ascii_alphanumeric() || "_./-".contains(c)));
    let paths = runs.map(|run| run.trim_matches(['.', '-']));
    let has_name = |path: &&str| path.bytes().any(|byte| byte.is_ascii_alphabetic());
    paths.filter(|path| path.len() >= PATH_CHARS_MIN && path.trim_matches('/').contains('/')).filter(has_name)
}

fn numbers_in(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| word.len() >= NUMBER_DIGITS_MIN && word.bytes().all(|byte| byte.is_ascii_digit()))
}
