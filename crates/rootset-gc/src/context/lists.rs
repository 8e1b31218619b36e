//! Many lists of numbers in one arena: each grows cheaply at any time, and is read with few cache misses.
//!
//! Entries sit in chunks of half a cache line, seven and a link; most segments refer to fewer than eight others. Lists
//! only grow.

const CHUNK_ENTRIES: usize = 7;
/// No entry, no chunk.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Chunk {
    /// Filled from the front; [`NONE`] where free.
    entries: [u32; CHUNK_ENTRIES],
    next: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    /// The newest chunk of each list: the only one that may have room.
    heads: Vec<u32>,
    chunks: Vec<Chunk>,
}

/// Where a reader of a list stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    chunk: u32,
    entry: u32,
}

impl Lists {
    pub fn add_list(&mut self) {
        self.heads.push(NONE);
    }

    pub fn len(&self) -> usize {
        self.heads.len()
    }

    pub fn push(&mut self, list: u32, entry: u32) {
        assert!(entry != NONE, "an entry is not the mark of a free place");
        let head = self.heads[list as usize];
        if head != NONE {
            let entries = &mut self.chunks[head as usize].entries;
            if let Some(free) = entries.iter_mut().find(|place| **place == NONE) {
                *free = entry;
                return;
            }
        }
        let mut entries = [NONE; CHUNK_ENTRIES];
        entries[0] = entry;
        let chunk = u32::try_from(self.chunks.len()).ok().filter(|chunk| *chunk != NONE);
        self.heads[list as usize] = chunk.expect("fewer chunks than numbers");
        self.chunks.push(Chunk { entries, next: head });
    }

    /// The entries of a list, in an order that depends on nothing but the order of pushes.
    pub fn entries(&self, list: u32) -> impl Iterator<Item = u32> {
        let mut cursor = self.cursor(list);
        std::iter::from_fn(move || self.next(&mut cursor))
    }

    /// The entries of a list, the last pushed first.
    pub fn newest_first(&self, list: u32) -> impl Iterator<Item = u32> {
        let mut chunk = self.chunk(self.heads[list as usize]);
        let mut place = CHUNK_ENTRIES;
        std::iter::from_fn(move || {
            while let Some(entries) = chunk {
                while place > 0 {
                    place -= 1;
                    if entries.entries[place] != NONE {
                        return Some(entries.entries[place]);
                    }
                }
                chunk = self.chunk(entries.next);
                place = CHUNK_ENTRIES;
            }
            None
        })
    }

    fn chunk(&self, number: u32) -> Option<&Chunk> {
        (number != NONE).then(|| &self.chunks[number as usize])
    }

    pub fn cursor(&self, list: u32) -> Cursor {
        Cursor { chunk: self.heads[list as usize], entry: 0 }
    }

    #[inline]
    pub fn next(&self, cursor: &mut Cursor) -> Option<u32> {
        if cursor.chunk == NONE {
            return None;
        }
        let chunk = &self.chunks[cursor.chunk as usize];
        let entry = chunk.entries[cursor.entry as usize];
        cursor.entry += 1;
        if cursor.entry as usize == CHUNK_ENTRIES || chunk.entries[cursor.entry as usize] == NONE {
            *cursor = Cursor { chunk: chunk.next, entry: 0 };
        }
        Some(entry)
    }

    /// The first entry for which the condition holds, to be changed in place.
    pub fn find_mut(&mut self, list: u32, is_wanted: impl Fn(u32) -> bool) -> Option<&mut u32> {
        let mut number = self.heads[list as usize];
        while number != NONE {
            let chunk = &self.chunks[number as usize];
            if let Some(place) = chunk.entries.iter().position(|entry| *entry != NONE && is_wanted(*entry)) {
                return Some(&mut self.chunks[number as usize].entries[place]);
            }
            number = chunk.next;
        }
        None
    }
}
