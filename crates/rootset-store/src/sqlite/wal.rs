//! SQLite's write-ahead log, looked at before SQLite does.
//!
//! SQLite reads the log up to the first frame whose checksum is wrong and drops the rest without a word. After a power cut
//! that is right: only the last transaction can be torn, and nobody was told that it is stored. But after a bit has rotted,
//! what follows was acknowledged. The two can be told apart: a single flipped bit is known by the checksum, and is turned back
//! if the checksum tells which it is; and a log with two commits behind its damage was damaged later, because a commit begins
//! when the one before it is on the disk.

mod format;

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use format::{FRAME_HEADER_BYTES, Format, HEADER_BYTES, stored_checksum, word};

/// For a log whose header tells nothing any more.
const PAGE_BYTES_DEFAULT: usize = 4096;
/// Bits that are turned back in one log: more is no rot of single bits.
const MENDED_BITS_MAX: usize = 16;

/// What is wrong with a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// One bit, at this place of the file.
    Bit { offset: u64, mask: u8 },
    /// One bit of a frame; the checksum is the same for several.
    SomeBit { frame: u64 },
    /// Transactions behind the damage that SQLite would drop although they were acknowledged.
    Lost { frame: u64, commits: u64 },
}

impl Damage {
    pub fn in_words(self) -> String {
        match self {
            Self::Bit { offset, .. } => format!("a bit of the log has flipped, in byte {offset}"),
            Self::SomeBit { frame } => format!(
                "a bit of the log has flipped in frame {frame}, and transactions would be lost: move the `-wal` file away to \
                 go on without them"
            ),
            Self::Lost { frame, commits } => format!(
                "the log is damaged in frame {frame}, and {commits} transactions behind it would be lost: move the `-wal` file \
                 away to go on without them"
            ),
        }
    }
}

/// A log as it was found.
#[derive(Debug, Default)]
pub struct Log {
    pub damage: Option<Damage>,
    pub page_bytes: usize,
    /// Where the newest committed version of each page begins.
    pub pages: HashMap<u32, u64>,
}

/// Reads a log from its beginning to its end; one that does not exist is empty.
pub fn read(path: &Path) -> std::io::Result<Log> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Log::default()),
        file => file?,
    };
    let mut frames = Frames { file: BufReader::with_capacity(1 << 16, file), frame: Vec::new(), number: 0 };
    let mut header = [0; HEADER_BYTES];
    if !frames.fill(&mut header)? {
        return Ok(Log::default());
    }
    let Some(format) = Format::of(&header) else {
        let damage = match flipped_in_header(&header, &mut frames)? {
            None => lost_without_header(path)?,
            damage => damage,
        };
        return Ok(Log { damage, page_bytes: PAGE_BYTES_DEFAULT, pages: HashMap::new() });
    };
    let mut log = Log { page_bytes: format.page_bytes, ..Log::default() };
    let mut seed = [word(&header, 24), word(&header, 28)];
    let mut waiting = Vec::new();
    while frames.advance(format.page_bytes)? {
        let frame = &frames.frame;
        if !format.is_valid(frame, seed) {
            log.damage = frames.damage(&format, seed)?;
            break;
        }
        seed = stored_checksum(frame);
        waiting.push((word(frame, 0), format.offset(frames.number) + FRAME_HEADER_BYTES as u64));
        if word(frame, 4) != 0 {
            log.pages.extend(waiting.drain(..));
        }
        frames.number += 1;
    }
    Ok(log)
}

/// Turns flipped bits back, one after the other; answers how many, and what is wrong beyond that. The caller makes sure that
/// nobody writes.
pub fn mend(path: &Path) -> std::io::Result<(usize, Option<Damage>)> {
    for mended in 0..MENDED_BITS_MAX {
        match read(path)?.damage {
            Some(Damage::Bit { offset, mask }) => {
                let mut file = OpenOptions::new().read(true).write(true).open(path)?;
                let mut byte = [0];
                file.seek(SeekFrom::Start(offset))?;
                file.read_exact(&mut byte)?;
                file.seek(SeekFrom::Start(offset))?;
                file.write_all(&[byte[0] ^ mask])?;
                file.sync_data()?;
            }
            damage => return Ok((mended, damage)),
        }
    }
    Ok((MENDED_BITS_MAX, read(path)?.damage))
}

/// A file of frames, read one after the other.
struct Frames {
    file: BufReader<File>,
    frame: Vec<u8>,
    number: u64,
}

impl Frames {
    fn fill(&mut self, buffer: &mut [u8]) -> std::io::Result<bool> {
        match self.file.read_exact(buffer) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Reads the next frame, if there is a whole one.
    fn advance(&mut self, page_bytes: usize) -> std::io::Result<bool> {
        let mut frame = std::mem::take(&mut self.frame);
        frame.resize(FRAME_HEADER_BYTES + page_bytes, 0);
        let is_whole = self.fill(&mut frame);
        self.frame = frame;
        is_whole
    }

    /// What is wrong with the bad frame that was just read.
    fn damage(&mut self, format: &Format, seed: [u32; 2]) -> std::io::Result<Option<Damage>> {
        let (number, bad) = (self.number, self.frame.clone());
        let mut bits = format.flipped(&bad, seed);
        if bits.is_empty() {
            return self.lost(format, number);
        }
        // The next frame goes on from the checksum that was stored, and so tells whether that has flipped.
        if bits.len() > 1 && self.advance(format.page_bytes)? {
            let is_stored_right = format.is_valid(&self.frame, stored_checksum(&bad));
            let is_found_right = format.is_valid(&self.frame, format.frame_checksum(&bad, seed));
            let is_checksum = |place: usize| (16..FRAME_HEADER_BYTES).contains(&place);
            bits.retain(|(place, _)| if is_checksum(*place) { !is_stored_right } else { !is_found_right });
        }
        Ok(Some(match bits.as_slice() {
            [(place, mask)] => Damage::Bit { offset: format.offset(number) + *place as u64, mask: *mask },
            _ => Damage::SomeBit { frame: number },
        }))
    }

    /// Commits behind the bad frame that was just read, each valid after the frame before it.
    fn lost(&mut self, format: &Format, frame: u64) -> std::io::Result<Option<Damage>> {
        let mut seed = stored_checksum(&self.frame);
        let mut commits = 0;
        while self.advance(format.page_bytes)? {
            commits += u64::from(format.is_valid(&self.frame, seed) && word(&self.frame, 4) != 0);
            seed = stored_checksum(&self.frame);
        }
        // A single one may be that of the transaction that was torn.
        Ok((commits >= 2).then_some(Damage::Lost { frame, commits }))
    }
}

/// The bit of a header that, turned back, makes it valid, and the first frame behind it.
fn flipped_in_header(header: &[u8; HEADER_BYTES], frames: &mut Frames) -> std::io::Result<Option<Damage>> {
    let bits = (0..HEADER_BYTES).flat_map(|place| (0..8).map(move |bit| (place, 1u8 << bit)));
    let mut possible: Vec<(usize, u8, Format, [u32; 2])> = Vec::new();
    for (place, mask) in bits {
        let mut mended = *header;
        mended[place] ^= mask;
        if let Some(format) = Format::of(&mended) {
            possible.push((place, mask, format, [word(&mended, 24), word(&mended, 28)]));
        }
    }
    let Some((_, _, format, _)) = possible.first() else { return Ok(None) };
    if !frames.advance(format.page_bytes)? {
        return Ok(None);
    }
    possible.retain(|(_, _, format, seed)| format.is_valid(&frames.frame, *seed));
    Ok(match possible.as_slice() {
        [] => None,
        [(place, mask, ..)] => Some(Damage::Bit { offset: *place as u64, mask: *mask }),
        _ => Some(Damage::SomeBit { frame: 0 }),
    })
}

/// Frames behind a header that says nothing: they have to agree with each other.
fn lost_without_header(path: &Path) -> std::io::Result<Option<Damage>> {
    for is_big_endian in [false, true] {
        let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
        file.seek(SeekFrom::Start(HEADER_BYTES as u64))?;
        let mut frames = Frames { file, frame: Vec::new(), number: 0 };
        if !frames.advance(PAGE_BYTES_DEFAULT)? {
            return Ok(None);
        }
        let salts = [word(&frames.frame, 8), word(&frames.frame, 12)];
        let format = Format { is_big_endian, page_bytes: PAGE_BYTES_DEFAULT, salts };
        if let Some(damage) = frames.lost(&format, 0)? {
            return Ok(Some(damage));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// A database whose log holds some transactions, as a process leaves it that is killed.
    fn killed(folder: &Path, transactions: usize) -> PathBuf {
        let (path, copy) = (folder.join("x.db"), folder.join("copy.db"));
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (a)").unwrap();
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        for number in 0..transactions {
            let text = format!("{number} {}", "x".repeat(9_000));
            connection.execute("INSERT INTO t VALUES (?1)", [text]).unwrap();
        }
        for suffix in ["", "-wal"] {
            let of = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
            std::fs::copy(of(&path), of(&copy)).unwrap();
        }
        copy
    }

    fn rows(path: &Path) -> i64 {
        let connection = rusqlite::Connection::open(path).unwrap();
        connection.query_row("SELECT COUNT(*) FROM t", [], |row| row.get(0)).unwrap()
    }

    fn log_of(path: &Path) -> PathBuf {
        PathBuf::from(format!("{}-wal", path.display()))
    }

    #[test]
    fn every_flipped_bit_of_the_log_is_found_and_none_is_turned_back_in_the_wrong_place() {
        let folder = tempfile::tempdir().unwrap();
        let log = log_of(&killed(folder.path(), 2));
        let whole = std::fs::read(&log).unwrap();
        assert_eq!(read(&log).unwrap().damage, None);
        let frame = FRAME_HEADER_BYTES + 4096;
        let heads = (0..HEADER_BYTES + FRAME_HEADER_BYTES).chain(whole.len() - frame..whole.len() - 4096);
        let some = (0..whole.len()).step_by(61).chain(whole.len() - 8..whole.len());
        let (mut mended, mut reported) = (0, 0);
        for place in heads.chain(some) {
            let mut bytes = whole.clone();
            bytes[place] ^= 1 << (place % 8);
            std::fs::write(&log, &bytes).unwrap();
            match mend(&log).unwrap() {
                (1, None) => {
                    mended += 1;
                    assert!(std::fs::read(&log).unwrap() == whole, "{place}");
                }
                (0, Some(Damage::SomeBit { .. })) => {
                    reported += 1;
                    assert!(std::fs::read(&log).unwrap() == bytes, "{place}");
                }
                other => panic!("{place}: {other:?}"),
            }
        }
        assert!(mended > 2 * reported && reported > 0, "{mended} and {reported}");
    }

    #[test]
    fn what_sqlite_would_drop_is_told_from_what_a_power_cut_has_torn() {
        let folder = tempfile::tempdir().unwrap();
        let path = killed(folder.path(), 6);
        let log = log_of(&path);
        let whole = std::fs::read(&log).unwrap();
        let frame = FRAME_HEADER_BYTES + 4096;
        let frames = (whole.len() - HEADER_BYTES) / frame;
        let torn_at = |number: usize| {
            let mut bytes = whole.clone();
            let from = HEADER_BYTES + number * frame + FRAME_HEADER_BYTES + 512;
            bytes[from..from + 512].fill(0xAB);
            std::fs::write(&log, bytes).unwrap();
            read(&log).unwrap().damage
        };
        // The last transaction may be torn anywhere: it was not acknowledged.
        assert_eq!(torn_at(frames - 1), None);
        assert_eq!(torn_at(frames - 2), None);
        let early = torn_at(1);
        assert!(matches!(early, Some(Damage::Lost { frame: 1, commits: 5.. })), "{early:?}");
        assert_eq!(rows(&path), 0, "SQLite drops them without a word");
        // Frames of an earlier turn of the log behind the end of this one are no loss.
        std::fs::write(&log, &whole[..HEADER_BYTES + frame]).unwrap();
        assert_eq!(read(&log).unwrap().damage, None);
    }

    #[test]
    fn a_log_in_use_again_is_whole_although_older_frames_follow() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (a)").unwrap();
        for _ in 0..9 {
            connection.execute("INSERT INTO t VALUES (?1)", ["x".repeat(9_000)]).unwrap();
        }
        connection.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(())).unwrap();
        connection.execute("INSERT INTO t VALUES ('again')", []).unwrap();
        let log = read(&log_of(&path)).unwrap();
        assert_eq!((log.damage, log.pages.len()), (None, 1));
    }
}
