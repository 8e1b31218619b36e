//! Files of a client that hooks look into: transcripts, line by line from a position, and the client's own notes.
//!
//! Only ever for a caller on this machine, who could read them too. Bounded; a file that is not there says nothing.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use rootset_text::sentence_sets::Sentences;

/// Of a client's own notes: longer ones are cut by the clients too.
const OWN_FILE_BYTES_MAX: u64 = 64 * 1024;
/// Read of a transcript at once. What is more was written while nobody listened, and its end counts.
pub(super) const TAIL_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Transcripts are files of lines of JSON.
const TRANSCRIPT_ENDING: &str = "jsonl";

/// What these files say.
pub(super) fn sentences(files: &[PathBuf]) -> Sentences {
    let mut sentences = Sentences::default();
    for text in files.iter().filter_map(|path| beginning(path)) {
        sentences.add(&text);
    }
    sentences
}

fn beginning(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    regular(path)?.take(OWN_FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A pipe is not waited for, and a folder is no file.
fn regular(path: &Path) -> Option<File> {
    path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    File::open(path).ok()
}

/// Of a file that is not there yet: nothing.
pub(super) fn length(path: &Path) -> u64 {
    path.metadata().map_or(0, |it| it.len())
}

/// The complete lines of a transcript behind a position, each with its own, and where they end.
pub(super) struct Tail {
    text: String,
    from: u64,
    pub end: u64,
}

impl Tail {
    /// `None` where there is no such transcript, or nothing new in it.
    pub fn read(path: &Path, from: u64) -> Option<Self> {
        let length = regular(path)?.metadata().ok()?.len();
        // A file that is shorter than it was is another one.
        let from = if from > length { 0 } else { from };
        let from = from.max(length.saturating_sub(TAIL_BYTES_MAX));
        Self::read_from(path, from, TAIL_BYTES_MAX)
    }

    fn read_from(path: &Path, from: u64, bytes_max: u64) -> Option<Self> {
        path.extension().filter(|ending| *ending == TRANSCRIPT_ENDING)?;
        let mut file = regular(path)?;
        file.seek(SeekFrom::Start(from)).ok()?;
        let mut bytes = Vec::new();
        file.take(bytes_max).read_to_end(&mut bytes).ok()?;
        // The last line may be half written.
        let complete = bytes.iter().rposition(|byte| *byte == b'\n')? + 1;
        bytes.truncate(complete);
        let end = from + complete as u64;
        // Begun in the middle of a character: as far as its line goes, nothing is read anyway. Places count in bytes.
        let torn = bytes.iter().take_while(|byte| (0x80..0xC0).contains(*byte)).count();
        let text = String::from_utf8(bytes.split_off(torn)).ok()?;
        Some(Self { text, from: from + torn as u64, end })
    }

    /// The lines of a transcript up to a position, or to its end; of a long one the last.
    pub fn until(path: &Path, until: Option<u64>) -> Option<Self> {
        let length = path.metadata().ok()?.len();
        let until = until.unwrap_or(length);
        let from = until.saturating_sub(TAIL_BYTES_MAX);
        let mut tail = Self::read_from(path, from, until.checked_sub(from)?)?;
        if from > 0 {
            // Begun in the middle of a line.
            let first = tail.text.find('\n')? + 1;
            tail.text.drain(..first);
            tail.from += first as u64;
        }
        Some(tail)
    }

    pub fn lines(&self) -> impl Iterator<Item = (u64, &str)> {
        let mut at = self.from;
        self.text.split_inclusive('\n').map(move |line| {
            let begins = at;
            at += line.len() as u64;
            (begins, line.trim_end())
        })
    }
}

/// One line again, by its place.
pub(super) fn line_at(path: &Path, at: u64, length: u64) -> Option<String> {
    path.extension().filter(|ending| *ending == TRANSCRIPT_ENDING)?;
    let mut file = regular(path)?;
    file.seek(SeekFrom::Start(at)).ok()?;
    let mut bytes = Vec::new();
    file.take(length.min(TAIL_BYTES_MAX)).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_places_at_which_they_are_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, "{\"a\":\"é\"}\n{\"b\":1}\n{\"torn").unwrap();
        let tail = Tail::read(&path, 0).unwrap();
        let lines: Vec<(u64, &str)> = tail.lines().collect();
        assert_eq!(lines, [(0, "{\"a\":\"é\"}"), (11, "{\"b\":1}")]);
        for (at, line) in lines {
            assert_eq!(line_at(&path, at, line.len() as u64).as_deref(), Some(line));
        }
        assert!(Tail::read(&path, tail.end).is_none(), "nothing new is complete");
        assert_eq!(Tail::read(&path, 1_000).unwrap().lines().count(), 2, "a shorter file is another one");
        assert!(Tail::read(&folder.path().join("missing.jsonl"), 0).is_none());
        assert!(Tail::read(folder.path(), 0).is_none());
        std::fs::write(folder.path().join("secret.txt"), "a\n").unwrap();
        assert!(Tail::read(&folder.path().join("secret.txt"), 0).is_none());
    }
}
