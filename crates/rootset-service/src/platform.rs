//! What systems offer in different ways: clocks, what a file system notes about a file, opening a file without following
//! links. The rest of the crate is the same everywhere.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub use unix::{Folder, device_of, elapsed_ms, is_not_a_plain_path, processor_time, stamp_of};

#[cfg(not(unix))]
mod other;
#[cfg(not(unix))]
pub use other::{Folder, device_of, elapsed_ms, is_not_a_plain_path, processor_time, stamp_of};
