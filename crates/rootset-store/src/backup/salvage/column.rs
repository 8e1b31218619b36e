//! The names and places of the columns that salvaging looks at.

pub const MEMORY: usize = 0;
pub const NAME: usize = 2;
pub const REPO: usize = 4;
pub const STATUS: usize = 7;
pub const REVISION: usize = 11;
pub const PENDING_REVISION: usize = 12;
pub const DOC_HASH: usize = 14;
pub const TAGS: usize = 16;
pub const MEMORY_TRASHED: [usize; 2] = [26, 27];
pub const REVISION_TRASHED: [usize; 2] = [11, 12];
/// Of sessions, and of segments and lines of the ledger.
pub const SESSION: usize = 0;
pub const SESSION_TRASHED: [usize; 2] = [11, 12];
pub const SEGMENT: usize = 1;
pub const SEGMENT_TRASHED: [usize; 2] = [34, 35];
pub const SEGMENT_TAGS: usize = 17;
pub const SEGMENT_OF_TEXT: usize = 0;
