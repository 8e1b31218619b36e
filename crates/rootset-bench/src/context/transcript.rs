//! The file: one session per line, with what later steps need of earlier ones. Plain or compressed with gzip.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::Path;

use anyhow::{Context, ensure};
use flate2::read::MultiGzDecoder;
use rootset_gc::context::SegmentType;
use serde::Deserialize;

use super::needs::{Need, NeedKind};

#[derive(Debug, Deserialize)]
pub struct Transcript {
    pub id: String,
    pub segments: Vec<Segment>,
    pub needs: Vec<GivenNeed>,
}

#[derive(Debug, Deserialize)]
pub struct Segment {
    pub role: Role,
    #[serde(rename = "type")]
    pub segment_type: SegmentType,
    pub text: String,
    pub file_path: Option<String>,
    pub line_range: Option<(u32, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    System,
    /// What the session is asked to do from here on.
    #[serde(alias = "user")]
    Task,
    Assistant,
    Tool,
}

/// A need as the file gives it.
#[derive(Debug, Deserialize)]
pub struct GivenNeed {
    step: usize,
    kind: GivenKind,
    holders: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum GivenKind {
    Identifier,
    View,
}

impl GivenNeed {
    pub fn as_read(&self) -> Need {
        let kind = match self.kind {
            GivenKind::Identifier => NeedKind::Identifier,
            GivenKind::View => NeedKind::View,
        };
        Need { step: self.step, kind, holders: self.holders.clone() }
    }
}

impl Segment {
    /// The count that all figures are given for: a quarter of the characters, and at least one.
    pub fn tokens(&self) -> u64 {
        (self.text.chars().count() as u64 / 4).max(1)
    }
}

impl Transcript {
    /// What the id begins with, before the numbers: sessions of one repository have much in common.
    pub fn repository(&self) -> &str {
        let mut name = self.id.as_str();
        for _ in 0..2 {
            name = match name.rsplit_once('-') {
                Some((before, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => before,
                _ => return &self.id,
            };
        }
        name
    }
}

pub fn read(path: &Path) -> anyhow::Result<Vec<Transcript>> {
    let mut transcripts: Vec<Transcript> = Vec::new();
    for (number, line) in (1..).zip(BufReader::new(open(path)?).lines()) {
        let line = line.with_context(|| format!("cannot read line {number} of `{}`", path.display()))?;
        if line.trim().is_empty() {
            continue;
        }
        let transcript: Transcript = serde_json::from_str(&line)
            .with_context(|| format!("line {number} of `{}` is not a session", path.display()))?;
        for need in &transcript.needs {
            let names = need.holders.iter().chain([&need.step]);
            let unknown = names.copied().find(|segment| *segment >= transcript.segments.len());
            ensure!(unknown.is_none(), "line {number} of `{}`: a need names segment {unknown:?}", path.display());
        }
        transcripts.push(transcript);
    }
    Ok(transcripts)
}

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

fn open(path: &Path) -> anyhow::Result<Box<dyn Read>> {
    let open = || File::open(path).with_context(|| format!("cannot open `{}`", path.display()));
    let mut file = open()?;
    let mut magic = [0; 2];
    let is_gzip = file.read_exact(&mut magic).is_ok() && magic == GZIP_MAGIC;
    file.rewind().with_context(|| format!("cannot read `{}` from its beginning", path.display()))?;
    Ok(if is_gzip { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) })
}
