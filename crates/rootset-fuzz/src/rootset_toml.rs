//! The text of a configuration file. One in the working folder may be anybody's.

use rootset_program::reading;

/// Says the key, the value and what is allowed; never the whole file.
const ERROR_BYTES_MAX: usize = 16 << 10;

pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Err(error) = reading::configuration(text) {
        assert!(!error.starts_with("internal"), "{error}");
        let shown = error.len().saturating_sub(text.len());
        assert!(shown <= ERROR_BYTES_MAX, "an error of {} bytes", error.len());
    }
}
