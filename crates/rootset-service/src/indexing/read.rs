//! One file from disk to everything that is stored about it. The worst that a file's content can do is to make that
//! file fail.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use rootset_code::{
    EXTRACTOR_VERSION, Language, NotSource, Reader, Source, is_generated, is_read_alike, is_test, language_of,
    outline_as_text, refuse,
};
use rootset_model::code::Outline;
use rootset_store::{FileStamp, FileState};
use rootset_text::secrets::SecretScan;

use super::open::{Opened, Root};
use super::scope::IndexScope;
use super::secret_files::is_secret_file;
use crate::platform::processor_time;

/// What a parser may take for a file. Ordinary sources take a quarter of a second per megabyte.
const PARSE_TIME: Duration = Duration::from_secs(5);
const PARSE_TIME_PER_MEGABYTE: Duration = Duration::from_secs(1);

/// A file to look at.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    pub path: &'a str,
    pub is_mounted: bool,
    /// What the index holds of it, under this path or, after a move, under another.
    pub state: Option<&'a FileState>,
}

/// What became of it.
#[derive(Debug)]
pub enum Read {
    /// The same bytes as before; only the file system's notes differ.
    Unchanged {
        stamp: FileStamp,
    },
    Ready(Box<ReadyFile>),
    /// It is there, but nothing of it belongs into the index.
    LeftOut {
        reason: &'static str,
    },
    /// It is there, but this run does not look at such files.
    OutOfScope,
    /// It could not be read.
    Unknown,
}

/// Everything that is stored about a file.
#[derive(Debug)]
pub struct ReadyFile {
    pub path: String,
    pub stamp: FileStamp,
    pub is_mounted: bool,
    pub content_hash: [u8; 16],
    pub language: &'static Language,
    pub is_test: bool,
    pub is_generated: bool,
    pub lines: i64,
    pub text: String,
    pub outline: Outline,
    /// Head and body of every chunk.
    pub terms: Vec<(String, String)>,
    /// Values that looked like secrets.
    pub redacted: usize,
    /// The parser did not get through it: it is stored as plain text.
    pub is_read_as_text: bool,
}

/// What one thread reads files with.
pub struct FileReader<'a> {
    repo: &'a str,
    root: &'a Root,
    scope: &'a IndexScope,
    secrets: SecretScan,
    reader: Reader,
}

impl<'a> FileReader<'a> {
    pub fn new(repo: &'a str, root: &'a Root, scope: &'a IndexScope, secrets: SecretScan) -> Self {
        Self { repo, root, scope, secrets, reader: Reader::new() }
    }

    pub fn read(&mut self, job: &Job<'_>) -> Read {
        let Opened { bytes, stamp, is_too_large } = match self.root.read(job.path, self.scope.max_file_size) {
            Ok(Some(opened)) => opened,
            Ok(None) => return Read::LeftOut { reason: "special_file" },
            Err(_) => return Read::Unknown,
        };
        if is_too_large {
            return Read::OutOfScope;
        }
        let content_hash = content_hash(&bytes);
        if let Some(state) = job.state
            && state.content_hash == content_hash
            && state.extractor == EXTRACTOR_VERSION
            && is_read_alike(&state.path, &state.language)
            && state.path == job.path
        {
            let size = state.stamp.size.unsigned_abs();
            let is_in_scope = self.scope.contains(&state.path, &state.language, state.is_test, size);
            return if is_in_scope { Read::Unchanged { stamp } } else { Read::OutOfScope };
        }
        self.prepare(job, &bytes, stamp, content_hash)
    }

    fn prepare(&mut self, job: &Job<'_>, bytes: &[u8], stamp: FileStamp, content_hash: [u8; 16]) -> Read {
        let path = job.path;
        if is_secret_file(path) || !self.secrets.find(path).is_empty() {
            return Read::LeftOut { reason: "secret" };
        }
        if let Some(refused) = refuse(path, bytes) {
            let reason = match refused {
                NotSource::Binary => "binary",
                NotSource::Minified => "minified",
                NotSource::LockFile => "lock_file",
            };
            return Read::LeftOut { reason };
        }
        let text = String::from_utf8_lossy(bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let Some(language) = language_of(path, text.lines().next().unwrap_or_default()) else {
            return Read::LeftOut { reason: "unknown_type" };
        };
        let is_test = is_test(path);
        if !self.scope.contains(path, language.name(), is_test, stamp.size.unsigned_abs()) {
            return Read::OutOfScope;
        }
        let redacted = self.secrets.redact_keeping_lines(text);
        let text = redacted.text.into_owned();
        let source = Source { repo: self.repo, path, text: &text };
        let (outline, is_read_as_text) = self.outline(language, &source);
        let terms = outline
            .chunks
            .iter()
            .map(|chunk| {
                let terms = self.reader.chunk_terms(&source, &outline, chunk);
                (terms.head, terms.body)
            })
            .collect();
        Read::Ready(Box::new(ReadyFile {
            path: path.to_owned(),
            stamp,
            is_mounted: job.is_mounted,
            content_hash,
            language,
            is_test,
            is_generated: is_generated(path, bytes),
            lines: text.lines().count() as i64,
            outline,
            terms,
            redacted: redacted.count,
            is_read_as_text,
            text,
        }))
    }

    /// A parser that gives up or fails costs the symbols of one file.
    fn outline(&mut self, language: &'static Language, source: &Source<'_>) -> (Outline, bool) {
        if !language.is_code() {
            return (outline_as_text(source), false);
        }
        let limit = PARSE_TIME + PARSE_TIME_PER_MEGABYTE * (source.text.len() >> 20) as u32;
        let began = processor_time();
        let mut go_on = || processor_time().saturating_sub(began) < limit;
        match catch_unwind(AssertUnwindSafe(|| self.reader.outline_while(language, source, &mut go_on))) {
            Ok(Ok(outline)) => (outline, false),
            Ok(Err(_)) => (outline_as_text(source), true),
            Err(_) => {
                // Nobody knows what state it left its parser in.
                self.reader = Reader::new();
                (outline_as_text(source), true)
            }
        }
    }
}

pub fn content_hash(bytes: &[u8]) -> [u8; 16] {
    let mut hash = [0; 16];
    hash.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
    hash
}
