//! Limits on what reading one file may cost and produce.

/// Longer texts are not parsed: places are 32 bits wide, and a text of this size is data.
pub(crate) const PARSED_BYTES_MAX: usize = 64 << 20;
/// Deeper trees are not walked. Code that people write stays below a hundred; sums of thousands of terms do not.
pub(crate) const TREE_DEPTH_MAX: usize = 2_000;
/// Symbols within symbols; what is nested deeper belongs to the innermost that counts. Bounds the length of names.
pub(crate) const SCOPE_DEPTH_MAX: usize = 24;
/// Files that define more are generated, whatever they say.
pub(crate) const SYMBOLS_MAX: usize = 20_000;
/// Constants, fields and the like of one file; the rest of a longer table is only text.
pub(crate) const VALUES_MAX: usize = 5_000;
/// Calls, imports and bases together.
pub(crate) const REFERENCES_MAX: usize = 50_000;
/// Longer names are ignored.
pub(crate) const NAME_BYTES_MAX: usize = 200;
pub(crate) const RECEIVER_CHARS_MAX: usize = 60;
pub(crate) const SIGNATURE_CHARS_MAX: usize = 400;
/// A symbol's text is cut into chunks of at most this size.
pub(crate) const CODE_CHUNK_BYTES_MAX: usize = 6 << 10;
pub(crate) const TEXT_CHUNK_BYTES_MAX: usize = 4 << 10;
/// From this many lines on, a text is cut at the next blank line or heading …
pub(crate) const TEXT_CHUNK_LINES: usize = 40;
/// … and at any line end here.
pub(crate) const TEXT_CHUNK_LINES_MAX: usize = 60;
