//! Headers, frames and checksums of the log, and the arithmetic that finds a flipped bit in them.

pub const HEADER_BYTES: usize = 32;
pub const FRAME_HEADER_BYTES: usize = 24;
/// Its last bit tells the byte order of the checksums.
const MAGIC: u32 = 0x377F_0682;
const FORMAT: u32 = 3_007_000;

/// What a header says about the frames behind it.
#[derive(Debug)]
pub struct Format {
    pub is_big_endian: bool,
    pub page_bytes: usize,
    pub salts: [u32; 2],
}

impl Format {
    /// `None` where SQLite would not believe it either.
    pub fn of(header: &[u8; HEADER_BYTES]) -> Option<Self> {
        let magic = word(header, 0);
        let page_bytes = word(header, 8) as usize;
        let is_size = page_bytes.is_power_of_two() && (512..=65_536).contains(&page_bytes);
        let format = Self { is_big_endian: magic & 1 == 1, page_bytes, salts: [word(header, 16), word(header, 20)] };
        let is_known = magic & !1 == MAGIC && word(header, 4) == FORMAT && is_size;
        let sum = format.checksum([0, 0], &header[..24]);
        (is_known && sum == [word(header, 24), word(header, 28)]).then_some(format)
    }

    pub fn offset(&self, frame: u64) -> u64 {
        HEADER_BYTES as u64 + frame * (FRAME_HEADER_BYTES + self.page_bytes) as u64
    }

    fn word(&self, bytes: &[u8]) -> u32 {
        let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
        if self.is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    fn checksum(&self, [mut first, mut second]: [u32; 2], bytes: &[u8]) -> [u32; 2] {
        for pair in bytes.chunks_exact(8) {
            first = first.wrapping_add(self.word(&pair[..4])).wrapping_add(second);
            second = second.wrapping_add(self.word(&pair[4..])).wrapping_add(first);
        }
        [first, second]
    }

    pub fn frame_checksum(&self, frame: &[u8], seed: [u32; 2]) -> [u32; 2] {
        self.checksum(self.checksum(seed, &frame[..8]), &frame[FRAME_HEADER_BYTES..])
    }

    fn has_salts(&self, frame: &[u8]) -> bool {
        self.salts == [word(frame, 8), word(frame, 12)]
    }

    pub fn is_valid(&self, frame: &[u8], seed: [u32; 2]) -> bool {
        self.has_salts(frame) && self.frame_checksum(frame, seed) == stored_checksum(frame)
    }

    /// The bits of a frame that, turned back, would make it valid: places and masks of their bytes.
    pub fn flipped(&self, frame: &[u8], seed: [u32; 2]) -> Vec<(usize, u8)> {
        let (found, stored) = (self.frame_checksum(frame, seed), stored_checksum(frame));
        if found == stored {
            return one_bit(8, [word(frame, 8), word(frame, 12)], self.salts).into_iter().collect();
        }
        if !self.has_salts(frame) {
            return Vec::new();
        }
        one_bit(16, stored, found).into_iter().chain(self.flipped_in_page(frame, found, stored)).collect()
    }

    /// The checksum is a sum of all words, each times a number that depends on its place alone: so is the difference that
    /// one flipped bit makes. The high bits of many words make the same.
    fn flipped_in_page(&self, frame: &[u8], found: [u32; 2], stored: [u32; 2]) -> Vec<(usize, u8)> {
        let wanted = [stored[0].wrapping_sub(found[0]), stored[1].wrapping_sub(found[1])];
        let summed = (0..8).step_by(4).chain((FRAME_HEADER_BYTES..frame.len()).step_by(4));
        let places: Vec<usize> = summed.collect();
        // What a change of the last pair's two words adds to the checksum; each pair before it adds more.
        let mut factors = [[1u32, 1], [0, 1]];
        let mut bits = Vec::new();
        for pair in places.chunks_exact(2).rev() {
            for (&place, [first, second]) in pair.iter().zip(factors) {
                let now = self.word(&frame[place..place + 4]);
                for bit in 0..32 {
                    let change = if now & (1 << bit) == 0 { 1u32 << bit } else { (1u32 << bit).wrapping_neg() };
                    if [first.wrapping_mul(change), second.wrapping_mul(change)] == wanted {
                        let byte = if self.is_big_endian { 3 - bit / 8 } else { bit / 8 };
                        bits.push((place + byte, 1 << (bit % 8)));
                    }
                }
            }
            factors = factors.map(|[first, second]| {
                let first = first.wrapping_add(second);
                [first, second.wrapping_add(first)]
            });
        }
        bits
    }
}

pub fn stored_checksum(frame: &[u8]) -> [u32; 2] {
    [word(frame, 16), word(frame, 20)]
}

/// The log's own fields are big-endian, whatever its checksums are.
pub fn word(bytes: &[u8], place: usize) -> u32 {
    u32::from_be_bytes([bytes[place], bytes[place + 1], bytes[place + 2], bytes[place + 3]])
}

/// The byte and its bit in which two pairs of fields that begin at `place` differ, if it is one bit.
fn one_bit(place: usize, found: [u32; 2], wanted: [u32; 2]) -> Option<(usize, u8)> {
    let bytes = |[first, second]: [u32; 2]| (u64::from(first) << 32 | u64::from(second)).to_be_bytes();
    let differing = bytes(found).into_iter().zip(bytes(wanted)).map(|(one, other)| one ^ other).enumerate();
    let mut differing = differing.filter(|(_, mask)| *mask != 0);
    match (differing.next(), differing.next()) {
        (Some((byte, mask)), None) if mask.is_power_of_two() => Some((place + byte, mask)),
        _ => None,
    }
}
