//! Events as lines of JSON at the end of a file.
//!
//! A line is whole or not there: a write that fails is cut off again, and what a crash left of one is cut off before the
//! next. The file is opened for every batch, so that one that was rotated away is created again.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use rootset_store::platform::{private_file, sync_folder};

use super::{Delivered, EventPlace, Failure};

/// No event is longer: what follows the last line break is looked for in this many bytes.
const LINE_BYTES_MAX: u64 = 1 << 20;

#[derive(Debug)]
pub struct EventFile {
    path: PathBuf,
}

impl EventFile {
    pub const NAME: &str = "file";

    pub fn new(path: PathBuf) -> Self {
        Self { path }
    }
}

impl EventPlace for EventFile {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn deliver(&mut self, events: &[&str], _until: Instant) -> Delivered {
        match append(&self.path, events) {
            Ok(()) => Delivered { count: events.len(), failure: None },
            Err(error) => {
                let problem = format!("cannot write the events file: {error}");
                Delivered { count: 0, failure: Some(Failure { problem, lasts: false }) }
            }
        }
    }
}

fn append(path: &Path, events: &[&str]) -> io::Result<()> {
    let mut file = open(path)?;
    let end = end_of_lines(&mut file)?;
    file.set_len(end)?;
    file.seek(SeekFrom::Start(end))?;
    let lines: String = events.iter().flat_map(|event| [event, "\n"]).collect();
    let written = file.write_all(lines.as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        // On a full disk there is room for less, not for more: what fails here is cut off before the next batch.
        let _ = file.set_len(end);
    }
    written
}

/// Only its owner can read a file that is created here; one that exists keeps its rights.
fn open(path: &Path) -> io::Result<File> {
    match private_file().read(true).open(path) {
        Ok(file) => {
            sync_folder(path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new(".")))?;
            Ok(file)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            OpenOptions::new().read(true).write(true).open(path)
        }
        Err(error) => Err(error),
    }
}

/// Where the last whole line ends. Only the beginning of an event may follow it: another file is not ours to cut.
fn end_of_lines(file: &mut File) -> io::Result<u64> {
    let length = file.metadata()?.len();
    let start = length.saturating_sub(LINE_BYTES_MAX);
    file.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::new();
    file.take(LINE_BYTES_MAX).read_to_end(&mut tail)?;
    let line_break = tail.iter().rposition(|byte| *byte == b'\n');
    let end = match line_break {
        Some(place) => place + 1,
        None if start == 0 => 0,
        None => return Err(not_events()),
    };
    match tail.get(end) {
        None | Some(b'{') => Ok(start + end as u64),
        Some(_) => Err(not_events()),
    }
}

fn not_events() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it ends in text that is not an event")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &Path) -> Vec<String> {
        std::fs::read_to_string(path).unwrap().lines().map(ToOwned::to_owned).collect()
    }

    fn deliver(path: &Path, events: &[&str]) -> Delivered {
        EventFile::new(path.to_owned()).deliver(events, Instant::now())
    }

    #[test]
    fn a_file_is_private_grows_and_is_created_again_after_it_was_rotated_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        assert_eq!(deliver(&path, &[r#"{"id":1}"#, r#"{"id":2}"#]).count, 2);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        deliver(&path, &[r#"{"id":3}"#]);
        assert_eq!(lines(&path), [r#"{"id":1}"#, r#"{"id":2}"#, r#"{"id":3}"#]);
        std::fs::rename(&path, folder.path().join("events.jsonl.1")).unwrap();
        deliver(&path, &[r#"{"id":4}"#]);
        assert_eq!(lines(&path), [r#"{"id":4}"#]);
    }

    #[test]
    fn what_a_crash_left_of_a_line_is_cut_off_before_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.jsonl");
        for before in ["", "{\"id\":1}\n"] {
            std::fs::write(&path, format!("{before}{{\"id\":2,\"ev")).unwrap();
            assert_eq!(deliver(&path, &[r#"{"id":2}"#]).count, 1);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{before}{{\"id\":2}}\n"));
        }
    }

    #[test]
    fn a_file_that_holds_something_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        std::fs::write(&path, "line\nno line break").unwrap();
        let delivered = deliver(&path, &["{}"]);
        assert_eq!(delivered.count, 0);
        assert!(delivered.failure.unwrap().problem.contains("not an event"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "line\nno line break");
        assert!(deliver(folder.path(), &["{}"]).failure.is_some(), "a folder");
    }
}
