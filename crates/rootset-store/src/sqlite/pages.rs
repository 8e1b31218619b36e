//! The rows of a SQLite file without its schema: every page is taken for itself, and a row is known by its shape.
//!
//! For files whose first page is lost, or whose trees are cut. Follows SQLite's file format; believes nothing: whatever is
//! not a cell of a page is passed over. Pages that SQLite freed hold nothing, because they are overwritten with zeros.

mod shape;

use std::cell::RefCell;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::wal;
use crate::driver::Row;
use crate::error::StoreError;
pub use shape::{Schemas, Shape};

const PAGE_BYTES_DEFAULT: usize = 4096;
/// More than any text of ours; a length beyond it is no length.
const PAYLOAD_BYTES_MAX: u64 = 1 << 29;

const INDEX_INTERIOR: u8 = 0x02;
const INDEX_LEAF: u8 = 0x0A;
const TABLE_LEAF: u8 = 0x0D;

/// A file of pages, with the log beside it.
#[derive(Debug)]
pub struct Pages {
    file: RefCell<File>,
    log: Option<(RefCell<File>, wal::Log)>,
    page_bytes: usize,
    /// What is left of a page for cells.
    usable_bytes: usize,
    count: u32,
}

impl Pages {
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let trouble = |error: std::io::Error| StoreError::Engine(format!("cannot read `{}`: {error}", path.display()));
        let mut file = File::open(path).map_err(trouble)?;
        let mut head = [0; 100];
        let has_head = file.read_exact(&mut head).is_ok() && head.starts_with(b"SQLite format 3\0");
        let mut beside = path.as_os_str().to_owned();
        beside.push("-wal");
        let log = wal::read(Path::new(&beside)).unwrap_or_default();
        let said = usize::from(u16::from_be_bytes([head[16], head[17]]));
        let page_bytes = match said {
            512.. if has_head && said.is_power_of_two() => said,
            1 if has_head => 65_536,
            _ => PAGE_BYTES_DEFAULT,
        };
        let reserved = if has_head { usize::from(head[20]) } else { 0 };
        let bytes = file.metadata().map_err(trouble)?.len();
        let last = log.pages.keys().copied().max().unwrap_or(0);
        let count = u32::try_from(bytes / page_bytes as u64).unwrap_or(u32::MAX).max(last);
        let log = (log.page_bytes == page_bytes && !log.pages.is_empty())
            .then(|| File::open(&beside).map(|file| (RefCell::new(file), log)))
            .transpose()
            .map_err(trouble)?;
        Ok(Self { file: RefCell::new(file), log, page_bytes, usable_bytes: page_bytes - reserved, count })
    }

    /// Every row with the shape of the table's rows.
    pub fn rows(&self, shape: &Shape, each: &mut dyn FnMut(&dyn Row)) {
        let mut page = vec![0; self.page_bytes];
        for number in 1..=self.count {
            if !self.read(number, &mut page) {
                continue;
            }
            // The first page begins with the head of the file.
            let head = if number == 1 { 100 } else { 0 };
            let cells_at = match (page[head], shape.has_rowid) {
                (TABLE_LEAF, true) | (INDEX_LEAF, false) => head + 8,
                // Trees of tables without row ids hold rows inside, too.
                (INDEX_INTERIOR, false) => head + 12,
                _ => continue,
            };
            let count = usize::from(u16::from_be_bytes([page[head + 3], page[head + 4]]));
            for place in page[cells_at..].chunks_exact(2).take(count) {
                let place = usize::from(u16::from_be_bytes([place[0], place[1]]));
                let row = self.cell(&page, page[head], place).and_then(|cell| shape.row(cell));
                if let Some(row) = row {
                    each(&row);
                }
            }
        }
    }

    fn read(&self, number: u32, page: &mut [u8]) -> bool {
        let logged = self.log.as_ref().and_then(|(file, log)| Some((file, *log.pages.get(&number)?)));
        let (file, offset) = logged.unwrap_or((&self.file, u64::from(number - 1) * self.page_bytes as u64));
        let mut file = file.borrow_mut();
        file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(page)).is_ok()
    }

    /// The row id and the payload of a cell.
    fn cell(&self, page: &[u8], kind: u8, place: usize) -> Option<Payload> {
        let mut rest = page.get(place..self.usable_bytes)?;
        if kind == INDEX_INTERIOR {
            rest = rest.get(4..)?;
        }
        let length = varint(&mut rest)?;
        let rowid = if kind == TABLE_LEAF { varint(&mut rest)?.cast_signed() } else { 0 };
        if length > PAYLOAD_BYTES_MAX {
            return None;
        }
        let length = length as usize;
        let local = self.local_bytes(length, kind == TABLE_LEAF);
        let mut bytes = rest.get(..local)?.to_vec();
        if local < length {
            let next = rest.get(local..local + 4)?;
            self.follow(u32::from_be_bytes(next.try_into().ok()?), length, &mut bytes)?;
        }
        Some(Payload { rowid, bytes })
    }

    /// How much of a payload is in the cell itself.
    fn local_bytes(&self, length: usize, is_table: bool) -> usize {
        let usable = self.usable_bytes;
        let most = if is_table { usable - 35 } else { (usable - 12) * 64 / 255 - 23 };
        if length <= most {
            return length;
        }
        let least = (usable - 12) * 32 / 255 - 23;
        let fitting = least + (length - least) % (usable - 4);
        if fitting <= most { fitting } else { least }
    }

    fn follow(&self, mut next: u32, length: usize, bytes: &mut Vec<u8>) -> Option<()> {
        let mut page = vec![0; self.page_bytes];
        while bytes.len() < length {
            if next == 0 || next > self.count || !self.read(next, &mut page) {
                return None;
            }
            next = u32::from_be_bytes(page[..4].try_into().ok()?);
            let wanted = (length - bytes.len()).min(self.usable_bytes - 4);
            bytes.extend_from_slice(&page[4..4 + wanted]);
        }
        Some(())
    }
}

/// What a cell holds.
struct Payload {
    rowid: i64,
    bytes: Vec<u8>,
}

/// Seven bits a byte, the high bit set on all but the last; a ninth byte has eight bits.
fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for place in 0..9 {
        let byte = *bytes.get(place)?;
        if place == 8 {
            number = (number << 8) | u64::from(byte);
        } else {
            number = (number << 7) | u64::from(byte & 0x7F);
        }
        if place == 8 || byte & 0x80 == 0 {
            *bytes = &bytes[place + 1..];
            return Some(number);
        }
    }
    None
}
